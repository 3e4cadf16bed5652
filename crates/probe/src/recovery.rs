//! How a sender repairs losses, by two that were feigned in one window: a pure function of what was seen.
//!
//! After TBIT (Padhye and Floyd 2001, section 3.3), whose test this is but for one thing: between the first repair and its
//! ACK there is a pause, and after that ACK there are no more duplicates. What then repairs the second loss has been
//! caused by that ACK alone, and not by more duplicates.
//!
//! | first repair | second repair | it is |
//! |---|---|---|
//! | by the timer | | Tahoe without fast retransmit |
//! | by duplicates | before the partial ACK, by SACK | SACK |
//! | by duplicates | on the partial ACK, with what follows it | Tahoe |
//! | by duplicates | on the partial ACK, alone | NewReno |
//! | by duplicates | later; the duplicates released new data | Reno |
//!
//! Not for: measuring (see `super::identify`).

use super::identity::{Finding, Recovery, Repairs, Second};

/// What a timer waits beside a round trip, at least, is 200 ms (Linux); half of that tells it from duplicates, s.
pub const IN_TIME_S: f64 = 0.1;
/// Duplicates that a fast retransmit takes (RFC 5681).
const THRESHOLD: u32 = 3;

/// What one connection says, and why.
fn one(r: &Repairs) -> (Option<Recovery>, String) {
    let Some(first_s) = r.first_s else {
        let few = format!("{} duplicate ACKs, and a fast retransmit takes {THRESHOLD}", r.duplicates);
        return (None, few);
    };
    let ms = |s: f64| format!("{:.0} ms", 1e3 * s);
    if first_s > r.rtt_s + IN_TIME_S {
        return (
            Some(Recovery::TahoeNofr),
            format!("the first repair came {} after three duplicates", ms(first_s)),
        );
    }
    match (r.second, r.again, r.new_segments) {
        (Second::Unasked, _, _) if r.sack => (Some(Recovery::Sack), "both repairs came by SACK blocks".into()),
        (Second::Unasked, ..) => (None, "both losses were repaired where no ACK told of the second".into()),
        (Second::OnPartialAck, 0, _) => {
            (Some(Recovery::Newreno), "the partial ACK brought the second repair, and no more".into())
        }
        (Second::OnPartialAck, again, _) => {
            (Some(Recovery::Tahoe), format!("the partial ACK brought the second repair and {again} segments that had come"))
        }
        (Second::Later, _, 0) => (
            None,
            "the partial ACK brought nothing, and the duplicates had brought no new data: a window that a buffer bounds hides whether it is Reno".into(),
        ),
        (Second::Later, _, new) => {
            (Some(Recovery::Reno), format!("duplicates brought {new} new segments, the partial ACK no repair"))
        }
    }
}

/// What all connections of a kind say.
pub fn recovery(all: &[&Repairs]) -> Finding<Recovery> {
    let each: Vec<_> = all.iter().map(|r| one(r)).collect();
    let said: Vec<_> = each.iter().map(|(is, _)| (*is, None)).collect();
    let mut evidence: Vec<String> = each.into_iter().map(|(_, why)| why).collect();
    evidence.dedup();
    if evidence.is_empty() {
        evidence.push("no connection showed anything".into());
    }
    Finding::of(&said, evidence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Confidence;

    fn repairs(first_s: Option<f64>, second: Second, again: u32, new_segments: u32) -> Repairs {
        let (repetition, rtt_s, mss) = (1, 0.05, 536);
        Repairs { repetition, rtt_s, mss, sack: false, duplicates: 9, first_s, new_segments, second, again }
    }

    #[test]
    fn each_way_to_repair_is_named_and_what_shows_none_is_not() {
        let cases = [
            (repairs(Some(1.2), Second::OnPartialAck, 1, 0), Some(Recovery::TahoeNofr)),
            (repairs(Some(0.05), Second::OnPartialAck, 1, 0), Some(Recovery::Tahoe)),
            (repairs(Some(0.05), Second::OnPartialAck, 0, 4), Some(Recovery::Newreno)),
            (repairs(Some(0.05), Second::Later, 0, 4), Some(Recovery::Reno)),
            (repairs(Some(0.05), Second::Later, 0, 0), None),
            (repairs(Some(0.05), Second::Unasked, 0, 4), None),
            (Repairs { sack: true, ..repairs(Some(0.05), Second::Unasked, 0, 4) }, Some(Recovery::Sack)),
            (
                Repairs { sack: true, ..repairs(Some(0.05), Second::OnPartialAck, 0, 4) },
                Some(Recovery::Newreno),
            ),
            (repairs(None, Second::Later, 0, 0), None),
        ];
        for (seen, is) in cases {
            assert_eq!(one(&seen).0, is, "{seen:?}");
        }
    }

    #[test]
    fn most_repetitions_decide_and_the_others_lower_the_confidence() {
        let reno = repairs(Some(0.05), Second::Later, 0, 4);
        let newreno = repairs(Some(0.05), Second::OnPartialAck, 0, 4);
        let found = recovery(&[&reno, &newreno, &newreno]);
        assert_eq!((found.is, found.runner_up), (Some(Recovery::Newreno), Some(Recovery::Reno)));
        assert_eq!((found.confidence, found.agreeing, found.judged), (Confidence::Fair, 2, 3));
        assert_eq!(recovery(&[]).is, None);
    }
}
