//! What every member must pass, whatever its rule.

use super::interval::member;
use super::*;
use crate::{Channel, ChannelConfig, Fate, JitterDistribution, MAX_EXTRA, ReorderWhich, Script, Span, Time};

const MS: u64 = 1_000_000;
const DAY: u64 = 86_400_000 * MS;

/// A member at work, the same with parameters at which it must do nothing, and whether it keeps packets in order.
struct Row {
    name: &'static str,
    active: Effect,
    idle: Effect,
    in_order: bool,
}

fn row(name: &'static str, active: Effect, idle: Effect, in_order: bool) -> Row {
    Row { name, active, idle, in_order }
}

fn jitter(distribution: JitterDistribution, keep_order: bool) -> Effect {
    Effect::Jitter { distribution, correlation_time: Span::ZERO, keep_order }
}

fn members() -> Vec<Row> {
    use Effect::*;
    use JitterDistribution::{Normal, Pareto, Uniform};
    let gilbert = |per_good, per_bad| Gilbert { good: Span::ms(10), bad: Span::ms(2), per_good, per_bad };
    let bursts = |lasting| Bursts { every: Span::ms(40), lasting, until: None, phase: None };
    let script = |packets| Scripted(Script { packets, ..Script::default() });
    let reorder = |which, delay| Reorder { which, delay };
    vec![
        row("bernoulli", Bernoulli { per: 0.2 }, Bernoulli { per: 0.0 }, true),
        row("bit-errors", BitErrors { ber: 1e-5 }, BitErrors { ber: 0.0 }, true),
        row("gilbert", gilbert(0.01, 0.5), gilbert(0.0, 0.0), true),
        row("bursts", bursts(Span::ms(10)), bursts(Span::ZERO), true),
        row(
            "outages",
            Outages { at: vec![(Time::ms(5), Span::ms(1)), (Time::ns(DAY), Span::ns(DAY))] },
            Outages { at: vec![] },
            true,
        ),
        row(
            "poisson outages",
            PoissonOutages { every: Span::ms(10), lasting: Span::ms(2) },
            PoissonOutages { every: Span::ms(10), lasting: Span::ZERO },
            true,
        ),
        row("scripted", script(vec![(3, 9), (50, 60)]), script(vec![]), true),
        row(
            "correlated",
            Correlated { per: 0.4, correlation: 0.5 },
            Correlated { per: 0.0, correlation: 0.5 },
            true,
        ),
        row(
            "uniform",
            jitter(Uniform { max: Span::ms(9) }, false),
            jitter(Uniform { max: Span::ZERO }, false),
            false,
        ),
        row(
            "uniform in order",
            jitter(Uniform { max: Span::ms(9) }, true),
            jitter(Uniform { max: Span::ZERO }, true),
            true,
        ),
        row(
            "normal",
            jitter(Normal { mean: Span::ms(5), sd: Span::ms(2) }, false),
            jitter(Normal { mean: Span::ZERO, sd: Span::ZERO }, false),
            false,
        ),
        row(
            "pareto",
            jitter(Pareto { scale: Span::ms(1), shape: 1.5 }, false),
            jitter(Pareto { scale: Span::ZERO, shape: 1.5 }, false),
            false,
        ),
        row(
            "pareto in order",
            jitter(Pareto { scale: Span::ms(1), shape: 0.1 }, true),
            jitter(Pareto { scale: Span::ZERO, shape: 0.1 }, true),
            true,
        ),
        row(
            "duplicate",
            Duplicate { probability: 0.2, after: Span::ms(3) },
            Duplicate { probability: 0.0, after: Span::ms(3) },
            false,
        ),
        row(
            "delays",
            Delays(crate::Delays { flow: None, by: vec![Span::ms(3); 5_000].into() }),
            Delays(crate::Delays::default()),
            true,
        ),
        row(
            "reorder every",
            reorder(ReorderWhich::Every(5), Span::ms(3)),
            reorder(ReorderWhich::Every(5), Span::ZERO),
            false,
        ),
        row(
            "reorder some",
            reorder(ReorderWhich::Probability(0.2), Span::ms(3)),
            reorder(ReorderWhich::Probability(0.0), Span::ms(3)),
            false,
        ),
    ]
}

