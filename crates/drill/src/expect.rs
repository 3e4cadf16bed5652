//! A segment that was expected beside one that was seen.

use crate::script::{Ecn, Packet, TcpOption, bits};
use std::collections::BTreeMap;

/// Timestamps of the stack, by what the script calls them: a script cannot know a stack's clock.
#[derive(Debug, Clone, Default)]
pub struct Stamps {
    real: BTreeMap<u32, u32>,
}

impl Stamps {
    /// What the stack sent where the script says `label`; as it is where it never did, such as 0.
    pub fn real(&self, label: u32) -> u32 {
        self.real.get(&label).copied().unwrap_or(label)
    }

    /// What differs between what was expected and what was seen, in words; learns the stack's timestamps.
    pub fn differences(&mut self, expected: &Packet, seen: &Packet) -> Vec<String> {
        let mut found = Vec::new();
        let mut differ = |what: &str, expected: String, seen: String| {
            if expected != seen {
                found.push(format!("{what}: expected {expected}, seen {seen}"));
            }
        };
        differ("flags", letters(expected.flags), letters(seen.flags));
        differ("seq", expected.seq.to_string(), seen.seq.to_string());
        differ("length", expected.len.to_string(), seen.len.to_string());
        if let (Some(ack), Some(now)) = (expected.ack, seen.ack) {
            differ("ack", ack.to_string(), now.to_string());
        }
        if let Some(window) = expected.window {
            differ("win", window.to_string(), seen.window.unwrap_or(0).to_string());
        }
        if let Some(ecn) = expected.ecn
            && !fits(ecn, seen.ecn)
        {
            differ(
                "ECN bits",
                format!("{ecn:?}"),
                seen.ecn.map_or("none".to_owned(), |ecn| format!("{ecn:?}")),
            );
        }
        if let Some(options) = &expected.options {
            let others = seen.options().iter().map(Some).chain(std::iter::repeat(None));
            let options: Vec<TcpOption> =
                options.iter().zip(others).map(|(option, seen)| self.settle(option.clone(), seen)).collect();
            differ("options", shown(&options), shown(seen.options()));
        }
        found
    }

    /// The option with the stack's own timestamp in place of the script's, if that is new or fits.
    fn settle(&mut self, option: TcpOption, seen: Option<&TcpOption>) -> TcpOption {
        match (option, seen) {
            (TcpOption::Timestamp { val, ecr }, Some(&TcpOption::Timestamp { val: real, .. })) => {
                // One label may stand for a later time, too: a script rarely counts milliseconds.
                let known = self.real.entry(val).or_insert(real);
                *known = real;
                TcpOption::Timestamp { val: real, ecr }
            }
            (option, _) => option,
        }
    }
}

fn fits(expected: Ecn, seen: Option<Ecn>) -> bool {
    match expected {
        Ecn::Ect => matches!(seen, Some(Ecn::Ect0 | Ecn::Ect1)),
        expected => seen.unwrap_or(Ecn::Not) == expected,
    }
}

fn letters(flags: u16) -> String {
    let set: String =
        bits::LETTERS.into_iter().filter(|&(_, bit)| flags & bit != 0).map(|(letter, _)| letter).collect();
    if set.is_empty() { "-".to_owned() } else { set }
}

fn shown(options: &[TcpOption]) -> String {
    let words: Vec<String> = options.iter().map(ToString::to_string).collect();
    format!("<{}>", words.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet() -> Packet {
        let options = Some(vec![TcpOption::Nop, TcpOption::Nop, TcpOption::Timestamp { val: 7, ecr: 100 }]);
        Packet { ecn: None, flags: bits::ACK, seq: 1, len: 1000, ack: Some(1), window: None, options }
    }

    #[test]
    fn a_stack_has_timestamps_of_its_own_and_what_it_echoes_is_the_scripts() {
        let mut stamps = Stamps::default();
        let mut seen = packet();
        seen.options =
            Some(vec![TcpOption::Nop, TcpOption::Nop, TcpOption::Timestamp { val: 123_456, ecr: 100 }]);
        assert!(stamps.differences(&packet(), &seen).is_empty());
        assert_eq!(stamps.real(7), 123_456);
        seen.options =
            Some(vec![TcpOption::Nop, TcpOption::Nop, TcpOption::Timestamp { val: 123_460, ecr: 99 }]);
        assert_eq!(stamps.differences(&packet(), &seen).len(), 1);
    }

    #[test]
    fn each_difference_is_named() {
        let mut seen = packet();
        (seen.seq, seen.len, seen.ack, seen.flags, seen.window) =
            (2, 999, Some(2), bits::ACK | bits::PSH, Some(5));
        seen.options = Some(Vec::new());
        let mut expected = packet();
        (expected.window, expected.ecn) = (Some(4), Some(Ecn::Ect0));
        let found = Stamps::default().differences(&expected, &seen);
        let named: Vec<&str> = found.iter().filter_map(|line| line.split(':').next()).collect();
        assert_eq!(named, ["flags", "seq", "length", "ack", "win", "ECN bits", "options"]);
    }

    #[test]
    fn what_is_not_looked_at_may_be_anything() {
        let mut expected = packet();
        expected.options = None;
        let mut seen = packet();
        (seen.window, seen.ecn, seen.options) = (Some(9), Some(Ecn::Ce), Some(vec![TcpOption::Other(34)]));
        assert!(Stamps::default().differences(&expected, &seen).is_empty());
    }
}
