//! What the panel knows: the dials, which of them is chosen, what the link showed last. Not for: terminals.

use crate::human::quantity;
use std::collections::VecDeque;
use truckee_kernel::LaneCounters;
use truckee_kernel::standalone::Showing;

/// Rates that are remembered: as many as a wide terminal has columns.
const REMEMBERED: usize = 240;

/// What is pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Up,
    Down,
    More,
    Less,
    /// To nothing.
    None,
}

/// Something that can be turned, of one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dial {
    Rate,
    Delay,
    Loss,
    Reorder,
    Up,
}

/// In the order in which they stand, for each direction.
const DIALS: [Dial; 5] = [Dial::Rate, Dial::Delay, Dial::Loss, Dial::Reorder, Dial::Up];

/// Steps of a share: fine where it matters.
const SHARES: [f64; 14] =
    [0.0, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0];

/// One direction as it is drawn.
#[derive(Debug, Clone, Default)]
pub struct Lane {
    /// What it delivered, bit/s, the oldest first.
    pub rates: VecDeque<u64>,
    /// Lost since the showing before: in the queue, by the channel, in outages.
    pub lost: [u64; 3],
}

/// The panel.
#[derive(Debug)]
pub struct State {
    pub shown: Showing,
    pub lanes: [Lane; 2],
    /// Position of the chosen dial: those of the way there, then those of the way back.
    pub chosen: usize,
    /// What the link did not want to hear.
    pub message: String,
}

impl State {
    pub fn new(shown: Showing) -> Self {
        Self { shown, lanes: [Lane::default(), Lane::default()], chosen: 0, message: String::new() }
    }

    /// The link has shown itself again.
    pub fn show(&mut self, shown: Showing) {
        let apart = shown.lasted_s - self.shown.lasted_s;
        for ((lane, now), before) in self.lanes.iter_mut().zip(&shown.lanes).zip(&self.shown.lanes) {
            let (now_lost, lost_before) = (lost(now), lost(before));
            lane.lost = std::array::from_fn(|k| now_lost[k].saturating_sub(lost_before[k]));
            if apart > 0.0 {
                let bits = 8.0 * now.bytes.saturating_sub(before.bytes) as f64;
                lane.rates.push_back((bits / apart) as u64);
            }
            while lane.rates.len() > REMEMBERED {
                lane.rates.pop_front();
            }
        }
        self.shown = shown;
    }

    /// The link has refused a setting.
    pub fn refused(&mut self, why: String) {
        self.message = why.lines().next().unwrap_or_default().to_owned();
    }

    /// A key was pressed; the setting that follows of it, if one does.
    pub fn press(&mut self, key: Key) -> Option<String> {
        self.message.clear();
        let dials = 2 * DIALS.len();
        match key {
            Key::Up => self.chosen = (self.chosen + dials - 1) % dials,
            Key::Down => self.chosen = (self.chosen + 1) % dials,
            Key::More | Key::Less | Key::None => return self.turn(key),
        }
        None
    }

    /// The dials with what stands on them, those of the way there first.
    pub fn dials(&self) -> Vec<(usize, Dial, String)> {
        let all = (0..2 * DIALS.len()).map(|k| (k / DIALS.len(), DIALS[k % DIALS.len()]));
        all.map(|(way, dial)| (way, dial, self.value(way, dial))).collect()
    }

    fn value(&self, way: usize, dial: Dial) -> String {
        let (setting, lane) = (&self.shown.settings[way], self.shown.lanes.get(way));
        match dial {
            Dial::Rate => quantity(setting.rate_bps as f64, "bit/s"),
            Dial::Delay => quantity(setting.delay_s, "s"),
            Dial::Loss => percent(setting.by_hand.loss),
            Dial::Reorder => percent(setting.by_hand.reorder),
            Dial::Up => if lane.is_none_or(|lane| lane.up) { "up" } else { "down" }.to_owned(),
        }
    }

    fn turn(&self, key: Key) -> Option<String> {
        let (way, dial) = (self.chosen / DIALS.len(), DIALS[self.chosen % DIALS.len()]);
        let (setting, more) = (&self.shown.settings[way], key == Key::More);
        let back = if way == 0 { "" } else { "_back" };
        let of_share = |name: &str, now: f64| {
            let to = if key == Key::None { 0.0 } else { next(now, more) };
            (to != now).then(|| format!("{name}{back}={to}"))
        };
        match dial {
            Dial::Rate => {
                // A rate of nothing is an outage, which has a dial of its own.
                let to = grown(setting.rate_bps as f64, more).max(1000.0);
                (key != Key::None).then(|| format!("rate{back}={}bit/s", to as u64))
            }
            Dial::Delay => {
                let ms = setting.delay_s * 1e3;
                let to = match (key, ms) {
                    (Key::None, _) => 0.0,
                    (Key::More, ms) if ms < 1.0 => 1.0,
                    (Key::Less, ms) if ms <= 1.0 => 0.0,
                    (_, ms) => grown(ms, more),
                };
                Some(format!("delay{back}={to}ms"))
            }
            Dial::Loss => of_share("loss", setting.by_hand.loss),
            Dial::Reorder => of_share("reorder", setting.by_hand.reorder),
            Dial::Up => Some(format!("up{back}={more}")),
        }
    }
}

