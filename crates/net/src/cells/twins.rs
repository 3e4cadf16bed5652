//! Packets of which there are several, on their ways by an old and a new base station: such a packet is lost when all are.

use crate::packet::PacketId;
use std::collections::HashMap;

/// All that are under way.
#[derive(Debug, Default)]
pub struct Twins {
    /// By packet, its group.
    group: HashMap<PacketId, u32>,
    groups: Vec<Group>,
    free: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Group {
    left: u32,
    arrived: bool,
}

impl Twins {
    /// A packet goes another way, too, as `copy`.
    pub fn split(&mut self, id: PacketId, copy: PacketId) {
        let group = match self.group.get(&id) {
            Some(group) => *group,
            None => {
                let one = Group { left: 1, arrived: false };
                let group = self.free.pop().unwrap_or_else(|| {
                    self.groups.push(one);
                    (self.groups.len() - 1) as u32
                });
                self.groups[group as usize] = one;
                self.group.insert(id, group);
                group
            }
        };
        self.groups[group as usize].left += 1;
        self.group.insert(copy, group);
    }

    /// A packet is at its end.
    pub fn arrive(&mut self, id: PacketId) {
        self.leave(id, true);
    }

    /// A packet is lost; whether nothing else of it has come or may still come.
    pub fn is_last(&mut self, id: PacketId) -> bool {
        self.leave(id, false).is_none_or(|group| group.left == 0 && !group.arrived)
    }

    fn leave(&mut self, id: PacketId, arrived: bool) -> Option<Group> {
        let index = self.group.remove(&id)?;
        let group = &mut self.groups[index as usize];
        group.left -= 1;
        group.arrived |= arrived;
        if group.left == 0 {
            self.free.push(index);
        }
        Some(*group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_lost_with_its_last_copy_and_only_if_none_has_come() {
        let mut twins = Twins::default();
        assert!(twins.is_last(5), "one that has no copies");
        twins.split(1, 2);
        twins.split(1, 3);
        assert!(!twins.is_last(2) && !twins.is_last(1));
        assert!(twins.is_last(3));
        twins.split(1, 2);
        twins.arrive(2);
        assert!(!twins.is_last(1));
        twins.split(1, 2);
        assert!(!twins.is_last(1));
        twins.arrive(2);
        assert!(twins.is_last(1), "a place that serves again is another packet's");
    }
}
