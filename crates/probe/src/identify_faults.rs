//! Servers that do what no TCP does, asked which TCP they are: each part ends in time and in bounded memory, sends no ACK that is
//! not owed, and whatever cannot be told is not, with the reason.

use super::tests::{BASE, PATIENCE, arrival, connection};
use super::*;
use crate::connection::Connection;
use crate::peer::Peer;
use crate::wire::{Arrival, Departure, flags};
use crate::{Error, Trust};
use std::cell::RefCell;
use std::rc::Rc;
use truckee_tcp::Time;

/// What a server does next: so long after what it did last, from this byte on so many bytes, with these flags.
type Act = (Span, u32, usize, u8);

/// What went between the two.
#[derive(Debug, Default)]
struct Went {
    came: u32,
    acks: u32,
    /// The highest number that was acknowledged.
    acked: u32,
}

/// A server that does the k-th act, whatever it gets.
struct Stubborn<F> {
    now: Time,
    act: F,
    k: u32,
    went: Rc<RefCell<Went>>,
}

impl<F: FnMut(u32) -> Option<Act>> Peer for Stubborn<F> {
    fn now(&self) -> Time {
        self.now
    }

    fn next(&mut self, until: Time) -> Result<Option<Arrival>, Error> {
        let act = (self.act)(self.k).filter(|(wait, ..)| self.now + *wait <= until);
        let Some((wait, at, len, bits)) = act else {
            self.now = self.now.max(until);
            return Ok(None);
        };
        (self.k, self.now) = (self.k + 1, self.now + wait);
        self.went.borrow_mut().came += 1;
        Ok(Some(arrival(self.now, at, vec![0xff; len], bits)))
    }

    fn send(&mut self, departure: &Departure<'_>) -> Result<(), Error> {
        let mut went = self.went.borrow_mut();
        if departure.payload.is_empty() && departure.flags & flags::RST == 0 {
            went.acks += 1;
            went.acked = went.acked.max(departure.ack.wrapping_sub(BASE));
        }
        Ok(())
    }

    fn sleep(&mut self, until: Time) {
        self.now = self.now.max(until);
    }
}

const MSS: u32 = 536;
const SOON: Span = Span::us(100);

