//! How many servers sent how many packets: the histograms of split's figures 4.14 to 4.17, data packets and all packets,
//! without division (test A) and with four ACKs a segment (test C). Of a server its mean over the repetitions counts.

use truckee_engines::probe::Kept;
use truckee_kernel::probe::{Observation, Test};
use truckee_look::figure::{Axis, Figure, Panel, Point, Series};

/// More packets than this are shown together.
const MOST: usize = 60;

/// What is counted of a test.
type Count = fn(&Observation) -> u32;

/// The four histograms; none where tests A and C were not both made.
pub(super) fn figure(all: &[&Kept]) -> Option<Figure> {
    let new: Count = |o| o.data_packets;
    let total: Count = |o| o.data_packets + o.retransmitted;
    let parts = [
        ("Data packets, one ACK a segment (A)", Test::A, new),
        ("Data packets, four ACKs a segment (C)", Test::C, new),
        ("All packets, one ACK a segment (A)", Test::A, total),
        ("All packets, four ACKs a segment (C)", Test::C, total),
    ];
    let counts = parts.map(|(_, test, value)| histogram(all, test, value));
    if counts.iter().any(Vec::is_empty) {
        return None;
    }
    let last = counts.iter().map(Vec::len).max().unwrap_or(1);
    let name = |k: usize| match k {
        MOST => format!("{MOST}+"),
        k if k.is_multiple_of(5) => k.to_string(),
        _ => String::new(),
    };
    let panels = parts.iter().zip(&counts).map(|((title, ..), counts)| Panel {
        title: (*title).to_owned(),
        series: vec![Series {
            label: "servers".into(),
            points: counts
                .iter()
                .enumerate()
                .map(|(k, n)| Point { x: k as f64, y: *n as f64, half_width: 0.0 })
                .collect(),
            references: Vec::new(),
        }],
    });
    Some(Figure {
        title: format!("Packets of a server in a test, {} servers", all.iter().filter(|k| !k.tests.is_empty()).count()),
        source: String::new(),
        notes: vec![
            "The first three segments are acknowledged, all other ACKs withheld; a server's mean over its repetitions. As split, figures 4.14 to 4.17.".into(),
        ],
        x: Axis { label: "packets".into(), log: false, categories: (0..last).map(name).collect() },
        y: Axis { label: "servers".into(), ..Axis::default() },
        reference: String::new(),
        share_y: true,
        panels: panels.collect(),
    })
}

/// Servers by their mean number of packets, rounded; empty: none was tested.
fn histogram(all: &[&Kept], test: Test, value: Count) -> Vec<u32> {
    let mut counts = Vec::new();
    for server in all {
        let of: Vec<u32> = server.tests.iter().filter(|o| o.test == test).map(value).collect();
        if !of.is_empty() {
            let mean = f64::from(of.iter().sum::<u32>()) / of.len() as f64;
            let bin = (mean.round() as usize).min(MOST);
            counts.resize(counts.len().max(bin + 1), 0);
            counts[bin] += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use truckee_engines::probe::testing::observation;

    fn kept(tests: Vec<Observation>) -> Kept {
        Kept { url: "http://a.example/".into(), report: serde_json::Value::Null, tests, judged: true }
    }

    #[test]
    fn servers_are_counted_and_those_beyond_the_last_bin_stand_together() {
        let [few, many] = [16, 80].map(|n| kept([Test::A, Test::C].map(|t| observation(t, 1, n)).into()));
        let svg = figure(&[&few, &many]).unwrap().svg().unwrap();
        assert!(svg.contains("2 servers") && svg.contains("60+"), "{svg}");
    }

    #[test]
    fn servers_without_tests_have_no_histogram() {
        assert!(figure(&[&kept(Vec::new())]).is_none());
    }
}
