//! Reads recorded capacities: text, one delivery opportunity a line, each a whole number of milliseconds since the start,
//! not falling. Equal lines are several opportunities in that millisecond.
//! Not for: what a link does with them (see [`Capacity`](crate::Capacity)).

use crate::CapacityTrace;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Largest file that is read, in bytes.
pub(super) const MAX_FILE: u64 = 256 << 20;
/// Most opportunities of a trace: at 1500 bytes each, about 40 s at 10 Gbit/s or an hour at 100 Mbit/s.
pub(super) const MAX_OPPORTUNITIES: usize = 1 << 25;
/// Longest line, in bytes: a time stamp has 10 digits at most, the rest is white space. Bounds the memory taken by input
/// that has no lines.
const MAX_LINE: u64 = 80;

/// Why a recorded capacity cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be read.
    #[error("{name}: cannot be read: {source}")]
    Io {
        /// The trace.
        name: String,
        /// What the system says.
        source: io::Error,
    },
    /// The file is too large to be a trace.
    #[error("{name}: {bytes} bytes, expected a capacity trace of at most {MAX_FILE} bytes")]
    FileTooLarge {
        /// The trace.
        name: String,
        /// Its size.
        bytes: u64,
    },
    /// Too many lines.
    #[error("{name}, line {line}: expected at most {MAX_OPPORTUNITIES} delivery opportunities")]
    TooManyOpportunities {
        /// The trace.
        name: String,
        /// The first line too many.
        line: usize,
    },
    /// Nothing in it.
    #[error("{name}: empty, expected one delivery opportunity a line, in milliseconds")]
    Empty {
        /// The trace.
        name: String,
    },
    /// A line that is no time stamp.
    #[error("{name}, line {line}: {text:?}, expected a whole number of milliseconds from 0 to {}", u32::MAX)]
    BadTimeStamp {
        /// The trace.
        name: String,
        /// The line, from 1.
        line: usize,
        /// What is there, cut off after some characters.
        text: String,
    },
    /// Time goes back.
    #[error("{name}, line {line}: {value} ms after {before} ms, expected time stamps that do not fall")]
    Falling {
        /// The trace.
        name: String,
        /// The line, from 1.
        line: usize,
        /// Its time stamp.
        value: u32,
        /// The time stamp before it.
        before: u32,
    },
    /// The last time stamp, and with it the trace's period, is 0.
    #[error("{name}, line {line}: the last time stamp is 0 ms, expected a trace that lasts for some time")]
    NoDuration {
        /// The trace.
        name: String,
        /// The last line.
        line: usize,
    },
}

impl CapacityTrace {
    /// Reads the trace in a file. A file above 256 MiB is refused unread.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let io = |source| TraceError::Io { name: name.clone(), source };
        let file = File::open(path).map_err(io)?;
        let bytes = file.metadata().map_err(io)?.len();
        if bytes > MAX_FILE {
            return Err(TraceError::FileTooLarge { name, bytes });
        }
        Self::parse(&name, BufReader::new(file))
    }

    /// Reads a trace from text; `name` is for messages. Lines may end in CR LF; blank lines and comments are refused, as
    /// mahimahi refuses them.
    pub fn parse(name: &str, mut text: impl BufRead) -> Result<Self, TraceError> {
        let name = name.to_owned();
        let mut opportunities_ms: Vec<u32> = Vec::new();
        let mut bytes = Vec::with_capacity(MAX_LINE as usize);
        loop {
            let line = opportunities_ms.len() + 1;
            bytes.clear();
            match text.by_ref().take(MAX_LINE).read_until(b'\n', &mut bytes) {
                Ok(0) => break,
                Ok(_) if line > MAX_OPPORTUNITIES => {
                    return Err(TraceError::TooManyOpportunities { name, line });
                }
                Ok(_) => {}
                Err(source) => return Err(TraceError::Io { name, source }),
            }
            let Some(value) = time_stamp(&bytes) else {
                return Err(TraceError::BadTimeStamp { name, line, text: excerpt(&bytes) });
            };
            match opportunities_ms.last() {
                Some(&before) if value < before => {
                    return Err(TraceError::Falling { name, line, value, before });
                }
                _ => opportunities_ms.push(value),
            }
        }
        match opportunities_ms.last() {
            None => Err(TraceError::Empty { name }),
            Some(0) => Err(TraceError::NoDuration { name, line: opportunities_ms.len() }),
            Some(_) => Ok(Self { name, opportunities_ms }),
        }
    }
}

/// The time stamp on a line; `None` if there is anything else on it, or the line is cut off.
fn time_stamp(line: &[u8]) -> Option<u32> {
    if line.len() as u64 == MAX_LINE && !line.ends_with(b"\n") {
        return None;
    }
    let digits = line.trim_ascii();
    // `parse` would take a sign.
    let plain = digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits).ok().filter(|_| plain)?.parse().ok()
}

