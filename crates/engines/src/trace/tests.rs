//! Traces that are made up, and what is found in them; and that a simulation is read as its own headers are.

use super::*;
use crate::Simulator;
use crate::trace::events::Range;
use truckee_lab::Engine;
use truckee_scenario::Document;
use truckee_tcp::Span;

const MSS: u64 = 1000;

fn segment(n: u64) -> Range {
    (1 + n * MSS, 1 + (n + 1) * MSS)
}

fn sent(at_ms: u64, n: u64, time: u32) -> Event {
    let what = Passed::Sent { segment: segment(n), time, dropped: None };
    Event { at: Span::ms(at_ms), connection: 0, what }
}

fn heard(at_ms: u64, n: u64, sack: &[Range]) -> Event {
    Event {
        at: Span::ms(at_ms),
        connection: 0,
        what: Passed::Heard { ack: 1 + n * MSS, sack: sack.to_vec() },
    }
}

/// Ten segments, the third of which is lost and sent again after three reports of what came behind it.
fn plain(engine: &str) -> Trace {
    let mut events: Vec<Event> = (0..6).map(|n| sent(10 + n, n, 1)).collect();
    if let Passed::Sent { dropped, .. } = &mut events[2].what {
        *dropped = Some("channel at a-b".to_owned());
    }
    events.extend([heard(50, 1, &[]), heard(51, 2, &[])]);
    events.extend((3..6).map(|n| heard(50 + n, 2, &[(segment(3).0, segment(n).1)])));
    events.push(sent(55, 2, 2));
    events.push(heard(95, 6, &[]));
    events.extend((6..10).map(|n| sent(95, n, 1)));
    Trace {
        engine: engine.to_owned(),
        flow: "download".to_owned(),
        events,
        windows: vec![Window { at: Span::ZERO, cwnd: 6.0 * MSS as f64, ssthresh: 1e9 }],
        opening: Some(Span::ms(40)),
        late: Span::ZERO,
        mss: MSS as u32,
    }
}

/// Against the plain trace.
fn against(change: impl FnOnce(&mut Trace)) -> Comparison {
    let mut other = plain("kernel");
    change(&mut other);
    Comparison::new(&plain("sim"), &other)
}

fn place(trace: &Trace, n: u64, again: u32) -> usize {
    let is = |event: &Event| matches!(&event.what, Passed::Sent { segment: s, time, .. } if *s == segment(n) && *time == again);
    trace.events.iter().position(is).unwrap()
}

#[test]
fn a_trace_agrees_with_itself_within_what_time_is_allowed() {
    let comparison = against(|_| ());
    assert!(comparison.agrees() && comparison.first.is_none(), "{comparison:?}");
    assert_eq!((comparison.sent, comparison.prefix), ([11, 11], 11));
    // A jiffy, what the path was late, and what each round trip took longer: 95 ms are 2.4 rounds.
    let later = |ms: u64| move |trace: &mut Trace| trace.events.iter_mut().for_each(|e| e.at += Span::ms(ms));
    assert!(against(later(4)).agrees());
    let late = against(later(5));
    assert!(late.same && !late.in_time && !late.agrees());
    assert!(against(|t| (later(5)(t), t.late = Span::ms(1)).1).agrees());
    assert!(!against(|t| (later(6)(t), t.opening = Some(Span::ms(41))).1).agrees(), "the first is early");
    let at_the_end = against(|t| {
        t.opening = Some(Span::ms(41));
        t.events.iter_mut().filter(|e| e.at > Span::ms(90)).for_each(|e| e.at += Span::ms(6));
    });
    assert!(at_the_end.agrees(), "{at_the_end:?}");
}

#[test]
fn a_trace_that_is_shifted_by_a_segment_is_found_at_the_first() {
    let comparison = against(|trace| {
        for event in &mut trace.events {
            if let Passed::Sent { segment: (from, to), .. } = &mut event.what {
                (*from, *to) = (*from + MSS, *to + MSS);
            }
        }
    });
    let first = comparison.first.unwrap();
    assert_eq!((comparison.prefix, comparison.same, first.segment, first.other), (0, false, 1, true));
}

#[test]
fn a_retransmission_that_is_doubled_is_found_where_it_is() {
    let comparison = against(|trace| {
        let at = place(trace, 2, 2);
        trace.events.insert(at + 1, sent(55, 2, 3));
    });
    let first = comparison.first.unwrap();
    assert_eq!((comparison.prefix, comparison.sent, first.segment), (7, [11, 12], 8));
    assert_eq!(first.each[1].as_ref().unwrap().to_string(), "55.00 ms sends 2001:3001, time 3");
    assert_eq!(first.each[0].as_ref().unwrap().to_string(), "95.00 ms sends 6001:7001");
    let marked: Vec<_> = first.around.iter().filter(|row| row.parts).collect();
    assert_eq!(marked.len(), 2, "each at its place: {marked:?}");
    let beside = first.around.iter().filter(|row| row.each.iter().all(Option::is_some)).count();
    assert!(beside >= 8, "what is the same stands in one row: {:?}", first.around);
}

