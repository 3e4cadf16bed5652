//! Distributions of delay as tables: the format of netem's (`tc-netem(8)`, iproute2's `normal.dist`, `pareto.dist` and
//! `experimental.dist`), which is that of NIST Net's. Whole numbers between white space, 8192 for each standard deviation
//! above the mean; a line that begins with `#` is a comment. Each number is as likely as any other.

use std::fmt;

/// What stands for one standard deviation.
const SCALE: f64 = 8192.0;
/// Most numbers of a table: netem's limit.
const MOST: usize = 16_384;

/// A distribution of mean 0 and standard deviation 1, or what the table has for these.
#[derive(Clone, PartialEq)]
pub struct DelayTable {
    /// Where it came from, for messages.
    pub name: String,
    /// In standard deviations, rising.
    quantiles: Vec<f64>,
}

/// A table is too long to be read by people.
impl fmt::Debug for DelayTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DelayTable({}, {} numbers)", self.name, self.quantiles.len())
    }
}

/// Why a table cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DelayTableError {
    /// Something that is no number of a table.
    #[error("{name}, line {line}: \"{text}\", expected a whole number from -32768 to 32767")]
    NoNumber {
        /// The table.
        name: String,
        /// The line, from 1.
        line: usize,
        /// What is there, cut off after some characters.
        text: String,
    },
    /// Too many numbers.
    #[error("{name}, line {line}: expected at most {MOST} numbers")]
    TooMany {
        /// The table.
        name: String,
        /// The line of the first number too many.
        line: usize,
    },
    /// Nothing in it.
    #[error("{name}: empty, expected the numbers of a distribution, 8192 a standard deviation")]
    Empty {
        /// The table.
        name: String,
    },
}

impl DelayTable {
    /// Reads a table; `name` is for messages.
    ///
    /// # Errors
    /// It is none.
    pub fn parse(name: &str, text: &str) -> Result<Self, DelayTableError> {
        let mut quantiles = Vec::new();
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with('#'));
        for (k, word) in lines.flat_map(|(k, line)| line.split_ascii_whitespace().map(move |word| (k, word)))
        {
            let (name, line) = (name.to_owned(), k + 1);
            let Ok(number) = word.parse::<i16>() else {
                let text = word.chars().take(20).collect();
                return Err(DelayTableError::NoNumber { name, line, text });
            };
            if quantiles.len() == MOST {
                return Err(DelayTableError::TooMany { name, line });
            }
            quantiles.push(f64::from(number) / SCALE);
        }
        if quantiles.is_empty() {
            return Err(DelayTableError::Empty { name: name.to_owned() });
        }
        quantiles.sort_by(f64::total_cmp);
        Ok(Self { name: name.to_owned(), quantiles })
    }

    /// The value that a share of all is not above, the share from 0 to 1, in standard deviations.
    pub fn quantile(&self, share: f64) -> f64 {
        let at = (share * self.quantiles.len() as f64) as usize;
        self.quantiles[at.min(self.quantiles.len() - 1)]
    }

    /// Its smallest and its largest value, in standard deviations.
    pub fn range(&self) -> (f64, f64) {
        (self.quantiles[0], self.quantiles[self.quantiles.len() - 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_as_netem_reads_it() {
        let table = DelayTable::parse("a.dist", "# comment 1 2\n 8192 -16384\n\n0 4096\n").unwrap();
        assert_eq!([0.0, 0.25, 0.5, 0.75, 1.0].map(|x| table.quantile(x)), [-2.0, 0.0, 0.5, 1.0, 1.0]);
        assert_eq!(table.range(), (-2.0, 1.0));
    }

    #[test]
    fn what_is_no_table_says_where() {
        for (text, part) in [
            ("", "empty"),
            ("# nothing\n", "empty"),
            ("1 2\n3 x4\n", "line 2: \"x4\""),
            ("40000", "from -32768 to 32767"),
            ("1.5", "\"1.5\""),
        ] {
            let said = DelayTable::parse("a.dist", text).unwrap_err().to_string();
            assert!(said.starts_with("a.dist") && said.contains(part), "{text}: {said}");
        }
        let long = "1\n".repeat(MOST + 1);
        assert!(DelayTable::parse("a", &long).unwrap_err().to_string().contains("line 16385"));
    }
}
