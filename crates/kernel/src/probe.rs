//! The prober of `truckee-probe`, and a server of our own to point it at.

pub use truckee_probe::{
    Conclusion, Confidence, Control, Cut, Family, Fault, Finding, Fingerprint, Hop, Identity, Observation,
    Options, PAUSE, Prober, Program, Reaction, Recovery, Repairs, Report, Retransmission, Rounds, Route,
    Second, Spread, Summary, Target, Test, TestFault, Trust, Unseen, Verdict, Watch, confine,
    confine_as_invoking, judge, summarise, work_as_owner_of,
};

#[cfg(live)]
mod local;

use crate::Error;

/// Probes the sender of a scenario's first flow as if it were a server elsewhere: one of our own, in a namespace, behind
/// the scenario's path, with the flow's congestion control and stack. The scenario's duration says nothing.
///
/// # Errors
/// What a kernel run refuses, it refuses too; this build has no live leg.
pub fn probe_flow(
    scenario: &truckee_scenario::Scenario,
    options: &Options,
    cancel: &truckee_scenario::Cancel,
) -> Result<Report, Error> {
    #[cfg(live)]
    return local::probe(scenario, options, cancel);
    #[cfg(not(live))]
    {
        let _ = (scenario, options, cancel);
        Err(Error::NotBuilt)
    }
}

#[cfg(live)]
#[cfg(test)]
mod live;
