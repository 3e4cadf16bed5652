//! What this machine can do: each thing the live leg needs is tried, not only looked for.
//!
//! [`examine`] tries everything and says what mends what is missing; [`check`] is what every live command asks first,
//! for what it needs. What is made on the way belongs to a session of its own, and is gone afterwards.
//!
//! Not for: doing anything about what is missing.

mod capability;
mod finding;
mod mend;
#[cfg(live)]
pub(crate) mod trial;

pub use capability::Capability;
pub use finding::{State, Trial};

use crate::{BUILT, Error};
use finding::Finding;
use serde::Serialize;
use std::process::{Command, Stdio};

/// What came of trying one thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What.
    pub name: Capability,
    /// Whether it can be done.
    pub state: State,
    /// Whether the live leg cannot do without it.
    pub needed: bool,
    /// What was seen, in words.
    pub seen: String,
    /// What the live leg wants it for.
    pub purpose: &'static str,
    /// What mends it, if it does not work.
    pub mend: Option<String>,
}

/// What this machine can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Whether all that the live leg needs works.
    pub works: bool,
    /// Each thing.
    pub checks: Vec<Check>,
}

/// Tries everything, `more` included: a second or less.
pub fn examine(more: &[Trial]) -> Report {
    #[cfg(target_os = "linux")]
    let _rights = crate::rights::Raised::live();
    let checks: Vec<Check> =
        trials(Capability::ALL, more).map(|(name, finding)| conclude(name, finding)).collect();
    let works = checks.iter().all(|c| !c.needed || c.state == State::Works);
    Report { works, checks }
}

/// Tries what is needed, and fails with the first thing that is missing. What only one of `more` can try is missing without
/// it.
pub fn check(needs: &[Capability], more: &[Trial]) -> Result<(), Error> {
    if !BUILT {
        return Err(Error::NotBuilt);
    }
    #[cfg(target_os = "linux")]
    let _rights = crate::rights::Raised::live();
    for (name, finding) in trials(needs, more) {
        let Check { state, seen, mend, .. } = conclude(name, finding);
        if state != State::Works {
            let what = format!("{} cannot be had here: {seen}", name.words());
            return Err(Error::Missing { what, mend: mend.unwrap_or_default() });
        }
    }
    Ok(())
}

fn conclude(name: Capability, Finding { state, seen }: Finding) -> Check {
    let mend = (state != State::Works).then(|| mend::of(name));
    Check { name, state, needed: name.needed(), seen, purpose: name.purpose(), mend }
}

/// Tries these, one after the other.
fn trials(names: &[Capability], more: &[Trial]) -> impl Iterator<Item = (Capability, Finding)> {
    #[cfg(live)]
    let bench = trial::Bench::new(more);
    #[cfg(not(live))]
    let _ = more;
    names.iter().map(move |&name| {
        let finding = match name {
            Capability::Linux => linux(),
            Capability::Built if BUILT => Finding::works("yes"),
            Capability::Built => Finding::missing("built without it"),
            Capability::Clang => clang(),
            #[cfg(live)]
            other => bench.tries(other),
            #[cfg(not(live))]
            _ => Finding::untried("this build has no live leg to try it with"),
        };
        (name, finding)
    })
}

fn linux() -> Finding {
    if !cfg!(target_os = "linux") {
        return Finding::missing(std::env::consts::OS);
    }
    match std::fs::read_to_string("/proc/sys/kernel/osrelease") {
        Ok(release) => Finding::works(release.trim()),
        Err(error) => Finding::missing(format!("/proc/sys/kernel/osrelease: {error}")),
    }
}

/// The compiler that the build takes, and whether it compiles BPF.
fn clang() -> Finding {
    let clang = std::env::var_os("CLANG").unwrap_or_else(|| "clang".into());
    let name = clang.to_string_lossy();
    let targets = Command::new(&clang).arg("--print-targets").stderr(Stdio::null()).output();
    match targets {
        Ok(output) if String::from_utf8_lossy(&output.stdout).contains("bpf") => Finding::works(name),
        Ok(_) => Finding::missing(format!("{name} does not compile BPF")),
        Err(error) => Finding::missing(format!("{name}: {error}")),
    }
}

#[cfg(test)]
mod tests;
