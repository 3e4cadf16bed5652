//! One connection's events told to the definition.

use super::report::Report;
use super::verdicts::{Agreement, Judge, cause};
use crate::Error;
use crate::{Bound, Event, Kind, Port, flags, state};
use truckee_tcp::estimate::{AnyEstimator, BandwidthEstimator};
use truckee_tcp::growth::{AnyGrowth, Growth};
use truckee_tcp::response::LossResponse;
use truckee_tcp::sender::ByDuplicates;
use truckee_tcp::start::{AnyStart, Start};
use truckee_tcp::{Ack, Air, Cause, Departure, Loss, LossKind, Seq, Span, Spec, Window};

/// A window that no receiver's is above.
const NO_LIMIT: u64 = 1 << 40;
/// 32.32 fixed point.
const FIXED: f64 = (1u64 << 32) as f64;
/// Estimates below this, bit/s, are compared as if they were this.
const LEAST_RATE: f64 = 1000.0;

/// The definition, and where it stands.
pub(super) struct Connection {
    judge: Judge,
    growth: AnyGrowth,
    start: AnyStart,
    /// The estimator inside the predictor, beside it.
    inside: Option<AnyEstimator>,
    /// Whether the start is under way.
    starting: bool,
    /// A timeout has been responded to whose change of state is still to come.
    asked: bool,
    by_duplicates: ByDuplicates,
    w: Window,
    /// cwnd, segments: in bytes it would change with the segment size.
    cwnd: f64,
    /// snd_cwnd as the port left it.
    left: u32,
    /// The kernel's state after the event before.
    state: u8,
    /// What the response left of the window, segments, while the loss is repaired.
    target: Option<u32>,
    una: Seq,
    /// Whether the least round trip is the handshake's, which counts only until data have brought one.
    of_handshake: bool,
    report: Report,
}

/// Whether the kernel, in that state, reduces the window.
fn is_repairing(ca_state: u8) -> bool {
    ca_state == state::CWR || ca_state == state::RECOVERY
}

impl Connection {
    /// A connection that begins with this event; none if it has begun before.
    pub(super) fn begin(port: &Port, event: &Event) -> Result<Option<Self>, Error> {
        if event.kind != Kind::Init {
            return Ok(None);
        }
        let failed = |e: truckee_tcp::SpecError| Error::Broken(e.to_string());
        let start = Spec::named(if port.freebsd { "freebsd" } else { "slow-start" });
        let in_predictor = port.predictor().and(port.estimator());
        let mss = f64::from(event.mss);
        let rtt_min = (event.rtt_min_us > 0).then(|| Span::us(u64::from(event.rtt_min_us)));
        let cwnd = f64::from(event.cwnd);
        let (ssthresh, cwnd_bytes) = (f64::from(event.ssthresh) * mss, cwnd * mss);
        let mut w = Window::new(mss, cwnd_bytes);
        (w.ssthresh, w.rwnd, w.rtt_min) = (ssthresh, NO_LIMIT, rtt_min);
        Ok(Some(Self {
            judge: Judge::new(&port.response, port.predictor())?,
            growth: AnyGrowth::build(&port.growth).map_err(failed)?.0,
            start: AnyStart::build(&start).map_err(failed)?.0,
            inside: in_predictor.map(AnyEstimator::build).transpose().map_err(failed)?.map(|(e, _)| e),
            starting: true,
            asked: false,
            by_duplicates: ByDuplicates::default(),
            w,
            cwnd,
            left: event.cwnd,
            state: event.state,
            target: None,
            una: Seq::FIRST,
            of_handshake: true,
            report: Report::new(event, Bound::of(port)),
        }))
    }

    pub(super) fn report(self) -> Report {
        self.report
    }

    pub(super) fn take(&mut self, event: &Event) {
        let before = std::mem::replace(&mut self.state, event.state);
        match event.kind {
            Kind::State if event.state < state::CWR && is_repairing(before) => {
                (self.cwnd, self.left) = (f64::from(event.cwnd), event.cwnd);
            }
            Kind::Ack => self.on_ack(event),
            Kind::Ssthresh => self.on_loss(event),
            Kind::State if event.state == state::LOSS => self.on_timeout(event),
            Kind::Undo => self.target = None,
            Kind::Init | Kind::State | Kind::Release => {}
        }
    }

