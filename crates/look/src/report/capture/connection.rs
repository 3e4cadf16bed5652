//! The page of one connection of a capture.

use super::super::flow;
use super::super::model::{Axis, Cell, Column, Figure, Kind, Marker, Page, Section, Series, Table};
use super::super::points::Floats;
use crate::capture::{lines, offered};
use truckee_capture::Way;
use truckee_capture::flow::retransmissions::Kind as Why;
use truckee_capture::portrait::Portrait;
use truckee_capture::replay::{Loss, Report};
use truckee_capture::report::{Connection, Direction};
use truckee_capture::trace::{Events, MOST_EVENTS, Trace};
use truckee_lab::human;

const KILO: f64 = 1e-3;
const MEGA: f64 = 1e-6;
const MILLI: f64 = 1e3;
/// The colour of text, in the palette.
const INK: usize = 7;

/// What made a sender send again: its name on the page, and how it is marked.
const WHY: [(Why, &str, usize, Marker); 4] = [
    (Why::Fast, "fast retransmit", 4, Marker::Diamond),
    (Why::Timeout, "after a timeout", 1, Marker::Square),
    (Why::Probe, "probe of the tail", 6, Marker::Triangle),
    (Why::Unexplained, "unexplained", INK, Marker::Cross),
];

pub(super) fn page(c: &Connection, portrait: &Portrait) -> Page {
    let said = portrait.replay.report();
    let mut sections = vec![whole(c)];
    let main = c.main_way();
    for way in [main, main.back()] {
        let trace = portrait.trace(way);
        if !trace.is_empty() {
            sections.push(direction(way, c.direction(way), trace));
        }
    }
    sections.extend(replayed(&said, c));
    for figure in sections.iter_mut().flat_map(|s| &mut s.figures) {
        figure.span = (c.lasted_s > 0.0).then_some((0.0, c.lasted_s));
    }
    Page {
        title: format!("Connection {}: {} to {}", c.number, c.client, c.server),
        says: format!(
            "It lasted {}, and was {} when the capture ended.",
            human::quantity(c.lasted_s, "s"),
            c.state
        ),
        facts: facts(c),
        sections,
    }
}

fn facts(c: &Connection) -> Vec<(String, String)> {
    let d = c.direction(c.main_way());
    let mut facts = vec![
        ("To the server".to_owned(), human::quantity(c.to_server.unique_bytes as f64, "B")),
        ("To the client".to_owned(), human::quantity(c.to_client.unique_bytes as f64, "B")),
        ("Throughput".to_owned(), human::optional(d.throughput_bps, "bit/s")),
        ("Mean RTT".to_owned(), human::optional(d.whole_rtt_s().map(|(_, mean)| mean), "s")),
        ("Sent again".to_owned(), d.resent_share().map_or(human::NONE.to_owned(), human::percent)),
    ];
    for (who, offer) in [("Client offers", c.handshake.client), ("Server offers", c.handshake.server)] {
        let said = offer.map_or("its SYN was not captured".to_owned(), |offer| offered(&offer));
        facts.push((who.to_owned(), said));
    }
    facts
}

/// Both directions side by side, as the command shows them.
fn whole(c: &Connection) -> Section {
    let (up, down) = (lines(&c.to_server), lines(&c.to_client));
    let rows = up.into_iter().zip(down).filter_map(|((what, up), (_, down))| {
        let says = |x: &String| !matches!(x.as_str(), human::NONE | "0" | "0 B");
        (says(&up) || says(&down)).then(|| vec![Cell::words(what.trim()), Cell::words(up), Cell::words(down)])
    });
    let table = Table {
        caption: "What can be told of each direction. A dash: there is no such value.".to_owned(),
        columns: vec![Column::words("What"), Column::number("To server"), Column::number("To client")],
        rows: rows.collect(),
    };
    Section { title: "Both directions".to_owned(), tables: vec![table], ..Section::default() }
}

