//! Watches the senders of a run from outside, whatever their congestion control: windows and loss states, as
//! `bpf/watch.bpf.c` reports them from two tracepoints. Not for: what a sender believes of a loss (see
//! `truckee-cc`) or what truly happened to it (see `truckee-path`).

use super::layout::{self, record};
use crate::Error;
use libbpf_rs::{Link, MapCore, MapFlags, Object, ObjectBuilder, RingBuffer, RingBufferBuilder};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;
use truckee_host::bpf::parse;
use truckee_tcp::{Span, Time};

/// What Linux takes the state of a connection's losses to be (`enum tcp_ca_state`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Nothing unusual.
    Open,
    /// Duplicate ACKs or SACK blocks, too few to act on.
    Disorder,
    /// The window is being reduced for another reason than a loss: ECN, or a full queue of the host's own.
    Reduction,
    /// Fast recovery.
    Recovery,
    /// After a retransmission timeout.
    Loss,
}

/// One record of the program.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Record {
    /// When, CLOCK_MONOTONIC, ns.
    pub t: Time,
    /// Inode of the socket's network namespace.
    pub namespace: u32,
    /// Its port.
    pub local: u16,
    /// Its peer's port.
    pub peer: u16,
    /// First sequence number not acknowledged, as sent.
    pub una: u32,
    /// Next sequence number to send, as sent.
    pub nxt: u32,
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Slow-start threshold, segments; above 2^31: none yet.
    pub ssthresh: u32,
    /// Smoothed round-trip time, us.
    pub srtt_us: u32,
    /// Bytes of a full segment.
    pub mss: u32,
    /// The state of its losses until now.
    pub before: State,
    /// What it turns to; none: this is no turn, but a look at the window.
    pub turns: Option<State>,
}

/// The program, compiled.
static PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/watch.bpf.o"));

impl Record {
    /// None: it names a state that is none.
    fn of(told: &record) -> Option<Self> {
        let turns = u32::from(told.kind) == layout::kind::STATE.0;
        Some(Self {
            t: Time::ns(told.t),
            namespace: told.namespace,
            local: told.local,
            peer: told.peer,
            una: told.una,
            nxt: told.nxt,
            cwnd: told.cwnd,
            ssthresh: told.ssthresh,
            srtt_us: told.srtt_us,
            mss: told.mss,
            before: state(told.before)?,
            turns: if turns { Some(state(told.after)?) } else { None },
        })
    }
}

fn state(number: u8) -> Option<State> {
    [State::Open, State::Disorder, State::Reduction, State::Recovery, State::Loss]
        .get(usize::from(number))
        .copied()
}

/// The program at work; it stops with this.
pub struct Watch {
    ring: RingBuffer<'static>,
    records: Rc<RefCell<Vec<Record>>>,
    object: Object,
    _links: Vec<Link>,
}

impl Watch {
    /// Watches the sockets of these namespaces (inodes). A window that stands still is told again after `spacing` at
    /// the earliest; with 0 every ACK tells it.
    pub fn start(namespaces: &[u64], spacing: Span) -> Result<Self, Error> {
        let bpf = |doing: &str, e: libbpf_rs::Error| Error::Bpf {
            doing: doing.to_owned(),
            reason: format!("{e:#}"),
        };
        let mut open = ObjectBuilder::default()
            .open_memory(PROGRAM)
            .map_err(|e| bpf("read the BPF program \"watch\"", e))?;
        for mut map in open.maps_mut() {
            if map.name().to_string_lossy() == ".rodata.spacing"
                && let Some(value) = map.initial_value_mut()
            {
                value[..8].copy_from_slice(&spacing.nanos().to_ne_bytes());
            }
        }
        let mut object = open.load().map_err(|e| bpf("load the BPF program that watches the senders", e))?;
        for map in object.maps_mut() {
            if map.name() == "watched" {
                for inode in namespaces {
                    map.update(&(*inode as u32).to_ne_bytes(), &[1], MapFlags::ANY)
                        .map_err(|e| bpf("say which namespaces to watch", e))?;
                }
            }
        }
        let mut links = Vec::new();
        for program in object.progs_mut() {
            links.push(program.attach().map_err(|e| bpf("watch the kernel's TCP tracepoints", e))?);
        }
        let records = Rc::new(RefCell::new(Vec::new()));
        let sink = Rc::clone(&records);
        let mut builder = RingBufferBuilder::new();
        let Some(map) = object.maps().find(|map| map.name() == "records") else {
            return Err(Error::Bpf { doing: "read the records".into(), reason: "the map is missing".into() });
        };
        builder
            .add(&map, move |bytes| {
                sink.borrow_mut().extend(parse::<record>(bytes).as_ref().and_then(Record::of));
                0
            })
            .map_err(|e| bpf("read the records", e))?;
        let ring = builder.build().map_err(|e| bpf("read the records", e))?;
        Ok(Self { ring, records, object, _links: links })
    }

    /// What has been recorded since the last call, in order of time; waits up to `patience` for the first.
    pub fn take(&self, patience: Duration) -> Vec<Record> {
        // An interrupted wait is not an error: what is there is taken the next time.
        let _ = self.ring.poll(patience);
        self.records.take()
    }

    /// How many records were lost, since nobody took them in time.
    pub fn lost(&self) -> u64 {
        let bss = self.object.maps().find(|map| map.name().to_string_lossy().ends_with(".bss"));
        let value = bss.and_then(|map| map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok().flatten());
        value.and_then(|v| Some(u64::from_ne_bytes(v.get(..8)?.try_into().ok()?))).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_the_program_writes_it() {
        let told = record {
            t: 7,
            namespace: 4026531840,
            local: 1111,
            peer: 20_000,
            una: 10,
            nxt: 20,
            cwnd: 30,
            ssthresh: 40,
            srtt_us: 50,
            mss: 60,
            kind: layout::kind::STATE.0 as u8,
            before: 1,
            after: 3,
            ..record::default()
        };
        let expected = Record {
            t: Time::ns(7),
            namespace: 4026531840,
            local: 1111,
            peer: 20_000,
            una: 10,
            nxt: 20,
            cwnd: 30,
            ssthresh: 40,
            srtt_us: 50,
            mss: 60,
            before: State::Disorder,
            turns: Some(State::Recovery),
        };
        assert_eq!(Record::of(&told), Some(expected));
        assert_eq!(Record::of(&record { after: 9, ..told }), None, "a state that is none");
    }
}
