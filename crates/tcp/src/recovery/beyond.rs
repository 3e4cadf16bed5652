//! What a recovery may do besides noticing losses: bring the window down in proportion (RFC 9937, see [`super::prr`]), for an
//! echo of congestion as for a loss, and look at timeouts first (RFC 5682, see [`super::frto`]). Few ask for either.

use super::frto::{FRto, Finding, Heard};
use super::prr::{Bound, Delivery, Prr};
use crate::sender::Transfer;
use crate::spec::{Args, SpecError};
use crate::{Ack, Seq};

/// Neither, unless it is asked for.
#[derive(Debug, Clone, Default)]
pub(super) struct Beyond(Option<Box<Asked>>);

#[derive(Debug, Clone, Default)]
struct Asked {
    /// The bound of a proportional reduction, where it is not at once.
    bound: Option<Bound>,
    /// Whether that counts segments, and not bytes.
    in_segments: bool,
    /// Whether an echo of congestion brings the window down so, too.
    echoes: bool,
    reduction: Option<Reduction>,
    /// Where timeouts are looked at.
    frto: Option<FRto>,
}

/// The proportional reduction of the present repair.
#[derive(Debug, Clone)]
struct Reduction {
    prr: Prr,
    /// For an echo of congestion: until more than this is acknowledged.
    echoed: Option<Seq>,
    /// What had come by the last ACK, see [`arrived`].
    arrived: u64,
}

/// Bytes known to have come: acknowledged, or reported by SACK.
fn arrived(t: &Transfer) -> u64 {
    t.out.una() - Seq::FIRST + t.out.sacked()
}

impl Beyond {
    /// By the arguments `reduction`, `bound`, `count`, `echo` and `frto`.
    pub(super) fn build(args: &mut Args) -> Result<Self, SpecError> {
        let mut made = Self::build_reduction(args)?;
        let frto = args.flag("frto", false)?.then(FRto::default);
        let echoes = made.0.is_some();
        if echoes && args.choice("echo", &["at-once", "proportional"])? == "proportional" {
            made.0.iter_mut().for_each(|asked| asked.echoes = true);
        } else if !echoes {
            args.refuse("echo", "no echo unless reduction is \"proportional\"")?;
        }
        if frto.is_some() {
            made.0.get_or_insert_default().frto = frto;
        }
        Ok(made)
    }

    /// By the arguments `reduction`, `bound` and `count`.
    pub(super) fn build_reduction(args: &mut Args) -> Result<Self, SpecError> {
        let proportional = args.choice("reduction", &["at-once", "proportional"])? == "proportional";
        let bound = if proportional {
            let bound = Bound::named(args.choice("bound", &Bound::NAMES)?);
            Some((bound, args.choice("count", &["bytes", "segments"])? == "segments"))
        } else {
            args.refuse("bound", "no bound unless reduction is \"proportional\"")?;
            args.refuse("count", "no count unless reduction is \"proportional\"")?;
            None
        };
        let (bound, in_segments) = (bound.map(|(bound, _)| bound), bound.is_some_and(|(_, whole)| whole));
        Ok(Self(bound.map(|_| Box::new(Asked { bound, in_segments, ..Asked::default() }))))
    }

    /// What looks at timeouts.
    pub(super) fn frto(&mut self) -> Option<&mut FRto> {
        self.0.as_mut()?.frto.as_mut()
    }

    /// Whether an ACK shows that the last timeout was spurious; `original`: whether it delivers what was sent once, and before
    /// the timeout, as far as the recovery knows; one that it shows to be genuine has the window at its bound
    /// from now on.
    pub(super) fn was_spurious(
        &mut self,
        ack: &Ack,
        news: bool,
        reported: Seq,
        original: bool,
        t: &mut Transfer,
    ) -> bool {
        let finding = self.look(ack, news, reported, original);
        let bounded = self.0.as_ref().is_some_and(|asked| !asked.in_segments); // Linux' window is what it is
        if let Finding::Genuine(segments) = finding
            && bounded
        {
            t.window.cwnd = t.window.cwnd.min(f64::from(segments) * t.window.mss);
        }
        finding == Finding::Spurious
    }

    /// What an ACK says of the last timeout; `reported`: one after the highest number reported.
    fn look(&mut self, ack: &Ack, news: bool, reported: Seq, original: bool) -> Finding {
        let Some(frto) = self.frto() else { return Finding::Open };
        let highest = ack.ack.max(reported);
        frto.on_ack(&Heard { ack: ack.ack, advances: ack.newly_acked > 0, news, highest, original })
    }

