use super::*;
use crate::{Span, Time};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

fn seen(flow: u64, bytes: u32) -> Seen {
    Seen { bytes, flow, ecn: false }
}

fn all() -> Vec<ActiveConfig> {
    let small = FqCoDelConfig { limit: Limit::Packets(50), queues: 8, ..FqCoDelConfig::default() };
    vec![
        ActiveConfig::CoDel(CoDelConfig { limit: Limit::Packets(50), ecn: true, ..CoDelConfig::default() }),
        ActiveConfig::FqCoDel(small),
        ActiveConfig::Pie(PieConfig { limit: Limit::Packets(50), ecn: true, ..PieConfig::default() }),
    ]
}

/// A queue that is told the time in nanoseconds, as these tests reckon.
#[derive(Debug)]
struct Clocked(ActiveQueue<usize>);

impl Clocked {
    fn new(config: &ActiveConfig, seed: u64) -> Self {
        Self(ActiveQueue::new(config, seed))
    }

    fn offer(&mut self, now: u64, seen: Seen, packet: usize, dropped: &mut Vec<usize>) {
        self.0.offer(Time::ns(now), seen, packet, dropped);
    }

    fn serve(&mut self, now: u64, dropped: &mut Vec<usize>) -> Option<Served<usize>> {
        self.0.serve(Time::ns(now), dropped)
    }
}

impl std::ops::Deref for Clocked {
    type Target = ActiveQueue<usize>;

    fn deref(&self) -> &ActiveQueue<usize> {
        &self.0
    }
}

/// What came of one packet.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    Sent { at: u64, waited: u64, marked: bool },
    Dropped { at: u64 },
}

/// Feeds a queue packets of 1000 bytes, one every `every`, that take `takes` to send; what came of each, by its number.
/// `ecn`: whether they may be marked.
fn overload(queue: &mut Clocked, every: u64, takes: u64, until: u64, ecn: bool) -> Vec<Fate> {
    let mut fates: Vec<Option<Fate>> = Vec::new();
    let (mut next, mut free, mut dropped) = (0, 0, Vec::new());
    while next < until {
        // What is due first; a packet that comes as the transmitter becomes free is taken in first.
        if next <= free || queue.packets() == 0 {
            queue.offer(next, Seen { ecn, ..seen(1, 1000) }, fates.len(), &mut dropped);
            fates.push(None);
            dropped.drain(..).for_each(|id| fates[id] = Some(Fate::Dropped { at: next }));
            free = free.max(next);
            next += every;
        } else {
            let served = queue.serve(free, &mut dropped);
            dropped.drain(..).for_each(|id| fates[id] = Some(Fate::Dropped { at: free }));
            if let Some(Served { packet, marked, came, .. }) = served {
                fates[packet] = Some(Fate::Sent { at: free, waited: free - came.nanos(), marked });
                free += takes;
            }
        }
    }
    fates.into_iter().flatten().collect()
}

fn drops(fates: &[Fate]) -> Vec<u64> {
    let mut at: Vec<_> =
        fates.iter().filter_map(|f| if let Fate::Dropped { at } = f { Some(*at) } else { None }).collect();
    at.sort_unstable();
    at
}

fn marks(fates: &[Fate]) -> Vec<u64> {
    let marked = |f: &Fate| if let Fate::Sent { at, marked: true, .. } = f { Some(*at) } else { None };
    fates.iter().filter_map(marked).collect()
}

fn codel(limit: u64, ecn: bool) -> Clocked {
    Clocked::new(
        &ActiveConfig::CoDel(CoDelConfig { limit: Limit::Packets(limit), ecn, ..CoDelConfig::default() }),
        1,
    )
}

#[test]
fn codel_leaves_a_wait_below_its_target_alone_however_long() {
    // Bursts of five packets that take 0.9 ms each: the fifth waits 3.6 ms.
    let (mut queue, mut dropped) = (codel(1000, false), Vec::new());
    for burst in 0..10_000_u64 {
        let at = burst * 5 * MS;
        (0..5).for_each(|k| queue.offer(at, seen(1, 1000), k, &mut dropped));
        for k in 0..5 {
            assert_eq!(queue.serve(at + k * 9 * MS / 10, &mut dropped).map(|s| s.packet as u64), Some(k));
        }
    }
    assert!(dropped.is_empty());
}

