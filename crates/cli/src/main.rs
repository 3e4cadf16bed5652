//! The program `truckee`.

use std::process::ExitCode;

/// Thousands of connections grow and shrink thousands of lists, far from the processor: the system's allocator reads what is beside
/// each, this one does not.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What is free goes back to the system so many milliseconds later: after a second, as is usual, a short run would keep all that its
/// lists have outgrown. `MIMALLOC_PURGE_DELAY` says otherwise.
const PURGE_DELAY_MS: std::ffi::c_long = 50;

/// Its number among the allocator's options (mimalloc.h, `mi_option_purge_delay`), which has no name here.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

fn main() -> ExitCode {
    #[expect(unsafe_code, reason = "the allocator has no other way to be told")]
    // SAFETY: no other thread runs yet, and a number is all that is written.
    unsafe {
        libmimalloc_sys::mi_option_set_default(PURGE_DELAY, PURGE_DELAY_MS);
    }
    truckee_cli::main(std::env::args_os()).into()
}