fn direction(way: Way, d: &Direction, trace: &Trace) -> Section {
    let to = if way == Way::ToServer { "to the server" } else { "to the client" };
    let mut says = format!("Data {to}, as it passed where the capture was made.");
    if trace.is_thinned() {
        says.push_str(&format!(
            " Curves are thinned evenly, and of each kind of event the first {} are drawn: the table has all.",
            human::count(MOST_EVENTS as u64)
        ));
    }
    let gaps = flow::floats(format!("Gaps between segments {to}"), &floats(trace));
    let figures = [sequence(to, trace), flight(to, trace), rtt(to, trace), rate(to, d), gaps];
    Section {
        title: format!("Data {to}"),
        says,
        figures: figures.into_iter().filter(|f| !f.series.is_empty()).collect(),
        ..Section::default()
    }
}

fn scaled(points: Vec<(f64, f64)>, factor: f64) -> impl Iterator<Item = (f64, f64)> {
    points.into_iter().map(move |(t, y)| (t, y * factor))
}

/// The time-sequence graph, with what each retransmission was.
fn sequence(to: &str, trace: &Trace) -> Figure {
    let mut series = vec![
        Series::new("sent", Kind::Points, scaled(trace.sent.points(), KILO)).colour(0).marker(Marker::Dot),
        Series::new("acknowledged", Kind::Step, scaled(trace.acked.points(), KILO)).colour(2),
        Series::new("window's end", Kind::Step, scaled(trace.edge.points(), KILO)).colour(INK).dash(1).off(),
        Series::new("duplicate ACK", Kind::Points, scaled(trace.duplicates.points(), KILO))
            .colour(2)
            .marker(Marker::Cross)
            .off(),
        Series::new("highest by SACK", Kind::Points, scaled(trace.sacked.points(), KILO))
            .colour(3)
            .marker(Marker::Dot)
            .off(),
    ];
    for (why, name, colour, marker) in WHY {
        for needless in [false, true] {
            let of = trace.again.first.iter().filter(|a| a.kind == why && a.needless == needless);
            let label =
                format!("sent again: {name}{}", if needless { ", though all was acknowledged" } else { "" });
            let one = Series::new(&label, Kind::Points, of.map(|a| (a.t, a.seq as f64 * KILO)))
                .colour(colour)
                .marker(marker)
                .whole();
            series.push(if needless { one.hollow() } else { one });
        }
    }
    let overtaken = trace.overtaken.first.iter().map(|&(t, seq)| (t, seq as f64 * KILO));
    series.push(Series::new("overtaken", Kind::Points, overtaken).colour(5).marker(Marker::Inverted).whole());
    for (cause, name, colour) in [("congestion", "a queue", 1), ("wireless", "noise", 3)] {
        let of = trace
            .dropped
            .first
            .iter()
            .filter(|d| d.cause.as_str() == cause)
            .map(|d| (d.t, d.seq as f64 * KILO));
        let label = format!("dropped by {name}, as the capture says");
        series.push(Series::new(&label, Kind::Points, of).colour(colour).marker(Marker::Cross).whole());
    }
    let again = counted(&trace.again, "segment sent again");
    flow::figure(
        format!("Segments and ACKs {to}"),
        &format!(
            "Each segment at the time and with the number of its first byte, as tcptrace draws it; {again}."
        ),
        Axis::new("Sequence number / kB"),
        series,
    )
}

fn counted<T>(events: &Events<T>, thing: &str) -> String {
    match events.count.saturating_sub(events.first.len() as u64) {
        0 => human::many(events.count as usize, thing),
        rest => {
            format!("{}, {} of them not drawn", human::many(events.count as usize, thing), human::count(rest))
        }
    }
}

fn flight(to: &str, trace: &Trace) -> Figure {
    flow::figure(
        format!("In the air, and windows, {to}"),
        "Bytes sent and not acknowledged, beyond those that SACK reports; and the window that the receiver offers.",
        Axis::from_zero("Bytes / kB"),
        vec![
            Series::new("in the air", Kind::Step, scaled(trace.flight.points(), KILO)).colour(0),
            Series::new("receiver's window", Kind::Step, scaled(trace.window.points(), KILO))
                .colour(INK)
                .dash(1)
                .off(),
        ],
    )
}

