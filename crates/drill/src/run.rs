//! A script from its first event to its last.

use crate::assert::{self, Outcome};
use crate::error::Error;
use crate::expect::Stamps;
use crate::script::{Call, Event, Packet, Script, TcpOption, What, When};
use crate::target::{Answer, Seen, Target};
use serde::Serialize;
use truckee_tcp::{Span, Time};

/// How long a segment that is expected at any time, or a call that is to return, is waited for.
const PATIENCE: Span = Span::s(120);
/// How often a call that is about to return is looked at.
const LOOK: Span = Span::us(100);

/// What came of a script.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The script.
    pub script: String,
    /// What it was held against.
    pub target: &'static str,
    /// Where and how the stack did otherwise; `None`: it did as the script says.
    pub failure: Option<Failure>,
    /// What the stack does not do that the script asks for, so that it was not run to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refused>,
    /// What `print` showed, by line.
    pub shown: Vec<(usize, String)>,
    /// How much later than wanted the machine did something at most, s: every tolerance is wider by that.
    pub lateness_s: f64,
    /// How late it may be at most for this to say anything, s.
    pub bears_s: f64,
}

/// What a stack does not do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// Line of the script.
    pub line: usize,
    /// What, and what it does.
    pub why: String,
}

/// What the stack did otherwise.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failure {
    /// Line of the script.
    pub line: usize,
    /// When, s since the beginning.
    pub at_s: f64,
    /// What was expected.
    pub expected: String,
    /// What was seen.
    pub seen: String,
    /// What of it differs, in words.
    pub differences: Vec<String>,
}

/// Runs a script against a target.
///
/// # Errors
/// The target is gone, or cannot do what the script asks for: its line, and what it can.
pub fn run(script: &Script, target: &mut dyn Target) -> Result<Report, Error> {
    let mut run = Run {
        script,
        target,
        before: Time::ZERO,
        stamps: Stamps::default(),
        waiting: None,
        shown: Vec::new(),
    };
    let mut failure = None;
    for event in &script.events {
        failure = run.event(event).map_err(|error| error.at(&script.name, event.line))?;
        if failure.is_some() {
            break;
        }
    }
    if failure.is_none() {
        failure = run.returned(None)?;
    }
    let lateness_s = run.target.lateness().seconds();
    let (target, shown) = (run.target.name(), run.shown);
    let bears_s = script.lateness.seconds();
    Ok(Report { script: script.name.clone(), target, failure, refused: None, shown, lateness_s, bears_s })
}

struct Run<'a> {
    script: &'a Script,
    target: &'a mut dyn Target,
    /// When the event before was over.
    before: Time,
    stamps: Stamps,
    /// The call that has not returned: its line, when it is to, and what it is to return.
    waiting: Option<(usize, Time, Call)>,
    shown: Vec<(usize, String)>,
}

