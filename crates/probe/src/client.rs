//! A client program of one's own: it says what is asked, and the connection over which the server hears it is the prober's.
//!
//! What the program means for the server goes to a socket of ours (see `watched`), and from there over a connection that is
//! opened, taken over and ended like any other of a probe (see `carried`). So all that holds for those holds for it: the
//! server gets ACKs of the prober's alone, nothing is loaded into the kernel or attached to an interface, and what is there is
//! processes and sockets, which go with us. The thesis' tool did it by rules of iptables on a user of its own (split, section
//! 3.4.1), which a killed tool leaves behind.
//!
//! Not for: what is found (see [`super::observe`]).

#[cfg(live)]
mod carried;
#[cfg(live)]
mod watched;

#[cfg(live)]
pub use carried::{Asked, Carried, ordinary};

use std::ffi::OsString;

/// A client program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The program and its arguments; no shell reads them.
    pub command: Vec<OsString>,
    /// Which of the things that it says is asked with the prober's ACKs, from 1 on: what it says after it has heard the server
    /// is its next. All before are exchanged as usual, as the handshake of TLS is in what it says first.
    pub turn: u32,
}

impl Program {
    /// The command in words.
    pub fn words(&self) -> String {
        let words: Vec<_> = self.command.iter().map(|word| word.to_string_lossy()).collect();
        words.join(" ")
    }
}
