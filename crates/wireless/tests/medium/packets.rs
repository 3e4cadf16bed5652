//! What becomes of single packets, and what is said of it.

use crate::cell::{Cell, Flow, around_an_access_point, stations};
use truckee_wireless::phy::{
    Band, Dsss, GuardInterval, Mcs, Ofdm, Preamble, Rate, Slot, Standard, bit_error_rate,
};
use truckee_wireless::{
    Aggregation, Destination, Failure, Kind, Loss, Medium, MediumConfig, NodeId, Packet, Position,
    RateControl, Report, Role, Span, StationConfig, Time,
};

fn b() -> MediumConfig {
    MediumConfig::of(Standard::B(Preamble::Long))
}

fn fixed() -> RateControl {
    RateControl::Fixed(Rate::Dsss(Dsss::R11))
}

/// Stations on a line.
fn line(places: &[f64]) -> Vec<StationConfig> {
    let places: Vec<_> = places.iter().map(|x| Position::on_ground(*x, 0.0)).collect();
    stations(&places, fixed())
}

fn to(node: u32) -> Destination {
    Destination::Node(NodeId(node))
}

/// Lets everything happen and returns what was said.
fn drain(medium: &mut Medium) -> Vec<Report> {
    let mut reports = Vec::new();
    while medium.next() < Time::MAX {
        medium.advance(medium.next());
        reports.extend(std::iter::from_fn(|| medium.report()));
    }
    reports.extend(std::iter::from_fn(|| medium.report()));
    reports
}

fn delivered(reports: &[Report]) -> Vec<(u64, u32)> {
    let places = reports.iter().filter_map(|r| match r {
        Report::Delivered { packet, node, .. } => Some((*packet, node.0)),
        _ => None,
    });
    places.collect()
}

fn dropped(reports: &[Report]) -> Vec<(u64, Loss, bool)> {
    let losses = reports.iter().filter_map(|r| match r {
        Report::Dropped { packet, loss, arrived, .. } => Some((*packet, *loss, *arrived)),
        _ => None,
    });
    losses.collect()
}

#[test]
fn a_packet_to_nobody_is_tried_seven_times_and_given_up() {
    // A kilometre and a half of free space: −88.6 dBm at the first, 100 km at the second.
    let mut medium = Medium::new(&b(), &line(&[0.0, 100_000.0]), 1).unwrap();
    medium.offer(NodeId(0), Packet { id: 7, bytes: 100, to: to(1) }).unwrap();
    let reports = drain(&mut medium);
    assert_eq!(dropped(&reports), [(7, Loss::RetryLimit(Failure::Weak), false)]);
    assert_eq!(medium.counters(NodeId(0)).attempts, 7);
    assert_eq!(medium.counters(NodeId(0)).failures, [0, 0, 7, 0, 0]);
    // Above the threshold it is the request that nobody hears.
    let rts = MediumConfig { rts_threshold: 0, ..b() };
    let mut medium = Medium::new(&rts, &line(&[0.0, 100_000.0]), 1).unwrap();
    medium.offer(NodeId(0), Packet { id: 7, bytes: 100, to: to(1) }).unwrap();
    assert_eq!(dropped(&drain(&mut medium)), [(7, Loss::RetryLimit(Failure::Weak), false)]);
    assert_eq!((medium.counters(NodeId(0)).attempts, medium.counters(NodeId(0)).frames), (0, 7));
}

#[test]
fn what_is_longer_than_the_threshold_goes_by_the_long_limit() {
    // The second station hears and answers requests, but what it sends with its CTS the data drowns in: it moves away
    // in between.
    let config = MediumConfig { rts_threshold: 0, frames: true, ..b() };
    let mut medium = Medium::new(&config, &line(&[0.0, 10.0]), 1).unwrap();
    medium.offer(NodeId(0), Packet { id: 1, bytes: 1_000, to: to(1) }).unwrap();
    let mut data = 0;
    let mut end = None;
    while medium.next() < Time::MAX {
        medium.advance(medium.next());
        while let Some(report) = medium.report() {
            match report {
                // Heard until the CTS has gone out, out of reach for the data.
                Report::Frame(frame) if frame.kind == Kind::Cts => {
                    medium.put(NodeId(1), Position::on_ground(1e6, 0.0));
                }
                Report::Frame(frame) if frame.kind == Kind::Data => {
                    data += 1;
                    medium.put(NodeId(1), Position::on_ground(10.0, 0.0));
                }
                Report::Dropped { loss, .. } => end = Some(loss),
                _ => {}
            }
        }
    }
    assert_eq!((data, end), (4, Some(Loss::RetryLimit(Failure::Weak))));
}

