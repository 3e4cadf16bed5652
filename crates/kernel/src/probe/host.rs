//! All tests of one server, one connection at a time, with a pause between them. Not for: lists of servers; showing.

use super::connection::Connection;
use super::fault::{Fault, Stop};
use super::fetch::{self, Answer};
use super::line::{self, Manner};
use super::observe::{self, Times};
use super::round_trips::RoundTrips;
use super::sockets::Sockets;
use super::tls;
use super::{Conclusion, Observation, Options, Report, Target, Test, TestFault, Watch, judge};
use crate::Error;
use std::sync::atomic::{AtomicBool, Ordering};

/// After so many faults in a row a server is left alone.
const ENOUGH: usize = 2;

/// What probes: its sockets and whom it trusts.
pub struct Prober {
    sockets: Sockets,
    config: tls::Config,
    options: Options,
    /// Whether a server was probed before, which may be the next one too, by another name.
    used: AtomicBool,
}

impl std::fmt::Debug for Prober {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prober").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Prober {
    /// See [`super::Prober::new`].
    pub fn new(options: &Options) -> Result<Self, Error> {
        let config = tls::config(&options.trust)?;
        Ok(Self { sockets: Sockets::open()?, config, options: options.clone(), used: AtomicBool::new(false) })
    }

    /// See [`super::Prober::probe`].
    pub fn probe(
        &self,
        target: &Target,
        watch: &mut dyn Watch,
        cancel: &AtomicBool,
    ) -> Result<Report, Error> {
        let mut report = Report::of(target);
        let stopped = self.run(target, &mut report, watch, cancel);
        let fault = match stopped {
            Ok(()) => None,
            Err(Stop::Fault(fault)) => Some(fault),
            Err(Stop::Error(error)) => return Err(error),
        };
        report.conclusion = conclude(&report, fault);
        Ok(report)
    }

    fn manner(&self) -> Manner {
        Manner { mss: self.options.mss, patience: self.options.patience }
    }

    fn run(
        &self,
        target: &Target,
        report: &mut Report,
        watch: &mut dyn Watch,
        cancel: &AtomicBool,
    ) -> Result<(), Stop> {
        let o = &self.options;
        let manner = self.manner();
        if self.used.swap(true, Ordering::Relaxed) {
            line::pause(o.pause, cancel)?;
        }
        let answer = fetch::fetch(target, o.family, o.follow, &self.config, &manner, cancel)?;
        report.tested = answer.target.to_string();
        report.address = Some(answer.address);
        report.status = Some(answer.status);
        report.answer_bytes = answer.bytes;
        report.answer_whole = answer.ended;
        watch.answered(report);
        let mut faults = 0;
        let mut round_trips = RoundTrips::default();
        round_trips.likely(answer.rtt);
        for repetition in 1..=o.repeat {
            for &test in &o.tests {
                line::pause(o.pause, cancel)?;
                match self.test(&answer, (test, repetition), &mut round_trips, cancel) {
                    Ok(seen) => {
                        watch.tested(&seen);
                        report.tests.push(seen);
                        faults = 0;
                    }
                    Err(Stop::Fault(fault)) => {
                        watch.failed(test, &fault);
                        report.faults.push(TestFault { test, repetition, fault: fault.clone() });
                        faults += 1;
                        if faults == ENOUGH {
                            return Err(fault.into());
                        }
                    }
                    Err(error) => return Err(error),
                }
                // An answer too short for the test that asks for least is too short for the others.
                if let [only] = &report.tests[..]
                    && only.test == Test::A
                    && only.ended
                {
                    return judge::judge(&report.tests).map(drop).map_err(Stop::from);
                }
            }
        }
        Ok(())
    }

    /// One test over a connection of its own.
    fn test(
        &self,
        answer: &Answer,
        which: (Test, u32),
        round_trips: &mut RoundTrips,
        cancel: &AtomicBool,
    ) -> Result<Observation, Stop> {
        let manner = self.manner();
        let how = (&self.config, &manner);
        let to = (&answer.target, answer.address);
        let mut connection = Connection::open(&self.sockets, to, how, round_trips, cancel)?;
        let times = Times { watch: self.options.watch, patience: manner.patience };
        let length = answer.ended.then_some(answer.bytes);
        let seen = observe::observe(&mut connection, which, length, &times, cancel)?;
        match seen.status {
            Some(status) if !(200..300).contains(&status) => Err(Fault::Status(status).into()),
            _ => Ok(seen),
        }
    }
}

/// The verdict, or why there is none: a fault that ended the tests, or more tests with faults than without.
fn conclude(report: &Report, fault: Option<Fault>) -> Conclusion {
    let failed = fault.or_else(|| {
        let last = report.faults.last()?;
        (report.faults.len() > report.tests.len()).then(|| last.fault.clone())
    });
    match failed {
        Some(fault) => Conclusion::NotJudged(fault),
        None => judge::judge(&report.tests).map_or_else(Conclusion::NotJudged, Conclusion::Verdict),
    }
}
