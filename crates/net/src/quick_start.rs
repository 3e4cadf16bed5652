//! A router's part in Quick-Start (RFC 4782): what it grants of the rate that a SYN asks for.
//!
//! It grants at most what its link has left: the link's rate less its recent load and less what it has granted of late,
//! which is not in use yet. Load is counted in intervals of 100 ms; what counts is the more loaded of the last whole
//! one and the one at hand, and the grants of both (section 3.3 asks that approvals of late be remembered, and leaves
//! the interval open). A router that does not know the option cannot approve; the receiver sees that by the TTL. Links
//! have a router only in scenarios in which some flow asks.

use crate::packet::Packet;
use truckee_tcp::start::quick_start;
use truckee_tcp::{Span, Time, flags};

const INTERVAL: Span = Span::ms(100);

/// What the load is known of in one interval.
#[derive(Debug, Clone, Copy, Default)]
struct Load {
    bytes: u64,
    /// Bit/s granted.
    granted: f64,
}

/// The router in front of one direction of a link.
#[derive(Debug)]
pub struct Router {
    knows_option: bool,
    /// When the interval at hand began.
    began: Time,
    present: Load,
    last: Load,
}

impl Router {
    /// A router that knows the option, or one that does not.
    pub fn new(knows_option: bool) -> Self {
        Self { knows_option, began: Time::ZERO, present: Load::default(), last: Load::default() }
    }

    /// A packet of so many bytes comes to the link of `rate` bit/s; its request may be lowered.
    pub fn on_packet(&mut self, now: Time, packet: &mut Packet, rate: u64) {
        let intervals = now.saturating_sub(self.began).ticks(INTERVAL);
        if intervals > 0 {
            self.last = if intervals == 1 { self.present } else { Load::default() };
            self.present = Load::default();
            self.began += intervals * INTERVAL;
        }
        self.present.bytes += u64::from(packet.wire);
        if packet.request != 0 && packet.has(flags::SYN) && !packet.has(flags::ACK) {
            packet.request = self.grant(packet.request, rate);
        }
    }

    /// What is granted of a request.
    fn grant(&mut self, wanted: u8, rate: u64) -> u8 {
        if !self.knows_option {
            return 0;
        }
        let bits = 8 * self.present.bytes.max(self.last.bytes);
        let load = bits as f64 / INTERVAL.seconds() + self.present.granted + self.last.granted;
        let option = wanted.min(quick_start::request(rate as f64 - load));
        self.present.granted += quick_start::granted(option).unwrap_or(0.0);
        option
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: u64 = 10_000_000;

    fn ask(router: &mut Router, now: Time, wanted: f64) -> Option<f64> {
        let request = quick_start::request(wanted);
        let mut syn = Packet { flags: flags::SYN, request, ..Packet::default() };
        router.on_packet(now, &mut syn, RATE);
        quick_start::granted(syn.request)
    }

    fn load(router: &mut Router, now: Time, bytes: u32) {
        router.on_packet(now, &mut Packet { wire: bytes, ..Packet::default() }, RATE);
    }

    #[test]
    fn an_idle_link_grants_up_to_its_rate() {
        assert_eq!(ask(&mut Router::new(true), Time::ZERO, 2e6), Some(1.28e6));
        assert_eq!(ask(&mut Router::new(true), Time::ZERO, 1e9), Some(5.12e6));
    }

    #[test]
    fn load_is_not_granted_and_is_forgotten() {
        let mut router = Router::new(true);
        load(&mut router, Time::ms(10), 75_000); // 6 Mbit/s
        assert_eq!(ask(&mut router, Time::ms(150), 1e9), Some(2.56e6));
        assert_eq!(ask(&mut router, Time::ms(450), 1e9), Some(5.12e6));
        load(&mut router, Time::ms(460), 200_000);
        assert_eq!(ask(&mut router, Time::ms(470), 1e9), None, "more than there is");
    }

    #[test]
    fn grants_of_late_count_until_they_are_load() {
        let mut router = Router::new(true);
        let granted = [0, 10, 20, 110].map(|ms| ask(&mut router, Time::ms(ms), 5e6));
        assert_eq!(granted, [Some(2.56e6), Some(2.56e6), Some(2.56e6), Some(1.28e6)]);
        assert_eq!(ask(&mut router, Time::ms(300), 5e6), Some(2.56e6));
    }

    #[test]
    fn a_router_that_does_not_know_the_option_grants_nothing() {
        assert_eq!(ask(&mut Router::new(false), Time::ZERO, 1e6), None);
    }
}
