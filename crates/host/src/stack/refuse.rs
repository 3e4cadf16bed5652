//! What of a flow's stack no kernel does, refused by the name of its key.

use crate::Error;
use truckee_scenario::model::Era;
use truckee_tcp::stack::{Ecn, RtoSamples};
use truckee_tcp::{Profile, Span, Spec, Stack};

const SECOND: Span = Span::s(1);
/// What a kernel's sockets take as TCP_MAXSEG (`TCP_MIN_MSS`, `MAX_TCP_WINDOW`), bytes.
const MSS: std::ops::RangeInclusive<u32> = 88..=32_767;

/// Refuses what no kernel does. What the profile `linux` sets, today's kernel does by itself, and what `papers` sets, one that
/// is set up as of the papers' time.
pub(super) fn what_no_kernel_does(era: Era, flow: &str, stack: &Stack, recovery: &str) -> Result<(), Error> {
    let reason = of_stack(era, stack).or_else(|| of_recovery(era, recovery));
    match reason {
        None => Ok(()),
        Some(why) => Err(Error::Refused { place: format!("flow \"{flow}\""), why }),
    }
}

fn of_stack(era: Era, stack: &Stack) -> Option<String> {
    let no = |why: &str| Some(why.to_owned());
    let time = |t: Span| format!("{} s", t.as_f64() / SECOND.as_f64());
    if stack.clock != Span::ZERO {
        return no("clock: the kernel has its own clock; leave it out, or run it on --engine sim");
    }
    if !stack.handshake {
        return no("handshake = false: a kernel's connections begin with one; leave it out");
    }
    if let Some(key) = of_no_kernel(era, stack) {
        return Some(format!(
            "{key}: a kernel has a rule of its own; leave it out, and a profile that sets it (it takes {}), or run it on \
             --engine sim",
            taken(era)
        ));
    }
    if stack.ecn == Ecn::Accurate {
        return no(
            "ecn = \"accurate\": up to Linux 6.18 no kernel asks for it (tcp_ecn = 3); leave it out, or run it on --engine sim",
        );
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
fn of_no_kernel(era: Era, stack: &Stack) -> Option<&'static str> {
    let rfc = Stack::default();
    // Each key by itself: a scenario may set back what the profile has set.
    let own = own_profile(era).stack(rfc.clone());
    let not_own: Vec<&str> = other(stack, &own).collect();
    // Offload and small queues are today's own; the papers' interfaces take segments one by one.
    let offload = [("tso", stack.tso), ("small_queues", stack.small_queues)];
    let offload = offload.into_iter().find_map(|(key, on)| (on && era == Era::Papers).then_some(key));
    other(stack, &rfc).find(|key| not_own.contains(key)).or(offload)
}

/// The profile whose rules are a kernel's own in an era.
fn own_profile(era: Era) -> Profile {
    match era {
        Era::Papers => Profile::Papers,
        Era::Today => Profile::Linux,
    }
}

/// Names of the profiles of which a kernel takes all in an era.
fn taken(era: Era) -> String {
    let takes = |profile: &Profile| {
        let stack = profile.stack(Stack::default());
        let recovery = profile.part(Spec::named("newreno")).name;
        of_no_kernel(era, &stack).is_none() && of_recovery(era, &recovery).is_none()
    };
    let names: Vec<&str> = Profile::ALL.iter().filter(|p| takes(p)).map(|p| p.info().name).collect();
    names.join(", ")
}

/// Those of these keys in which two stacks differ.
fn other(stack: &Stack, usual: &Stack) -> impl Iterator<Item = &'static str> {
    [
        ("limited_resends", stack.limited_resends != usual.limited_resends),
        // In any era a kernel times by departures and has a timer wheel: where a key says otherwise, that is for the simulator.
        (
            "rto_samples",
            stack.rto_samples == RtoSamples::OneAWindow && stack.rto_samples != usual.rto_samples,
        ),
        ("rto_tick", stack.rto_tick != usual.rto_tick),
        ("reduce_from", stack.reduce_from != usual.reduce_from),
        ("rwnd_autotuning", stack.rwnd_autotuning != usual.rwnd_autotuning),
        ("whole_ssthresh", stack.whole_ssthresh != usual.whole_ssthresh),
        ("repeated_reduction", stack.repeated_reduction != usual.repeated_reduction),
        ("dsack", stack.dsack != usual.dsack),
        ("linear_syn_timeouts", stack.linear_syn_timeouts != usual.linear_syn_timeouts),
        ("timers_age", stack.timers_age != usual.timers_age),
        ("syn_ack_timer", stack.syn_ack_timer != usual.syn_ack_timer),
        ("undo", stack.undo != usual.undo),
        ("rto_variance", stack.rto_variance != usual.rto_variance),
        ("after_idle", stack.after_idle != usual.after_idle),
        ("validate_window", stack.validate_window != usual.validate_window),
        ("window_validation", stack.window_validation != usual.window_validation),
        ("reduce_in_repair", stack.reduce_in_repair != usual.reduce_in_repair),
    ]
    .into_iter()
    .filter_map(|(key, other)| other.then_some(key))
}

fn of_recovery(era: Era, recovery: &str) -> Option<String> {
    let known =
        ["reno", "newreno", "sack", "vegas"].contains(&recovery) || (era == Era::Today && recovery == "rack");
    (!known)
        .then(|| format!("recovery \"{recovery}\": a kernel recovers as newreno or sack, or today as rack"))
}
