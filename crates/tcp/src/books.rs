//! The laboratory's books of a sender: what it has done, in numbers, and what became of what it sent. No decision depends
//! on them but an oracle's.
//!
//! [`Books`] hears of everything as a [`Witness`], and has the observers hear of it who judge the same flow their way.

use crate::arithmetic::real;
pub use crate::judged::Judged;
use crate::observers::Observers;
use crate::{
    Ack, Cause, Departure, Loss, LossKind, PathTruth, Seq, Span, Time, Transmission, Truth, Window, Witness,
    cache,
};
use smallvec::SmallVec;

/// A transmission that the path did not carry.
#[derive(Debug, Clone, Copy)]
struct Dropped {
    number: Transmission,
    /// One after the segment's last sequence number.
    end: Seq,
    cause: Cause,
}

/// What the laboratory has told of drops, by number of the transmission, rising.
#[derive(Debug, Clone, Default)]
struct Fates {
    /// Mostly there is one: that needs no room elsewhere.
    drops: SmallVec<[Dropped; 1]>,
}

impl Fates {
    fn note(&mut self, dropped: Dropped) {
        // One that has waited in a queue may be dropped after its own retransmission.
        let at = self.drops.partition_point(|d| d.number < dropped.number);
        self.drops.insert(at, dropped);
    }

    fn of(&self, number: Transmission) -> Option<Cause> {
        let at = self.drops.partition_point(|d| d.number < number);
        self.drops.get(at).filter(|d| d.number == number).map(|d| d.cause)
    }

    #[inline]
    fn has_any_below(&self, seq: Seq) -> bool {
        self.drops.first().is_some_and(|first| first.end <= seq)
    }

    /// Everything below `seq` is acknowledged: nobody will ask for it.
    fn forget_below(&mut self, seq: Seq) {
        let gone = self.drops.iter().take_while(|first| first.end <= seq).count();
        self.drops.drain(..gone);
    }
}

/// A loss event with the verdict on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LossRecord {
    /// The event.
    pub loss: Loss,
    /// What its segment died of when it was last sent; `None`: it was not dropped.
    pub fate: Option<Cause>,
    /// What the response took it for.
    pub verdict: Cause,
}

/// What went in one round: see [`Books::rounds`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Round {
    /// Data segments sent, again ones included.
    pub segments: u64,
    /// ACKs that came for them.
    pub acks: u64,
}

/// How many rounds are counted one by one.
const COUNTED_ROUNDS: usize = 24;

/// The first rounds: at the first ACK of each, all segments sent and all ACKs come before it.
#[derive(Debug, Clone, Default)]
struct Rounds {
    /// Segments and ACKs: of the few that are kept, the lower halves are enough.
    begun: Box<[(u32, u32)]>,
}

impl Rounds {
    /// The first ACK of a round has come; `so_far`: segments sent and ACKs come before it.
    #[inline]
    fn begin(&mut self, so_far: Round) {
        if self.begun.len() <= COUNTED_ROUNDS {
            self.add((so_far.segments as u32, so_far.acks as u32));
        }
    }

    /// Lists are not longer than they have to be: of many flows that is much.
    #[inline(never)]
    fn add(&mut self, begun: (u32, u32)) {
        let mut list = std::mem::take(&mut self.begun).into_vec();
        list.reserve_exact(1);
        list.push(begun);
        self.begun = list.into();
    }

    /// The rounds that have been acknowledged; `so_far`: as now.
    fn list(&self, so_far: Round) -> Vec<Round> {
        let ends = self.begun.iter().skip(1).map(|&(_, acks)| acks).chain([so_far.acks as u32]);
        let mut sent = 0;
        let rounds = self.begun.iter().zip(ends).map(|(&(segments_before, acks_before), acks)| {
            let segments = segments_before.wrapping_sub(std::mem::replace(&mut sent, segments_before));
            Round { segments: segments.into(), acks: acks.wrapping_sub(acks_before).into() }
        });
        rounds.take(COUNTED_ROUNDS).collect()
    }
}

