//! Links that get worse or are lost: the link layer's word, and hysteresis. Source: RFC 3626, sections 13 and 14.

use super::{Hysteresis, Olsr};
use crate::{Hop, Time};

impl Olsr {
    /// The link layer says that a neighbour does not answer (13): the link is lost until it is heard of anew.
    pub(super) fn lose(&mut self, now: Time, hop: Hop) {
        if !self.config.link_layer {
            return;
        }
        let Some(link) = self.links.of.get_mut(&hop).filter(|link| link.is_symmetric(now)) else { return };
        link.symmetric = now;
        link.lost = now + self.config.neighbour_hold_time;
        link.until = link.until.max(link.lost);
        self.out.withdraw(hop);
        self.ends = now;
        self.forget(now);
        self.settle(now);
    }

    /// A packet arrived: the link's quality rises, and has fallen for each that is missing (14.2, 14.3).
    pub(super) fn rate(&mut self, now: Time, hop: Hop, packet: u16, hysteresis: Hysteresis) {
        let hold = self.config.neighbour_hold_time;
        let Some(link) = self.links.of.get_mut(&hop) else { return };
        let lost = link.packet.map_or(0, |last| packet.wrapping_sub(last).saturating_sub(1));
        // Those whose hellos were missed count already. A number that has jumped is a neighbour who began anew.
        let losses = if lost < 100 { lost.saturating_sub(link.missed) } else { 0 };
        for _ in 0..losses {
            link.quality *= 1.0 - hysteresis.scaling;
        }
        link.missed = 0;
        link.quality = (1.0 - hysteresis.scaling) * link.quality + hysteresis.scaling;
        link.packet = Some(packet);
        link.judge(now, hysteresis, hold);
        self.ends = now;
        self.forget(now);
    }

    /// Hellos that have not come make links worse (14.3).
    pub(super) fn rate_silent(&mut self, now: Time, hysteresis: Hysteresis) {
        let hold = self.config.neighbour_hold_time;
        for link in self.links.of.values_mut().filter(|link| link.missing <= now) {
            link.quality *= 1.0 - hysteresis.scaling;
            link.missing = now + link.interval;
            link.missed = link.missed.saturating_add(1);
            link.judge(now, hysteresis, hold);
        }
    }
}
