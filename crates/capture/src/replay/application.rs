//! Whether it is the application that limits a sender: then estimates of bandwidth tell of how it writes, not of the path.
//!
//! A sender that has more to send has something in the air, and sends full segments. Time with nothing in the air, beyond
//! what an ACK takes to the sender and data back, and segments that are not full, are the application's. An application
//! that writes steadily, in full segments, less than the path could carry does not show.

use crate::flow::{Data, Flow, Sent};
use truckee_tcp::{Span, Time};

/// Share of the time with nothing in the air from which on the application limits.
const IDLE: f64 = 0.1;
/// Share of segments that are not full from which on it does.
const SHORT: f64 = 0.5;
/// What a sender may take to go on, beside the round trip to it.
const PAUSE: Span = Span::ms(1);

/// What shows of the application.
#[derive(Debug, Clone, Default)]
pub(super) struct Application {
    first: Option<Time>,
    last: Time,
    /// Since when there has been nothing in the air.
    empty: Option<Time>,
    idle: Span,
    new: u64,
    short: u64,
}

impl Application {
    /// Data has passed that is no copy; `flow` has heard of it.
    pub fn on_data(&mut self, flow: &Flow, size: u32, data: &Data, sent: &Sent) {
        self.first.get_or_insert(data.now);
        self.last = data.now;
        if let Some(since) = self.empty.take() {
            let round = flow.rtt.sender_side_now().unwrap_or(Span::ZERO);
            let wait = data.now.saturating_sub(since);
            self.idle += wait.saturating_sub(round + round / 10 + PAUSE);
        }
        if sent.new > 0 {
            self.new += 1;
            self.short += u64::from(!data.len.is_multiple_of(size.max(1)));
        }
    }

    /// An ACK has passed; `flow` has heard of it.
    pub fn on_ack(&mut self, flow: &Flow, now: Time) {
        self.last = now;
        // A closed window is the receiver's doing.
        let empty = flow.book.flight() == 0 && !flow.windows.is_closed() && self.first.is_some();
        self.empty = if empty { self.empty.or(Some(now)) } else { None };
    }

    /// Share of the time from the first data on with nothing in the air.
    pub fn idle_share(&self) -> Option<f64> {
        let span = self.last.saturating_sub(self.first?);
        (span > Span::ZERO).then(|| self.idle.as_f64() / span.as_f64())
    }

    /// Share of the segments of new data that are not full.
    pub fn short_share(&self) -> Option<f64> {
        (self.new > 0).then(|| self.short as f64 / self.new as f64)
    }

    /// Whether it limits.
    pub fn limits(&self) -> bool {
        // The last segment is seldom full.
        self.idle_share().is_some_and(|share| share >= IDLE)
            || (self.new > 2 && self.short_share().is_some_and(|share| share >= SHORT))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::tests::Script;

    /// What shows where a segment of so many bytes is sent every so many ms, over a round trip of 100 ms.
    fn steady(every: u64, len: u32) -> Application {
        let (mut s, mut application) = (Script::new(), Application::default());
        let (mut sent, mut acked) = (0, 0);
        for at in (0..5000).step_by(10) {
            if at % every == 0 {
                let data = s.made(at, 1 + sent, len, 0);
                let (told, _) = s.flow.on_data(&data, 1000);
                sent += u64::from(len);
                application.on_data(&s.flow, 1000, &data, &told);
            }
            let arrived = at.checked_sub(100).map_or(0, |at| at / every + 1) * u64::from(len);
            if arrived > acked {
                acked = arrived;
                s.ack(at, 1 + acked);
                application.on_ack(&s.flow, Time::ms(at));
            }
        }
        application
    }

    #[test]
    fn what_is_sent_now_and_then_or_in_small_pieces_is_limited_by_the_application() {
        let greedy = steady(10, 1000);
        assert!(!greedy.limits() && greedy.idle_share() == Some(0.0), "{greedy:?}");
        let seldom = steady(500, 1000);
        assert!(
            seldom.limits() && seldom.idle_share().is_some_and(|s| (0.7..0.85).contains(&s)),
            "{seldom:?}"
        );
        let small = steady(20, 160);
        assert!(small.limits() && small.idle_share() == Some(0.0), "{small:?}");
    }
}
