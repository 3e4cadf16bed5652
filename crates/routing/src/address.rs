//! What nodes, interfaces and packets are called.

/// A node, by its number; its number is its address, on all of its interfaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// One of a node's interfaces to a medium, by its place in the node's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Interface(pub u8);

/// A neighbour, and the interface by which it is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hop {
    /// Whose medium it is.
    pub interface: Interface,
    /// Who is next.
    pub neighbour: NodeId,
}

/// A packet of data, by the caller's name for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PacketId(pub u64);
