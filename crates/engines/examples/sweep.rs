//! A sweep from Rust: `cargo run --example sweep`. With a directory in place of `None` it keeps its runs there, goes on
//! where it stopped, and shares the work with whoever else sweeps the same there.

use truckee_engines::Simulator;
use truckee_lab::table::Table;
use truckee_lab::{Cancel, Grid, Metric, Plan, Runs, grid, sweep};
use truckee_scenario::Document;

/// Sweeps, and shows the means with their intervals.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scenario = Document::parse("wireless.toml", include_str!("../../../examples/wireless.toml"))?;
    let (axes, _) = grid::axes(&["flow.sender=newreno,newreno-lp", "channel.per_bad=0.1,0.3"])?;
    let metric = Metric::parse("goodput_bps")?;
    let plan = Plan::new(Grid::new(&scenario, axes)?, Runs::Count(5), vec![metric.clone()]);
    let found = sweep(&plan, &Simulator, None, &mut (), &Cancel::new())?;
    for row in Table::new(&found, &[metric]).rows {
        let (mean, half_width) = (row.estimate.mean.unwrap_or(f64::NAN), row.estimate.half_width);
        println!("{}: {mean:.0} ± {:.0} {}", row.point.join(", "), half_width.unwrap_or(0.0), row.unit);
    }
    Ok(())
}
