//! A running link asked from outside: `show`, and `set` with settings. Not for: the socket (see
//! [`truckee_host::control`]).

use super::request::Showing;
use crate::Error;
use truckee_host::control::{self, Kind};

/// Those who emulate a path.
pub(super) const KIND: Kind = Kind { ending: "path", does: "emulates a path", list: "truckee path show" };

/// What is asked.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// What it shows.
    Show,
    /// To be otherwise, and what it shows then.
    Set(Vec<String>),
}

/// What a line asks.
pub(super) fn read(line: &str) -> Result<Ask, String> {
    match line.split_once(' ').unwrap_or((line, "")) {
        ("show", "") => Ok(Ask::Show),
        ("set", list) => match serde_json::from_str::<Vec<String>>(list) {
            Ok(settings) if !settings.is_empty() => Ok(Ask::Set(settings)),
            _ => Err("expected set and a list such as [\"loss=2%\"]".to_owned()),
        },
        _ => Err("expected show, or set and a list of settings".to_owned()),
    }
}

/// Asks the one of this identity.
pub(super) fn ask(id: &str, ask: &Ask) -> Result<Showing, Error> {
    let line = match ask {
        Ask::Show => "show".to_owned(),
        Ask::Set(settings) => format!("set {}", serde_json::to_string(settings).map_err(garbled)?),
    };
    serde_json::from_str(&control::ask(id, &KIND, &line)?).map_err(garbled)
}

fn garbled(error: serde_json::Error) -> Error {
    Error::Broken(format!("what a running path said makes no sense: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_one_that_is_known() {
        assert_eq!(read("show"), Ok(Ask::Show));
        let set = Ask::Set(vec!["loss=2%".into(), "channel={ kind = \"none\" }".into()]);
        assert_eq!(read("set [\"loss=2%\", \"channel={ kind = \\\"none\\\" }\"]"), Ok(set));
        for line in ["", "set", "set []", "set loss=2%", "set [1]", "show all", "stop"] {
            assert!(read(line).unwrap_err().starts_with("expected"), "{line}");
        }
    }
}
