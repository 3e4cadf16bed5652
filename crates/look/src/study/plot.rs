//! A study's figures from its data: which cells become which points.

use crate::Error;
use crate::figure::{Axis, Figure, Map, MapCell, MapPanel, Panel, Point, Series};
use truckee_lab::grid;
use truckee_lab::stats::{CONFIDENCE, Estimate};
use truckee_lab::study::data::Data;
use truckee_lab::study::drawings::{FigurePart, MapPart};
use truckee_lab::study::file::{Check, Kind};
use truckee_lab::study::quantity::{Quantity, partner};
use truckee_lab::study::{CheckRow, Study};

/// Draws `part`; `rows` are the checks' results, whose published values stand beside ours.
pub(super) fn figure(
    study: &Study,
    part: &FigurePart,
    data: &Data,
    rows: &[CheckRow],
    quick: bool,
) -> Result<Figure, Error> {
    let fail = |reason: String| Error::Figure { title: part.title.clone(), reason };
    let axis = |name: &String| data.axis(name).map_err(|e| fail(e.to_string()));
    let x = axis(&part.x)?;
    let numeric = is_numeric(data, x);
    let mut drawn: Vec<Panel> = Vec::new();
    let (mut published, mut referred) = (false, false);
    for one in placed(part, data, quick).map_err(fail)? {
        let (cell, metric) = (one.cell, one.metric);
        let estimate = Estimate::of(data.samples(cell, metric).iter().map(|s| s.1), CONFIDENCE);
        // A mean over the runs that have a value would look like the mean over all.
        let (Some(mean), 0) = (estimate.mean, estimate.incomplete) else { continue };
        let panel = position(&mut drawn, one.panel, |p| &p.title, |title| Panel { title, series: vec![] });
        let line = position(
            &mut drawn[panel].series,
            &one.series,
            |s| &s.label,
            |label| Series { label, ..Series::default() },
        );
        let line = &mut drawn[panel].series[line];
        let half_width = estimate.half_width.unwrap_or(0.0) * part.y_factor;
        line.points.push(Point { x: one.x, y: mean * part.y_factor, half_width });
        if let Some((row, y)) = target(study, data, rows, cell, metric) {
            line.references.push((one.x, y * part.y_factor));
            published |= row.published.is_some();
            referred |= row.published.is_none();
        }
    }
    for line in drawn.iter_mut().flat_map(|p| &mut p.series) {
        line.points.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    let categories =
        if numeric { Vec::new() } else { data.axes[x].values.iter().map(|v| v.label.clone()).collect() };
    Ok(Figure {
        title: part.title.clone(),
        source: format!("{}, {}", study.source.paper, study.source.place),
        notes: vec![note(part, data)],
        x: Axis { label: part.x_label.clone(), log: part.x_log, categories },
        y: Axis { label: part.y_label.clone(), log: part.y_log, categories: Vec::new() },
        reference: part.reference.clone().unwrap_or_else(|| {
            let words = match (published, referred) {
                (true, true) => "published or reference",
                (false, true) => "reference",
                _ => "published",
            };
            words.to_owned()
        }),
        share_y: part.share_y,
        panels: drawn,
    })
}

/// Where the value of a metric at a cell stands in a figure.
pub(super) struct Placed<'a> {
    pub(super) cell: usize,
    pub(super) metric: &'a str,
    pub(super) panel: &'a str,
    pub(super) series: String,
    pub(super) x: f64,
}

/// Whether the values of an axis are places on a scale, and not names one after the other.
pub(super) fn is_numeric(data: &Data, axis: usize) -> bool {
    data.axes[axis].values.iter().all(|v| v.number.is_some())
}

/// What `part` shows of the data, cell by cell. Errors, in words: there is no such axis, metric or value.
pub(super) fn placed<'a>(
    part: &'a FigurePart,
    data: &'a Data,
    quick: bool,
) -> Result<Vec<Placed<'a>>, String> {
    let axis = |name: &String| data.axis(name).map_err(|e| e.to_string());
    let x = axis(&part.x)?;
    let series = part.series.as_ref().map(axis).transpose()?;
    let panels = part.panels.as_ref().map(axis).transpose()?;
    if let Some(metric) = part.y.iter().find(|m| !data.has(m)) {
        return Err(format!("\"{}\" does not keep the metric \"{metric}\"", data.name));
    }
    let numeric = is_numeric(data, x);
    let mut all = Vec::new();
    for cell in data.select(&part.cells, quick).map_err(|e| e.to_string())? {
        let at = grid::indices(&data.axes, cell);
        let label = |axis: Option<usize>| axis.map_or("", |a| data.axes[a].values[at[a]].label.as_str());
        let place = match data.axes[x].values[at[x]].number {
            Some(number) if numeric => number * part.x_factor,
            _ => at[x] as f64,
        };
        for (k, metric) in part.y.iter().enumerate() {
            let metric_name = part.y_names.get(k).unwrap_or(metric);
            let parts = [label(series), if part.y.len() > 1 { metric_name } else { "" }];
            let series = parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(", ");
            all.push(Placed { cell, metric, panel: label(panels), series, x: place });
        }
    }
    Ok(all)
}