fn rtt(to: &str, trace: &Trace) -> Figure {
    flow::figure(
        format!("Round-trip time {to}"),
        "From each segment that passed once to the ACK that answers it, and the sender's side of the round trip.",
        Axis::from_zero("Time / ms"),
        vec![
            Series::new("RTT", Kind::Points, scaled(trace.rtt.points(), MILLI)).colour(0).marker(Marker::Dot),
        ],
    )
}

fn floats(trace: &Trace) -> Floats {
    let gaps = &trace.gaps;
    let [gap, min, max, rtt] = [&gaps.gap, &gaps.min, &gaps.max, &gaps.rtt].map(|line| line.points());
    Floats { gap, min, max, rtt }
}

fn rate(to: &str, d: &Direction) -> Figure {
    let points = d.throughput.iter().flat_map(|steps| steps.points());
    flow::figure(
        format!("Throughput {to}"),
        "Payload, each byte once.",
        Axis::from_zero("Rate / Mbit/s"),
        vec![Series::new("throughput", Kind::Step, points.map(|(t, bps)| (t, bps * MEGA))).colour(0)],
    )
}

/// What estimators, predictors and detectors would have said.
fn replayed(said: &Report, c: &Connection) -> Option<Section> {
    let mut tables = vec![estimators(said), predictors(said), detectors(said)];
    tables.retain(|table| !table.rows.is_empty());
    let mut figures = vec![estimates(said, c), verdicts(said), phases(said)];
    figures.retain(|figure| !figure.series.is_empty());
    (!tables.is_empty()).then(|| Section {
        title: "What would have said what".to_owned(),
        says: format!(
            "Algorithms of this laboratory, told what the capture shows of the data {}. Their window is what is in the \
             air.{}",
            said.way.replace('-', " the "),
            if said.application_limits { " The application limits: estimates tell of how it writes." } else { "" }
        ),
        tables,
        figures,
        ..Section::default()
    })
}

fn estimators(said: &Report) -> Table {
    let columns = ["Median", "Last", "Median / throughput"].map(Column::number);
    let row = |e: &truckee_capture::replay::Estimates| {
        let beside = e.median_bps.zip(said.throughput_bps).filter(|(_, rate)| *rate > 0.0);
        vec![
            Cell::words(e.name.clone()),
            Cell::quantity(e.median_bps, "bit/s"),
            Cell::quantity(e.last_bps, "bit/s"),
            Cell::quantity(beside.map(|(median, rate)| median / rate), ""),
        ]
    };
    Table {
        caption: "Estimates of bandwidth; medians are over time.".to_owned(),
        columns: [Column::words("Estimator")].into_iter().chain(columns).collect(),
        rows: said.estimators.iter().map(row).collect(),
    }
}

fn predictors(said: &Report) -> Table {
    let columns =
        ["Said congestion", "Said wireless", "Right: congestion", "wireless", "all"].map(Column::number);
    let row = |p: &truckee_capture::replay::Verdicts| {
        vec![
            Cell::words(p.name.clone()),
            Cell::count(Some(p.congestion as f64)),
            Cell::count(Some(p.wireless as f64)),
            Cell::share(p.accuracy_congestion),
            Cell::share(p.accuracy_wireless),
            Cell::share(p.accuracy),
        ]
    };
    let truth = match said.dropped {
        (0, 0) => "the capture does not say what became of lost packets".to_owned(),
        (queue, noise) => {
            format!("dropped: {} by queues, {} by noise", human::count(queue), human::count(noise))
        }
    };
    Table {
        caption: format!("What each loss would have been taken for; {truth}."),
        columns: [Column::words("Predictor")].into_iter().chain(columns).collect(),
        rows: said.predictors.iter().map(row).collect(),
    }
}

