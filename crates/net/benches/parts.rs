//! What the parts of a run cost: a sender, a receiver and a channel driven alone, a segment or packet at a time, and a
//! short run of the common workload W1 that puts them together. Not for: comparison with others, which bench/run.py does.

#![allow(missing_docs, reason = "criterion_group! makes a public function without one")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use truckee_channel::{Channel, ChannelConfig, Effect, Packet};
use truckee_net::{Options, run};
use truckee_scenario::Document;
use truckee_tcp::ack::AnyAckPolicy;
use truckee_tcp::sender::Parts;
use truckee_tcp::{Receiver, Segment, Sender, Seq, Size, Span, Spec, Stack, Time, flags, preset};

/// Transmission time of 1500 bytes at 10 Mbit/s.
const SPACING: Span = Span::us(1200);
/// Payload of a segment, bytes.
const MSS: u32 = 1460;
/// Segments in the air.
const FLIGHT: u64 = 100;

/// Both ends as the common workloads have them, with the flight held at [`FLIGHT`] by the receiver's window.
fn stack() -> Stack {
    Stack {
        mss: MSS,
        initial_window: Size::Segments(FLIGHT as f64),
        rwnd: Size::Segments(FLIGHT as f64),
        limited_transmit: true,
        handshake: false,
        ..Stack::default()
    }
}

fn sender(name: &str) -> Sender {
    let preset = preset::find(name).expect("a preset of this name");
    let mut sender = Sender::new(&stack(), Parts::of(preset).expect("a preset's parts"));
    sender.open(Time::ZERO, &mut ());
    sender.write(u64::MAX / 2);
    sender
}

/// A sender in its stride: an ACK comes, a segment goes.
fn senders(c: &mut Criterion) {
    let mut group = c.benchmark_group("sender");
    group.throughput(Throughput::Elements(1));
    for name in ["newreno", "sack", "newreno-lp"] {
        let mut sender = sender(name);
        let mut now: Time = Time::ZERO;
        while sender.poll_transmit(now, &mut ()).is_some() {}
        let mut ack = Segment {
            ack: Seq::FIRST,
            window: stack().advertised_window(),
            flags: flags::ACK,
            ..Segment::default()
        };
        now += FLIGHT * SPACING;
        group.bench_function(name, |b| {
            b.iter(|| {
                now += SPACING;
                ack.ack += u64::from(MSS);
                sender.on_segment(now, black_box(&ack), &mut ());
                black_box(sender.deadline());
                while let Some(segment) = sender.poll_transmit(now, &mut ()) {
                    black_box(segment);
                }
            });
        });
    }
    group.finish();
}

/// A receiver that gets everything once and in order.
fn receivers(c: &mut Criterion) {
    let mut group = c.benchmark_group("receiver");
    group.throughput(Throughput::Elements(1));
    for name in ["every", "delayed"] {
        let policy = AnyAckPolicy::build(&Spec::named(name)).expect("an ACK policy without arguments").0;
        let mut receiver = Receiver::new(&stack(), policy, false);
        let mut now: Time = Time::ZERO;
        let mut segment = Segment { seq: Seq::FIRST, len: MSS, flags: flags::ACK, ..Segment::default() };
        group.bench_function(name, |b| {
            b.iter(|| {
                now += SPACING;
                receiver.on_segment(now, black_box(&segment), false, &mut ());
                segment.seq += u64::from(segment.len);
                black_box(receiver.deadline());
                while let Some(ack) = receiver.poll_transmit(now) {
                    black_box(ack);
                }
            });
        });
    }
    group.finish();
}

/// What becomes of one packet.
fn channels(c: &mut Criterion) {
    let mut group = c.benchmark_group("channel");
    group.throughput(Throughput::Elements(1));
    let effects = [
        ("bernoulli", Effect::Bernoulli { per: 1e-3 }),
        ("bit-errors", Effect::BitErrors { ber: 1e-7 }),
        ("gilbert", Effect::Gilbert { good: Span::s(1), bad: Span::ms(50), per_good: 0.0, per_bad: 0.3 }),
    ];
    for (name, effect) in effects {
        let mut channel = Channel::new(&ChannelConfig { effects: vec![effect] }, 1);
        let mut packet = Packet { at: Time::ZERO, bytes: 1500, flow: 0, data: true };
        group.bench_function(name, |b| {
            b.iter(|| {
                packet.at += SPACING;
                black_box(channel.fate(black_box(&packet)))
            });
        });
    }
    group.finish();
}

/// Ten simulated seconds of W1.
fn runs(c: &mut Criterion) {
    let mut document =
        Document::parse("w1.toml", include_str!("../../../bench/workloads/w1.toml")).expect("W1 is TOML");
    document.set("duration", "10s").expect("every scenario has a duration");
    let scenario = document.scenario().expect("W1 is a scenario");
    let options = Options::default();
    let outcome = run(&scenario, &options).expect("W1 can be run");
    let delivered: u64 = outcome.flows.iter().map(|flow| flow.bytes_delivered).sum();
    let mut group = c.benchmark_group("run");
    // Segments a second, as in bench/run.py.
    group.throughput(Throughput::Elements(delivered / u64::from(MSS)));
    group.bench_function("w1-10s", |b| b.iter(|| run(black_box(&scenario), &options)));
    group.finish();
}

/// A run in which nothing happens: W1, whose flow starts when the run is over, from the text of its file to its outcome,
/// and without the reading. What short runs by the thousand pay most for.
fn nothing(c: &mut Criterion) {
    let text = include_str!("../../../bench/workloads/w1.toml");
    let text = text.replace("[[flow]]\n", "[[flow]]\nstart = \"301s\"\n");
    let read =
        |text: &str| Document::parse("w1.toml", text).and_then(|d| d.scenario()).expect("W1 is a scenario");
    let scenario = read(&text);
    let options = Options::default();
    let outcome = run(&scenario, &options).expect("W1 can be run");
    assert!(outcome.flows.iter().all(|flow| flow.segments_sent == 0), "something happens");
    let mut group = c.benchmark_group("run");
    group.bench_function("nothing", |b| b.iter(|| run(&read(black_box(&text)), &options)));
    group.bench_function("nothing, read before", |b| b.iter(|| run(black_box(&scenario), &options)));
    group.finish();
}

criterion_group!(benches, senders, receivers, channels, runs, nothing);
criterion_main!(benches);
