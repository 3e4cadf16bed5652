//! Ctrl-C: the first one asks for an orderly end, the second one ends at once.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static RAISED: AtomicBool = AtomicBool::new(false);
static HANDLER: Once = Once::new();

/// Becomes true when the user wants to stop.
pub fn flag() -> &'static AtomicBool {
    HANDLER.call_once(|| {
        // Without a handler Ctrl-C still ends the command, only less gracefully.
        let _ = ctrlc::set_handler(|| {
            if RAISED.swap(true, Ordering::Relaxed) {
                std::process::exit(1);
            }
        });
    });
    &RAISED
}
