//! Ctrl-C: the first one asks for an orderly end, the second one ends at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Becomes true when the user wants to stop.
pub fn flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    // Without a handler Ctrl-C still ends the command, only less gracefully.
    let _ = ctrlc::set_handler(move || {
        if raised.swap(true, Ordering::Relaxed) {
            std::process::exit(1);
        }
    });
    flag
}
