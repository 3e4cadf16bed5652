//! Where the two ends are.

use std::net::Ipv4Addr;

/// The kernel's address, and that of the script's end, in one network.
pub const HERE: Ipv4Addr = Ipv4Addr::new(192, 168, 0, 1);
pub const THERE: Ipv4Addr = Ipv4Addr::new(192, 168, 0, 2);
/// Where a server is, and from which port the script's end calls one.
pub const PORT: u16 = 8080;
pub const CALLER: u16 = 50_000;
/// Bits of that network.
pub const PREFIX: u8 = 16;
