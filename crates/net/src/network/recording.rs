//! What is recorded of a connection where somebody wants to look at it: its packets, segments, windows, losses and phases.

use super::Network;
use crate::connection::SOURCE;
use crate::packet::{PacketId, bits};
use crate::record::Recorded;
use truckee_scenario::outcome::{
    GapPoint, LossPoint, OWN_DETECTOR, PacketContent, PacketPoint, PhasePoint, SegmentPoint, TRUE_PHASE,
    WindowPoint,
};
use truckee_tcp::ack::AckPolicy;
use truckee_tcp::detect::Phase;
use truckee_tcp::{Cause, LossKind, Span, Transmit};

impl Network<'_> {
    /// Notes what leaves an end, where that is wanted.
    pub(super) fn note_leaving(&mut self, index: usize, id: PacketId, sent: &Transmit) {
        let connection = &self.connections[index];
        let forward = self.packets[id].is(bits::FORWARD);
        if sent.segment.len > 0
            && forward
            && connection.recorded
            && let Some(series) = &mut self.flows[connection.flow()].book.series
        {
            series.segments.push(SegmentPoint {
                t: self.now.seconds(),
                seq: sent.segment.seq.number(),
                len: sent.segment.len,
                retransmission: sent.retransmission,
            });
        }
        if connection.tapped.is_some_and(|vantage| vantage.is_left(forward)) {
            self.tap(index, id, forward);
        }
    }

    /// Notes a packet that leaves the end where packets are wanted, or reaches it.
    #[cold]
    #[inline(never)]
    pub(super) fn tap(&mut self, index: usize, id: PacketId, from_sender: bool) {
        let connection = &self.connections[index];
        let Some(series) = &mut self.flows[connection.flow()].book.series else { return };
        series.packets.push(PacketPoint {
            at: self.now,
            connection: connection.tap_number(),
            from_sender,
            transmission: self.packets[id].transmission(),
            content: PacketContent::Segment(self.packets.segment(id)),
            dropped: None,
        });
    }

    /// Notes turns of the true phase and of the detectors' verdicts, after a data segment has come.
    pub(super) fn record_phases(&mut self, index: usize, id: PacketId) {
        let flow = self.connections[index].flow();
        let ends = &self.connections[index].ends;
        let watch = &ends.forward.watch;
        let own = ends.receiver().and_then(|receiver| receiver.policy().phase());
        if self.packets[id].len == 0 || own.is_none() && watch.watchers().is_none() {
            return;
        }
        let truth = watch.truth;
        let watching = watch.watchers().into_iter().flat_map(|w| w.phases()).map(Some);
        let names = self.scenario.flows[flow].observe.detectors.iter().map(|(name, _)| name.as_str());
        let Some(recorded) = self.flows[flow].book.series.as_deref_mut() else { return };
        let Recorded { series, phases } = recorded;
        let floats = watch.watchers().and_then(|w| w.floats());
        series.gaps.extend(floats.map(|floats| GapPoint::of(self.now.seconds(), &floats)));
        let said = [Some(truth), own].into_iter().chain(watching);
        for (k, (who, now)) in [TRUE_PHASE, OWN_DETECTOR].into_iter().chain(names).zip(said).enumerate() {
            if k == phases.len() {
                phases.push(None);
            }
            if let Some(phase) = now
                && phases[k].replace(phase) != now
            {
                let slow_start = phase == Phase::SlowStart;
                series.phases.push(PhasePoint { t: self.now.seconds(), who: who.to_owned(), slow_start });
            }
        }
    }

    pub(super) fn record(&mut self, index: usize) {
        let t = self.now.seconds();
        let connection = &mut self.connections[index];
        let Some(series) = &mut self.flows[connection.flow()].book.series else { return };
        let Some(sender) = connection.ends.at[SOURCE].tx() else { return };
        let (window, books) = (sender.window(), &mut connection.ends.forward.books);
        series.window.push(WindowPoint {
            t,
            cwnd: window.cwnd,
            ssthresh: window.ssthresh,
            flight: sender.outstanding().flight(),
            rtt: books.last_rtt().map(Span::seconds),
        });
        if let Some(record) = books.take_loss() {
            series.losses.push(LossPoint {
                t,
                seq: record.loss.seq.number(),
                kind: match record.loss.kind {
                    LossKind::DupAcks => "dup-acks",
                    LossKind::Timeout => "timeout",
                    LossKind::EcnEcho => "ecn",
                },
                truth: record.fate.map_or("none", Cause::as_str),
                verdict: record.verdict.as_str(),
            });
        }
    }
}
