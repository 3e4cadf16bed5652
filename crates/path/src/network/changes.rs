//! Links that change while packets are on them: as the scenario foresees it, or because somebody turns them by hand.

use super::super::pump::Turn;
use super::super::refusals::directions;
use super::super::truth::Dropped;
use super::{Cause, Network};
use truckee_channel::Time;
use truckee_scenario::model::{LinkChange, Which};

impl Network {
    pub(super) fn on_change(&mut self, now: Time, index: usize) {
        let change = self.changes[index].1.clone();
        self.apply(now, &change);
    }

    /// Sets both directions of a link to what they are to be from `now` on, of which [`Network::advance`] has been told; see
    /// [`Lane::turn`]. A direction that is to be up or down becomes so.
    pub fn turn(&mut self, now: Time, turn: &Turn) {
        for (k, to) in turn.directions.iter().enumerate() {
            let lane = (2 * turn.link + k) as u32;
            let link = &mut self.lanes[lane as usize];
            link.turn(now, to);
            link.armed = Time::MAX;
            self.arm(lane);
            if turn.up[k].is_some() {
                let direction = if k == 0 { Which::Forward } else { Which::Back };
                let change =
                    LinkChange { link: turn.link, direction, rate: None, delay: None, up: turn.up[k] };
                self.apply(now, &change);
            }
        }
    }

    fn apply(&mut self, now: Time, change: &LinkChange) {
        for forward in directions(change.direction) {
            let lane = 2 * change.link as u32 + u32::from(!forward);
            let link = &mut self.lanes[lane as usize];
            match change.up {
                Some(true) => link.mend(),
                Some(false) => {
                    for id in link.fail(now) {
                        self.packets.remove(id);
                        self.on_drop(id, lane, Dropped { at: now, cause: Cause::Outage });
                    }
                }
                None => {}
            }
            if change.rate.is_some() || change.delay.is_some() {
                let link = &mut self.lanes[lane as usize];
                link.change(now, change.rate, change.delay);
                link.armed = Time::MAX;
                self.arm(lane);
            }
        }
    }
}
