use super::*;
use crate::listener::Missing;
use crate::segment::flags::{ACK, SYN};
use crate::segment::made::{tcp4, tcp6};
use truckee_scenario::Document;
use truckee_tcp::Span;

const MS: Span = Span::ms(1);

/// What left: the port, when, how many bytes.
#[derive(Default)]
struct Left(Vec<(usize, Time, usize)>);

impl Exit for Left {
    fn leave(&mut self, port: usize, frame: &[u8], due: Time) -> Time {
        self.0.push((port, due, frame.len()));
        due
    }
}

fn network(text: &str) -> Network {
    let scenario = Document::parse("net.toml", text).unwrap().scenario().unwrap();
    Network::new(Plan::of(&scenario).unwrap(), true)
}

/// Two hops of 12 Mbit/s and 10 ms, then 6 Mbit/s and 20 ms.
const CHAIN: &str = r#"
    duration = "1s"
    link = [
        { between = ["a", "r"], rate = "12Mbit/s", delay = "10ms" },
        { between = ["r", "b"], rate = "6Mbit/s", delay = "20ms", channel = { kind = "scripted", packets = ["2..2"] } },
    ]
    flow = [{ from = "a", to = "b", sender = "reno" }]
"#;

fn segment(seq: u32, len: u32, flags: u8) -> Tcp {
    Tcp { source: 40_000, destination: FLOW_PORT, seq, ack: 0, flags, len }
}

#[test]
fn packets_pass_hop_by_hop_and_the_books_know_of_each() {
    let mut network = network(CHAIN);
    let (a, b) = (0, 2);
    let mut left = Left::default();
    network.advance(Time::ZERO, &mut left);
    network.enter(Time::ZERO, 0, &tcp4(a, b, &segment(99, 0, SYN)), 0);
    for (ms, seq) in [(0, 100), (1, 1560), (2, 3020)] {
        network.advance(Time::ms(ms), &mut left);
        network.enter(Time::ms(ms), 0, &tcp4(a, b, &segment(seq, 1460, ACK)), 0);
    }
    network.advance(Time::ms(100), &mut left);
    network.enter(
        Time::ms(100),
        1,
        &tcp4(b, a, &Tcp { source: FLOW_PORT, destination: 40_000, seq: 7, ack: 1560, flags: ACK, len: 0 }),
        0,
    );
    network.advance(Time::ms(400), &mut left);
    // The SYN of 40 B takes 80/3 us on the first hop, twice that on the second; data waits behind it and behind each other.
    let syn = Time::ms(30) + Span::ns(26_666 + 53_333);
    let first = Time::ms(30) + Span::ns(26_666) + 3 * MS;
    assert_eq!(left.0.len(), 4);
    assert_eq!(left.0[0], (1, syn, 40));
    assert_eq!(left.0[1], (1, first, 1500));
    assert_eq!((left.0[2].0, left.0[2].2), (1, 1500), "the third: the script takes the second");
    assert_eq!(left.0[2].1, first + 2 * 2 * MS, "what is lost takes its time, too");
    assert_eq!((left.0[3].0, left.0[3].2), (0, 40));
    assert_eq!(network.packets.len(), 0);
    let (books, links, _) = network.finish(Time::ms(400));
    assert_eq!(books[0].drops, Drops { channel: 1, ..Drops::default() });
    assert_eq!((books[0].segments_sent, books[0].segments_received, books[0].acks_sent), (3, 2, 1));
    assert_eq!(books[0].bytes_delivered, 1460);
    let drop = books[0].fate(40_000, 1461, Time::ms(50)).unwrap();
    assert_eq!((drop.cause, drop.at), (Cause::Channel, first - 20 * MS + 2 * MS));
    assert_eq!(books[0].fate(40_000, 1, Time::ms(50)), None);
    assert_eq!(links.iter().map(|l| l.name.as_str()).collect::<Vec<_>>(), ["a-r", "r-a", "r-b", "b-r"]);
    assert_eq!((links[0].packets, links[2].packets, links[2].channel_drops), (4, 4, 1));
    assert_eq!((links[3].packets, links[1].packets), (1, 1), "the ACK");
}

/// Where, of which connection, and what is missing.
type Told = (usize, u16, Vec<Missing>);

/// What has been told, one entry a time.
#[derive(Debug, Clone, Default)]
struct Heard(std::sync::Arc<std::sync::Mutex<Vec<Told>>>);

impl LossListener for Heard {
    fn wants(&self, flow: usize) -> bool {
        flow == 0
    }

    fn hear(&mut self, flow: usize, client_port: u16, missing: &[Missing]) {
        self.0.lock().unwrap().push((flow, client_port, missing.to_vec()));
    }
}

