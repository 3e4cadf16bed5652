//! What applications do: open connections, write, close, wait.
//!
//! An application is a state machine over the lanes of its flow (a lane carries one connection at a time). It is told
//! what happened and answers with [`Command`]s for its connections. Requests travel over the same connection as the data, the
//! other way.

use crate::connection::{DESTINATION, SOURCE};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use truckee_scenario::arrivals::Process;
use truckee_scenario::model::{App, Connections, Flow, FlowSettings};
use truckee_tcp::{Span, Time};

/// More than any run can send.
const ENDLESS: u64 = 1 << 62;

/// Least time that a write takes: nothing leaves at the very moment of the write before. A sender that takes round-trip times to
/// the microsecond tells the two apart, as Linux's RACK does.
const ONE_WRITE: Span = Span::us(1);

/// What an application wants done with one of its lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Open a new connection.
    Open { lane: usize },
    /// Write bytes; the birth is given where delays count from the writing.
    Write { lane: usize, bytes: u64, born: Option<Time> },
    /// Write bytes at the destination: a request.
    Ask { lane: usize, bytes: u64 },
    /// Close after what was written.
    Close { lane: usize },
    /// Close now: what was not sent will not be.
    Abandon { lane: usize },
}

/// An application at work.
#[derive(Debug)]
pub struct Application {
    /// Whose `app` says what it does; flows that are alike share them.
    settings: Arc<FlowSettings>,
    lanes: Lanes,
    /// Files, requests or segments not yet begun; `None`: no end.
    left: Option<u64>,
    segments: Option<Box<Segments>>,
    stopped: bool,
}

/// Segments that come by themselves.
#[derive(Debug)]
struct Segments {
    process: Process,
    /// When the next one comes.
    next: Option<Time>,
    /// When it can be written: nobody writes before there is a connection, and one write comes after another.
    ready: Option<Time>,
}

/// The lanes of a flow; most have one, and need no list of it elsewhere in memory.
#[derive(Debug)]
enum Lanes {
    One([Lane; 1]),
    Many(Box<[Lane]>),
}

impl Deref for Lanes {
    type Target = [Lane];
    fn deref(&self) -> &[Lane] {
        match self {
            Self::One(lane) => lane,
            Self::Many(lanes) => lanes,
        }
    }
}

