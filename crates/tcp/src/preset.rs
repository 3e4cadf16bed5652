//! The published senders as products of the families' members, some with settings of the stack they were found in.
//! Anything a preset is can also be written in parts and settings.

use crate::{Arg, Info, Size, Spec, Stack};

/// A member with the arguments that are not its defaults, all of them words.
type Part = (&'static str, &'static [(&'static str, &'static str)]);

/// A setting of the stack that a preset brings along. It holds where the flow does not have its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Setting {
    /// [`Stack::initial_window`].
    InitialWindow(Size),
    /// [`Stack::send_buffer`].
    SendBuffer(Size),
    /// [`Stack::segment_from_acks`].
    SegmentFromAcks(bool),
}

impl Setting {
    /// Its name in a scenario.
    pub fn key(self) -> &'static str {
        match self {
            Self::InitialWindow(_) => "initial_window",
            Self::SendBuffer(_) => "send_buffer",
            Self::SegmentFromAcks(_) => "segment_from_acks",
        }
    }

    /// Its value, as a family's member would be given it.
    pub fn value(self) -> Arg {
        match self {
            Self::InitialWindow(size) | Self::SendBuffer(size) => match size {
                Size::Bytes(bytes) => Arg::Bytes(bytes),
                Size::Segments(n) => Arg::Segments(n),
            },
            Self::SegmentFromAcks(flag) => Arg::Flag(flag),
        }
    }

    fn apply(self, stack: &mut Stack) {
        match self {
            Self::InitialWindow(size) => stack.initial_window = size,
            Self::SendBuffer(size) => stack.send_buffer = Some(size),
            Self::SegmentFromAcks(flag) => stack.segment_from_acks = flag,
        }
    }
}

/// A named product.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Preset {
    /// Name, what it is, source.
    pub info: Info,
    recovery: Part,
    growth: Part,
    response: Part,
    start: Part,
    pacing: Part,
    settings: &'static [Setting],
}

fn spec((member, args): Part) -> Spec {
    let named = |spec: Spec, (param, word): &(&str, &str)| spec.with(param, Arg::Name((*word).to_owned()));
    args.iter().fold(Spec::named(member), named)
}

impl Preset {
    /// Its recovery.
    pub fn recovery(&self) -> Spec {
        spec(self.recovery)
    }

    /// Its growth rule.
    pub fn growth(&self) -> Spec {
        spec(self.growth)
    }

    /// Its loss response.
    pub fn response(&self) -> Spec {
        spec(self.response)
    }

    /// Its start.
    pub fn start(&self) -> Spec {
        spec(self.start)
    }

    /// Its pacing.
    pub fn pacing(&self) -> Spec {
        spec(self.pacing)
    }

    /// What it sets in the stack: nothing, unless the sender is known together with its stack.
    pub fn settings(&self) -> &'static [Setting] {
        self.settings
    }

    /// `base` with [`Self::settings`] in force.
    pub fn stack(&self, base: Stack) -> Stack {
        let mut stack = base;
        self.settings.iter().for_each(|setting| setting.apply(&mut stack));
        stack
    }
}

const fn preset(
    name: &'static str,
    [recovery, growth, response]: [Part; 3],
    formula: &'static str,
    summary: &'static str,
    source: &'static str,
) -> Preset {
    let info = Info { name, summary, formula, source };
    Preset {
        info,
        recovery,
        growth,
        response,
        start: ("slow-start", &[]),
        pacing: ("none", &[]),
        settings: &[],
    }
}

/// The same with another start.
const fn starting(base: Preset, start: Part) -> Preset {
    Preset { start, ..base }
}

/// The same, paced.
const fn paced(base: Preset, pacing: Part) -> Preset {
    Preset { pacing, ..base }
}

/// The same in a stack of its own.
const fn within(base: Preset, settings: &'static [Setting]) -> Preset {
    Preset { settings, ..base }
}

const fn first_window(segments: f64) -> Setting {
    Setting::InitialWindow(Size::Segments(segments))
}

