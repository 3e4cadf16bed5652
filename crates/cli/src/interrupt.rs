//! Ctrl-C: the first one asks for an orderly end, the second one ends at once.

use std::sync::OnceLock;
use truckee_lab::Cancel;

/// What the user wishes with Ctrl-C.
pub fn cancel() -> &'static Cancel {
    static CANCEL: OnceLock<Cancel> = OnceLock::new();
    CANCEL.get_or_init(|| {
        let cancel = Cancel::new();
        let wished = cancel.clone();
        // Without a handler Ctrl-C still ends the command, only less gracefully.
        let _ = ctrlc::set_handler(move || {
            if !wished.cancel() {
                std::process::exit(1);
            }
        });
        cancel
    })
}
