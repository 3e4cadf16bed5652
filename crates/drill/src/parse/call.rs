//! Calls.

use super::ground::{Fault, Rule, integer, line_of, seconds};
use crate::script::{Argument, Call, When};
use pest::iterators::Pair;

/// The calls that the targets know, with how many arguments they have.
pub const CALLS: [(&str, usize); 14] = [
    ("socket", 3),
    ("bind", 3),
    ("listen", 2),
    ("accept", 3),
    ("connect", 3),
    ("fcntl", 3),
    ("fcntl", 2),
    ("setsockopt", 5),
    ("read", 3),
    ("recv", 4),
    ("write", 3),
    ("send", 4),
    ("shutdown", 2),
    ("close", 1),
];

/// A call that begins at `when`.
pub fn call(pair: Pair<'_, Rule>, when: Option<When>) -> Result<Call, Fault> {
    let line = line_of(&pair);
    let mut call =
        Call { until: None, name: String::new(), arguments: Vec::new(), result: None, error: None };
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::until => {
                call.until = part.into_inner().next().map(seconds).transpose()?;
                let begin = match when {
                    Some(When::At(begin) | When::After(begin)) => begin,
                    _ => {
                        return Err((
                            line,
                            "a call that waits begins at a time (\"0.1...0.3 read(…)\")".into(),
                        ));
                    }
                };
                if call.until.is_some_and(|until| until < begin) {
                    return Err((line, "a call that returns before it begins".into()));
                }
            }
            Rule::word => part.as_str().clone_into(&mut call.name),
            Rule::argument => call.arguments.push(argument(part)?),
            Rule::result => {
                call.result = match part.into_inner().next() {
                    Some(number) => Some(integer(&number, -1, i64::from(u32::MAX), "a call's result")?),
                    None => None,
                };
            }
            Rule::error => call.error = Some(part.as_str().trim().to_owned()),
            _ => {}
        }
    }
    let known: Vec<usize> =
        CALLS.iter().filter(|(name, _)| *name == call.name).map(|&(_, count)| count).collect();
    if known.is_empty() {
        let mut names: Vec<&str> = CALLS.iter().map(|&(name, _)| name).collect();
        names.dedup();
        return Err((line, format!("there is no call {:?} here; there are {}", call.name, names.join(", "))));
    }
    if !known.contains(&call.arguments.len()) {
        let why = format!("{} has {} arguments; expected {}", call.name, call.arguments.len(), known[0]);
        return Err((line, why));
    }
    if call.error.is_some() && call.result != Some(-1) {
        return Err((line, "an error's name, where the result is not -1".into()));
    }
    Ok(call)
}

fn argument(pair: Pair<'_, Rule>) -> Result<Argument, Fault> {
    let Some(kind) = pair.into_inner().next() else { return Ok(Argument::Open) };
    Ok(match kind.as_rule() {
        Rule::structure => Argument::Structure(kind.as_str().to_owned()),
        Rule::list => Argument::List(kind.into_inner().map(argument).collect::<Result<_, _>>()?),
        Rule::text => {
            Argument::Text(kind.into_inner().next().map_or("", |inside| inside.as_str()).to_owned())
        }
        Rule::bits => {
            let mut words = kind.into_inner().map(word).collect::<Result<Vec<_>, _>>()?;
            match words.len() {
                1 => words.remove(0),
                _ => Argument::Bits(words),
            }
        }
        _ => Argument::Open,
    })
}

fn word(pair: Pair<'_, Rule>) -> Result<Argument, Fault> {
    Ok(match pair.as_rule() {
        Rule::integer => {
            Argument::Number(integer(&pair, i64::from(i32::MIN), i64::from(u32::MAX), "a number")?)
        }
        _ => Argument::Word(pair.as_str().to_owned()),
    })
}
