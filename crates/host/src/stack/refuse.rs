//! What of a flow's stack no kernel does, refused by the name of its key.

use crate::Error;
use truckee_tcp::{Span, Stack};

const SECOND: Span = Span::s(1);
/// What a kernel's sockets take as TCP_MAXSEG (`TCP_MIN_MSS`, `MAX_TCP_WINDOW`), bytes.
const MSS: std::ops::RangeInclusive<u32> = 88..=32_767;

/// Refuses what no kernel does.
pub(super) fn what_no_kernel_does(flow: &str, stack: &Stack, recovery: &str) -> Result<(), Error> {
    let reason = of_stack(stack).or_else(|| of_recovery(recovery));
    match reason {
        None => Ok(()),
        Some(why) => Err(Error::Refused { place: format!("flow \"{flow}\""), why }),
    }
}

fn of_stack(stack: &Stack) -> Option<String> {
    let no = |why: &str| Some(why.to_owned());
    let time = |t: Span| format!("{} s", t.as_f64() / SECOND.as_f64());
    if stack.clock != Span::ZERO {
        return no("clock: the kernel has its own clock; leave it out, or run it on --engine sim");
    }
    if !stack.handshake {
        return no("handshake = false: a kernel's connections begin with one; leave it out");
    }
    if let Some(key) = other_than_rfc(stack) {
        return Some(format!(
            "{key}: a kernel has a rule of its own; leave it out, and a profile that sets it, or run it on --engine sim"
        ));
    }
    if stack.segment_from_acks {
        return no(
            "segment_from_acks: no kernel sends smaller segments for smaller ACKs; only --engine sim does",
        );
    }
    if stack.ack_rate_request != 0 {
        return no("ack_rate_request: no kernel knows the option; only --engine sim does");
    }
    if stack.initial_rto != SECOND {
        return Some(format!("initial_rto is {}: a kernel's first timeout is 1 s", time(stack.initial_rto)));
    }
    if !(SECOND..=120 * SECOND).contains(&stack.max_rto) {
        return Some(format!("max_rto is {}: a kernel takes 1 s to 120 s", time(stack.max_rto)));
    }
    if !MSS.contains(&(stack.mss + 12)) || !MSS.contains(&stack.mss) {
        return Some(format!(
            "mss is {} bytes: a kernel takes {} to {}",
            stack.mss,
            MSS.start(),
            MSS.end() - 12
        ));
    }
    None
}

/// A key of the timeout or of the reduction that is set to what no kernel does, as the profile ns-2 sets them all.
fn other_than_rfc(stack: &Stack) -> Option<&'static str> {
    let rfc = Stack::default();
    [
        ("limited_resends", stack.limited_resends != rfc.limited_resends),
        ("rto_samples", stack.rto_samples != rfc.rto_samples),
        ("rto_tick", stack.rto_tick != rfc.rto_tick),
        ("reduce_from", stack.reduce_from != rfc.reduce_from),
        ("whole_ssthresh", stack.whole_ssthresh != rfc.whole_ssthresh),
        ("repeated_reduction", stack.repeated_reduction != rfc.repeated_reduction),
        ("dsack", stack.dsack != rfc.dsack),
        ("syn_ack_timer", stack.syn_ack_timer != rfc.syn_ack_timer),
        ("undo", stack.undo != rfc.undo),
        ("rto_variance", stack.rto_variance != rfc.rto_variance),
        ("after_idle", stack.after_idle != rfc.after_idle),
        ("validate_window", stack.validate_window != rfc.validate_window),
    ]
    .into_iter()
    .find_map(|(key, other)| other.then_some(key))
}

fn of_recovery(recovery: &str) -> Option<String> {
    let known = ["reno", "newreno", "sack", "vegas"].contains(&recovery);
    (!known).then(|| format!("recovery \"{recovery}\": a kernel recovers as newreno or sack"))
}
