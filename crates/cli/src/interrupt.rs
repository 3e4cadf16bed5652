//! Ctrl-C: the first one asks for an orderly end, the second one ends at once.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::OnceLock;
use truckee_kernel::signals::hangup_is_ignored;
use truckee_lab::Cancel;

/// Its number (POSIX); signal-hook names it where there is one.
const SIGHUP: i32 = 1;

/// What the user wishes with Ctrl-C, or by closing the terminal.
pub fn cancel() -> &'static Cancel {
    static CANCEL: OnceLock<Cancel> = OnceLock::new();
    CANCEL.get_or_init(|| {
        let cancel = Cancel::new();
        let hangup = (cfg!(unix) && !hangup_is_ignored()).then_some(SIGHUP);
        for signal in [SIGINT, SIGTERM].into_iter().chain(hangup) {
            // In this order the first signal finds nothing wished yet, and the second one the first one's wish. Without a
            // handler Ctrl-C still ends the command, only less gracefully.
            let _ = flag::register_conditional_shutdown(signal, 1, cancel.flag());
            let _ = flag::register(signal, cancel.flag());
        }
        cancel
    })
}
