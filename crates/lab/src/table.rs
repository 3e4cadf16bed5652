//! A sweep summed up: one row for each grid point and metric, with its interval.
//!
//! Not for: how it looks in a terminal.

use crate::stats::{CONFIDENCE, Estimate, paired_difference};
use crate::validity::LiveRuns;
use crate::{Error, Metric, Sweep, grid};
use serde::Serialize;
use std::collections::BTreeMap;

/// Means over seeds. Its JSON is stable: keys are added, never renamed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// Names of the axes.
    pub axes: Vec<String>,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// Whether the sweep was complete.
    pub complete: bool,
    /// The variant that the others are held against; `None` where nothing is varied, or seeds are not shared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<Against>,
    /// The live runs, and how many of them are invalid; `None` of the simulator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<LiveRuns>,
    /// One a point and metric; all metrics of a point together.
    pub rows: Vec<TableRow>,
}

/// The variant that the others are held against: of the first axis whose values are names, else of the first axis, the
/// first value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Against {
    /// The axis.
    pub axis: String,
    /// Its value.
    pub value: String,
}

/// One mean.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableRow {
    /// Values of the axes, as written.
    pub point: Vec<String>,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: &'static str,
    /// Mean, half-width, number of runs with and without a value.
    #[serde(flatten)]
    pub estimate: Estimate,
    /// Its difference from the variant that it is held against, over the seeds that both have: surer than the two
    /// intervals suggest, since both saw the same noise. `None` of that variant itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Estimate>,
    /// Of the runs, those in which the machine was too late; `None` of the simulator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invalid: Option<usize>,
}

impl Table {
    /// Sums up these metrics of a sweep, at the default confidence.
    pub fn new(sweep: &Sweep, metrics: &[Metric]) -> Self {
        let axes = &sweep.grid.axes;
        let variants = |k: usize| axes[k].values.len() > 1;
        let names = |k: &usize| variants(*k) && axes[*k].values.iter().any(|v| v.number.is_none());
        let axis = (0..axes.len()).find(names).or_else(|| (0..axes.len()).find(|k| variants(*k)));
        let mut rows = Vec::new();
        for point in 0..sweep.grid.size() {
            for metric in metrics {
                let values = sweep.values(point, metric.name()).into_iter().map(|v| v.1);
                rows.push(TableRow {
                    point: sweep.grid.values(point).map(|v| v.label.clone()).collect(),
                    metric: metric.name().to_owned(),
                    unit: metric.unit(),
                    estimate: Estimate::of(values, CONFIDENCE),
                    difference: axis.and_then(|axis| difference(sweep, point, axis, metric.name())),
                    invalid: sweep.live.then(|| sweep.invalid(point).len()),
                });
            }
        }
        let shared = rows.iter().any(|row| row.difference.is_some_and(|d| d.n > 1));
        let against = axis
            .filter(|_| shared)
            .map(|k| Against { axis: axes[k].name.clone(), value: axes[k].values[0].label.clone() });
        if against.is_none() {
            rows.iter_mut().for_each(|row| row.difference = None);
        }
        Self {
            axes: axes.iter().map(|a| a.name.clone()).collect(),
            confidence: CONFIDENCE,
            complete: sweep.complete,
            against,
            live: sweep.live_runs(),
            rows,
        }
    }

    /// As CSV with a header; a missing number is an empty field. Where variants are held against one, `difference` and
    /// `difference_half_width` follow, and of live runs `invalid`.
    pub fn to_csv(&self) -> Result<String, Error> {
        let fail = |e: &dyn std::fmt::Display| Error::Internal(format!("cannot write CSV: {e}"));
        let mut csv = csv::Writer::from_writer(Vec::new());
        let fixed = ["metric", "unit", "n", "incomplete", "mean", "sd", "half_width"];
        let invalid = self.live.map(|_| "invalid");
        let paired = self.against.iter().flat_map(|_| ["difference", "difference_half_width"]);
        let header = self.axes.iter().map(String::as_str).chain(fixed).chain(paired).chain(invalid);
        csv.write_record(header).map_err(|e| fail(&e))?;
        for row in &self.rows {
            let e = &row.estimate;
            let number = |x: Option<f64>| x.map(|x| x.to_string()).unwrap_or_default();
            let mut record = row.point.clone();
            record.extend([
                row.metric.clone(),
                row.unit.to_owned(),
                e.n.to_string(),
                e.incomplete.to_string(),
            ]);
            record.extend([number(e.mean), number(e.sd), number(e.half_width)]);
            if self.against.is_some() {
                let d = row.difference.as_ref();
                record.extend([number(d.and_then(|d| d.mean)), number(d.and_then(|d| d.half_width))]);
            }
            record.extend(row.invalid.map(|n| n.to_string()));
            csv.write_record(record).map_err(|e| fail(&e))?;
        }
        let bytes = csv.into_inner().map_err(|e| fail(&e))?;
        String::from_utf8(bytes).map_err(|e| fail(&e))
    }
}