/// The beginning of an offending line, for a message.
fn excerpt(line: &[u8]) -> String {
    const SHOWN: usize = 40;
    let text = String::from_utf8_lossy(line.trim_ascii_end()).into_owned();
    if text.chars().count() <= SHOWN { text } else { text.chars().take(SHOWN).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &[u8]) -> Result<Vec<u32>, String> {
        match CapacityTrace::parse("x.down", text) {
            Ok(trace) => Ok(trace.opportunities_ms),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn time_stamps_are_read_one_a_line() {
        assert_eq!(parse(b"0\n0\n3\n10\n"), Ok(vec![0, 0, 3, 10]));
        assert_eq!(parse(b"5\r\n 7 \n4294967295"), Ok(vec![5, 7, u32::MAX]));
    }

    #[test]
    fn errors_name_the_line_the_value_and_what_was_expected() {
        let expected = "expected a whole number of milliseconds from 0 to 4294967295";
        for (text, message) in [
            (&b""[..], "x.down: empty, expected one delivery opportunity a line, in milliseconds".to_owned()),
            (b"1\n\n2\n", format!("x.down, line 2: \"\", {expected}")),
            (b"1\n-5\n", format!("x.down, line 2: \"-5\", {expected}")),
            (b"+1\n", format!("x.down, line 1: \"+1\", {expected}")),
            (b"1.5\n", format!("x.down, line 1: \"1.5\", {expected}")),
            (b"# comment\n", format!("x.down, line 1: \"# comment\", {expected}")),
            (b"4294967296\n", format!("x.down, line 1: \"4294967296\", {expected}")),
            (b"1\n\xff\x00\n", format!("x.down, line 2: \"\u{fffd}\\0\", {expected}")),
            (
                b"5\n7\n6\n",
                "x.down, line 3: 6 ms after 7 ms, expected time stamps that do not fall".to_owned(),
            ),
            (
                b"0\n0\n",
                "x.down, line 2: the last time stamp is 0 ms, expected a trace that lasts for some time"
                    .to_owned(),
            ),
        ] {
            assert_eq!(parse(text), Err(message));
        }
    }

    #[test]
    fn input_without_lines_is_refused_at_its_beginning() {
        struct Endless(u64);
        impl Read for Endless {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.0 += buffer.len() as u64;
                assert!(self.0 < 1 << 20, "reads on and on");
                buffer.fill(b'0');
                Ok(buffer.len())
            }
        }
        let error = CapacityTrace::parse("zeros", BufReader::new(Endless(0))).unwrap_err();
        assert!(error.to_string().starts_with("zeros, line 1: \"00000"), "{error}");
        assert!(error.to_string().len() < 200);
    }

    #[test]
    fn too_many_opportunities_are_refused() {
        /// Lines of 1 for ever.
        struct Ones(bool);
        impl Read for Ones {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                for byte in &mut *buffer {
                    self.0 = !self.0;
                    *byte = if self.0 { b'1' } else { b'\n' };
                }
                Ok(buffer.len())
            }
        }
        let error = CapacityTrace::parse("ones", BufReader::new(Ones(false))).unwrap_err();
        assert!(
            matches!(error, TraceError::TooManyOpportunities { line, .. } if line == MAX_OPPORTUNITIES + 1)
        );
    }

    #[test]
    fn a_huge_file_is_refused_unread() {
        let file = tempfile::NamedTempFile::new().unwrap();
        // Sparse: takes no room.
        file.as_file().set_len(10 << 30).unwrap();
        let error = CapacityTrace::read(file.path()).unwrap_err();
        assert!(matches!(error, TraceError::FileTooLarge { bytes, .. } if bytes == 10 << 30), "{error}");
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = CapacityTrace::read("no-such.trace").unwrap_err();
        assert!(error.to_string().starts_with("no-such.trace: cannot be read: "), "{error}");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(text in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&text);
        }

        #[test]
        fn text_like_a_trace_is_read_or_refused(text in "([0-9 \\-+.\r]{0,12}\n){0,30}") {
            if let Ok(stamps) = parse(text.as_bytes()) {
                prop_assert!(stamps.is_sorted() && stamps.last() > Some(&0));
                prop_assert_eq!(stamps.len(), text.lines().count());
            }
        }

        #[test]
        fn what_is_written_is_read(mut stamps in prop::collection::vec(any::<u32>(), 1..100)) {
            stamps.sort_unstable();
            prop_assume!(stamps.last() > Some(&0));
            let text: String = stamps.iter().map(|stamp| format!("{stamp}\n")).collect();
            prop_assert_eq!(parse(text.as_bytes()), Ok(stamps));
        }
    }
}
