use super::*;
use truckee_channel::{ChannelConfig, Effect};
use truckee_scenario::Document;
use truckee_scenario::model::Queue;

const MS: Span = Span::ms(1);

/// One direction of 12 Mbit/s and 10 ms, measured for 100 ms: a packet of 1500 B takes 1 ms.
fn lane(channel: &str, queue: &str) -> Lane {
    let text = format!(
        r#"
        duration = "100ms"
        seed = 7
        link = [{{ between = ["a", "b"], rate = "12Mbit/s", delay = "10ms", queue = {{ size = "{queue}" }}, channel = {channel} }}]
        "#
    );
    let scenario = Document::parse("lane.toml", &text).unwrap().scenario().unwrap();
    Lane::new(&scenario.links[0].forward, "a-b", scenario.seed, (Time::ZERO, Time::at(scenario.duration)))
}

/// A packet with payload that may not be marked.
fn data(bytes: u32, flow: u32) -> Offer {
    Offer { bytes, flow, data: true, key: u64::from(flow), ecn: false }
}

/// Offers `n` packets of 1500 B at once; what is accepted goes on its way.
fn fill(lane: &mut Lane, now: Time, n: u32) -> Vec<Offered> {
    let offer = |packet| {
        let offered = lane.offer(now, data(1500, 0));
        if let Offered::Accepted { departure, arrival, .. } = offered {
            lane.carry(InTransit { arrival, departure, packet });
        }
        offered
    };
    (0..n).map(offer).collect()
}

fn arrivals(lane: &mut Lane) -> Vec<f64> {
    std::iter::from_fn(|| lane.arrive(Time::MAX)).map(|(_, at)| at.as_f64() / MS.as_f64()).collect()
}

#[test]
fn a_backlog_leaves_at_the_rate_whatever_fraction_of_a_nanosecond_a_packet_takes() {
    for rate in [7u64, 999_999_937, 10_000_000_000] {
        let direction = Direction {
            rate,
            delay: Span::ns(5),
            queue: Queue::DropTail { limit: Limit::None },
            ack_filter: false,
            after_channel: false,
            channel: ChannelConfig::default(),
        };
        let mut lane = Lane::new(&direction, "a-b", 1, (Time::ZERO, Time::at(Span::MAX / 2)));
        for k in 1..=10_000u64 {
            let Offered::Accepted { departure, arrival, copy: None, .. } =
                lane.offer(Time::ZERO, data(1499, 0))
            else {
                panic!("nothing is lost here")
            };
            let exact = u128::from(k) * 1499 * 8 * 1_000_000_000 / u128::from(rate);
            assert_eq!(
                (u128::from(departure.nanos()), arrival),
                (exact, departure + Span::ns(5)),
                "packet {k} at {rate} bit/s"
            );
        }
    }
}

#[test]
fn the_packet_in_transmission_does_not_count_against_the_queue() {
    let mut one = lane("{ kind = \"none\" }", "5packets");
    let dropped = fill(&mut one, Time::ZERO, 10)
        .iter()
        .filter(|o| matches!(o, Offered::Dropped(Cause::Queue, Time::ZERO)))
        .count();
    assert_eq!(dropped, 4);
    assert_eq!(arrivals(&mut one), [11.0, 12.0, 13.0, 14.0, 15.0, 16.0]);
    // Of 9000 B, six packets wait behind one in transmission.
    let mut one = lane("{ kind = \"none\" }", "9kB");
    assert_eq!(
        fill(&mut one, Time::ZERO, 10).iter().filter(|o| matches!(o, Offered::Accepted { .. })).count(),
        7
    );
    // Two have been served 2 ms later: room for two more.
    let later = fill(&mut one, Time::ms(2), 3);
    assert_eq!(later.iter().filter(|o| matches!(o, Offered::Accepted { .. })).count(), 2);
    assert_eq!(one.counters(Time::ms(2)).waiting_packets, 6);
}

