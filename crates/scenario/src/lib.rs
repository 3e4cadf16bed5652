//! The question and the answer: the scenario file ([`Document`] → [`model`]) and the outcome every engine returns
//! ([`outcome`]). This is the contract between a file and the engines; it knows no engine.
//!
//! ```
//! use truckee_scenario::{Document, Errors};
//! # fn main() -> Result<(), Errors> {
//! let text = r#"
//!     duration = "10s"
//!     topology = { kind = "single-link", rate = "10Mbit/s", channel = { kind = "bernoulli", per = 0.01 } }
//!     flow     = [{ from = "src", to = "dst", sender = "reno" }]
//! "#;
//! let mut document = Document::parse("short.toml", text)?;
//! document.set("channel.per", "0.05")?;
//! assert_eq!(document.scenario()?.flows[0].sender.label, "reno");
//!
//! document.set("flow.sender", "renoo")?;
//! let errors = document.scenario().unwrap_err();
//! assert_eq!(errors.list[0].help.as_deref(), Some("did you mean \"reno\"?"));
//! # Ok(())
//! # }
//! ```
//!
//! The format is described key by key in `FORMAT.md` beside this crate's manifest.

mod alike;
pub mod arrivals;
mod cancel;
pub mod cells;
mod decode;
mod document;
mod drawn;
mod error;
mod explain;
pub mod lateness;
pub mod model;
mod nearest;
pub mod outcome;
mod policy;
pub mod route;
pub mod units;

pub use alike::alike;
pub use cancel::Cancel;
pub use document::{Document, Given, MAX_FILE_BYTES, Scalar, Written};
pub use error::{Error, Errors, Spot};
pub use explain::{explain, explain_stack};
pub use lateness::Lateness;
pub use model::Scenario;
pub use outcome::Outcome;
pub use policy::ack_policy;
pub use truckee_tcp::{Span, Time};
