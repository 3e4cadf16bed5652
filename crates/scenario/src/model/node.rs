//! How nodes are called within a scenario.

/// A number of a node in a scenario's list of nodes.
pub type NodeId = usize;
