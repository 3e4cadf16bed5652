//! Movements in the format of ns-2's `setdest`, which ns-3, BonnMotion and SUMO write and read as well:
//!
//! ```text
//! # starting places
//! $node_(0) set X_ 83.4
//! $node_(0) set Y_ 239.4
//! $node_(0) set Z_ 0.0
//! # at 50 s: towards (369.4, 170.5) at 3.3 m/s
//! $ns_ at 50.0 "$node_(0) setdest 369.4 170.5 3.3"
//! ```
//!
//! A node that is sent elsewhere on its way turns there; one that has arrived rests. Speed 0 stops a node. Lines of
//! `$god_`, which tell ns-2 the lengths of routes, are read over, as are comments and empty lines.

use super::Trajectory;
use crate::{Position, Time};

/// What cannot be read of a trace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {value:?} is not {expected}")]
pub struct TraceError {
    /// From 1 on; the line after the last for what is missing.
    pub line: usize,
    /// What stands there.
    pub value: String,
    /// What should.
    pub expected: String,
}

/// Nodes are numbered below this.
const NODES: usize = 100_000;
/// Metres from the origin, metres a second, seconds: what is beyond is a mistake.
const FAR: f64 = 1e7;

/// One line of interest.
enum Line {
    /// Node, axis, metres.
    Start(usize, usize, f64),
    /// Seconds, node, metres, metres, metres a second.
    Go(f64, usize, f64, f64, f64),
}

/// Reads a trace: one trajectory for each node, from 0 on without a gap. `antenna`: metres above the trace's ground.
pub fn read_setdest(text: &str, antenna: f64) -> Result<Vec<Trajectory>, TraceError> {
    let mut starts: Vec<[Option<f64>; 3]> = Vec::new();
    let mut orders = Vec::new();
    let mut last = 0;
    for (i, text) in text.lines().enumerate() {
        last = i + 1;
        match read_line(last, text)? {
            None => {}
            Some(Line::Start(node, axis, metres)) => {
                if starts.len() <= node {
                    starts.resize(node + 1, [None; 3]);
                }
                starts[node][axis] = Some(metres);
            }
            Some(Line::Go(at, node, x, y, speed)) => orders.push((at, last, node, x, y, speed)),
        }
    }
    let place = |(node, start): (usize, &[Option<f64>; 3])| match *start {
        [Some(x), Some(y), z] => Ok(Trajectory::resting(Position { x, y, z: z.unwrap_or(0.0) + antenna })),
        _ => Err(error(last + 1, format!("node {node}"), "given X_ and Y_ to start at")),
    };
    let mut all = starts.iter().enumerate().map(place).collect::<Result<Vec<_>, _>>()?;
    // ns-2 goes by the times, whatever the order of the lines.
    orders.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (at, line, node, x, y, speed) in orders {
        let nodes = all.len();
        let Some(trajectory) = all.get_mut(node) else {
            return Err(error(
                line,
                format!("$node_({node})"),
                format!("one of {nodes} with a place to start at"),
            ));
        };
        let at = (at * 1e9) as Time;
        let here = trajectory.leg(at).at(at);
        let there = Position { x, y, z: here.z };
        if speed > 0.0 {
            let takes = (here.distance(&there) / speed * 1e9).min(1e18) as Time;
            trajectory.head_for(at, there, at + takes);
        } else {
            trajectory.head_for(at, here, at);
        }
    }
    Ok(all)
}

fn error(line: usize, value: impl Into<String>, expected: impl Into<String>) -> TraceError {
    TraceError { line, value: value.into(), expected: expected.into() }
}

fn read_line(line: usize, text: &str) -> Result<Option<Line>, TraceError> {
    let words: Vec<&str> = text.split_whitespace().map(|word| word.trim_matches('"')).collect();
    let number = |word: &str, least: f64, what: &str| match word.parse::<f64>() {
        Ok(x) if (least..=FAR).contains(&x) => Ok(x),
        _ => Err(error(line, word, format!("{what} between {least} and {FAR}"))),
    };
    match *words.as_slice() {
        [] => Ok(None),
        [first, ..] if first.starts_with('#') || first.starts_with("$god_") => Ok(None),
        ["$ns_", "at", _, god, ..] if god.starts_with("$god_") => Ok(None),
        [node, "set", axis, metres] => {
            let axis = match axis {
                "X_" => 0,
                "Y_" => 1,
                "Z_" => 2,
                other => return Err(error(line, other, "X_, Y_ or Z_")),
            };
            Ok(Some(Line::Start(number_of(line, node)?, axis, number(metres, -FAR, "metres")?)))
        }
        ["$ns_", "at", at, node, "setdest", x, y, speed] => Ok(Some(Line::Go(
            number(at, 0.0, "seconds")?,
            number_of(line, node)?,
            number(x, -FAR, "metres")?,
            number(y, -FAR, "metres")?,
            number(speed, 0.0, "metres a second")?,
        ))),
        _ => Err(error(line, text.trim(), "a start ($node_(N) set X_ …) or a way ($ns_ at … setdest …)")),
    }
}

