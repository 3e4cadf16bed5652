//! What a TCP sender and a TCP receiver decide.
//!
//! Endpoints are sans-IO: they are fed segments and times, and asked what to send and when to be called again. The
//! simulator, a test, a replay and a user's own program drive them alike. A sender is a product of choices:
//! [`recovery`], [`growth`], [`response`], [`start`] and [`pace`], each a family of its own, and the timer's settings
//! ([`rtt`], [`stack`]); [`estimate`] and [`predict`] serve the responses, or watch; [`ack`] is the receiver's side,
//! and [`detect`] serves it, or watches.
//!
//! Not for: clocks, sockets, networks. Nothing here knows where it runs.

pub mod acceptability;
pub mod ack;
mod arithmetic;
pub mod books;
pub mod cache;
pub mod controller;
mod custom;
pub mod delivery;
pub mod detect;
mod ecn;
pub mod endpoint;
pub mod estimate;
pub mod event;
mod family;
pub mod growth;
pub mod highspeed;
mod judged;
pub mod observers;
pub mod outstanding;
pub mod pace;
pub mod predict;
pub mod preset;
pub mod profile;
pub mod receiver;
pub mod recovery;
pub mod registry;
pub mod relative_delay;
pub mod response;
mod round;
pub mod rtt;
pub mod segment;
pub mod sender;
pub mod seq;
mod sound;
pub mod spec;
pub mod stack;
pub mod start;
pub mod wheel;
pub mod window;
pub mod witness;

pub use books::Books;
pub use endpoint::Endpoint;
pub use event::{Ack, Air, Arrival, Cause, Departure, Loss, LossKind};
pub use observers::Observers;
pub use profile::Profile;
pub use receiver::Receiver;
pub use registry::Registry;
pub use segment::{SackBlocks, Segment, Transmit, flags};
pub use sender::Sender;
pub use seq::Seq;
pub use spec::{Arg, Info, Spec, SpecError};
pub use stack::{Size, Stack};
pub use truckee_time::{Span, Time};
pub use window::Window;
pub use witness::{PathTruth, Report, Transmission, Truth, Witness};
