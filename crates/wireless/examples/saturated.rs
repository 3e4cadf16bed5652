//! How fast the medium is simulated: a cell of saturated stations, 802.11b at 11 Mbit/s, packets of 1,500 bytes.
//!
//! `cargo run --release -p truckee-wireless --example saturated [STATIONS [SECONDS [BYSTANDERS]]]`: so many stations
//! (20) send to one for so many simulated seconds (100), and so many more (0) are out of their reach, silent.

use std::time::Instant;
use truckee_wireless::phy::{Dsss, Preamble, Rate, Standard};
use truckee_wireless::{
    Destination, Medium, MediumConfig, NodeId, Packet, Position, RateControl, Report, StationConfig, Time,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).map(|arg| arg.parse::<u32>());
    let mut number = |default| numbers.next().unwrap_or(Ok(default));
    let (stations, seconds, bystanders) = (number(20)?, number(100)?, number(0)?);
    let rate = RateControl::Fixed(Rate::Dsss(Dsss::R11));
    let at = |x: f64| StationConfig { queue: 2, ..StationConfig::at(Position::on_ground(x, 0.0), rate) };
    let here = (0..=stations).map(|i| at(f64::from(i)));
    let far = (0..bystanders).map(|i| at(1e7 + f64::from(i)));
    let all: Vec<_> = here.chain(far).collect();
    let mut medium = Medium::new(&MediumConfig::of(Standard::B(Preamble::Long)), &all, 1)?;
    let packet = |id| Packet { id, bytes: 1_500, to: Destination::Node(NodeId(0)) };
    let mut id = 0;
    for node in 1..=stations {
        for _ in 0..2 {
            medium.offer(NodeId(node), packet(id))?;
            id += 1;
        }
    }
    let (end, begun) = (Time::from(seconds) * 1_000_000_000, Instant::now());
    let (mut delivered, mut dropped) = (0u64, 0u64);
    while medium.next() <= end {
        medium.advance(medium.next());
        while let Some(report) = medium.report() {
            match report {
                Report::Delivered { .. } => delivered += 1,
                Report::Dropped { .. } => dropped += 1,
                Report::Room { node, packets, .. } => {
                    for _ in 0..packets {
                        medium.offer(node, packet(id))?;
                        id += 1;
                    }
                }
                _ => {}
            }
        }
    }
    let took = begun.elapsed().as_secs_f64();
    let frames: u64 = (0..=stations).map(|node| medium.counters(NodeId(node)).frames).sum();
    let goodput = delivered as f64 * 12e-3 / f64::from(seconds);
    println!("{stations} stations, {seconds} s simulated in {took:.3} s");
    println!("{delivered} packets delivered, {dropped} dropped: {goodput:.3} Mbit/s");
    println!("{frames} frames, {} events: {:.0} a second", medium.events(), medium.events() as f64 / took);
    println!(
        "{:.0} ns a frame, {:.0} ns an event",
        took * 1e9 / frames as f64,
        took * 1e9 / medium.events() as f64
    );
    Ok(())
}
