//! Runs one scenario on this machine's kernel and prints its outcome as JSON: the engine without the command around it.

use std::path::Path;
use truckee_scenario::{Cancel, Document};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("usage: run_live_once SCENARIO [PATH=VALUE …]")?;
    let mut document = Document::read(Path::new(&path))?;
    for setting in args {
        let (path, value) = setting.split_once('=').ok_or("expected PATH=VALUE")?;
        document.set(path, value)?;
    }
    let outcome = truckee_kernel::run(&document.scenario()?, false, &Cancel::new())?;
    println!("{}", serde_json::to_string_pretty(&outcome)?);
    Ok(())
}
