//! What of a running link can be turned by hand: keys of a `[[link]]`, set as in its scenario, and what is added to its
//! channel and taken away again without a word of what the channel is. Not for: the lanes, which are turned by
//! [`Emulator::turn`](crate::Emulator::turn).

use super::request::{Hand, Setting};
use crate::refusals::check_link;
use std::sync::Arc;
use truckee_channel::{Effect, ReorderWhich, Span};
use truckee_scenario::model::{Direction, Link};
use truckee_scenario::units::{Dimension, Quantity, parse_as};
use truckee_scenario::{Document, Scenario};

/// Keys of a link that are set as in its scenario; each with `_back`, too, and the first two of a table with more behind a
/// dot.
const KEYS: [&str; 4] = ["queue", "channel", "rate", "delay"];
/// Keys that act beside the channel, of the way there, or with `_back` of the way back.
const BY_HAND: [&str; 4] = ["loss", "reorder", "reorder_by", "up"];
/// How long a packet is held back that is to be overtaken, where nobody says otherwise.
const HELD_BACK: Span = Span::ms(10);

/// The dials of one link.
#[derive(Debug, Clone)]
pub(super) struct Dials {
    document: Document,
    /// Index of the link in its scenario.
    index: usize,
    hands: [Hand; 2],
    /// As it is set at present.
    pub link: Link,
}

/// What one turn asks for.
#[derive(Debug)]
pub(super) struct Turned {
    pub dials: Dials,
    /// Of each direction: whether it is to be up or down.
    pub up: [Option<bool>; 2],
}

impl Dials {
    /// Those of a link of the scenario that `document` was resolved to, untouched.
    pub fn new(document: &Document, scenario: &Scenario, index: usize) -> Option<Self> {
        let hand = Hand { loss: 0.0, reorder: 0.0, reorder_by_s: HELD_BACK.seconds() };
        let link = scenario.links.get(index)?.clone();
        Some(Self { document: document.clone(), index, hands: [hand, hand], link })
    }

    /// What stands on them.
    pub fn settings(&self) -> [Setting; 2] {
        let of = |k: usize, direction: &Direction| Setting {
            rate_bps: direction.rate,
            delay_s: direction.delay.seconds(),
            by_hand: self.hands[k],
        };
        [of(0, &self.link.forward), of(1, &self.link.back)]
    }

    /// They, after settings of the form `KEY=VALUE`; nothing has been changed if one of them will not do.
    ///
    /// # Errors
    /// What will not do, and why.
    pub fn turned(&self, settings: &[String]) -> Result<Turned, String> {
        let (mut dials, mut up) = (self.clone(), [None; 2]);
        for setting in settings {
            let (key, value) =
                setting.split_once('=').ok_or_else(|| format!("\"{setting}\": expected KEY=VALUE"))?;
            let (key, value) = (key.trim(), value.trim());
            let (plain, back) = match key.strip_suffix("_back") {
                Some(plain) => (plain, 1),
                None => (key, 0),
            };
            if BY_HAND.contains(&plain) {
                let wrong = |why: String| format!("{key} = {value}: {why}");
                match plain {
                    "loss" => dials.hands[back].loss = share(value).map_err(wrong)?,
                    "reorder" => dials.hands[back].reorder = share(value).map_err(wrong)?,
                    "reorder_by" => dials.hands[back].reorder_by_s = time(value).map_err(wrong)?.seconds(),
                    _ => up[back] = Some(value.parse().map_err(|_| wrong("expected true or false".into()))?),
                }
            } else {
                dials.set(key, value)?;
            }
        }
        let link = dials.resolve()?;
        let directions =
            [(&link.forward, 0), (&link.back, 1)].map(|(direction, k)| dials.with_hand(direction, k));
        let [forward, back] = directions;
        dials.link = Link { forward, back, ..link };
        Ok(Turned { dials, up })
    }

