//! A node's soft state of one mobile host: by which links packets for it leave, as long as something says so. Source: Campbell
//! et al. 2000, on routing and paging caches.

use truckee_tcp::Time;

/// The mappings of one host in a route or a paging cache.
#[derive(Debug, Clone, Default)]
pub struct Cache {
    /// A link each, and until when it is valid; the one that a control packet named last is the last.
    mappings: Vec<(u32, Time)>,
}

impl Cache {
    /// A control packet came by this link: its mapping is there from now on, and the newest.
    pub fn update(&mut self, link: u32, until: Time) {
        self.mappings.retain(|(of, _)| *of != link);
        self.mappings.push((link, until));
    }

    /// Nothing is known any longer.
    pub fn clear(&mut self) {
        self.mappings.clear();
    }

    /// Another packet came by this link: a mapping that is valid stays so, and none is made.
    pub fn refresh(&mut self, link: u32, now: Time, until: Time) {
        let valid = self.mappings.iter_mut().find(|(of, end)| *of == link && *end > now);
        if let Some((_, end)) = valid {
            *end = until.max(*end);
        }
    }

    /// The links that are valid at `now`, the newest first, into `links`. Others are forgotten.
    pub fn valid(&mut self, now: Time, links: &mut Vec<u32>) {
        self.mappings.retain(|(_, end)| *end > now);
        links.extend(self.mappings.iter().rev().map(|(link, _)| *link));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn valid(cache: &mut Cache, now: u64) -> Vec<u32> {
        let mut links = Vec::new();
        cache.valid(Time::s(now), &mut links);
        links
    }

    #[test]
    fn a_mapping_lasts_until_its_timeout_and_packets_keep_it_up_but_make_none() {
        let mut cache = Cache::default();
        cache.refresh(7, Time::ZERO, Time::s(9));
        assert!(valid(&mut cache, 0).is_empty());
        cache.update(7, Time::s(9));
        assert_eq!(valid(&mut cache, 8), [7]);
        cache.refresh(7, Time::s(8), Time::s(17));
        assert_eq!((valid(&mut cache, 16), valid(&mut cache, 17)), (vec![7], vec![]));
        cache.refresh(7, Time::s(17), Time::s(26));
        assert!(valid(&mut cache, 17).is_empty(), "it has gone, and only a control packet makes another");
    }

    #[test]
    fn after_a_handoff_both_ways_are_valid_until_the_old_one_times_out() {
        let mut cache = Cache::default();
        cache.update(1, Time::s(9));
        cache.update(2, Time::s(14));
        assert_eq!((valid(&mut cache, 8), valid(&mut cache, 9)), (vec![2, 1], vec![2]));
        cache.update(1, Time::s(20));
        cache.update(2, Time::s(21));
        cache.update(1, Time::s(22));
        assert_eq!(valid(&mut cache, 10), [1, 2]);
    }
}