/// How far a point is from the one like it that has the axis's first value, seed by seed.
fn difference(sweep: &Sweep, point: usize, axis: usize, metric: &str) -> Option<Estimate> {
    let axes = &sweep.grid.axes;
    let at = grid::indices(axes, point)[axis];
    let step: usize = axes[axis + 1..].iter().map(|a| a.values.len()).product();
    let first = point - at * step;
    if first == point {
        return None;
    }
    let base: BTreeMap<u64, Option<f64>> = sweep.values(first, metric).into_iter().collect();
    let own = sweep.values(point, metric).into_iter();
    let pairs: Vec<_> = own.filter_map(|(seed, value)| Some((value, *base.get(&seed)?))).collect();
    Some(paired_difference(&pairs, CONFIDENCE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Row;
    use crate::testing::{LATE, PUNCTUAL, scenario};
    use crate::{Grid, Rows, grid};

    #[test]
    fn means_and_gaps_reach_the_table() {
        let (axes, _) = grid::axes(&["s=\"a,b\",c"]).unwrap();
        let metric = Metric::parse("completion_s").unwrap();
        let row = |point, seed, value| Row { point, seed, values: vec![value], lateness: None };
        let sweep = Sweep {
            grid: Grid::of(axes, vec![scenario("s", 0), scenario("s", 1)]).unwrap(),
            metrics: vec![metric.clone()],
            rows: Rows::from_iter(vec![row(0, 1, Some(2.0)), row(0, 2, Some(4.0)), row(1, 1, None)]),
            complete: false,
            live: false,
            imprecise: vec![],
            file: None,
            is_new: true,
        };
        let table = Table::new(&sweep, &[metric]);
        assert_eq!(table.rows[0].estimate.mean, Some(3.0));
        let csv = table.to_csv().unwrap();
        let lines: Vec<_> = csv.lines().collect();
        assert_eq!(lines[0], "s,metric,unit,n,incomplete,mean,sd,half_width");
        assert!(lines[1].starts_with("\"\"\"a,b\"\"\",completion_s,s,2,0,3,1.414"), "{}", lines[1]);
        assert_eq!(lines[2], "c,completion_s,s,0,1,,,");
        let json = serde_json::to_value(&table).unwrap();
        assert_eq!((&json["rows"][1]["mean"], &json["complete"]), (&serde_json::Value::Null, &false.into()));
        assert!(
            json.get("live").is_none() && json["rows"][0].get("invalid").is_none(),
            "it is no live sweep"
        );
    }

    #[test]
    fn variants_are_held_against_the_first_seed_by_seed() {
        let (axes, _) = grid::axes(&["per=0.1,0.2", "sender=a,b"]).unwrap();
        let metric = Metric::parse("goodput_bps").unwrap();
        // The seed is worth ten times what the sender is.
        let value = |point: usize, seed: u64| (10 * seed + (point % 2) as u64 * (1 + seed % 2)) as f64;
        let row = |point, seed| Row { point, seed, values: vec![Some(value(point, seed))], lateness: None };
        let mut sweep = Sweep {
            grid: Grid::of(axes, (0..4).map(|k| scenario("s", k)).collect()).unwrap(),
            metrics: vec![metric.clone()],
            rows: (0..4).flat_map(|point| (1..=4).map(move |seed| row(point, seed))).collect(),
            complete: true,
            live: false,
            imprecise: vec![],
            file: None,
            is_new: true,
        };
        let table = Table::new(&sweep, std::slice::from_ref(&metric));
        let against = table.against.clone().unwrap();
        assert_eq!((against.axis.as_str(), against.value.as_str()), ("sender", "a"), "names before numbers");
        let difference = |k: usize| table.rows[k].difference;
        assert_eq!((difference(0), difference(2)), (None, None));
        let d = difference(1).unwrap();
        assert_eq!((d.mean, d.n, difference(3).unwrap().mean), (Some(1.5), 4, Some(1.5)));
        assert!(d.half_width < table.rows[1].estimate.half_width, "{d:?}");
        assert!(
            table
                .to_csv()
                .unwrap()
                .starts_with("per,sender,metric,unit,n,incomplete,mean,sd,half_width,difference,")
        );
        (0..4).for_each(|point| sweep.rows.retain(point, |seed| seed == 1));
        let one = Table::new(&sweep, &[metric]);
        assert!(
            one.against.is_none() && one.rows.iter().all(|row| row.difference.is_none()),
            "one run is no sample"
        );
    }

    #[test]
    fn a_live_table_says_how_many_runs_were_invalid() {
        let metric = Metric::parse("completion_s").unwrap();
        let row = |seed, lateness| Row { point: 0, seed, values: vec![Some(2.0)], lateness: Some(lateness) };
        let sweep = Sweep {
            grid: Grid::of(Vec::new(), vec![scenario("s", 0)]).unwrap(),
            metrics: vec![metric.clone()],
            rows: Rows::from_iter(vec![row(1, LATE), row(2, PUNCTUAL)]),
            complete: true,
            live: true,
            imprecise: vec![],
            file: None,
            is_new: true,
        };
        let table = Table::new(&sweep, &[metric]);
        let csv = table.to_csv().unwrap();
        assert!(
            csv.starts_with("metric,unit,n,incomplete,mean,sd,half_width,invalid\n") && csv.ends_with(",1\n"),
            "{csv}"
        );
        let json = serde_json::to_value(&table).unwrap();
        assert_eq!((&json["live"]["runs"], &json["live"]["invalid"]), (&2.into(), &1.into()));
        assert_eq!(json["rows"][0]["invalid"], 1);
    }
}