#[test]
fn a_loss_is_told_when_it_is_known_and_taken_back_when_the_bytes_are_sent_again() {
    let heard = Heard::default();
    let mut network = network(CHAIN).telling(Some(Box::new(heard.clone())));
    let (mut left, isn) = (Left::default(), u32::MAX - 1000);
    let send = |network: &mut Network, ms, seq: u32, flags, left: &mut Left| {
        network.advance(Time::ms(ms), left);
        let len = if flags == SYN { 0 } else { 1460 };
        network.enter(Time::ms(ms), 0, &tcp4(0, 2, &segment(seq, len, flags)), 0);
    };
    network.advance(Time::ZERO, &mut left);
    send(&mut network, 0, isn, SYN, &mut left);
    let second = isn.wrapping_add(1 + 1460); // beyond the highest number there is
    for (ms, seq) in [(1, isn.wrapping_add(1)), (2, second), (3, second.wrapping_add(1460))] {
        send(&mut network, ms, seq, ACK, &mut left);
    }
    network.advance(Time::ms(100), &mut left);
    let of = |bytes| Missing { first: second, bytes, cause: Cause::Channel };
    assert_eq!(*heard.0.lock().unwrap(), [(0, 40_000, vec![of(1460)])]);
    send(&mut network, 100, second, ACK, &mut left);
    assert_eq!(*heard.0.lock().unwrap(), [(0, 40_000, vec![of(1460)]), (0, 40_000, vec![])]);
}

#[test]
fn a_flow_takes_its_own_route_and_the_rest_the_shortest() {
    let text = r#"
        duration = "1s"
        link = [
            { between = ["a", "b"], rate = "1Gbit/s", delay = "1ms" },
            { between = ["a", "r"], rate = "1Gbit/s", delay = "30ms" },
            { between = ["r", "b"], rate = "1Gbit/s", delay = "30ms" },
        ]
        flow = [{ from = "a", to = "b", sender = "reno", route = ["a", "r", "b"] }]
    "#;
    let mut network = network(text);
    let mut left = Left::default();
    network.advance(Time::ZERO, &mut left);
    network.enter(Time::ZERO, 0, &tcp6(0, 1, &segment(0, 0, SYN)), 0);
    network.enter(Time::ZERO, 0, &tcp6(0, 1, &Tcp { destination: 22, ..segment(0, 0, SYN) }), 0);
    // Its ACKs go back the same way.
    let back = Tcp { source: FLOW_PORT, destination: 40_000, seq: 0, ack: 1, flags: SYN | ACK, len: 0 };
    network.enter(Time::ZERO, 1, &tcp6(1, 0, &back), 0);
    network.advance(Time::ms(500), &mut left);
    let ms: Vec<(usize, u64)> = left.0.iter().map(|&(port, at, _)| (port, at.ticks(MS))).collect();
    // 60 B take 480 ns a hop, the ACK's way being as long.
    assert_eq!(ms, [(1, 1), (0, 60), (1, 60)]);
}

#[test]
fn what_has_no_way_is_counted_and_goes_nowhere() {
    let mut network = network(CHAIN);
    let mut left = Left::default();
    network.advance(Time::ZERO, &mut left);
    network.enter(Time::ZERO, 0, &tcp4(0, 1, &segment(0, 0, SYN)), 0); // a router, no endpoint
    network.enter(Time::ZERO, 0, &tcp4(0, 900, &segment(0, 0, SYN)), 0);
    network.enter(Time::ZERO, 0, &[0xff; 60], 0);
    network.enter(Time::ZERO, 0, &[], 0);
    network.advance(Time::ms(900), &mut left);
    assert_eq!((network.strays, left.0.len()), (4, 0));
    assert_eq!(network.port_out(0, &tcp4(0, 2, &segment(0, 0, SYN))), Some(1));
    assert_eq!(network.port_out(0, &tcp4(0, 0, &segment(0, 0, SYN))), None, "to itself");
}

