//! A sweep summed up: one row for each grid point and metric, with its interval.
//!
//! Not for: how it looks in a terminal.

use crate::stats::{CONFIDENCE, Estimate};
use crate::validity::LiveRuns;
use crate::{Error, Metric, Sweep};
use serde::Serialize;

/// Means over seeds. Its JSON is stable: keys are added, never renamed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// Names of the axes.
    pub axes: Vec<String>,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// Whether the sweep was complete.
    pub complete: bool,
    /// The live runs, and how many of them are invalid; `None` of the simulator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<LiveRuns>,
    /// One a point and metric; all metrics of a point together.
    pub rows: Vec<TableRow>,
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
    /// Of the runs, those in which the machine was too late; `None` of the simulator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invalid: Option<usize>,
}

impl Table {
    /// Sums up these metrics of a sweep, at the default confidence.
    pub fn new(sweep: &Sweep, metrics: &[Metric]) -> Self {
        let mut rows = Vec::new();
        for point in 0..sweep.grid.points.len() {
            for metric in metrics {
                let values = sweep.values(point, metric.name()).into_iter().map(|v| v.1);
                rows.push(TableRow {
                    point: sweep.grid.values(point).map(|v| v.label.clone()).collect(),
                    metric: metric.name().to_owned(),
                    unit: metric.unit(),
                    estimate: Estimate::of(values, CONFIDENCE),
                    invalid: sweep.live.then(|| sweep.invalid(point).len()),
                });
            }
        }
        let axes = sweep.grid.axes.iter().map(|a| a.name.clone()).collect();
        Self { axes, confidence: CONFIDENCE, complete: sweep.complete, live: sweep.live_runs(), rows }
    }

    /// As CSV with a header; a missing number is an empty field. Of live runs there is one more column, `invalid`.
    pub fn to_csv(&self) -> Result<String, Error> {
        let fail = |e: &dyn std::fmt::Display| Error::Internal(format!("cannot write CSV: {e}"));
        let mut csv = csv::Writer::from_writer(Vec::new());
        let fixed = ["metric", "unit", "n", "incomplete", "mean", "sd", "half_width"];
        let invalid = self.live.map(|_| "invalid");
        let header = self.axes.iter().map(String::as_str).chain(fixed).chain(invalid);
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
            record.extend(row.invalid.map(|n| n.to_string()));
            csv.write_record(record).map_err(|e| fail(&e))?;
        }
        let bytes = csv.into_inner().map_err(|e| fail(&e))?;
        String::from_utf8(bytes).map_err(|e| fail(&e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Row;
    use crate::tests::{LATE, PUNCTUAL, scenario};
    use crate::{Grid, grid};

    #[test]
    fn means_and_gaps_reach_the_table() {
        let (axes, _) = grid::axes(&["s=\"a,b\",c"]).unwrap();
        let metric = Metric::parse("completion_s").unwrap();
        let row = |point, seed, value| Row {
            point,
            seed,
            digest: String::new(),
            values: vec![value],
            lateness: None,
        };
        let sweep = Sweep {
            grid: Grid { axes, points: vec![scenario("s", 0), scenario("s", 1)] },
            metrics: vec![metric.clone()],
            rows: vec![row(0, 1, Some(2.0)), row(0, 2, Some(4.0)), row(1, 1, None)],
            complete: false,
            live: false,
            imprecise: vec![],
            file: None,
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
    fn a_live_table_says_how_many_runs_were_invalid() {
        let metric = Metric::parse("completion_s").unwrap();
        let row = |seed, lateness| Row {
            point: 0,
            seed,
            digest: String::new(),
            values: vec![Some(2.0)],
            lateness: Some(lateness),
        };
        let sweep = Sweep {
            grid: Grid { axes: Vec::new(), points: vec![scenario("s", 0)] },
            metrics: vec![metric.clone()],
            rows: vec![row(1, LATE), row(2, PUNCTUAL)],
            complete: true,
            live: true,
            imprecise: vec![],
            file: None,
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
