//! Stack settings of a flow: the keys that are not algorithms. Defaults are those of [`Stack::default`], and before them
//! those of the sender's preset.

use super::diagnostics::{Diagnostics, MAX_TIME};
use super::reader::Reader;
use crate::document::tree::{Kind, Value};
use crate::units::{Dimension, Quantity};
use truckee_tcp::stack::{
    AfterIdle, Autotuning, Ecn, ReduceFrom, RtoSamples, RtoVariance, Timers, Undo, WindowValidation,
};
use truckee_tcp::{Size, Span, Stack};

/// Largest payload that fits into an IPv4 packet with two headers of 20 bytes.
const MAX_MSS: u64 = 65_495;
/// No window or buffer is above this many bytes or segments: the largest that window scaling can advertise is 1 GiB.
const MAX_WINDOW: u64 = 1 << 40;

/// Reads the stack settings among a flow's keys; `base` holds where there are none.
pub(super) fn read(reader: &Reader<'_>, base: Stack) -> Stack {
    let window = |key, base| reader.get(key).and_then(|value| window(reader.diag, value)).or(base);
    let stack = Stack {
        mss: reader.count("mss", u64::from(base.mss), 1..=MAX_MSS) as u32,
        initial_window: window("initial_window", None).unwrap_or(base.initial_window),
        initial_ssthresh: window("initial_ssthresh", base.initial_ssthresh),
        min_rto: reader.time("min_rto", base.min_rto, Span::ns(1)..=MAX_TIME, "ms"),
        max_rto: reader.time("max_rto", base.max_rto, Span::ns(1)..=MAX_TIME, "s"),
        initial_rto: reader.time("initial_rto", base.initial_rto, Span::ns(1)..=MAX_TIME, "s"),
        clock: reader.time("clock", base.clock, Span::ZERO..=MAX_TIME, "ms"),
        timestamps: reader.flag("timestamps", base.timestamps),
        rto_samples: word(reader, "rto_samples", RtoSamples::ALL, RtoSamples::as_str, base.rto_samples),
        rto_tick: reader.time("rto_tick", base.rto_tick, Span::ZERO..=MAX_TIME, "ms"),
        reduce_from: read_reduction(reader, base.reduce_from),
        whole_ssthresh: reader.flag("whole_ssthresh", base.whole_ssthresh),
        repeated_reduction: reader.flag("repeated_reduction", base.repeated_reduction),
        validate_window: reader.flag("validate_window", base.validate_window),
        window_validation: word(
            reader,
            "window_validation",
            WindowValidation::ALL,
            WindowValidation::as_str,
            base.window_validation,
        ),
        reduce_in_repair: reader.flag("reduce_in_repair", base.reduce_in_repair),
        rwnd: window("rwnd", None).unwrap_or(base.rwnd),
        rwnd_autotuning: word(
            reader,
            "rwnd_autotuning",
            Autotuning::ALL,
            Autotuning::as_str,
            base.rwnd_autotuning,
        ),
        window_scaling: reader.flag("window_scaling", base.window_scaling),
        send_buffer: window("send_buffer", base.send_buffer),
        limited_transmit: reader.flag("limited_transmit", base.limited_transmit),
        limited_resends: reader.flag("limited_resends", base.limited_resends),
        dsack: reader.flag("dsack", base.dsack),
        undo: word(reader, "undo", Undo::ALL, Undo::as_str, base.undo),
        syn_ack_timer: reader.flag("syn_ack_timer", base.syn_ack_timer),
        linear_syn_timeouts: reader.count("linear_syn_timeouts", u64::from(base.linear_syn_timeouts), 0..=127)
            as u8,
        timers: word(reader, "timers", Timers::ALL, Timers::as_str, base.timers),
        timers_age: reader.time("timers_age", base.timers_age, Span::ZERO..=MAX_TIME, "ms"),
        rto_variance: word(reader, "rto_variance", RtoVariance::ALL, RtoVariance::as_str, base.rto_variance),
        after_idle: word(reader, "after_idle", AfterIdle::ALL, AfterIdle::as_str, base.after_idle),
        tso: reader.flag("tso", base.tso),
        small_queues: reader.flag("small_queues", base.small_queues),
        ecn: read_ecn(reader, base.ecn),
        ack_rate_request: reader.count("ack_rate_request", u64::from(base.ack_rate_request), 0..=127) as u8,
        handshake: reader.flag("handshake", base.handshake),
        segment_from_acks: reader.flag("segment_from_acks", base.segment_from_acks),
    };
    if stack.min_rto > stack.max_rto {
        let value = reader.get("min_rto").or_else(|| reader.get("max_rto"));
        let message = "min_rto is above max_rto".to_owned();
        let place = value.map_or(reader.place, |value| &value.place);
        reader.diag.report(place, message, Some("min_rto of at most max_rto".into()), None);
    }
    check_undo(reader, &stack);
    stack
}

/// What is to be undone by something that no segment will carry.
fn check_undo(reader: &Reader<'_>, stack: &Stack) {
    let lacks = match stack.undo {
        Undo::Timestamps if !stack.timestamps => "timestamps = true",
        Undo::Dsack if !stack.dsack => "dsack = true",
        Undo::Either if !stack.timestamps && !stack.dsack => "timestamps = true, dsack = true, or both",
        _ => return,
    };
    let place = reader.get("undo").map_or(reader.place, |value| &value.place);
    let message = format!("undo is \"{}\", and no segment tells", stack.undo.as_str());
    reader.diag.report(place, message, Some(lacks.into()), None);
}

/// The word of a key, one of these; `base` without it.
fn word<T: Copy, const N: usize>(
    reader: &Reader<'_>,
    key: &'static str,
    all: [T; N],
    as_str: fn(T) -> &'static str,
    base: T,
) -> T {
    if reader.get(key).is_none() {
        return base;
    }
    let word = reader.choice(key, &all.map(as_str));
    all.into_iter().find(|one| as_str(*one) == word).unwrap_or(base)
}

/// A flag, or a word.
fn read_ecn(reader: &Reader<'_>, base: Ecn) -> Ecn {
    match reader.get("ecn") {
        None => base,
        Some(Value { kind: Kind::Flag(true), .. }) => Ecn::Classic,
        Some(Value { kind: Kind::Flag(false), .. }) => Ecn::Off,
        Some(value) if value.text() == Some("accurate") => Ecn::Accurate,
        Some(value) => {
            reader.diag.refuse(value, "true (RFC 3168), false, or \"accurate\" (RFC 9768)");
            base
        }
    }
}

fn read_reduction(reader: &Reader<'_>, base: ReduceFrom) -> ReduceFrom {
    let words = match base {
        ReduceFrom::Flight => ["flight", "window"],
        ReduceFrom::Window => ["window", "flight"],
    };
    match reader.choice("reduce_from", &words) {
        "window" => ReduceFrom::Window,
        _ => ReduceFrom::Flight,
    }
}

fn window(diag: &Diagnostics<'_>, value: &Value) -> Option<Size> {
    let size = match diag.quantity(value, &[Dimension::Segments, Dimension::Size], "segments")? {
        Quantity::Bytes(bytes) if (1..=MAX_WINDOW).contains(&bytes) => Size::Bytes(bytes),
        Quantity::Segments(n) if n > 0.0 && n <= 1e9 => Size::Segments(n),
        _ => {
            diag.refuse(value, "a window above 0, such as \"64KiB\" or \"10segments\"");
            return None;
        }
    };
    Some(size)
}
