//! Shell lines. None is run: those that set what the stack's namespace has under `net.ipv4` are taken as settings, and
//! all others are refused.

use super::ground::{Fault, Rule, line_of};
use crate::script::Setting;
use pest::iterators::Pair;

const EXPECTED: &str = "no shell is run here; expected \"sysctl -q net.ipv4.NAME=VALUE\"";

/// The settings of a shell line, or of several.
pub fn settings(pair: Pair<'_, Rule>) -> Result<Vec<Setting>, Fault> {
    let first = line_of(&pair);
    let mut settings = Vec::new();
    for (n, line) in pair.as_str().trim_matches('`').lines().enumerate() {
        for command in line.split(';').map(str::trim).filter(|command| !command.is_empty()) {
            let place = first + n;
            let mut words = command.split_whitespace();
            if words.next() != Some("sysctl") {
                return Err((place, format!("{command:?}: {EXPECTED}")));
            }
            // A value may have blanks, in quotes or not.
            let rest = words.filter(|word| !word.starts_with('-')).collect::<Vec<_>>().join(" ");
            settings.push(setting(place, &rest).ok_or_else(|| (place, format!("{command:?}: {EXPECTED}")))?);
        }
    }
    Ok(settings)
}

fn setting(line: usize, text: &str) -> Option<Setting> {
    let (name, value) = text.split_once('=')?;
    let name = name.trim().strip_prefix("net.ipv4.")?.to_owned();
    let value = value.trim().trim_matches(|c| c == '"' || c == '\'').to_owned();
    let fits =
        !name.is_empty() && name.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_');
    (fits && !value.is_empty()).then_some(Setting { line, name, value })
}
