//! RACK: a segment is lost if one that was sent later has come, and enough time has passed for it to have been overtaken.
//! Not for: what is done about it, nor for choosing when nothing comes back at all.

use crate::outstanding::{Outstanding, Sent};
use crate::{Ack, Seq, Span, Time, Transmission};

/// Recoveries without a duplicate SACK after which the window is as at first (RFC 8985, section 6.2, step 4).
const PERSISTENCE: u32 = 16;

/// The newest transmission known to have come.
#[derive(Debug, Clone, Copy)]
struct Newest {
    number: Transmission,
    rtt: Span,
}

/// Segments that one is taken to be overtaken by at first, and at the most (net.ipv4.tcp_reordering, tcp_max_reordering).
const REORDERING: u32 = 3;
const MOST_REORDERING: u32 = 300;

/// What RACK keeps (RFC 8985, section 5.3).
#[derive(Debug, Clone, Default)]
pub(super) struct Detector {
    newest: Option<Newest>,
    /// RACK.fack: one after the highest number known to have come.
    fack: Seq,
    /// RACK.reordering_seen.
    reordered: bool,
    /// Whether any was seen before the ACK at hand.
    known: bool,
    /// The first of what was overtaken just now, and by how many segments any was at the most (none: three).
    late: Option<Seq>,
    reordering: Option<u32>,
    /// A report of what came twice that nothing delivered has followed yet, under Linux' rules.
    reported: bool,
    /// What left last of what has come with the ACK at hand.
    latest: Option<Transmission>,
    /// RACK.dsack_round, and what left first after it began.
    round: Option<(Seq, Transmission)>,
    /// RACK.reo_wnd_mult − 1.
    widened: u32,
    /// RACK.reo_wnd_persist.
    persists: u32,
    /// RACK.reo_wnd.
    window: Span,
}

/// What the reordering window hangs on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Circumstances {
    pub rtt_min: Option<Span>,
    pub srtt: Option<Span>,
    /// A loss is being repaired, or as many segments are reported as mean one.
    pub losing: bool,
}

/// Whether one transmission left before another, of which fewer than 2³¹ are in the air. The RFC compares times, and in
/// segments of one time their numbers (RACK_sent_after).
pub(super) fn left_before(one: Transmission, other: Transmission) -> bool {
    (one.0.wrapping_sub(other.0) as i32) < 0
}

impl Detector {
    /// A segment has come that had not been known to (steps 2 and 3). Whether it tells a round-trip time.
    pub(super) fn on_delivered(
        &mut self,
        now: Time,
        sent: &Sent,
        echo: Option<Time>,
        rtt_min: Option<Span>,
    ) -> bool {
        if self.latest.is_none_or(|latest| left_before(latest, sent.number)) {
            self.latest = Some(sent.number);
        }
        if sent.end > self.fack {
            self.fack = sent.end;
        } else if sent.end < self.fack && !sent.is_resent() {
            self.on_reordered(sent.seq);
        }
        let rtt = now.saturating_sub(sent.sent);
        // The original may have come, and not what was sent since.
        let of_original = echo.is_some_and(|echo| echo < sent.sent) || rtt_min.is_some_and(|min| rtt < min);
        if sent.is_resent() && of_original {
            return false;
        }
        if self.newest.is_none_or(|newest| left_before(newest.number, sent.number)) {
            self.newest = Some(Newest { number: sent.number, rtt });
        }
        true
    }

    /// RACK.rtt.
    pub(super) fn rtt(&self) -> Option<Span> {
        self.newest.map(|newest| newest.rtt)
    }

    /// RACK.rtt is this, if anything.
    pub(super) fn set_rtt(&mut self, rtt: Option<Span>) {
        if let (Some(newest), Some(rtt)) = (&mut self.newest, rtt) {
            newest.rtt = rtt;
        }
    }

