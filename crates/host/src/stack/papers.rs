//! The stack of the papers' era: what is switched off of what the kernel has learnt since, and what cannot be.
//!
//! Sources: the kernel's Documentation/networking/ip-sysctl.rst, and net/ipv4 of Linux 6.18. A sysctl that a kernel may
//! lack came with what it switches off, or went with it.

use super::settings::{Settings, Sysctl, Terms};
use truckee_tcp::Stack;

/// At the end that sends data.
const SENDER: &[(&str, u64, bool)] = &[
    ("tcp_recovery", 0, true),                 // no RACK (RFC 8985); up to Linux 6.16
    ("tcp_early_retrans", 0, true),            // no tail loss probe
    ("tcp_frto", 0, false),                    // no F-RTO (RFC 5682)
    ("tcp_fack", 0, true),                     // without effect since 4.15
    ("tcp_reordering", 3, false),              // three duplicate ACKs …
    ("tcp_max_reordering", 3, true),           // … whatever is seen
    ("tcp_no_metrics_save", 1, false),         // no connection learns from an earlier one
    ("tcp_slow_start_after_idle", 1, false),   // RFC 2861
    ("tcp_autocorking", 0, true),              // a write is sent when it may be
    ("tcp_limit_output_bytes", 1 << 30, true), // the window alone limits what waits in the device
    ("tcp_min_tso_segs", 1, true),
    ("tcp_thin_linear_timeouts", 0, true),
    ("tcp_retrans_collapse", 0, true), // a segment is resent as it was
    ("tcp_mtu_probing", 0, true),
];

/// At the end that receives it.
const RECEIVER: &[(&str, u64, bool)] = &[
    ("tcp_dsack", 0, false),            // RFC 2883
    ("tcp_moderate_rcvbuf", 0, true),   // the window is what it is from the beginning
    ("tcp_comp_sack_nr", 0, true),      // every duplicate ACK is sent, none summed up
    ("tcp_backlog_ack_defer", 0, true), // as are ACKs of what waited for a busy socket
];

/// What holds of any kernel, in any era.
pub(super) const ANY: &[&str] = &[
    "the window comes down during fast recovery by proportional rate reduction (RFC 6937), unless the congestion control does it",
    "limited transmit (RFC 3042) is always on, and not limited to two segments",
    "min_rto bounds the RTT's variance term: the timeout is at least the smoothed RTT plus min_rto",
    "windows are counted in segments: initial_window and initial_ssthresh are rounded down",
    "timers go by the kernel's ticks (1 to 10 ms)",
];

/// What holds of the papers' era beside.
const PAPERS: &[&str] = &[
    "SACK connections find losses by RACK (RFC 8985) from Linux 6.17 on; its reordering window is closed after three duplicate ACKs",
    "a window reduction found to have been needless is undone (Eifel with timestamps; after a timeout also without)",
    "max_rto is 120 s in kernels without tcp_rto_max_ms (before Linux 6.15)",
    "segmentation by the device is switched off: each segment leaves on its own",
];

/// What holds of the kernel's own delayed ACKs.
pub(super) const DELAYED: &str = "an ACK is delayed by 40 to 200 ms as the kernel sees fit, and not at all while the receiver's window opens: for the first half of rwnd";

/// What holds of the recovery `reno`.
pub(super) const RENO: &str =
    "several losses in a window are repaired as by NewReno (RFC 6582): the kernel has no plain Reno";

/// What holds of the recovery `vegas`.
pub(super) const VEGAS: &str = "losses are noticed and repaired as by NewReno (RFC 6582): the kernel does not retransmit before the third duplicate ACK, as Vegas does";

/// What a flow wants whatever it sets.
pub(super) fn settings(stack: &Stack) -> Settings {
    let sysctls = |list: &[(&'static str, u64, bool)]| {
        list.iter()
            .map(|&(name, value, may_lack)| Sysctl {
                name,
                value: value.to_string(),
                may_lack,
                terms: Terms::None,
            })
            .collect()
    };
    let mut stated = [ANY, PAPERS].concat();
    if stack.timestamps {
        stated.push("a full segment is 12 bytes longer on the wire, by the timestamps option");
    }
    let mut settings = Settings {
        sender: sysctls(SENDER),
        receiver: sysctls(RECEIVER),
        gso_max_segs: Some(1),
        stated,
        ..Settings::default()
    };
    settings.sockets.no_delay = true;
    settings
}
