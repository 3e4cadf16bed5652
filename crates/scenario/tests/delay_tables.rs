//! Jitter by a table that a file holds.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use truckee_channel::{Effect, JitterDistribution};
use truckee_scenario::{Document, explain};
use truckee_tcp::Span;

#[test]
fn jitter_by_a_table_reads_its_file_and_is_written_out_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("two.dist"), "# two values\n-8192 8192\n").unwrap();
    let text = |file: &str| {
        format!(
            "duration = \"1s\"\n[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"1Mbit/s\"\nchannel = {{ kind = \"jitter\", distribution = \"table\", file = \"{file}\", mean = \"10ms\", sd = \"2ms\" }}\n[[flow]]\nfrom = \"a\"\nto = \"b\"\n"
        )
    };
    let name = dir.path().join("s.toml").display().to_string();
    let scenario = |text: &str| Document::parse(&name, text).unwrap().scenario();
    let one = scenario(&text("two.dist")).unwrap();
    let Effect::Jitter { distribution: JitterDistribution::Table { table, mean, sd }, .. } =
        &one.links[0].forward.channel.effects[0]
    else {
        panic!("no table: {:?}", one.links[0].forward.channel)
    };
    assert_eq!((table.range(), *mean, *sd), ((-1.0, 1.0), Span::ms(10), Span::ms(2)));
    let written = explain(&one);
    assert!(written.contains("file = \"two.dist\""), "{written}");
    assert_eq!(scenario(&written).unwrap().links, one.links);
    std::fs::write(dir.path().join("bad.dist"), "1 x\n").unwrap();
    for (file, part) in [("bad.dist", "bad.dist, line 1: \"x\""), ("none.dist", "cannot read")] {
        let said = scenario(&text(file)).unwrap_err().to_string();
        assert!(said.contains(part) && said.contains("8192 a standard deviation"), "{said}");
    }
}