#[test]
fn codel_lets_a_burst_pass_that_ends_within_an_interval() {
    // 90 packets at once: the last waits 89 ms, and then nothing more comes.
    let (mut queue, mut dropped) = (codel(1000, false), Vec::new());
    (0..90).for_each(|k| queue.offer(0, seen(1, 1000), k, &mut dropped));
    (0..90).for_each(|k| assert!(queue.serve(k * MS, &mut dropped).is_some()));
    assert!(dropped.is_empty(), "a queue that only looks at the wait would have dropped");
}

#[test]
fn codel_drops_at_distances_that_shrink_with_the_root_of_their_number() {
    // Twice as much as can be sent. The wait passes 5 ms at 10 ms (a packet that comes at t is sent at 2 t); an interval
    // later the first is dropped, and the k-th follows after 100 ms / √k.
    let fates = overload(&mut codel(100_000, false), MS / 2, MS, 2_000 * MS, false);
    let at = drops(&fates);
    assert_eq!(at[0], 110 * MS);
    let mut due = at[0];
    for (k, at) in at.iter().enumerate().skip(1) {
        due += (100.0 * MS as f64 / (k as f64).sqrt()) as u64;
        assert!(*at >= due && *at <= due + MS, "drop {k} at {at}, due at {due}: at the next departure");
    }
    assert!(at.len() > 80, "{}", at.len());
}

#[test]
fn codel_takes_up_again_near_the_rate_at_which_it_left_off() {
    let mut queue = codel(100_000, false);
    let mut dropped = Vec::new();
    // A second of overload, and time enough to send it all.
    let long = drops(&overload(&mut queue, MS / 2, MS, 1_000 * MS, false)).len();
    let mut now = 1_000 * MS;
    while queue.serve(now, &mut dropped).is_some() {
        now += MS;
    }
    assert!(long > 20);
    let again = |queue: &mut Clocked, start: u64| {
        let (mut dropped, mut at, mut came) = (Vec::new(), Vec::new(), 0);
        for k in 0..400 {
            let now = start + k * MS;
            (0..2).for_each(|_| {
                queue.offer(now, seen(1, 1000), came, &mut dropped);
                came += 1;
            });
            let before = dropped.len();
            queue.serve(now, &mut dropped);
            at.extend(std::iter::repeat_n(now - start, dropped.len() - before));
        }
        at
    };
    let soon = again(&mut queue, now + 10 * MS).len();
    let fresh = again(&mut codel(100_000, false), 0).len();
    assert!(soon > 2 * fresh, "{soon} drops in 0.4 s soon after, {fresh} of a queue that never dropped");
}

#[test]
fn codel_marks_what_allows_it_and_drops_nothing() {
    let marked = overload(&mut codel(100_000, true), MS / 2, MS, 1_000 * MS, true);
    assert!(drops(&marked).is_empty());
    let at = marks(&marked);
    assert_eq!(at[0], 110 * MS);
    assert!(at.len() > 20);
    let not = overload(&mut codel(100_000, false), MS / 2, MS, 1_000 * MS, true);
    assert!(marks(&not).is_empty() && !drops(&not).is_empty(), "unless it is not to");
}

#[test]
fn codel_never_drops_the_only_packet() {
    // Each waits a second, alone.
    let (mut queue, mut dropped) = (codel(1000, false), Vec::new());
    for k in 0..100 {
        queue.offer(k * 1_000 * MS, seen(1, 1000), k as usize, &mut dropped);
        assert!(queue.serve((k + 1) * 1_000 * MS, &mut dropped).is_some());
    }
    assert!(dropped.is_empty());
}

fn fq(config: FqCoDelConfig) -> Clocked {
    Clocked::new(&ActiveConfig::FqCoDel(config), 7)
}

