//! Pages of a capture of a real transfer, of one that was cut, and of one of very many segments.

use super::*;
use std::collections::BTreeMap;
use truckee_capture::portrait::Portrait;
use truckee_capture::replay::Cast;
use truckee_capture::table::Each;
use truckee_capture::{Limits, Way, source};

const LOSSY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../capture/tests/data/lossy-sender.pcap.gz");

fn read(path: &str) -> (Capture, Vec<Portrait>) {
    let read = |watch: Option<&mut dyn truckee_capture::Watch>| {
        let source = source::open(path.as_ref()).unwrap();
        truckee_capture::read(source, Limits::default(), watch, |_| true).unwrap()
    };
    let capture = read(None);
    let portrait = |c: &Connection| {
        let cast = Cast::named(["tibet", "vegas", "taba-detector"]).unwrap();
        (c.number, Portrait::new(c.number, c.main_way(), cast, capture.connections.len()))
    };
    let mut each = Each(capture.connections.iter().map(portrait).collect::<BTreeMap<_, _>>());
    read(Some(&mut each));
    (capture, each.0.into_values().collect())
}

#[test]
fn a_capture_s_page_leads_to_those_of_its_connections() {
    let dir = tempfile::tempdir().unwrap();
    let (capture, portraits) = read(LOSSY);
    let files = write(dir.path(), "<b>.pcap", &capture, &portraits.iter().collect::<Vec<_>>()).unwrap();
    let names: Vec<_> = files.iter().map(|f| f.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(
        names,
        ["report.html", "connection-1.html", "connection-1.svg", "connection-2.html", "connection-2.svg"]
    );
    let index = std::fs::read_to_string(&files[0]).unwrap();
    assert!(index.contains("&lt;b&gt;.pcap") && !index.contains("<b>.pcap"), "names are text");
    assert!(index.contains("connection-2.html\">2</a>"));
    let svg = std::fs::read_to_string(&files[4]).unwrap();
    for part in ["Sequence number / kB", "fast retransmit", "tibet", "10.77.0.2:5201"] {
        assert!(svg.contains(part), "{part}");
    }
}

#[test]
fn each_retransmission_is_on_the_page_of_its_connection() {
    let (capture, portraits) = read(LOSSY);
    let (c, portrait) = (&capture.connections[1], &portraits[1]);
    let page = connection::page(c, portrait);
    let figures: Vec<_> = page.sections.iter().flat_map(|s| &s.figures).collect();
    let sequence = figures.iter().find(|f| f.title.starts_with("Segments and ACKs")).unwrap();
    let count = |part: &str| {
        let of = sequence.series.iter().filter(|s| s.label.contains(part));
        of.map(|s| s.x.len() as u64).sum::<u64>()
    };
    let again = &c.direction(Way::ToServer).retransmissions;
    assert_eq!((count("fast retransmit"), count("sent again")), (again.fast, again.segments));
    assert!(count("acknowledged") > 100 && count("sent") > 100);
    let titles: Vec<_> = figures.iter().map(|f| f.title.as_str()).collect();
    for title in ["In the air", "Round-trip time", "Throughput", "Estimates", "Verdicts", "Slow start"] {
        assert!(titles.iter().any(|t| t.contains(title)), "{title} not in {titles:?}");
    }
    assert!(page.sections.iter().flat_map(|s| &s.tables).all(|table| !table.rows.is_empty()));
}

#[test]
fn a_connection_without_data_has_a_page_and_no_figure() {
    let dir = tempfile::tempdir().unwrap();
    let (mut capture, portraits) = read(LOSSY);
    let idle = Portrait::new(1, Way::ToServer, Cast::default(), 1);
    capture.ended_early = Some("cut".to_owned());
    let files = write(dir.path(), "a", &capture, &[&idle]).unwrap();
    assert_eq!(files.len(), 2, "{files:?}");
    assert!(std::fs::read_to_string(&files[0]).unwrap().contains("Read only up to here"));
    drop(portraits);
}

#[test]
fn gaps_between_segments_are_drawn_with_the_extremes_of_their_block() {
    let (capture, portraits) = read(LOSSY);
    let page = connection::page(&capture.connections[1], &portraits[1]);
    let gaps = page.sections.iter().flat_map(|s| &s.figures).find(|f| f.title.starts_with("Gaps")).unwrap();
    let of = |label: &str| &gaps.series.iter().find(|s| s.label == label).unwrap().y;
    let (gap, most, least) = (of("gap"), of("MaxFloat"), of("MinFloat"));
    assert!(gap.len() > 100 && gap.len() == most.len());
    assert!(gap.iter().zip(most).all(|(gap, most)| gap <= most));
    assert!(gap.iter().zip(least).all(|(gap, least)| gap >= least));
}