impl Run<'_> {
    fn event(&mut self, event: &Event) -> Result<Option<Failure>, Error> {
        let begin = self.before;
        let (from, to) = match event.when {
            When::Any => (begin, begin + PATIENCE),
            When::At(at) => (Time::at(at), Time::at(at)),
            When::After(span) => (begin + span, begin + span),
            When::AtBetween(from, to) => (Time::at(from), Time::at(to)),
            When::AfterBetween(from, to) => (begin + from, begin + to),
        };
        if let What::Sent(packet) = &event.what {
            return self.expect(event.line, packet, from, to);
        }
        let at = if event.when == When::Any { self.target.now().max(begin) } else { from };
        if at < begin {
            let why =
                format!("{} s, which is before the event before it ({} s)", at.seconds(), begin.seconds());
            return Err(self.fault(event.line, why));
        }
        self.target.wait(at)?;
        self.before = at;
        // A call that is to have returned by now has to have.
        if let Some(failure) = self.returned(Some(at))? {
            return Ok(Some(failure));
        }
        match &event.what {
            What::Comes(packet) => {
                let real = self.stamped(packet);
                self.target.inject(&real)?.map_err(|why| self.refused(event.line, why))?;
                Ok(None)
            }
            What::Call(call) => self.call(event, at, call),
            What::Assert(statements) => {
                let info = self.target.info()?.map_err(|why| self.refused(event.line, why))?;
                for statement in statements {
                    match assert::outcome(statement, &info) {
                        Outcome::Holds => {}
                        Outcome::Shows(text) => self.shown.push((event.line, text)),
                        Outcome::Refused(why) => return Err(self.refused(event.line, why)),
                        Outcome::Fails(why) => {
                            let expected = self.script.line(event.line).to_owned();
                            return Ok(Some(self.failure(event.line, expected, why, Vec::new())));
                        }
                    }
                }
                Ok(None)
            }
            What::Sent(_) => Ok(None),
        }
    }

    /// The segment with the stack's own timestamps where it echoes them.
    fn stamped(&self, packet: &Packet) -> Packet {
        let mut packet = packet.clone();
        for option in packet.options.iter_mut().flatten() {
            if let TcpOption::Timestamp { ecr, .. } = option {
                *ecr = self.stamps.real(*ecr);
            }
        }
        packet
    }

    /// The next segment that the stack sends is this one, between these times.
    fn expect(
        &mut self,
        line: usize,
        packet: &Packet,
        from: Time,
        to: Time,
    ) -> Result<Option<Failure>, Error> {
        let wide = |run: &Self| run.script.tolerance + run.target.lateness();
        let expected = format!("> {packet}");
        let latest = to + wide(self);
        let Some(Seen { at, packet: seen }) = self.target.sent(latest)? else {
            let nothing = format!("nothing until {:.6} s", latest.seconds());
            return Ok(Some(self.failure(line, expected, nothing, Vec::new())));
        };
        let mut differences = self.stamps.differences(packet, &seen);
        let wide = wide(self);
        if at + wide < from || at > to + wide {
            let due = if from == to {
                format!("at {:.6} s", from.seconds())
            } else {
                format!("from {:.6} to {:.6} s", from.seconds(), to.seconds())
            };
            differences.push(format!(
                "time: expected {due}, give or take {:.6} s; seen at {:.6} s",
                wide.seconds(),
                at.seconds()
            ));
        }
        if !differences.is_empty() {
            return Ok(Some(self.failure(line, expected, format!("> {seen}"), differences)));
        }
        self.before = self.before.max(at);
        Ok(None)
    }

    fn call(&mut self, event: &Event, at: Time, call: &Call) -> Result<Option<Failure>, Error> {
        // One waits at a time: if another is to have returned by now, it is about to.
        if let Some((line, until, _)) = self.waiting {
            if until > at + self.script.tolerance {
                let why = format!("the call of line {line} has not returned: one waits at a time");
                return Err(self.fault(event.line, why));
            }
            if let Some(failure) = self.returned(None)? {
                return Ok(Some(failure));
            }
        }
        let answer = self.target.call(call)?.map_err(|why| self.refused(event.line, why))?;
        let until = match (call.until, event.when) {
            (Some(until), When::At(_)) => Some(Time::at(until)),
            (Some(until), When::After(begin)) => Some(at + until.saturating_sub(begin)),
            _ => None,
        };
        match (answer, until) {
            (Answer::Waits, Some(until)) => {
                self.waiting = Some((event.line, until, call.clone()));
                Ok(None)
            }
            (Answer::Waits, None) => {
                let expected = self.script.line(event.line).to_owned();
                Ok(Some(self.failure(event.line, expected, "the call waits".to_owned(), Vec::new())))
            }
            (Answer::Returned(..), Some(until)) if until > at + self.script.tolerance => {
                let seen = format!("it returned at once, and not at {:.6} s", until.seconds());
                Ok(Some(self.failure(event.line, self.script.line(event.line).to_owned(), seen, Vec::new())))
            }
            (Answer::Returned(value, error), _) => Ok(self.judged(event.line, call, value, error)),
        }
    }

    /// Looks at the call that waits: whether it has returned by `now`, or, without, until it has or is too late.
    fn returned(&mut self, now: Option<Time>) -> Result<Option<Failure>, Error> {
        let Some((line, until, call)) = self.waiting.clone() else { return Ok(None) };
        let expected = self.script.line(line).to_owned();
        let (at, answer) = loop {
            if let Some(returned) = self.target.waiting()? {
                break returned;
            }
            let latest = until + self.script.tolerance + self.target.lateness();
            if now.unwrap_or_else(|| self.target.now()) > latest {
                return Ok(Some(self.failure(line, expected, "the call still waits".to_owned(), Vec::new())));
            }
            if now.is_some() {
                return Ok(None);
            }
            self.target.wait(self.target.now() + LOOK)?;
        };
        let tolerance = self.script.tolerance + self.target.lateness();
        self.waiting = None;
        if at > until + tolerance || at + tolerance < until {
            let seen = format!("it returned at {:.6} s, not at {:.6} s", at.seconds(), until.seconds());
            return Ok(Some(self.failure(line, expected, seen, Vec::new())));
        }
        Ok(match answer {
            Answer::Returned(value, error) => self.judged(line, &call, value, error),
            Answer::Waits => None,
        })
    }

    /// Whether a call returned what it is to.
    fn judged(&self, line: usize, call: &Call, value: i64, error: Option<String>) -> Option<Failure> {
        let names = matches!(call.name.as_str(), "socket" | "accept") && value >= 0;
        let right = match call.result {
            None => true,
            Some(wanted) if names => wanted >= 0,
            Some(wanted) => wanted == value && (call.error.is_none() || call.error == error),
        };
        if right {
            return None;
        }
        let seen = match error {
            Some(error) => format!("{} returned {value} {error}", call.name),
            None => format!("{} returned {value}", call.name),
        };
        Some(self.failure(line, self.script.line(line).to_owned(), seen, Vec::new()))
    }

    fn failure(&self, line: usize, expected: String, seen: String, differences: Vec<String>) -> Failure {
        Failure { line, at_s: self.target.now().seconds(), expected, seen, differences }
    }

    fn refused(&self, line: usize, why: String) -> Error {
        Error::Refused { name: self.script.name.clone(), line, why }
    }

    fn fault(&self, line: usize, why: String) -> Error {
        Error::Script { name: self.script.name.clone(), line, why }
    }
}