#[test]
fn cross_traffic_fills_the_lane_as_it_does_in_the_simulator() {
    let text = r#"
        duration = "10s"
        warmup = "1s"
        seed = 5
        link = [{ between = ["a", "b"], rate = "12Mbit/s", delay = "10ms", queue = { size = "3packets" } }]
        flow = [{ from = "a", to = "b", sender = "reno", start = "9.9s", stop = "9.95s" }]
        traffic = [{ name = "t", from = "a", to = "b", sources = 2, packet = "1500B", kind = "poisson", rate = "5Mbit/s" }]
    "#;
    let scenario = Document::parse("net.toml", text).unwrap().scenario().unwrap();
    let mut network = Network::new(Plan::of(&scenario).unwrap(), false);
    network.advance(Time::s(11), &mut Left::default());
    let (_, links, traffic) = network.finish(Time::s(11));
    // Both processes again, from the same streams, into a queue worked out by hand.
    let mut times: Vec<Time> = Vec::new();
    for k in 1..=2 {
        let rng = truckee_channel::stream(5, &format!("t.{k}"));
        let process = &scenario.traffic[0].arrivals;
        let mut process = truckee_scenario::arrivals::Process::new(process, 1500, Time::ZERO, rng);
        times.extend(std::iter::from_fn(|| Some(process.next())).take_while(|t| *t < Time::s(10)));
    }
    times.sort_unstable();
    let (mut served, mut dropped, mut free): (Vec<Time>, u64, Time) = (Vec::new(), 0, Time::ZERO);
    for now in times.iter().copied() {
        let waiting = served.iter().rev().take_while(|start| **start > now).count();
        if free > now && waiting >= 3 {
            dropped += u64::from(now >= Time::s(1));
            continue;
        }
        let start = free.max(now);
        served.push(start);
        free = start + MS;
    }
    let sent = times.iter().filter(|t| **t >= Time::s(1)).count() as u64;
    assert_eq!((traffic[0].packets_sent, traffic[0].drops.queue), (sent, dropped));
    assert_eq!(links[0].queue_drops, dropped);
    assert!(dropped > 100, "{dropped}");
}

#[test]
fn changes_come_at_their_times_and_a_link_that_is_down_loses_all() {
    let text = r#"
        duration = "1s"
        link = [{ between = ["a", "b"], rate = "12Mbit/s", delay = "10ms" }]
        flow = [{ from = "a", to = "b", sender = "reno" }]
        change = [
            { at = "100ms", link = "a-b", delay = "50ms" },
            { at = "200ms", link = "a-b", up = false },
            { at = "300ms", link = "a-b", up = true },
        ]
    "#;
    let mut network = network(text);
    let mut left = Left::default();
    for at in [0, 150, 195, 250, 350] {
        network.advance(Time::ms(at), &mut left);
        network.enter(Time::ms(at), 0, &tcp4(0, 1, &segment(1, 1460, ACK)), 0);
    }
    network.advance(Time::ms(900), &mut left);
    assert_eq!(left.0.iter().map(|l| l.1.ticks(MS)).collect::<Vec<_>>(), [11, 401]);
    let (books, links, _) = network.finish(Time::ms(900));
    assert_eq!(books[0].drops, Drops { outage: 3, ..Drops::default() });
    assert_eq!(links[0].outage_drops, 3);
}

#[test]
fn a_copy_arrives_whole_and_once_more() {
    let text = CHAIN.replace(
        "{ kind = \"scripted\", packets = [\"2..2\"] }",
        "{ kind = \"duplicate\", probability = 1.0, after = \"3ms\" }",
    );
    let mut network = network(&text);
    let mut left = Left::default();
    network.advance(Time::ZERO, &mut left);
    network.enter(Time::ZERO, 0, &tcp4(0, 2, &segment(5, 960, ACK)), 0);
    network.advance(Time::ms(200), &mut left);
    assert_eq!(left.0.iter().map(|l| (l.0, l.2)).collect::<Vec<_>>(), [(1, 1000), (1, 1000)]);
    assert_eq!(left.0[1].1 - left.0[0].1, Span::ms(3));
    let (books, ..) = network.finish(Time::ms(200));
    assert_eq!((books[0].segments_received, books[0].bytes_delivered), (2, 960));
}

#[test]
fn every_queue_does_to_the_same_packets_what_it_does_in_the_simulator() {
    for queue in [
        "{ size = \"10packets\" }",
        "{ kind = \"red\", size = \"50packets\" }",
        "{ kind = \"codel\" }",
        "{ kind = \"fq-codel\", queues = 16 }",
        "{ kind = \"pie\", size = \"20kB\" }",
    ] {
        let text = format!(
            r#"
            duration = "60s"
            warmup = "1s"
            seed = 5
            link = [{{ between = ["a", "b"], rate = "12Mbit/s", delay = "10ms", queue = {queue}, channel = {{ kind = "bernoulli", per = 0.01 }} }}]
            traffic = [
                {{ name = "t", from = "a", to = "b", sources = 3, packet = "1500B", kind = "poisson", rate = "4Mbit/s" }},
                {{ name = "u", from = "a", to = "b", packet = "700B", kind = "poisson", rate = "1Mbit/s" }},
            ]
            change = [
                {{ at = "20s", link = "a-b", rate = "10Mbit/s" }},
                {{ at = "40s", link = "a-b", up = false }},
                {{ at = "41s", link = "a-b", up = true, delay = "5ms" }},
            ]
            "#
        );
        let scenario = Document::parse("net.toml", &text).unwrap().scenario().unwrap();
        let simulated = truckee_net::run(&scenario, &truckee_net::Options::default()).unwrap();
        let mut network = Network::new(Plan::of(&scenario).unwrap(), false);
        network.advance(Time::s(60), &mut Left::default());
        let (_, links, traffic) = network.finish(Time::s(60));
        let (of_sim, of_path) = (&simulated.links[0], &links[0]);
        assert!(of_sim.queue_drops > 100 && of_sim.outage_drops > 100, "{queue}: {of_sim:?}");
        let drops = |l: &LinkOutcome| (l.packets, l.queue_drops, l.channel_drops);
        // The simulator books a loss when it happens, the emulator when it is decided: a packet or two at either end.
        let near = |a: u64, b: u64| a.abs_diff(b) <= 2;
        let (sim, path) = (drops(of_sim), drops(of_path));
        assert!(sim.1 == path.1 && near(sim.0, path.0) && near(sim.2, path.2), "{queue}: {sim:?}, {path:?}");
        assert!(
            (of_sim.mean_queue_packets - of_path.mean_queue_packets).abs() < 0.01,
            "{queue}: {of_sim:?}, {of_path:?}"
        );
        for (sim, path) in simulated.traffic.iter().zip(&traffic) {
            assert_eq!(
                (sim.packets_sent, sim.packets_delivered),
                (path.packets_sent, path.packets_delivered),
                "{queue}"
            );
        }
    }
}

