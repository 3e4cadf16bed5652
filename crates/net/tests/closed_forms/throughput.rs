//! Throughput against the square-root law and against the formula of Padhye et al.
//!
//! Square-root law (Mathis, Semke, Mahdavi and Ott 1997): B = (MSS/RTT)·√(3/2p) with an ACK a segment, derived for one
//! loss in every 1/p segments and no timeouts: p up to about 1 %. PFTK (Padhye, Firoiu, Towsley and Kurose 1998) adds
//! timeouts: B = 1/(RTT·√(2bp/3) + T0·min(1, 3·√(3bp/8))·p·(1 + 32p²)) segments, for b segments an ACK.

use crate::{near, scenario};
use rayon::prelude::*;
use truckee_channel::{Effect, Script};
use truckee_net::{Options, run};

const MSS_BITS: f64 = 8.0 * 1460.0;

struct Measured {
    goodput: f64,
    rtt: f64,
    /// Lost packets over packets sent.
    loss: f64,
}

/// Goodput of an unlimited flow over a path of one fast link, mean of several seeds.
fn measure(sender: &str, receiver: &str, rtt_ms: u64, effect: &Effect, seconds: u64, seeds: u64) -> Measured {
    let mut path = scenario(&format!(
        r#"
        duration = "{seconds}s"
        warmup = "{}s"
        [[link]]
        between = ["a", "b"]
        rate = "10Gbit/s"
        delay = "{}us"
        [[flow]]
        from = "a"
        to = "b"
        sender = "{sender}"
        receiver = "{receiver}"
        initial_ssthresh = "2segments"
        "#,
        seconds / 20,
        rtt_ms * 500
    ));
    std::sync::Arc::make_mut(&mut path.links[0].forward).channel.effects = vec![effect.clone()];
    let results: Vec<Measured> = (1..=seeds)
        .into_par_iter()
        .map(|seed| {
            let mut path = path.clone();
            path.seed = seed;
            let flow = &run(&path, &Options::default()).unwrap().flows[0];
            let loss = flow.drops.channel as f64 / flow.segments_sent as f64;
            Measured { goodput: flow.goodput_bps, rtt: flow.rtt_s.mean.unwrap(), loss }
        })
        .collect();
    let mean = |of: fn(&Measured) -> f64| results.iter().map(of).sum::<f64>() / results.len() as f64;
    Measured { goodput: mean(|m| m.goodput), rtt: mean(|m| m.rtt), loss: mean(|m| m.loss) }
}

fn square_root(m: &Measured) -> f64 {
    MSS_BITS / m.rtt * (1.5 / m.loss).sqrt()
}

fn pftk(m: &Measured, b: f64, timeout: f64) -> f64 {
    let p = m.loss;
    let rounds = m.rtt * (2.0 * b * p / 3.0).sqrt();
    let timeouts = timeout * (3.0 * (3.0 * b * p / 8.0).sqrt()).min(1.0) * p * (1.0 + 32.0 * p * p);
    MSS_BITS / (rounds + timeouts)
}

/// One loss in every `every` data packets.
fn periodic(every: u64) -> Effect {
    let packets = (1..100_000).map(|k| (k * every, k * every)).collect();
    Effect::Scripted(Script { packets, ..Script::default() })
}

#[test]
fn one_loss_in_a_period_gives_the_square_root_law() {
    for sender in ["reno", "newreno", "sack"] {
        for (every, rtt_ms) in [(200, 40), (200, 100), (1000, 100), (10_000, 20)] {
            let m = measure(sender, "every", rtt_ms, &periodic(every), 400, 1);
            near(&format!("{sender}, 1/{every}, {rtt_ms} ms"), m.goodput, square_root(&m), 0.15);
        }
    }
}

#[test]
fn random_loss_gives_the_square_root_law() {
    for sender in ["newreno", "sack"] {
        for (per, rtt_ms) in [(1e-4, 20), (1e-3, 20), (1e-3, 100), (3e-3, 100)] {
            let m = measure(sender, "every", rtt_ms, &Effect::Bernoulli { per }, 600, 4);
            near("loss", m.loss, per, 0.1);
            near(&format!("{sender}, {per}, {rtt_ms} ms"), m.goodput, square_root(&m), 0.15);
        }
    }
}

#[test]
fn random_loss_with_timeouts_gives_the_formula_of_padhye() {
    for (receiver, b) in [("every", 1.0), ("delayed", 2.0)] {
        for (per, rtt_ms) in [(1e-3, 100), (1e-2, 100), (1e-2, 200), (3e-2, 200)] {
            let m = measure("reno", receiver, rtt_ms, &Effect::Bernoulli { per }, 1200, 4);
            let what = format!("{receiver}, {per}, {rtt_ms} ms");
            // The timer's floor of 1 s is above any of these round trips.
            near(&what, m.goodput, pftk(&m, b, 1.0), 0.15);
        }
    }
}
