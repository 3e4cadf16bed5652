//! The laboratory in a browser: scenarios are read, run in slices and shown, as a worker asks for it; and the page around that.
//!
//! [`Session`] is asked in JSON and answers in JSON. The functions that WebAssembly exports hand it bytes. A run goes on only
//! while it is asked to, so that a worker can tell how far it is and be told to end it. The page (feature `page`) is one
//! file: scripts, examples and the WebAssembly of this very crate.
//!
//! Not for: figures and tables, which are those of reports (`truckee-look`), drawn by the same scripts; and nothing is
//! worked out here that the simulator (`truckee-net`) or `truckee-look` do not.

#[cfg(target_family = "wasm")]
mod exports;
#[cfg(feature = "page")]
pub mod lessons;
#[cfg(feature = "page")]
mod link;
#[cfg(feature = "page")]
mod page;
mod session;

#[cfg(feature = "page")]
pub use link::link;
#[cfg(feature = "page")]
pub use page::{Error, Example, Page, Recording};
pub use session::Session;
