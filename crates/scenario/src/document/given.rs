//! Files that a scenario names, handed over with it where there is no disk to read them from.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use truckee_channel::{CapacityTrace, DelayTable, TraceError};

/// Names and texts.
pub(super) type Files = Arc<HashMap<String, String>>;

/// What a file turns out to be.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    /// A recorded capacity, for `channel = { kind = "trace", … }`.
    Trace {
        /// Until it repeats, s.
        period_s: f64,
        /// Packets that it could deliver until then.
        opportunities: usize,
    },
    /// A table of delays, for jitter of `distribution = "table"`.
    Table {
        /// Why it is no trace: one whose times fall is numbers, too.
        no_trace: String,
    },
}

impl Given {
    /// What a file is by its text.
    ///
    /// # Errors
    /// It is nothing that a scenario can name: why it is no trace, in words.
    pub fn of(name: &str, text: &str) -> Result<Self, String> {
        match CapacityTrace::parse(name, text.as_bytes()) {
            Ok(trace) => Ok(Self::Trace {
                period_s: trace.duration().seconds(),
                opportunities: trace.opportunities_ms.len(),
            }),
            Err(error) if DelayTable::parse(name, text).is_ok() => {
                Ok(Self::Table { no_trace: error.to_string() })
            }
            Err(error) => Err(error.to_string()),
        }
    }
}

/// The text of a file among those that were handed over.
pub(super) fn text<'a>(files: &'a Files, file: &str) -> io::Result<&'a str> {
    let missing =
        || io::Error::new(io::ErrorKind::NotFound, "no file of this name was given with the scenario");
    files.get(file).map(String::as_str).ok_or_else(missing)
}

/// A trace that was handed over.
pub(super) fn trace(file: &str, text: io::Result<&str>) -> Result<CapacityTrace, TraceError> {
    let text = text.map_err(|source| TraceError::Io { name: file.to_owned(), source })?;
    CapacityTrace::parse(file, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Document;

    const TEXT: &str = r#"
        duration = "1s"
        [[link]]
        between = ["a", "b"]
        delay = "1ms"
        rate_back = "1Mbit/s"
        channel = { kind = "trace", file = "cell.trace" }
        [[flow]]
        from = "a"
        to = "b"
        sender = "newreno"
    "#;

    fn with(files: &[(&str, &str)]) -> Result<crate::Scenario, crate::Errors> {
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        Document::parse("t.toml", TEXT).unwrap().with_files(files).scenario()
    }

    #[test]
    fn a_file_that_was_given_is_read_and_no_other() {
        with(&[("cell.trace", "1\n5\n9\n")]).unwrap();
        let message = with(&[("other.trace", "1\n")]).unwrap_err().to_string();
        assert!(message.contains("cell.trace: cannot be read: no file of this name was given"), "{message}");
        let message = with(&[("cell.trace", "1\nx\n")]).unwrap_err().to_string();
        assert!(message.contains("cell.trace, line 2: \"x\""), "{message}");
    }

    #[test]
    fn a_file_is_told_by_its_text() {
        let period = Given::Trace { period_s: 0.009, opportunities: 3 };
        assert_eq!(Given::of("t", "1\n5\n9\n"), Ok(period));
        let falls = Given::Table {
            no_trace: "t, line 2: 2 ms after 5 ms, expected time stamps that do not fall".into(),
        };
        assert_eq!(Given::of("t", "5\n2\n"), Ok(falls));
        let why = Given::of("t", "\u{0}PNG").unwrap_err();
        assert!(why.starts_with("t, line 1:"), "{why}");
        assert!(Given::of("t", "").unwrap_err().contains("empty"));
    }
}
