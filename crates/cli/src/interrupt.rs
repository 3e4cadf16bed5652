//! Ctrl-C: the first one asks for an orderly end, the second one ends at once.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::OnceLock;
use truckee_lab::Cancel;

/// What ends a command in order.
const SIGNALS: &[i32] = &[
    SIGINT,
    SIGTERM,
    #[cfg(unix)]
    signal_hook::consts::SIGHUP,
];

/// What the user wishes with Ctrl-C.
pub fn cancel() -> &'static Cancel {
    static CANCEL: OnceLock<Cancel> = OnceLock::new();
    CANCEL.get_or_init(|| {
        let cancel = Cancel::new();
        let ignored = ignored();
        for signal in SIGNALS.iter().filter(|signal| ignored >> (**signal - 1) & 1 == 0) {
            // In this order the first signal finds nothing wished yet, and the second one the first one's wish. Without a
            // handler Ctrl-C still ends the command, only less gracefully.
            let _ = flag::register_conditional_shutdown(*signal, 1, cancel.flag());
            let _ = flag::register(*signal, cancel.flag());
        }
        cancel
    })
}

/// The signals that whoever started the command has had ignored, as nohup does with SIGHUP: bit n for signal n + 1. Where that
/// can't be known, none.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or_default();
    u64::from_str_radix(mask.trim(), 16).unwrap_or_default()
}
