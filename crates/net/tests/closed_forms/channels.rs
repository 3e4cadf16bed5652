//! Channels seen through the network.

use crate::{near, outcome, scenario};
use truckee_net::{Options, run};

/// Fails unless a count of `n` independent events is within four standard deviations of what is expected.
fn likely(what: &str, count: u64, n: u64, p: f64) {
    let n = n as f64;
    let sd = (n * p * (1.0 - p)).sqrt();
    assert!((count as f64 - n * p).abs() <= 4.0 * sd + 1.0, "{what}: {count}, expected {} ± {sd}", n * p);
}

#[test]
fn bit_errors_hit_packets_by_their_length() {
    for (bytes, ber) in [(40, 1e-5f64), (576, 1e-5), (1500, 1e-5), (1500, 1e-6), (9000, 1e-5)] {
        let result = outcome(&format!(
            r#"
            duration = "200s"
            [[link]]
            between = ["a", "b"]
            rate = "1Gbit/s"
            channel = {{ kind = "bit-errors", ber = {ber:?} }}
            [[traffic]]
            from = "a"
            to = "b"
            kind = "cbr"
            rate = "{}kbit/s"
            packet = "{bytes}B"
            "#,
            8 * bytes
        ));
        let traffic = &result.traffic[0];
        let p = 1.0 - (1.0 - ber).powi(8 * bytes);
        assert!(traffic.packets_sent > 199_000);
        likely(&format!("{bytes} B"), traffic.drops.channel, traffic.packets_sent, p);
        assert_eq!(traffic.packets_delivered + traffic.drops.channel, traffic.packets_sent);
    }
}

const GOOD: f64 = 0.090;
const BAD: f64 = 0.010;

#[test]
fn a_markov_channel_loses_its_stationary_share() {
    let result = outcome(
        r#"
        duration = "2000s"
        [[link]]
        between = ["a", "b"]
        rate = "1Gbit/s"
        channel = { kind = "gilbert", good = "90ms", bad = "10ms", per_good = 0.01, per_bad = 0.5 }
        [[traffic]]
        from = "a"
        to = "b"
        kind = "cbr"
        rate = "12Mbit/s"
        "#,
    );
    let traffic = &result.traffic[0];
    let share = BAD / (GOOD + BAD);
    let expected = share * 0.5 + (1.0 - share) * 0.01;
    // 20,000 visits to the bad state: 1 % and a margin.
    near("loss", traffic.drops.channel as f64 / traffic.packets_sent as f64, expected, 0.04);
}

#[test]
fn a_markov_channel_s_bursts_are_as_long_as_its_bad_states() {
    // Probes a millisecond apart, each a flow of one segment: what becomes of their first transmissions.
    let text = r#"
        duration = "21s"
        [[link]]
        between = ["a", "b"]
        rate = "1Gbit/s"
        channel = { kind = "gilbert", good = "90ms", bad = "10ms", per_bad = 1.0 }
        [[flow]]
        from = "a"
        to = "b"
        count = 20000
        start_every = "1ms"
        handshake = false
        app = { kind = "file", size = "100B" }
        "#;
    let mut lengths = Vec::new();
    for seed in 1..=5 {
        let mut probes = scenario(text);
        probes.seed = seed;
        let result = run(&probes, &Options { series: true, ..Default::default() }).unwrap();
        let lost = |(k, series): (usize, &truckee_scenario::outcome::FlowSeries)| {
            let sent = k as f64 * 1e-3;
            series.drops.iter().any(|d| !d.ack && d.t < sent + 0.5)
        };
        let mut length = 0u64;
        for now in result.series.iter().enumerate().map(lost) {
            if now {
                length += 1;
            } else if length > 0 {
                lengths.push(std::mem::take(&mut length) as f64);
            }
        }
    }
    // Of a two-state chain seen every millisecond: P(bad | bad a millisecond ago).
    let share = BAD / (GOOD + BAD);
    let stay = share + (1.0 - share) * libm::exp(-(1.0 / GOOD + 1.0 / BAD) * 1e-3);
    let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
    // About a thousand bursts: 3 % and a margin.
    assert!(lengths.len() > 700, "{}", lengths.len());
    near("burst", mean, 1.0 / (1.0 - stay), 0.1);
}
