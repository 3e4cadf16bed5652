//! Engines side by side: each flow's window over time, a panel an engine with the same axes, and the goodputs beneath.
//!
//! Not for: what is compared and how; [`truckee_lab::compare`](mod@truckee_lab::compare) does that.

use super::draw::{self, MARGIN, Type, WIDTH};
use super::window::{self, LEFT, LEGEND, MOST_FLOWS};
use super::{Axis, Figure, Panel, Point, Series, legend, panel, style};
use crate::Error;
use plotters::style::text_anchor::{HPos, VPos};
use style::{GREY, INK};
use truckee_lab::compare::Comparison;
use truckee_scenario::{Outcome, Scenario};

/// Flows whose goodput is drawn at most: more bars than this say nothing.
const MOST_BARS: usize = 12;
const BARS: f64 = 240.0;
const BARS_HEAD: f64 = 64.0;
const BELOW: f64 = 34.0;

/// A run of each engine, its series recorded, and the comparison of all runs, as SVG text.
///
/// # Errors
/// No flow has a window on any engine.
pub fn compare(scenario: &Scenario, runs: &[&Outcome], comparison: &Comparison) -> Result<String, Error> {
    let names: Vec<_> = comparison.engines.iter().map(|e| e.name.as_str()).collect();
    let title = format!("{}: {}", comparison.scenario, names.join(" and "));
    let fail = |reason: String| Error::Figure { title: title.clone(), reason };
    let windows = windows(scenario, runs);
    if windows.is_empty() {
        return Err(fail("no flow has a window to draw".to_owned()));
    }
    let shown = &windows[..windows.len().min(MOST_FLOWS)];
    // What stops when all is done may do so earlier on one engine.
    let end = runs.iter().map(|o| o.simulated_s).fold(0.0, f64::max);
    let goodput = goodput(comparison);
    let bars_legend = legend::Layout::new(&goodput, MARGIN + LEFT, WIDTH - MARGIN);
    let note = note(runs, comparison, windows.len() - shown.len());
    let top = MARGIN + style::TITLE + 10.0 + LEGEND;
    let panels = shown.iter().flatten();
    let bars_top = top + panels.map(window::Panel::height).sum::<f64>() + 46.0;
    let frame_top = bars_top + BARS_HEAD + bars_legend.height;
    let height = frame_top + BARS + BELOW + style::NOTE + MARGIN;
    draw::page(height, &|page| {
        page.text(&title, (MARGIN, MARGIN), Type::bold(style::TITLE, INK), HPos::Left, VPos::Top)?;
        window::legend(page, MARGIN + style::TITLE + 10.0 + LEGEND / 2.0)?;
        let mut y = top;
        for flow in shown {
            let most = flow.iter().map(window::Panel::most).fold(0.0, f64::max);
            for panel in flow {
                panel.draw(page, y, end, most)?;
                y += panel.height();
            }
        }
        let middle = (MARGIN + LEFT + WIDTH - MARGIN) / 2.0;
        page.text("Time / s", (middle, y - 8.0), Type::plain(style::LABEL, INK), HPos::Center, VPos::Top)?;
        bars_legend.draw(page, &goodput, bars_top + 18.0)?;
        let place = panel::Place {
            left: MARGIN + LEFT,
            top: frame_top,
            width: WIDTH - 2.0 * MARGIN - LEFT,
            height: BARS,
        };
        panel::draw(page, &goodput, &goodput.panels[0], &place, true)?;
        let foot = (MARGIN, frame_top + BARS + BELOW);
        page.text(&note, foot, Type::plain(style::NOTE, GREY), HPos::Left, VPos::Top)
    })
    .map_err(fail)
}

/// For each flow that has a window on some engine, a panel for each engine on which it has.
fn windows<'o>(scenario: &Scenario, runs: &[&'o Outcome]) -> Vec<Vec<window::Panel<'o>>> {
    let panel = |outcome: &&'o Outcome, flow: &str| {
        let series = outcome.series.iter().find(|s| s.flow == flow)?;
        Some(window::Panel::new(scenario, outcome, series)?.of(&outcome.engine))
    };
    let flows = scenario.flows.iter().map(|f| &f.name);
    flows
        .map(|flow| runs.iter().filter_map(|outcome| panel(outcome, flow)).collect::<Vec<_>>())
        .filter(|panels| !panels.is_empty())
        .collect()
}

