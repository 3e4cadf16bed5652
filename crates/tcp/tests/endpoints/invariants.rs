//! What must hold of a sender and a receiver at every moment, whatever the path does.

use truckee_tcp::ack::{AckPolicy, Honesty};
use truckee_tcp::outstanding::marks;
use truckee_tcp::sender::State;
use truckee_tcp::{Books, Receiver, Sender, Seq, Stack, Transmit, flags};

/// Checks a sender before, and after each of, its transmissions.
#[derive(Debug, Clone)]
pub struct Invariants {
    /// Bytes that may be unacknowledged: the advertised window and the send buffer.
    room: u64,
    handshake: bool,
    /// Bytes beyond cwnd that limited transmit may send (RFC 3042).
    allowance: u64,
    before: Option<Before>,
    retransmitted: u64,
}

/// The sender just before it was asked.
#[derive(Debug, Clone, Copy)]
struct Before {
    una: Seq,
    max: Seq,
    in_flight: u64,
    cwnd: f64,
    finished: bool,
}

impl Invariants {
    pub fn new(stack: &Stack) -> Self {
        let buffer = stack.send_buffer.map_or(u64::MAX, |b| b.bytes(stack.mss));
        Self {
            room: buffer.min(u64::from(stack.advertised_window())),
            handshake: stack.handshake,
            allowance: if stack.limited_transmit { 2 * u64::from(stack.mss) } else { 0 },
            before: None,
            retransmitted: 0,
        }
    }

    /// For a peer that changes its window as it likes.
    pub fn with_any_window(self) -> Self {
        Self { room: u64::MAX, ..self }
    }

    pub fn before(&mut self, sender: &Sender) {
        let out = sender.outstanding();
        self.before = Some(Before {
            una: out.una(),
            max: out.max(),
            // What SACK reports as sacked or lost is not in the air.
            in_flight: if sender.wants_sack() { out.pipe().min(sender.in_flight()) } else { out.flight() },
            // A probe may go out whatever the window says (RFC 8985, section 7.3).
            cwnd: if sender.probes() { f64::MAX } else { sender.window().cwnd },
            finished: sender.state() == State::Finished,
        });
    }

    pub fn sent(&mut self, sender: &Sender, sent: &Transmit) {
        let segment = &sent.segment;
        let Before { una, max, in_flight, cwnd, finished } = self.before.expect("asked before it was sent");
        if segment.seq_len() == 0 || segment.has(flags::SYN) {
            return; // SYN, or the ACK of one, or of a FIN
        }
        assert!(!finished, "sent after everything was acknowledged: {segment:?}");
        assert_eq!(sent.retransmission, segment.seq < max, "{segment:?} after {max:?}");
        assert!(segment.seq >= una && segment.end() <= sender.outstanding().max(), "{segment:?}");
        if sent.retransmission {
            self.retransmitted += u64::from(segment.len > 0);
            return;
        }
        assert_eq!(segment.seq, max, "new data leaves no gap");
        let end = segment.seq + u64::from(segment.len);
        assert!(end <= una.saturating_add(self.room), "beyond the peer's window or the buffer: {segment:?}");
        let after = in_flight + u64::from(segment.len); // FIN takes a sequence number but no room
        assert!(
            in_flight == 0 || after as f64 <= cwnd + self.allowance as f64,
            "flight {after} above the window {cwnd}"
        );
    }

    pub fn after(&self, sender: &Sender, books: &Books, receiver: &Receiver, delivered: u64) {
        self.sender_alone(sender, books);
        let fin = u64::from(receiver.finished() && self.handshake);
        assert_eq!(delivered + fin, receiver.rcv_nxt() - Seq::FIRST, "in order and once");
        if receiver.policy().honesty() != Honesty::FeignsArrival {
            assert!(sender.outstanding().una() <= receiver.rcv_nxt(), "acknowledged before it came");
        }
    }

    /// What holds of a sender whatever its peer does.
    pub fn sender_alone(&self, sender: &Sender, books: &Books) {
        let (window, out, counts) = (sender.window(), sender.outstanding(), books.counts());
        assert!(window.cwnd.is_finite() && window.cwnd >= window.mss, "cwnd {}", window.cwnd);
        assert!(window.ssthresh.is_finite() && window.ssthresh >= 0.0, "ssthresh {}", window.ssthresh);
        match sender.state() {
            State::Closed | State::Listening => assert_eq!(sender.deadline(), None),
            State::Opening => assert!(sender.deadline().is_some(), "a SYN is on its way"),
            State::Established | State::Finished => {
                assert_eq!(
                    sender.deadline().is_some(),
                    !out.is_empty(),
                    "the timer runs for what is in the air"
                );
            }
        }
        assert!(out.una() <= out.nxt() && out.nxt() <= out.max());
        self.scoreboard(sender);
        assert_eq!(counts.retransmitted_segments, self.retransmitted);
        assert!(counts.retransmitted_segments <= counts.segments);
        let judged = &counts.judged;
        assert!(judged.congestion_right <= judged.congestion && judged.wireless_right <= judged.wireless);
        let events = judged.congestion + judged.wireless + judged.spurious;
        assert!(events <= counts.fast_retransmits + counts.timeouts);
    }

    /// The segments cover what is outstanding without a gap, and the counters agree with their marks.
    fn scoreboard(&self, sender: &Sender) {
        let out = sender.outstanding();
        let (mut next, mut air) = (out.una(), 0);
        for segment in (0..out.len()).filter_map(|at| out.get(at)) {
            assert_eq!(segment.seq, next);
            assert!(segment.end > segment.seq);
            next = segment.end;
            let sacked = segment.is(marks::SACKED);
            assert!(!(sacked && segment.is(marks::LOST | marks::REPAIR)), "{segment:?}");
            air += if segment.is(marks::SACKED | marks::LOST) { 0 } else { segment.span() };
            air += if segment.is(marks::REPAIR) { segment.span() } else { 0 };
        }
        assert_eq!(next, out.max());
        // After a go-back, which forgets what SACK has reported, the counters say nothing until all of it has gone out again.
        if sender.wants_sack() && out.nxt() == out.max() {
            assert_eq!(air, out.pipe());
        }
    }
}