/// Packets a millisecond apart, data and ACKs, of several flows.
fn traffic(n: u64) -> impl Iterator<Item = Packet> {
    (0..n).map(|i| Packet {
        at: Time::ms(i),
        bytes: if i % 3 == 0 { 40 } else { 1500 },
        flow: i as u32 % 2,
        data: i % 3 != 0,
    })
}

fn channel(effects: &[Effect], seed: u64) -> Channel {
    Channel::new(&ChannelConfig { effects: effects.to_vec() }, seed)
}

fn fates(effects: &[Effect], seed: u64, n: u64) -> Vec<Fate> {
    let mut channel = channel(effects, seed);
    traffic(n).map(|packet| channel.fate(&packet)).collect()
}

const UNTOUCHED: Fate = Fate::Arrives { extra: Span::ZERO, copy: None };

#[test]
fn the_same_seed_gives_the_same_fates_and_something_happens() {
    for Row { name, active, .. } in members() {
        let first = fates(std::slice::from_ref(&active), 1, 2_000);
        assert_eq!(first, fates(std::slice::from_ref(&active), 1, 2_000), "{name}");
        assert!(first.iter().any(|&fate| fate != UNTOUCHED), "{name} does nothing");
        assert!(!channel(&[active], 1).is_clean(), "{name}");
    }
}

#[test]
fn another_seed_gives_other_fates_where_chance_is_at_work() {
    let fixed = ["outages", "scripted", "delays", "reorder every"];
    for Row { name, active, .. } in members() {
        let differ = fates(std::slice::from_ref(&active), 1, 2_000) != fates(&[active], 2, 2_000);
        assert_eq!(differ, !fixed.contains(&name), "{name}");
    }
}

#[test]
fn parameters_of_zero_do_nothing() {
    for Row { name, idle, .. } in members() {
        let mut alone = member(&idle, 1);
        assert!(alone.is_clean() && alone.keeps_order(), "{name}");
        for packet in traffic(2_000) {
            let mut passage = Passage::default();
            alone.act(&packet, &mut passage);
            assert_eq!(Fate::from(passage), UNTOUCHED, "{name}");
        }
        assert!(channel(&[idle], 1).is_clean(), "{name}");
    }
}

#[test]
fn a_neighbour_changes_nothing_but_what_it_does_itself() {
    for Row { name, active, .. } in members() {
        let calm = fates(&[Effect::Bernoulli { per: 0.0 }, active.clone()], 1, 2_000);
        let noisy = fates(&[Effect::Bernoulli { per: 0.5 }, active], 1, 2_000);
        let lost = |fate: &Fate| matches!(fate, Fate::Lost(_));
        assert!(noisy.iter().filter(|f| lost(f)).count() > 900, "{name}: the neighbour loses half");
        for (calm, noisy) in calm.iter().zip(&noisy) {
            assert!(noisy == calm || lost(noisy), "{name}: {calm:?} became {noisy:?}");
        }
    }
}

#[test]
fn order_is_kept_by_those_that_say_so_and_broken_by_the_others() {
    for Row { name, active, in_order, .. } in members() {
        let mut channel = channel(&[active], 1);
        assert_eq!(channel.keeps_order(), in_order, "{name}");
        let (mut latest, mut broken) = (Time::ZERO, false);
        for packet in traffic(5_000) {
            if let Fate::Arrives { extra, copy } = channel.fate(&packet) {
                broken |= packet.at + extra < latest || copy.is_some();
                latest = latest.max(packet.at + extra);
            }
        }
        assert_eq!(broken, !in_order, "{name}");
    }
}

#[test]
fn idle_days_and_the_end_of_time_are_survived() {
    for Row { name, active, .. } in members() {
        let mut channel = channel(&[active], 1);
        let days = (0..2_000).map(|i| i * DAY + i);
        let end = [u64::MAX / 2, u64::MAX / 2, u64::MAX - 1, u64::MAX, u64::MAX];
        for at in days.chain(end) {
            let fate = channel.fate(&Packet { at: Time::ns(at), bytes: u32::MAX, flow: 0, data: true });
            if let Fate::Arrives { extra, copy } = fate {
                assert!(extra <= MAX_EXTRA && copy.is_none_or(|c| c <= MAX_EXTRA), "{name}");
            }
        }
    }
}

#[test]
fn a_capacity_is_no_effect_on_a_packet() {
    let trace = crate::CapacityTrace { name: "constant".into(), opportunities_ms: vec![1] };
    assert!(channel(&[Effect::Trace(trace.into())], 1).is_clean());
}