/// Serves so many packets of 1 ms each; the flow of each. Packets are numbered by `flow · 1000 + k`.
fn flows(queue: &mut Clocked, from: u64, count: u64) -> Vec<usize> {
    let mut dropped = Vec::new();
    (0..count).filter_map(|k| queue.serve(from + k * MS, &mut dropped).map(|s| s.packet / 1000)).collect()
}

#[test]
fn fq_codel_lets_a_flow_of_single_packets_pass_a_long_queue() {
    let (mut queue, mut dropped) = (fq(FqCoDelConfig::default()), Vec::new());
    (0..100).for_each(|k| queue.offer(0, seen(1, 1500), 1000 + k, &mut dropped));
    assert_eq!(flows(&mut queue, 0, 3), [1, 1, 1]);
    queue.offer(3 * MS, seen(2, 100), 2000, &mut dropped);
    assert_eq!(
        flows(&mut queue, 3 * MS, 2),
        [2, 1],
        "it goes first, and a queue for all would let it wait for 97"
    );
}

#[test]
fn fq_codel_gives_flows_the_same_bytes_whatever_the_size_of_their_packets() {
    let (mut queue, mut dropped) =
        (fq(FqCoDelConfig { target: Span::ns(1 << 50), ..FqCoDelConfig::default() }), Vec::new());
    (0..900).for_each(|k| queue.offer(0, seen(1, 1500), 1000 + k, &mut dropped));
    (0..900).for_each(|k| queue.offer(0, seen(2, 300), 2000 + k, &mut dropped));
    let sent = flows(&mut queue, 0, 600);
    let bytes = |flow, size| sent.iter().filter(|&&f| f == flow).count() * size;
    let (large, small) = (bytes(1, 1500), bytes(2, 300));
    assert!(large.abs_diff(small) <= 2 * 1514, "{large} and {small} bytes");
}

#[test]
fn fq_codel_drops_from_the_fullest_queue_when_all_is_full() {
    let (mut queue, mut dropped) =
        (fq(FqCoDelConfig { limit: Limit::Packets(10), ..FqCoDelConfig::default() }), Vec::new());
    queue.offer(0, seen(2, 1500), 2000, &mut dropped);
    (0..9).for_each(|k| queue.offer(0, seen(1, 1500), 1000 + k, &mut dropped));
    queue.offer(0, seen(2, 1500), 2001, &mut dropped);
    assert_eq!(dropped, [1000], "the oldest of the flow that has most, not the newcomer");
    assert_eq!((queue.packets(), queue.bytes()), (10, 15_000));
}

#[test]
fn fq_codel_holds_each_flow_by_a_law_of_its_own() {
    // Flow 1 overloads its half, flow 2 stays below it.
    let (mut queue, mut dropped) = (fq(FqCoDelConfig::default()), Vec::new());
    for k in 0..2_000_u64 {
        queue.offer(k * MS, seen(1, 1000), 1000, &mut dropped);
        if k % 4 == 0 {
            queue.offer(k * MS, seen(2, 1000), 2000, &mut dropped);
        }
        queue.serve(k * MS, &mut dropped);
    }
    let of = |flow| dropped.iter().filter(|&&id| id / 1000 == flow).count();
    assert!(of(1) > 20 && of(2) == 0, "{} and {}", of(1), of(2));
}

#[test]
fn fq_codel_makes_a_queue_that_came_and_went_wait_for_the_others() {
    // RFC 8290, section 4.2: else a flow of single packets would go first each time.
    let (mut queue, mut dropped) = (fq(FqCoDelConfig::default()), Vec::new());
    (0..100).for_each(|k| queue.offer(0, seen(1, 500), 1000 + k, &mut dropped));
    assert_eq!(flows(&mut queue, 0, 5), [1, 1, 1, 1, 1]);
    queue.offer(5 * MS, seen(2, 100), 2000, &mut dropped);
    assert_eq!(flows(&mut queue, 5 * MS, 2), [2, 1], "new, it goes first, and is found empty");
    queue.offer(7 * MS, seen(2, 100), 2001, &mut dropped);
    assert_eq!(flows(&mut queue, 7 * MS, 2), [1, 2], "then the other's turn ends first");
}

