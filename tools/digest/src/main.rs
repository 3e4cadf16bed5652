//! Runs scenario files in the simulator and prints each one's digest and name. A release build of this takes a small part
//! of the time that one of the command takes, and holds all that decides a digest. Not for users: `truckee run` prints
//! digests, too.

use std::path::Path;
use std::process::ExitCode;
use truckee_scenario::Document;

fn digest(file: &str) -> Result<String, String> {
    let document = Document::read(Path::new(file)).map_err(|e| e.to_string())?;
    let scenario = document.scenario().map_err(|e| e.to_string())?;
    let outcome = truckee_net::run(&scenario, &truckee_net::Options::default()).map_err(|e| e.to_string())?;
    Ok(outcome.digest)
}

fn main() -> ExitCode {
    for file in std::env::args().skip(1) {
        match digest(&file) {
            Ok(digest) => println!("{digest} {file}"),
            Err(why) => {
                eprintln!("{file}: {why}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