/// Draws `part`; `None` if it has no cell in the quick form.
pub(super) fn map(study: &Study, part: &MapPart, data: &Data, quick: bool) -> Result<Option<Map>, Error> {
    let fail = |reason: String| Error::Figure { title: part.title.clone(), reason };
    let axis = |name: &String| data.axis(name).map_err(|e| fail(e.to_string()));
    let columns = part.columns.iter().map(axis).collect::<Result<Vec<_>, _>>()?;
    let (rows, panels) = (axis(&part.rows)?, part.panels.as_ref().map(axis).transpose()?);
    if !data.has(&part.metric) {
        return Err(fail(format!("\"{}\" does not keep the metric \"{}\"", data.name, part.metric)));
    }
    let cells = data.select(&part.cells, quick).map_err(|e| fail(e.to_string()))?;
    let mut drawn = Map {
        title: part.title.clone(),
        source: format!("{}, {}", study.source.paper, study.source.place),
        says: part.says.clone(),
        notes: vec![part.note.clone()],
        ..Map::default()
    };
    let of_columns = |at: &[usize]| columns.iter().map(|&axis| at[axis]).collect::<Vec<_>>();
    let mut order: Vec<Vec<usize>> =
        cells.iter().map(|&cell| of_columns(&grid::indices(&data.axes, cell))).collect();
    order.sort();
    order.dedup();
    for &cell in &cells {
        let Some(other) = partner(data, cell, &part.over, quick).map_err(|e| fail(e.to_string()))? else {
            continue;
        };
        let at = grid::indices(&data.axes, cell);
        let label = |axis: usize| data.axes[axis].values[at[axis]].label.clone();
        let column = order.partition_point(|other| *other < of_columns(&at));
        let row = position(&mut drawn.rows, &label(rows), |row| row, |row| row);
        let title = panels.map_or_else(String::new, label);
        let panel =
            position(&mut drawn.panels, &title, |p| &p.title, |title| MapPanel { title, cells: vec![] });
        let ratio = Quantity::ratio(data, cell, other, &part.metric);
        if let (Some(value), Some(interval), 0) = (ratio.value, ratio.interval, ratio.incomplete) {
            drawn.panels[panel].cells.push(MapCell { row, column, value, interval });
        }
    }
    let name = |(&axis, k): (&usize, usize)| data.axes[axis].values[k].label.clone();
    drawn.columns = order.into_iter().map(|at| columns.iter().zip(at).map(name).collect()).collect();
    Ok((!drawn.panels.is_empty()).then_some(drawn))
}

fn note(part: &FigurePart, data: &Data) -> String {
    let runs =
        (0..data.len()).flat_map(|p| part.y.iter().map(move |m| data.samples(p, m).len())).max().unwrap_or(0);
    let intervals = format!("Means of {runs} runs with 97.5 % confidence intervals.");
    let said = if data.deterministic || runs < 2 { "" } else { &intervals };
    format!("{} {said}", part.note).trim().to_owned()
}

/// The position of the entry called `name`, which is added if it is not there.
fn position<T>(
    list: &mut Vec<T>,
    name: &str,
    name_of: fn(&T) -> &String,
    new: impl Fn(String) -> T,
) -> usize {
    if let Some(at) = list.iter().position(|entry| name_of(entry) == name) {
        return at;
    }
    list.push(new(name.to_owned()));
    list.len() - 1
}

/// The row and the value that a check holds the mean of this metric against at this cell: the published one or, where
/// nothing is published, that of another simulator or a formula.
pub(super) fn target<'a>(
    study: &Study,
    data: &Data,
    rows: &'a [CheckRow],
    cell: usize,
    metric: &str,
) -> Option<(&'a CheckRow, f64)> {
    let first = study.sweeps.first().map(|s| s.name.as_str()).or(study.drives.first().map(|d| d.name()));
    let here = |c: &&Check| {
        c.of.as_deref().or(first) == Some(data.name.as_str()) && c.metric == metric && of_means(c)
    };
    let label = data.label(cell);
    study.checks.iter().filter(here).find_map(|c| {
        let row = rows.iter().find(|r| r.check == c.name && r.cell == label)?;
        Some((row, row.target()?))
    })
}

/// Whether a check holds the mean of a metric against a value.
pub(super) fn of_means(check: &Check) -> bool {
    matches!(check.kind, Kind::Within | Kind::Exact | Kind::Formula)
        && check.over.is_none()
        && check.minus.is_none()
        && check.divide_by.is_none()
}
