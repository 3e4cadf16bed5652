//! Which congestion control of the kernel carries a scenario's sender.

use super::port::{Port, arg, member};
use crate::Error;
use truckee_scenario::model::Sender;
use truckee_tcp::estimate::WestwoodPlus;
use truckee_tcp::growth::AnyGrowth;
use truckee_tcp::response::AnyResponse;
use truckee_tcp::spec::Member;
use truckee_tcp::{Arg, Profile, Spec, Stack, preset};

/// What carries a sender in the kernel.
#[derive(Debug, Clone, PartialEq)]
pub enum Control {
    /// One that the kernel has, by its name there.
    Native(String),
    /// A BPF program of ours.
    Port(Port),
}

/// The control for `sender` in `stack`. What no kernel does is refused, with what could stand in its place.
///
/// Growth by bytes that halves is the kernel's `reno`, CUBIC its `cubic`, BBR its `bbr` and Westwood+ its
/// `westwood`; the rest are ports.
/// Recovery is the kernel's own in every case: reno, newreno and sack become what its settings make of it.
pub fn control_of(sender: &Sender, stack: &Stack) -> Result<Control, Error> {
    let refused = |why: String| Error::Refused { place: format!("sender \"{}\"", sender.label), why };
    check_recovery(&sender.recovery).map_err(refused)?;
    if let Some(controller) = &sender.controller {
        return Err(refused(format!(
            "the controller \"{}\" is not carried to the kernel; name growth and response, or use the engine sim",
            controller.name
        )));
    }
    if sender.pacing.name != "none" {
        return Err(refused(format!(
            "pacing \"{}\" is not carried to the kernel; leave it out, or use the engine sim",
            sender.pacing.name
        )));
    }
    if let Some(control) = native(sender, stack).map_err(refused)? {
        return Ok(control);
    }
    Port::of(&sender.growth, &sender.response, &sender.start, stack).map(Control::Port).map_err(refused)
}

fn check_recovery(recovery: &Spec) -> Result<(), String> {
    let again = matches!(arg(recovery, "second"), Some(Arg::Name(word)) if word == "timeout");
    match recovery.name.as_str() {
        "newreno" | "sack" | "rack" | "vegas" => Ok(()),
        "reno" if !again => Ok(()),
        other => Err(format!(
            "no Linux kernel recovers as \"{other}\"{}; newreno and sack are what it does without and with SACK",
            if again { " with second = \"timeout\"" } else { "" }
        )),
    }
}

/// A pair of growth and response that the kernel has itself, and what it is called there.
fn native(sender: &Sender, stack: &Stack) -> Result<Option<Control>, String> {
    let pair = (sender.growth.name.as_str(), sender.response.name.as_str());
    let (name, published) = match pair {
        ("byte-counting" | "linux", "halve") => ("reno", "sack-abc"),
        ("cubic", "cubic") => ("cubic", "cubic"),
        ("cubic-linux", "cubic-linux") => ("cubic", "cubic-linux"),
        ("bbr", "bbr") => ("bbr", "bbr"),
        ("bbr1", "bbr") => ("bbr", "bbr1"),
        ("byte-counting" | "linux", "to-estimate") if goes_by_westwood_plus(sender) => {
            ("westwood", "westwood-plus")
        }
        ("cubic" | "bbr", other) | (other, "cubic" | "bbr") => {
            return Err(format!(
                "the kernel's cubic and bbr have their own growth and response, and none by \"{other}\""
            ));
        }
        _ => return Ok(None),
    };
    let base = preset::find(published);
    let (growth, response) = base.map(|p| (p.growth(), p.response())).unwrap_or_default();
    // As it is by itself, or as the profile of this kernel has it.
    let published = |profile: Profile| {
        AnyGrowth::build(&profile.growth(growth.clone())).is_ok_and(|(_, spec)| spec == sender.growth)
            && AnyResponse::build(&profile.part(response.clone()))
                .is_ok_and(|(_, spec)| spec == sender.response)
    };
    let as_published = [Profile::Rfc, Profile::Linux].into_iter().any(published)
        && sender.start.name == "slow-start"
        && !stack.segment_from_acks;
    match (as_published, name) {
        // Its own port has the parameters.
        (false, "reno") => Ok(None),
        (false, _) => Err(format!("the kernel's {name} has no parameters; leave them at their defaults")),
        (true, _) => Ok(Some(Control::Native(name.to_owned()))),
    }
}

/// Whether its response goes by the estimator that the kernel's own module has.
fn goes_by_westwood_plus(sender: &Sender) -> bool {
    member(&sender.response, "estimator").is_some_and(|e| e.name == <WestwoodPlus as Member>::INFO.name)
}

#[cfg(test)]
mod tests;
