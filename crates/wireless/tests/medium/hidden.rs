//! Two stations that do not hear each other send to one between them.
//!
//! Claims, with their bounds fixed before the first run (802.11b at 2 Mbit/s, packets of 1,500 bytes, 20 s, three
//! seeds):
//! 1. Hidden from each other, without RTS they lose frames, nearly all (≥ 99 %) by collision; more than a third of
//!    their attempts fail.
//! 2. RTS and CTS give them at least twice the goodput.
//! 3. The same two in reach of each other collide in less than 8 % of their attempts: both draw from windows of 32, and
//!    a sixteenth is what Bianchi's fixed point has for two.
//! 4. Exposed: of two pairs whose senders hear each other but whose receivers hear their own sender alone, each gets less
//!    than 60 % of what it gets alone, though both receivers could read if both sent at once.

use crate::cell::{Cell, Flow, stations};
use truckee_wireless::phy::{Dsss, Preamble, Rate, Standard};
use truckee_wireless::propagation::{PathLoss, Propagation};
use truckee_wireless::{Failure, MediumConfig, NodeId, Position, RateControl, Span, Time};

const RUN: Time = Time::s(20);
const SENDERS: [u32; 2] = [0, 2];

/// Ranges as in ns-2: with two rays at 914 MHz and 24.5 dBm one reads at 250 m. Carriers are sensed at `sense` metres.
fn config(sense: f64, rts: bool) -> MediumConfig {
    let propagation = Propagation { frequency: 914e6, path_loss: PathLoss::TwoRay, ..Propagation::default() };
    // h²h²/d⁴ beyond the crossover.
    let at = |d: f64| 24.5 + 10.0 * (1.5f64.powi(4) / d.powi(4)).log10();
    MediumConfig {
        propagation,
        sensitivity: at(250.0),
        carrier_sense: at(sense),
        ignored: at(sense),
        rts_threshold: if rts { 0 } else { u32::MAX },
        ..MediumConfig::of(Standard::B(Preamble::Long))
    }
}

struct Outcome {
    delivered: Vec<u64>,
    attempts: u64,
    failures: [u64; 5],
}

impl Outcome {
    fn total(&self) -> u64 {
        self.delivered.iter().sum()
    }

    fn failed(&self) -> u64 {
        self.failures.iter().sum()
    }
}

fn run(config: &MediumConfig, places: &[f64], flows: &[(u32, u32)], seed: u64) -> Outcome {
    let places: Vec<_> = places.iter().map(|x| Position::on_ground(*x, 0.0)).collect();
    let mut all = stations(&places, RateControl::Fixed(Rate::Dsss(Dsss::R2)));
    all.iter_mut().for_each(|s| s.power = 24.5);
    let flows: Vec<_> = flows.iter().map(|&(from, to)| Flow { from, to, bytes: 1_500 }).collect();
    let mut cell = Cell::new(config, &all, &flows, seed);
    cell.run(RUN);
    let counters: Vec<_> = flows.iter().map(|f| cell.medium.counters(NodeId(f.from))).collect();
    let failures = std::array::from_fn(|i| counters.iter().map(|c| c.failures[i]).sum());
    Outcome { delivered: cell.delivered, attempts: counters.iter().map(|c| c.attempts).sum(), failures }
}

const TO_THE_MIDDLE: [(u32, u32); 2] = [(SENDERS[0], 1), (SENDERS[1], 1)];

#[test]
fn hidden_stations_collide_and_rts_keeps_them_apart() {
    for seed in 1..=3 {
        let hidden = run(&config(300.0, false), &[0.0, 200.0, 400.0], &TO_THE_MIDDLE, seed);
        let collided = hidden.failures[Failure::Collision as usize];
        assert!(collided as f64 >= 0.99 * hidden.failed() as f64, "{:?}", hidden.failures);
        assert!(3 * hidden.failed() > hidden.attempts, "{:?} of {}", hidden.failures, hidden.attempts);
        let asked = run(&config(300.0, true), &[0.0, 200.0, 400.0], &TO_THE_MIDDLE, seed);
        println!("seed {seed}: {} delivered without RTS, {} with", hidden.total(), asked.total());
        assert!(asked.total() >= 2 * hidden.total(), "{} {}", asked.total(), hidden.total());
    }
}

#[test]
fn the_channel_is_busy_to_who_hears_it() {
    let places = [0.0, 200.0, 400.0].map(|x| Position::on_ground(x, 0.0));
    let mut all = stations(&places, RateControl::Fixed(Rate::Dsss(Dsss::R2)));
    all.iter_mut().for_each(|s| s.power = 24.5);
    let flows = TO_THE_MIDDLE.map(|(from, to)| Flow { from, to, bytes: 1_500 });
    let mut cell = Cell::new(&config(300.0, false), &all, &flows, 1);
    cell.run(RUN);
    let airtime = [0, 1, 2].map(|node| cell.medium.counters(NodeId(node)).airtime);
    let (all_sent, busy) = (airtime.iter().copied().sum::<Span>(), cell.medium.busy(RUN));
    let near = [0, 1, 2].map(|node| cell.medium.busy_at(NodeId(node), RUN));
    // The middle hears both, those beside it only the middle and themselves, and what overlaps counts once.
    assert!(near[1] <= busy && busy < all_sent && busy < RUN - Time::ZERO, "{near:?} {busy:?} {all_sent:?}");
    assert!(near[0] < busy && near[2] < busy, "{near:?} {busy:?}");
    assert!(near[0] >= airtime[0] && near[0] <= airtime[0] + airtime[1], "{near:?} {airtime:?}");
}

#[test]
fn stations_that_hear_each_other_rarely_collide() {
    for seed in 1..=3 {
        let heard = run(&config(550.0, false), &[0.0, 200.0, 400.0], &TO_THE_MIDDLE, seed);
        println!("seed {seed}: {} of {} collided", heard.failed(), heard.attempts);
        assert!((heard.failed() as f64) < 0.08 * heard.attempts as f64);
    }
}

#[test]
fn exposed_stations_wait_for_nothing() {
    // Receivers at the ends, senders in the middle, 200 m from each other.
    let places = [0.0, 200.0, 400.0, 600.0];
    for seed in 1..=3 {
        let config = config(250.0, false);
        let both = run(&config, &places, &[(1, 0), (2, 3)], seed);
        let alone = run(&config, &places, &[(1, 0)], seed);
        println!("seed {seed}: {:?} beside each other, {:?} alone", both.delivered, alone.delivered);
        let share = both.delivered[0] as f64 / alone.delivered[0] as f64;
        assert!(share < 0.6, "{share}");
        assert_eq!(alone.failed(), 0);
    }
}
