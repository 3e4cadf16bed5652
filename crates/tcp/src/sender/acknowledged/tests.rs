use super::*;
use crate::ack::AnyAckPolicy;
use crate::controller::AnyController;
use crate::recovery::AnyRecovery;
use crate::sender::Parts;
use crate::start::AnyStart;
use crate::{Receiver, SackBlocks, Size, Spec, Stack};

/// What nearly every ACK is not told to the recovery for, or told briefly: so little it would do.
#[test]
fn a_recovery_that_is_quiet_has_little_to_do_with_an_ack_of_new_data() {
    for member in AnyRecovery::MEMBERS {
        let stack = Stack { handshake: false, rwnd: Size::Segments(40.0), ..Stack::default() };
        let parts = Parts {
            recovery: AnyRecovery::build(&Spec::named(member.name)).unwrap().0,
            controller: AnyController::build(&Spec::named("composed")).unwrap().0,
            start: AnyStart::build(&Spec::named("slow-start")).unwrap().0,
        };
        let mut sender = Sender::new(&stack, parts);
        let policy = AnyAckPolicy::build(&Spec::named("every")).unwrap().0;
        let mut receiver = Receiver::new(&stack, policy, sender.wants_sack());
        sender.open(Time::ZERO, &mut ());
        sender.write(10_000_000);
        let (mut quiet, mut busy, mut held) = (0, 0, None);
        for step in 0u64..20_000 {
            let now = step * 10_000_000;
            if sender.deadline().is_some_and(|deadline| deadline <= Time::ns(now)) {
                sender.on_timer(Time::ns(now), &mut ());
            }
            let Some(sent) = sender.poll_transmit(Time::ns(now), &mut ()) else { continue };
            if step * 7919 % 31 == 0 {
                continue; // lost
            }
            if step % 17 == 0 && held.is_none() {
                held = Some(sent.segment); // overtaken
                continue;
            }
            for segment in [Some(sent.segment), held.take()].into_iter().flatten() {
                receiver.on_segment(Time::ns(now), &segment, false, &mut ());
            }
            while let Some(ack) = receiver.poll_transmit(Time::ns(now)) {
                if sender.recovery.quiet() && ack.sack.is_empty() && ack.ack > sender.t.out.una() {
                    quiet += 1;
                    assert_little_to_do(&sender, Time::ns(now), &ack, member.name);
                } else {
                    busy += 1;
                }
                sender.on_segment(Time::ns(now), &ack, &mut ());
            }
        }
        let is_ever = !["vegas-ns2", "sack1"].contains(&member.name);
        assert!(busy > 100 && (quiet > 1000) == is_ever, "{}: {quiet}, {busy}", member.name);
    }
}

/// To hear of it briefly comes to the same as to hear of it in full, whatever the last segment does then.
fn assert_little_to_do(sender: &Sender, now: Time, segment: &Segment, member: &str) {
    let (mut recovery, mut t) = (sender.recovery.clone(), sender.t.clone());
    let mut briefly = recovery.clone();
    assert_eq!(recovery.in_flight(&t), t.out.flight(), "{member}");
    assert_eq!((recovery.duplicates(), recovery.repairing(), recovery.holds(&t)), (0, false, false));
    assert_eq!((recovery.retransmission(&t), recovery.last_resort(&t)), (None, None), "{member}");
    let covered = (0..).map_while(|at| t.out.get(at).filter(|sent| sent.end <= segment.ack));
    covered.for_each(|sent| recovery.on_delivered(now, &sent, None, &t));
    let newly_acked = t.out.advance(segment.ack).bytes;
    briefly.on_quiet_advance(now, &t);
    let ack = Ack { now, ack: segment.ack, highest: t.out.max(), ..Ack::of_bytes(now, newly_acked) };
    let window = t.window;
    let advance = recovery.on_advance(&ack, &segment.sack, &mut t, &mut Report::to(&mut ()));
    assert_eq!(advance, Advance::ORDINARY, "{member}");
    assert_eq!((t.window, recovery.quiet()), (window, briefly.quiet()), "{member}");
    let after = |mut recovery: AnyRecovery| {
        let (mut t, mut blocks) = (t.clone(), SackBlocks::default());
        let armed = recovery.deadline(&t);
        if let Some(last) = t.out.get(t.out.len().wrapping_sub(1)).filter(|_| t.out.len() > 1) {
            blocks.push(ack.ack, last.seq, last.end);
        }
        let duplicate = Ack { newly_acked: 0, duplicate: true, ..ack };
        recovery.on_duplicate(&duplicate, &blocks, &mut t, &mut Report::to(&mut ()));
        let next = recovery.retransmission(&t);
        (armed, recovery.deadline(&t), next, format!("{:?}", t.out), t.window)
    };
    assert_eq!(after(recovery), after(briefly), "{member}");
}
