//! Senders of `truckee-tcp` behind the prober, in a time that passes as they say: each is told for what it is. And servers that
//! do anything at all, which end no connection but in time and get no ACK that is not owed to them.

use super::*;
use crate::connection::{Connection, Standing};
use crate::identity::{Control, Recovery};
use crate::peer::Peer;
use crate::recovery::recovery;
use crate::wire::{Arrival, Departure, Header, flags};
use crate::{Confidence, Error};
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;
use truckee_tcp::sender::Parts;
use truckee_tcp::{Endpoint, Segment, Seq, Size, Span, Stack, Time, preset};

/// Where the server's numbers begin: they wrap soon.
pub(super) const BASE: u32 = u32::MAX - 99_999;
const MSS: u32 = 536;
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
const BODY: u64 = 8 << 20;

/// A sender over a path of `rtt`, and a clock that only this moves.
struct Simulated {
    now: Time,
    rtt: Span,
    server: Endpoint,
    asked: bool,
    /// What is on its way to the server, and what is on its way back.
    there: BTreeMap<(Time, usize), Segment>,
    back: BTreeMap<(Time, usize), Arrival>,
    count: usize,
}

impl Simulated {
    fn new(name: &str, initial_window: f64, rtt: Span) -> Self {
        let preset = preset::find(name).unwrap();
        let stack = Stack {
            mss: MSS,
            handshake: false,
            initial_window: Size::Segments(initial_window),
            ..Stack::default()
        };
        let mut server = Endpoint::sender(&stack, Parts::of(preset).unwrap());
        server.open(Time::ZERO, &mut ());
        let (there, back) = Default::default();
        Self { now: Time::ZERO, rtt, server, asked: false, there, back, count: 0 }
    }

    /// What the server does at this time, if that is its turn: each ACK is answered before the next is looked at.
    fn serve(&mut self, now: Time) {
        while let Some(entry) = self.there.first_entry().filter(|entry| entry.key().0 <= now) {
            let segment = entry.remove();
            if segment.len > 0 && !std::mem::replace(&mut self.asked, true) {
                self.server.tx_mut().unwrap().write(BODY);
            }
            self.server.on_segment(now, &segment, false, &mut ());
            self.transmit(now);
        }
        if self.server.deadline().is_some_and(|deadline| deadline <= now) {
            self.server.on_timer(now, &mut ());
        }
        self.transmit(now);
    }

    /// When the server has something to do.
    fn turn(&self) -> Option<Time> {
        let there = self.there.first_key_value().map(|((time, _), _)| *time);
        let own = self.server.deadline().into_iter().chain(self.server.release()).min();
        there.into_iter().chain(own.filter(|_| self.asked)).min()
    }

    fn transmit(&mut self, now: Time) {
        while let Some(sent) = self.server.poll_transmit(now, &mut ()) {
            let segment = sent.segment;
            if segment.len == 0 {
                continue;
            }
            let time = now + self.rtt / 2;
            let at = (segment.seq.number() - 1) as u32;
            let payload = vec![b'x'; segment.len as usize];
            self.count += 1;
            self.back.insert((time, self.count), arrival(time, at, payload, flags::ACK));
        }
    }
}

pub(super) fn arrival(time: Time, at: u32, payload: Vec<u8>, flags: u8) -> Arrival {
    let (stamps, header, segment) = (None, Header::default(), 0);
    Arrival { time, seq: BASE.wrapping_add(at), ack: 1, flags, stamps, header, segment, payload }
}

impl Peer for Simulated {
    fn now(&self) -> Time {
        self.now
    }

    fn next(&mut self, until: Time) -> Result<Option<Arrival>, Error> {
        loop {
            let back = self.back.first_key_value().map(|((time, _), _)| *time);
            match (back, self.turn()) {
                (Some(back), turn) if back <= until && turn.is_none_or(|turn| back <= turn) => {
                    self.now = self.now.max(back);
                    return Ok(self.back.pop_first().map(|(_, arrival)| arrival));
                }
                (_, Some(turn)) if turn <= until => {
                    self.now = self.now.max(turn);
                    self.serve(self.now);
                }
                _ => {
                    self.now = self.now.max(until);
                    return Ok(None);
                }
            }
        }
    }

