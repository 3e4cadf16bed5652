//! Whatever the input, reading it ends, with a message and what could be read up to there; never a panic, never unbounded
//! memory.
//!
//! Runs as an ordinary test; `cargo bolero test arbitrary_bytes` runs it under a fuzzer, `BOLERO_RANDOM_ITERATIONS` sets
//! how often.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use bolero::{TypeGenerator, check};
use truckee_capture::file::LinkType;
use truckee_capture::portrait::Portrait;
use truckee_capture::replay::Cast;
use truckee_capture::table::Each;
use truckee_capture::write::Writer;
use truckee_capture::{Limits, Way, read};
use truckee_tcp::Time;

/// Small, so that they are reached.
const LIMITS: Limits = Limits { followed: 4, reported: 4, bytes: 20_000, skips: 4 };

/// Bytes as they are, behind one of the beginnings that captures have.
#[derive(Debug, Clone, TypeGenerator)]
struct Input {
    beginning: u8,
    bytes: Vec<u8>,
}

#[test]
fn arbitrary_bytes() {
    const BEGINNINGS: [&[u8]; 6] = [
        b"",
        b"\xd4\xc3\xb2\xa1\x02\0\x04\0\0\0\0\0\0\0\0\0\xff\xff\0\0\x65\0\0\0",
        b"\xa1\xb2\x3c\x4d\0\x02\0\x04\0\0\0\0\0\0\0\0\0\0\xff\xff\0\0\0\x01",
        b"\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a\x01\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\x1c\0\0\0",
        b"\x1f\x8b\x08\0\0\0\0\0\0\0",
        b"\x28\xb5\x2f\xfd",
    ];
    check!().with_type::<Input>().with_iterations(20_000).for_each(|input| {
        let beginning = BEGINNINGS[usize::from(input.beginning) % BEGINNINGS.len()];
        let all = [beginning, &input.bytes].concat();
        let Ok(source) = truckee_capture::source::unpacked(&all[..]) else { return };
        if let Ok(capture) = read(source, LIMITS, None, |_| true) {
            assert!(capture.connections.len() <= LIMITS.reported);
        }
    });
}

/// A packet of one of a few connections, with headers that are right where they must be to get so far, and anything else.
#[derive(Debug, Clone, TypeGenerator)]
struct Packet {
    from: u8,
    to: u8,
    later: u32,
    seq: u32,
    ack: u32,
    near: bool,
    flags: u8,
    window: u16,
    len: u16,
    options: Vec<u8>,
}

impl Packet {
    fn bytes(&self) -> Vec<u8> {
        // Numbers that lie near each other meet the books' finer points; others their bounds.
        let number = |n: u32| if self.near { n % 5000 } else { n };
        let mut options = self.options.clone();
        options.truncate(40);
        options.resize(options.len().next_multiple_of(4), 0);
        let header = 20 + options.len();
        let mut bytes = vec![0x45, 0];
        bytes.extend((20 + header as u16).saturating_add(self.len).to_be_bytes());
        bytes.extend([0, self.len as u8, 0, 0, 64, 6, 0, 0, 10, 0, 0, self.from % 3, 10, 0, 0, self.to % 3]);
        bytes.extend([0, self.from % 3, 0, self.to % 3]);
        bytes.extend(number(self.seq).to_be_bytes());
        bytes.extend(number(self.ack).to_be_bytes());
        bytes.extend([(header as u8 / 4) << 4, self.flags]);
        bytes.extend(self.window.to_be_bytes());
        bytes.extend([0; 4]);
        bytes.extend(options);
        bytes
    }
}

#[test]
fn arbitrary_segments() {
    check!().with_type::<Vec<Packet>>().with_iterations(20_000).for_each(|packets| {
        let mut writer = Writer::new(Vec::new(), "here").unwrap();
        let mut now = 0;
        for packet in packets {
            now += u64::from(packet.later);
            let bytes = packet.bytes();
            let wire_len = u32::from(u16::from_be_bytes([bytes[2], bytes[3]]));
            writer.packet(Time::ns(now), &bytes, wire_len, None).unwrap();
        }
        let file = writer.finish().unwrap();
        let portrait = |number| {
            let cast = Cast::named(["tibet", "vegas", "taba-detector"]).unwrap();
            (number, Portrait::new(number, Way::ToServer, cast, 1))
        };
        let mut each = Each((1..4).map(portrait).collect());
        let capture = read(&file[..], LIMITS, Some(&mut each), |_| true).unwrap();
        for portrait in each.0.values() {
            for trace in [&portrait.to_server, &portrait.to_client] {
                let lines = [&trace.sent, &trace.acked, &trace.edge, &trace.flight, &trace.rtt];
                let mut points = lines.into_iter().flat_map(|line| line.points());
                assert!(points.all(|(t, y)| t.is_finite() && t >= 0.0 && y.is_finite()), "{trace:?}");
            }
        }
        assert_eq!((capture.ended_early, capture.packets), (None, packets.len() as u64));
        for c in &capture.connections {
            for d in [&c.to_server, &c.to_client] {
                let again = &d.retransmissions;
                assert!(d.unique_bytes <= d.bytes, "{d:?}");
                assert!(again.spurious <= again.segments && again.segments <= d.segments, "{d:?}");
                assert_eq!(again.fast + again.timeout + again.probes + again.unexplained, again.segments);
            }
        }
    });
    assert_eq!(LinkType::RAW, LinkType(101));
}
