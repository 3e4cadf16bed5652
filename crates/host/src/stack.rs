//! The settings of a TCP stack, as the kernel takes them: what a flow of the scenario asks for, in sysctls of its two
//! namespaces, metrics of its routes and options of its sockets.
//!
//! [`of_flow`] says what one flow wants, or refuses what no kernel does; [`merge`] makes one of what several flows of a
//! namespace want, or says who disagrees about what; [`apply`] writes it. [`Settings::stated`] says what cannot be had.
//!
//! Not for: algorithms; anything about the path.

mod merge;
mod papers;
mod refuse;
mod settings;
mod sockets;

pub use merge::{End, merge, merge_metrics};
pub use settings::{Settings, Sysctl, Terms};
pub use sockets::SocketSettings;

use crate::Error;
use crate::netns::Netns;
use std::fs;
use std::io::ErrorKind;
use truckee_scenario::model::{Era, KernelStack};
use truckee_tcp::ack::AnyAckPolicy;
use truckee_tcp::stack::Autotuning;
use truckee_tcp::{Size, Span, Spec, Stack};

/// IPv4 and TCP header without options, bytes.
const HEADERS: u32 = 40;
/// The timestamps option with its padding, in every segment, bytes.
const TIMESTAMPS: u32 = 12;
/// The MTU of Ethernet.
const ETHERNET: u32 = 1500;

/// What a flow wants, by the recovery its sender is to have and the ACK policy of its receiver. What no kernel does is
/// refused; `flow` is the flow's name.
pub fn of_flow(
    kernel: &KernelStack,
    flow: &str,
    stack: &Stack,
    recovery: &str,
    receiver: &Spec,
) -> Result<Settings, Error> {
    refuse::what_no_kernel_does(kernel.era, flow, stack, recovery)?;
    let mut settings = match kernel.era {
        Era::Papers => papers::settings(stack),
        Era::Today => Settings { mtu: ETHERNET, stated: papers::ANY.to_vec(), ..Settings::default() },
    };
    match recovery {
        "reno" => settings.stated.push(papers::RENO),
        "vegas" => settings.stated.push(papers::VEGAS),
        _ => {}
    }
    settings.negotiate("tcp_sack", kernel.sack_with(recovery));
    settings.switch(kernel);
    // A policy of ours is carried out on the ACKs that the stack sends, and so wants them all.
    let natively = acknowledges_natively(kernel.era, receiver);
    settings.route_back.quickack = receiver.name == "every" || !natively;
    if natively && receiver.name == "delayed" {
        settings.stated.push(papers::DELAYED);
    }
    let differs = Differs { papers: kernel.era == Era::Papers, stack, default: Stack::default() };
    differs.options(&mut settings);
    differs.windows(&mut settings);
    differs.timers(&mut settings);
    Ok(settings)
}

/// Whether a flow's ACKs are what the kernel sends by itself: one for every segment or, in today's stack, delayed ones as
/// it has them, which is also what the policy `linux` is. In the papers' stack they are delayed as they are defined.
pub fn acknowledges_natively(era: Era, receiver: &Spec) -> bool {
    let own = ["delayed", "linux"].contains(&receiver.name.as_str()) && has_its_defaults(receiver);
    receiver.name == "every" || (era == Era::Today && own)
}

/// Whether all arguments of an ACK policy are what they are without being named.
fn has_its_defaults(receiver: &Spec) -> bool {
    let whole = |spec: &Spec| AnyAckPolicy::build(spec).ok().map(|(_, whole)| whole);
    whole(receiver).is_some_and(|spec| Some(spec) == whole(&Spec::named(&receiver.name)))
}

/// What the flow sets; in the papers' era its defaults too.
struct Differs<'a> {
    papers: bool,
    stack: &'a Stack,
    default: Stack,
}

