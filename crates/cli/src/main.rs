//! The program `truckee`.

use std::process::ExitCode;

fn main() -> ExitCode {
    truckee_cli::main(std::env::args_os()).into()
}
