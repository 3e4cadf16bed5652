//! A policy's numbers as the program reads them (`struct manner` of `bpf/layout.h`).

use super::Policy;
use super::policy::Adapting;
use truckee_tcp::Span;
use truckee_tcp::ack::Manner;

/// Bytes of one.
pub(super) const SIZE: usize = 40;

/// What the program is told; `aligned` and `adapts` are of the policy.
fn bytes(manner: &Manner, aligned: bool, adapts: Adapting) -> [u8; SIZE] {
    let small = |n: u64| u32::try_from(n).unwrap_or(u32::MAX).to_ne_bytes();
    let mut out = [0; SIZE];
    out[..8].copy_from_slice(&manner.wait.nanos().to_ne_bytes());
    out[8..12].copy_from_slice(&small(manner.covers));
    out[12..16].copy_from_slice(&small(manner.parts));
    out[16..20].copy_from_slice(&small(manner.first.unwrap_or(0)));
    let flags = [manner.cuts_holes, manner.minds_window, aligned];
    out[20..23].copy_from_slice(&flags.map(u8::from));
    out[23] = adapts as u8;
    out
}

/// What the program is told of one connection: from the ACK behind the number `since` (of the wire) on it does this, until
/// then what it did `before`.
pub(super) fn of_connection(manner: &Manner, since: u32, before: &Manner) -> [u8; SIZE] {
    let small = |n: u64| u32::try_from(n).unwrap_or(u32::MAX).to_ne_bytes();
    let mut out = bytes(manner, false, Adapting::Promptly);
    out[24..28].copy_from_slice(&since.to_ne_bytes());
    out[28..32].copy_from_slice(&small(before.covers));
    out[32..36].copy_from_slice(&small(before.parts));
    out
}

/// What the program is told of a policy before it has heard of a connection.
pub(super) fn of(policy: &Policy) -> [u8; SIZE] {
    let mut out = bytes(&policy.manner(), policy.is_aligned(), policy.adapting());
    out[36..40].copy_from_slice(&(policy.grain().ticks(Span::us(1)) as u32).to_ne_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lie_where_the_program_reads_them() {
        let manner = Manner {
            covers: 5,
            wait: Span::ns(7),
            parts: 3,
            first: Some(9),
            cuts_holes: true,
            minds_window: false,
        };
        let expected = [&7u64.to_ne_bytes()[..], &[5u32, 3, 9].map(u32::to_ne_bytes).concat(), &[1, 0, 0, 1]];
        let expected = expected.concat();
        assert_eq!(bytes(&manner, false, Adapting::Promptly)[..24], expected);
        let grain = |name: &str| {
            let told = of(&Policy::of(&truckee_tcp::Spec::named(name)).unwrap());
            u32::from_ne_bytes(told[36..40].try_into().unwrap())
        };
        assert_eq!(["accumulated", "accumulated-full", "taba"].map(grain), [1000, 0, 0]);
        let then = of_connection(&manner, 17, &Manner { covers: 2, parts: 1, ..manner });
        assert_eq!(then[..], [expected, [17u32, 2, 1, 0].map(u32::to_ne_bytes).concat()].concat());
    }
}