    /// What the kernel has done since the event before: its window and threshold, and what it has sent.
    fn catch_up(&mut self, event: &Event) {
        if event.cwnd != self.left {
            self.cwnd = f64::from(event.cwnd);
        }
        self.w.mss = f64::from(event.mss);
        self.w.cwnd = self.cwnd * self.w.mss;
        self.w.ssthresh = f64::from(event.ssthresh) * self.w.mss;
        self.w.flight = u64::from(event.flight);
        self.w.srtt = (event.srtt_us > 0).then(|| Span::us(u64::from(event.srtt_us)));
    }

    /// What left in between, segment by segment, at the time of the last of it.
    fn send(&mut self, event: &Event) {
        let highest = self.una + u64::from(event.nxt.wrapping_sub(event.una));
        let mut left = event.sent;
        while left > 0 {
            let bytes = left.min(event.mss.max(1));
            let mut sent = Departure::of_bytes(event.sent_at, bytes);
            sent.seq = highest.earlier(u64::from(left));
            self.judge.on_sent(&sent);
            self.inside.iter_mut().for_each(|e| e.on_sent(&sent));
            left -= bytes;
        }
    }

    fn on_ack(&mut self, event: &Event) {
        self.una += u64::from(event.newly);
        self.catch_up(event);
        let ack = self.ack_of(event);
        self.send(event);
        if ack.newly_acked > 0 || ack.duplicate {
            self.hear(&ack, event);
        }
        self.report.acks += 1;
        if event.state == state::OPEN {
            let beyond = self.target.take().is_some_and(|target| event.cwnd > target);
            self.report.beyond += u64::from(beyond);
        }
        let cwnd = self.w.cwnd / self.w.mss;
        self.cwnd = if event.is(flags::CLAMPED) { event.window_after as f64 / FIXED } else { cwnd };
        self.left = (event.window_after >> 32) as u32;
        let apart = (self.cwnd - event.window_after as f64 / FIXED).abs();
        self.report.cwnd = self.report.cwnd.max(apart);
        self.report.largest = self.report.largest.max(self.cwnd);
        let ssthresh = self.beside(self.w.ssthresh, event.ssthresh_after);
        self.report.ssthresh = self.report.ssthresh.max(ssthresh);
        self.compare_estimate(event);
    }

    fn ack_of(&mut self, event: &Event) -> Ack {
        let (newly, flight) = (u64::from(event.newly), u64::from(event.flight));
        let duplicate = event.is(flags::DUPLICATE);
        let rtt = ((newly > 0 || duplicate) && event.rtt_us > 0).then(|| Span::us(event.rtt_us as u64));
        let delivered = match newly {
            0 if duplicate => self.by_duplicates.another(u64::from(event.mss), flight),
            0 => 0,
            newly => self.by_duplicates.advance(newly),
        };
        if let Some(rtt) = rtt {
            let known = self.w.rtt_min.filter(|_| !std::mem::take(&mut self.of_handshake));
            self.w.rtt_min = Some(known.map_or(rtt, |min| min.min(rtt)));
        }
        let agreed = delivered == u64::from(event.delivered)
            && self.w.rtt_min.unwrap_or(Span::ZERO) == Span::us(u64::from(event.rtt_min_us));
        self.report.miscounted += u64::from(!agreed);
        let mut ack = Ack::of_bytes(event.time, newly);
        (ack.ack, ack.delivered, ack.duplicate, ack.rtt) = (self.una, delivered, duplicate, rtt);
        ack.highest = self.una + u64::from(event.nxt.wrapping_sub(event.una));
        ack
    }

    /// As `Sender::on_new_ack` and `Sender::on_old_ack`: all who listen, then the window.
    fn hear(&mut self, ack: &Ack, event: &Event) {
        if self.starting {
            self.starting = self.start.on_ack(ack, &mut self.w);
        }
        self.inside.iter_mut().for_each(|e| e.on_ack(ack, &self.w));
        let agreement = self.judge.hear(ack, &self.w, cause(event.verdict), self.report.bound.rtt);
        self.count(agreement, event);
        if ack.newly_acked > 0 && event.is(flags::LIMITED) && !is_repairing(event.state) {
            self.grow(ack, event);
        }
        if self.growth.listens() {
            let in_flight = u64::from(event.nxt.wrapping_sub(event.una));
            let mut air = Air::default();
            (air.in_flight, air.repairing, air.more) = (in_flight, is_repairing(event.state), true);
            self.growth.after_ack(ack, &air, &mut self.w);
        }
    }

