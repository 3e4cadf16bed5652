//! ACK policies as a command line writes them: `division:4`, `division:4:first=3`, `delayed:2:timeout=100ms`, `taba`.
//!
//! ```text
//! policy = name [":" value] (":" key "=" value)*     or a table, as in a scenario
//! ```
//!
//! A value without a key is the member's first parameter (`truckee variants NAME` shows their order). Values are those of
//! a scenario; colons within braces, brackets or quotes belong to the value.
//!
//! Not for: which policies there are, and what they take: that is the scenario's reader and the families.

use crate::document::Document;
use crate::error::{Error, Errors, Spot, short};
use truckee_tcp::Spec;
use truckee_tcp::ack::AnyAckPolicy;

/// Longest text, bytes: it also comes over a socket.
const LONGEST: usize = 1000;
/// What the policy is read into.
const FRAME: &str = "\
duration = \"1s\"
topology = { kind = \"single-link\", rate = \"1Mbit/s\" }
flow     = [{ from = \"src\", to = \"dst\" }]
";
/// The key that takes it.
const KEY: &str = "flow.receiver";

/// Reads an ACK policy with every default filled in. `option` is what it was given to, for messages: `--ack`.
///
/// # Errors
/// There is no such policy, it has no such parameter, or a value cannot be used; with the nearest that would do.
pub fn ack_policy(option: &str, text: &str) -> Result<Spec, Errors> {
    let fail = |part: &str, message: String, expected: &str| {
        let place = Some(Box::new(spot(option, text, part)));
        Errors::from(Error { message, place, expected: Some(expected.to_owned()), help: None })
    };
    if text.len() > LONGEST {
        return Err(fail("", format!("an ACK policy of {} bytes", text.len()), "at most 1000"));
    }
    let mut document = Document::parse(option, FRAME)?;
    // What was set, and the part of the text that says so.
    let mut parts: Vec<(String, &str)> = Vec::new();
    if text.trim_start().starts_with('{') {
        document.set(KEY, text).map_err(|errors| moved(errors, option, text, &parts))?;
    } else {
        let mut words = split(text).into_iter();
        let name = words.next().unwrap_or_default().trim();
        if !is_name(name) {
            let message = format!("\"{}\" is no ACK policy", short(name));
            return Err(fail(
                name,
                message,
                "NAME, NAME:VALUE or NAME:KEY=VALUE, such as division:4:first=3",
            ));
        }
        set(&mut document, KEY.to_owned(), name, name, &mut parts)
            .map_err(|e| moved(e, option, text, &parts))?;
        for (place, word) in words.enumerate() {
            let (key, value) = match word.split_once('=').filter(|(key, _)| is_name(key.trim())) {
                Some((key, value)) => (key.trim().to_owned(), value),
                None if place == 0 => match first_parameter(name) {
                    Some(key) => (key, word),
                    // Either there is no such policy, which is told below, or it takes nothing.
                    None if known(name) => {
                        return Err(fail(word, format!("\"{name}\" has no parameters"), "its name alone"));
                    }
                    None => continue,
                },
                None => {
                    let message = format!("\"{}\" has no key", short(word));
                    return Err(fail(word, message, "KEY=VALUE: only the first value can do without"));
                }
            };
            set(&mut document, format!("{KEY}.{name}.{key}"), value, word, &mut parts)
                .map_err(|e| moved(e, option, text, &parts))?;
        }
    }
    let mut scenario = document.scenario().map_err(|errors| moved(errors, option, text, &parts))?;
    Ok(scenario.flows.remove(0).receiver.clone())
}

fn set<'t>(
    document: &mut Document,
    path: String,
    value: &str,
    part: &'t str,
    parts: &mut Vec<(String, &'t str)>,
) -> Result<(), Errors> {
    parts.push((format!("--set {path}={}", value.trim()), part));
    document.set(&path, value.trim())
}

/// A name as members and parameters have them.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
}

fn known(name: &str) -> bool {
    AnyAckPolicy::MEMBERS.iter().any(|member| member.name == name)
}

/// The first parameter of the policy that has this name.
fn first_parameter(name: &str) -> Option<String> {
    let (_, resolved) = AnyAckPolicy::build(&Spec::named(name)).ok()?;
    resolved.args.into_iter().next().map(|(key, _)| key)
}

/// Splits at the colons that are not within braces, brackets or quotes.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut quote, mut from) = (0_usize, None, 0);
    let mut parts = Vec::new();
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '{' | '[') => depth += 1,
            (None, '}' | ']') => depth = depth.saturating_sub(1),
            (None, ':') if depth == 0 => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

/// What was found wrong, where the user wrote it.
fn moved(mut errors: Errors, option: &str, text: &str, parts: &[(String, &str)]) -> Errors {
    for error in &mut errors.list {
        let origin = error.place.as_ref().map_or("", |place| place.origin.as_str());
        let part = parts.iter().find(|(set, _)| set == origin).map_or(text, |(_, part)| part);
        error.place = Some(Box::new(spot(option, text, part)));
    }
    errors
}

/// The place of a part of the text, which is a slice of it.
fn spot(option: &str, text: &str, part: &str) -> Spot {
    let at = (part.as_ptr() as usize)
        .checked_sub(text.as_ptr() as usize)
        .filter(|at| at + part.len() <= text.len());
    let (from, length) = at.map_or((0, text.len()), |at| (at, part.len()));
    Spot::in_argument(option, text, from, from + length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use truckee_tcp::{Arg, Span};

    fn argument(text: &str, name: &str) -> Arg {
        let spec = ack_policy("--ack", text).unwrap();
        spec.args.into_iter().find(|(key, _)| key == name).unwrap().1
    }

    #[test]
    fn what_a_command_line_says_is_what_a_scenario_says() {
        for (text, name) in [
            ("every", "every"),
            ("division", "division"),
            ("taba:3", "taba"),
            (" accumulated ", "accumulated"),
            ("accumulated-full:acks_per_rtt=16", "accumulated-full"),
            ("{ division = { n = 4 } }", "division"),
        ] {
            assert_eq!(ack_policy("--ack", text).unwrap().name, name, "{text}");
        }
        assert_eq!(argument("division:4:first=3", "n"), Arg::Number(4.0));
        assert_eq!(argument("division:4:first=3", "first"), Arg::Number(3.0));
        assert_eq!(argument("division:n=4:while=slow-start", "while"), Arg::Name("slow-start".into()));
        assert_eq!(argument("delayed:4:timeout=100ms", "count"), Arg::Number(4.0));
        assert_eq!(argument("delayed:4:timeout=100ms", "timeout"), Arg::Time(Span::ms(100)));
        let table =
            "division:8:base={ delayed = { timeout = \"50ms\" } }:while=slow-start:detector=round-growth";
        assert!(matches!(argument(table, "base"), Arg::Spec(base) if base.name == "delayed"));
        assert!(matches!(argument(table, "detector"), Arg::Spec(d) if d.name == "round-growth"));
    }

    #[test]
    fn mistakes_are_shown_where_they_are_with_what_would_do() {
        for (text, wanted) in [
            ("divison:4", "did you mean \"division\"?"),
            ("division:4:frist=3", "\"first\""),
            ("division:0", "a whole number from 1 to 1000"),
            ("division:4:3", "only the first value can do without"),
            ("division:4:while=sometimes", "slow-start"),
            ("delayed:2:timeout=5", "write \"5s\""),
            ("every:2", "its name alone"),
            ("", "NAME:VALUE"),
            ("a b", "NAME:VALUE"),
            ("{ division", "not a TOML value"),
            ("division:4:base={ delayed", "not a TOML value"),
        ] {
            let told = ack_policy("--ack", text).unwrap_err().to_string();
            assert!(told.contains(wanted) && told.contains("--> --ack"), "{text}: {told}");
            assert!(!told.contains("--set") && !told.contains("flow"), "{text}: {told}");
        }
        let told = ack_policy("--ack", "division:4:base={ delayed").unwrap_err().to_string();
        assert!(told.contains("\n  | division:4:base={ delayed\n  |            ^"), "{told}");
        assert!(ack_policy("--ack", &"x".repeat(2000)).is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,60}") {
            let _ = ack_policy("--ack", &text);
            let _ = ack_policy("--ack", &format!("division:{text}"));
        }
    }
}
