//! A lane that is turned by hand while traffic flows.

use super::super::transit::{InTransit, Transit};
use super::Lane;
use std::sync::Arc;
use truckee_channel::{Channel, ChannelConfig, Time, stream_seed};
use truckee_scenario::model::Direction;

impl Lane {
    /// From `now` on it is as `to` says. Only what differs from what it was last set to is touched: rate and delay as by
    /// [`Lane::change`]; the size of a queue, which drops nothing that waits already; of the channel those effects that are
    /// others, which begin anew. What has been decided of a packet stays decided.
    pub fn turn(&mut self, now: Time, to: &Direction) {
        let before = std::mem::replace(&mut self.set, to.clone());
        self.turns += 1;
        let rate = (before.rate != to.rate).then_some(to.rate);
        let delay = (before.delay != to.delay).then_some(to.delay);
        if rate.is_some() || delay.is_some() {
            self.change(now, rate, delay);
        }
        self.limit = to.queue.limit();
        if before.channel != to.channel {
            self.retune(&before.channel, &to.channel);
        }
    }

    /// Another channel. Where it keeps order, what is accepted from now on does not overtake what is on its way.
    fn retune(&mut self, before: &ChannelConfig, after: &ChannelConfig) {
        let seed = stream_seed(self.seed, &format!("{}/channel, turn {}", self.name, self.turns));
        let channel = match self.channel.take() {
            Some(channel) => channel.turned(before, after, seed),
            None => Channel::new(after, seed),
        };
        let on_the_way: Vec<InTransit> = std::iter::from_fn(|| self.transit.take()).collect();
        if channel.keeps_order() {
            self.not_before =
                on_the_way.last().map_or(self.not_before, |item| self.not_before.max(item.arrival));
        }
        self.transit = Transit::new(channel.keeps_order());
        on_the_way.into_iter().for_each(|item| self.transit.add(item));
        self.channel = (!channel.is_clean()).then_some(channel);
    }
}

/// Whether a lane can be turned from one setting to the other while it runs; if not, why.
pub(in super::super) fn refuses(from: &Direction, to: &Direction) -> Option<&'static str> {
    use truckee_scenario::model::Queue::DropTail;
    let same_queue =
        matches!((&from.queue, &to.queue), (DropTail { .. }, DropTail { .. })) || from.queue == to.queue;
    let paced = |direction: &Direction| direction.channel.capacity().map(Arc::as_ptr);
    match () {
        () if !same_queue => Some("while it runs only the size of a drop-tail queue can be changed"),
        () if paced(from) != paced(to) => Some("a recorded capacity can neither come nor go while it runs"),
        () if from.after_channel != to.after_channel => {
            Some("the channel cannot change places with the queue while it runs")
        }
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Offer, Offered};
    use super::*;
    use crate::Cause;
    use truckee_channel::Span;
    use truckee_scenario::Document;

    const MS: Span = Span::ms(1);

    /// 12 Mbit/s and 10 ms, so that a packet of 1500 B takes 1 ms, but for these lines of a link.
    fn set(lines: &str) -> Direction {
        let text = format!(
            "duration = \"1s\"\n[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"12Mbit/s\"\ndelay = \"10ms\"\n{lines}"
        );
        let mut document = Document::parse("turn.toml", &text).unwrap();
        document.set("seed", "7").unwrap();
        Direction::clone(&document.scenario().unwrap().links[0].forward)
    }

    fn lane(lines: &str) -> Lane {
        Lane::new(&set(lines), "a-b", 7, (Time::ZERO, Time::at(Span::s(1))))
    }

    fn offer(lane: &mut Lane, at: u64, packet: u32) -> Offered {
        let offered =
            lane.offer(Time::ms(at), Offer { bytes: 1500, flow: 0, data: true, key: 0, ecn: false });
        if let Offered::Accepted { departure, arrival, .. } = offered {
            lane.carry(InTransit { arrival, departure, packet });
        }
        offered
    }

    fn arrivals(lane: &mut Lane) -> Vec<(u32, f64)> {
        let ms = |at: Time| at.as_f64() / MS.as_f64();
        std::iter::from_fn(|| lane.arrive(Time::MAX)).map(|(packet, at)| (packet, ms(at))).collect()
    }

    #[test]
    fn a_turned_lane_goes_on_as_it_is_set_and_what_is_on_its_way_arrives() {
        let mut one = lane("");
        offer(&mut one, 0, 0);
        let mut to = set("channel = { kind = \"bernoulli\", per = 1.0 }");
        to.delay = 5 * MS;
        one.turn(Time::ms(2), &to);
        assert_eq!(offer(&mut one, 3, 1), Offered::Dropped(Cause::Channel, Time::ms(4)));
        to.channel = ChannelConfig::default();
        one.turn(Time::ms(5), &to);
        offer(&mut one, 5, 2);
        assert_eq!(arrivals(&mut one), [(0, 11.0), (2, 11.0)], "the shorter way does not overtake");
    }

    #[test]
    fn reordering_comes_and_goes_and_nothing_on_its_way_is_lost_by_it() {
        let held = "channel = { kind = \"reorder\", every = 2, delay = \"20ms\" }";
        let mut one = lane("");
        offer(&mut one, 0, 0);
        one.turn(Time::ms(1), &set(held));
        for k in 1..=4 {
            offer(&mut one, u64::from(k), k);
        }
        one.turn(Time::ms(5), &set(""));
        offer(&mut one, 5, 5);
        let expected = [(0, 11.0), (1, 12.0), (3, 14.0), (2, 33.0), (4, 35.0), (5, 35.0)];
        assert_eq!(arrivals(&mut one), expected, "order is kept again behind the last of them");
    }

    #[test]
    fn a_smaller_queue_drops_nothing_that_waits_and_a_rate_turned_alone_leaves_the_rest() {
        let mut one = lane("queue = { size = \"9packets\" }");
        for k in 0..6 {
            offer(&mut one, 0, k);
        }
        one.turn(Time::ZERO, &set("queue = { size = \"2packets\" }"));
        assert_eq!(offer(&mut one, 0, 6), Offered::Dropped(Cause::Queue, Time::ZERO));
        let mut to = set("queue = { size = \"2packets\" }");
        to.rate = 6_000_000;
        one.turn(Time::ZERO, &to);
        let at: Vec<f64> = arrivals(&mut one).into_iter().map(|(_, at)| at).collect();
        assert_eq!(at, [11.0, 13.0, 15.0, 17.0, 19.0, 21.0], "the one in transmission keeps its time");
    }

    #[test]
    fn a_running_lane_changes_neither_the_kind_of_its_queue_nor_what_paces_it() {
        let plain = set("");
        for (lines, part) in
            [("queue = { kind = \"codel\" }", "drop-tail"), ("after_channel = true", "change places")]
        {
            let other = if lines.starts_with("after") {
                Direction { after_channel: true, ..plain.clone() }
            } else {
                set(lines)
            };
            assert!(refuses(&plain, &other).is_some_and(|why| why.contains(part)), "{lines}");
            assert_eq!(refuses(&other, &other), None);
        }
        assert_eq!(refuses(&plain, &set("queue = { size = \"9packets\" }")), None);
    }
}