impl DerefMut for Lanes {
    fn deref_mut(&mut self) -> &mut [Lane] {
        match self {
            Self::One(lane) => lane,
            Self::Many(lanes) => lanes,
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Lane {
    /// When it goes on.
    wake: Option<Time>,
    /// Bytes still to be delivered at the source and at the destination before it does.
    awaited: [u64; 2],
    done: bool,
}

impl Application {
    /// The application of a flow; `process` gives the arrivals of segments.
    pub fn new(flow: &Flow, process: Option<Process>) -> Self {
        let left = match &flow.app {
            App::Bulk => None,
            App::File { .. } => Some(1),
            App::Files { count, .. } => Some(*count),
            App::RequestResponse { count, .. } | App::Segments { count, .. } => *count,
            // `crate::run` has refused a web page.
            App::WebPage { .. } => None,
        };
        let lanes = match flow.app.connections() {
            1 => Lanes::One([Lane::default()]),
            many => Lanes::Many(vec![Lane::default(); many as usize].into()),
        };
        Self {
            settings: Arc::clone(&flow.settings),
            lanes,
            left,
            segments: process.map(|process| Box::new(Segments { process, next: None, ready: None })),
            stopped: false,
        }
    }

    /// Number of lanes.
    pub fn lanes(&self) -> usize {
        self.lanes.len()
    }

    /// Whether every lane has ended.
    pub fn is_done(&self) -> bool {
        self.lanes.iter().all(|l| l.done)
    }

    /// When it wants to be woken.
    pub fn deadline(&self) -> Option<Time> {
        let stop = self.settings.stop.filter(|_| !self.stopped);
        self.lanes.iter().filter_map(|l| l.wake).chain(self.next_segment()).chain(stop).min()
    }

    fn next_segment(&self) -> Option<Time> {
        let segments = self.segments.as_ref()?;
        Some(segments.next?.max(segments.ready?))
    }

    /// The flow starts.
    pub fn start(&mut self, now: Time, out: &mut Vec<Command>) {
        match self.settings.app {
            App::Bulk => out
                .extend([Command::Open { lane: 0 }, Command::Write { lane: 0, bytes: ENDLESS, born: None }]),
            App::File { .. } | App::Files { .. } => {
                (0..self.lanes.len()).for_each(|lane| self.next_file(lane, out));
            }
            App::RequestResponse { .. } => {
                out.push(Command::Open { lane: 0 });
                self.ask(out);
            }
            App::WebPage { .. } => {}
            App::Segments { .. } => {
                out.push(Command::Open { lane: 0 });
                self.plan_segment(now, out);
            }
        }
    }

    /// Begins the next file on a lane, or ends it.
    fn next_file(&mut self, lane: usize, out: &mut Vec<Command>) {
        let (size, count, connections, pause) = match self.settings.app {
            App::File { size } => (size, 1, Connections::Separate, Span::ZERO),
            App::Files { size, count, connections, pause } => (size, count, connections, pause),
            _ => return,
        };
        let left = self.left.unwrap_or(0);
        if left == 0 || self.stopped {
            self.lanes[lane].done = true;
            return;
        }
        let first = left == count;
        let persistent = connections == Connections::One;
        let files = if persistent && pause.is_zero() { left } else { 1 };
        self.left = Some(left - files);
        if first || !persistent {
            out.push(Command::Open { lane });
        }
        let bytes = size.saturating_mul(files);
        self.lanes[lane].awaited[DESTINATION] = bytes;
        out.push(Command::Write { lane, bytes, born: None });
        if !persistent || left == files {
            out.push(Command::Close { lane });
        }
    }

    fn ask(&mut self, out: &mut Vec<Command>) {
        let App::RequestResponse { request, response, .. } = self.settings.app else { return };
        if self.left == Some(0) || self.stopped {
            out.push(Command::Close { lane: 0 });
            return;
        }
        self.left = self.left.map(|n| n - 1);
        self.lanes[0].awaited = [request, response];
        out.push(Command::Ask { lane: 0, bytes: request });
    }

    /// The connection of its first lane has been opened. Whether it has waited for that.
    pub fn opened(&mut self, now: Time) -> bool {
        let Some(segments) = self.segments.as_mut().filter(|segments| segments.ready.is_none()) else {
            return false;
        };
        segments.ready = Some(now);
        true
    }

    fn plan_segment(&mut self, now: Time, out: &mut Vec<Command>) {
        let Some(segments) = &mut self.segments else { return };
        if self.left == Some(0) || self.stopped {
            segments.next = None;
            out.push(Command::Close { lane: 0 });
            return;
        }
        self.left = self.left.map(|n| n - 1);
        segments.next = Some(segments.process.next().max(now));
    }

    /// The time asked for has come.
    pub fn wake(&mut self, now: Time, out: &mut Vec<Command>) {
        if !self.stopped && self.settings.stop.is_some_and(|stop| stop <= now) {
            self.stop_writing(out);
        }
        if self.next_segment().is_some_and(|at| at <= now)
            && let Some(segments) = &mut self.segments
            && let App::Segments { size, .. } = self.settings.app
        {
            segments.ready = Some(now + ONE_WRITE);
            out.push(Command::Write { lane: 0, bytes: u64::from(size), born: segments.next });
            self.plan_segment(now, out);
        }
        for lane in 0..self.lanes.len() {
            if self.lanes[lane].wake.is_some_and(|at| at <= now) {
                self.lanes[lane].wake = None;
                match self.settings.app {
                    App::RequestResponse { .. } => self.ask(out),
                    _ => self.next_file(lane, out),
                }
            }
        }
    }

    fn stop_writing(&mut self, out: &mut Vec<Command>) {
        self.stopped = true;
        self.segments.iter_mut().for_each(|segments| segments.next = None);
        // Between two files on connections of their own nothing is open that would end.
        let closed_between =
            matches!(self.settings.app, App::Files { connections, .. } if connections != Connections::One);
        for (lane, state) in self.lanes.iter_mut().enumerate() {
            state.done |= state.wake.take().is_some() && closed_between;
            out.push(Command::Abandon { lane });
        }
    }

    /// Whether it waits for data to be delivered at each end of a lane.
    pub fn awaits(&self, lane: usize) -> [bool; 2] {
        self.lanes[lane].awaited.map(|bytes| bytes > 0)
    }

    /// Data has been delivered at an end of a lane. Whether that is news for the application.
    #[inline]
    pub fn delivered(
        &mut self,
        now: Time,
        lane: usize,
        end: usize,
        bytes: u64,
        out: &mut Vec<Command>,
    ) -> bool {
        let awaited = &mut self.lanes[lane].awaited[end];
        let before = *awaited;
        *awaited = before.saturating_sub(bytes);
        let news = before > 0 && *awaited == 0;
        if news {
            self.all_delivered(now, lane, end, out);
        }
        news
    }

    fn all_delivered(&mut self, now: Time, lane: usize, end: usize, out: &mut Vec<Command>) {
        match self.settings.app {
            App::RequestResponse { response, .. } if end == SOURCE => {
                out.push(Command::Write { lane, bytes: response, born: None });
            }
            App::RequestResponse { think, .. } => self.pause(now, lane, think),
            App::Files { connections: Connections::One, pause, .. }
                if pause > Span::ZERO && self.left != Some(0) =>
            {
                self.pause(now, lane, pause);
            }
            _ => {}
        }
    }

    fn pause(&mut self, now: Time, lane: usize, pause: Span) {
        if !self.stopped {
            self.lanes[lane].wake = Some(now + pause);
        }
    }

    /// The connection on a lane has ended.
    pub fn finished(&mut self, now: Time, lane: usize, out: &mut Vec<Command>) {
        match self.settings.app {
            App::Files { connections: Connections::Separate | Connections::Parallel(_), pause, .. }
                if self.left != Some(0) && !self.stopped =>
            {
                if pause > Span::ZERO {
                    self.pause(now, lane, pause);
                } else {
                    self.next_file(lane, out);
                }
            }
            _ => self.lanes[lane].done = true,
        }
    }
}
