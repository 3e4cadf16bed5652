//! The published ports by name, and what a list of a kernel's controls says: also known where there is no live leg.

/// A published sender that can be loaded by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Published {
    /// Its name in the kernel.
    pub name: &'static str,
    /// Its preset in a scenario.
    pub preset: &'static str,
}

const fn published(name: &'static str, preset: &'static str) -> Published {
    Published { name, preset }
}

/// Published senders and their names in the kernel, of which there is room for 15 bytes.
pub const PORTS: &[Published] = &[
    published("tk_newreno", "newreno"),
    published("tk_rfc2581", "rfc2581"),
    published("tk_capped", "capped"),
    published("tk_lp_vegas", "newreno-lp"),
    published("tk_lp_single", "newreno-lp(vegas-single)"),
    published("tk_lp_ncpld", "newreno-lp(ncpld)"),
    published("tk_lp_spike", "newreno-lp(spike)"),
    published("tk_lp_flipflop", "newreno-lp(flip-flop)"),
    published("tk_lp_random", "newreno-lp(random)"),
    published("tk_lp_congested", "newreno-lp(always-congested)"),
    published("tk_lp_wireless", "newreno-lp(always-wireless)"),
    published("tk_lp_highspeed", "newreno-lp+hstcp"),
    published("tk_tibet", "tibet"),
    published("tk_westwood1", "westwood-1"),
    published("tk_westwood2", "westwood-2"),
    published("tk_westwood3", "westwood-3"),
    published("tk_vegas", "vegas"),
    published("tk_highspeed", "hstcp"),
    published("tk_limited_ss", "limited-slow-start"),
];

/// Why a sender that goes by the predictor `ideal` cannot be had outside of a run.
pub const TOLD_BY_RUNS: &str = "its predictor \"ideal\" is told the cause of every loss, which only the path of a run \
    knows (truckee run --engine kernel); nobody could tell it of any other path";

/// The published port of that name, in the kernel or in a scenario.
pub fn find(name: &str) -> Option<&'static Published> {
    PORTS.iter().find(|p| p.name == name || p.preset == name)
}

/// Whose a congestion control is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The kernel's own, a module's, or another program's.
    Kernel,
    /// Loaded by `truckee cc load`.
    Installed,
    /// A truckee run's that is under way.
    Run,
}

/// A congestion control that a socket can ask for now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub owner: Owner,
}