    /// Whether neither a reduction nor a look at a timeout is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.0.as_ref().is_none_or(|asked| {
            asked.reduction.is_none() && asked.frto.as_ref().is_none_or(|frto| !frto.holds_back())
        })
    }

    /// Whether departures matter.
    pub(super) fn hears_departures(&self) -> bool {
        self.0.as_ref().is_some_and(|asked| asked.bound.is_some())
    }

    /// Where segments are counted, windows are of whole ones.
    pub(super) fn round(&self, t: &mut Transfer) {
        if self.0.as_ref().is_some_and(|asked| asked.in_segments) {
            let w = &mut t.window;
            (w.cwnd, w.ssthresh) =
                (w.in_whole_segments(w.cwnd).max(w.mss), w.in_whole_segments(w.ssthresh).max(w.mss));
        }
    }

    /// A repair begins with an ACK that brought so many bytes, or without one, when `flight` was in the air before. If an echo
    /// has brought the window on its way down, it goes on as it was.
    pub(super) fn begin(&mut self, brought: u64, flight: u64, t: &Transfer) {
        match self.reduction().filter(|reduction| reduction.echoed.is_some()) {
            Some(reduction) => reduction.echoed = None,
            None => self.begin_for(None, brought, flight, t),
        }
    }

    /// The same for an echo of congestion, if that is asked for.
    pub(super) fn begin_for_echo(&mut self, brought: u64, flight: u64, t: &mut Transfer) {
        if self.0.as_ref().is_some_and(|asked| asked.echoes) {
            self.begin_for(Some(t.out.max()), brought, flight, t);
            self.on_ack(brought > 0, 0, t);
        }
    }

    fn begin_for(&mut self, echoed: Option<Seq>, brought: u64, flight: u64, t: &Transfer) {
        if let Some(asked) = &mut self.0 {
            asked.reduction = asked.bound.map(|bound| {
                let arrived = arrived(t).saturating_sub(brought);
                let (mss, target) = (t.window.mss, t.window.cwnd);
                let prr = match asked.in_segments {
                    true => {
                        let before = t.window.in_whole_segments(t.window_before() as f64) as u64;
                        Prr::begin(bound, mss, target, before).in_segments()
                    }
                    false => Prr::begin(bound, mss, target, flight),
                };
                Reduction { prr, echoed, arrived }
            });
        }
    }

    /// Whether the window comes down for an echo.
    pub(super) fn is_echoing(&self) -> bool {
        let reduction = self.0.as_ref().and_then(|asked| asked.reduction.as_ref());
        reduction.is_some_and(|reduction| reduction.echoed.is_some())
    }

    /// An ACK of new data has come: whether the window was on its way down for an echo. Where it covers more than had been sent
    /// by then, it is down.
    pub(super) fn advance_echo(&mut self, ack: Seq, t: &mut Transfer) -> bool {
        let Some(until) = self.reduction().and_then(|reduction| reduction.echoed) else { return false };
        if ack > until {
            t.window.cwnd = self.target(t);
            self.end();
        }
        ack <= until
    }

    /// An ACK has come; `safe`: it advances and shows no further loss; `twice`: bytes that count as delivered although they were before.
    pub(super) fn on_ack(&mut self, safe: bool, twice: u64, t: &mut Transfer) {
        let Some(reduction) = self.reduction() else { return };
        let before = std::mem::replace(&mut reduction.arrived, arrived(t));
        let bytes = reduction.arrived.saturating_sub(before) + twice;
        self.bring(bytes, self.air(t), safe, t);
    }

    /// What is in the air, as it is counted here.
    fn air(&self, t: &Transfer) -> u64 {
        let in_segments = self.0.as_ref().is_some_and(|asked| asked.in_segments);
        if in_segments { t.out.packets_in_air(t.window.mss) } else { t.out.pipe() }
    }

    /// An ACK has brought so many bytes, after which so many are in the air.
    pub(super) fn bring(&mut self, bytes: u64, in_flight: u64, safe: bool, t: &mut Transfer) {
        let Some(reduction) = self.reduction() else { return };
        if let Some(cwnd) = reduction.prr.on_ack(&Delivery { bytes, in_flight, safe }) {
            t.window.cwnd = cwnd.max(t.window.mss);
        }
    }

    /// A timer and not an ACK has begun the repair: one segment leaves, as if as much had come (Linux 6.18,
    /// `tcp_rack_reo_timeout`).
    pub(super) fn begin_by_timer(&mut self, t: &mut Transfer) {
        self.bring(t.window.mss as u64, self.air(t), false, t);
    }

    /// So many bytes leave.
    pub(super) fn on_sent(&mut self, bytes: u64) {
        if let Some(reduction) = self.reduction() {
            reduction.prr.on_sent(bytes);
        }
    }

    /// The window that the repair is to end with.
    pub(super) fn target(&self, t: &Transfer) -> f64 {
        let reduction = self.0.as_ref().and_then(|asked| asked.reduction.as_ref());
        reduction.map_or(t.window.cwnd, |reduction| reduction.prr.target())
    }

    /// The repair is over.
    pub(super) fn end(&mut self) {
        if let Some(asked) = &mut self.0 {
            asked.reduction = None;
        }
    }

    fn reduction(&mut self) -> Option<&mut Reduction> {
        self.0.as_mut()?.reduction.as_mut()
    }
}
