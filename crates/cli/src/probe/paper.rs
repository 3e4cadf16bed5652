//! What was counted, as the tables of split's chapter 4 have it: of each server the repetitions of a test, those that are alike
//! in a row (tables 4.3 to 4.11), and the means of each test (table 4.12). Markdown.

use std::fmt::Write;
use truckee_engines::probe::Kept;
use truckee_kernel::probe::{Observation, Spread, Test, summarise};

/// The tables of all servers that were tested; empty if none was.
pub(super) fn tables(all: &[&Kept]) -> String {
    let mut text = String::new();
    for server in all.iter().filter(|server| !server.tests.is_empty()) {
        // To write to a string cannot fail.
        let _ = write!(text, "## {}\n\n", server.url);
        let whole: Vec<&Observation> = server.tests.iter().filter(|o| o.test == Test::A).collect();
        if !whole.is_empty() {
            text += &baseline(&whole);
        }
        text += &means(&server.tests);
    }
    text
}

/// What is counted of a repetition: data packets, retransmits, all, bytes.
type Counts = [u64; 4];

fn counts(o: &Observation) -> Counts {
    [o.data_packets.into(), o.retransmitted.into(), o.packets().into(), o.data_bytes]
}

/// Repetitions of test A, those that follow each other and are alike in one row.
fn baseline(all: &[&Observation]) -> String {
    let mut rows: Vec<(u32, u32, Counts)> = Vec::new();
    for o in all {
        match rows.last_mut() {
            Some((_, last, of)) if *of == counts(o) => *last = o.repetition,
            _ => rows.push((o.repetition, o.repetition, counts(o))),
        }
    }
    let mut text = header("test A", "time");
    for (first, last, of) in &rows {
        let which = if first == last { first.to_string() } else { format!("{first}–{last}") };
        text += &row(&which, of.map(|n| n.to_string()));
    }
    text + "\n"
}

/// The means of each test.
fn means(all: &[Observation]) -> String {
    let mut text = header("means", "test");
    for of in summarise(all) {
        let mean = |spread: Spread| format!("{:.1} ({}–{})", spread.mean, spread.least, spread.most);
        let values = [of.data_packets, of.retransmitted, of.packets, of.data_bytes].map(mean);
        text += &row(&format!("{}, {} times", of.test, of.runs), values);
    }
    text + "\n"
}

fn header(title: &str, first: &str) -> String {
    format!("{title}\n\n| {first} | data packets | retransmits | total | bytes |\n|---|--:|--:|--:|--:|\n")
}

fn row(first: &str, [data, again, total, bytes]: [String; 4]) -> String {
    format!("| {first} | {data} | {again} | {total} | {bytes} |\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use truckee_engines::probe::testing::observation;

    #[test]
    fn repetitions_that_are_alike_stand_in_one_row_and_means_below() {
        let mut tests: Vec<Observation> = (1..=5).map(|k| observation(Test::A, k, 11)).collect();
        tests[4].retransmitted = 5;
        tests.push(observation(Test::C, 1, 23));
        let kept =
            Kept { url: "http://a.example/".into(), report: serde_json::Value::Null, tests, judged: true };
        let text = tables(&[&kept]);
        for line in [
            "## http://a.example/",
            "| 1–4 | 11 | 2 | 13 | 15928 |",
            "| 5 | 11 | 5 | 16 | 15928 |",
            "| A, 5 times | 11.0 (11–11) | 2.6 (2–5) | 13.6 (13–16) | 15928.0 (15928–15928) |",
            "| C, 1 times | 23.0 (23–23) | 2.0 (2–2) | 25.0 (25–25) | 33304.0 (33304–33304) |",
        ] {
            assert!(text.contains(&format!("{line}\n")), "{line} in\n{text}");
        }
        assert_eq!(tables(&[]), "");
    }
}
