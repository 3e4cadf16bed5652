//! Where a sender's name does not mean the same in the simulator and in a Linux stack, and the simulation that comes
//! nearest to what the kernel is set to do.
//! Not for: how well the two then agree, which `truckee compare` measures.

use crate::model::{KernelStack, Scenario, Sender};
use truckee_tcp::Spec;
use truckee_tcp::recovery::AnyRecovery;

/// What a sender is in the kernel, but not by its definition.
pub(crate) struct Difference {
    /// What differs, in a clause.
    pub what: &'static str,
    /// The recovery with which the simulator does as the kernel does; `None`: there is none.
    recovery: Option<Spec>,
}

const SACK: &str = "the kernel's stack has SACK here, the definition has not";
const SACK_OF_VEGAS: &str =
    "the kernel's stack has SACK here, and repairs by it in place of Vegas' own retransmissions";
const BBR: &str = "the simulator's BBR is version 3 (draft-ietf-ccwg-bbr-06), the kernel's is version 1: mainline Linux \
                   has no other, and they differ in windows, rates and answers to loss";
const CUBIC: &str =
    "the simulator's CUBIC leaves slow start by HyStart++ (RFC 9406), the kernel's by its own HyStart";

/// All of them.
pub(crate) fn differences(kernel: &KernelStack, sender: &Sender) -> Vec<Difference> {
    let (mut found, told) = (Vec::new(), |what| Difference { what, recovery: None });
    if sender.native.is_some() {
        return found; // the simulator has none of that name
    }
    let recovery = sender.recovery.name.as_str();
    if kernel.has_sack(sender) && !sender.wants_sack() {
        let sack = AnyRecovery::build(&Spec::named("sack")).map(|(_, spec)| spec).ok();
        match recovery {
            "vegas" => found.push(told(SACK_OF_VEGAS)),
            _ => found.push(Difference { what: SACK, recovery: sack }),
        }
    }
    match sender.growth.name.as_str() {
        "bbr" => found.push(told(BBR)),
        "cubic" => found.push(told(CUBIC)),
        _ => {}
    }
    found
}

/// The scenario with each sender set as the kernel will be, as far as the simulator can be and `as_written` does not forbid
/// it; and what is to be known of the two, a sentence each.
pub fn alike(scenario: &Scenario, as_written: bool) -> (Scenario, Vec<String>) {
    let (mut set, mut notes) = (scenario.clone(), Vec::new());
    for flow in &mut set.flows {
        for Difference { what, recovery } in differences(&scenario.kernel, &flow.sender) {
            let mut note = format!("{} ({}): {what}", flow.name, flow.sender.label);
            if let Some(recovery) = recovery.filter(|_| !as_written) {
                let before = std::mem::replace(&mut flow.sender.recovery, recovery);
                note.push_str(&format!("; the simulator was given it too, in place of {}", before.name));
            }
            notes.push(note);
        }
    }
    (set, notes)
}

impl KernelStack {
    /// Whether the stack that carries this sender has SACK.
    pub fn has_sack(&self, sender: &Sender) -> bool {
        self.sack_with(&sender.recovery.name)
    }

    /// The same, by the name of the sender's recovery.
    pub fn sack_with(&self, recovery: &str) -> bool {
        self.sack.unwrap_or(self.era == crate::model::Era::Today || recovery == "sack")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Document;

    fn scenario(kernel: &str, sender: &str) -> Scenario {
        let text = format!(
            "duration = \"10s\"\nkernel = \"{kernel}\"\ntopology = {{ kind = \"single-link\", rate = \"1Mbit/s\" }}\n\
             [[flow]]\nname = \"download\"\nfrom = \"src\"\nto = \"dst\"\nsender = \"{sender}\"\n"
        );
        Document::parse("alike.toml", &text).and_then(|document| document.scenario()).expect("a scenario")
    }

    #[test]
    fn a_sender_without_sack_is_given_it_where_the_kernel_has_it() {
        let (set, notes) = alike(&scenario("today", "tibet"), false);
        assert_eq!(set.flows[0].sender.recovery.name, "sack");
        assert_eq!(set.flows[0].sender.response, scenario("today", "tibet").flows[0].sender.response);
        assert_eq!(
            notes,
            ["download (tibet): the kernel's stack has SACK here, the definition has not; \
              the simulator was given it too, in place of newreno"]
        );
    }

    #[test]
    fn nothing_is_changed_or_said_where_names_mean_the_same() {
        for (kernel, sender) in [("papers", "tibet"), ("papers", "newreno"), ("today", "sack")] {
            let asked = scenario(kernel, sender);
            assert_eq!(alike(&asked, false), (asked.clone(), vec![]), "{kernel}, {sender}");
        }
    }

    #[test]
    fn versions_and_starts_that_cannot_be_set_alike_are_told() {
        for (sender, word) in [("bbr", "version 1"), ("cubic", "HyStart++"), ("vegas", "Vegas' own")] {
            let asked = scenario("today", sender);
            let (set, notes) = alike(&asked, false);
            assert_eq!(set, asked);
            assert!(matches!(notes.as_slice(), [note] if note.contains(word)), "{sender}: {notes:?}");
        }
    }

    #[test]
    fn the_kernels_own_cubic_has_sack_in_every_era_as_the_definition_of_that_name_has() {
        for (sender, sack) in [("kernel:cubic", true), ("kernel:bbr", true), ("kernel:reno", false)] {
            let asked = scenario("papers", sender);
            assert_eq!(asked.kernel.has_sack(&asked.flows[0].sender), sack, "{sender}");
        }
    }
}
