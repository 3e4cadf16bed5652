//! The laboratory for a page in a browser: scenarios are read, run in slices and shown, as a worker asks for it.
//!
//! [`Session`] is the whole of it: it is asked in JSON and answers in JSON. The functions that WebAssembly exports hand it
//! bytes. A run goes on only while it is asked to, so that a worker can tell how far it is and be told to end it.
//!
//! Not for: what the page looks like; and nothing is worked out here that the simulator (`truckee-net`) or the figures
//! (`truckee-look`) do not.

#[cfg(target_family = "wasm")]
mod exports;
mod session;

pub use session::Session;
