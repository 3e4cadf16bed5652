//! A run's figures: a flow's window, its segments and ACKs, its delays, its estimates; all queues.

use super::model::{Axis, Figure, Kind, Marker, Section, Series};
use super::points::{Drop, Floats, FlowPoints, Loss, Points};
use serde_json::Value;
use truckee_lab::human;

/// What all figures over time share: their horizontal axis.
pub(super) const TIME: &str = "time";
/// The colour of text, in the palette.
const INK: usize = 7;
/// Colours of what was lost, by cause.
const CAUSES: [(&str, usize, Marker); 6] = [
    ("queue", 1, Marker::Square),
    ("channel", 3, Marker::Cross),
    ("outage", INK, Marker::Triangle),
    ("collision", 4, Marker::Cross),
    ("reach", 6, Marker::Triangle),
    ("route", 0, Marker::Cross),
];

/// The figures of one flow; `result` is its entry in the result.
pub(super) fn section(points: &FlowPoints, result: &Value) -> Section {
    let word = |key: &str| result[key].as_str().unwrap_or("?").to_owned();
    let mut figures = vec![window(points), sequence(points), delays(points)];
    figures.extend(estimates(points));
    figures.push(floats(format!("{}: gaps between segments", points.flow), &points.floats));
    Section {
        title: format!("Flow {}", points.flow),
        says: format!("Sender {}, receiver {}.{}", word("sender"), word("receiver"), congested(result)),
        figures: figures.into_iter().filter(|f| !f.series.is_empty()).collect(),
        ..Section::default()
    }
}

/// What a sender that tells the directions of a path apart saw of them; empty of others.
fn congested(result: &Value) -> String {
    let count = |key: &str| result["congested"][key].as_u64();
    let (Some(neither), Some(forward), Some(reverse), Some(both)) =
        (count("neither"), count("forward"), count("reverse"), count("both"))
    else {
        return String::new();
    };
    format!(
        " By its relative delays, of {} the queues had grown on the way there in {}, on the way back in {}, on both in {}, \
         on neither in {}.",
        human::many((neither + forward + reverse + both) as usize, "round"),
        human::count(forward),
        human::count(reverse),
        human::count(both),
        human::count(neither)
    )
}

/// A figure over time of those series that have points.
pub(super) fn figure(title: String, says: &str, y: Axis, series: Vec<Series>) -> Figure {
    Figure {
        title,
        says: says.to_owned(),
        x: Axis::new("Time / s"),
        y,
        link: TIME.to_owned(),
        series: series.into_iter().filter(|s| !s.is_empty()).collect(),
        ..Figure::default()
    }
}

fn scaled(points: &[(f64, f64)], factor: f64) -> Points {
    points.iter().map(|&(t, y)| (t, y * factor)).collect()
}

fn window(points: &FlowPoints) -> Figure {
    const KILO: f64 = 1e-3;
    let mut series = vec![
        Series::new("cwnd", Kind::Step, scaled(&points.cwnd, KILO)).colour(0),
        Series::new("ssthresh", Kind::Step, scaled(&points.ssthresh, KILO)).colour(INK).dash(1),
        Series::new("in flight", Kind::Step, scaled(&points.flight, KILO)).colour(5).off(),
    ];
    let at_window = |loss: &Loss| {
        let at = points.cwnd.partition_point(|p| p.0 < loss.t);
        points.cwnd.get(at.saturating_sub(1)).map_or(0.0, |p| p.1 * KILO)
    };
    series.extend(verdicts(&points.losses, at_window));
    figure(
        format!("{}: congestion window and threshold", points.flow),
        "A marker stands where the sender noticed a loss: its shape is what the sender took it for, filled if it was \
         right. A threshold that is still boundless at the start is left out.",
        Axis::from_zero("Window / kB"),
        sensible_threshold(series),
    )
}

/// Without the first values of a threshold that begins far beyond any window: they would flatten all else.
fn sensible_threshold(mut series: Vec<Series>) -> Vec<Series> {
    let highest = series[0].y.iter().copied().fold(0.0, f64::max);
    let ssthresh = &mut series[1];
    let boundless = ssthresh.y.iter().take_while(|y| **y > 4.0 * highest).count();
    ssthresh.x.drain(..boundless);
    ssthresh.y.drain(..boundless);
    series
}

/// Loss events by what the sender took them for, and whether that was right; `height` is where they stand.
fn verdicts(losses: &[Loss], height: impl Fn(&Loss) -> f64) -> Vec<Series> {
    let kinds = [("congestion", 6, Marker::Inverted), ("wireless", 2, Marker::Circle)];
    let mut series = Vec::new();
    for (verdict, colour, marker) in kinds {
        for right in [true, false] {
            let of: Vec<&Loss> =
                losses.iter().filter(|l| l.verdict == verdict && (l.truth == verdict) == right).collect();
            let label = format!("judged {verdict}, {}", if right { "rightly" } else { "wrongly" });
            let one = Series::new(&label, Kind::Points, of.iter().map(|l| (l.t, height(l))))
                .colour(colour)
                .marker(marker)
                .whole()
                .remarks(of.iter().map(|l| remark(l)).collect());
            series.push(if right { one } else { one.hollow() });
        }
    }
    series
}

fn remark(loss: &Loss) -> String {
    let truth = match loss.truth.as_str() {
        "none" => "nothing was lost".to_owned(),
        truth => format!("truly {truth}"),
    };
    let event = match loss.event.as_str() {
        "dup-acks" => "duplicate ACKs",
        "ecn" => "an ECN echo",
        other => other,
    };
    format!("{truth}; noticed by {event}")
}

