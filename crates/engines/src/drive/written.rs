//! What a drive's keys say: a member with its arguments, what it is called, a time.

use truckee_lab::study::file::plain;
use truckee_scenario::units::{Quantity, parse};
use truckee_tcp::{Arg, Span, Spec};

/// A member as a file writes it: `"name"`, or `{ name = { argument = value } }`. `what` and `examples` are for the message.
///
/// # Errors
/// It is neither, in words.
pub fn spec(value: &toml::Value, what: &str, examples: &str) -> Result<Spec, String> {
    let wrong = || format!("{value} names no {what}; {examples} do");
    match value {
        toml::Value::String(name) => Ok(Spec::named(name)),
        toml::Value::Table(table) => {
            let mut entries = table.iter();
            let (Some((name, toml::Value::Table(args))), None) = (entries.next(), entries.next()) else {
                return Err(wrong());
            };
            args.iter().try_fold(Spec::named(name), |spec, (key, value)| {
                let arg = match value {
                    toml::Value::Integer(n) => Arg::Number(*n as f64),
                    toml::Value::Float(x) => Arg::Number(*x),
                    toml::Value::Boolean(on) => Arg::Flag(*on),
                    toml::Value::String(text) => quantity(text),
                    other => return Err(format!("{key} = {other} is no argument here")),
                };
                Ok(spec.with(key, arg))
            })
        }
        _ => Err(wrong()),
    }
}

fn quantity(text: &str) -> Arg {
    match parse(text) {
        Some(Quantity::Time(time)) => Arg::Time(time),
        Some(Quantity::Rate(rate)) => Arg::Rate(rate),
        Some(Quantity::Bytes(bytes)) => Arg::Bytes(bytes),
        Some(Quantity::Packets(n) | Quantity::Segments(n)) => Arg::Segments(n),
        Some(_) | None => Arg::Name(text.to_owned()),
    }
}

/// What checks and figures call a member: `csfq`, or with its arguments, in alphabetical order, `csfq(k=20s)`.
pub(super) fn label(value: &toml::Value) -> String {
    let named = value.as_table().and_then(|table| table.iter().next());
    match named {
        Some((name, toml::Value::Table(args))) => {
            let args = args.iter().map(|(key, value)| format!("{key}={}", plain(value)));
            format!("{name}({})", args.collect::<Vec<_>>().join(","))
        }
        _ => plain(value),
    }
}

pub(super) fn time(key: &str, text: &str) -> Result<Span, String> {
    match parse(text) {
        Some(Quantity::Time(time)) if time > Span::ZERO => Ok(time),
        _ => Err(format!("{key} is \"{text}\", expected a time above 0, such as \"1ms\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_quantities_numbers_switches_and_names() {
        let value: toml::Value =
            toml::from_str::<toml::Table>("x = { m = { k = \"20s\", n = 2, on = \"acks\", a = true } }")
                .unwrap()["x"]
                .clone();
        let spec = spec(&value, "member", "\"m\"").unwrap();
        let arg = |key: &str| spec.args.iter().find(|(k, _)| k == key).unwrap().1.clone();
        assert_eq!((arg("k"), arg("n")), (Arg::Time(Span::s(20)), Arg::Number(2.0)));
        assert_eq!((arg("on"), arg("a")), (Arg::Name("acks".into()), Arg::Flag(true)));
        assert_eq!(label(&value), "m(a=true,k=20s,n=2,on=acks)");
    }
}