const PER_ACK: Part = ("per-ack", &[]);
const HALVE: Part = ("halve", &[]);
const BYTES: Part = ("byte-counting", &[]);
const HIGHSPEED: Part = ("highspeed", &[]);
const LP: &str = "Martignon, NewReno-LP, chapter 4";

/// Every preset.
#[rustfmt::skip]
pub const PRESETS: &[Preset] = &[
    preset("tahoe", [("tahoe", &[]), PER_ACK, HALVE], "tahoe + per-ack + halve",
        "fast retransmit, then slow start", "Jacobson 1988"),
    preset("tahoe-nofr", [("tahoe-nofr", &[]), PER_ACK, HALVE], "tahoe-nofr + per-ack + halve",
        "Tahoe without fast retransmit", "RFC 5681 without section 3.2"),
    preset("reno", [("reno", &[]), PER_ACK, HALVE], "reno + per-ack + halve",
        "fast recovery until the first new ACK", "RFC 2581"),
    preset("reno-once", [("reno", &[("second", "timeout")]), PER_ACK, HALVE], "reno(second = timeout) + per-ack + halve",
        "Reno with one fast retransmit a window, as in ns-2", "RFC 2581; ns-2, Agent/TCP/Reno with bugFix_"),
    preset("newreno", [("newreno", &[]), PER_ACK, HALVE], "newreno + per-ack + halve",
        "fast recovery until all is repaired", "RFC 6582"),
    preset("sack", [("sack", &[]), PER_ACK, HALVE], "sack + per-ack + halve",
        "recovery by selective acknowledgements", "RFC 2018, RFC 6675"),
    preset("sack-abc", [("sack", &[]), ("byte-counting", &[]), HALVE], "sack + byte-counting(2) + halve",
        "what stacks without CUBIC do today", "RFC 6675, RFC 3465"),
    preset("cubic", [("sack", &[]), ("cubic", &[]), ("cubic", &[])], "sack + cubic + cubic",
        "the standard of today: a window that is a cubic function of time", "RFC 9438, RFC 6675"),
    preset("cubic-linux", [("sack", &[]), ("cubic-linux", &[]), ("cubic-linux", &[])], "sack + cubic-linux + cubic-linux",
        "CUBIC as Linux has it, in whole segments and jiffies, with HyStart", "Linux 6.18, net/ipv4/tcp_cubic.c"),
    preset("bbr", [("sack", &[]), ("bbr", &[]), ("bbr", &[])], "sack + bbr + bbr",
        "rate and window by a model of the path", "draft-ietf-ccwg-bbr-06 (BBRv3)"),
    preset("bbr1", [("sack", &[]), ("bbr1", &[]), ("bbr", &[])], "sack + bbr1 + bbr",
        "BBR's first version, as Linux has it", "Linux 6.18, net/ipv4/tcp_bbr.c; Cardwell et al. 2016"),
    starting(preset("jump-start", [("sack", &[]), PER_ACK, HALVE], "sack + per-ack + halve, started by jump-start",
        "no startup phase: all that waits goes out over the first round trip", "Liu, Allman, Jin and Wang 2007"),
        ("jump-start", &[])),
    starting(preset("quick-start", [("sack", &[]), PER_ACK, HALVE], "sack + per-ack + halve, started by quick-start",
        "starts at a rate that the routers on the path grant", "RFC 4782"), ("quick-start", &[])),
    paced(preset("newreno-paced", [("newreno", &[]), PER_ACK, HALVE], "newreno + per-ack + halve, paced per window",
        "NewReno that spreads its window over the round trip", "RFC 6582; Aggarwal, Savage and Anderson 2000"),
        ("per-window", &[])),
    preset("newreno-lp", [("newreno", &[]), PER_ACK, ("by-cause", &[("predictor", "vegas")])],
        "newreno + per-ack + by-cause(vegas, α = 1, β = 3)",
        "NewReno that asks the Vegas predictor about each loss", LP),
    preset("newreno-lp(vegas-single)", [("newreno", &[]), PER_ACK, ("by-cause", &[("predictor", "vegas-single")])],
        "newreno + per-ack + by-cause(vegas-single)",
        "NewReno-LP with the Vegas predictor of one threshold", LP),
    preset("newreno-lp(ncpld)", [("newreno", &[]), PER_ACK, ("by-cause", &[("predictor", "ncpld")])],
        "newreno + per-ack + by-cause(ncpld, tibet on ACKs)",
        "NewReno-LP with non-congestion packet loss detection", LP),
    preset("newreno-lp(spike)", [("newreno", &[]), PER_ACK, ("by-cause", &[("predictor", "spike")])],
        "newreno + per-ack + by-cause(spike, α = 0.5, β = 0.4)",
        "NewReno-LP with the Spike predictor", LP),
    preset("newreno-lp(flip-flop)", [("newreno", &[]), PER_ACK, ("by-cause", &[("predictor", "flip-flop")])],
        "newreno + per-ack + by-cause(flip-flop, l = 8, η = 6)",
        "NewReno-LP with the Flip-Flop predictor", LP),
    preset("newreno-lp(random)", [("newreno", &[]), PER_ACK, ("by-cause", &[("predictor", "random")])],
        "newreno + per-ack + by-cause(random)",
        "NewReno-LP that guesses", LP),
    preset("newreno-lp(always-congested)", [("newreno", &[]), PER_ACK, ("by-cause", &[("predictor", "always-congested")])],
        "newreno + per-ack + by-cause(always-congested)",
        "NewReno-LP that takes every loss for congestion: NewReno", LP),
    preset("newreno-lp(always-wireless)", [("newreno", &[]), PER_ACK, ("by-cause", &[("predictor", "always-wireless")])],
        "newreno + per-ack + by-cause(always-wireless)",
        "NewReno-LP that takes every loss for noise", LP),
    preset("newreno-lp(ideal)", [("newreno", &[]), PER_ACK, ("by-cause", &[("predictor", "ideal")])],
        "newreno + per-ack + by-cause(ideal)",
        "NewReno-LP told the truth: the upper bound", LP),
    preset("westwood-1", [("newreno", &[]), PER_ACK, ("to-estimate", &[("estimator", "westwood-1")])],
        "newreno + per-ack + to-estimate(westwood-1)",
        "TCP Westwood with its first filter", "Mascolo et al. 2000"),
    preset("westwood-2", [("newreno", &[]), PER_ACK, ("to-estimate", &[("estimator", "westwood-2")])],
        "newreno + per-ack + to-estimate(westwood-2)",
        "TCP Westwood with its second filter", "Mascolo et al. 2001; Casetti et al. 2002"),
    preset("westwood-3", [("newreno", &[]), PER_ACK, ("to-estimate", &[("estimator", "westwood-3")])],
        "newreno + per-ack + to-estimate(westwood-3)",
        "TCP Westwood with its third filter, ABSE", "Wang et al. 2002"),
    preset("westwood-plus", [("sack", &[]), BYTES, ("to-estimate", &[("estimator", "westwood-plus")])],
        "sack + byte-counting(2) + to-estimate(westwood-plus)",
        "TCP Westwood+, of which Linux has one too (kernel:westwood)",
        "Grieco and Mascolo 2004; Linux, net/ipv4/tcp_westwood.c"),
    preset("tibet", [("newreno", &[]), PER_ACK, ("to-estimate", &[("estimator", "tibet")])],
        "newreno + per-ack + to-estimate(tibet)",
        "NewReno that falls to what it sent in the mean", "Capone, Fratta and Martignon 2004"),
    preset("ideal-bandwidth", [("newreno", &[]), PER_ACK, ("to-estimate", &[("estimator", "oracle")])],
        "newreno + per-ack + to-estimate(oracle)",
        "NewReno told the available bandwidth: the upper bound", "Martignon, NewReno-LP, algorithm 3.3.5"),
    preset("vegas", [("vegas", &[]), ("vegas", &[]), ("vegas", &[])], "vegas + vegas + vegas",
        "a few own segments waiting in queues, and retransmission before the third duplicate ACK",
        "Brakmo and Peterson 1995"),
    preset("hstcp", [("newreno", &[]), HIGHSPEED, HIGHSPEED], "newreno + highspeed + highspeed",
        "HighSpeed TCP", "RFC 3649"),
    preset("newreno-lp+hstcp",
        [("newreno", &[]), HIGHSPEED, ("by-cause", &[("predictor", "vegas"), ("over", "highspeed")])],
        "newreno + highspeed + by-cause(vegas, over highspeed)",
        "HighSpeed TCP that asks the Vegas predictor about each loss", "Martignon, NewReno-LP, section 6.6"),
    preset("limited-slow-start", [("newreno", &[]), ("limited-slow-start", &[]), HALVE],
        "newreno + limited-slow-start + halve",
        "NewReno with limited slow start", "RFC 3742"),
    preset("selective-slow-start", [("reno", &[]), PER_ACK, ("selective-slow-start", &[])],
        "reno + per-ack + selective-slow-start",
        "Reno that slow starts after a timeout only where a handoff cannot explain it", "Varshney 1997"),
    preset("santa-cruz", [("reno", &[]), ("santa-cruz", &[]), ("santa-cruz", &[])],
        "reno + santa-cruz + santa-cruz",
        "holds the bottleneck's queue, and keeps the window where a loss comes without one",
        "Parsa and Garcia-Luna-Aceves 1999"),
    within(starting(preset("rfc2581", [("newreno", &[]), PER_ACK, HALVE], "newreno + per-ack + halve, started by freebsd",
        "a server of FreeBSD 3.0, which opens by the number of ACKs", "Cheskis 2006 (TCP Taba), section 3.1.1; RFC 2581"), ("freebsd", &[])),
        &[first_window(1.0), Setting::SendBuffer(Size::Bytes(64 << 10))]),
    within(preset("capped", [("newreno", &[]), ("capped", &[]), HALVE], "newreno + capped(3) + halve",
        "a server of Windows XP SP2, which opens by the number of ACKs, within limits", "Cheskis 2006 (TCP Taba), section 3.1.2.3, table 3.2"),
        &[first_window(2.0)]),
    within(preset("abc", [("sack", &[]), BYTES, HALVE], "sack + byte-counting(2) + halve, first window 3",
        "a server of Linux 2.6, which opens by the bytes acknowledged", "Cheskis 2006 (TCP Taba), section 3.1.3; RFC 3465, RFC 3390"),
        &[first_window(3.0)]),
    within(preset("iw10", [("sack", &[]), BYTES, HALVE], "sack + byte-counting(2) + halve, first window 10",
        "a server that opens by the bytes acknowledged, from ten segments on", "RFC 6928, RFC 3465"),
        &[first_window(10.0)]),
    within(preset("harmed", [("sack", &[]), BYTES, HALVE], "sack + byte-counting(2) + halve, segment_from_acks",
        "a server that divided ACKs make worse: it shrinks its segments to what they cover",
        "Normann 2011 (split ACKs), section 4.4.1 (the FreeBSD 7.0 of FreeBSD.org; the mechanism is a guess)"),
        &[first_window(3.0), Setting::SegmentFromAcks(true)]),
];

/// The preset of that name.
pub fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|p| p.info.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::Parts;

    #[test]
    fn every_preset_can_be_built() {
        for preset in PRESETS {
            Parts::of(preset).unwrap();
            assert_eq!(find(preset.info.name), Some(preset));
        }
    }

    #[test]
    fn a_server_brings_its_stack_and_nothing_else_changes() {
        let of = |name: &str| find(name).unwrap().stack(Stack::default());
        let first = |segments| Stack { initial_window: Size::Segments(segments), ..Stack::default() };
        assert_eq!(of("newreno"), Stack::default());
        assert_eq!(of("rfc2581"), Stack { send_buffer: Some(Size::Bytes(65_536)), ..first(1.0) });
        assert_eq!(["capped", "abc", "iw10"].map(of), [2.0, 3.0, 10.0].map(first));
        assert_eq!(of("harmed"), Stack { segment_from_acks: true, ..first(3.0) });
    }
}
