//! All tests of one server, one connection at a time, with a pause between them. Not for: lists of servers; showing.

use super::client::{self, Carried};
use super::fault::Fault;
use super::fetch::{self, Answer};
use super::identify::Asker;
use super::line::{self, Manner};
use super::observe::{self, Times};
use super::open::{idle, open};
use super::round_trips::RoundTrips;
use super::route::{self, Tracer};
use super::sockets::Sockets;
use super::stop::Stop;
use super::tls;
use super::{
    Conclusion, Observation, Options, Program, Report, Target, Test, TestFault, Watch, judge, summarise,
};
use crate::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use truckee_host::punctual::be_punctual;
use truckee_scenario::Cancel;

/// After so many faults in a row a server is left alone.
const ENOUGH: usize = 2;
/// All connections together may keep one waiting for so many times what one may,
const PATIENCES: u32 = 3;
/// not counting what any path may take, in each of them.
const USUAL: Duration = Duration::from_secs(2);

/// How long a server has kept us waiting.
#[derive(Debug, Default)]
struct Waited {
    connections: u32,
    long: Duration,
}

impl Waited {
    /// One more connection did for so long.
    fn add(&mut self, long: Duration) {
        self.connections += 1;
        self.long += long.saturating_sub(USUAL);
    }

    /// What ends the tests, if it was too long.
    fn fault(&self, patience: Duration) -> Option<Fault> {
        let seconds = (self.long + USUAL * self.connections).as_secs();
        let Self { connections, .. } = *self;
        (self.long >= patience * PATIENCES).then_some(Fault::Dawdles { connections, seconds })
    }
}

