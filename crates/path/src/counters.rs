//! What the emulator shows while it runs.

/// What a lane, one direction of a link, shows at some moment. Counts are since the run began.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct LaneCounters {
    /// The name of the link's direction.
    pub name: String,
    /// Packets accepted and transmitted, or about to be; those the medium loses included.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets delivered to the far end, copies included.
    pub delivered: u64,
    /// Packets that did not fit into the queue.
    pub queue_drops: u64,
    /// Packets the channel destroyed.
    pub channel_drops: u64,
    /// Packets lost in outages.
    pub outage_drops: u64,
    /// Packets waiting now, the one in transmission not counted.
    pub waiting_packets: u64,
    /// Their bytes.
    pub waiting_bytes: u64,
    /// Packets accepted that have yet to arrive, those that wait included.
    pub on_the_way: u64,
    /// Its rate at present, bit/s; a recorded capacity has its own.
    pub rate_bps: u64,
    /// Its propagation delay at present, s.
    pub delay_s: f64,
    /// Whether it is up.
    pub up: bool,
}

/// What went through a port of the emulator: a TUN device or an interface.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct PortCounters {
    /// The device's name.
    pub name: String,
    /// Packets read.
    pub read: u64,
    /// Packets written.
    pub written: u64,
    /// Packets the device did not take, being down or out of memory.
    pub refused: u64,
    /// Frames above the interface's MTU, or yet to be segmented: not forwarded.
    pub oversized: u64,
    /// Packets lost before the emulator came to read them. They are in no book: a run that has any was too fast for
    /// this machine.
    pub unread: u64,
}
