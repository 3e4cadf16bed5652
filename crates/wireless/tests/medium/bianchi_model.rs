//! Saturation throughput by G. Bianchi, "Performance analysis of the IEEE 802.11 distributed coordination function" (IEEE J.
//! Sel. Areas Commun. 18 (3), 2000), and of the medium under his assumptions: n stations in one cell always have something
//! to send, all hear all, no errors but collisions, which destroy all that collide; no retry limit; the window doubles five
//! times. His parameters (table II): slot 50 µs, SIFS 28 µs, DIFS 128 µs, δ 1 µs, 1 Mbit/s, 8,184 bits of payload behind
//! 272 of MAC header; the PHY header is that of 802.11b, 192 µs, in place of his 128. After a collision everybody
//! contends after a DIFS, as in his T_c: neither an EIFS nor a wait for the answer.

use crate::cell::{Cell, Flow, around_an_access_point};
use truckee_wireless::phy::{Dsss, Preamble, Rate, Standard, Timing, bytes};
use truckee_wireless::{MediumConfig, RateControl, Span, Time};

const PAYLOAD: u32 = 1_023;
const R1: Rate = Rate::Dsss(Dsss::R1);

fn config(rts: bool) -> MediumConfig {
    let standard = Standard::B(Preamble::Long);
    let difs = Span::us(128);
    MediumConfig {
        timing: Timing {
            slot: Span::us(50),
            sifs: Span::us(28),
            aifsn: 2,
            cw_min: 31,
            cw_max: 1_023,
            answer: difs,
            eifs: difs,
        },
        basic_rates: vec![R1],
        delay: Span::us(1),
        overhead: 34,
        rts_threshold: if rts { 0 } else { u32::MAX },
        short_retries: None,
        long_retries: None,
        ..MediumConfig::of(standard)
    }
}

/// His eq. 7 and 9: the chance τ that a station sends in a slot, where p = 1 − (1 − τ)^(n−1) is the chance to collide.
pub fn sending(n: u32, window: f64, doublings: i32) -> f64 {
    let tau = |p: f64| {
        let m = doublings;
        let growth: f64 = (0..m).map(|i| (2.0 * p).powi(i)).sum();
        2.0 / (1.0 + window + p * window * growth)
    };
    // τ(p) falls and p(τ) rises: one crossing.
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let t = (low + high) / 2.0;
        let p = 1.0 - f64::powi(1.0 - t, n as i32 - 1);
        if tau(p) > t { low = t } else { high = t }
    }
    low
}

/// His eq. 13 with 14 or 17: bits of payload a second.
pub fn throughput(n: u32, rts: bool) -> f64 {
    let config = config(rts);
    let phy = config.standard.phy();
    let time = |bytes: u32| phy.airtime(R1, bytes).as_f64();
    let (sifs, delay) = (config.timing.sifs.as_f64(), config.delay.as_f64());
    let difs = config.timing.difs().as_f64();
    let basic = time(PAYLOAD + config.overhead) + delay + sifs + time(bytes::ACK) + delay + difs;
    let (success, collision) = if rts {
        (time(bytes::RTS) + 2.0 * (sifs + delay) + time(bytes::CTS) + basic, time(bytes::RTS) + delay + difs)
    } else {
        (basic, time(PAYLOAD + config.overhead) + delay + difs)
    };
    let tau = sending(n, 32.0, 5);
    let n = n as i32;
    let any = 1.0 - (1.0 - tau).powi(n);
    let one = f64::from(n) * tau * (1.0 - tau).powi(n - 1) / any;
    let cycle =
        (1.0 - any) * config.timing.slot.as_f64() + any * one * success + any * (1.0 - one) * collision;
    any * one * 8.0 * f64::from(PAYLOAD) / cycle * 1e9
}

/// Bits of payload a second in one run; none is given up.
pub fn simulated(n: u32, rts: bool, run: Time, seed: u64) -> f64 {
    let stations = around_an_access_point(n, RateControl::Fixed(R1));
    let flows: Vec<Flow> = (1..=n).map(|from| Flow { from, to: 0, bytes: PAYLOAD }).collect();
    let mut cell = Cell::new(&config(rts), &stations, &flows, seed);
    cell.run(run);
    assert_eq!(cell.given_up, 0);
    cell.delivered.iter().sum::<u64>() as f64 * 8.0 * f64::from(PAYLOAD) / run.seconds()
}

/// By how much the medium is off his formula, as a share of it: mean over five seeds, and half its 95 % interval.
pub fn off(n: u32, rts: bool, run: Time) -> (f64, f64) {
    let expected = throughput(n, rts);
    let off: Vec<f64> = (1..=5).map(|seed| simulated(n, rts, run, seed) / expected - 1.0).collect();
    let mean = off.iter().sum::<f64>() / 5.0;
    let variance = off.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 4.0;
    // Student's t at 97.5 % with four degrees of freedom.
    (mean, 2.776 * (variance / 5.0).sqrt())
}
