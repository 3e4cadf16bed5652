//! Random networks: every packet has exactly one end, none comes twice or out of order, runs end, and the same run is
//! the same.

use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;
use truckee_wireless::phy::{Band, Dsss, GuardInterval, Mcs, Ofdm, Preamble, Rate, Slot, Standard};
use truckee_wireless::propagation::{Fading, PathLoss, Shadowing};
use truckee_wireless::{
    Aggregation, Destination, Loss, Medium, MediumConfig, NodeId, Packet, Position, Propagation, Protection,
    RateControl, Report, Role, Span, StationConfig, Time,
};

/// A network, and what is offered to it.
#[derive(Debug, Clone)]
struct Case {
    config: MediumConfig,
    stations: Vec<StationConfig>,
    /// Time, sender, receiver (or everyone, beyond the stations), bytes.
    packets: Vec<(Time, u32, u32, u32)>,
    /// Time, station, place.
    moves: Vec<(Time, u32, Position)>,
    seed: u64,
}

fn standard() -> impl Strategy<Value = Standard> {
    prop_oneof![
        Just(Standard::B(Preamble::Long)),
        Just(Standard::B(Preamble::Short)),
        Just(Standard::A),
        Just(Standard::G(Slot::Short)),
        Just(Standard::N(Band::Ghz5, GuardInterval::Short)),
        Just(Standard::N(Band::Ghz2_4, GuardInterval::Long)),
    ]
}

fn config() -> impl Strategy<Value = MediumConfig> {
    let variation = (any::<bool>(), any::<bool>(), 0.0..10.0f64);
    let access = (
        prop_oneof![Just(0), Just(500), Just(u32::MAX)],
        prop_oneof![Just(None), (0.0..20.0f64).prop_map(|x| Some(4.0 + x))],
        (0..4_000u64).prop_map(Span::ns),
        -95.0..-70.0f64,
        any::<bool>(),
        1..64u32,
    );
    (standard(), variation, access).prop_map(|(standard, (shadowed, faded, k), access)| {
        let (rts_threshold, capture, delay, carrier_sense, plain, frames) = access;
        let base = MediumConfig::of(standard);
        let propagation = Propagation {
            path_loss: PathLoss::LogDistance { exponent: 3.5, reference: 1.0 },
            shadowing: shadowed.then_some(Shadowing { sigma_db: 6.0, correlation: Span::ms(500) }),
            fading: faded.then_some(Fading { k, coherence: Span::ms(20) }),
            ..base.propagation
        };
        let aggregation = base.aggregation.filter(|_| !plain);
        let aggregation = aggregation.map(|limits| Aggregation { frames, asks: faded, ..limits });
        let in_2_4 = matches!(standard, Standard::G(_) | Standard::N(Band::Ghz2_4, _));
        let protection = (in_2_4 && plain).then_some(Protection::CtsToSelf(Rate::Dsss(Dsss::R11)));
        let (frames, voids_requests) = (plain, shadowed);
        MediumConfig {
            voids_requests,
            propagation,
            rts_threshold,
            capture,
            delay,
            carrier_sense,
            aggregation,
            protection,
            frames,
            ..base
        }
    })
}

fn case() -> impl Strategy<Value = Case> {
    let place = (-150.0..150.0f64, -150.0..150.0f64).prop_map(|(x, y)| Position::on_ground(x, y));
    let station = (place.clone(), 5.0..20.0f64, 0..3u8, 1..40usize);
    let at = (0..2_000_000_000u64).prop_map(Time::ns);
    let packet = (at.clone(), 0..10u32, 0..12u32, 1..2_000u32);
    let movement = (at, 0..10u32, place);
    // Idle, busy, or far too much at once.
    let span = prop_oneof![Just(Span::s(2)), Just(Span::ms(100)), Just(Span::ms(1))];
    let cell = (config(), vec(station, 2..10), any::<bool>(), span);
    (cell, vec(packet, 0..300), vec(movement, 0..6), any::<u64>()).prop_map(
        |((config, stations, infrastructure, span), mut packets, mut moves, seed)| {
            let n = stations.len() as u32;
            let fixed = match config.standard {
                Standard::B(_) => Rate::Dsss(Dsss::R5_5),
                Standard::A | Standard::G(_) => Rate::Ofdm(Ofdm::R24),
                Standard::N(..) => Rate::Ht(Mcs::ALL[4]),
            };
            let role = |i: usize| match (infrastructure, i) {
                (false, _) => Role::AdHoc,
                (true, 0) => Role::AccessPoint,
                (true, _) => Role::Client(NodeId(0)),
            };
            let stations = stations.iter().enumerate().map(|(i, &(position, power, rate, queue))| {
                let rate =
                    [RateControl::Fixed(fixed), RateControl::Arf, RateControl::Minstrel][usize::from(rate)];
                StationConfig { position, power, role: role(i), rate, queue }
            });
            let stations = stations.collect();
            packets.iter_mut().for_each(|p| {
                p.0 = Time::at(p.0.since_start() % span);
                p.1 %= n;
                if p.2 < n && p.2 == p.1 {
                    p.2 = (p.1 + 1) % n;
                }
            });
            packets.sort();
            moves.iter_mut().for_each(|m| m.1 %= n);
            moves.sort_by_key(|m| m.0);
            Case { config, stations, packets, moves, seed }
        },
    )
}

