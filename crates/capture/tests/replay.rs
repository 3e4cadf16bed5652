//! What estimators say over a capture of our own making, in which an application limits the sender.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use truckee_capture::replay::{Cast, Replay, Report};
use truckee_capture::write::{Maker, Writer};
use truckee_capture::{Limits, Way, read};
use truckee_tcp::{Segment, Seq, Span, Time, flags};

const MS: Span = Span::ms(1);

/// A replay over a segment of 1250 bytes each 100 ms, with an ACK 20 ms later; but the second comes 12 µs after the first, and
/// its ACK as soon after that one's.
fn replayed(segments: u64) -> Report {
    let mut writer = Writer::new(Vec::new(), "here").unwrap();
    let mut maker = Maker::new(0, 0, 1250, false, false, false);
    let segment =
        |seq, ack, len| Segment { seq, ack, len, flags: flags::ACK, window: 60_000, ..Segment::default() };
    let mut packets = Vec::new();
    for k in 0..segments {
        let at = if k == 1 { Time::us(12) } else { Time::ms(k * 100) };
        packets.push((at, true, segment(Seq::at(1 + 1250 * k), Seq::FIRST, 1250)));
        packets.push((at + 20 * MS, false, segment(Seq::FIRST, Seq::at(1251 + 1250 * k), 0)));
    }
    packets.sort_by_key(|packet| packet.0);
    for (at, from_sender, segment) in &packets {
        let (headers, len) = maker.packet(segment, *from_sender);
        writer.packet(*at, &headers, len, None).unwrap();
    }
    let file = writer.finish().unwrap();
    let mut replay = Replay::new(1, Way::ToServer, Cast::named(["tibet", "westwood-1"]).unwrap());
    read(&file[..], Limits::default(), Some(&mut replay), |_| true).unwrap();
    replay.report()
}

#[test]
fn one_gap_of_microseconds_rules_the_mean_of_an_estimate_and_not_its_median() {
    let report = replayed(1000);
    let rate = report.throughput_bps.unwrap();
    assert!((rate / 100_000.0 - 1.0).abs() < 0.01, "{rate}");
    for e in &report.estimators {
        let (mean, median) = (e.mean_bps.unwrap(), e.median_bps.unwrap());
        assert!(mean > 50.0 * rate, "{}: {mean}", e.name);
        assert!((median / rate - 1.0).abs() < 0.02, "{}: {median}", e.name);
    }
    assert!(report.application_limits && report.idle_share.unwrap() > 0.7, "{:?}", report.idle_share);
}