/// What a server does, by its name; the reasons that may be said of it.
type Bad = (&'static str, fn(u32) -> Option<Act>, &'static [&'static str]);

const SERVERS: [Bad; 9] = [
    ("says nothing", |_| None, &["stalled"]),
    ("stalls in its first window", |k| (k < 10).then_some((SOON, k * MSS, 536, flags::ACK)), &["stalled"]),
    ("stalls behind a loss", |k| (k < 60).then_some((SOON, k * MSS, 536, flags::ACK)), &["stalled", "lost"]),
    ("resets at once", |_| Some((SOON, 0, 0, flags::RST | flags::ACK)), &["reset"]),
    (
        "resets in its answer",
        |k| {
            Some(if k < 30 {
                (SOON, k * MSS, 536, flags::ACK)
            } else {
                (SOON, 0, 0, flags::RST | flags::ACK)
            })
        },
        &["reset"],
    ),
    (
        "never ends, whatever it is told",
        |k| Some((SOON, k.wrapping_mul(MSS), 536, flags::ACK)),
        &["flood", "slow", "stalled"],
    ),
    ("sends a byte at a time, for ever", |k| Some((SOON, k, 1, flags::ACK)), &["flood", "slow", "stalled"]),
    ("says the same for ever", |_| Some((SOON, 0, 536, flags::ACK)), &["flood", "slow", "stalled", "short"]),
    (
        "lies in its numbers",
        |k| Some((SOON, k.wrapping_mul(2_654_435_761) % (1 << 24), 536, flags::ACK)),
        &["flood", "slow", "stalled", "lost", "short"],
    ),
];

/// A part over a connection to a server; what went, how long it took, and how it ended.
fn asked<T>(
    act: fn(u32) -> Option<Act>,
    part: impl FnOnce(&mut Connection<Stubborn<fn(u32) -> Option<Act>>>) -> Result<T, Stop>,
) -> (Rc<RefCell<Went>>, Span, Result<T, Stop>) {
    let went = Rc::default();
    let peer = Stubborn { now: Time::ZERO, act, k: 0, went: Rc::clone(&went) };
    let mut connection = connection(peer, Span::ms(20), REPAIRS_WINDOW);
    let ended = part(&mut connection);
    let took = connection.now() - Time::ZERO;
    (went, took, ended)
}

#[test]
fn no_bad_server_is_told_for_a_recovery_and_the_reason_is_said() {
    let cancel = Cancel::new();
    for (name, act, reasons) in SERVERS {
        for sack in [true, false] {
            let (went, took, ended) = asked(act, |c| repairs::run(c, 1, sack, PATIENCE, &cancel));
            let went = went.borrow();
            assert!(took < Span::s(60), "{name}: {took:?}");
            assert!(went.acks <= went.came + 1, "{name}: {went:?}");
            match ended {
                Err(Stop::Fault(fault)) => {
                    assert!(reasons.contains(&fault.name()), "{name}: {fault:?}");
                    let unseen = [Unseen { part: "repairs", repetition: 1, fault }];
                    let found = explained(recovery(&[]), "repairs", &unseen);
                    assert_eq!(found.is, None, "{name}");
                    assert!(!found.evidence.is_empty(), "{name}");
                }
                Ok(seen) => {
                    let found = recovery(&[&seen]);
                    assert_eq!(found.is, None, "{name}, {sack}: {seen:?} {found:?}");
                    assert!(!found.evidence.is_empty(), "{name}");
                }
                Err(other) => panic!("{name}: {other:?}"),
            }
        }
    }
}

#[test]
fn no_bad_server_is_told_for_a_congestion_control_and_the_reason_is_said() {
    let cancel = Cancel::new();
    for (name, act, reasons) in SERVERS {
        let (went, took, ended) = asked(act, |c| rounds::run(c, 1, true, PATIENCE, &cancel));
        let went = went.borrow();
        assert!(took < Span::s(60), "{name}: {took:?}");
        assert!(went.acks <= went.came + 1, "{name}: {went:?}");
        match ended {
            Err(Stop::Fault(fault)) => assert!(reasons.contains(&fault.name()), "{name}: {fault:?}"),
            Ok(seen) => {
                let found = control::control(std::slice::from_ref(&seen));
                assert_eq!(found.is, None, "{name}: {seen:?} {found:?}");
                assert!(!found.evidence.is_empty(), "{name}");
            }
            Err(other) => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn a_bad_server_has_a_fingerprint_of_what_it_showed_or_none_in_time() {
    let cancel = Cancel::new();
    for (name, act, reasons) in SERVERS {
        let (header, agreed) = Default::default();
        let (_, took, ended) = asked(act, |c| fingerprint::run(c, &header, &agreed, PATIENCE, &cancel));
        assert!(took < Span::s(60), "{name}: {took:?}");
        if let Err(Stop::Fault(fault)) = &ended {
            assert!(reasons.contains(&fault.name()), "{name}: {fault:?}");
        }
        assert!(matches!(ended, Ok(_) | Err(Stop::Fault(_))), "{name}: {ended:?}");
    }
}

#[test]
fn a_bad_server_of_tls_is_none_and_in_time() {
    let config = crate::tls::config(&Trust::Anyone).unwrap();
    let cancel = Cancel::new();
    for (name, act, _) in SERVERS {
        let mut tls = Tls::new(&config, "example.org").unwrap();
        let (_, took, ended) =
            asked(act, |c| secure::secure(c, &mut tls, b"GET", Span::ms(130), PATIENCE, &cancel));
        assert!(took < Span::s(60), "{name}: {took:?}");
        assert!(matches!(ended, Err(Stop::Fault(_))), "{name}: {ended:?}");
    }
}
