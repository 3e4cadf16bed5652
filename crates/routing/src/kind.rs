//! Kinds of messages.

/// What a message is for, for those who count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// AODV: a search for a route.
    Rreq,
    /// AODV: the answer.
    Rrep,
    /// AODV: routes that are no more.
    Rerr,
    /// AODV: an answer's acknowledgement.
    RrepAck,
    /// AODV and OLSR: that one is there.
    Hello,
    /// OLSR: who has chosen this node as a relay.
    Tc,
    /// DSDV: all of a table.
    Full,
    /// DSDV: what has changed in it.
    Incremental,
}

impl Kind {
    /// All of them, in the order of [`Counters`].
    pub const ALL: [Kind; 8] = [
        Kind::Rreq,
        Kind::Rrep,
        Kind::Rerr,
        Kind::RrepAck,
        Kind::Hello,
        Kind::Tc,
        Kind::Full,
        Kind::Incremental,
    ];

    /// Its name in the field.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Rreq => "RREQ",
            Kind::Rrep => "RREP",
            Kind::Rerr => "RERR",
            Kind::RrepAck => "RREP-ACK",
            Kind::Hello => "HELLO",
            Kind::Tc => "TC",
            Kind::Full => "full update",
            Kind::Incremental => "incremental update",
        }
    }
}