#[test]
fn lost_acknowledgements_make_duplicates_which_are_not_handed_up() {
    // What the second station says is never heard.
    let mut two = line(&[0.0, 100.0]);
    two[1].power = -60.0;
    let mut medium = Medium::new(&b(), &two, 1).unwrap();
    medium.offer(NodeId(0), Packet { id: 3, bytes: 1_000, to: to(1) }).unwrap();
    let reports = drain(&mut medium);
    assert_eq!(delivered(&reports), [(3, 1)]);
    assert_eq!(dropped(&reports), [(3, Loss::RetryLimit(Failure::Weak), true)]);
    assert_eq!(medium.counters(NodeId(1)).duplicates, 6);
    assert_eq!(medium.counters(NodeId(1)).failures[Failure::Weak as usize], 7);
}

#[test]
fn a_full_queue_refuses_and_says_so() {
    let mut two = line(&[0.0, 10.0]);
    two[0].queue = 3;
    let mut medium = Medium::new(&b(), &two, 1).unwrap();
    // The first is on its way at once when its time has come: until then it waits as all others do.
    for id in 0..5 {
        medium.offer(NodeId(0), Packet { id, bytes: 500, to: to(1) }).unwrap();
    }
    assert_eq!(medium.room(NodeId(0)), 0);
    let reports = drain(&mut medium);
    assert_eq!(dropped(&reports), [(3, Loss::Queue, false), (4, Loss::Queue, false)]);
    assert_eq!(delivered(&reports), [(0, 1), (1, 1), (2, 1)]);
    assert_eq!(medium.room(NodeId(0)), 3);
}

#[test]
fn everyone_hears_a_broadcast_once() {
    let mut medium = Medium::new(&b(), &line(&[0.0, 10.0, 20.0, 1e6]), 1).unwrap();
    medium.offer(NodeId(1), Packet { id: 9, bytes: 200, to: Destination::Everyone }).unwrap();
    let reports = drain(&mut medium);
    assert_eq!(delivered(&reports), [(9, 0), (9, 2)]);
    assert!(reports.iter().any(|r| matches!(r, Report::Sent { packet: 9, node: NodeId(1), .. })));
    assert_eq!(medium.counters(NodeId(1)).frames, 1);
}

#[test]
fn who_does_not_ask_is_not_told_that_a_packet_was_sent() {
    let run = |tells_sent| {
        let mut medium = Medium::new(&b(), &around_an_access_point(3, fixed()), 1).unwrap();
        for (id, to) in [(1, to(2)), (2, to(0)), (3, Destination::Everyone)] {
            medium.offer_and_tell(NodeId(1), Packet { id, bytes: 200, to }, tells_sent).unwrap();
        }
        drain(&mut medium)
    };
    let is_sent = |report: &Report| matches!(report, Report::Sent { .. });
    let (mut told, spared) = (run(true), run(false));
    // By the client, and by the access point what it sends on.
    assert_eq!(told.iter().filter(|report| is_sent(report)).count(), 5);
    assert!(!spared.iter().any(is_sent), "{spared:?}");
    told.retain(|report| !is_sent(report));
    assert_eq!(told, spared, "all else is the same");
}

#[test]
fn an_access_point_sends_on_what_its_clients_send() {
    let mut medium = Medium::new(&b(), &around_an_access_point(3, fixed()), 1).unwrap();
    let packets = [(1, to(2)), (2, to(0)), (3, Destination::Everyone)];
    for (id, to) in packets {
        medium.offer(NodeId(1), Packet { id, bytes: 200, to }).unwrap();
    }
    let mut handed = delivered(&drain(&mut medium));
    handed.sort();
    assert_eq!(handed, [(1, 2), (2, 0), (3, 0), (3, 2), (3, 3)]);
}

