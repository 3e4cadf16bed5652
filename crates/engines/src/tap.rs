//! A run as a capture: the packets at its senders, or at its receivers, as pcapng, and time-sequence graphs for xplot.
//!
//! Simulated segments get headers; real packets keep theirs. Not for: reading captures (`truckee-capture`).

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use truckee_capture::write::{Maker, Writer};
use truckee_capture::xplot::Xplot;
use truckee_capture::{Limits, Way, truth};
use truckee_lab::Error;
use truckee_lab::disk::{self, Begun};
use truckee_scenario::outcome::{FlowSeries, PacketContent, PacketPoint, Vantage};
use truckee_scenario::{Outcome, Scenario};
use truckee_tcp::Time;

/// Writes the packets of all flows of a run that kept them, at `vantage`.
pub fn write(path: &Path, scenario: &Scenario, outcome: &Outcome, vantage: Vantage) -> Result<(), Error> {
    let mut file = Begun::new(path)?;
    let series: Vec<&FlowSeries> = outcome.series.iter().collect();
    pcapng(BufWriter::new(&mut file), scenario, &series, vantage).map_err(|e| captured(path, e))?;
    file.finish()
}

/// The time-sequence graphs of the flows' first connections, one file a flow; the files.
pub fn xplot(
    dir: &Path,
    scenario: &Scenario,
    outcome: &Outcome,
    vantage: Vantage,
) -> Result<Vec<PathBuf>, Error> {
    disk::folder(dir)?;
    let mut files = Vec::new();
    for series in outcome.series.iter().filter(|s| !s.packets.is_empty()) {
        let name: String =
            series.flow.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' }).collect();
        let path = dir.join(format!("{name}.xpl"));
        let mut capture = Vec::new();
        pcapng(&mut capture, scenario, &[series], vantage).map_err(|e| captured(&path, e))?;
        let mut file = Begun::new(&path)?;
        let mut graph = Xplot::new(1, way(series), BufWriter::new(&mut file));
        truckee_capture::read(&capture[..], Limits::default(), Some(&mut graph), |_| true)
            .and_then(|_| graph.finish())
            .map_err(|e| captured(&path, e))?;
        file.finish()?;
        files.push(path);
    }
    Ok(files)
}

/// Which way the data goes: the sender of the first packet is taken for the client.
fn way(series: &FlowSeries) -> Way {
    match series.packets.first() {
        Some(first) if !first.from_sender => Way::ToClient,
        _ => Way::ToServer,
    }
}

fn captured(path: &Path, error: truckee_capture::Error) -> Error {
    Error::write(path, std::io::Error::other(error))
}

/// The packets of these flows in order of time.
fn pcapng(
    out: impl Write,
    scenario: &Scenario,
    series: &[&FlowSeries],
    vantage: Vantage,
) -> Result<(), truckee_capture::Error> {
    let mut all: Vec<(Time, usize, usize)> = series
        .iter()
        .enumerate()
        .flat_map(|(flow, s)| s.packets.iter().enumerate().map(move |(k, p)| (p.at, flow, k)))
        .collect();
    all.sort_unstable();
    let mut makers: Vec<Makers> = series.iter().map(|s| Makers::new(scenario, s)).collect();
    let mut writer = Writer::new(out, vantage.as_str())?;
    for (at, flow, k) in all {
        let point = &series[flow].packets[k];
        let comment = point.dropped.as_ref().map(|(by, link)| truth::comment(by, link));
        match &point.content {
            PacketContent::Headers { bytes, wire_len } => {
                writer.packet(at, bytes, *wire_len, comment.as_deref())?;
            }
            PacketContent::Segment(segment) => {
                let (bytes, wire_len) = makers[flow].of(point).packet(segment, point.from_sender);
                writer.packet(at, &bytes, wire_len, comment.as_deref())?;
            }
        }
    }
    writer.finish().map(drop)
}

/// What makes the packets of a flow's connections.
struct Makers {
    flow: u16,
    mss: u16,
    timestamps: bool,
    sack: bool,
    handshake: bool,
    connections: BTreeMap<u32, Maker>,
}

