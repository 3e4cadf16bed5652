//! A sweep summed up: one row for each grid point and metric, with its interval.
//!
//! Not for: how it looks in a terminal.

use crate::stats::{CONFIDENCE, Estimate};
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
                });
            }
        }
        let axes = sweep.grid.axes.iter().map(|a| a.name.clone()).collect();
        Self { axes, confidence: CONFIDENCE, complete: sweep.complete, rows }
    }

    /// As CSV with a header; a missing number is an empty field.
    pub fn to_csv(&self) -> Result<String, Error> {
        let fail = |e: &dyn std::fmt::Display| Error::Internal(format!("cannot write CSV: {e}"));
        let mut csv = csv::Writer::from_writer(Vec::new());
        let fixed = ["metric", "unit", "n", "incomplete", "mean", "sd", "half_width"];
        let header = self.axes.iter().map(String::as_str).chain(fixed);
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
    use crate::tests::scenario;
    use crate::{Grid, grid};

    #[test]
    fn means_and_gaps_reach_the_table() {
        let (axes, _) = grid::axes(&["s=\"a,b\",c"]).unwrap();
        let metric = Metric::parse("completion_s").unwrap();
        let row = |point, seed, value| Row { point, seed, digest: String::new(), values: vec![value] };
        let sweep = Sweep {
            grid: Grid { axes, points: vec![scenario("s", 0), scenario("s", 1)] },
            metrics: vec![metric.clone()],
            rows: vec![row(0, 1, Some(2.0)), row(0, 2, Some(4.0)), row(1, 1, None)],
            complete: false,
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
    }
}
