//! One exchange: which packets go together, at which rate, what goes ahead of them, and what becomes of them.

use super::contention::NEVER;
use super::frame::{EVERYONE, Frame, Pending};
use super::plan::Plan;
use super::reorder::WINDOW;
use super::station::{Rules, State, Station};
use crate::config::Protection;
use crate::phy::{Rate, bytes};
use crate::report::{Kind, Loss, Report};
use crate::{NodeId, Span, Time};
use std::collections::VecDeque;

/// A frame's bytes within an aggregate: delimiter, and padding to a multiple of four (9.7.1). The last one's padding is
/// counted, too.
pub(crate) fn in_aggregate(bytes: u32) -> u32 {
    (bytes::DELIMITER + bytes).next_multiple_of(4)
}

impl Station {
    /// Its turn: the first frame of an exchange.
    pub(super) fn begin(&mut self, now: Time, rules: &Rules, out: &mut VecDeque<Report>) -> Frame {
        let waiting = self.queue.len();
        if self.plan.asked.is_none() {
            self.plan = self.make_plan(now, rules);
        }
        if self.queue.len() < waiting {
            self.tell_room(now, out);
        }
        self.state = State::Sending;
        self.due = NEVER;
        let data = self.data(rules);
        let unicast = data.to != EVERYONE && data.kind != Kind::BlockAckRequest;
        let request = match rules.protection {
            Some(Protection::RtsCts(rate)) if unicast => Some(rate),
            _ if unicast && data.bytes > rules.rts_threshold => Some(rules.at(data.rate).answer),
            _ => None,
        };
        let ahead = |kind, to, rate: Rate, size| {
            let airtime = rules.phy.airtime(rate, size);
            let nav = rules.timing.sifs + data.airtime + data.nav;
            Frame { kind, to, rate, bytes: size, airtime, nav, packets: 0, request: false, ..data }
        };
        if let Some(rate) = request {
            let cts = rules.at(rate).cts;
            let rts = ahead(Kind::Rts, data.to, rate, bytes::RTS);
            return Frame { nav: rules.timing.sifs + cts + rts.nav, ..rts };
        }
        match rules.protection {
            Some(Protection::CtsToSelf(rate)) if !matches!(data.rate, Rate::Dsss(_)) => {
                ahead(Kind::CtsToSelf, EVERYONE, rate, bytes::CTS)
            }
            _ => data,
        }
    }

    /// The frame that the plan is about.
    pub(super) fn data(&mut self, rules: &Rules) -> Frame {
        self.state = State::Sending;
        self.due = NEVER;
        let plan = match self.plan.asked {
            None => self.plan,
            Some(_) => {
                let (kind, rate, bytes) = (Kind::BlockAckRequest, rules.lowest, bytes::BLOCK_ACK_REQUEST);
                Plan { kind, rate, bytes, packets: 0, request: true, ..self.plan }
            }
        };
        let Plan { kind, next, rate, packets, bytes: size, request, first, .. } = plan;
        let nav: Span = match kind {
            _ if next == EVERYONE => Span::ZERO,
            Kind::Data => rules.timing.sifs + rules.at(rate).ack,
            _ => rules.timing.sifs + rules.at(rate).block_ack,
        };
        let airtime = rules.phy.airtime(rate, size);
        let (from, bitmap) = (self.id, 0);
        Frame { kind, from, to: next, rate, bytes: size, airtime, nav, packets, request, first, bitmap }
    }

    /// Copies what a frame of data carries, which counts as tried from now on.
    pub fn load(&mut self, frame: &Frame, into: &mut Vec<Pending>) {
        for packet in self.flight.iter_mut().take(frame.packets as usize) {
            into.push(*packet);
            packet.tried = true;
        }
        self.counters.attempts += u64::from(frame.packets);
    }

