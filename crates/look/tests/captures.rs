//! Whatever stands in a capture, its pages are written, small, and hold nothing but text of it.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use bolero::{TypeGenerator, check};
use std::collections::BTreeMap;
use truckee_capture::portrait::Portrait;
use truckee_capture::replay::Cast;
use truckee_capture::table::Each;
use truckee_capture::{Limits, Watch, report};
use truckee_look::report::capture;
use truckee_tcp::Time;

/// A packet of one of two connections.
#[derive(Debug, Clone, TypeGenerator)]
struct Packet {
    to_server: bool,
    later: u64,
    seq: u32,
    ack: u32,
    near: bool,
    flags: u8,
    window: u16,
    len: u16,
}

impl Packet {
    /// An IPv4 packet and its length on the wire.
    fn bytes(&self) -> (Vec<u8>, u32) {
        let number = |n: u32| if self.near { n % 5000 } else { n };
        let (from, to) = if self.to_server { (1, 2) } else { (2, 1) };
        let len = 40 + self.len % 3000;
        let mut bytes = vec![0x45, 0];
        bytes.extend(len.to_be_bytes());
        bytes.extend([0, self.len as u8, 0, 0, 64, 6, 0, 0, 10, 0, 0, from, 10, 0, 0, to, 0, from, 0, to]);
        bytes.extend(number(self.seq).to_be_bytes());
        bytes.extend(number(self.ack).to_be_bytes());
        bytes.extend([0x50, self.flags]);
        bytes.extend(self.window.to_be_bytes());
        bytes.extend([0; 4]);
        (bytes, len.into())
    }
}

/// Whether this is an array of a page's data, as `v1000:uNaNvwo=` or `64:…`: base64 spells anything.
fn is_packed(string: &str) -> bool {
    string.split_once(':').is_some_and(|(form, _)| {
        let digits = form.strip_prefix('v').unwrap_or(form);
        !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
    })
}

#[test]
fn arbitrary_segments_have_pages() {
    const NAME: &str = "<script>alert(1)</script>.pcap";
    let dir = tempfile::tempdir().unwrap();
    check!().with_type::<Vec<Packet>>().with_iterations(24).for_each(|packets| {
        let mut writer = truckee_capture::write::Writer::new(Vec::new(), "here").unwrap();
        let mut now = 0_u64;
        for packet in packets {
            // A time on the wire has 64 bits.
            now = now.saturating_add(packet.later % (1 << 60)).min(1 << 63);
            let (bytes, wire_len) = packet.bytes();
            writer.packet(Time::ns(now), &bytes, wire_len, None).unwrap();
        }
        let file = writer.finish().unwrap();
        let read = |watch: Option<&mut dyn Watch>| {
            truckee_capture::read(&file[..], Limits::default(), watch, |_| true).unwrap()
        };
        let whole = read(None);
        let portrait = |c: &report::Connection| {
            let cast = Cast::named(["tibet", "vegas", "spike", "taba-detector"]).unwrap();
            (c.number, Portrait::new(c.number, c.main_way(), cast, 1))
        };
        let mut each = Each(whole.connections.iter().map(portrait).collect::<BTreeMap<_, _>>());
        read(Some(&mut each));
        let drawn: Vec<&Portrait> = each.0.values().collect();
        for file in capture::write(dir.path(), NAME, &whole, &drawn).unwrap() {
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(text.len() < 1 << 20 && !text.contains("<script>alert"), "{}", file.display());
            let mut strings = text.split('"').filter(|s| !is_packed(s));
            assert!(!strings.any(|s| s.contains("NaN")), "{}", file.display());
        }
    });
}