/// Bars: a group a flow, a bar an engine.
fn goodput(comparison: &Comparison) -> Figure {
    const MEGA: f64 = 1e-6;
    let flows = &comparison.flows[..comparison.flows.len().min(MOST_BARS)];
    let series = |(k, engine): (usize, &truckee_lab::compare::Side)| Series {
        label: engine.name.clone(),
        points: flows
            .iter()
            .enumerate()
            .filter_map(|(at, flow)| {
                let row = flow.metrics.iter().find(|r| r.metric == "goodput_bps")?;
                let estimate = row.values[k];
                let half_width = estimate.half_width.unwrap_or(0.0) * MEGA;
                Some(Point { x: at as f64, y: estimate.mean? * MEGA, half_width })
            })
            .collect(),
        references: Vec::new(),
    };
    let title = match comparison.seeds.len() {
        1 => "Goodput".to_owned(),
        n => format!("Goodput: means of {n} runs"),
    };
    Figure {
        title: String::new(),
        source: String::new(),
        notes: Vec::new(),
        x: Axis { categories: flows.iter().map(|f| f.name.clone()).collect(), ..Axis::default() },
        y: Axis { label: "Goodput / Mbit/s".to_owned(), ..Axis::default() },
        reference: String::new(),
        share_y: false,
        panels: vec![Panel { title, series: comparison.engines.iter().enumerate().map(series).collect() }],
    }
}

fn note(runs: &[&Outcome], comparison: &Comparison, left_out: usize) -> String {
    let seed = runs.first().map_or(0, |o| o.seed);
    let mut note = format!("Windows under seed {seed}.");
    if left_out > 0 {
        note.push_str(&format!(" The windows of {left_out} more flows are not drawn."));
    }
    if comparison.flows.len() > MOST_BARS {
        note.push_str(&format!(" Goodput of the first {MOST_BARS} of {} flows.", comparison.flows.len()));
    }
    note
}

#[cfg(test)]
mod tests {
    use super::*;
    use truckee_engines::Simulator;
    use truckee_lab::Engine;
    use truckee_lab::testing::NOISY;
    use truckee_scenario::Document;

    /// Two flows in place of one.
    fn two() -> String {
        let (path, flow) = NOISY.split_at(NOISY.find("[[flow]]").unwrap());
        let called = |name: &str| flow.replace("noisy <flow>", name);
        [path, &called("one"), &called("two")].concat()
    }

    /// The simulator's run, and another one that passes for the kernel's.
    fn pair(text: &str) -> (Scenario, Vec<Outcome>) {
        let scenario = Document::parse("two.toml", text).unwrap().scenario().unwrap();
        let sim = Simulator.run(&scenario, true).unwrap();
        let other = Scenario { seed: 2, ..scenario.clone() };
        let mut kernel = Simulator.run(&other, true).unwrap();
        (kernel.engine, kernel.seed, kernel.digest) = ("kernel".into(), 1, String::new());
        (scenario, vec![sim, kernel])
    }

    fn drawn(scenario: &Scenario, runs: &[Outcome]) -> Result<String, Error> {
        let comparison = Comparison::new(&runs.iter().map(|o| vec![o.clone()]).collect::<Vec<_>>())?;
        compare(scenario, &runs.iter().collect::<Vec<_>>(), &comparison)
    }

    #[test]
    fn each_flow_has_a_panel_an_engine_and_a_group_of_bars() {
        let (scenario, runs) = pair(&two());
        let svg = drawn(&scenario, &runs).unwrap();
        for text in [
            "two.toml: sim and kernel",
            "sim: one: newreno",
            "kernel: two: newreno",
            "lost: noise",
            "judged wrong",
            "Goodput / Mbit/s",
            "Windows under seed 1.",
        ] {
            assert!(svg.contains(text), "{text}");
        }
        assert_eq!(svg, drawn(&scenario, &runs).unwrap());
    }

    #[test]
    fn panels_of_a_flow_have_the_same_axes() {
        let (scenario, mut runs) = pair(&two());
        let most = |runs: &[Outcome]| -> Vec<f64> {
            let runs: Vec<_> = runs.iter().collect();
            windows(&scenario, &runs)[0].iter().map(window::Panel::most).collect()
        };
        for point in &mut runs[1].series[0].window {
            point.cwnd *= 4.0;
        }
        let largest = most(&runs);
        assert!(largest[1] > 2.0 * largest[0], "{largest:?}");
        let own = window::window(&scenario, &runs[0]).unwrap();
        let both = drawn(&scenario, &runs).unwrap();
        // The first line in this colour is the legend's, the second one the simulator's window: lower in the common
        // scale than in its own.
        let window = |svg: &str| {
            let lines = svg.lines().filter(|l| l.contains("<polyline") && l.contains("#0072B2"));
            lines.map(str::to_owned).nth(1)
        };
        assert!(window(&own).is_some() && window(&own) != window(&both));
    }

    #[test]
    fn an_engine_without_windows_is_left_out_and_none_at_all_is_an_error() {
        let (scenario, mut runs) = pair(&two());
        runs[1].series.clear();
        let svg = drawn(&scenario, &runs).unwrap();
        assert!(svg.contains("sim: one") && !svg.contains("kernel: one"));
        runs[0].series.clear();
        assert!(drawn(&scenario, &runs).unwrap_err().to_string().contains("no flow has a window"));
    }
}
