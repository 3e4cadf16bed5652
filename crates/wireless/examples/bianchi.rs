//! Saturation throughput beside Bianchi's formula, under his assumptions: a table in Markdown.
//!
//! `cargo run --release -p truckee-wireless --example bianchi [SECONDS]`: five runs of so many simulated seconds (40) for each
//! number of stations. What is claimed of it is a test (`tests/medium/bianchi.rs`).

#[path = "../tests/medium/bianchi_model.rs"]
mod bianchi_model;
#[path = "../tests/medium/cell.rs"]
#[allow(dead_code, reason = "the tests ask more of it")]
mod cell;

use bianchi_model::{off, sending, throughput};
use truckee_wireless::Time;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seconds = std::env::args().nth(1).map_or(Ok(40), |arg| arg.parse())?;
    println!("| stations | chance to collide | basic access | the medium is off by | RTS and CTS | off by |");
    println!("|--:|--:|--:|--:|--:|--:|");
    for n in [1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50] {
        // His p = 1 − (1 − τ)^(n−1), the same with and without RTS.
        let collides = 1.0 - (1.0 - sending(n, 32.0, 5)).powi(n as i32 - 1);
        print!("| {n} | {collides:.3} |");
        for rts in [false, true] {
            let (mean, half) = off(n, rts, Time::s(seconds));
            let kbps = throughput(n, rts) / 1e3;
            print!(" {kbps:.1} kbit/s | {:+.2} ± {:.2} % |", mean * 1e2, half * 1e2);
        }
        println!();
    }
    println!("\n± half the 95 % interval over five runs of {seconds} s.");
    Ok(())
}
