//! What a way is made of.

/// One step on a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hop {
    /// A link, in one direction: a packet's departure is known when it is accepted.
    Link {
        /// Index of the link.
        link: usize,
        /// Whether it is crossed from its first node to its second.
        forward: bool,
    },
    /// A medium that is shared: when a packet leaves, and whether it arrives, hangs on what others do.
    Medium {
        /// Index of the medium.
        medium: usize,
        /// The station that sends, by its place on the medium.
        from: usize,
        /// The station that receives.
        to: usize,
    },
}

impl Hop {
    /// A direction of a link: of link k number 2k is forward, 2k + 1 back.
    pub(super) fn of(direction: u32) -> Self {
        Self::Link { link: direction as usize / 2, forward: direction.is_multiple_of(2) }
    }

    /// The number of the direction of a link; `None`: it is none.
    pub fn direction(self) -> Option<u32> {
        match self {
            Self::Link { link, forward } => Some(2 * link as u32 + u32::from(!forward)),
            Self::Medium { .. } => None,
        }
    }

    /// The same step the other way.
    pub fn reversed(self) -> Self {
        match self {
            Self::Link { link, forward } => Self::Link { link, forward: !forward },
            Self::Medium { medium, from, to } => Self::Medium { medium, from: to, to: from },
        }
    }
}

/// The same way back.
pub fn backwards(way: &[Hop]) -> Vec<Hop> {
    way.iter().rev().map(|hop| hop.reversed()).collect()
}