fn sequence(points: &FlowPoints) -> Figure {
    const KILO: f64 = 1e-3;
    let mut series = vec![
        Series::new("sent", Kind::Points, scaled(&points.sent, KILO)).colour(0).marker(Marker::Dot),
        Series::new("sent again", Kind::Points, scaled(&points.again, KILO))
            .colour(4)
            .marker(Marker::Diamond),
        Series::new("acknowledged", Kind::Step, scaled(&points.acks, KILO)).colour(2),
    ];
    for (cause, colour, marker) in CAUSES {
        for of_acks in [false, true] {
            let of: Vec<&Drop> =
                points.drops.iter().filter(|d| d.cause == cause && d.is_ack == of_acks).collect();
            let label = format!("{} lost: {cause}", if of_acks { "ACK" } else { "segment" });
            let one = Series::new(&label, Kind::Points, of.iter().map(|d| (d.t, d.seq * KILO)))
                .colour(colour)
                .marker(marker)
                .whole()
                .remarks(of.iter().map(|d| format!("on {}", d.link)).collect());
            series.push(if of_acks { one.hollow().off() } else { one });
        }
    }
    series.extend(verdicts(&points.losses, |loss| loss.seq * KILO));
    figure(
        format!("{}: segments and ACKs", points.flow),
        "Each segment at the time and with the number of its first byte, as tcptrace draws it; what was lost by its \
         true cause, and what the sender took each loss for.",
        Axis::new("Sequence number / kB"),
        series,
    )
}

fn delays(points: &FlowPoints) -> Figure {
    const MILLI: f64 = 1e3;
    figure(
        format!("{}: round-trip time and delay", points.flow),
        "The sender's last RTT sample, and for the last segment that was handed to the application in order the time \
         that it took.",
        Axis::from_zero("Time / ms"),
        vec![
            Series::new("RTT", Kind::Step, scaled(&points.rtt, MILLI)).colour(0),
            Series::new("delay of segments", Kind::Step, scaled(&points.delay, MILLI)).colour(4).dash(2),
        ],
    )
}

fn estimates(points: &FlowPoints) -> Option<Figure> {
    const MEGA: f64 = 1e-6;
    let mut series = vec![
        Series::new("truly available", Kind::Step, scaled(&points.available, MEGA)).colour(INK).dash(1),
        Series::new("used", Kind::Line, scaled(&points.used, MEGA)).colour(5).off(),
    ];
    series.extend(points.estimates.iter().enumerate().map(|(k, (name, values))| {
        let label = if name == "sender" { "estimate of the sender" } else { name };
        Series::new(label, Kind::Line, scaled(values, MEGA)).colour(k % INK).dash(if k < 7 { 0 } else { 3 })
    }));
    (!points.estimates.is_empty()).then(|| {
        figure(
            format!("{}: bandwidth estimates against the truth", points.flow),
            "All rates are of payload. Available is what cross traffic leaves of the bottleneck, over its TCP flows.",
            Axis::from_zero("Rate / Mbit/s"),
            series,
        )
    })
}

/// What TCP Taba's detector looks at, as in its figures 2.2 to 2.4.
pub(super) fn floats(title: String, floats: &Floats) -> Figure {
    const MILLI: f64 = 1e3;
    /// What the detector compares the largest with, of a round-trip time.
    const BETA: f64 = 0.6;
    figure(
        title,
        "Gaps between data segments at the receiver, and the smallest and largest of the last 20 (MinFloat, MaxFloat). A \
         MaxFloat above 0.6 of the round-trip time, with a MinFloat far below it, is taken for slow start.",
        Axis::from_zero("Time / ms"),
        vec![
            Series::new("gap", Kind::Points, scaled(&floats.gap, MILLI)).colour(0).marker(Marker::Dot),
            Series::new("MaxFloat", Kind::Step, scaled(&floats.max, MILLI)).colour(1),
            Series::new("MinFloat", Kind::Step, scaled(&floats.min, MILLI)).colour(2),
            Series::new("0.6 RTT", Kind::Step, scaled(&floats.rtt, BETA * MILLI)).colour(INK).dash(1),
        ],
    )
}

/// The windows of several flows in one figure.
pub(super) fn side_by_side(flows: &[FlowPoints]) -> Option<Section> {
    let series = flows
        .iter()
        .enumerate()
        .map(|(k, f)| Series::new(&f.flow, Kind::Step, scaled(&f.cwnd, 1e-3)).colour(k % INK).dash(k % 4));
    let figure = figure(
        "Congestion windows".to_owned(),
        "One line a flow.",
        Axis::from_zero("Window / kB"),
        series.collect(),
    );
    (figure.series.len() > 1).then(|| Section {
        title: "All flows".to_owned(),
        figures: vec![figure],
        ..Section::default()
    })
}

/// The longest queues.
pub(super) fn queues(queues: &[(String, Points)], most: usize) -> Option<Section> {
    let longest = |points: &Points| points.iter().map(|p| p.1).fold(0.0, f64::max);
    let mut used: Vec<&(String, Points)> = queues.iter().filter(|q| longest(&q.1) > 0.0).collect();
    used.sort_by(|a, b| longest(&b.1).total_cmp(&longest(&a.1)));
    let left_out = used.len().saturating_sub(most);
    let series = used.iter().take(most).enumerate().map(|(k, (name, points))| {
        Series::new(name, Kind::Step, points.iter().copied()).colour(k % INK).dash(k % 4)
    });
    let mut says =
        "Packets that wait in each direction of a link, the one in transmission not counted.".to_owned();
    if left_out > 0 {
        says.push_str(&format!(" {left_out} shorter queues are left out."));
    }
    let figure =
        figure("Queue lengths".to_owned(), &says, Axis::from_zero("Queue / packets"), series.collect());
    (!used.is_empty()).then(|| Section {
        title: "Queues".to_owned(),
        figures: vec![figure],
        ..Section::default()
    })
}