/// Runs a case until nothing happens any more.
fn run(case: &Case) -> (Medium, Vec<Report>) {
    let mut medium = Medium::new(&case.config, &case.stations, case.seed).expect("sound");
    let (mut reports, mut moves) = (Vec::new(), case.moves.iter().peekable());
    for (id, &(at, from, to, bytes)) in case.packets.iter().enumerate() {
        while let Some(&(when, node, place)) = moves.next_if(|m| m.0 <= at) {
            medium.advance(when);
            medium.put(NodeId(node), place);
        }
        medium.advance(at);
        let everyone = to as usize >= case.stations.len();
        let to = if everyone { Destination::Everyone } else { Destination::Node(NodeId(to)) };
        medium.offer(NodeId(from), Packet { id: id as u64, bytes, to }).expect("stations that are there");
        reports.extend(std::iter::from_fn(|| medium.report()));
    }
    while medium.next() < Time::MAX {
        medium.advance(medium.next());
        reports.extend(std::iter::from_fn(|| medium.report()));
    }
    reports.extend(std::iter::from_fn(|| medium.report()));
    (medium, reports)
}

fn time(report: &Report) -> Time {
    match *report {
        Report::Delivered { at, .. }
        | Report::Sent { at, .. }
        | Report::Dropped { at, .. }
        | Report::Missed { at, .. }
        | Report::Room { at, .. } => at,
        Report::Frame(frame) => frame.start + frame.airtime,
    }
}

proptest! {
    #[test]
    fn every_packet_has_one_end(case in case()) {
        let (medium, reports) = run(&case);
        let n = case.stations.len() as u32;
        // By packet: times delivered, by node; losses of what had not arrived.
        let mut delivered: BTreeMap<(u64, u32), u32> = BTreeMap::new();
        let mut lost: BTreeMap<u64, u32> = BTreeMap::new();
        let mut last: BTreeMap<(u32, u32, u32), u64> = BTreeMap::new();
        for report in &reports {
            match *report {
                Report::Delivered { packet, node, from, .. } => {
                    *delivered.entry((packet, node.0)).or_default() += 1;
                    prop_assert_eq!(from.0, case.packets[packet as usize].1);
                    // In order, of one sender to one receiver; to everyone on its own.
                    let to = case.packets[packet as usize].2.min(n);
                    let before = last.insert((from.0, node.0, to), packet);
                    prop_assert!(before.is_none_or(|b| b < packet), "{before:?} before {packet}");
                }
                Report::Dropped { packet, arrived: false, .. } => *lost.entry(packet).or_default() += 1,
                _ => {}
            }
        }
        let held: Vec<u64> = medium.pending().collect();
        for (id, &(_, from, to, _)) in case.packets.iter().enumerate() {
            let id = id as u64;
            if to >= n {
                for node in 0..n {
                    let times = delivered.get(&(id, node)).copied().unwrap_or(0);
                    prop_assert!(times <= u32::from(node != from), "{id} at {node}: {times}");
                }
                continue;
            }
            let times = delivered.get(&(id, to)).copied().unwrap_or(0);
            let losses = lost.get(&id).copied().unwrap_or(0);
            let waiting = held.iter().filter(|h| **h == id).count() as u32;
            prop_assert_eq!(times + losses + waiting, 1, "packet {}: {} {} {}", id, times, losses, waiting);
            for node in (0..n).filter(|node| *node != to) {
                prop_assert!(!delivered.contains_key(&(id, node)));
            }
        }
    }

    #[test]
    fn every_attempt_has_one_end(case in case()) {
        let mut case = case;
        case.config.frames = true;
        let (medium, reports) = run(&case);
        for node in 0..case.stations.len() as u32 {
            let node = NodeId(node);
            let (mut carried, mut lost, mut missed, mut failed, mut others) = (0, 0, 0, 0, 0);
            for report in &reports {
                match *report {
                    Report::Frame(frame) if frame.from == node => {
                        carried += u64::from(frame.packets);
                        lost += u64::from(frame.lost);
                        others += u64::from(frame.packets == 0 && frame.failure.is_some());
                        // A frame for somebody has a failure if and only if something of it was lost.
                        if frame.packets > 0 {
                            prop_assert_eq!(frame.failure.is_some(), frame.lost > 0);
                        }
                    }
                    Report::Missed { node: at, .. } if at == node => missed += 1,
                    Report::Dropped { node: at, loss: Loss::RetryLimit(_), .. } if at == node => failed += 1,
                    _ => {}
                }
            }
            let counters = medium.counters(node);
            prop_assert_eq!(counters.attempts, carried);
            prop_assert_eq!(lost, missed);
            prop_assert_eq!(counters.failures.iter().sum::<u64>(), missed + others);
            // Nobody gives up without a failure.
            prop_assert!(failed == 0 || counters.failures.iter().sum::<u64>() > 0
                || reports.iter().any(|r| matches!(r, Report::Frame(f) if f.to == Some(node) && f.failure.is_some())));
        }
    }

    #[test]
    fn the_same_run_is_the_same(case in case()) {
        let ((one, first), (two, second)) = (run(&case), run(&case));
        prop_assert_eq!(first, second);
        prop_assert_eq!(one.events(), two.events());
    }

    #[test]
    fn time_goes_forward_and_rows_of_frames_do_not_overlap_at_their_sender(case in case()) {
        let mut case = case;
        case.config.frames = true;
        let (_, reports) = run(&case);
        let ordinary: Vec<Time> =
            reports.iter().filter(|r| !matches!(r, Report::Frame(_))).map(time).collect();
        prop_assert!(ordinary.windows(2).all(|w| w[0] <= w[1]));
        let mut free = vec![Time::ZERO; case.stations.len()];
        for report in &reports {
            if let Report::Frame(frame) = report {
                let from = frame.from.0 as usize;
                prop_assert!(frame.start >= free[from]);
                free[from] = frame.start + frame.airtime;
            }
        }
    }
}

