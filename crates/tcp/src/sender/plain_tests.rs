//! Code that is written once is compiled twice, for when all is plain and for when it is not: what is done is the same.

use super::{Parts, Sender};
use crate::ack::AnyAckPolicy;
use crate::controller::AnyController;
use crate::profile::Profile;
use crate::recovery::AnyRecovery;
use crate::segment::Segment;
use crate::start::AnyStart;
use crate::{Arg, Receiver, Size, Spec, Stack, Time};
use std::collections::VecDeque;

/// Of a transfer over a path that loses, doubles and overtakes by number: when what left and what came back, and the window then.
fn conversation(profile: Profile, growth: &str, simple: bool) -> Vec<String> {
    let stack = profile.stack(Stack { rwnd: Size::Segments(60.0), handshake: false, ..Stack::default() });
    let composed = Spec::named("composed").with("growth", Arg::Name(growth.to_owned()));
    let parts = Parts {
        recovery: AnyRecovery::build(&profile.part(Spec::named("newreno"))).unwrap().0,
        controller: AnyController::build(&composed).unwrap().0,
        start: AnyStart::build(&Spec::named("slow-start")).unwrap().0,
    };
    let mut sender = Sender::new(&stack, parts);
    sender.simple &= simple;
    let policy = AnyAckPolicy::build(&profile.receiver().unwrap_or(Spec::named("every"))).unwrap().0;
    let mut receiver = Receiver::new(&stack, policy, sender.wants_sack());
    let mut there: VecDeque<(u64, Segment)> = VecDeque::new();
    let mut back: VecDeque<(u64, Segment)> = VecDeque::new();
    let (mut said, mut plain, mut count) = (Vec::new(), 0, 0u64);
    sender.open(Time::ZERO, &mut ());
    for step in 0..40_000u64 {
        let now = Time::us(step * 250);
        if step % 3000 == 0 {
            (0..(step / 3000 % 4)).for_each(|_| _ = sender.write(100_000 + step));
        }
        while back.front().is_some_and(|(at, _)| *at <= step) {
            let Some((_, segment)) = back.pop_front() else { break };
            plain += usize::from(sender.plain);
            sender.on_segment(now, &segment, &mut ());
            let w = sender.window();
            said.push(format!("{now:?} heard {:?} {} {}", segment.ack, w.cwnd, w.ssthresh));
        }
        if sender.deadline().is_some_and(|deadline| deadline <= now) {
            sender.on_timer(now, &mut ());
        }
        while let Some(sent) = sender.poll_transmit(now, &mut ()) {
            said.push(format!("{now:?} sent {:?} {}", sent.segment, sent.retransmission));
            count += 1;
            match count % 97 {
                11 | 13 => {}
                37 => there.extend([(step + 40, sent.segment), (step + 41, sent.segment)]),
                53 => there.push_back((step + 55, sent.segment)),
                _ => there.push_back((step + 40, sent.segment)),
            }
        }
        there.make_contiguous().sort_by_key(|(at, _)| *at);
        while there.front().is_some_and(|(at, _)| *at <= step) {
            let Some((_, segment)) = there.pop_front() else { break };
            receiver.on_segment(now, &segment, false, &mut ());
        }
        if receiver.deadline().is_some_and(|deadline| deadline <= now) {
            receiver.on_timer(now);
        }
        while let Some(ack) = receiver.poll_transmit(now) {
            back.push_back((step + 40, ack));
        }
    }
    assert!(said.len() > 1000 && (plain > 300) == simple, "{profile:?} {growth}: {} {plain}", said.len());
    said
}

#[test]
fn what_is_plain_does_what_is_done_where_nothing_is() {
    for profile in [Profile::Rfc, Profile::Linux, Profile::FreeBsd] {
        for growth in ["per-ack", "byte-counting", "linux", "cubic", "cubic-linux", "vegas"] {
            let both = [true, false].map(|simple| conversation(profile, growth, simple));
            let parts = both[0].iter().zip(&both[1]).position(|(plain, other)| plain != other);
            assert!(
                both[0] == both[1],
                "{profile:?} {growth}: {:?}",
                parts.map(|at| [&both[0][at], &both[1][at]])
            );
        }
    }
}
