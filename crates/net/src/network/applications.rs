//! Applications and their connections, and what flows have counted.

use super::{Network, kind};
use crate::agenda::Key;
use crate::app::Command;
use crate::connection::{Connection, DESTINATION, Ends, NEVER, SOURCE};
use crate::record::{Deliveries, Totals, Verdicts};
use truckee_tcp::sender::State;
use truckee_tcp::{Endpoint, Sender, Time};

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
        let (flow, lane) = (connection.flow(), connection.lane());
        self.flows[flow].book.ended.get_or_insert_default().connections += 1;
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
                    self.connections[first + lane].ends.open(now);
                    self.note_opened(first + lane);
                }
                Command::Write { lane, bytes, born } => self.write(first + lane, SOURCE, bytes, born),
                Command::Ask { lane, bytes } => self.write(first + lane, DESTINATION, bytes, None),
                Command::Close { lane } => self.each_sender(first + lane, Sender::close),
                Command::Abandon { lane } => self.each_sender(first + lane, Sender::close_unsent),
            }
        }
        let mut lanes = 0u64;
        for &command in &commands {
            let (Command::Open { lane }
            | Command::Write { lane, .. }
            | Command::Ask { lane, .. }
            | Command::Close { lane }
            | Command::Abandon { lane }) = command;
            // A flow of many lanes is served lane by lane, each once.
            if lane >= 64 || lanes & (1 << lane) == 0 {
                lanes |= 1 << (lane % 64);
                let index = self.flows[flow].first_connection + lane;
                for end in [SOURCE, DESTINATION] {
                    if self.connections[index].open && self.connections[index].ends.at[end].tx().is_some() {
                        self.after(index, end);
                    }
                }
            }
        }
        if self.commands.is_empty() {
            self.commands = commands;
            self.commands.clear();
        }
        let state = &mut self.flows[flow];
        for connection in &mut self.connections[state.connections()] {
            connection.await_at(state.app.awaits(connection.lane()));
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

    /// Tells the application if there is a connection now. Whether it has waited for that.
    pub(super) fn note_opened(&mut self, index: usize) -> bool {
        let connection = &self.connections[index];
        let sender = connection.ends.at[SOURCE].tx();
        let is_open = sender.is_some_and(|sender| sender.state() == State::Established);
        connection.lane() == 0 && is_open && self.flows[connection.flow()].app.opened(self.now)
    }

    fn write(&mut self, index: usize, end: usize, bytes: u64, born: Option<Time>) {
        let ends = &mut self.connections[index].ends;
        let written = ends.at[end].tx_mut().map(|tx| tx.write(bytes));
        if let (Some(written), Some(born), SOURCE) = (written, born, end) {
            ends.forward.births.on_write(written, born);
        }
    }

    fn each_sender(&mut self, index: usize, f: fn(&mut Sender)) {
        self.connections[index].ends.at.iter_mut().filter_map(Endpoint::tx_mut).for_each(f);
    }

    /// Puts a new connection into a slot; what the last one counted goes to the flow's books.
    pub(super) fn renew(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        let flow = &mut self.flows[connection.flow()];
        if connection.generation > 0 {
            add_connection(flow.book.ended.get_or_insert_default(), connection);
            if let Some(verdicts) = &mut flow.book.verdicts {
                verdicts.add(&connection.ends.forward.books, &connection.ends.forward.watch);
            }
        }
        let deliveries = std::mem::take(&mut connection.ends.forward.deliveries);
        connection.ends = flow.template.ends();
        connection.ends.forward.deliveries = deliveries;
        connection.generation += 1;
        connection.open = true;
        if let (Some(order), Some(tx)) = (&flow.order, connection.ends.at[SOURCE].tx_mut()) {
            tx.steer(self.now, order);
        }
        self.recount_load();
    }

    /// How those who watch a flow have judged so far, if anybody does.
    pub fn verdicts(&self, flow: usize) -> Option<Box<Verdicts>> {
        let state = &self.flows[flow];
        let mut verdicts = state.book.verdicts.clone()?;
        let connections = &self.connections[state.connections()];
        connections.iter().for_each(|c| verdicts.add(&c.ends.forward.books, &c.ends.forward.watch));
        Some(verdicts)
    }

    /// What a flow has counted so far.
    pub fn totals(&self, flow: usize) -> Totals {
        let state = &self.flows[flow];
        let mut totals = state.book.ended.as_deref().copied().unwrap_or_default();
        for connection in self.connections[state.connections()].iter() {
            add_connection(&mut totals, connection);
            totals.bytes_delivered += connection.ends.forward.deliveries.bytes;
            // The window's integral runs up to the sender's last event; add what has passed since.
            if connection.open {
                let books = &connection.ends.forward.books;
                let since = |sender: &Sender| books.cwnd_time_since(self.now, sender.window());
                totals.counts.cwnd_time += connection.ends.sender().map_or(0.0, since);
            }
        }
        totals
    }

    /// What has been delivered to a flow's application.
    pub fn deliveries(&self, flow: usize) -> Deliveries {
        let mut all = Deliveries::default();
        let connections = &self.connections[self.flows[flow].connections()];
        connections.iter().for_each(|c| all.merge(&c.ends.forward.deliveries));
        all
    }

    /// Lets go of a flow's connections, of which all has been asked.
    pub fn forget(&mut self, flow: usize) {
        let slots = self.flows[flow].connections();
        self.connections[slots].iter_mut().for_each(|connection| connection.ends = Ends::default());
    }
}

fn add_connection(totals: &mut Totals, connection: &Connection) {
    let ends = &connection.ends;
    let min = ends.sender().and_then(|sender| sender.rtt().min());
    let (segments, acks) = ends.receiver().map_or((0, 0), |receiver| (receiver.segments(), receiver.acks()));
    totals.add(ends.forward.books.counts(), min, segments, acks);
}
