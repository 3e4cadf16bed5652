//! Slow-start detectors over real arrivals: each hears of what the BPF program saw come, and is held against the phase
//! that the sender was in.
//!
//! The truth of a segment is the sender's state when it left, as the tracepoints tell it: slow start is cwnd below
//! ssthresh, while no loss is being repaired fast. New data left before the first record that has it in flight; what
//! comes again is taken to have left half a round-trip time before it came.

use super::watch::{Record, State};
use std::collections::{BTreeMap, HashMap};
use truckee_scenario::Scenario;
use truckee_scenario::model::Changed;
use truckee_scenario::outcome::{DetectorOutcome, GapPoint, OWN_DETECTOR, PhasePoint, TRUE_PHASE};
use truckee_shape::arrival;
use truckee_tcp::ack::{AckPolicy, AckSink, AnyAckPolicy};
use truckee_tcp::detect::watch::Book;
use truckee_tcp::detect::{AnyDetector, Detected, Phase, SlowStartDetector};
use truckee_tcp::{Span, Time};

/// What was found of a flow.
#[derive(Debug, Default)]
pub struct Found {
    pub detectors: Vec<DetectorOutcome>,
    pub phases: Vec<PhasePoint>,
    pub gaps: Vec<GapPoint>,
    /// Segments that an ACK of the policy covers at the end, if it learns that.
    pub burst: Option<u64>,
}

/// Who judges one connection.
struct Judges {
    policy: AnyAckPolicy,
    /// How many of the policies it has had.
    had: usize,
    own: Book,
    watching: Vec<(AnyDetector, Book)>,
    numbers: arrival::Unwrap,
    /// The last segment's end on the wire, and the highest so far.
    end: u32,
    top: u32,
}

/// Has the detectors of a flow judge what has arrived, from `measured` on; `t0` is the beginning of the run, both ns of
/// CLOCK_MONOTONIC.
pub fn judge(
    scenario: &Scenario,
    index: usize,
    heard: &[arrival::Record],
    records: &[Record],
    (t0, measured): (Time, Time),
) -> Found {
    let flow = &scenario.flows[index];
    let senders = by_connection(records);
    let policies = policies(scenario, index, t0);
    let Some((_, policy)) = policies.first() else { return Found::default() };
    let detectors: Vec<(&str, AnyDetector)> = flow
        .observe
        .detectors
        .iter()
        .filter_map(|(name, spec)| Some((name.as_str(), AnyDetector::build(spec).ok()?.0)))
        .collect();
    let names: Vec<&str> =
        [TRUE_PHASE, OWN_DETECTOR].into_iter().chain(detectors.iter().map(|(name, _)| *name)).collect();
    let mut all: HashMap<u64, Judges> = HashMap::new();
    let mut warm: Option<Vec<Detected>> = None;
    let mut found = Found::default();
    // What each has said last.
    let mut last: Vec<Option<Phase>> = vec![None; names.len()];
    for record in heard {
        if record.t >= measured && warm.is_none() {
            warm = Some(sums(&all, detectors.len()));
        }
        let Some(sender) = senders.get(&record.ports()) else { continue };
        let judges = all.entry(record.id).or_insert_with(|| Judges::new(policy, &detectors, record));
        judges.take_over(&policies, record.t);
        let said = judges.hear(record, sender);
        let floats = judges.watching.iter().find_map(|(detector, _)| detector.floats());
        let since = record.t.saturating_sub(t0).seconds();
        found.gaps.extend(floats.map(|floats| GapPoint::of(since, &floats)));
        for ((who, last), now) in names.iter().zip(&mut last).zip(said) {
            if let Some(phase) = now
                && last.replace(phase) != now
            {
                let slow_start = phase == Phase::SlowStart;
                found.phases.push(PhasePoint { t: since, who: (*who).to_owned(), slow_start });
            }
        }
    }
    let warm = warm.unwrap_or_else(|| sums(&all, detectors.len()));
    let judged = sums(&all, detectors.len()).into_iter().zip(warm).map(|(mut all, past)| {
        all -= past;
        all
    });
    let goes_by_one = scenario.has_detector(index);
    found.detectors = names[1..]
        .iter()
        .zip(judged)
        .skip(usize::from(!goes_by_one))
        .map(|(name, detected)| DetectorOutcome::of(name, &detected))
        .collect();
    found.burst = all.values().filter_map(|judges| judges.policy.burst()).max();
    found
}

