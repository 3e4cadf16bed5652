//! Reads one capture and says how many packets and connections it has: what a profiler is run over, without the rest of
//! the command.

use std::path::Path;
use truckee_capture::{Limits, read, source};

fn main() {
    let path = std::env::args().nth(1).expect("usage: read_once CAPTURE");
    let source = source::open(Path::new(&path)).expect("a capture");
    let capture = read(source, Limits::default(), None, |_| true).expect("a capture");
    println!("{} packets, {} connections", capture.packets, capture.connections.len());
}