    /// The same of all that an ACK covers where nothing is missing and nothing under way was sent again, as nearly always. Then
    /// what is under way has left after all that has come, and any number below its own tells that.
    #[inline]
    pub(super) fn on_next(&mut self, now: Time, out: &Outstanding) {
        debug_assert!(out.una() >= self.fack);
        self.fack = out.una();
        if let Some(sent) = out.last_covered_once() {
            self.newest = Some(Newest { number: out.number_below(), rtt: now.saturating_sub(sent) });
        }
    }

    /// Adapts what the reordering window hangs on (step 4), once a round: until something is acknowledged that left after the last time.
    pub(super) fn adapt(&mut self, ack: &Ack, out: &Outstanding) {
        self.latest = None;
        if ack.dsack.is_some() && self.round.is_none_or(|(round, _)| out.una() >= round) {
            self.widen(out);
        }
    }

    /// The same under Linux' rules (6.18, `tcp_dsack_seen`, `tcp_rack_update_reo_wnd`): reports mean nothing where no reordering was
    /// seen before, or where it is not what was sent again (`tells`), and are heeded with the next ACK that delivers anything. Once a round
    /// is until something comes that left after the last time, whether it is acknowledged or reported.
    pub(super) fn adapt_as_linux(&mut self, tells: bool, out: &Outstanding) {
        self.reported |= tells && self.known;
        self.known = self.reordered;
        if let Some(latest) = self.latest.take()
            && std::mem::take(&mut self.reported)
            && self.round.is_none_or(|(_, first)| !left_before(latest, first))
        {
            self.widen(out);
        }
    }

    fn widen(&mut self, out: &Outstanding) {
        self.round = Some((out.nxt(), out.next_number()));
        self.widened = self.widened.saturating_add(1);
        self.persists = PERSISTENCE;
    }

    /// Whether the next ACK that delivers anything widens the reordering window.
    pub(super) fn is_told(&self) -> bool {
        self.reported
    }

    /// The reordering window as things are: to be asked for before what it decides.
    pub(super) fn settle(&mut self, now: &Circumstances) {
        let quarter = now.rtt_min.unwrap_or(Span::ZERO) / 4;
        self.window = match self.reordered || !now.losing {
            false => Span::ZERO,
            true => quarter.saturating_mul(u64::from(self.widened) + 1).min(now.srtt.unwrap_or(Span::MAX)),
        };
    }

    /// The segment of this number was overtaken.
    pub(super) fn on_reordered(&mut self, seq: Seq) {
        self.reordered = true;
        self.late = Some(self.late.map_or(seq, |late| late.min(seq)));
    }

    /// How far what was overtaken just now lies behind the `highest` that has come (`tcp_check_sack_reordering`).
    pub(super) fn measure(&mut self, highest: Seq, mss: f64) {
        if let Some(late) = self.late.take().filter(|&late| late < highest) {
            let segments = libm::ceil((highest - late) as f64 / mss) as u32;
            self.reordering = Some(self.reordering().max(segments.min(MOST_REORDERING)));
        }
    }

    /// By how many segments one may be overtaken without having been lost.
    pub(super) fn reordering(&self) -> u32 {
        self.reordering.unwrap_or(REORDERING)
    }

    /// So many were overtaken, and it was a timeout's doing.
    pub(super) fn forget_reordering(&mut self) {
        self.reordering = self.reordering.map(|known| known.min(REORDERING));
    }

    /// A recovery has ended.
    pub(super) fn on_recovered(&mut self) {
        self.persists = self.persists.saturating_sub(1);
        if self.persists == 0 {
            self.widened = 0;
        }
    }

    /// When a transmission that has not come is lost; none: nothing that left after it has come (step 5).
    pub(super) fn lost_at(&self, sent: &Sent) -> Option<Time> {
        let newest = self.newest.filter(|newest| left_before(sent.number, newest.number))?;
        Some(sent.sent + newest.rtt + self.window)
    }

    /// Whether a segment may still be on its way when the timer goes off (section 6.3, RACK_mark_losses_on_RTO).
    pub(super) fn may_come(&self, now: Time, sent: &Sent) -> bool {
        self.newest.is_some_and(|newest| sent.sent + newest.rtt + self.window > now)
    }