#[test]
fn a_client_that_moves_on_takes_its_queue_along() {
    let mut all = around_an_access_point(1, fixed());
    all.push(StationConfig { role: Role::AccessPoint, ..all[0].clone() });
    let mut medium = Medium::new(&b(), &all, 1).unwrap();
    medium.offer(NodeId(1), Packet { id: 1, bytes: 200, to: to(2) }).unwrap();
    medium.associate(NodeId(1), NodeId(2)).unwrap();
    assert_eq!(delivered(&drain(&mut medium)), [(1, 2)]);
    assert_eq!(medium.counters(NodeId(0)).frames, 0, "the old one has no part in it");
    let no_client = medium.associate(NodeId(0), NodeId(2)).unwrap_err();
    assert_eq!(no_client.to_string(), "association: 0 is not a client");
    let no_access_point = medium.associate(NodeId(1), NodeId(9)).unwrap_err();
    assert_eq!(no_access_point.to_string(), "association: 9 is not an access point");
}

#[test]
fn of_two_that_collide_the_stronger_is_captured() {
    // A sender at 5 m from the receiver and one at 60 m, 21 dB below it. They are 65 m from each other, where −61.3 dBm
    // arrive, and do not hear each other; at 60 m it is −60.7 dBm.
    let config = |capture| MediumConfig { sensitivity: -61.0, carrier_sense: -61.0, capture, ..b() };
    let places = [5.0, 0.0, -60.0];
    let flows = [Flow { from: 0, to: 1, bytes: 1_000 }, Flow { from: 2, to: 1, bytes: 1_000 }];
    let run = |capture| {
        let mut cell = Cell::new(&config(capture), &line(&places), &flows, 1);
        cell.run(Time::s(5));
        cell.medium.counters(NodeId(0))
    };
    let (with, without) = (run(Some(10.0)), run(None));
    assert_eq!(with.failures, [0; 5]);
    // The far one, which hardly ever gets through, sends rarely.
    let collided = without.failures[Failure::Collision as usize];
    assert!(30 * collided > without.attempts, "{without:?}");
}

#[test]
fn noise_destroys_as_many_frames_as_the_formula_says() {
    // 802.11a at 54 Mbit/s, 100 m: 15 dBm − 86.7 dB = −71.7 dBm. Noise that leaves 21.6 dB.
    let standard = Standard::A;
    let rate = Rate::Ofdm(Ofdm::R54);
    let config = MediumConfig { short_retries: Some(1), noise: -93.3, ..MediumConfig::of(standard) };
    let gain = config.propagation.path_loss.gain(
        config.propagation.frequency,
        &Position::on_ground(0.0, 0.0),
        &Position::on_ground(100.0, 0.0),
    );
    let sinr = 10f64.powf((15.0 + 93.3) / 10.0) * gain;
    let bits = 8.0 * f64::from(1_500 + config.overhead);
    let expected = 1.0 - (1.0 - bit_error_rate(rate.modulation(), sinr)).powf(bits);
    assert!((0.05..0.95).contains(&expected), "{expected}");
    let places = [0.0, 100.0].map(|x| Position::on_ground(x, 0.0));
    let flows = [Flow { from: 0, to: 1, bytes: 1_500 }];
    let mut cell = Cell::new(&config, &stations(&places, RateControl::Fixed(rate)), &flows, 1);
    cell.run(Time::s(5));
    let counters = cell.medium.counters(NodeId(0));
    let lost = counters.failures[Failure::Noise as usize];
    assert_eq!(lost, counters.failures.iter().sum::<u64>());
    let (n, share) = (counters.attempts as f64, lost as f64 / counters.attempts as f64);
    let sd = (expected * (1.0 - expected) / n).sqrt();
    assert!((share - expected).abs() < 4.0 * sd + 2e-3 * expected, "{share} {expected} {sd}");
}

