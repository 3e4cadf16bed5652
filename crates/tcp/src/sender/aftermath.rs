//! Who hears of an ACK once all else that it brings is done: a recovery that minds departures, bursts, and a controller that
//! looks at what is in the air.

use super::Sender;
use super::hearers::Hearers;
use crate::arithmetic::real;
use crate::controller::Controller;
use crate::delivery::Brief;
use crate::recovery::Recovery;
use crate::{Ack, Air, Seq, Time};

impl Sender {
    #[inline(always)]
    pub(super) fn after_ack<const PLAIN: bool>(&mut self, ack: &Ack) {
        if self.aftermath != Hearers::Nobody {
            let calm = PLAIN && self.aftermath == Hearers::OftenCalm;
            if calm && self.passes_calmly(ack.now, ack.ack, ack.sent, ack.rtt.is_some()) {
                return;
            }
            self.note_advance::<PLAIN>(ack.now, ack.highest - ack.ack);
            if self.t.interest.air {
                let ack = *ack; // what is handed on has to be in memory: only where somebody asks
                self.tell_of_air::<PLAIN>(&ack);
            }
        }
    }

    /// Tells what minds departures, and bursts, of an ACK that has so many bytes outstanding behind it.
    #[inline(always)]
    fn note_advance<const PLAIN: bool>(&mut self, now: Time, outstanding: u64) {
        if PLAIN && self.departures {
            self.recovery.on_quiet_advance(now, &self.t);
        }
        if let Some(offload) = &mut self.offload {
            offload.pace.note(outstanding, &self.t.window);
        }
    }

    /// As [`Self::tell_of_air`], where all is plain and the controller has little to do; else nothing happens. Whether it did.
    #[inline(never)]
    fn passes_calmly(&mut self, now: Time, ack: Seq, sent: Option<Time>, timed: bool) -> bool {
        let out = &self.t.out;
        if !out.tells_of_no_loss() {
            return false;
        }
        let brief = Brief {
            now,
            ack,
            sent,
            timed,
            in_flight: out.flight(),
            lost: out.lost_ever(),
            delivered: self.delivered(),
            more: self.unsent() > 0,
        };
        self.t.controller.passes_calmly(&brief, &mut self.t.window)
    }

    /// Bytes known to have been delivered: [`Air::delivered`].
    #[inline(always)]
    fn delivered(&self) -> u64 {
        let beyond = if self.reads_sack { self.t.out.sacked() } else { self.by_duplicates.waiting() };
        self.t.out.una() - Seq::FIRST + beyond
    }

    #[inline(never)]
    fn tell_of_air<const PLAIN: bool>(&mut self, ack: &Ack) {
        let delivered = self.delivered();
        let last_sent = self.t.out.last_covered_once().filter(|_| !ack.duplicate);
        let mut air = Air {
            in_flight: self.air::<PLAIN>(),
            lost: self.t.out.lost_ever(),
            newly_lost: self.t.out.take_newly_lost(),
            rate: None,
            repairing: !PLAIN && self.recovery.repairing(),
            delivered,
            newest_lost: self.t.out.take_newest_lost(),
            more: self.unsent() > 0,
            last_rtt: last_sent.map(|sent| self.t.rtt.measure(sent, ack.now)),
        };
        if let Some(rates) = &mut self.t.rates {
            air.rate = rates.on_ack(ack, &air).sample;
        }
        self.t.controller.after_ack(ack, &air, &mut self.t.window);
        if let Some(rates) = &mut self.t.rates
            && !air.more
            && !air.repairing
            && real(air.in_flight) < self.t.window.cwnd
        {
            rates.limited_by_application(air.in_flight);
        }
    }
}
