//! Applications and their connections, and what flows have counted.

use super::{Network, kind};
use crate::agenda::Key;
use crate::app::Command;
use crate::connection::{Connection, Ends, NEVER};
use crate::record::{Deliveries, Totals, Verdicts};

impl Network<'_> {
    pub(super) fn on_app(&mut self, index: usize) {
        self.agenda.pop();
        let now = self.now;
        let flow = &mut self.flows[index];
        if flow.armed != now {
            return;
        }
        flow.armed = NEVER;
        if flow.book.started.is_none() {
            flow.book.started = Some(now);
            flow.app.start(now, &mut self.commands);
            self.arm_readings(index);
        } else {
            flow.app.wake(now, &mut self.commands);
        }
        self.obey(index);
    }

    pub(super) fn on_finished(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        connection.open = false;
        self.recount_load();
        let connection = &mut self.connections[index];
        let (flow, lane) = (connection.flow, connection.lane);
        if !self.connections[index].reverse {
            self.flows[flow].book.ended.get_or_insert_default().connections += 1;
        }
        self.flows[flow].app.finished(self.now, lane, &mut self.commands);
        self.obey(flow);
    }

    /// Carries out what the application of a flow wants, and arms its timer.
    pub(super) fn obey(&mut self, flow: usize) {
        let now = self.now;
        let commands = std::mem::take(&mut self.commands);
        for &command in &commands {
            let first = self.flows[flow].first_connection;
            match command {
                Command::Open { lane } => {
                    self.renew(first + lane);
                    let Ends { sender, books, .. } = &mut self.connections[first + lane].ends;
                    sender.open(now, books);
                }
                Command::Write { lane, bytes, born } => {
                    let ends = &mut self.connections[first + lane].ends;
                    let end = ends.sender.write(bytes);
                    if let Some(born) = born {
                        ends.births.on_write(end, born);
                    }
                }
                Command::Close { lane } => self.connections[first + lane].ends.sender.close(),
                Command::Abandon { lane } => self.connections[first + lane].ends.sender.close_unsent(),
            }
        }
        let mut lanes = 0u64;
        for &command in &commands {
            let (Command::Open { lane }
            | Command::Write { lane, .. }
            | Command::Close { lane }
            | Command::Abandon { lane }) = command;
            // A flow of many lanes is served lane by lane, each once.
            if lane >= 64 || lanes & (1 << lane) == 0 {
                lanes |= 1 << (lane % 64);
                let index = self.flows[flow].first_connection + lane;
                if self.connections[index].open {
                    self.after_sender(index);
                }
            }
        }
        if self.commands.is_empty() {
            self.commands = commands;
            self.commands.clear();
        }
        let state = &mut self.flows[flow];
        for connection in &mut self.connections[state.connections()] {
            connection.awaited = state.app.awaits(connection.lane);
        }
        if state.app.is_done() && state.book.finished.is_none() {
            state.book.finished = Some(now);
            self.unfinished -= 1;
        }
        if let Some(deadline) = state.app.deadline()
            && deadline < state.armed
        {
            state.armed = deadline.max(now);
            self.agenda.push(state.armed, kind::APP | flow as Key);
        }
    }

    /// Puts a new connection into a slot; what the last one counted goes to the flow's books.
    pub(super) fn renew(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        let flow = &mut self.flows[connection.flow];
        if connection.generation > 0 && !connection.reverse {
            add_connection(flow.book.ended.get_or_insert_default(), connection);
            if let Some(verdicts) = &mut flow.book.verdicts {
                verdicts.add(&connection.ends);
            }
        }
        connection.ends = flow.template.ends();
        connection.generation += 1;
        connection.open = true;
        self.recount_load();
    }

    /// How those who watch a flow have judged so far, if anybody does.
    pub fn verdicts(&self, flow: usize) -> Option<Box<Verdicts>> {
        let state = &self.flows[flow];
        let mut verdicts = state.book.verdicts.clone()?;
        let connections = &self.connections[state.connections()];
        connections.iter().filter(|c| !c.reverse).for_each(|c| verdicts.add(&c.ends));
        Some(verdicts)
    }

    /// What a flow has counted so far.
    pub fn totals(&self, flow: usize) -> Totals {
        let state = &self.flows[flow];
        let mut totals = state.book.ended.as_deref().copied().unwrap_or_default();
        for connection in self.connections[state.connections()].iter().filter(|c| !c.reverse) {
            add_connection(&mut totals, connection);
            totals.bytes_delivered += connection.deliveries.bytes;
            // The window's integral runs up to the sender's last event; add what has passed since.
            if connection.open {
                let Ends { sender, books, .. } = &connection.ends;
                totals.counts.cwnd_time += books.cwnd_time_since(self.now, sender.window());
            }
        }
        totals
    }

    /// What has been delivered to a flow's application.
    pub fn deliveries(&self, flow: usize) -> Deliveries {
        let mut all = Deliveries::default();
        let connections = &self.connections[self.flows[flow].connections()];
        connections.iter().filter(|c| !c.reverse).for_each(|c| all.merge(&c.deliveries));
        all
    }
}

fn add_connection(totals: &mut Totals, connection: &Connection) {
    let ends = &connection.ends;
    let min = ends.sender.rtt().min();
    totals.add(ends.books.counts(), min, ends.receiver.segments(), ends.receiver.acks());
}