#[test]
fn a_queue_without_a_limit_ends_before_memory_does() {
    let mut one = lane("{ kind = \"none\" }", "1000000000packets");
    let offered = (0..200_000).map(|_| one.offer(Time::ZERO, data(1500, 0)));
    let dropped = offered.filter(|o| matches!(o, Offered::Dropped(Cause::Queue, _))).count() as u64;
    assert_eq!(dropped, 200_000 - 1 - AMPLE / 1500);
}

#[test]
fn utilisation_and_waits_are_those_of_the_closed_form() {
    let mut one = lane("{ kind = \"none\" }", "50packets");
    fill(&mut one, Time::ZERO, 20);
    arrivals(&mut one);
    let outcome = one.outcome(Time::ZERO, Time::ms(100));
    // 20 packets of 1 ms in 100 ms; the k-th waited k ms.
    assert!((outcome.utilisation - 0.2).abs() < 1e-12);
    assert!((outcome.mean_wait_s - 0.0095).abs() < 1e-12);
    assert!((outcome.mean_queue_packets - 1.9).abs() < 1e-12);
    assert_eq!((outcome.packets, outcome.bytes, one.counts.delivered), (20, 30_000, 20));
}

#[test]
fn the_channel_draws_as_one_of_the_same_name_and_seed_does() {
    let channel = "{ kind = \"gilbert\", good = \"20ms\", bad = \"5ms\", per_good = 0.01, per_bad = 0.5 }";
    let mut one = lane(channel, "200000packets");
    let config = Effect::Gilbert { good: 20 * MS, bad: 5 * MS, per_good: 0.01, per_bad: 0.5 };
    let mut same = Channel::new(&ChannelConfig { effects: vec![config] }, stream_seed(7, "a-b/channel"));
    let fates: Vec<Offered> = (0..5_000).map(|k| one.offer(Time::ms(k * 2), data(1500, 3))).collect();
    let mut lost = 0;
    for (k, offered) in (0..).zip(fates) {
        let at = k * 2 * MS + MS;
        let fate = same.fate(&Sighting { at: Time::at(at), bytes: 1500, flow: 3, data: true });
        match (offered, fate) {
            (Offered::Accepted { departure, .. }, Fate::Arrives { .. }) => {
                assert_eq!(departure, Time::at(at))
            }
            (Offered::Dropped(Cause::Channel, when), Fate::Lost(Loss::Error)) => {
                assert_eq!(when, Time::at(at));
                lost += 1;
            }
            different => panic!("packet {k}: {different:?}"),
        }
    }
    assert!(lost > 100, "{lost}");
}

#[test]
fn causes_are_told_apart() {
    let channel =
        r#"[{ kind = "outages", at = [["0s", "2500us"]] }, { kind = "scripted", packets = ["3..4"] }]"#;
    let mut one = lane(channel, "2packets");
    let fates = fill(&mut one, Time::ZERO, 4);
    let drop = |cause, ms| Offered::Dropped(cause, Time::ms(ms));
    assert_eq!(fates[..2], [drop(Cause::Outage, 1), drop(Cause::Outage, 2)]);
    assert_eq!(fates[2..], [drop(Cause::Channel, 3), drop(Cause::Queue, 0)]);
    let counts = one.counters(Time::ZERO);
    assert_eq!((counts.outage_drops, counts.channel_drops, counts.queue_drops), (2, 1, 1));
}

#[test]
fn a_lane_is_a_fifo_unless_its_channel_overtakes() {
    let jitter = |keep| {
        format!("{{ kind = \"jitter\", distribution = \"uniform\", max = \"20ms\", keep_order = {keep} }}")
    };
    for keep in [true, false] {
        let mut one = lane(&jitter(keep), "1000packets");
        fill(&mut one, Time::ZERO, 500);
        let order: Vec<PacketId> = std::iter::from_fn(|| one.arrive(Time::MAX)).map(|(id, _)| id).collect();
        assert_eq!(order.len(), 500);
        assert_eq!(order.is_sorted(), keep);
    }
}