#[test]
fn an_aggregate_loses_single_packets_and_keeps_their_order() {
    let standard = Standard::N(Band::Ghz5, GuardInterval::Short);
    let rate = Rate::Ht(Mcs::ALL[7]);
    let config = MediumConfig { noise: -95.8, ..MediumConfig::of(standard) };
    let places = [0.0, 100.0].map(|x| Position::on_ground(x, 0.0));
    let flows = [Flow { from: 0, to: 1, bytes: 1_500 }];
    let mut cell = Cell::new(&config, &stations(&places, RateControl::Fixed(rate)), &flows, 1).logged();
    cell.run(Time::s(5));
    let log = cell.log.unwrap();
    let order: Vec<u64> = delivered(&log).iter().map(|d| d.0).collect();
    assert!(order.windows(2).all(|w| w[0] < w[1]));
    let counters = cell.medium.counters(NodeId(0));
    let share = counters.failures[Failure::Noise as usize] as f64 / counters.attempts as f64;
    assert!((0.02..0.6).contains(&share), "{share}");
    // Nearly all come through all the same.
    let losses = dropped(&log).len();
    assert!(order.len() > 5_000 && losses * 100 < order.len(), "{} {losses}", order.len());
}

#[test]
fn what_an_aggregate_gave_up_is_not_waited_for() {
    // A packet in four is lost and the limit is two attempts: many are given up, and what came after them still goes up.
    let standard = Standard::N(Band::Ghz5, GuardInterval::Long);
    let config = MediumConfig {
        noise: -95.3,
        short_retries: Some(2),
        aggregation: Some(Aggregation { frames: 16, ..Aggregation::default() }),
        ..MediumConfig::of(standard)
    };
    let places = [0.0, 100.0].map(|x| Position::on_ground(x, 0.0));
    let rate = RateControl::Fixed(Rate::Ht(Mcs::ALL[7]));
    let mut medium = Medium::new(&config, &stations(&places, rate), 1).unwrap();
    let mut reports = Vec::new();
    for id in 0..2_000 {
        medium.offer(NodeId(0), Packet { id, bytes: 1_000, to: to(1) }).unwrap();
        if id % 20 == 19 {
            reports.extend(drain(&mut medium));
        }
    }
    let (up, lost) = (delivered(&reports).len(), dropped(&reports));
    let not_arrived = lost.iter().filter(|l| !l.2).count();
    assert!(not_arrived > 20, "{not_arrived}");
    assert_eq!(up + not_arrived, 2_000);
    assert_eq!(medium.pending().count(), 0);
}

#[test]
fn rates_adapt_to_the_distance() {
    for control in [RateControl::Arf, RateControl::Minstrel] {
        let goodput = |distance: f64| {
            let places = [0.0, distance].map(|x| Position::on_ground(x, 0.0));
            let flows = [Flow { from: 0, to: 1, bytes: 1_500 }];
            let config = MediumConfig::of(Standard::G(Slot::Short));
            let mut cell = Cell::new(&config, &stations(&places, control), &flows, 1);
            cell.run(Time::s(5));
            cell.delivered[0] as f64 * 12e3 / 5e6
        };
        // Over free space: 54 Mbit/s is read to 180 m, 6 Mbit/s to 1,700 m or so.
        let [near, middle, far] = [20.0, 400.0, 1_000.0].map(goodput);
        assert!(near > 24.0, "{control:?} {near}");
        assert!((8.0..24.0).contains(&middle), "{control:?} {middle}");
        assert!((2.0..12.0).contains(&far), "{control:?} {far}");
    }
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let message =
        |config: MediumConfig, all: &[StationConfig]| Medium::new(&config, all, 1).unwrap_err().to_string();
    let two = line(&[0.0, 10.0]);
    assert_eq!(message(b(), &[]), "stations: 0 is not 1 or more");
    assert_eq!(
        message(MediumConfig { delay: Span::ns(10_001), ..b() }, &two),
        "propagation delay in ns: 10001 is not between 0 and 10000"
    );
    assert_eq!(
        message(MediumConfig { short_retries: Some(0), ..b() }, &two),
        "short retry limit: 0 is not between 1 and 1000000"
    );
    let mut none = two.clone();
    none[1].role = Role::Client(NodeId(0));
    assert_eq!(message(b(), &none), "station 1's access point: 0 is not an access point");
    let mut fast = two.clone();
    fast[0].rate = RateControl::Fixed(Rate::Ofdm(Ofdm::R54));
    assert_eq!(message(b(), &fast), "station 0's rate: 54 Mbit/s is not a rate of B(Long)");
    let mut nowhere = two.clone();
    nowhere[1].position.x = f64::NAN;
    assert!(message(b(), &nowhere).starts_with("station 1's position: "));
    let mut loud = two.clone();
    loud[1].power = f64::INFINITY;
    assert_eq!(message(b(), &loud), "station 1's power in dBm: inf is not between -100 and 100");

    let mut medium = Medium::new(&b(), &two, 1).unwrap();
    let mut offer =
        |from, bytes, to| medium.offer(NodeId(from), Packet { id: 5, bytes, to }).unwrap_err().to_string();
    assert_eq!(offer(2, 10, to(1)), "station 2: there are 2, from 0 on");
    assert_eq!(offer(0, 10, to(8)), "station 8: there are 2, from 0 on");
    assert_eq!(offer(0, 10, to(0)), "packet 5: station 0 sends it to itself");
    assert_eq!(offer(0, 2_297, to(1)), "packet 5: 2297 bytes are more than 2296");
}

