//! From text to [`Script`]. Every message names the line and what is expected there.

mod assertion;
mod call;
mod ground;
mod packet;
mod setting;

use crate::error::Error;
use crate::script::{Event, Script, Setting, TcpOption, What, When};
use ground::{Fault, Grammar, Rule, explained, line_of, seconds};
use pest::Parser;
use pest::iterators::Pair;
use std::collections::BTreeSet;
use truckee_tcp::Span;

/// Longest script, bytes.
pub const MOST_BYTES: usize = 1 << 20;
/// How far from its time a packet may leave, where the script does not say (packetdrill's default).
const TOLERANCE: Span = Span::us(4000);
/// How late the machine may be, where the script does not say.
const LATENESS: Span = Span::ms(4);

/// Reads a script; `name` is what messages call it.
///
/// # Errors
/// It is none, or asks for what no target has.
pub fn script(name: &str, text: &str) -> Result<Script, Error> {
    let failed = |(line, why): Fault| Error::Script { name: name.to_owned(), line, why };
    if text.len() > MOST_BYTES {
        return Err(failed((1, format!("{} bytes; a script has {MOST_BYTES} at most", text.len()))));
    }
    let mut read = Script {
        name: name.to_owned(),
        text: text.to_owned(),
        tolerance: TOLERANCE,
        lateness: LATENESS,
        offload: false,
        settings: Vec::new(),
        events: Vec::new(),
    };
    let mut pairs =
        Grammar::parse(Rule::script, text).map_err(|error| failed(explained(error, text, called)))?;
    for pair in pairs.next().into_iter().flat_map(Pair::into_inner) {
        match pair.as_rule() {
            Rule::option => option(&mut read, pair).map_err(failed)?,
            Rule::event => event(&mut read, pair).map_err(failed)?,
            _ => {}
        }
    }
    if read.events.is_empty() {
        return Err(failed((
            1,
            "no event; a script says what happens when, such as \"+0 < S 0:0(0) win 65535\"".into(),
        )));
    }
    name_echoes(&read.events).map_err(failed)?;
    Ok(read)
}

/// Refuses an echo of a timestamp that the script has not named in what the stack sends: a stack's clock is known by such names
/// alone, and any other number may be earlier or later than what it is held against.
fn name_echoes(events: &[Event]) -> Result<(), Fault> {
    let mut named = BTreeSet::from([0]);
    for event in events {
        let (packet, sent) = match &event.what {
            What::Sent(packet) => (packet, true),
            What::Comes(packet) => (packet, false),
            What::Call(_) | What::Assert(_) => continue,
        };
        for option in packet.options() {
            let &TcpOption::Timestamp { val, ecr } = option else { continue };
            if sent {
                named.insert(val);
            } else if !named.contains(&ecr) {
                let why = format!(
                    "\"ecr {ecr}\"; expected the \"TS val\" of a segment that the stack has sent before"
                );
                return Err((event.line, why));
            }
        }
    }
    Ok(())
}

fn called(rule: Rule) -> &'static str {
    match rule {
        Rule::EOI => "the end of the script",
        Rule::script | Rule::event | Rule::when | Rule::any | Rule::relative | Rule::absolute => {
            "an event, which begins with its time (\"+0.1\", \"0.1\" or \"*\")"
        }
        Rule::option | Rule::option_name | Rule::option_value => "an option (\"--tolerance_usecs=10000\")",
        Rule::seconds => "seconds (\"0.1\")",
        Rule::integer => "a whole number",
        Rule::packet | Rule::direction => "a TCP segment (\"> P. 1:1001(1000) ack 1\")",
        Rule::flags => "flags (letters of SFRP.UEWA)",
        Rule::sequence => "sequence numbers (\"1:1001(1000)\")",
        Rule::ack => "\"ack N\"",
        Rule::window => "\"win N\"",
        Rule::urgent => "",
        Rule::options => "options (\"<mss 1460,nop,wscale 7>\" or \"<...>\")",
        Rule::tcp_option
        | Rule::mss
        | Rule::sack_ok
        | Rule::timestamp
        | Rule::sack
        | Rule::scale
        | Rule::nop
        | Rule::accecn
        | Rule::eol => "an option of TCP (mss, sackOK, TS, sack, ECN, wscale, nop, eol)",
        Rule::counted | Rule::counted_word => {
            "what is counted (\"e0b\", \"e1b\" or \"ceb\") and how many bytes"
        }
        Rule::block => "a SACK block (\"1001:2001\")",
        Rule::ecn => "ECN bits (\"[ect0]\")",
        Rule::call | Rule::word => "a call (\"write(4, ..., 1000) = 1000\")",
        Rule::until => "\"...\" and the time at which it returns",
        Rule::argument | Rule::open | Rule::structure | Rule::list | Rule::bits | Rule::text => "an argument",
        Rule::result => "the call's result (\"= 0\")",
        Rule::error | Rule::error_name => "an error's name",
        Rule::remark => "",
        Rule::shell => "`sysctl …`",
        Rule::assertion => "\"%{ … }%\"",
        _ => "",
    }
}