#[test]
fn flows_are_spread_another_way_in_each_run() {
    let config = ActiveConfig::FqCoDel(FqCoDelConfig { queues: 2, ..FqCoDelConfig::default() });
    let alike = |seed| {
        let mut queue = Clocked::new(&config, seed);
        let mut dropped = Vec::new();
        // In one queue they leave as they came, in two the second of flow 1 waits for its turn.
        for (flow, id) in [(1, 0), (1, 1), (2, 2)] {
            queue.offer(0, seen(flow, 1514), id, &mut dropped);
        }
        (0..3).filter_map(|_| queue.serve(0, &mut dropped).map(|s| s.packet)).collect::<Vec<_>>() == [0, 1, 2]
    };
    let share = (0..1000).filter(|&seed| alike(seed)).count();
    assert!((400..600).contains(&share), "half of all seeds put two flows into one of two queues: {share}");
}

fn pie(ecn: bool) -> Clocked {
    Clocked::new(
        &ActiveConfig::Pie(PieConfig { limit: Limit::Packets(100_000), ecn, ..PieConfig::default() }),
        3,
    )
}

#[test]
fn pie_lets_a_burst_pass_and_then_settles_at_its_target() {
    // A quarter more than can be sent: a fifth of it has to go.
    let fates = overload(&mut pie(false), 8 * MS / 10, MS, 60_000 * MS, false);
    let at = drops(&fates);
    assert!(at[0] >= 150 * MS, "the first burst passes: {}", at[0]);
    let late: Vec<_> = fates[fates.len() / 2..].to_vec();
    let share = drops(&late).len() as f64 / late.len() as f64;
    assert!((share - 0.2).abs() < 0.02, "{share}");
    let waits: Vec<_> = late
        .iter()
        .filter_map(|f| if let Fate::Sent { waited, .. } = f { Some(*waited as f64) } else { None })
        .collect();
    let mean = waits.iter().sum::<f64>() / waits.len() as f64 / MS as f64;
    assert!((mean - 15.0).abs() < 3.0, "mean wait of {mean} ms, 15 are aimed at");
}

#[test]
fn pie_drops_nothing_where_nothing_waits_long() {
    // Nine tenths of what can be sent.
    let fates = overload(&mut pie(false), MS, 9 * MS / 10, 10_000 * MS, false);
    assert!(drops(&fates).is_empty());
}

#[test]
fn pie_drops_nothing_of_a_queue_of_two_packets_however_large_its_chance() {
    // RFC 8033, section 4.1. Packets come as fast as they leave, behind so many others.
    let dropped_behind = |waiting: usize| {
        let mut queue = pie(false);
        overload(&mut queue, MS / 2, MS, 5_000 * MS, false);
        let (mut now, mut dropped) = (5_000 * MS, Vec::new());
        while queue.packets() > waiting {
            queue.serve(now, &mut dropped);
        }
        for _ in 0..10 {
            queue.offer(now, seen(1, 1000), 0, &mut dropped);
            if queue.packets() > waiting {
                queue.serve(now, &mut dropped);
            }
            now += 1;
        }
        dropped.len()
    };
    assert_eq!(dropped_behind(2), 0);
    assert!(dropped_behind(5) > 0);
}

#[test]
fn pie_marks_while_the_chance_is_small_and_drops_beyond() {
    let some = overload(&mut pie(true), 98 * MS / 100, MS, 60_000 * MS, true);
    assert!(marks(&some).len() > 100, "{}", marks(&some).len());
    let much = overload(&mut pie(true), MS / 2, MS, 60_000 * MS, true);
    assert!(drops(&much).len() > 10_000, "marks do not make an overload go away: {}", drops(&much).len());
}

