//! How to probe.

use super::client::Program;
use super::fault::Fault;
use super::observation::{MOST_OF_A_SEGMENT, MOST_OF_A_TEST, Test};
use super::target::{self, Family};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Whom to trust over TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// The system's certificates.
    System,
    /// Those in a file (PEM).
    File(PathBuf),
    /// Anyone: what is measured does not hang on who answers.
    Anyone,
}

/// How to probe.
#[derive(Debug, Clone)]
pub struct Options {
    /// Which of IP's versions.
    pub family: Family,
    /// Whether to go along with redirects, to the same host.
    pub follow: bool,
    /// Whom to trust.
    pub trust: Trust,
    /// Largest segment to announce, bytes; `None`: what the path takes.
    pub mss: Option<u32>,
    /// Which tests.
    pub tests: Vec<Test>,
    /// How often each.
    pub repeat: u32,
    /// What asks; none: the prober itself does, in HTTP.
    pub program: Option<Program>,
    /// Whether to ask for the way, too.
    pub route: bool,
    /// Whether to ask which TCP it is, too.
    pub identify: bool,
    /// Between two connections to a server.
    pub pause: Duration,
    /// How long a server is watched after the last ACK.
    pub watch: Duration,
    /// How long one is waited for in a connection: for its handshakes, and then for its answer. All connections of the
    /// tests together, three times as long, beside two seconds each.
    pub patience: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            family: Family::Any,
            follow: false,
            trust: Trust::System,
            mss: None,
            tests: Test::ALL.to_vec(),
            repeat: 3,
            program: None,
            route: false,
            identify: false,
            pause: PAUSE,
            watch: Duration::from_secs(3),
            patience: Duration::from_secs(10),
        }
    }
}

/// How long the connections of a repetition take by which it is asked which TCP it is, about: some fifty rounds of 150 ms, and
/// what timers take.
const IDENTIFYING: Duration = Duration::from_secs(12);

/// How long the way takes to be told, about: a dozen routers that answer.
const ROUTING: Duration = Duration::from_secs(3);

/// Between two connections to a server, unless its owner wants it otherwise.
pub const PAUSE: Duration = Duration::from_secs(3);

impl Options {
    /// How long the tests of a server take: without the time it takes to answer.
    pub fn lasts(&self) -> Duration {
        let tests = (self.pause + self.watch) * (self.repeat * self.tests.len() as u32);
        let rest =
            self.pause * self.identifying() + IDENTIFYING * if self.identify { self.repeat } else { 0 };
        tests + rest + if self.route { ROUTING } else { Duration::ZERO }
    }

    /// Connections by which it is asked which TCP a server has.
    fn identifying(&self) -> u32 {
        if self.identify { 1 + 3 * self.repeat } else { 0 }
    }

    /// Connections to a server, one after the other; redirects come on top.
    pub fn connections(&self) -> u32 {
        1 + self.repeat * self.tests.len() as u32 + self.identifying() + u32::from(self.route)
    }

    /// What is too much for who has this address: a stranger gets [`PAUSE`] at least between two connections,
    /// [`MOST_OF_A_SEGMENT`] ACKs for a segment at most, and [`MOST_OF_A_TEST`] in a test.
    ///
    /// # Errors
    /// What is asked for is more.
    pub fn spare(&self, address: IpAddr) -> Result<(), Fault> {
        if target::is_near(address) {
            return Ok(());
        }
        if self.pause < PAUSE {
            return Err(Fault::Stranger(address));
        }
        let too_many = |t: &&Test| t.pieces() > MOST_OF_A_SEGMENT || t.most_acks() > MOST_OF_A_TEST;
        self.tests.iter().find(too_many).map_or(Ok(()), |test| Err(Fault::Crowded { address, test: *test }))
    }

    /// The tests in a word: letters, and behind commas those of one's own.
    pub fn words(&self) -> String {
        let word = |test: &Test| match test {
            Test::Cut(cut) => format!(",{cut}"),
            letter => letter.to_string(),
        };
        let all: String = self.tests.iter().map(word).collect();
        all.trim_start_matches(',').to_owned()
    }

    /// The most ACKs that a server gets in a test.
    pub fn most_acks(&self) -> u32 {
        self.tests.iter().map(|t| t.most_acks()).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(tests: &[&str], pause: Duration) -> Options {
        let tests = tests.iter().map(|word| word.parse().unwrap()).collect();
        Options { tests, pause, ..Options::default() }
    }

    #[test]
    fn a_stranger_gets_few_acks_and_who_is_near_as_many_as_are_asked_for() {
        let (stranger, near) = ("192.0.2.1".parse().unwrap(), "10.0.0.1".parse().unwrap());
        for (tests, spared) in [
            (vec!["A", "G", "32"], true),
            (vec!["A", "33"], false),
            (vec!["200:stop=10"], false),
            (vec!["12:first=9"], false),
            (vec!["12:first=9:stop=96"], true),
        ] {
            let options = of(&tests, PAUSE);
            assert_eq!(options.spare(stranger).is_ok(), spared, "{tests:?}");
            assert_eq!(options.spare(near), Ok(()), "{tests:?}");
        }
        let hurried = of(&["A"], Duration::ZERO);
        assert_eq!(hurried.spare(stranger), Err(Fault::Stranger(stranger)));
        assert_eq!(hurried.spare(near), Ok(()));
    }

    #[test]
    fn tests_in_a_word_are_letters_and_then_those_of_ones_own() {
        assert_eq!(of(&["A", "C", "200", "8:stop=3"], PAUSE).words(), "AC,200,8:stop=3");
        assert_eq!(of(&["200"], PAUSE).words(), "200");
    }
}