    /// Opens the window. A rule may open it otherwise from a threshold on, as limited slow start does at each multiple of
    /// half its maximum: where the window is as near to one as the port's rounding, what the definition does with a window
    /// that much larger or smaller is as good, and the definition goes on from there.
    fn grow(&mut self, ack: &Ack, event: &Event) {
        let (growth, w) = (self.growth.clone(), self.w);
        self.growth.on_ack(ack, &mut self.w);
        let bound = self.report.bound.cwnd;
        let port = event.window_after as f64 / FIXED;
        let agrees = |w: &Window| (w.cwnd / w.mss - port).abs() <= bound;
        // What is clamped, or opened further by who listens, is not the rule's.
        if agrees(&self.w) || event.is(flags::CLAMPED) || growth.listens() {
            return;
        }
        for shift in [bound * w.mss, -bound * w.mss] {
            let (mut growth, mut shifted) = (growth.clone(), w);
            shifted.cwnd += shift;
            growth.on_ack(ack, &mut shifted);
            shifted.cwnd -= shift;
            if agrees(&shifted) {
                (self.growth, self.w) = (growth, shifted);
                return;
            }
        }
    }

    fn count(&mut self, agreement: Option<Agreement>, event: &Event) {
        let Some(agreement) = agreement else { return };
        self.report.verdicts += 1;
        self.report.wireless += u64::from(cause(event.verdict) == Some(Cause::Wireless));
        self.report.differing += u64::from(agreement != Agreement::Same);
        self.report.near += u64::from(agreement == Agreement::Near);
    }

    fn compare_estimate(&mut self, event: &Event) {
        let own =
            self.inside.as_ref().map_or_else(|| self.judge.response.estimate(), |e| e.bits_per_second());
        let ports = event.is(flags::ESTIMATE).then_some(event.estimate as f64 / 256.0);
        let apart = match (own, ports) {
            (None, None) => 0.0,
            (Some(own), Some(ports)) => (own - ports).abs() / own.max(LEAST_RATE),
            _ => f64::INFINITY,
        };
        self.report.estimate = self.report.estimate.max(apart);
    }

    /// By how many whole segments the port is beside what the definition says in bytes, rounded down.
    fn beside(&self, bytes: f64, port: u32) -> u64 {
        let segments = |shift: f64| (bytes * (1.0 + shift) / self.w.mss) as u64;
        let bound = self.report.bound.response;
        segments(-bound).saturating_sub(u64::from(port)) + u64::from(port).saturating_sub(segments(bound))
    }

    fn on_loss(&mut self, event: &Event) {
        self.catch_up(event);
        self.send(event);
        let kind = match () {
            () if event.is(flags::TIMEOUT) => LossKind::Timeout,
            () if event.is(flags::ECHO) => LossKind::EcnEcho,
            () => LossKind::DupAcks,
        };
        let loss = Loss::new(event.time, kind, self.una);
        let mut w = self.w;
        self.judge.reveal(event.fate());
        let agreement = self.judge.on_loss(&loss, &mut w, cause(event.verdict));
        self.count(agreement, event);
        self.report.losses += 1;
        self.report.ssthresh = self.report.ssthresh.max(self.beside(w.ssthresh, event.ssthresh_after));
        if kind != LossKind::Timeout {
            let target = (event.window_after >> 32) as u32;
            self.report.target = self.report.target.max(self.beside(w.cwnd, target));
            self.target = Some(target);
        }
        self.growth.on_loss(&loss, self.w.cwnd, &mut w);
        self.starting = false;
        self.asked = kind == LossKind::Timeout;
        // The window in the repair is the kernel's.
        self.left = (event.window >> 32) as u32;
    }

    /// A timeout: where the kernel has asked for no threshold, the parts hear of it all the same.
    fn on_timeout(&mut self, event: &Event) {
        self.starting = false;
        self.target = None;
        if std::mem::take(&mut self.asked) {
            return;
        }
        let loss = Loss::new(event.time, LossKind::Timeout, self.una);
        let mut scratch = self.w;
        self.judge.on_loss(&loss, &mut scratch, None);
        self.growth.on_loss(&loss, self.w.cwnd, &mut scratch);
    }
}
