//! Runs one scenario file and prints its outcome as JSON: the engine without the command around it, for profiling.

use std::path::Path;
use truckee_scenario::Document;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("usage: simulate_once SCENARIO [PATH=VALUE …]")?;
    let mut document = Document::read(Path::new(&path))?;
    for setting in args {
        let (path, value) = setting.split_once('=').ok_or("expected PATH=VALUE")?;
        document.set(path, value)?;
    }
    let outcome = truckee_net::run(&document.scenario()?, &truckee_net::Options::default())?;
    println!("{}", serde_json::to_string_pretty(&outcome)?);
    Ok(())
}