#[test]
fn ranges_are_where_one_frame_in_ten_is_lost() {
    let config = MediumConfig { short_retries: Some(1), ..MediumConfig::of(Standard::A) };
    let rate = Rate::Ofdm(Ofdm::R36);
    let range = config.range(15.0, rate, 1_500);
    let places = [0.0, range].map(|x| Position::on_ground(x, 0.0));
    let flows = [Flow { from: 0, to: 1, bytes: 1_500 }];
    let mut cell = Cell::new(&config, &stations(&places, RateControl::Fixed(rate)), &flows, 1);
    cell.run(Time::s(10));
    let counters = cell.medium.counters(NodeId(0));
    let (n, lost) = (counters.attempts as f64, counters.failures[Failure::Noise as usize] as f64);
    assert!((lost / n - 0.1).abs() < 4.0 * (0.09 / n).sqrt(), "{lost} of {n}");
    // A rate that needs less reaches farther, and none farther than the receive threshold lets it.
    let ranges = [Ofdm::R54, Ofdm::R36, Ofdm::R12].map(|r| config.range(15.0, Rate::Ofdm(r), 1_500));
    assert!(ranges[0] < ranges[1] && ranges[1] < ranges[2], "{ranges:?}");
    assert!(ranges[2] <= config.propagation.range(15.0, config.sensitivity));
}

#[test]
fn what_waits_for_a_station_can_be_taken_back() {
    let mut medium = Medium::new(&b(), &line(&[0.0, 10.0, 20.0]), 1).unwrap();
    for id in 0..6 {
        let packet = Packet { id, bytes: 500, to: to(1 + id as u32 % 2) };
        medium.offer(NodeId(0), packet).unwrap();
    }
    // The first, for station 1, is on its way by then.
    medium.advance(Time::us(100));
    assert_eq!(medium.withdraw(NodeId(0), NodeId(1)), [2, 4]);
    assert_eq!(medium.withdraw(NodeId(9), NodeId(1)), []);
    assert_eq!(delivered(&drain(&mut medium)), [(0, 1), (1, 2), (3, 2), (5, 2)]);
}

#[test]
fn a_station_all_of_whose_packets_were_taken_back_sends_nothing() {
    let mut medium = Medium::new(&b(), &line(&[0.0, 10.0]), 1).unwrap();
    let packet = |id| Packet { id, bytes: 500, to: to(1) };
    medium.offer(NodeId(0), packet(1)).unwrap();
    assert_eq!(medium.withdraw(NodeId(0), NodeId(1)), [1]);
    assert_eq!(medium.next(), Time::MAX);
    assert_eq!(drain(&mut medium), []);
    assert_eq!(medium.counters(NodeId(0)).frames, 0);
    // It goes on as if nothing had been.
    medium.offer(NodeId(0), packet(2)).unwrap();
    assert_eq!(delivered(&drain(&mut medium)), [(2, 1)]);
}