/// The policies of a flow's receiver, each with the time from which on it has it.
fn policies(scenario: &Scenario, index: usize, t0: Time) -> Vec<(Time, AnyAckPolicy)> {
    let changes = scenario.changes.iter().filter_map(|change| match &change.what {
        Changed::Receiver { flow, policy } if *flow == index => Some((t0 + change.at.since_start(), policy)),
        _ => None,
    });
    let all = std::iter::once((t0, &scenario.flows[index].receiver)).chain(changes);
    let mut all: Vec<_> =
        all.filter_map(|(at, spec)| Some((at, AnyAckPolicy::build(spec).ok()?.0))).collect();
    all.sort_by_key(|(at, _)| *at);
    all
}

/// The records of each connection, by the sender's port and the receiver's.
fn by_connection(records: &[Record]) -> BTreeMap<(u16, u16), Vec<&Record>> {
    let mut senders: BTreeMap<(u16, u16), Vec<&Record>> = BTreeMap::new();
    for record in records {
        senders.entry((record.local, record.peer)).or_default().push(record);
    }
    senders
}

/// The policy's own detector first.
fn sums(all: &HashMap<u64, Judges>, watching: usize) -> Vec<Detected> {
    let mut sums = vec![Detected::default(); 1 + watching];
    for judges in all.values() {
        let books = std::iter::once(&judges.own).chain(judges.watching.iter().map(|(_, book)| book));
        sums.iter_mut().zip(books).for_each(|(sum, book)| *sum += *book.detected());
    }
    sums
}

impl Judges {
    fn new(policy: &AnyAckPolicy, detectors: &[(&str, AnyDetector)], first: &arrival::Record) -> Self {
        Self {
            policy: policy.clone(),
            had: 1,
            own: Book::default(),
            watching: detectors.iter().map(|(_, detector)| (detector.clone(), Book::default())).collect(),
            numbers: arrival::Unwrap::new(first),
            end: first.end,
            top: first.end.wrapping_sub(first.bytes),
        }
    }

    /// Has the policy that holds at `now`.
    fn take_over(&mut self, policies: &[(Time, AnyAckPolicy)], now: Time) {
        while let Some((_, next)) = policies.get(self.had).filter(|(at, _)| *at <= now) {
            let before = std::mem::replace(&mut self.policy, next.clone());
            self.policy.take_over(before.learnt());
            self.had += 1;
        }
    }

    /// A record has come; what the truth, the policy and those who watch say now.
    fn hear(&mut self, record: &arrival::Record, sender: &[&Record]) -> Vec<Option<Phase>> {
        let end = self.numbers.next(self.end, record.end);
        let new = after(record.end, self.top);
        let truth = truth(record, sender, new);
        self.end = record.end;
        self.top = if new { record.end } else { self.top };
        let mut sent = AckSink::default();
        for segment in record.segments(end) {
            self.policy.on_segment(&segment, &mut sent);
            sent = AckSink::default();
            if let Some(verdict) = self.policy.phase() {
                self.own.enter(segment.now, truth, verdict);
            }
            for (detector, book) in &mut self.watching {
                detector.on_segment(&segment);
                book.enter(segment.now, truth, detector.phase());
            }
        }
        let watching = self.watching.iter().map(|(detector, _)| Some(detector.phase()));
        [Some(truth), self.policy.phase()].into_iter().chain(watching).collect()
    }
}