/// The N of `$node_(N)`.
fn number_of(line: usize, word: &str) -> Result<usize, TraceError> {
    let inner = word.strip_prefix("$node_(").and_then(|rest| rest.strip_suffix(')'));
    let number = inner.and_then(|n| n.parse().ok()).filter(|n| *n < NODES);
    number.ok_or_else(|| error(line, word, format!("$node_(N) with N below {NODES}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = r#"
# two nodes
$node_(0) set X_ 0.0
$node_(0) set Y_ 10.0
$node_(0) set Z_ 0.0
$node_(1) set X_ 100.0
$node_(1) set Y_ 0.0
$god_ set-dist 0 1 1
$ns_ at 30.0 "$node_(0) setdest 0.0 10.0 5.0"
$ns_ at 10.0 "$node_(0) setdest 200.0 10.0 10.0"
$ns_ at 12.0 "$node_(1) setdest 100.0 50.0 0.0"
$ns_ at 20.0 "$god_ set-dist 0 1 2"
"#;

    fn place(trajectory: &Trajectory, seconds: f64) -> (f64, f64) {
        let at = (seconds * 1e9) as Time;
        let place = trajectory.leg(at).at(at);
        (place.x, place.y)
    }

    #[test]
    fn nodes_go_rest_and_turn_as_told() {
        let nodes = read_setdest(TRACE, 1.5).unwrap();
        assert_eq!(nodes.len(), 2);
        let places = [0.0, 10.0, 20.0, 30.0, 35.0, 70.0, 99.0].map(|t| place(&nodes[0], t).0);
        // Underway to 200 m, which it would reach at 30 s, it is there when it is sent back.
        assert_eq!(places, [0.0, 0.0, 100.0, 200.0, 175.0, 0.0, 0.0]);
        assert_eq!(place(&nodes[1], 50.0), (100.0, 0.0));
        assert_eq!(nodes[0].leg(0).at(0).z, 1.5);
    }

    #[test]
    fn a_turn_on_the_way_begins_where_the_node_is() {
        let text = "$node_(0) set X_ 0\n$node_(0) set Y_ 0\n\
                    $ns_ at 0 \"$node_(0) setdest 100 0 10\"\n$ns_ at 5 \"$node_(0) setdest 50 30 6\"\n\
                    $ns_ at 8 \"$node_(0) setdest 0 0 0\"";
        let nodes = read_setdest(text, 0.0).unwrap();
        assert_eq!(place(&nodes[0], 5.0), (50.0, 0.0));
        assert_eq!(place(&nodes[0], 7.0), (50.0, 12.0));
        assert_eq!(place(&nodes[0], 20.0), (50.0, 18.0), "stopped at 8 s");
    }

    #[test]
    fn mistakes_are_named_with_line_value_and_expectation() {
        let message = |text: &str| read_setdest(text, 0.0).unwrap_err().to_string();
        assert_eq!(
            message("\n$node_(0) set X_ far"),
            "line 2: \"far\" is not metres between -10000000 and 10000000"
        );
        assert_eq!(message("$node_(0) set W_ 1"), "line 1: \"W_\" is not X_, Y_ or Z_");
        assert_eq!(
            message("$node_(x) set X_ 1"),
            "line 1: \"$node_(x)\" is not $node_(N) with N below 100000"
        );
        assert_eq!(
            message("$ns_ at -1 \"$node_(0) setdest 1 1 1\""),
            "line 1: \"-1\" is not seconds between 0 and 10000000"
        );
        assert_eq!(
            message("$ns_ at 1 \"$node_(0) setdest 1 1 1\""),
            "line 1: \"$node_(0)\" is not one of 0 with a place to start at"
        );
        assert_eq!(
            message("$node_(1) set X_ 1\n$node_(1) set Y_ 1"),
            "line 3: \"node 0\" is not given X_ and Y_ to start at"
        );
        assert_eq!(
            message("hello"),
            "line 1: \"hello\" is not a start ($node_(N) set X_ …) or a way ($ns_ at … setdest …)"
        );
        assert_eq!(
            message("$ns_ at 1 \"$node_(0) setdest 1 1 NaN\""),
            "line 1: \"NaN\" is not metres a second between 0 and 10000000"
        );
    }
}
