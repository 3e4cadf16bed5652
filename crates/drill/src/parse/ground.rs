//! What the readers of all parts of a script share: its grammar, places, numbers, and what is said where something else was
//! expected.

use pest::RuleType;
use pest::error::{ErrorVariant, LineColLocation};
use pest::iterators::Pair;
use truckee_tcp::Span;

/// The language's rules, made of `script.pest`.
mod grammar {
    #![allow(missing_docs)]

    #[derive(pest_derive::Parser)]
    #[grammar = "parse/script.pest"]
    pub struct Grammar;
}

pub use grammar::{Grammar, Rule};

/// A time beyond this is none that anybody waits for.
const MOST_SECONDS: f64 = 86_400.0;

/// A message and the line it is about.
pub type Fault = (usize, String);

/// The line that something stands in.
pub fn line_of<R: RuleType>(pair: &Pair<'_, R>) -> usize {
    pair.line_col().0
}

/// What was expected where, in a reader's words; rules that have none are left out.
pub fn explained<R: RuleType>(
    error: pest::error::Error<R>,
    text: &str,
    called: impl Fn(R) -> &'static str,
) -> Fault {
    let (line, column) = match error.line_col {
        LineColLocation::Pos(at) | LineColLocation::Span(at, _) => at,
    };
    let expected = match error.variant {
        ErrorVariant::ParsingError { positives, .. } => {
            let mut words: Vec<&str> =
                positives.into_iter().map(called).filter(|word| !word.is_empty()).collect();
            words.sort_unstable();
            words.dedup();
            words.join(", or ")
        }
        ErrorVariant::CustomError { message } => message,
    };
    let rest: String = text.lines().nth(line - 1).unwrap_or("").chars().skip(column - 1).take(30).collect();
    let found = if rest.trim().is_empty() {
        "the end of the line".to_owned()
    } else {
        format!("{:?}", rest.trim_end())
    };
    (line, format!("column {column}: {found}; expected {expected}"))
}

/// Seconds.
pub fn seconds(pair: Pair<'_, Rule>) -> Result<Span, Fault> {
    let value: f64 = pair.as_str().parse().unwrap_or(f64::INFINITY);
    if value > MOST_SECONDS {
        return Err((line_of(&pair), format!("{} s; a time of a script is a day at most", pair.as_str())));
    }
    Ok(Span::truncated((value * 1e9).round()))
}

/// A whole number within bounds.
pub fn integer<R: RuleType>(pair: &Pair<'_, R>, least: i64, most: i64, what: &str) -> Result<i64, Fault> {
    let text = pair.as_str();
    let (digits, sign) = text.strip_prefix('-').map_or((text, 1), |rest| (rest, -1));
    let value = match digits.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    match value.map(|value| sign * value) {
        Ok(value) if (least..=most).contains(&value) => Ok(value),
        _ => Err((line_of(pair), format!("{text}: expected {what}, {least} to {most}"))),
    }
}
