//! Stack profiles: which rules hold where neither the flow nor its sender says otherwise.
//!
//! A profile sets defaults of [`Stack`], and of what presets are made of; each of them is a knob of its own, and what is
//! written wins. Not for: algorithms, of which it names those that there are.

use crate::stack::{
    AfterIdle, Autotuning, ReduceFrom, RtoSamples, RtoVariance, Timers, Undo, WindowValidation,
};
use crate::{Arg, Info, Size, Span, Spec, Stack};

const MS: Span = Span::ms(1);

/// A set of defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// The RFCs', as in [`Stack::default`].
    #[default]
    Rfc,
    /// The simulator's that the papers were made with: ns-2 2.35.
    Ns2,
    /// The stack of the papers' time, as a kernel is set up to be it with `kernel = "papers"`.
    Papers,
    /// A Linux of today's, 6.18, with its defaults.
    Linux,
    /// A Linux of 2022, 6.1, with its defaults.
    Linux61,
    /// A FreeBSD of today's, 14, with its defaults.
    FreeBsd,
}

impl Profile {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Rfc, Self::Ns2, Self::Papers, Self::Linux, Self::Linux61, Self::FreeBsd];

    /// Name, what it sets, source.
    pub const fn info(self) -> Info {
        match self {
            Self::Rfc => Info {
                name: "rfc",
                summary: "the rules of the RFCs: what holds without a profile",
                formula: "the defaults of every key",
                source: "RFC 5681, 6298, 6582, 6675",
            },
            Self::Ns2 => Info {
                name: "ns-2",
                summary: "the rules of ns-2 2.35, where they are others than the RFCs'",
                formula: "limited_transmit, limited_resends, reduce_from = \"window\", whole_ssthresh, repeated_reduction, validate_window = false, \
                          rto_samples = \"one-a-window\", rto_tick = \"10ms\", min_rto = \"200ms\", initial_rto = \"3s\", max_rto = \"60s\"; \
                          reno, newreno: last_ack = \"grows\", exit = \"deflated\"; sack1; vegas-ns2; bursts = \"packets\"",
                source: "ns-2 2.35: tcp.cc, tcp-reno.cc, tcp-newreno.cc, tcp-sack1.cc, tcp-vegas.cc, tools/pareto.cc, ns-default.tcl",
            },
            Self::Papers => Info {
                name: "papers",
                summary: "the stack of the papers' time, as kernel = \"papers\" has a kernel be it",
                formula: "mss = 1460, initial_window = \"2segments\", min_rto = \"1s\", max_rto = \"120s\", rto_variance = \"linux\", no timestamps, \
                          no dsack, nothing undone, after_idle = \"decay\", reduce_from = \"window\", limited_transmit, syn_ack_timer; \
                          receiver = \"delayed\"; reno, newreno: newreno",
                source: "RFC 2581, 2861, 2988, 3042, 3782; Linux, tcp_rtt_estimator, tcp_cwnd_restart, TCP_RTO_MAX; ip-sysctl.rst",
            },
            Self::Linux => Info {
                name: "linux",
                summary: "the rules of a Linux of today's (6.18), as far as there are parts for them",
                formula: "mss = 1448, initial_window = \"10segments\", min_rto = \"200ms\", max_rto = \"120s\", rto_variance = \"linux\", timestamps, dsack, \
                          undo = \"either\", after_idle = \"decay\", window_validation = \"linux\", reduce_in_repair = false, reduce_from = \"window\", limited_transmit, syn_ack_timer, \
                          linear_syn_timeouts = 4, timers = \"linux\", rto_samples = \"departures\", rwnd_autotuning = \"linux\", tso; receiver = \"linux\"; \
                          byte-counting: linux; cubic: cubic-linux; the growth of bbr: bbr1; \
                          reno, newreno, sack: rack with slack = \"2ms\", reduction = \"proportional\", count = \"segments\", echo = \"proportional\", last_ack = \"grows\" (reno, newreno: \"told\"), frto",
                source: "Linux 6.18: net/ipv4/tcp_input.c, tcp_output.c, tcp_recovery.c, tcp_timer.c, include/net/tcp.h; RFC 6928, 8985, 9937",
            },
            Self::Linux61 => Info {
                name: "linux-6.1",
                summary: "the rules of a Linux of 2022 (6.1), as far as there are parts for them",
                formula: "as linux, but for linear_syn_timeouts = 0, rwnd = \"3MiB\", rwnd_autotuning = \"linux-6.1\"",
                source: "Linux 6.1: net/ipv4/tcp_input.c, tcp_output.c, tcp_timer.c; ip-sysctl.rst: tcp_syn_linear_timeouts (from 6.5 on), tcp_rmem (6 MB; 32 MB from 6.16 on)",
            },
            Self::FreeBsd => Info {
                name: "freebsd",
                summary: "the rules of a FreeBSD of today's (14), as far as there are parts for them",
                formula: "mss = 1448, initial_window = \"10segments\", min_rto = \"30ms\", timestamps, dsack, undo = \"timestamps\", limited_transmit, syn_ack_timer; \
                          receiver = { delayed = { timeout = \"40ms\" } }; reno, newreno, sack: sack with reduction = \"proportional\", bound = \"slow-start\"",
                source: "FreeBSD 14, tcp(4): net.inet.tcp.rexmit_min, delacktime, initcwnd_segments, rfc3042, do_prr; RFC 6675, 6937",
            },
        }
    }

    /// The profile of that name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.info().name == name)
    }

    /// `base` with what the profile sets.
    pub fn stack(self, base: Stack) -> Stack {
        match self {
            Self::Rfc => base,
            Self::Ns2 => Stack {
                limited_transmit: true,
                limited_resends: true,
                reduce_from: ReduceFrom::Window,
                whole_ssthresh: true,
                repeated_reduction: true,
                validate_window: false,
                rto_samples: RtoSamples::OneAWindow,
                rto_tick: 10 * MS,
                min_rto: 200 * MS,
                initial_rto: 3000 * MS,
                max_rto: 60_000 * MS,
                ..base
            },
            Self::Papers => Stack {
                mss: 1460,
                initial_window: Size::Segments(2.0),
                min_rto: Span::s(1),
                max_rto: Span::s(120),
                rto_variance: RtoVariance::Linux,
                timestamps: false,
                dsack: false,
                undo: Undo::Never,
                after_idle: AfterIdle::Decay,
                reduce_from: ReduceFrom::Window,
                limited_transmit: true,
                syn_ack_timer: true,
                ..base
            },
            Self::Linux => Stack {
                min_rto: 200 * MS,
                max_rto: 120_000 * MS,
                rto_variance: RtoVariance::Linux,
                undo: Undo::Either,
                after_idle: AfterIdle::Decay,
                window_validation: WindowValidation::Linux,
                tso: true,
                reduce_in_repair: false,
                reduce_from: ReduceFrom::Window,
                linear_syn_timeouts: 4,
                timers: Timers::Linux,
                rto_samples: RtoSamples::Departures,
                rwnd: Size::Bytes(16 << 20),
                rwnd_autotuning: Autotuning::Linux,
                ..Self::of_today(base)
            },
            Self::Linux61 => Stack {
                linear_syn_timeouts: 0,
                rwnd: Size::Bytes(3 << 20),
                rwnd_autotuning: Autotuning::Linux61,
                ..Self::Linux.stack(base)
            },
            Self::FreeBsd => Stack { min_rto: 30 * MS, undo: Undo::Timestamps, ..Self::of_today(base) },
        }
    }

    /// What both stacks of today have: timestamps, and the segments that an Ethernet's packets leave room for beside them; ten
    /// segments to begin with (RFC 6928); reports of duplicates; limited transmit; SYN-ACKs with a timer.
    fn of_today(base: Stack) -> Stack {
        Stack {
            mss: 1448,
            initial_window: Size::Segments(10.0),
            timestamps: true,
            dsack: true,
            limited_transmit: true,
            syn_ack_timer: true,
            ..base
        }
    }

    /// The ACK policy of a flow that names none, where the profile has one.
    pub fn receiver(self) -> Option<Spec> {
        match self {
            Self::Rfc | Self::Ns2 => None,
            Self::Papers => Some(Spec::named("delayed")),
            Self::Linux | Self::Linux61 => Some(Spec::named("linux")),
            Self::FreeBsd => Some(Spec::named("delayed").with("timeout", Arg::Time(40 * MS))),
        }
    }

    /// What stands for a part of a preset: a member of another name where there is one, or words where the preset has
    /// none of its own.
    pub fn part(self, part: Spec) -> Spec {
        let words: &[(&str, &str)] = match (self, part.name.as_str()) {
            (Self::Ns2, "sack") => return Spec { name: "sack1".to_owned(), ..part },
            (Self::Ns2, "vegas") => return Spec { name: "vegas-ns2".to_owned(), ..part },
            (Self::Papers, "reno") => return Spec::named("newreno"),
            (Self::Linux | Self::Linux61, name @ ("reno" | "newreno" | "sack")) => {
                // What grows by each ACK (presets with "reno" and "newreno") is not Linux' own, and is told sooner.
                let last_ack = if name == "sack" { "grows" } else { "told" };
                return Self::proportional("rack", "safe-ack", true)
                    .with("slack", Arg::Time(2 * MS))
                    .with("count", Arg::Name("segments".to_owned()))
                    .with("echo", Arg::Name("proportional".to_owned()))
                    .with("last_ack", Arg::Name(last_ack.to_owned()));
            }
            (Self::Linux | Self::Linux61, "byte-counting") => return Spec::named("linux"),
            (Self::Linux | Self::Linux61, "cubic") => return Spec::named("cubic-linux"),
            (Self::FreeBsd, "reno" | "newreno" | "sack") => {
                return Self::proportional("sack", "slow-start", false);
            }
            (Self::Ns2, "newreno") => &[("exit", "deflated"), ("last_ack", "grows")],
            (Self::Ns2, "reno") => &[("second", "timeout"), ("last_ack", "grows")],
            _ => &[],
        };
        let missing = |spec: Spec, (key, word): &(&str, &str)| match spec.args.iter().any(|(k, _)| k == key) {
            true => spec,
            false => spec.with(key, Arg::Name((*word).to_owned())),
        };
        words.iter().fold(part, missing)
    }

    /// The same for a preset's growth rule, of which one has the name of another part.
    pub fn growth(self, part: Spec) -> Spec {
        match (self, part.name.as_str()) {
            (Self::Linux | Self::Linux61, "bbr") => Spec::named("bbr1"),
            _ => self.part(part),
        }
    }

    /// A recovery by SACK whose window comes down in proportion.
    fn proportional(recovery: &str, bound: &str, frto: bool) -> Spec {
        let word = |word: &str| Arg::Name(word.to_owned());
        Spec::named(recovery)
            .with("reduction", word("proportional"))
            .with("bound", word(bound))
            .with("frto", Arg::Flag(frto))
    }

    /// Whether ON periods of cross traffic are of whole packets.
    pub fn whole_packets(self) -> bool {
        self == Self::Ns2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::AnyGrowth;
    use crate::preset::PRESETS;
    use crate::recovery::AnyRecovery;
    use crate::response::AnyResponse;

    #[test]
    fn every_preset_can_be_built_in_every_profile() {
        for profile in Profile::ALL {
            for preset in PRESETS {
                AnyRecovery::build(&profile.part(preset.recovery())).unwrap();
                AnyGrowth::build(&profile.growth(preset.growth())).unwrap();
                AnyResponse::build(&profile.part(preset.response())).unwrap();
            }
        }
    }

    #[test]
    fn what_a_preset_says_itself_stays() {
        let says = Spec::named("reno").with("second", Arg::Name("fast-retransmit".to_owned()));
        let part = Profile::Ns2.part(says.clone());
        assert_eq!(part.args[0], says.args[0]);
        assert_eq!(part.args.len(), 2);
        assert_eq!(Profile::Rfc.part(says.clone()), says);
    }
}