fn detectors(said: &Report) -> Table {
    let row = |d: &truckee_capture::replay::Phases| {
        vec![
            Cell::words(d.name.clone()),
            Cell::share(Some(d.slow_start_share)),
            Cell::count(Some(d.turns.len().saturating_sub(1) as f64)),
        ]
    };
    Table {
        caption: "When the sender would have been taken to be in slow start.".to_owned(),
        columns: vec![Column::words("Detector"), Column::number("Slow start"), Column::number("Turns")],
        rows: said.detectors.iter().map(row).collect(),
    }
}

fn estimates(said: &Report, c: &Connection) -> Figure {
    let way = if said.way == "to-server" { Way::ToServer } else { Way::ToClient };
    let throughput = c.direction(way).throughput.iter().flat_map(|steps| steps.points());
    let mut series = vec![
        Series::new("throughput", Kind::Step, throughput.map(|(t, bps)| (t, bps * MEGA))).colour(INK).dash(1),
    ];
    series.extend(said.estimators.iter().enumerate().map(|(k, e)| {
        Series::new(&e.name, Kind::Line, scaled(e.series.clone(), MEGA)).colour(k % INK).dash(if k < INK {
            0
        } else {
            3
        })
    }));
    // Throughput alone stands in its direction's section.
    let series = if said.estimators.is_empty() { Vec::new() } else { series };
    let says = "What each estimator would have said over time, beside what went.";
    flow::figure("Estimates of bandwidth".to_owned(), says, Axis::from_zero("Rate / Mbit/s"), series)
}

/// Each loss at what was in the air, by what each predictor took it for.
fn verdicts(said: &Report) -> Figure {
    let height = |loss: &Loss| {
        let at = said.flight.partition_point(|p| p.0 < loss.t_s);
        said.flight.get(at.saturating_sub(1)).map_or(0.0, |p| p.1 * KILO)
    };
    let flight = Series::new("in the air", Kind::Step, scaled(said.flight.clone(), KILO)).colour(5);
    let mut series = vec![flight];
    for (k, predictor) in said.predictors.iter().enumerate() {
        for (verdict, marker) in [("congestion", Marker::Inverted), ("wireless", Marker::Circle)] {
            let of: Vec<&Loss> = said.losses.iter().filter(|l| l.verdicts.get(k) == Some(&verdict)).collect();
            let one = Series::new(
                &format!("{}: {verdict}", predictor.name),
                Kind::Points,
                of.iter().map(|l| (l.t_s, height(l))),
            );
            let one =
                one.colour(k % INK).marker(marker).whole().remarks(of.iter().map(|l| remark(l)).collect());
            series.push(if k == 0 { one } else { one.off() });
        }
    }
    let series = if said.predictors.is_empty() || said.losses.is_empty() { Vec::new() } else { series };
    let says = "Each loss event, at what was in the air, by what each predictor would have taken it for.";
    flow::figure("Verdicts on losses".to_owned(), says, Axis::from_zero("In the air / kB"), series)
}

fn remark(loss: &Loss) -> String {
    let truth = loss
        .truth
        .map_or("what it was the capture does not say".to_owned(), |truth| format!("truly {truth}"));
    let event = if loss.kind == "timeout" { "timeout" } else { "duplicate ACKs" };
    format!("{truth}; shown by {event}")
}

/// When each detector would have seen slow start: one step a detector, one above the other.
fn phases(said: &Report) -> Figure {
    let step = |(k, d): (usize, &truckee_capture::replay::Phases)| {
        let floor = 1.5 * k as f64;
        let points = d.turns.iter().map(|&(t, on)| (t, floor + f64::from(u8::from(on))));
        Series::new(&d.name, Kind::Step, points).colour(k % INK).dash(k % 4)
    };
    let says = "A line is up while its detector would have taken the sender to be in slow start; detectors stand one \
                above the other.";
    let y = Axis::from_zero("Slow start, by detector");
    flow::figure("Slow start".to_owned(), says, y, said.detectors.iter().enumerate().map(step).collect())
}
