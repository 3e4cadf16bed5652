//! Runs one scenario on this machine's kernel and prints its outcome: `cargo run -p truckee-kernel --example once FILE`.

use std::sync::atomic::AtomicBool;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("usage: once SCENARIO")?;
    let scenario = truckee_scenario::Document::read(file.as_ref())?.scenario()?;
    let outcome = truckee_kernel::run(&scenario, false, &AtomicBool::new(false))?;
    println!("{outcome:#?}");
    Ok(())
}