impl Makers {
    fn new(scenario: &Scenario, series: &FlowSeries) -> Self {
        let index = scenario.flows.iter().position(|f| f.name == series.flow);
        let flow = index.map(|index| &scenario.flows[index]);
        // What the segments themselves say: a part of a sender may ask for what the scenario does not.
        let segments = || {
            series.packets.iter().filter_map(|p| match &p.content {
                PacketContent::Segment(segment) => Some(segment),
                PacketContent::Headers { .. } => None,
            })
        };
        let sack = flow.is_some_and(|f| f.sender.wants_sack());
        Self {
            flow: index.map_or(0, |index| index as u16),
            mss: flow.map_or(u16::MAX, |f| u16::try_from(f.stack.mss).unwrap_or(u16::MAX)),
            timestamps: segments().any(|s| s.ts_val != Time::ZERO),
            sack: sack || segments().any(|s| !s.sack.is_empty()),
            handshake: flow.is_some_and(|f| f.stack.handshake),
            connections: BTreeMap::new(),
        }
    }

    fn of(&mut self, point: &PacketPoint) -> &mut Maker {
        let number = self.connections.len() as u32;
        let make = || Maker::new(self.flow, number, self.mss, self.timestamps, self.sack, self.handshake);
        self.connections.entry(point.connection).or_insert_with(make)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Simulator;
    use truckee_capture::Capture;
    use truckee_lab::Engine;
    use truckee_lab::testing::NOISY;
    use truckee_scenario::Document;

    fn run(sender: &str, vantage: Vantage) -> (Scenario, Outcome) {
        let text = NOISY.replace("newreno", sender);
        let scenario = Document::parse("noisy.toml", &text).unwrap().scenario().unwrap();
        let outcome = Simulator.run_tapped(&scenario, vantage).unwrap();
        (scenario, outcome)
    }

    fn captured(scenario: &Scenario, outcome: &Outcome, vantage: Vantage) -> Capture {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.pcapng");
        write(&path, scenario, outcome, vantage).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        truckee_capture::read(&bytes[..], Limits::default(), None, |_| true).unwrap()
    }

    #[test]
    fn a_simulated_run_reads_as_it_ran() {
        for sender in ["newreno", "sack", "reno"] {
            let (scenario, outcome) = run(sender, Vantage::Sender);
            let flow = &outcome.flows[0];
            let capture = captured(&scenario, &outcome, Vantage::Sender);
            let direction = &capture.connections[0].to_server;
            assert_eq!(direction.segments, flow.segments_sent, "{sender}");
            let again = &direction.retransmissions;
            assert_eq!(again.segments, flow.retransmitted_segments, "{sender}");
            assert_eq!(again.timeout_events, flow.timeouts, "{sender}: {again:?}");
            assert_eq!(again.unexplained, 0, "{sender}: {again:?}");
            let rtt = direction.rtt.unwrap();
            let mean = flow.rtt_s.mean.unwrap();
            assert!((rtt.mean_s / mean - 1.0).abs() < 0.03, "{sender}: {rtt:?}, {mean}");
            assert!(direction.place.unwrap() < 0.01, "{:?}", direction.place);
            assert_eq!(capture.skipped_blocks, 0);
        }
    }

    #[test]
    fn at_the_receiver_a_run_reads_as_what_came() {
        let (scenario, outcome) = run("newreno", Vantage::Receiver);
        let flow = &outcome.flows[0];
        let capture = captured(&scenario, &outcome, Vantage::Receiver);
        let direction = &capture.connections[0].to_server;
        let lost = flow.drops.queue + flow.drops.channel;
        // What is under way when the run ends has left and not come.
        let under_way = flow.segments_sent - lost - direction.segments;
        assert!(lost > 10 && under_way < 30, "{lost} lost, {under_way} under way");
        assert!(direction.place.unwrap() > 0.99, "{:?}", direction.place);
        assert_eq!(direction.retransmissions.overtaken, 0);
    }

    #[test]
    fn the_same_run_is_the_same_with_its_packets_kept() {
        let (scenario, outcome) = run("newreno", Vantage::Sender);
        let plain = Simulator.run(&scenario, false).unwrap();
        assert_eq!(outcome.digest, plain.digest);
        assert!(outcome.series[0].packets.iter().any(|p| p.dropped.is_some()));
    }

    #[test]
    fn a_graph_is_drawn_for_each_flow() {
        let (scenario, outcome) = run("sack", Vantage::Sender);
        let dir = tempfile::tempdir().unwrap();
        let files = xplot(&dir.path().join("graphs"), &scenario, &outcome, Vantage::Sender).unwrap();
        assert_eq!(files.len(), 1);
        assert!(files[0].ends_with("noisy__flow_.xpl"));
        let text = std::fs::read_to_string(&files[0]).unwrap();
        for part in ["timeval unsigned", "\nR\n", "\nx ", "purple", "\ngo\n"] {
            assert!(text.contains(part), "{part}");
        }
    }
}