/// FNV-1a of everything that was reported.
fn digest(reports: &[Report]) -> u64 {
    reports.iter().flat_map(|r| format!("{r:?}").into_bytes()).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[test]
fn digests_are_the_same_everywhere() {
    let standards = [
        Standard::B(Preamble::Long),
        Standard::G(Slot::Short),
        Standard::N(Band::Ghz5, GuardInterval::Short),
    ];
    let found = standards.map(|standard| {
        let base = MediumConfig::of(standard);
        let config = MediumConfig {
            propagation: Propagation {
                path_loss: PathLoss::LogDistance { exponent: 3.0, reference: 1.0 },
                shadowing: Some(Shadowing { sigma_db: 5.0, correlation: Span::ms(300) }),
                fading: Some(Fading { k: 1.0, coherence: Span::ms(10) }),
                ..base.propagation
            },
            frames: true,
            ..base
        };
        let stations: Vec<_> = (0..8)
            .map(|i| {
                let place = Position::on_ground(f64::from(i * 37 % 90), f64::from(i * 53 % 80));
                StationConfig::at(place, RateControl::Minstrel)
            })
            .collect();
        let packets = (0..2_000u32)
            .map(|i| (Time::us(700 * u64::from(i)), i % 8, (i * 5 + 3) % 9, 40 + i * 97 % 1_400))
            .filter(|p| p.1 != p.2)
            .collect();
        let case = Case { config, stations, packets, moves: Vec::new(), seed: 1 };
        digest(&run(&case).1)
    });
    let pinned = [0x9c25_6866_0e17_9915, 0xc99e_1958_ab43_15b6, 0x9b1b_30f2_fff7_f719];
    assert_eq!(found, pinned, "{found:#x?}");
}

proptest! {
    #[test]
    fn a_station_out_of_reach_changes_nothing(case in case()) {
        let mut more = case.clone();
        let far = StationConfig::at(Position::on_ground(1e9, 0.0), case.stations[0].rate);
        more.stations.push(far);
        // Packets for everyone are named by a number beyond the stations.
        more.packets.iter_mut().for_each(|p| p.2 += u32::from(p.2 as usize >= case.stations.len()));
        let ((one, first), (two, second)) = (run(&case), run(&more));
        prop_assert_eq!(first, second);
        prop_assert_eq!(one.events(), two.events());
    }
}
