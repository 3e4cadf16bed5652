//! What a run has made, and what became of it.

/// A sort of thing that a run makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A control group: with the processes in it, but for that of a program whose ACKs were shaped.
    Cgroup,
    /// A congestion control in the kernel.
    CongestionControl,
    /// A network interface outside the run's namespaces.
    Interface,
    /// A network namespace with all that is in it.
    Namespace,
    /// A pinned BPF object.
    Pin,
    /// A file in the folder of runs.
    File,
}

impl Kind {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Cgroup => "control group",
            Self::CongestionControl => "congestion control",
            Self::Interface => "interface",
            Self::Namespace => "network namespace",
            Self::Pin => "pinned BPF object",
            Self::File => "file",
        }
    }
}

/// Something a run has made.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Item {
    /// What it is.
    pub kind: Kind,
    /// Its name or path.
    pub name: String,
}

/// What became of one run.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Run {
    /// Its four hex digits.
    pub id: String,
    /// Whether its process lives: then nothing of it is touched.
    pub alive: bool,
    /// Its process and command line, as it wrote them down.
    pub command: String,
    /// What of it was there.
    #[serde(flatten)]
    pub swept: Swept,
}

/// What was done about the things of a run.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct Swept {
    /// Removed; or there, if nothing was to be removed.
    pub found: Vec<Item>,
    /// Could not be removed, and why.
    pub failed: Vec<(Item, String)>,
}