#[test]
fn a_satellite_s_steps_and_jitter_and_a_cell_s_traces_are_those_of_the_simulator() {
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/cellular.trace");
    let cell = format!(
        r#"channel = [{{ kind = "trace", file = "{trace}" }}, {{ kind = "jitter", distribution = "normal", mean = "8ms", sd = "4ms", correlation_time = "60ms" }}],
        channel_back = {{ kind = "trace", file = "{trace}" }}"#
    );
    for link in ["preset = \"geo\"", "preset = \"leo\"", &cell] {
        let text = format!(
            r#"
            duration = "59.9995s" # no whole millisecond, at which recorded links deliver
            seed = 9
            link = [{{ between = ["a", "b"], queue = {{ size = "30packets" }}, {link} }}]
            traffic = [
                {{ name = "down", from = "a", to = "b", kind = "poisson", rate = "6Mbit/s" }},
                {{ name = "up", from = "b", to = "a", packet = "400B", kind = "poisson", rate = "5Mbit/s" }},
            ]
            "#
        );
        let scenario = Document::parse("net.toml", &text).unwrap().scenario().unwrap();
        let simulated = truckee_net::run(&scenario, &truckee_net::Options::default()).unwrap();
        let mut network = Network::new(Plan::of(&scenario).unwrap(), false);
        network.advance(Time::us(59_999_500), &mut Left::default());
        let (_, links, traffic) = network.finish(Time::us(59_999_500));
        for (sim, path) in simulated.traffic.iter().zip(&traffic) {
            assert!(path.packets_delivered > 1000, "{link}");
            assert_eq!(
                (sim.packets_sent, sim.packets_delivered),
                (path.packets_sent, path.packets_delivered),
                "{link}"
            );
            let (mean_of_sim, mean_of_path) = (sim.delay_s.mean.unwrap(), path.delay_s.mean.unwrap());
            assert!(
                (mean_of_sim - mean_of_path).abs() < 1e-6 * mean_of_sim,
                "{link}: {mean_of_sim}, {mean_of_path}"
            );
        }
        for (sim, path) in simulated.links.iter().zip(&links) {
            assert_eq!(sim.queue_drops, path.queue_drops, "{link}");
            assert!((sim.utilisation - path.utilisation).abs() < 1e-9, "{link}");
        }
    }
}

/// Everything leaves 3 ms after it should.
struct Late;

impl Exit for Late {
    fn leave(&mut self, _: usize, _: &[u8], due: Time) -> Time {
        due + 3 * MS
    }
}

#[test]
fn where_packets_are_kept_it_is_known_how_late_each_that_was_not_lost_left() {
    let mut network = network(CHAIN).tapped(Some(Vantage::Sender));
    let (a, b) = (0, 2);
    network.advance(Time::ZERO, &mut Late);
    network.enter(Time::ZERO, 0, &tcp4(a, b, &segment(99, 0, SYN)), 0);
    for (ms, seq) in [(0, 100), (1, 1560), (2, 3020)] {
        network.advance(Time::ms(ms), &mut Late);
        network.enter(Time::ms(ms), 0, &tcp4(a, b, &segment(seq, 1460, ACK)), 0);
    }
    network.advance(Time::ms(32), &mut Late);
    let (books, ..) = network.finish(Time::ms(32));
    // The SYN has left; of the data the second is lost, and the others are on the last lane.
    assert_eq!(books[0].late, [vec![3 * MS, Span::ZERO, Span::ZERO], vec![]]);
}
