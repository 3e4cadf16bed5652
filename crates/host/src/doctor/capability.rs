//! What the live leg needs of a machine, or makes use of.

use crate::BUILT;
use serde::Serialize;

/// Something that a machine can do or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Capability {
    /// Linux.
    Linux,
    /// The live leg in this build.
    Built,
    /// The capabilities of root.
    Privileges,
    /// Network namespaces.
    Namespaces,
    /// TUN devices.
    Tun,
    /// The kernel's type information.
    Btf,
    /// Congestion controls in BPF.
    StructOps,
    /// Such that go when their loader does.
    StructOpsLink,
    /// BPF at the tracepoints of TCP.
    Tracing,
    /// BPF at an interface.
    Tc,
    /// The BPF program that shapes ACKs.
    Shaping,
    /// Control groups.
    Cgroup,
    /// Pinned BPF objects.
    Pins,
    /// Real-time priority.
    RealTime,
    /// What the kernel forbids even root.
    Lockdown,
    /// The kernel's own congestion controls.
    Controls,
    /// The kernel's own path emulator.
    Netem,
    /// The kernel's own pacing.
    Fq,
    /// The web server and the client of the application `web-page`.
    WebPage,
    /// The compiler that the live leg is built with.
    Clang,
    /// No leftovers of crashed runs.
    Leftovers,
}

impl Capability {
    /// All, in an order in which one needs only those before it.
    pub const ALL: &'static [Self] = &[
        Self::Linux,
        Self::Built,
        Self::Privileges,
        Self::Namespaces,
        Self::Tun,
        Self::Btf,
        Self::StructOps,
        Self::StructOpsLink,
        Self::Controls,
        Self::Tracing,
        Self::Tc,
        Self::Shaping,
        Self::Cgroup,
        Self::Pins,
        Self::RealTime,
        Self::Lockdown,
        Self::Netem,
        Self::Fq,
        Self::WebPage,
        Self::Clang,
        Self::Leftovers,
    ];

    /// What a table calls it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Linux => "Linux",
            Self::Built => "live leg built in",
            Self::Privileges => "root's capabilities",
            Self::Namespaces => "network namespaces",
            Self::Tun => "TUN devices",
            Self::Btf => "kernel type information (BTF)",
            Self::StructOps => "BPF congestion control",
            Self::StructOpsLink => "BPF congestion control by link",
            Self::Controls => "kernel congestion controls",
            Self::Tracing => "BPF at tracepoints",
            Self::Tc => "BPF at an interface (clsact)",
            Self::Shaping => "ACK shaping (BPF, tcx)",
            Self::Cgroup => "control groups (v2)",
            Self::Pins => "BPF file system",
            Self::RealTime => "real-time priority",
            Self::Lockdown => "kernel not locked down",
            Self::Netem => "netem",
            Self::Fq => "fq",
            Self::WebPage => "nginx and curl",
            Self::Clang => "clang",
            Self::Leftovers => "no leftovers",
        }
    }

    /// Whether the live leg cannot do without it.
    pub fn needed(self) -> bool {
        match self {
            Self::Linux | Self::Built | Self::Privileges | Self::Namespaces | Self::Tun => true,
            Self::Btf | Self::StructOps | Self::StructOpsLink | Self::Controls => true,
            Self::Clang => !BUILT,
            _ => false,
        }
    }

    /// What the live leg wants it for.
    pub fn purpose(self) -> &'static str {
        match self {
            Self::Linux | Self::Built | Self::Privileges => "everything live",
            Self::Namespaces => "the scenario's nodes",
            Self::Tun => "the path emulator",
            Self::Btf => "BPF compiled on another machine",
            Self::StructOps | Self::StructOpsLink => "the scenario's senders",
            Self::Controls => "senders of the kernel's own",
            Self::Tracing => "watching the kernel's own senders",
            Self::Tc => "ACK policies",
            Self::Shaping => "exec, shape",
            Self::Cgroup => "one program's traffic only",
            Self::Pins => "BPF that outlives its loader",
            Self::RealTime => "a steadier path emulator",
            Self::Lockdown => "BPF that reads the kernel's memory",
            Self::Netem | Self::Fq => "comparisons only",
            Self::WebPage => "web pages (app = web-page)",
            Self::Clang => "building the live leg",
            Self::Leftovers => "a machine as it was",
        }
    }
}