    fn send(&mut self, departure: &Departure<'_>) -> Result<(), Error> {
        if departure.flags & flags::RST != 0 {
            return Ok(());
        }
        let bytes = |number: u32| Seq::at(1 + u64::from(number.wrapping_sub(BASE)));
        let mut segment = Segment {
            seq: Seq::FIRST,
            ack: bytes(departure.ack),
            window: u32::from(departure.window) << SCALE,
            len: departure.payload.len() as u32,
            flags: truckee_tcp::flags::ACK,
            ..Segment::default()
        };
        for (from, to) in departure.sacks {
            segment.sack.push(segment.ack, bytes(*from), bytes(*to));
        }
        self.count += 1;
        self.there.insert((self.now + self.rtt / 2, self.count), segment);
        Ok(())
    }

    fn sleep(&mut self, until: Time) {
        // What comes meanwhile waits.
        while let Some(turn) = self.turn().filter(|turn| *turn <= until) {
            self.now = self.now.max(turn);
            self.serve(self.now);
        }
        self.now = self.now.max(until);
    }
}

pub(super) fn connection<P: Peer>(peer: P, rtt: Span, window: u32) -> Connection<P> {
    let standing = Standing { next: 1, acked: BASE, field: (window >> SCALE) as u16, stamps: None };
    Connection::new(peer, standing, Time::ZERO, rtt.into(), b"GET / HTTP/1.1\r\n\r\n".to_vec())
}

fn repaired(name: &str, window: f64, rtt: Span, sack: bool) -> Option<Recovery> {
    let mut connection = connection(Simulated::new(name, window, rtt), rtt, REPAIRS_WINDOW);
    let seen = repairs::run(&mut connection, 1, sack, PATIENCE, &Cancel::new());
    let seen = seen.unwrap_or_else(|stop| panic!("{name}, {window}, {rtt:?}: {stop:?}"));
    let found = recovery(&[&seen]);
    assert!(found.is.is_some(), "{name}, {window}, {rtt:?}: {seen:?} {found:?}");
    found.is
}

#[test]
fn each_recovery_is_told_by_what_repairs_two_losses() {
    use Recovery::{Newreno, Reno, Sack, Tahoe, TahoeNofr};
    let cases = [
        ("tahoe-nofr", TahoeNofr),
        ("tahoe", Tahoe),
        ("reno", Reno),
        ("newreno", Newreno),
        ("rfc2581", Newreno),
        ("sack", Newreno),
    ];
    for rtt in [Span::us(100), Span::ms(20), Span::ms(150), Span::ms(600)] {
        for window in [1.0, 3.0, 10.0] {
            for (name, is) in cases {
                let found = repaired(name, window, rtt, false);
                assert!(
                    found == Some(is) || (name == "sack" && found.is_some()),
                    "{name}, {window}, {rtt:?}: {found:?}"
                );
            }
            assert_eq!(repaired("sack", window, rtt, true), Some(Sack), "{window}, {rtt:?}");
        }
    }
}

fn windows(name: &str, window: f64, rtt: Span) -> crate::identity::Rounds {
    let offered = rounds::offered(MSS as u16);
    let mut connection = connection(Simulated::new(name, window, rtt), rtt, offered);
    let seen = rounds::run(&mut connection, 1, true, PATIENCE, &Cancel::new());
    seen.unwrap_or_else(|stop| panic!("{name}, {window}, {rtt:?}: {stop:?}"))
}