/// What a sender counts. What every ACK changes comes first, in one cache line with what [`Books`] has before it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(C)]
pub struct Counts {
    /// ∫ cwnd dt, byte·ns, up to the last event.
    pub cwnd_time: f64,
    /// ACKs that came.
    pub acks: u64,
    /// Data segments sent, retransmissions included.
    pub segments: u64,
    /// Payload sent, retransmissions included, bytes.
    pub bytes: u64,
    /// RTT samples.
    pub rtt_samples: u64,
    /// Their sum, ns.
    pub rtt_sum: Span,
    /// Rounds acknowledged.
    pub rounds: u64,
    /// When slow start first ended, from the establishment on, and in which round (counted from 1).
    pub slow_start_end: Option<(Span, u64)>,
    /// Data segments sent again.
    pub retransmitted_segments: u64,
    /// Payload sent again, bytes.
    pub retransmitted_bytes: u64,
    /// Retransmission timeouts (SYN's included).
    pub timeouts: u64,
    /// Fast retransmits.
    pub fast_retransmits: u64,
    /// Reductions on an ECN echo.
    pub ecn_reductions: u64,
    /// Loss events that were found to have been none, and undone.
    pub undone: u64,
    /// Loss events by true cause and verdict.
    pub judged: Judged,
}

impl Counts {
    fn loss(&mut self, kind: LossKind, fate: Option<Cause>, verdict: Cause) {
        match kind {
            LossKind::EcnEcho => {
                self.ecn_reductions += 1;
                return;
            }
            LossKind::DupAcks => self.fast_retransmits += 1,
            LossKind::Timeout => {} // counted where the timer goes off: not every timeout is a new loss event
        }
        self.judged.count(fate, verdict);
    }
}

/// The books of one connection's sender.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Books {
    last_event: Time,
    /// [`NO_RTT`], or what the last segment brought.
    last_rtt: Span,
    counts: Counts,
    observers: Option<Box<Observers>>,
    /// Where any may still be asked for.
    fates: Option<Box<Fates>>,
    rounds: Rounds,
    established: Time,
    last_loss: Option<Lost>,
}

/// The last segment has brought no RTT sample.
const NO_RTT: Span = Span::MAX;

/// A [`LossRecord`], packed.
#[derive(Debug, Clone, Copy)]
struct Lost {
    now: Time,
    seq: Seq,
    kind: LossKind,
    fate: Option<Cause>,
    verdict: Cause,
}

impl Default for Books {
    fn default() -> Self {
        Self {
            last_event: Time::ZERO,
            last_rtt: NO_RTT,
            counts: Counts::default(),
            observers: None,
            fates: None,
            rounds: Rounds::default(),
            established: Time::ZERO,
            last_loss: None,
        }
    }
}

impl Books {
    /// Books that these observers read along.
    pub fn with(observers: Option<Observers>) -> Self {
        Self { observers: observers.map(Box::new), ..Self::default() }
    }

    /// Those who watch, if there are any.
    pub fn observers(&self) -> Option<&Observers> {
        self.observers.as_deref()
    }

    /// The laboratory tells what the path is like.
    pub fn note_path(&mut self, path: PathTruth) {
        if let Some(observers) = &mut self.observers {
            observers.reveal(Truth::Path(path));
        }
    }

    /// The laboratory tells that this transmission, of what ends before `end`, was dropped, and why.
    pub fn note_drop(&mut self, number: Transmission, end: Seq, cause: Cause) {
        self.fates.get_or_insert_default().note(Dropped { number, end, cause });
    }

    /// What the sender has done.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The first rounds, one by one: a round is what is outstanding when its first ACK comes, and the ACKs from that
    /// one until all of it is acknowledged.
    pub fn rounds(&self) -> Vec<Round> {
        self.rounds.list(self.so_far())
    }

    fn so_far(&self) -> Round {
        Round { segments: self.counts.segments, acks: self.counts.acks }
    }

    /// ∫ cwnd dt since the last event, byte·ns: what [`Counts::cwnd_time`] does not hold yet.
    pub fn cwnd_time_since(&self, now: Time, w: &Window) -> f64 {
        w.cwnd * now.saturating_sub(self.last_event).as_f64()
    }

    /// The RTT sample that the last segment brought, if it brought one.
    pub fn last_rtt(&self) -> Option<Span> {
        Some(self.last_rtt).filter(|rtt| *rtt != NO_RTT)
    }

