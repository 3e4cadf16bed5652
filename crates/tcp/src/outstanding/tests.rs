use super::*;

fn five() -> Outstanding {
    let mut out = Outstanding::new(Seq::FIRST);
    (0..5).for_each(|t| {
        out.push(Time::ns(t), 100, false);
    });
    out
}

#[test]
fn an_advance_reports_the_newest_segment_covered_whole() {
    let mut out = five();
    let covered = out.advance(Seq::at(251));
    assert_eq!(
        covered,
        Covered {
            bytes: 250,
            newest_sent: Some(Time::ns(1)),
            resent: false,
            once: Some((Time::ZERO, Time::ns(1)))
        }
    );
    assert_eq!((out.una(), out.flight(), out.get(0).map(|s| s.seq)), (Seq::at(251), 250, Some(Seq::at(251))));
}

#[test]
fn a_go_back_sends_everything_again_in_order() {
    let mut out = five();
    out.go_back();
    assert_eq!(out.flight(), 0);
    assert_eq!(out.resend(Time::ns(9)).map(|s| (s.seq, s.sent)), Some((Seq::FIRST, Time::ns(9))));
    assert!(out.advance(Seq::at(301)).resent);
    assert_eq!(out.to_resend().map(|s| s.seq), Some(Seq::at(301)), "an ACK beyond nxt moves it along");
    out.go_on();
    assert_eq!((out.to_resend(), out.flight()), (None, 200));
}

#[test]
fn pipe_counts_what_is_in_the_air() {
    let mut out = five();
    out.mark_sacked(4);
    out.mark_sacked(2);
    assert_eq!(out.pipe(), 300);
    out.mark_lost(0);
    out.mark_lost(2); // sacked: cannot be lost
    assert_eq!(out.pipe(), 200);
    out.repair(0, Time::ns(7));
    assert_eq!(out.pipe(), 300);
    out.lose_latest(0);
    assert_eq!((out.pipe(), out.lost_ever()), (200, 200));
    out.repair(0, Time::ns(8));
    out.lose_all();
    assert_eq!(out.pipe(), 0);
    out.lose_none();
    assert_eq!((out.pipe(), out.lost_ever()), (300, 400));
    out.advance(Seq::at(501));
    assert_eq!((out.pipe(), out.is_empty()), (0, true));
}
