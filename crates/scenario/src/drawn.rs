//! What a scenario leaves to its seed, written out for a run: the steps of its links.

use crate::model::{Change, Changed, LinkChange, Scenario, Which};
use std::borrow::Cow;
use truckee_channel::random::{stream, up_to};
use truckee_tcp::{Span, Time};

impl Scenario {
    /// The scenario with what its links' steps come to under its seed written out as changes: what an engine runs.
    pub fn drawn(&self) -> Cow<'_, Self> {
        if self.links.iter().all(|link| link.steps.is_none()) {
            return Cow::Borrowed(self);
        }
        let mut drawn = self.clone();
        for (index, link) in drawn.links.iter_mut().enumerate() {
            let Some(steps) = link.steps.take() else { continue };
            let mut rng = stream(self.seed, &format!("{}/steps", link.label(&drawn.nodes)));
            let last = Span::ns(steps.every.nanos() - 1);
            let first = Span::ns(1 + up_to(&mut stream(self.seed, "steps"), last.nanos()));
            let mut at = Time::ZERO;
            while at <= Time::at(self.duration) {
                let mut within = |(least, most): (u64, u64)| least + up_to(&mut rng, most - least);
                let delay = steps.delay.map(|(least, most)| Span::ns(within((least.nanos(), most.nanos()))));
                let (rate, back) = (steps.rate.map(&mut within), steps.rate_back.map(&mut within));
                let all =
                    [(Which::Both, None, delay), (Which::Forward, rate, None), (Which::Back, back, None)];
                for (direction, rate, delay) in all {
                    if rate.is_some() || delay.is_some() {
                        let change = LinkChange { link: index, direction, rate, delay, up: None };
                        drawn.changes.push(Change { at, what: Changed::Link(change) });
                    }
                }
                at = if at == Time::ZERO { Time::at(first) } else { at.saturating_add(steps.every) };
            }
        }
        // Of one moment those that are written come first, and what is drawn holds.
        drawn.changes.sort_by_key(|change| change.at);
        Cow::Owned(drawn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Document;

    fn scenario(links: &str, seed: u64) -> Scenario {
        let text = format!("duration = \"100s\"\nseed = {seed}\nlink = [{links}]");
        Document::parse("t.toml", &text).unwrap().scenario().unwrap()
    }

    const STEPPED: &str = r#"{ between = ["a", "b"], rate = "9Mbit/s", delay = "1ms", steps = { every = "15s", delay = ["10ms", "30ms"], rate = ["2Mbit/s", "4Mbit/s"], rate_back = ["1Mbit/s", "1Mbit/s"] } }"#;

    #[test]
    fn each_step_draws_within_its_ranges() {
        let drawn = scenario(STEPPED, 3).drawn().into_owned();
        let mut times: Vec<Time> = drawn.changes.iter().map(|change| change.at).collect();
        times.dedup();
        assert!((7..=8).contains(&times.len()) && times[0] == Time::ZERO, "{times:?}");
        assert!(times[1] - times[0] <= Span::s(15));
        assert!(times[1..].windows(2).all(|pair| pair[1] - pair[0] == Span::s(15)));
        let of =
            |which| drawn.changes.iter().filter_map(Change::of_link).filter(move |c| c.direction == which);
        let delays: Vec<Span> = of(Which::Both).filter_map(|change| change.delay).collect();
        assert!(
            delays.len() == times.len() && delays.iter().all(|d| (Span::ms(10)..=Span::ms(30)).contains(d))
        );
        assert!(delays.windows(2).all(|pair| pair[0] != pair[1]));
        assert!(of(Which::Forward).all(|c| c.rate.is_some_and(|r| (2_000_000..=4_000_000).contains(&r))));
        assert!(of(Which::Back).all(|c| c.rate == Some(1_000_000)));
    }

    #[test]
    fn links_step_together_to_values_of_their_own_and_by_the_seed() {
        let two = format!("{STEPPED}, {}", STEPPED.replace("\"b\"", "\"c\""));
        let drawn = scenario(&two, 3).drawn().into_owned();
        let of = |link| drawn.changes.iter().filter(move |c| c.of_link().is_some_and(|c| c.link == link));
        assert!(of(0).map(|c| c.at).eq(of(1).map(|c| c.at)));
        assert!(
            !of(0)
                .filter_map(Change::of_link)
                .map(|c| c.delay)
                .eq(of(1).filter_map(Change::of_link).map(|c| c.delay))
        );
        assert_ne!(drawn.changes, scenario(&two, 4).drawn().changes);
        assert_eq!(drawn.changes, scenario(&two, 3).drawn().changes);
        assert_eq!(drawn.drawn(), Cow::Borrowed(&drawn), "nothing is left to be drawn");
    }
}