#[test]
fn a_recorded_capacity_takes_the_place_of_the_rate() {
    let mut one = lane("{ kind = \"none\" }", "50packets");
    let trace = Arc::new(CapacityTrace { name: "test".into(), opportunities_ms: vec![4, 8] });
    one.capacity = Some(Capacity::new(trace));
    fill(&mut one, Time::ZERO, 4);
    assert_eq!(arrivals(&mut one), [14.0, 18.0, 22.0, 26.0]);
}

#[test]
fn a_new_rate_holds_from_the_next_packet_on_and_a_new_delay_for_what_is_still_to_leave() {
    let mut one = lane("{ kind = \"scripted\", packets = [\"2..2\"] }", "5packets");
    fill(&mut one, Time::ZERO, 4);
    one.change(Time::at(MS / 2), Some(24_000_000), None);
    assert_eq!(arrivals(&mut one), [11.0, 12.0, 12.5]);
    assert_eq!(one.counts.busy, 5 * MS / 2);
    let mut one = lane("{ kind = \"none\" }", "5packets");
    fill(&mut one, Time::ZERO, 2);
    one.change(Time::at(3 * MS / 2), None, Some(MS));
    fill(&mut one, Time::ms(3), 1);
    // The first has left already; the others come up behind it and do not overtake.
    assert_eq!(arrivals(&mut one), [11.0, 11.0, 11.0]);
}

#[test]
fn a_lane_that_goes_down_loses_what_is_on_it() {
    let mut one = lane("{ kind = \"none\" }", "5packets");
    fill(&mut one, Time::ZERO, 4);
    assert_eq!(one.fail(Time::at(3 * MS / 2)), [0, 1, 2, 3]);
    assert_eq!(one.offer(Time::ms(2), data(1500, 0)), Offered::Dropped(Cause::Outage, Time::ms(2)));
    one.mend();
    fill(&mut one, Time::ms(3), 1);
    assert_eq!(arrivals(&mut one), [14.0]);
    assert_eq!((one.counts.outage_drops, one.counts.busy), (5, 5 * MS / 2));
}

#[test]
fn what_was_before_the_warm_up_or_after_the_end_does_not_count() {
    let mut one = lane("{ kind = \"none\" }", "50packets");
    one.measured = (Time::ms(10), Time::ms(20));
    fill(&mut one, Time::ZERO, 5);
    one.begin_measuring();
    fill(&mut one, Time::ms(12), 3);
    one.end_measuring();
    fill(&mut one, Time::ms(30), 7);
    let outcome = one.outcome(Time::ms(10), Time::ms(20));
    assert_eq!(outcome.packets, 3);
    assert!((outcome.utilisation - 0.3).abs() < 1e-12);
}

#[test]
fn the_length_of_a_queue_is_kept_where_it_is_wanted() {
    let mut one = lane("{ kind = \"bernoulli\", per = 0.0 }", "2packets");
    one.record_queue();
    fill(&mut one, Time::ms(10), 4);
    fill(&mut one, Time::ms(12), 1);
    let points = one.take_queue(Time::ms(13)).unwrap().points;
    let points: Vec<(f64, u32)> = points.iter().map(|p| (p.t * 1e3, p.packets)).collect();
    assert_eq!(
        points,
        [(10.0, 2), (11.0, 1), (12.0, 1), (13.0, 0)],
        "of changes at one time the last counts"
    );
    assert_eq!(lane("{ kind = \"bernoulli\", per = 0.0 }", "2packets").take_queue(Time::ms(1)), None);
}

#[test]
fn what_is_lost_before_the_queue_takes_no_time_and_no_place() {
    let mut one = lane("{ kind = \"scripted\", packets = [\"2..3\"] }", "5packets");
    one.after_channel = true;
    let lost = fill(&mut one, Time::ZERO, 4)
        .into_iter()
        .filter(|o| matches!(o, Offered::Dropped(Cause::Channel, Time::ZERO)));
    assert_eq!(lost.count(), 2);
    assert_eq!(arrivals(&mut one), [11.0, 12.0]);
    assert_eq!((one.counts.channel_drops, one.counts.packets, one.counts.busy), (2, 2, 2 * MS));
}
