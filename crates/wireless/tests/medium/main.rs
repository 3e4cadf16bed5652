//! The medium as a whole, held against arithmetic, published models, and itself.

mod bianchi;
mod cell;
mod hidden;
mod lone_station;