#[test]
fn a_side_that_ends_early_is_found_at_its_end() {
    let comparison = against(|trace| trace.events.truncate(trace.events.len() - 1));
    let first = comparison.first.unwrap();
    assert_eq!((comparison.prefix, first.segment, first.each[1].clone()), (10, 11, None));
}

#[test]
fn what_the_path_lost_on_one_side_alone_comes_before_all_else() {
    let comparison = against(|trace| {
        let at = place(trace, 4, 1);
        if let Passed::Sent { dropped, .. } = &mut trace.events[at].what {
            *dropped = Some("queue at a-b".to_owned());
        }
        trace.events.truncate(at + 3);
    });
    let first = comparison.first.unwrap();
    let says = "the path of kernel alone lost segment number 5 sent, queue at a-b";
    assert_eq!(first.cause.to_string(), says);
    let json = serde_json::to_value(&first).unwrap();
    assert_eq!((&json["cause"]["kind"], &json["cause"]["says"]), (&"path".into(), &says.into()));
}

#[test]
fn another_ack_another_window_or_another_wait_is_told() {
    let acks = against(|trace| {
        trace.events.retain(|e| *e != heard(54, 2, &[(segment(3).0, segment(4).1)]));
        let at = place(trace, 2, 2);
        trace.events.remove(at);
    });
    let Cause::Heard { number, each } = acks.first.unwrap().cause else { panic!("an ACK is missing") };
    assert_eq!((number, each[0].as_ref().unwrap().at), (4, Span::ms(54)));

    let window = against(|trace| {
        trace.windows.push(Window { at: Span::ms(90), cwnd: 3.0 * MSS as f64, ssthresh: 3e3 });
        trace.events.truncate(trace.events.len() - 2);
    });
    assert!(matches!(window.first.unwrap().cause, Cause::Window { cwnd: [6e3, 3e3], .. }));

    let wait = against(|trace| {
        let at = place(trace, 2, 2);
        trace.events[at].at = Span::ms(80);
    });
    let first = wait.first.unwrap();
    assert!(wait.same && !wait.in_time && !first.other);
    let waited = [Some(Span::ms(0)), Some(Span::ms(25))];
    assert_eq!(first.cause, Cause::Wait { waited });

    let late = against(|trace| {
        let from = place(trace, 6, 1) - 1;
        trace.events[from..].iter_mut().for_each(|e| e.at += Span::ms(30));
    });
    let at = [Some(Span::ms(95)), Some(Span::ms(125))];
    assert_eq!(late.first.unwrap().cause, Cause::Late { at });

    let unknown = against(|trace| {
        let at = place(trace, 9, 1);
        trace.events[at] = sent(95, 8, 2);
    });
    assert_eq!(unknown.first.unwrap().cause, Cause::Unknown);
}

#[test]
fn a_simulation_is_seen_whole_and_agrees_with_the_next_one() {
    let text = r#"
        duration = "20s"
        profile = "linux"
        [[link]]
        between = ["a", "b"]
        rate = "5Mbit/s"
        delay = "20ms"
        channel = { kind = "scripted", packets = [9] }
        channel_back = { kind = "scripted", packets = [20], counts = "all", does = "delay", by = "30ms" }
        [[flow]]
        from = "a"
        to = "b"
        sender = "sack-abc"
        app = { kind = "file", size = "60segments" }
    "#;
    let scenario = Document::parse("traced.toml", text).unwrap().scenario().unwrap();
    let run = || tapped(&Simulator).run(&scenario, false).unwrap();
    let [one, other] = [run(), run()].map(|outcome| Trace::of(&outcome, &scenario.flows[0]).unwrap());
    let comparison = Comparison::new(&one, &other);
    assert!(comparison.agrees(), "{comparison:?}");
    assert_eq!((comparison.prefix, one.mss), (61, 1448));
    assert!(one.opening.unwrap() > Span::ms(40) && one.opening.unwrap() < Span::ms(42));
    let lost: Vec<&Event> = one
        .sent()
        .map(|(_, e)| e)
        .filter(|e| matches!(&e.what, Passed::Sent { dropped: Some(_), .. }))
        .collect();
    assert_eq!(lost.len(), 1);
    assert!(one.window_at(Span::ms(300)).is_some());
    assert_eq!(one.late, Span::ZERO);
    let untapped = Simulator.run(&scenario, true).unwrap();
    assert_eq!(Trace::of(&untapped, &scenario.flows[0]), None);
}