    /// RACK.reo_wnd.
    #[cfg(test)]
    pub(super) fn window(&self) -> Span {
        self.window
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outstanding::marks;

    const MS: Span = Span::ms(1);
    const QUIET: Circumstances =
        Circumstances { rtt_min: Some(Span::ms(100)), srtt: Some(Span::ms(120)), losing: false };
    const LOSING: Circumstances = Circumstances { losing: true, ..QUIET };

    /// Segment `k` of 1000 bytes, sent at that time as that transmission.
    fn segment(k: u64, at: u64, number: u32, marks: u8) -> Sent {
        let seq = Seq::at(1 + 1000 * k);
        Sent { seq, end: seq + 1000, sent: Time::ms(at), number: Transmission(number), marks, first: None }
    }

    fn ack(dsack: bool) -> Ack {
        let dsack = dsack.then_some((Seq::at(1), Seq::at(1001)));
        Ack { dsack, ..Ack::of_bytes(Time::ms(0), 0) }
    }

    /// Ten segments are in the air, from `una` on.
    fn in_the_air(una: u64) -> Outstanding {
        let mut out = Outstanding::new(Seq::at(una));
        (0..10).for_each(|_| _ = out.push(Time::ZERO, 1000, false));
        out
    }

    fn adapted(detector: &mut Detector, una: u64, dsack: bool) -> Span {
        detector.adapt(&ack(dsack), &in_the_air(una));
        detector.settle(&QUIET);
        detector.window()
    }

    #[test]
    fn what_left_before_something_that_has_come_is_lost_a_round_trip_and_the_window_after_it_left() {
        let mut detector = Detector::default();
        detector.on_delivered(Time::ms(110), &segment(2, 10, 2, 0), None, Some(100 * MS));
        detector.settle(&QUIET);
        assert_eq!(detector.lost_at(&segment(1, 5, 1, 0)), Some(Time::ms(130)), "5 + 100 + 100/4");
        assert_eq!(detector.lost_at(&segment(3, 10, 3, 0)), None, "left later, if at the same time");
        detector.settle(&LOSING);
        assert_eq!(detector.lost_at(&segment(1, 5, 1, 0)), Some(Time::ms(105)), "no reordering was seen");
    }

    #[test]
    fn the_round_trip_may_be_anothers_than_of_what_left_last() {
        let mut detector = Detector::default();
        assert!(detector.on_delivered(Time::ms(300), &segment(2, 200, 2, 0), None, Some(100 * MS)));
        detector.set_rtt(Some(250 * MS));
        detector.settle(&QUIET);
        assert_eq!(detector.lost_at(&segment(1, 50, 1, 0)), Some(Time::ms(325)), "50 + 250 + 100/4");
    }

    #[test]
    fn what_comes_in_order_says_the_same_told_briefly_or_not() {
        let (mut brief, mut whole) = (Detector::default(), Detector::default());
        let mut out = Outstanding::new(Seq::FIRST);
        (0..5).for_each(|k| _ = out.push(Time::ms(k), 1000, false));
        for k in 0..3 {
            let (now, sent) = (Time::ms(100 + k), out.get(0).unwrap());
            out.advance(sent.end);
            brief.on_next(now, &out);
            whole.on_delivered(now, &sent, None, None);
            whole.latest = None; // as with each ACK
        }
        assert_eq!(format!("{brief:?}"), format!("{whole:?}"));
    }

    #[test]
    fn an_original_that_comes_behind_what_followed_it_shows_reordering() {
        let mut detector = Detector::default();
        detector.on_delivered(Time::ms(110), &segment(2, 10, 2, 0), None, None);
        detector.on_delivered(Time::ms(111), &segment(0, 10, 9, marks::RESENT), None, None);
        detector.settle(&LOSING);
        assert_eq!(detector.window(), Span::ZERO, "a retransmission does not");
        detector.on_delivered(Time::ms(112), &segment(1, 9, 1, 0), None, None);
        detector.settle(&LOSING);
        assert_eq!(detector.window(), 25 * MS);
    }

    #[test]
    fn how_far_a_segment_was_overtaken_is_remembered_until_a_timeout_comes_of_it() {
        let mut detector = Detector::default();
        assert_eq!(detector.reordering(), 3);
        detector.on_delivered(Time::ms(110), &segment(9, 10, 9, 0), None, None);
        detector.on_delivered(Time::ms(111), &segment(2, 9, 2, 0), None, None);
        detector.measure(Seq::at(10_001), 1000.0);
        assert_eq!(detector.reordering(), 8, "segments 2 to 9");
        detector.measure(Seq::at(90_001), 1000.0);
        assert_eq!(detector.reordering(), 8, "nothing was overtaken just now");
        detector.forget_reordering();
        assert_eq!(detector.reordering(), 3);
    }

    #[test]
    fn under_linux_reports_count_where_there_was_reordering_and_with_the_next_delivery() {
        let out = in_the_air(1);
        for (reordered, tells, wider) in [(false, true, false), (true, false, false), (true, true, true)] {
            let mut detector = Detector { reordered: true, known: reordered, ..Detector::default() };
            detector.settle(&QUIET);
            assert_eq!(detector.window(), 25 * MS);
            detector.adapt_as_linux(tells, &out);
            detector.settle(&QUIET);
            assert!(detector.window() <= 25 * MS, "it brought nothing new");
            detector.on_delivered(Time::ms(1), &segment(0, 0, 0, 0), None, None);
            detector.adapt_as_linux(false, &out);
            detector.settle(&QUIET);
            assert_eq!(detector.window() > 25 * MS, wider, "{reordered} {tells}");
        }
    }

    #[test]
    fn under_linux_a_round_is_over_when_something_comes_that_left_after_it_began() {
        let mut detector = Detector { reordered: true, known: true, ..Detector::default() };
        let out = in_the_air(1);
        for (number, window) in [(3, 50), (9, 50), (10, 75)] {
            detector.on_delivered(Time::ms(1), &segment(number, 0, number as u32, 0), None, None);
            detector.adapt_as_linux(true, &out);
            detector.settle(&QUIET);
            assert_eq!(detector.window(), window * MS, "{number}");
        }
    }

    #[test]
    fn what_was_sent_again_says_nothing_where_its_original_may_have_come() {
        for (echo, came, counts) in
            [(Some(49), 200, false), (Some(50), 200, true), (None, 149, false), (None, 150, true)]
        {
            let mut detector = Detector::default();
            let again = segment(0, 50, 7, marks::RESENT);
            detector.on_delivered(Time::ms(came), &again, echo.map(Time::ms), Some(100 * MS));
            assert_eq!(detector.lost_at(&segment(1, 10, 1, 0)).is_some(), counts, "{echo:?} {came}");
        }
    }

    #[test]
    fn the_window_widens_with_each_round_that_sees_a_duplicate_up_to_the_round_trip() {
        let mut detector = Detector::default();
        assert_eq!(adapted(&mut detector, 1, false), 25 * MS);
        assert_eq!(adapted(&mut detector, 1, true), 50 * MS);
        assert_eq!(adapted(&mut detector, 5001, true), 50 * MS, "once a round");
        assert_eq!(adapted(&mut detector, 10_001, true), 75 * MS);
        (2..9).for_each(|round| _ = adapted(&mut detector, round * 10_000 + 1, true));
        assert_eq!(detector.window(), 120 * MS);
    }

    #[test]
    fn after_sixteen_recoveries_without_one_it_is_as_at_first() {
        let mut detector = Detector::default();
        adapted(&mut detector, 1, true);
        (0..15).for_each(|_| detector.on_recovered());
        assert_eq!(adapted(&mut detector, 1, false), 50 * MS);
        detector.on_recovered();
        assert_eq!(adapted(&mut detector, 1, false), 25 * MS);
    }
}