    /// Sets a key of the link.
    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let first = key.split('.').next().unwrap_or_default();
        if !KEYS.contains(&first.strip_suffix("_back").unwrap_or(first)) {
            let known = KEYS.iter().chain(&BY_HAND).copied().collect::<Vec<_>>().join(", ");
            return Err(format!(
                "\"{key}\": what can be turned is {known}, each with _back for the way back"
            ));
        }
        // Whoever asks need not have our rights to files.
        if format!("{key} {value}").contains("file") {
            return Err(format!("{key} = {value}: no file is read for what is turned while it runs"));
        }
        self.document.set(&format!("link.{}.{key}", self.index), value).map_err(|e| e.to_string())
    }

    /// The link as the document has it.
    fn resolve(&self) -> Result<Link, String> {
        let scenario = self.document.scenario().map_err(|e| e.to_string())?;
        let mut link = scenario.links.get(self.index).cloned().ok_or("the link is gone")?;
        check_link(&link, &scenario.nodes).map_err(|e| e.to_string())?;
        link.name = Some(link.label(&scenario.nodes).into()); // whoever has it alone does not know its nodes
        Ok(link)
    }

    /// A direction with what stands beside its channel.
    fn with_hand(&self, direction: &Arc<Direction>, k: usize) -> Arc<Direction> {
        let Hand { loss, reorder, reorder_by_s } = self.hands[k];
        let mut with = Direction::clone(direction);
        // Both always, so that each keeps its place, and with it where it was, when the other is turned.
        let delay = Span::truncated(reorder_by_s * 1e9);
        with.channel.effects.push(Effect::Bernoulli { per: loss });
        with.channel.effects.push(Effect::Reorder { which: ReorderWhich::Probability(reorder), delay });
        Arc::new(with)
    }
}

/// A share: `2%` or `0.02`.
fn share(text: &str) -> Result<f64, String> {
    let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |percent| (percent, 0.01));
    let share = number.trim().parse::<f64>().map(|x| x * unit);
    share.ok().filter(|x| (0.0..=1.0).contains(x)).ok_or_else(|| "expected a share such as 2% or 0.02".into())
}

fn time(text: &str) -> Result<Span, String> {
    match parse_as(text, &[Dimension::Time], "ms") {
        Ok(Quantity::Time(time)) if time > Span::ZERO => Ok(time),
        Ok(_) => Err("expected a time above 0".into()),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dials() -> Dials {
        let text = "duration = \"9s\"\n[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"10Mbit/s\"\ndelay = \"5ms\"\nqueue = { size = \"9packets\" }\n";
        let document = Document::parse("dials.toml", text).unwrap();
        Dials::new(&document, &document.scenario().unwrap(), 0).unwrap()
    }

    fn turned(settings: &[&str]) -> Result<Turned, String> {
        dials().turned(&settings.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn keys_of_a_link_are_set_as_in_a_scenario_and_its_back_follows() {
        let turned = turned(&["rate=2Mbit/s", "delay_back = 9ms", "up_back=false"]).unwrap();
        let [there, back] = turned.dials.settings();
        assert_eq!((there.rate_bps, back.rate_bps), (2_000_000, 2_000_000));
        assert_eq!((there.delay_s, back.delay_s), (0.005, 0.009));
        assert_eq!(turned.up, [None, Some(false)]);
    }

    #[test]
    fn what_is_added_by_hand_stands_behind_the_channel_and_keeps_its_place() {
        let one = turned(&["channel={ kind = \"bernoulli\", per = 0.5 }", "loss=2%"]).unwrap().dials;
        let two = one.turned(&["reorder=0.25".to_owned(), "loss_back=1".to_owned()]).unwrap().dials;
        let effects = &two.link.forward.channel.effects;
        assert_eq!(effects[..2], [Effect::Bernoulli { per: 0.5 }, Effect::Bernoulli { per: 0.02 }]);
        let which = ReorderWhich::Probability(0.25);
        assert_eq!(effects[2], Effect::Reorder { which, delay: Span::ms(10) });
        assert_eq!(two.link.back.channel.effects[0], Effect::Bernoulli { per: 1.0 });
        assert_eq!(two.settings()[0].by_hand.loss, 0.02);
    }

    #[test]
    fn what_will_not_do_is_refused_with_what_would() {
        for (setting, part) in [
            ("rate", "expected KEY=VALUE"),
            ("rate=10Mb", "is no unit"),
            ("loss=2", "a share such as 2%"),
            ("loss=nan", "a share"),
            ("reorder_by=0s", "above 0"),
            ("up=perhaps", "true or false"),
            ("between=[\"a\", \"c\"]", "what can be turned is"),
            ("channel={ kind = \"trace\", file = \"/etc/shadow\" }", "no file is read"),
            ("queue={ ack_filter = true }", "does not filter ACKs"),
            ("channel={ kind = \"gilber\" }", "did you mean \"gilbert\"?"),
        ] {
            let said = turned(&[setting]).unwrap_err();
            assert!(said.contains(part), "{setting}: {said}");
        }
    }
}