    fn make_plan(&mut self, now: Time, rules: &Rules) -> Plan {
        if self.flight.is_empty() {
            if let Some(plan) = self.lone_request(rules) {
                return plan;
            }
            if let Some(packet) = self.queue.pop_front() {
                self.take_off(packet, rules);
            }
        }
        let Some(&head) = self.flight.first() else {
            // Nobody contends without anything to send; a frame for nobody would do no harm.
            return Plan::none(rules.lowest);
        };
        let next = head.next;
        if next == EVERYONE {
            let bytes = rules.overhead + head.bytes;
            return Plan { packets: 1, bytes, ..Plan::none(rules.lowest) };
        }
        let failed = head.short.saturating_add(head.long);
        let (at, rates) = (self.peer_index(next, rules), &rules.rates);
        let rate = self.peers[at].control.choose(now, failed, rates, &mut self.rng);
        let single = Plan {
            kind: Kind::Data,
            next,
            rate,
            packets: 1,
            bytes: rules.overhead + head.bytes,
            request: false,
            first: head.seq,
            asked: None,
        };
        if rules.aggregation.is_none() {
            return single;
        }
        let request = self.peers[at].request.is_some();
        let (packets, bytes) = self.aggregate(request, rate, rules);
        if packets == 1 && !request {
            return single;
        }
        Plan { kind: Kind::Aggregate, packets, bytes, request, ..single }
    }

    /// Puts a packet on the way to the next station.
    fn take_off(&mut self, mut packet: Pending, rules: &Rules) {
        if packet.next != EVERYONE {
            let peer = self.peer(packet.next, rules);
            packet.seq = peer.next_seq;
            peer.next_seq += 1;
        }
        self.flight.push(packet);
    }

    /// A request alone, where the next packet is not for the station that has to be told.
    fn lone_request(&mut self, rules: &Rules) -> Option<Plan> {
        if self.requests == 0 {
            return None;
        }
        let next = self.queue.front().map(|p| p.next);
        let is_due = |tries: u32| tries < rules.short_retries;
        let peer = self.peers.iter().find(|p| p.request.is_some_and(is_due) && next != Some(p.id))?;
        Some(Plan {
            kind: Kind::BlockAckRequest,
            next: peer.id,
            rate: rules.lowest,
            packets: 0,
            bytes: bytes::BLOCK_ACK_REQUEST,
            request: true,
            first: peer.next_seq,
            asked: None,
        })
    }

    /// Fills the flight from the queue as far as an aggregate may be. How many of its packets go, and the bytes of all.
    fn aggregate(&mut self, request: bool, rate: Rate, rules: &Rules) -> (u32, u32) {
        let limits = rules.aggregation.unwrap_or_default();
        let (next, first) = (self.flight[0].next, self.flight[0].seq);
        let mut total = if request { in_aggregate(bytes::BLOCK_ACK_REQUEST) } else { 0 };
        let (mut packets, mut from) = (0, 0);
        while packets < limits.frames {
            let i = packets as usize;
            let waiting = if i < self.flight.len() {
                None
            } else {
                match (from..self.queue.len()).find(|&k| self.queue[k].next == next) {
                    Some(k) => Some(k),
                    None => break,
                }
            };
            let size = waiting.map_or_else(|| self.flight[i].bytes, |k| self.queue[k].bytes);
            let seq = self.flight.get(i).map_or_else(|| self.flight[i - 1].seq + 1, |p| p.seq);
            let sum = total + in_aggregate(rules.overhead + size);
            let fits =
                seq < first + WINDOW && sum <= limits.bytes && rules.phy.airtime(rate, sum) <= limits.airtime;
            // The first goes, whatever its length.
            if packets > 0 && !fits {
                break;
            }
            if let Some(packet) = waiting.and_then(|k| self.queue.remove(k)) {
                from = waiting.unwrap_or(0);
                self.take_off(packet, rules);
            }
            (total, packets) = (sum, packets + 1);
        }
        (packets, total)
    }

    /// The exchange is over, and has been answered: those of its packets that were acknowledged are done with.
    pub(super) fn succeed(
        &mut self,
        now: Time,
        acked: impl Fn(&Pending) -> bool,
        rules: &Rules,
        out: &mut VecDeque<Report>,
    ) {
        let done = self.settle(now, acked, true, rules, out);
        // The rate was told when the answer did not come.
        if self.plan.asked.take().is_none() {
            self.tell_rate(done, rules);
        }
        self.contention.window = rules.timing.cw_min;
        self.go_on(now, rules);
    }

