//! Shaping that is attended to: its identity, its socket, its policy as it is changed, and whether it goes on well. Not
//! for: when it ends.

use super::asked::{Ask, Report, Wanted, Watch};
use super::control;
use super::signals::{self, Signals};
use crate::Error;
use crate::{Counts, Devices, MOST_FLOWS, Policy, Request, Scope, Shaper};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use std::time::{Duration, Instant};
use truckee_host::control::Control;
use truckee_host::session::Session;
use truckee_host::user::User;
use truckee_tcp::Spec;

/// How often it looks after the shaper, and shows what it did.
const TICK: Duration = Duration::from_secs(1);
/// No ACK policy holds one longer.
const LONGEST_WAIT: Duration = Duration::from_millis(500);

/// A shaper with what belongs to it.
pub(super) struct Shaping {
    /// `None` once it has broken.
    shaper: Option<Shaper>,
    wanted: Wanted,
    changes: u64,
    began: Instant,
    looked: Instant,
    /// What it had done when it broke, and why.
    broken: Option<(String, Counts)>,
    /// Whether it was said that new interfaces are not seen.
    blind: bool,
    control: Control,
    // Last, since its end sweeps up what the others have left.
    session: Session,
}

impl Shaping {
    /// Attaches the shaper and opens the socket.
    pub(super) fn begin(
        session: Session,
        owner: &User,
        wanted: Wanted,
        scope: Scope,
        devices: Devices,
    ) -> Result<Self, Error> {
        let control = Control::open(&session, &control::KIND, owner.numbers())?;
        let policies = vec![wanted.policy.clone()];
        let shaper =
            Shaper::start(&Request { scope, devices, namespace: None, policies, most_flows: MOST_FLOWS })?;
        let began = Instant::now();
        Ok(Self {
            shaper: Some(shaper),
            wanted,
            changes: 0,
            began,
            looked: began,
            broken: None,
            blind: false,
            control,
            session,
        })
    }

    /// Four hex digits.
    pub(super) fn id(&self) -> &str {
        self.session.id()
    }

    /// Waits until a signal has come, and attends to the rest meanwhile; at most until `until`.
    pub(super) fn wait(&mut self, signals: &Signals, until: Option<Instant>, watch: &mut dyn Watch) {
        let now = Instant::now();
        let next = (self.looked + TICK).min(until.unwrap_or(now + TICK)).saturating_duration_since(now);
        // Rounded up, so that it is over when poll returns.
        let timeout = PollTimeout::try_from(next.as_millis() as u32 + 1).unwrap_or(PollTimeout::MAX);
        let mut files = [signals.as_fd(), self.control.as_fd()].map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        let ready = poll(&mut files, timeout).is_ok_and(|n| n > 0);
        let asked = ready && files[1].any().unwrap_or(false);
        if asked {
            self.answer(watch);
        }
        if self.looked.elapsed() >= TICK {
            self.looked = Instant::now();
            self.look(watch);
        }
    }

    fn answer(&mut self, watch: &mut dyn Watch) {
        let report = self.report();
        let Self { control: door, shaper, wanted, changes, .. } = self;
        door.serve(|line| match control::read(line)? {
            Ask::Show => serde_json::to_string(&report).map_err(|e| e.to_string()),
            Ask::Ack(text) => {
                let asked = Wanted::read("ACK policy", text).map_err(|e| e.to_string())?;
                let shaper = shaper.as_ref().ok_or("it shapes no longer")?;
                shaper.change(0, &asked.policy).map_err(|e| e.to_string())?;
                watch.told(&format!("ACK policy {} in place of {}", asked.text, wanted.text));
                *wanted = asked;
                *changes += 1;
                Ok(wanted.text.clone())
            }
        });
    }

    /// Looks whether the shaper goes on well.
    fn look(&mut self, watch: &mut dyn Watch) {
        let Some(shaper) = &self.shaper else { return };
        if let (Err(error), false) = (shaper.look(), self.blind) {
            watch.warned(&format!("ACKs may not be shaped on interfaces that come from now on: {error}"));
            self.blind = true;
        }
        match shaper.check().and_then(|()| shaper.counts()) {
            Ok(counts) => watch.counts(&counts),
            Err(error) => {
                watch.warned(&format!("ACKs are no longer shaped: {error}"));
                self.give_up(error.to_string());
            }
        }
    }

    /// Detaches the shaper: from now on ACKs go as they are.
    fn give_up(&mut self, why: String) {
        let counts = self.shaper.take().and_then(|shaper| shaper.counts().ok());
        self.broken = Some((why, counts.unwrap_or_default()));
    }

    /// Stops as Ctrl-Z has it. Nothing is held back meanwhile, since nobody would let it go: what is held by now leaves
    /// first.
    pub(super) fn stop_here(&mut self, watch: &mut dyn Watch) {
        let change = |policy: &Policy| self.shaper.as_ref().map_or(Ok(()), |shaper| shaper.change(0, policy));
        let paused = Policy::of(&Spec::named("every")).and_then(|every| change(&every));
        if self.shaper.as_ref().and_then(|shaper| shaper.counts().ok()).is_some_and(|counts| counts.held > 0)
        {
            std::thread::sleep(LONGEST_WAIT);
        }
        signals::stop_here();
        if let Err(error) = paused.and_then(|()| change(&self.wanted.policy)) {
            watch.warned(&format!("the ACK policy may not be {}: {error}", self.wanted.text));
        }
    }

    fn report(&self) -> Report {
        let counts = match (&self.broken, &self.shaper) {
            (Some((_, counts)), _) => counts.clone(),
            (None, shaper) => shaper.as_ref().and_then(|s| s.counts().ok()).unwrap_or_default(),
        };
        self.report_of(counts)
    }

    fn report_of(&self, counts: Counts) -> Report {
        Report {
            id: self.id().to_owned(),
            policy: self.wanted.text.clone(),
            changes: self.changes,
            lasted_s: self.began.elapsed().as_secs_f64(),
            broken: self.broken.as_ref().map(|(why, _)| why.clone()),
            counts,
        }
    }

    /// Detaches it; what it did.
    pub(super) fn end(mut self) -> Report {
        let Some(shaper) = self.shaper.take() else { return self.report() };
        let before = shaper.counts().unwrap_or_default();
        match shaper.stop() {
            Ok(counts) => self.report_of(counts),
            Err(error) => {
                self.broken = Some((error.to_string(), before));
                self.report()
            }
        }
    }
}

/// Whether a signal asks for a stop as Ctrl-Z has it.
pub(super) fn is_stop(signal: Signal) -> bool {
    signal == Signal::SIGTSTP
}