    /// The loss event that the last call brought, if it brought one.
    pub fn take_loss(&mut self) -> Option<LossRecord> {
        let Lost { now, seq, kind, fate, verdict } = self.last_loss.take()?;
        Some(LossRecord { loss: Loss { now, kind, seq }, fate, verdict })
    }

    #[cold]
    fn forget_fates_below(&mut self, seq: Seq) {
        if let Some(fates) = &mut self.fates {
            fates.forget_below(seq);
            if fates.drops.is_empty() {
                self.fates = None;
            }
        }
    }

    #[inline]
    fn pass(&mut self, now: Time, w: &Window, open: bool) {
        // A segment that comes late, a FIN repeated, does not prolong a connection that has ended.
        if open {
            self.counts.cwnd_time += w.cwnd * real((now - self.last_event).nanos());
        }
        self.last_event = now;
    }

    /// Has the processor fetch what the next ACK will need.
    #[inline(always)]
    pub fn prefetch(&self) {
        if let Some(fates) = &self.fates {
            cache::prefetch(&**fates);
        }
    }
}

impl Witness for Books {
    fn on_open(&mut self, now: Time) {
        self.last_event = now;
    }

    fn on_established(&mut self, now: Time) {
        self.established = now;
    }

    #[inline]
    fn on_segment(&mut self, now: Time, w: &Window, open: bool) {
        self.last_rtt = NO_RTT;
        self.pass(now, w, open);
    }

    #[inline]
    fn on_acknowledgement(&mut self) {
        self.counts.acks += 1;
    }

    #[inline(always)]
    fn on_ack(&mut self, ack: &Ack, w: &Window) {
        if self.fates.as_ref().is_some_and(|fates| fates.has_any_below(ack.ack)) {
            self.forget_fates_below(ack.ack);
        }
        if let Some(rtt) = ack.rtt {
            self.counts.rtt_samples += 1;
            self.counts.rtt_sum = self.counts.rtt_sum.saturating_add(rtt);
            self.last_rtt = rtt;
        }
        if let Some(observers) = &mut self.observers {
            let ack = *ack; // what is handed on has to be in memory: only where somebody asks
            observers.on_ack(&ack, w);
        }
    }

    #[inline]
    fn on_round(&mut self) {
        self.rounds.begin(Round { acks: self.counts.acks - 1, ..self.so_far() });
    }

    #[inline]
    fn on_round_over(&mut self) {
        self.counts.rounds += 1;
    }

    #[inline]
    fn on_settled(&mut self, now: Time, w: &Window) {
        if self.counts.slow_start_end.is_none() && !w.in_slow_start() {
            self.counts.slow_start_end = Some((now - self.established, self.counts.rounds + 1));
        }
    }

    fn on_timeout(&mut self, now: Time, w: &Window, open: bool) {
        self.pass(now, w, open);
        self.counts.timeouts += 1;
    }

    fn on_loss(&mut self, loss: &Loss, lost: Option<Transmission>, verdict: Cause) {
        let fate = lost.and_then(|number| self.fate(number));
        if let Some(observers) = &mut self.observers
            && loss.kind != LossKind::EcnEcho
        {
            observers.on_loss(loss, fate);
        }
        self.counts.loss(loss.kind, fate, verdict);
        let Loss { now, kind, seq } = *loss;
        self.last_loss = Some(Lost { now, seq, kind, fate, verdict });
    }

    fn on_undo(&mut self, _: Time, _: &Window) {
        self.counts.undone += 1;
    }

    #[inline]
    fn on_sent(&mut self, sent: &Departure, _: Transmission) {
        let counts = &mut self.counts;
        let segments = u64::from(sent.bytes > 0);
        counts.segments += segments;
        counts.bytes += u64::from(sent.bytes);
        if sent.retransmission {
            counts.retransmitted_segments += segments;
            counts.retransmitted_bytes += u64::from(sent.bytes);
        }
        if let Some(observers) = &mut self.observers {
            let sent = *sent; // what is handed on has to be in memory: only where somebody asks
            observers.on_sent(&sent);
        }
    }

    fn fate(&self, sent: Transmission) -> Option<Cause> {
        self.fates.as_ref()?.of(sent)
    }
}
