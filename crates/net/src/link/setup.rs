//! How links are set up: what is special about each, and the wires that those share which are alike.

use super::special::{Role, Special};
use super::transmitter::{Measured, Nature, Transmitter, Wire};
use super::{Link, Links};
use crate::lanes::Lanes;
use std::collections::HashMap;
use truckee_scenario::Scenario;
use truckee_scenario::model::Direction;
use truckee_tcp::Time;

/// A plain link before it has a wire.
const UNWIRED: u32 = u32::MAX;

impl Links {
    /// No links yet.
    pub fn of(scenario: &Scenario) -> Self {
        let measured = Measured { from: Time::at(scenario.warmup), to: Time::at(scenario.duration) };
        let links = Vec::with_capacity(2 * scenario.links.len());
        Self { links, wires: Vec::new(), measured, ahead: Vec::new() }
    }

    /// Adds an idle link, whose random streams are called by `name`. A plain one has no wire until [`Self::wire_up`].
    pub fn add(&mut self, direction: &Direction, seed: u64, role: Role, name: impl Fn() -> String) {
        let special = Special::of(direction, seed, role, name);
        let wire = match &special {
            None => UNWIRED,
            Some(special) => {
                let nature = if special.is_drop_tail() { Nature::DropTail } else { Nature::Special };
                self.wires.push(Wire::new(direction, nature));
                (self.wires.len() - 1) as u32
            }
        };
        self.links.push(Link { transmitter: Transmitter::default(), special: special.map(Box::new), wire });
    }

    /// Gives each link its convoy and each plain link its wire. Those that are equal and that `group` gives the same number
    /// share both.
    pub fn wire_up<'d>(
        &mut self,
        lanes: &mut Lanes,
        direction: impl Fn(usize) -> &'d Direction,
        group: impl Fn(usize) -> u64,
    ) {
        let mut wires = HashMap::new();
        // Mostly a link is like the one before it, each direction like that of the same name.
        let mut last = [None; 2];
        for (index, link) in self.links.iter_mut().enumerate() {
            match &link.special {
                Some(special) if special.transit.is_some() => {}
                Some(_) => self.wires[link.wire as usize].convoy = lanes.open(),
                None => {
                    let direction = direction(index);
                    let key = (direction.rate, direction.delay, group(index));
                    let last = &mut last[index % 2];
                    if let Some((_, wire)) = last.filter(|(of, _)| *of == key) {
                        link.wire = wire;
                        continue;
                    }
                    link.wire = *wires.entry(key).or_insert_with(|| {
                        self.wires.push(Wire { convoy: lanes.open(), ..Wire::new(direction, Nature::Plain) });
                        (self.wires.len() - 1) as u32
                    });
                    *last = Some((key, link.wire));
                }
            }
        }
    }
}
