//! Frames on the air.

use crate::mac::{Frame, Pending};
use crate::report::Failure;
use crate::{Span, Time};

/// A frame on the air, from its beginning at the sender to its end at all who hear it.
#[derive(Debug)]
pub(crate) struct Transmission {
    pub frame: Frame,
    pub start: Time,
    /// How long its beginning lasts.
    pub header: Span,
    /// How far above noise and interference it is never in error, as a factor.
    pub clean: f64,
    /// Copies of what it carries.
    pub packets: Vec<Pending>,
    /// Who hears it, and with how many milliwatts.
    pub heard: Vec<(u32, f64)>,
    /// Why whom it is for does not read it.
    pub missed: Option<Failure>,
}

/// What happens to a frame, in the order in which it does where times are equal: ends go before beginnings, so that what
/// follows without a gap does not overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The sender has sent it.
    Sent,
    /// It has arrived, all of it, everywhere.
    Arrived,
    /// It begins to arrive.
    Arriving,
}

impl Transmission {
    fn new(frame: Frame) -> Self {
        let (start, header, clean) = (Time::ZERO, Span::ZERO, f64::INFINITY);
        let (packets, heard, missed) = (Vec::new(), Vec::new(), None);
        Self { frame, start, header, clean, packets, heard, missed }
    }
}

/// All frames on the air. A place is used again, with its memory, when its frame has arrived.
#[derive(Debug, Default)]
pub(crate) struct Air {
    /// None: it is in the hands of whoever goes through those that hear it ([`Air::take`]), to whom it moves as a whole and
    /// without a copy.
    transmissions: Vec<Option<Box<Transmission>>>,
    free: Vec<u32>,
    /// Frames that are being sent, since when without a gap, and for how long any was before.
    sending: u32,
    busy_since: Time,
    busy: Span,
    /// What is to happen, the next at the end. Few frames are on the air at a time: a row of them costs less than a heap.
    agenda: Vec<Event>,
}

/// So many steps are looked through one by one.
const FEW: usize = 16;

/// Time, step and place from the upper half on, so that one comparison orders them.
type Event = u128;

impl Air {
    /// When something happens next; at the end of time if nothing does.
    #[inline]
    pub fn next(&self) -> Time {
        self.agenda.last().map_or(Time::MAX, |event| Time::ns((event >> 64) as u64))
    }

    /// Takes it.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, Step, u32)> {
        let event = self.agenda.pop()?;
        let step = match (event >> 32) as u32 {
            0 => Step::Sent,
            1 => Step::Arrived,
            _ => Step::Arriving,
        };
        Some((Time::ns((event >> 64) as u64), step, event as u32))
    }

    #[inline]
    pub fn plan(&mut self, at: Time, step: Step, slot: u32) {
        let event = Event::from(at.nanos()) << 64 | Event::from(step as u32) << 32 | Event::from(slot);
        let mut place = self.agenda.len();
        if place > FEW {
            return self.plan_among_many(event);
        }
        self.agenda.push(event);
        while place > 0 && self.agenda[place - 1] < event {
            self.agenda[place] = self.agenda[place - 1];
            place -= 1;
        }
        self.agenda[place] = event;
    }

    #[cold]
    fn plan_among_many(&mut self, event: Event) {
        let before = self.agenda.partition_point(|other| *other > event);
        self.agenda.insert(before, event);
    }

    /// A frame begins to be sent. The place that it has, and what is there, whose lists are empty.
    pub fn add(&mut self, start: Time, frame: &Frame) -> (u32, &mut Transmission) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.transmissions.push(None);
            (self.transmissions.len() - 1) as u32
        });
        if self.sending == 0 {
            self.busy_since = start;
        }
        self.sending += 1;
        self.plan(start + frame.airtime, Step::Sent, slot);
        let new = || Box::new(Transmission::new(*frame));
        let transmission = self.transmissions[slot as usize].get_or_insert_with(new);
        (transmission.frame, transmission.start) = (*frame, start);
        // Who is not among those that hear it is out of reach.
        transmission.missed = Some(Failure::Weak);
        (slot, transmission)
    }

    /// The frame at a place.
    #[inline]
    pub fn frame(&self, slot: u32) -> Option<&Frame> {
        self.transmissions[slot as usize].as_deref().map(|transmission| &transmission.frame)
    }

    /// What is at a place, until it is put back or freed.
    #[inline]
    pub fn take(&mut self, slot: u32) -> Option<Box<Transmission>> {
        self.transmissions[slot as usize].take()
    }

    #[inline]
    pub fn put_back(&mut self, slot: u32, transmission: Box<Transmission>) {
        self.transmissions[slot as usize] = Some(transmission);
    }

    /// Whom a frame is for does not get it, for this reason.
    pub fn miss(&mut self, slot: u32, node: u32, failure: Failure) {
        if let Some(transmission) = &mut self.transmissions[slot as usize]
            && transmission.frame.to == node
        {
            transmission.missed = Some(failure);
        }
    }

    /// A frame has been sent.
    #[inline]
    pub fn sent(&mut self, now: Time) {
        self.sending -= 1;
        if self.sending == 0 {
            self.busy += now - self.busy_since;
        }
    }

    /// For how long any frame has been on the air.
    pub fn busy(&self, now: Time) -> Span {
        self.busy + if self.sending > 0 { now - self.busy_since } else { Span::ZERO }
    }

    /// A frame has arrived.
    pub fn free(&mut self, slot: u32, mut transmission: Box<Transmission>) {
        transmission.packets.clear();
        transmission.heard.clear();
        self.put_back(slot, transmission);
        self.free.push(slot);
    }
}