#[test]
fn each_congestion_control_is_told_by_its_windows() {
    use Control::{Bbr, Cubic, Highspeed, Reno, Vegas, Westwood};
    let cases = [
        ("reno", Reno),
        ("newreno", Reno),
        ("sack", Reno),
        ("cubic", Cubic),
        ("bbr", Bbr),
        ("vegas", Vegas),
        ("westwood-plus", Westwood),
        ("hstcp", Highspeed),
    ];
    let mut wrong = Vec::new();
    for rtt in [Span::ms(1), Span::ms(40), Span::ms(200)] {
        for window in [2.0, 3.0, 10.0] {
            for (name, is) in cases {
                // There is none but with ten, and the simulated one has no handshake to learn the round trip from.
                if is == Bbr && window < 10.0 {
                    continue;
                }
                let seen = windows(name, window, rtt);
                let found = control::control(std::slice::from_ref(&seen));
                assert_eq!(found.confidence, Confidence::Low, "of one repetition");
                if found.is != Some(is) {
                    wrong.push(format!("{name}, {window}, {rtt:?}: {found:?}\n  {seen:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// A server that does as it was drawn, whatever it gets.
struct Drawn {
    now: Time,
    acts: Vec<(u16, u32, u16, u8)>,
    at: usize,
    sent: Rc<RefCell<(u32, u32)>>,
}

impl Peer for Drawn {
    fn now(&self) -> Time {
        self.now
    }

    fn next(&mut self, until: Time) -> Result<Option<Arrival>, Error> {
        let (wait, start, len, bits) = self.acts[self.at % self.acts.len()];
        let time = self.now + Span::us(u64::from(wait)) + Span::ns(1);
        if time > until {
            self.now = self.now.max(until);
            return Ok(None);
        }
        self.at += 1;
        self.now = time;
        let len = usize::from(len % 3000);
        // Mostly what follows, now and then anywhere.
        let next = self.sent.borrow().0;
        let at = if bits & 7 == 0 { start } else { next };
        let mut state = self.sent.borrow_mut();
        state.0 = at.wrapping_add(len as u32) % (1 << 20);
        let reset = bits == 0xff;
        let flags = if reset { flags::RST | flags::ACK } else { flags::ACK };
        Ok(Some(arrival(time, at, vec![b'x'; len], flags)))
    }

    fn send(&mut self, departure: &Departure<'_>) -> Result<(), Error> {
        if departure.flags == flags::ACK {
            self.sent.borrow_mut().1 += 1;
        }
        Ok(())
    }

    fn sleep(&mut self, until: Time) {
        self.now = self.now.max(until);
    }
}

proptest! {
    #[test]
    fn whatever_a_server_does_its_connection_ends_in_time(
        acts in prop::collection::vec((any::<u16>(), any::<u32>(), any::<u16>(), any::<u8>()), 1..60),
        sack in any::<bool>(),
    ) {
        for which in 0..4 {
            let sent = Rc::default();
            let peer = Drawn { now: Time::ZERO, acts: acts.clone(), at: 0, sent: Rc::clone(&sent) };
            let mut connection = connection(peer, Span::ms(20), 1 << 17);
            let cancel = Cancel::new();
            let ended = match which {
                0 => repairs::run(&mut connection, 1, sack, PATIENCE, &cancel).map(drop),
                1 => rounds::run(&mut connection, 1, sack, PATIENCE, &cancel).map(drop),
                2 => {
                    let config = crate::tls::config(&crate::Trust::Anyone).unwrap();
                    let mut tls = Tls::new(&config, "example.org").unwrap();
                    secure::secure(&mut connection, &mut tls, b"GET", Span::ms(130), PATIENCE, &cancel)
                }
                _ => {
                    let (header, agreed) = Default::default();
                    fingerprint::run(&mut connection, &header, &agreed, PATIENCE, &cancel).map(drop)
                }
            };
            let took = connection.now() - Time::ZERO;
            prop_assert!(took < Span::s(60), "{took:?}");
            prop_assert!(matches!(ended, Ok(()) | Err(Stop::Fault(_))), "{ended:?}");
        }
    }
}
