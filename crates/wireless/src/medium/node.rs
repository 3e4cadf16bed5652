//! One of the stations with all that it has: what decides, what is on the air around it, and what it makes of that.

use super::radio::Radio;
use crate::Time;
use crate::config::Role;
use crate::mac::{Inbox, Pending, Rules, Station};
use truckee_channel::random::Xoshiro256PlusPlus;

#[derive(Debug)]
pub(super) struct Node {
    pub radio: Radio,
    pub station: Station,
    pub role: Role,
    /// What arrives, by sender.
    pub inboxes: Vec<(u32, Inbox)>,
    /// As a receiver.
    pub luck: Xoshiro256PlusPlus,
}

impl Node {
    pub fn new(station: Station, role: Role, luck: Xoshiro256PlusPlus) -> Self {
        Self { radio: Radio::default(), station, role, inboxes: Vec::new(), luck }
    }

    /// Tells the station that the medium is busy, or is so no longer, if that has changed; whether its deadline is another
    /// one for that. Busy: it sends, reads, or hears so many milliwatts.
    #[inline(always)]
    pub fn sense(&mut self, now: Time, carrier_sense: f64, rules: &Rules) -> bool {
        let busy = self.radio.is_busy(carrier_sense);
        busy != self.station.contention.busy && self.station.turn(now, busy, rules)
    }

    /// Packets that wait, are on the way, or are held back until those before them have come.
    pub fn pending(&self) -> impl Iterator<Item = &Pending> {
        self.station.pending().chain(self.inboxes.iter().flat_map(|(_, inbox)| inbox.held()))
    }
}