impl Differs<'_> {
    fn sets<T: PartialEq>(&self, value: impl Fn(&Stack) -> T) -> bool {
        self.papers || value(self.stack) != value(&self.default)
    }

    fn options(&self, settings: &mut Settings) {
        if self.sets(|s| s.timestamps) {
            settings.negotiate("tcp_timestamps", self.stack.timestamps);
        }
        if self.sets(|s| s.window_scaling) {
            settings.negotiate("tcp_window_scaling", self.stack.window_scaling);
        }
        if self.sets(|s| s.ecn) {
            settings.negotiate("tcp_ecn", self.stack.ecn.on());
        }
    }

    fn windows(&self, settings: &mut Settings) {
        let Stack { mss, .. } = *self.stack;
        if self.sets(|s| s.mss) {
            // The kernel counts the timestamps option as part of the segment, the scenario does not.
            let option = if self.papers && !self.stack.timestamps { 0 } else { TIMESTAMPS };
            settings.sockets.maxseg = Some(mss + option);
            settings.mtu = mss + option + HEADERS;
        }
        if self.sets(|s| s.initial_window) {
            settings.route.initcwnd = Some(segments(self.stack.initial_window, mss));
        }
        settings.initial_ssthresh = self.stack.initial_ssthresh.map(|size| segments(size, mss));
        if self.stack.rwnd_autotuning != Autotuning::Off {
            // The kernel tunes it by itself, up to what it is told to.
            if self.sets(|s| s.rwnd) {
                let value = format!("4096 131072 {}", 2 * u64::from(self.stack.advertised_window()));
                let terms = Terms::Highest;
                settings.receiver.push(Sysctl { name: "tcp_rmem", value, may_lack: false, terms });
            }
        } else if self.sets(|s| s.rwnd) {
            settings.sockets.window = Some(self.stack.advertised_window());
        }
        settings.sockets.ample = self.stack.send_buffer.is_none();
        if let Some(size) = self.stack.send_buffer {
            // A socket's SO_SNDBUF counts what the kernel's books cost; the other end's window counts bytes.
            let bytes = u32::try_from(size.bytes(mss)).unwrap_or(u32::MAX);
            settings.sockets.window = Some(self.stack.advertised_window().min(bytes));
        }
        if let Some(window) = settings.sockets.window {
            let value = format!("4096 16384 {}", 2 * sockets::buffer(window, mss).max(1 << 21));
            settings.sender.push(Sysctl { name: "tcp_wmem", value, may_lack: false, terms: Terms::Highest });
        }
        settings.sockets.mss = mss;
    }

    fn timers(&self, settings: &mut Settings) {
        if self.sets(|s| s.min_rto) {
            settings.route.rto_min = Some(self.stack.min_rto);
        }
        if self.sets(|s| s.linear_syn_timeouts) {
            let value = self.stack.linear_syn_timeouts.to_string();
            let name = "tcp_syn_linear_timeouts"; // from Linux 6.5 on
            settings.sender.push(Sysctl { name, value, may_lack: true, terms: Terms::None });
        }
        if self.sets(|s| s.max_rto) {
            let value = self.stack.max_rto.ticks(Span::ms(1)).to_string();
            settings.sender.push(Sysctl {
                name: "tcp_rto_max_ms",
                value,
                may_lack: true,
                terms: Terms::None,
            });
        }
    }
}

impl Settings {
    /// What the scenario switches on or off whatever the era.
    fn switch(&mut self, kernel: &KernelStack) {
        // The value that a kernel has by default, and what switches it off.
        let switches = [
            (kernel.rack, "tcp_recovery", 1, true),
            (kernel.tail_loss_probe, "tcp_early_retrans", 3, true),
            (kernel.f_rto, "tcp_frto", 2, false),
        ];
        for (on, name, usual, may_lack) in switches {
            if let Some(on) = on {
                let value = if on { usual } else { 0 };
                self.sender.retain(|sysctl| sysctl.name != name);
                self.sender.push(Sysctl { name, value: value.to_string(), may_lack, terms: Terms::None });
            }
        }
        if let Some(on) = kernel.dsack {
            self.receiver.retain(|sysctl| sysctl.name != "tcp_dsack");
            let value = u8::from(on).to_string();
            self.receiver.push(Sysctl { name: "tcp_dsack", value, may_lack: false, terms: Terms::None });
        }
    }

    /// An option that both ends must want; the sender's end decides.
    fn negotiate(&mut self, name: &'static str, on: bool) {
        let sysctl =
            Sysctl { name, value: u8::from(on).to_string(), may_lack: false, terms: Terms::Negotiated };
        self.sender.push(sysctl.clone());
        self.receiver.push(sysctl);
    }
}

/// Whole segments, at least one: a kernel's windows hold no parts.
fn segments(size: Size, mss: u32) -> u32 {
    u32::try_from(size.bytes(mss) / u64::from(mss)).unwrap_or(u32::MAX).max(1)
}

/// Writes sysctls of a namespace, from a thread inside. One that this kernel lacks is an error unless it may.
pub fn apply(ns: &Netns, sysctls: &[Sysctl]) -> Result<(), Error> {
    ns.enter(|| sysctls.iter().try_for_each(|sysctl| write(ns.name(), sysctl)))?
}

/// Has the sockets of a namespace take this congestion control unless they choose another.
pub fn set_control(ns: &Netns, name: &str) -> Result<(), Error> {
    let written = ns.enter(|| fs::write("/proc/sys/net/ipv4/tcp_congestion_control", name))?;
    written.map_err(|e| {
        Error::system(
            format!("make \"{name}\" the congestion control of the network namespace {}", ns.name()),
            e,
        )
    })
}

fn write(ns: &str, sysctl: &Sysctl) -> Result<(), Error> {
    let path = format!("/proc/sys/net/ipv4/{}", sysctl.name);
    match fs::write(&path, &sysctl.value) {
        Err(error) if error.kind() == ErrorKind::NotFound && sysctl.may_lack => Ok(()),
        done => done.map_err(|e| {
            Error::system(
                format!("set net.ipv4.{} to {} in the network namespace {ns}", sysctl.name, sysctl.value),
                e,
            )
        }),
    }
}

#[cfg(test)]
mod tests;