/// Lost, by cause.
fn lost(lane: &LaneCounters) -> [u64; 3] {
    [lane.queue_drops, lane.channel_drops, lane.outage_drops]
}

/// The next step of a share.
fn next(now: f64, more: bool) -> f64 {
    // What was set by other means may stand between two steps.
    const NEAR: f64 = 1e-9;
    let above = SHARES.into_iter().find(|x| *x > now + NEAR).unwrap_or(1.0);
    let below = SHARES.into_iter().rev().find(|x| *x < now - NEAR).unwrap_or(0.0);
    if more { above } else { below }
}

/// A tenth more or less, in two digits, and by one of the last of them at least.
fn grown(now: f64, more: bool) -> f64 {
    let digit = 10f64.powf(now.max(1.0).log10().floor() - 1.0);
    // Ten times a tenth is one, and not a little more.
    const NEAR: f64 = 1e-9;
    let to = if more { (now * 1.1 / digit - NEAR).ceil() } else { (now / 1.1 / digit + NEAR).floor() };
    (to * digit * 1e6).round() / 1e6
}

fn percent(share: f64) -> String {
    format!("{} %", (share * 1e6).round() / 1e4)
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use truckee_kernel::standalone::{Hand, Setting};

    /// A link of 10 Mbit/s and 50 ms after so many seconds, that has carried so many bytes.
    pub fn shown(lasted_s: f64, bytes: u64) -> Showing {
        let by_hand = Hand { loss: 0.01, reorder: 0.0, reorder_by_s: 0.01 };
        let setting = Setting { rate_bps: 10_000_000, delay_s: 0.05, by_hand };
        let lane = |name: &str| LaneCounters {
            name: name.into(),
            bytes,
            channel_drops: bytes / 1000,
            rate_bps: 10_000_000,
            delay_s: 0.05,
            up: true,
            ..LaneCounters::default()
        };
        Showing {
            id: "3fa2".into(),
            ends: ["ns:a".into(), "ns:b".into()],
            lasted_s,
            turns: 0,
            settings: [setting; 2],
            lanes: vec![lane("a-b"), lane("b-a")],
        }
    }

    #[test]
    fn the_arrows_choose_a_dial_and_turn_it() {
        let mut state = State::new(shown(0.0, 0));
        assert_eq!(state.press(Key::More).as_deref(), Some("rate=11000000bit/s"));
        assert_eq!(state.press(Key::Less).as_deref(), Some("rate=9000000bit/s"));
        assert_eq!(state.press(Key::Down), None);
        assert_eq!(state.press(Key::More).as_deref(), Some("delay=55ms"));
        assert_eq!(state.press(Key::None).as_deref(), Some("delay=0ms"));
        state.press(Key::Down);
        assert_eq!(state.press(Key::More).as_deref(), Some("loss=0.02"));
        assert_eq!(state.press(Key::Less).as_deref(), Some("loss=0.005"));
        state.press(Key::Down);
        assert_eq!(state.press(Key::Less), None, "there is no reordering to be taken away");
        (0..5).for_each(|_| assert_eq!(state.press(Key::Down), None));
        assert_eq!(state.press(Key::More).as_deref(), Some("reorder_back=0.0001"));
        state.press(Key::Down);
        assert_eq!(state.press(Key::Less).as_deref(), Some("up_back=false"));
        state.press(Key::Down);
        assert_eq!(state.chosen, 0);
    }

    #[test]
    fn steps_of_a_value_never_stand_still() {
        let mut x = 1.0;
        for _ in 0..100 {
            let to = grown(x, true);
            assert!(to > x && to <= 1.3 * x, "{x} to {to}");
            assert!(grown(to, false) < to);
            x = to;
        }
        assert_eq!((next(0.013, true), next(0.013, false)), (0.02, 0.01));
        assert_eq!((next(1.0, true), next(0.0, false)), (1.0, 0.0));
    }

    #[test]
    fn rates_and_losses_are_those_since_the_last_showing() {
        let mut state = State::new(shown(1.0, 0));
        state.show(shown(1.5, 50_000));
        state.show(shown(2.0, 80_000));
        assert_eq!(state.lanes[0].rates, [800_000, 480_000]);
        assert_eq!(state.lanes[0].lost, [0, 30, 0]);
    }
}
