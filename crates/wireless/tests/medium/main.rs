//! The medium as a whole, held against arithmetic, published models, and itself.

mod bianchi;
mod bianchi_model;
mod cell;
mod conservation;
mod hidden;
mod lone_station;
mod packets;
mod traces;
