//! A policy's numbers as the program reads them.

use super::Policy;
use super::layout::manner;
use super::policy::Adapting;
use truckee_tcp::Span;
use truckee_tcp::ack::Manner;

fn small(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// What the program is told; `aligned` and `adapts` are of the policy.
fn told(does: &Manner, aligned: bool, adapts: Adapting) -> manner {
    manner {
        wait: does.wait.nanos(),
        covers: small(does.covers),
        parts: small(does.parts),
        first: small(does.first.unwrap_or(0)),
        cuts_holes: does.cuts_holes.into(),
        minds_window: does.minds_window.into(),
        aligned: aligned.into(),
        adapts: adapts.number(),
        ..manner::default()
    }
}

/// What the program is told of one connection: from the ACK behind the number `since` (of the wire) on it does this, until
/// then what it did `before`.
pub(super) fn of_connection(does: &Manner, since: u32, before: &Manner) -> manner {
    manner {
        since,
        covers_before: small(before.covers),
        parts_before: small(before.parts),
        ..told(does, false, Adapting::Promptly)
    }
}

/// What the program is told of a policy before it has heard of a connection.
pub(super) fn of(policy: &Policy) -> manner {
    let grain_us = policy.grain().ticks(Span::us(1)) as u32;
    manner { grain_us, ..told(&policy.manner(), policy.is_aligned(), policy.adapting()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_told_in_numbers() {
        let does = Manner {
            covers: 5,
            wait: Span::ns(7),
            parts: 3,
            first: Some(9),
            cuts_holes: true,
            minds_window: false,
        };
        let told = of_connection(&does, 17, &Manner { covers: 2, parts: 1, ..does });
        assert_eq!((told.wait, told.covers, told.parts, told.first), (7, 5, 3, 9));
        assert_eq!((told.cuts_holes, told.minds_window, told.aligned, told.adapts), (1, 0, 0, 1));
        assert_eq!((told.since, told.covers_before, told.parts_before, told.grain_us), (17, 2, 1, 0));
        let grain = |name: &str| of(&Policy::of(&truckee_tcp::Spec::named(name)).unwrap()).grain_us;
        assert_eq!(["accumulated", "accumulated-full", "taba"].map(grain), [1000, 0, 0]);
    }
}
