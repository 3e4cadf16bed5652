//! Routers on an abstract network: a graph that changes, links that deliver after a while or not at all.

mod net;
mod properties;
mod scenes;