/// What probes: its sockets and whom it trusts.
pub struct Prober {
    sockets: Sockets,
    config: tls::Config,
    options: Options,
    /// Where the way is asked for.
    tracer: Option<Tracer>,
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
        if options.identify {
            // A set round trip is one only if ACKs go in time.
            be_punctual(true);
        }
        let tracer = options.route.then(Tracer::open).transpose()?;
        let (sockets, used) = (Sockets::open()?, AtomicBool::new(false));
        Ok(Self { sockets, config, options: options.clone(), tracer, used })
    }

    /// See [`super::Prober::probe`].
    pub fn probe(&self, target: &Target, watch: &mut dyn Watch, cancel: &Cancel) -> Result<Report, Error> {
        let mut report = Report::of(target);
        let stopped = self.run(target, &mut report, watch, cancel);
        let fault = match stopped {
            Ok(()) => None,
            Err(Stop::Fault(fault)) => Some(fault),
            Err(Stop::Error(error)) => return Err(error),
        };
        report.hops = report.tests.last().map(|o| route::hops(o.ttl));
        report.summary = summarise(&report.tests);
        report.conclusion = conclude(&report, fault);
        Ok(report)
    }

    fn run(
        &self,
        target: &Target,
        report: &mut Report,
        watch: &mut dyn Watch,
        cancel: &Cancel,
    ) -> Result<(), Stop> {
        let o = &self.options;
        if self.used.swap(true, Ordering::Relaxed) {
            line::pause(o.pause, cancel)?;
        }
        let answer = match &o.program {
            Some(program) => client::ordinary(target, program, o, cancel)?,
            None => fetch::fetch(target, o, &self.config, cancel)?,
        };
        report.tested = answer.target.to_string();
        report.address = Some(answer.address);
        report.status = answer.status;
        report.program = o.program.as_ref().map(Program::words);
        report.answer_bytes = answer.bytes;
        report.answer_whole = answer.ended;
        watch.answered(report);
        let mut faults = 0;
        let (mut round_trips, mut waited) = (RoundTrips::default(), Waited::default());
        round_trips.likely(answer.rtt);
        if let Some(tracer) = &self.tracer {
            line::pause(o.pause, cancel)?;
            report.route = Some(tracer.trace(&self.sockets, answer.address, cancel)?);
        }
        if o.identify {
            let (sockets, options, config) = (&self.sockets, o, &self.config);
            let round_trips = &mut round_trips;
            let mut asker = Asker { sockets, options, answer: &answer, round_trips, config, cancel };
            report.identity = Some(asker.identify(watch)?);
        }
        if o.tests.is_empty() {
            return Err(Fault::Unasked.into());
        }
        let own = o.tests.iter().all(|test| matches!(test, Test::Cut(_)));
        for repetition in 1..=o.repeat {
            for &test in &o.tests {
                if let Some(fault) = waited.fault(o.patience) {
                    watch.failed(test, &fault);
                    report.faults.push(TestFault { test, repetition, fault });
                    return Ok(());
                }
                line::pause(o.pause, cancel)?;
                let known = (&mut round_trips, &mut waited);
                match self.test(&answer, (test, repetition), known, cancel) {
                    Ok(seen) => {
                        watch.tested(&seen);
                        report.tests.push(seen);
                        faults = 0;
                    }
                    Err(Stop::Fault(fault)) => {
                        watch.failed(test, &fault);
                        report.faults.push(TestFault { test, repetition, fault: fault.clone() });
                        // That we stand still is none of the server's.
                        faults += usize::from(!matches!(fault, Fault::Stood { .. }));
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
        if own { Err(Fault::Own.into()) } else { Ok(()) }
    }

    /// One test over a connection of its own.
    fn test(
        &self,
        answer: &Answer,
        which: (Test, u32),
        (round_trips, waited): (&mut RoundTrips, &mut Waited),
        cancel: &Cancel,
    ) -> Result<Observation, Stop> {
        let o = &self.options;
        let began = OffsetDateTime::now_utc();
        let start = |program| Carried::start(program, &answer.hosts, o.patience, cancel);
        let mut client = o.program.as_ref().map(start).transpose()?;
        let manner = Manner::new(o.mss, o.patience);
        let to = (&answer.target, answer.address);
        let by = (&self.config, &manner);
        let opened = open(&self.sockets, to, by, client.as_mut(), round_trips, cancel);
        let left = manner.until.saturating_duration_since(Instant::now());
        // What we have chosen to wait is not the server's.
        let idle = opened.as_ref().map_or(Duration::ZERO, |c| {
            if answer.target.tls() || c.handshake > 0 { idle(c.rtt) } else { Duration::ZERO }
        });
        let mut waited_here = o.patience.saturating_sub(left).saturating_sub(idle);
        let seen = opened.and_then(|mut connection| {
            let times = Times { watch: o.watch, patience: o.patience, rounds: 2 * o.patience };
            let length = answer.ended.then_some(answer.bytes);
            let mut answered = |after| waited_here += after;
            observe::observe(&mut connection, which, length, &times, cancel, &mut answered)
        });
        waited.add(waited_here);
        match seen? {
            seen if seen.status.is_some_and(|status| !(200..300).contains(&status)) => {
                Err(Fault::Status(seen.status.unwrap_or_default()).into())
            }
            // No date of these times is beyond what is written so.
            seen => Ok(Observation { began: began.format(&Rfc3339).unwrap_or_default(), ..seen }),
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
        None => match (judge::judge(&report.tests), report.faults.last()) {
            (Ok(verdict), _) => Conclusion::Verdict(verdict),
            // Why there are no more tests to judge by.
            (Err(_), Some(TestFault { fault: fault @ Fault::Dawdles { .. }, .. })) => {
                Conclusion::NotJudged(fault.clone())
            }
            (Err(fault), _) => Conclusion::NotJudged(fault),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_slow_each_time_is_left_after_three_times_the_patience() {
        let seconds = Duration::from_secs;
        let mut waited = Waited::default();
        for _ in 0..20 {
            waited.add(seconds(2));
        }
        assert_eq!(waited.fault(seconds(10)), None, "as a path over a satellite may take");
        let mut waited = Waited::default();
        let mut connections = 0;
        while waited.fault(seconds(10)).is_none() {
            waited.add(seconds(9));
            connections += 1;
        }
        assert_eq!(waited.fault(seconds(10)), Some(Fault::Dawdles { connections, seconds: 45 }));
    }
}