    pub(super) fn on_block_ack(
        &mut self,
        now: Time,
        frame: &Frame,
        rules: &Rules,
        out: &mut VecDeque<Report>,
    ) {
        let Plan { next, request, first, .. } = self.plan;
        if request && frame.first >= first {
            self.set_request(next, None, rules);
        }
        let bitmap = frame.bitmap;
        let acked =
            |p: &Pending| p.seq.checked_sub(first).is_some_and(|i| i < WINDOW && bitmap >> i & 1 == 1);
        self.succeed(now, acked, rules, out);
    }

    /// The exchange is over without the answer that it needs (10.3.4.4).
    pub(super) fn fail(&mut self, now: Time, rules: &Rules, out: &mut VecDeque<Report>) {
        let (asked, alone) = (self.plan.asked, self.plan.kind == Kind::BlockAckRequest);
        let was_sent = self.state == State::AwaitingAck;
        if was_sent && asked.is_none() {
            self.tell_rate(0, rules);
        }
        let may_ask = rules.aggregation.is_some_and(|limits| limits.asks);
        let ask = match asked {
            None => (was_sent && may_ask && self.plan.kind == Kind::Aggregate).then_some(0),
            Some(times) => Some(times + 1).filter(|times| *times < rules.short_retries),
        };
        self.plan.asked = ask;
        let gave_up = if alone {
            self.request_failed(rules)
        } else if ask.is_some() {
            false
        } else {
            let before = self.flight.len();
            self.settle(now, |_| false, was_sent, rules, out);
            self.flight.len() < before
        };
        if gave_up {
            self.contention.window = rules.timing.cw_min;
        } else {
            self.contention.widen(&rules.timing);
        }
        self.go_on(now, rules);
    }

    /// A request alone was not answered. True if it is no longer sent alone: the next packets carry it.
    fn request_failed(&mut self, rules: &Rules) -> bool {
        let tries = self.peer(self.plan.next, rules).request.map_or(0, |n| n + 1);
        self.set_request(self.plan.next, Some(tries), rules);
        tries >= rules.short_retries
    }

    fn set_request(&mut self, peer: u32, request: Option<u32>, rules: &Rules) {
        let is_due = |r: Option<u32>| u32::from(r.is_some_and(|n| n < rules.short_retries));
        let old = std::mem::replace(&mut self.peer(peer, rules).request, request);
        self.requests = self.requests + is_due(request) - is_due(old);
    }

    /// Enters the end of an exchange into its packets: done with, to be tried again, or given up. How many were done
    /// with.
    fn settle(
        &mut self,
        at: Time,
        acked: impl Fn(&Pending) -> bool,
        was_data: bool,
        rules: &Rules,
        out: &mut VecDeque<Report>,
    ) -> u32 {
        let (sending, node) = (self.plan.packets as usize, NodeId(self.id));
        let is_long = was_data && self.plan.bytes > rules.rts_threshold;
        let (mut i, mut done, mut gave_up) = (0, 0, false);
        self.flight.retain_mut(|p| {
            i += 1;
            if i > sending {
                return true;
            }
            if acked(p) {
                done += 1;
                if p.tells_sent {
                    out.push_back(Report::Sent { at, packet: p.id, node });
                }
                return false;
            }
            *(if is_long { &mut p.long } else { &mut p.short }) += 1;
            if p.short < rules.short_retries && p.long < rules.long_retries {
                return true;
            }
            gave_up = true;
            let loss = Loss::RetryLimit(p.failure);
            out.push_back(Report::Dropped { at, packet: p.id, node, loss, arrived: p.arrived });
            false
        });
        if gave_up && rules.aggregation.is_some() {
            self.set_request(self.plan.next, Some(0), rules);
        }
        done
    }

    fn tell_rate(&mut self, acked: u32, rules: &Rules) {
        let Plan { next, rate, packets, .. } = self.plan;
        if next != EVERYONE && packets > 0 && self.learns_rates() {
            self.peer(next, rules).control.on_result(rate, packets, acked, &rules.rates);
        }
    }

    /// Draws the backoff that follows every exchange, and goes on if there is something to send.
    fn go_on(&mut self, now: Time, rules: &Rules) {
        self.draw(now);
        self.due = NEVER;
        if self.flight.is_empty() && self.queue.is_empty() && self.requests == 0 {
            self.state = State::Idle;
        } else {
            self.contend(now, rules);
        }
    }
}