#[test]
fn a_phone_that_walks_away_and_back_is_out_of_reach_in_between() {
    use truckee_wireless::mobility::{Mobility, Trajectory};
    // Out to 600 m and back in 120 s, at 10 m/s; 11 Mbit/s reaches some 400 m of free space.
    let config = b();
    let reach = config.range(15.0, Rate::Dsss(Dsss::R11), 1_000);
    let far = 2.0 * reach;
    let turn = Span::truncated(far / 10.0 * 1e9);
    let end = Time::at(2 * turn);
    let points = [(Time::ZERO, 1.0), (Time::at(turn), far), (end, 1.0)];
    let points = points.map(|(at, x)| (at, Position::on_ground(x, 0.0))).to_vec();
    let mut walk = Mobility::Trajectory(Trajectory::new(points).unwrap());
    let mut phone = around_an_access_point(1, RateControl::Fixed(Rate::Dsss(Dsss::R11)));
    phone[1].queue = 1;
    let mut medium = Medium::new(&config, &phone, 1).unwrap();
    // By tenths of the walk: packets that came through, and packets given up.
    let (mut came, mut lost, mut id, mut step) = ([0u32; 10], [0u32; 10], 0, Time::ZERO);
    let tenth = |at: Time| (at.since_start() * 10).ticks(2 * turn + Span::ns(1)) as usize;
    while step < end {
        medium.advance(step);
        let leg = walk.leg(step);
        medium.put(NodeId(1), leg.at(step));
        let packet = Packet { id, bytes: 1_000, to: to(0) };
        medium.offer(NodeId(1), packet).unwrap();
        id += 1;
        while let Some(report) = medium.report() {
            match report {
                Report::Delivered { at, .. } => came[tenth(at)] += 1,
                Report::Dropped { at, loss: Loss::RetryLimit(failure), .. } => {
                    assert!(matches!(failure, Failure::Weak | Failure::Noise), "{failure:?}");
                    lost[tenth(at)] += 1;
                }
                _ => {}
            }
        }
        step = leg.after(step, 0.5);
    }
    // In reach for a half of the walk, its beginning and its end.
    assert!(came[0] > 30 && came[9] > 30, "{came:?}");
    assert_eq!((lost[0] + lost[1], lost[8] + lost[9]), (0, 0), "{lost:?}");
    assert!(came[4] + came[5] == 0 && lost[4] > 30 && lost[5] > 30, "{came:?} {lost:?}");
}

#[test]
fn a_block_acknowledgement_that_does_not_come_is_asked_for() {
    // What the receiver says is never heard: the packets are sent once, and asked about until the limit.
    let config = MediumConfig {
        frames: true,
        aggregation: Some(Aggregation { asks: true, ..Aggregation::default() }),
        ..MediumConfig::of(Standard::N(Band::Ghz5, GuardInterval::Long))
    };
    let places = [0.0, 50.0].map(|x| Position::on_ground(x, 0.0));
    let mut two = stations(&places, RateControl::Fixed(Rate::Ht(Mcs::ALL[4])));
    two[1].power = -60.0;
    let mut medium = Medium::new(&config, &two, 1).unwrap();
    for id in 0..4 {
        medium.offer(NodeId(0), Packet { id, bytes: 500, to: to(1) }).unwrap();
    }
    let mut kinds = Vec::new();
    while medium.counters(NodeId(0)).frames < 8 {
        medium.advance(medium.next());
        while let Some(report) = medium.report() {
            match report {
                Report::Frame(frame) if frame.from == NodeId(0) => kinds.push(frame.kind),
                _ => {}
            }
        }
    }
    assert_eq!(kinds[0], Kind::Aggregate);
    assert!(kinds[1..].iter().all(|kind| *kind == Kind::BlockAckRequest), "{kinds:?}");
    assert_eq!(medium.counters(NodeId(0)).attempts, 4);
    assert_eq!(medium.pending().count(), 4);
}
