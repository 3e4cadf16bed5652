//! What one who shapes can be asked: `show`, `ack POLICY`. Not for: the socket (see [`truckee_host::control`]), and what the
//! answers are.

use super::asked::Ask;
use crate::Error;
use truckee_host::control::{self, Kind};

/// Those who shape ACKs.
pub(super) const KIND: Kind = Kind { ending: "ctl", does: "shapes ACKs", list: "truckee ack" };

/// What a line asks.
pub(super) fn read(line: &str) -> Result<Ask<'_>, String> {
    match line.split_once(' ').unwrap_or((line, "")) {
        ("show", "") => Ok(Ask::Show),
        ("ack", text) if !text.is_empty() => Ok(Ask::Ack(text)),
        _ => Err("expected show, or ack and a policy".to_owned()),
    }
}

/// See [`super::ask`].
pub(super) fn ask(id: &str, ask: Ask<'_>) -> Result<String, Error> {
    let line = match ask {
        Ask::Show => "show".to_owned(),
        Ask::Ack(text) => format!("ack {text}"),
    };
    control::ask(id, &KIND, &line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_one_that_is_known() {
        assert!(matches!(read("show"), Ok(Ask::Show)));
        assert!(matches!(read("ack division:4:first=3"), Ok(Ask::Ack("division:4:first=3"))));
        for line in ["", "ack", "ack ", "show all", "shew"] {
            assert!(read(line).unwrap_err().contains("expected show"), "{line}");
        }
    }
}