#[test]
fn pie_forgets_while_nothing_comes_however_long_that_is() {
    let mut queue = pie(false);
    overload(&mut queue, MS / 2, MS, 5_000 * MS, false);
    let (mut now, mut dropped) = (5_000 * MS, Vec::new());
    while queue.serve(now, &mut dropped).is_some() {
        now += MS;
    }
    dropped.clear();
    let year = 365 * 86_400_000 * MS;
    for k in 0..100 {
        queue.offer(now + year + k, seen(1, 1000), 0, &mut dropped);
    }
    assert!(dropped.is_empty() && queue.packets() == 100, "the next burst passes again");
}

#[test]
fn a_queue_that_is_emptied_gives_all_back_and_goes_on() {
    for config in all() {
        let (mut queue, mut dropped) = (Clocked::new(&config, 5), Vec::new());
        (0..20).for_each(|id| queue.offer(0, seen(id as u64 % 3, 500), id, &mut dropped));
        queue.0.clear(&mut dropped);
        dropped.sort_unstable();
        assert_eq!(dropped, (0..20).collect::<Vec<_>>());
        assert_eq!((queue.packets(), queue.bytes(), queue.serve(1, &mut dropped)), (0, 0, None));
        queue.offer(2, seen(1, 500), 77, &mut dropped);
        assert_eq!(queue.serve(2, &mut dropped).map(|served| served.packet), Some(77));
    }
}

#[test]
fn a_limit_in_bytes_is_one() {
    for mut config in all() {
        *config.limit_mut() = Limit::Bytes(2_000);
        let (mut queue, mut dropped) = (Clocked::new(&config, 5), Vec::new());
        (0..4).for_each(|id| queue.offer(0, seen(1, 700), id, &mut dropped));
        assert_eq!((queue.packets(), queue.bytes(), dropped.len()), (2, 1_400, 2));
        while queue.serve(0, &mut dropped).is_some() {}
        queue.offer(1, seen(1, 9_000), 9, &mut dropped);
        assert_eq!(queue.serve(1, &mut dropped).map(|served| served.packet), Some(9), "alone it fits");
    }
}

proptest! {
    /// Every packet that goes in comes out once, sent or dropped; flows keep their order; the counts are those of what
    /// waits; and the same calls give the same answers.
    #[test]
    fn every_packet_comes_out_once_and_in_order(
        steps in prop::collection::vec((0u8..3, 0u64..5, 40u32..1500, 0u64..30 * MS), 1..400),
        which in 0usize..3,
        seed: u64,
    ) {
        let config = &all()[which];
        let run = || {
            let mut queue = Clocked::new(config, seed);
            let (mut now, mut sent, mut dropped) = (0, Vec::new(), Vec::new());
            let mut sizes = Vec::new();
            for (what, flow, bytes, pause) in &steps {
                now += pause;
                if *what < 2 {
                    queue.offer(now, Seen { bytes: *bytes, flow: *flow, ecn: *what == 0 }, sizes.len(), &mut dropped);
                    sizes.push((*flow, *bytes));
                } else if let Some(served) = queue.serve(now, &mut dropped) {
                    assert_eq!(served.bytes, sizes[served.packet].1);
                    sent.push(served.packet);
                }
                let gone: u64 = sent.iter().chain(&dropped).map(|&id| u64::from(sizes[id].1)).sum();
                let all: u64 = sizes.iter().map(|(_, bytes)| u64::from(*bytes)).sum();
                assert_eq!(queue.packets(), sizes.len() - sent.len() - dropped.len());
                assert_eq!(queue.bytes(), all - gone);
            }
            while let Some(served) = queue.serve(now, &mut dropped) {
                sent.push(served.packet);
            }
            let mut out: Vec<_> = sent.iter().chain(&dropped).copied().collect();
            out.sort_unstable();
            assert_eq!(out, (0..sizes.len()).collect::<Vec<_>>());
            for flow in 0..5 {
                assert!(sent.iter().filter(|&&id| sizes[id].0 == flow).is_sorted(), "flow {flow} out of order");
            }
            (sent, dropped)
        };
        prop_assert_eq!(run(), run());
    }
}
