//! What an algorithm written in Python is told: the events of `truckee-tcp`, with times in seconds and sequence numbers in
//! bytes.

use pyo3::prelude::*;
use truckee_tcp::{LossKind, Span, Time};

fn seconds(span: Option<Span>) -> Option<f64> {
    span.map(Span::seconds)
}

fn time(at: Option<Time>) -> Option<f64> {
    at.map(Time::seconds)
}

/// Declares an event: what it is made of, and its fields as Python sees them.
macro_rules! event {
    ($(#[$doc:meta])* $Event:ident of $Of:ty { $($(#[$what:meta])* $field:ident: $kind:ty = |$of:ident| $get:expr;)+ }) => {
        $(#[$doc])*
        #[pyclass(frozen, module = "truckee._native")]
        #[derive(Debug)]
        pub struct $Event(pub $Of);

        #[pymethods]
        impl $Event {
            $($(#[$what])* #[getter] fn $field(&self) -> $kind { let $of = &self.0; $get })+
        }
    };
}

event! {
    /// An ACK as it reaches a sender.
    Ack of truckee_tcp::Ack {
        /// When, s.
        now: f64 = |a| a.now.seconds();
        /// Acknowledgement number, bytes.
        ack: u64 = |a| a.ack.number();
        /// Bytes that it newly acknowledges cumulatively; 0 for a duplicate.
        newly_acked: u64 = |a| a.newly_acked;
        /// Bytes that it shows to have been delivered.
        delivered: u64 = |a| a.delivered;
        /// Whether it is a duplicate.
        duplicate: bool = |a| a.duplicate;
        /// Round-trip time from the newest segment it covers, s; `None` if that would be ambiguous.
        rtt: Option<f64> = |a| seconds(a.rtt);
        /// When the newest segment was sent that it shows to have arrived, s.
        sent: Option<f64> = |a| time(a.sent);
        /// One after the highest sequence number sent so far.
        highest: u64 = |a| a.highest.number();
        /// Bytes that its SACK blocks report for the first time.
        newly_sacked: u64 = |a| a.newly_sacked;
        /// Whether it echoes congestion.
        ecn_echo: bool = |a| a.ecn_echo;
        /// Packets that came marked since the ACK before, as accurate ECN counts them (RFC 9768).
        ecn_marked: u64 = |a| a.ecn_marked;
    }
}

event! {
    /// A data segment as it leaves the sender.
    Departure of truckee_tcp::Departure {
        /// When, s.
        now: f64 = |d| d.now.seconds();
        /// Its first sequence number.
        seq: u64 = |d| d.seq.number();
        /// Payload, bytes.
        bytes: u32 = |d| d.bytes;
        /// Whether it was sent before.
        retransmission: bool = |d| d.retransmission;
        /// Bytes in the air before it.
        in_flight: u64 = |d| d.in_flight;
        /// Whether the application has more to send behind it.
        more: bool = |d| d.more;
    }
}

event! {
    /// A loss event.
    Loss of truckee_tcp::Loss {
        /// When it was noticed, s.
        now: f64 = |l| l.now.seconds();
        /// How: `dup-acks`, `timeout` or `ecn`.
        kind: &'static str = |l| match l.kind {
            LossKind::DupAcks => "dup-acks",
            LossKind::Timeout => "timeout",
            LossKind::EcnEcho => "ecn",
        };
        /// Sequence number of the segment taken to be lost.
        seq: u64 = |l| l.seq.number();
    }
}

event! {
    /// A data segment as it reaches the receiver.
    Arrival of truckee_tcp::Arrival {
        /// When, s.
        now: f64 = |a| a.now.seconds();
        /// Payload, bytes.
        bytes: u32 = |a| a.bytes;
        /// Next sequence number expected, after it.
        rcv_nxt: u64 = |a| a.rcv_nxt.number();
        /// Bytes in order that no ACK has covered yet.
        unacked: u64 = |a| a.unacked;
        /// Whether it carried the next byte expected.
        in_order: bool = |a| a.in_order;
        /// Whether an ACK is due at once.
        urgent: bool = |a| a.urgent;
        /// The sequence number after its last byte.
        end: u64 = |a| a.end.number();
        /// The receiver's own sample of the round-trip time, s.
        rtt: Option<f64> = |a| seconds(a.rtt);
    }
}

event! {
    /// What is in the air after an ACK.
    Air of truckee_tcp::Air {
        /// Bytes in the air.
        in_flight: u64 = |a| a.in_flight;
        /// Bytes taken to be lost so far.
        lost: u64 = |a| a.lost;
        /// Bytes of them that this ACK has shown to be lost.
        newly_lost: u64 = |a| a.newly_lost;
        /// Bytes known to have been delivered.
        delivered: u64 = |a| a.delivered;
        /// Whether a loss is being repaired.
        repairing: bool = |a| a.repairing;
        /// The delivery rate that the ACK shows, bit/s; `None`: none that could be trusted.
        delivery_rate: Option<f64> = |a| a.rate.map(|sample| 8.0 * sample.rate).filter(|rate| *rate > 0.0);
    }
}

/// The sender's window. `cwnd` and `ssthresh` can be set, in bytes, where the method is to set them.
#[pyclass(module = "truckee._native")]
#[derive(Debug)]
pub struct Window(pub truckee_tcp::Window);

#[pymethods]
impl Window {
    /// Congestion window, bytes.
    #[getter]
    fn cwnd(&self) -> f64 {
        self.0.cwnd
    }
    #[setter]
    fn set_cwnd(&mut self, bytes: f64) {
        self.0.cwnd = bytes;
    }
    /// Slow-start threshold, bytes.
    #[getter]
    fn ssthresh(&self) -> f64 {
        self.0.ssthresh
    }
    #[setter]
    fn set_ssthresh(&mut self, bytes: f64) {
        self.0.ssthresh = bytes;
    }
    /// Maximum segment size, bytes.
    #[getter]
    fn mss(&self) -> f64 {
        self.0.mss
    }
    /// Bytes sent and not yet acknowledged, before the event at hand.
    #[getter]
    fn flight(&self) -> u64 {
        self.0.flight
    }
    /// The receiver's advertised window, bytes.
    #[getter]
    fn rwnd(&self) -> u64 {
        self.0.rwnd
    }
    /// Smoothed round-trip time, s; `None` before it is known.
    #[getter]
    fn srtt(&self) -> Option<f64> {
        seconds(self.0.srtt)
    }
    /// Smallest round-trip time seen, s; `None` before it is known.
    #[getter]
    fn rtt_min(&self) -> Option<f64> {
        seconds(self.0.rtt_min)
    }
    /// Whether the window opens by slow start.
    #[getter]
    fn in_slow_start(&self) -> bool {
        self.0.in_slow_start()
    }
    /// Half the flight, two segments at least (RFC 5681, equation 4), bytes.
    #[getter]
    fn half_flight(&self) -> f64 {
        self.0.half_flight()
    }
}
