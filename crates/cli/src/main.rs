//! The program `truckee`.

use std::process::ExitCode;

/// Thousands of connections grow and shrink thousands of lists, far from the processor: the system's allocator reads what is beside
/// each, this one does not.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    truckee_cli::main(std::env::args_os()).into()
}