fn after(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

/// The phase in which the sender sent a segment; `new`: it had not come before.
fn truth(segment: &arrival::Record, sender: &[&Record], new: bool) -> Phase {
    let at = if new {
        sender.partition_point(|record| after(segment.end, record.nxt))
    } else {
        let there = sender.partition_point(|record| record.t <= segment.t);
        let rtt = sender
            .get(there.saturating_sub(1))
            .map_or(Span::ZERO, |record| Span::us(u64::from(record.srtt_us)));
        sender.partition_point(|record| record.t <= segment.t.earlier(rtt / 2)).saturating_sub(1)
    };
    match sender.get(at).or_else(|| sender.last()) {
        Some(record) => phase(record),
        None => Phase::SlowStart,
    }
}

fn phase(record: &Record) -> Phase {
    let repairing = matches!(record.before, State::Reduction | State::Recovery);
    if record.cwnd < record.ssthresh && !repairing { Phase::SlowStart } else { Phase::Avoidance }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(t: Time, nxt: u32, cwnd: u32, before: State) -> Record {
        Record {
            t,
            namespace: 1,
            local: 40_000,
            peer: 20_000,
            una: 0,
            nxt,
            cwnd,
            ssthresh: 10,
            srtt_us: 20_000,
            mss: 1000,
            before,
            turns: None,
        }
    }

    fn segment(t: Time, end: u32) -> arrival::Record {
        arrival::Record {
            t,
            id: 1,
            connection: truckee_shape::flow::Connection::of_ports(20_000, 40_000),
            end,
            bytes: 1000,
            segments: 1,
            unacked: 1000,
            window: u32::MAX,
            rtt_us: 0,
            policy: 0,
            in_order: true,
            urgent: false,
        }
    }

    #[test]
    fn a_segment_left_in_the_state_before_the_first_record_that_has_it_in_flight() {
        let all = [
            window(Time::ms(10), 3000, 5, State::Open),
            window(Time::ms(20), 6000, 9, State::Open),
            window(Time::ms(30), 9000, 12, State::Open),
            window(Time::ms(40), 12_000, 6, State::Recovery),
            window(Time::ms(50), 15_000, 6, State::Loss),
        ];
        let sender: Vec<&Record> = all.iter().collect();
        let said = |t, end, new| truth(&segment(t, end), &sender, new) == Phase::SlowStart;
        assert!(said(Time::ZERO, 3000, true) && said(Time::ZERO, 6000, true));
        assert!(!said(Time::ZERO, 6001, true), "left after the window of 9 had grown");
        assert!(!said(Time::ZERO, 12_000, true), "below the threshold, but in fast recovery");
        assert!(said(Time::ZERO, 12_001, true), "after a timeout");
        assert!(said(Time::ZERO, 99_000, true), "after the last record");
        assert!(!said(Time::ms(52), 1000, false), "sent again ten milliseconds before it came");
        assert!(said(Time::ms(62), 1000, false));
    }

    #[test]
    fn verdicts_are_of_the_time_measured_and_the_policys_own_comes_first() {
        let scenario = "duration = \"1s\"\n[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"1Mbit/s\"\ndelay = \"1ms\"\n\
            [[flow]]\nfrom = \"a\"\nto = \"b\"\nreceiver = \"taba\"\nobserve.detectors = [\"round-growth\"]\n";
        let scenario = truckee_scenario::Document::parse("t.toml", scenario).unwrap().scenario().unwrap();
        let sender = [window(Time::ZERO, 1_000_000, 5, State::Open)];
        let heard: Vec<_> = (1..=10).map(|k| segment(Time::ns(k), 1000 * k as u32)).collect();
        let found = judge(&scenario, 0, &heard, &sender, (Time::ZERO, Time::ns(6)));
        let names: Vec<&str> = found.detectors.iter().map(|d| d.name.as_str()).collect();
        assert_eq!(names, [OWN_DETECTOR, "round-growth"]);
        assert!(found.detectors.iter().all(|d| d.slow_start == 5 && d.avoidance == 0), "{found:?}");
        assert_eq!(found.phases.iter().filter(|p| p.who == TRUE_PHASE).count(), 1);
    }

    #[test]
    fn a_policy_that_takes_over_in_mid_run_is_judged_from_then_on() {
        let scenario = "duration = \"1s\"\n[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"1Mbit/s\"\ndelay = \"1ms\"\n\
            [[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nreceiver = \"every\"\n\
            [[change]]\nat = \"500ms\"\nflow = \"f\"\nreceiver = \"taba\"\n";
        let scenario = truckee_scenario::Document::parse("t.toml", scenario).unwrap().scenario().unwrap();
        let sender = [window(Time::ZERO, 1_000_000, 5, State::Open)];
        let heard: Vec<_> = (1..=10).map(|k| segment(Time::ns(k * 100_000_000), 1000 * k as u32)).collect();
        let found = judge(&scenario, 0, &heard, &sender, (Time::ZERO, Time::ZERO));
        let [own] = found.detectors.as_slice() else { unreachable!("{found:?}") };
        // From the fifth segment, at 500 ms, on.
        assert_eq!((own.name.as_str(), own.slow_start), (OWN_DETECTOR, 6));
    }
}