fn option(script: &mut Script, pair: Pair<'_, Rule>) -> Result<(), Fault> {
    let line = line_of(&pair);
    let mut parts = pair.into_inner().map(|part| part.as_str());
    let (name, value) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    match name {
        "tolerance_usecs" | "lateness_usecs" => {
            let us: u64 =
                value.parse().ok().filter(|us| (1..=10_000_000).contains(us)).ok_or_else(|| {
                    (line, format!("--{name}={value}; expected microseconds, 1 to 10,000,000"))
                })?;
            match name {
                "tolerance_usecs" => script.tolerance = Span::us(us),
                _ => script.lateness = Span::us(us),
            }
            Ok(())
        }
        "offload" if matches!(value, "on" | "off") => {
            script.offload = value == "on";
            Ok(())
        }
        "offload" => Err((line, format!("--offload={value}; expected \"on\" or \"off\""))),
        "ip_version" if value == "ipv4" => Ok(()),
        "ip_version" => Err((line, format!("--ip_version={value}; there is \"ipv4\""))),
        _ => {
            let known = "--tolerance_usecs, --lateness_usecs, --offload and --ip_version";
            Err((line, format!("there is no option --{name}; there are {known}")))
        }
    }
}

fn event(script: &mut Script, pair: Pair<'_, Rule>) -> Result<(), Fault> {
    let line = line_of(&pair);
    let mut parts = pair.into_inner();
    let Some(first) = parts.next() else { return Ok(()) };
    let (time, action) = match first.as_rule() {
        Rule::when => (Some(when(first)?), parts.next()),
        _ => (None, Some(first)),
    };
    let Some(action) = action else { return Ok(()) };
    let line = if action.as_rule() == Rule::shell { line } else { line_of(&action) };
    let what = match action.as_rule() {
        Rule::packet => packet::packet(action)?,
        Rule::call => What::Call(call::call(action, time)?),
        Rule::assertion => What::Assert(assertion::statements(action)?),
        _ => {
            let settings: Vec<Setting> = setting::settings(action)?;
            if !script.events.is_empty() {
                let why = "a setting after the first event: the stack is made with its settings, before";
                return Err((line, why.into()));
            }
            script.settings.extend(settings);
            return Ok(());
        }
    };
    let when = time.unwrap_or(When::After(Span::ZERO));
    if matches!(
        (&what, when),
        (What::Comes(_) | What::Call(_) | What::Assert(_), When::AtBetween(..) | When::AfterBetween(..))
    ) {
        return Err((
            line,
            "a stretch of time; only what the stack sends has one, all else happens at a time".into(),
        ));
    }
    script.events.push(Event { line, when, what });
    Ok(())
}

fn when(pair: Pair<'_, Rule>) -> Result<When, Fault> {
    let line = line_of(&pair);
    let Some(kind) = pair.into_inner().next() else { return Ok(When::Any) };
    let rule = kind.as_rule();
    let mut times = kind.into_inner().map(seconds).collect::<Result<Vec<_>, _>>()?.into_iter();
    let (from, to) = (times.next().unwrap_or(Span::ZERO), times.next());
    if let Some(to) = to.filter(|&to| to < from) {
        return Err((
            line,
            format!("from {} s to {} s; expected the earlier time first", from.seconds(), to.seconds()),
        ));
    }
    Ok(match (rule, to) {
        (Rule::relative, None) => When::After(from),
        (Rule::relative, Some(to)) => When::AfterBetween(from, to),
        (Rule::absolute, None) => When::At(from),
        (Rule::absolute, Some(to)) => When::AtBetween(from, to),
        _ => When::Any,
    })
}

#[cfg(test)]
mod tests;
