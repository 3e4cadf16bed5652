//! Checks: what each kind demands, exactly.
//!
//! A *quantity* is the mean of a metric over all seeds at a cell, or with `over` the ratio of the means at two cells,
//! or with `minus` the mean difference between two cells, both paired by common seeds. Its *interval* is the 97.5 %
//! confidence interval of [`crate::stats`]. A run without a value fails the check: nothing is averaged over gaps.
//!
//! | kind | passes when |
//! |---|---|
//! | `within` | the whole interval is within `published` ± `tolerance`·\|`published`\|, or ± `absolute`; it fails where the whole interval is outside |
//! | `exact` | every seed gives `published` (to 1e-9 of it) |
//! | `bound` | the whole interval is above `above`, and below `below` |
//! | `rises`, `falls` | along an axis every step's paired difference has its whole interval on the right side of 0; with `significant = false`: no step's interval lies wholly on the wrong side, and that of the whole way (last minus first) lies wholly on the right one |
//! | `order` | at every selected cell, the paired difference of `first` to each other selected value of `along` has its whole interval on the right side of 0; with `significant = false`: none lies wholly on the wrong side |
//! | `formula` | as `within`, with the closed form's value at the cell as the published one |
//!
//! `within` and `formula` are judged by the interval: one that is neither within the tolerance nor outside it is
//! `undecided`, and takes more runs. Of a single run, and of a simulated row that `differs`, the value itself is judged.
//!
//! Where live runs are among those measured, no two of which are the same, every row is judged so: what fails has its
//! whole interval on the wrong side (a step of `rises`, a rival of `order`). An interval that holds both is `undecided`, as is a row with
//! more invalid runs than [`crate::validity::MOST_INVALID`], and an `exact` one that any of them could have spoilt. A
//! check with `differs` then fails only when its whole interval has left the pin.
//!
//! With `average` the metric is first averaged over those axes, run by run, over the values that `where` selects on them.
//!
//! `within`, `exact`, `bound` and `formula` give one row a cell; `rises` and `falls` one a curve, with its worst step;
//! `order` one a cell, with its nearest rival.
//!
//! A check with `differs` must select one row, disagree with the paper, and measure the `pinned` value within its
//! tolerance. If it agrees after all, or has moved away from the pin, it fails and says so.

use super::data::{Data, NoCells};
use super::file::{Check, End, Kind};
use super::quantity::Quantity;
use super::report::{CheckRow, Verdict};
use crate::grid;
use crate::validity::is_too_many;
use exmex::Express;

/// Rows of one check. Errors, in words: it names what is not there, or its formula cannot be evaluated.
pub fn evaluate(check: &Check, data: &Data, quick: bool) -> Result<Vec<CheckRow>, String> {
    if !check.average.is_empty() {
        let averaged = data.averaged(&check.average, &check.cells, quick).map_err(|e| e.to_string())?;
        let mut rest = check.clone();
        rest.average.clear();
        rest.cells.retain(|axis, _| !check.average.contains(axis));
        return evaluate(&rest, &averaged, quick);
    }
    if !data.has(&check.metric) {
        return Err(format!("\"{}\" does not keep the metric \"{}\"", data.name, check.metric));
    }
    let blank = Judge { check, data };
    if quick && check.full_only {
        return Ok(vec![blank.skipped("needs the full form's seeds")]);
    }
    let cells = data.select(&check.cells, quick).map_err(|e| e.to_string())?;
    let rows = match check.kind {
        Kind::Rises | Kind::Falls => blank.curves(&cells, quick),
        Kind::Order => blank.orders(&cells, quick),
        _ => blank.cells(&cells, quick),
    };
    let mut rows = rows?;
    if rows.is_empty() {
        return Ok(vec![blank.skipped("its cells are not run in the quick form")]);
    }
    if check.differs.is_some() && rows.len() != 1 {
        return Err(format!("a check that differs selects one row, not {}", rows.len()));
    }
    for row in &mut rows {
        blank.explain(row);
    }
    Ok(rows)
}

/// What a row's interval holds. Of simulated runs both counts in `within` and `formula`, and is a failure elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Agreement,
    Both,
    Disagreement,
}

impl Found {
    fn of(agrees: bool) -> Self {
        if agrees { Self::Agreement } else { Self::Disagreement }
    }

    /// Of an interval that lies wholly within what is demanded, or wholly without, or neither.
    fn between(within: bool, without: bool) -> Self {
        match (within, without) {
            (true, _) => Self::Agreement,
            (_, true) => Self::Disagreement,
            _ => Self::Both,
        }
    }
}

struct Judge<'a> {
    check: &'a Check,
    data: &'a Data,
}

impl Judge<'_> {
    fn row(&self, cell: String, published: Option<f64>, measured: Quantity, demand: String) -> CheckRow {
        let unit = self.check.unit.clone().unwrap_or_else(|| match self.check.over {
            Some(_) => String::new(),
            None => self.data.unit(&self.check.metric).to_owned(),
        });
        CheckRow {
            check: self.check.name.clone(),
            kind: self.check.kind,
            cell,
            metric: self.check.metric.clone(),
            unit,
            published,
            measured: measured.value,
            interval: measured.interval,
            n: measured.n,
            incomplete: measured.incomplete,
            invalid: measured.invalid,
            demand,
            verdict: Verdict::Fail,
            note: String::new(),
        }
    }

    fn skipped(&self, why: &str) -> CheckRow {
        let row = self.row(String::new(), self.check.published, Quantity::default(), String::new());
        CheckRow { verdict: Verdict::Skipped, note: why.to_owned(), ..row }
    }

    /// Gives the row its verdict: what is found counts only where there is something to judge by.
    fn judged(&self, mut row: CheckRow, found: Found) -> CheckRow {
        let runs = row.n + row.incomplete;
        if let Some(invalid) = row.invalid.filter(|&invalid| self.is_spoilt(invalid, runs, found)) {
            row.verdict = Verdict::Undecided;
            row.note = format!("the machine was too late in {invalid} of {runs} runs");
            return row;
        }
        let live = row.invalid.is_some();
        let no_interval = row.interval.is_none() && (self.needs_interval() || (live && !self.is_exact()));
        let problem = match (row.incomplete, row.measured) {
            (1.., _) => Some(format!("{} of {runs} runs have no value", row.incomplete)),
            (_, None) => Some("nothing was measured".to_owned()),
            _ if no_interval => Some("no interval: more runs are needed".to_owned()),
            _ => None,
        };
        row.verdict = match (&problem, found) {
            (None, Found::Agreement) => Verdict::Pass,
            (None, Found::Both) if live || !self.needs_interval() => Verdict::Undecided,
            (Some(_), _) if live && no_interval && row.incomplete == 0 && row.measured.is_some() => {
                Verdict::Undecided
            }
            _ => Verdict::Fail,
        };
        row.note = problem.unwrap_or(row.note);
        row
    }

    /// Whether the machine was late in too many of a row's live runs for it to be judged. Nobody knows which run spoils a
    /// check that every run must pass.
    fn is_spoilt(&self, invalid: usize, runs: usize, found: Found) -> bool {
        is_too_many(invalid, runs) || (invalid > 0 && self.is_exact() && found != Found::Agreement)
    }

    fn is_exact(&self) -> bool {
        self.check.kind == Kind::Exact
    }

    fn needs_interval(&self) -> bool {
        !matches!(self.check.kind, Kind::Within | Kind::Exact | Kind::Formula)
    }

    fn cells(&self, cells: &[usize], quick: bool) -> Result<Vec<CheckRow>, String> {
        let mut rows = Vec::new();
        for &cell in cells {
            let Some(measured) =
                Quantity::of(self.check, self.data, cell, quick).map_err(|e| e.to_string())?
            else {
                continue;
            };
            rows.push(self.cell(cell, measured)?);
        }
        Ok(rows)
    }

    fn cell(&self, cell: usize, measured: Quantity) -> Result<CheckRow, String> {
        let check = self.check;
        let live = measured.invalid.is_some();
        let (published, demand, found) = match check.kind {
            Kind::Exact => {
                let published = check.published.unwrap_or(f64::NAN);
                let hit = measured.value.is_some_and(|v| (v - published).abs() <= 1e-9 * published.abs());
                (check.published, "exactly".to_owned(), Found::of(hit && measured.constant))
            }
            Kind::Bound => {
                let inside = |(low, high): (f64, f64)| {
                    check.above.is_none_or(|b| low > b) && check.below.is_none_or(|b| high < b)
                };
                let outside = |(low, high): (f64, f64)| {
                    check.above.is_some_and(|b| high <= b) || check.below.is_some_and(|b| low >= b)
                };
                let above = check.above.map(|b| format!("> {b}"));
                let demand =
                    above.into_iter().chain(check.below.map(|b| format!("< {b}"))).collect::<Vec<_>>();
                let without = measured.interval.is_some_and(outside);
                let found = Found::between(measured.interval.is_some_and(inside), without);
                (check.published, demand.join(" and "), found)
            }
            _ => {
                let published = match check.kind {
                    Kind::Formula => closed_form(check, self.data, cell)?,
                    _ => check.published.unwrap_or(f64::NAN),
                };
                let (most, demand) = match (check.tolerance, check.absolute) {
                    (Some(relative), _) => {
                        (relative * published.abs(), format!("± {} %", rounded(100.0 * relative)))
                    }
                    (_, absolute) => {
                        let most = absolute.unwrap_or(0.0);
                        (most, format!("± {most}"))
                    }
                };
                let (low, high) = (published - most, published + most);
                let found = match measured.interval {
                    Some(interval) if live || check.differs.is_none() => Found::between(
                        [interval.0, interval.1].iter().all(|end| (end - published).abs() <= most),
                        is_outside(interval, (low, high)),
                    ),
                    _ => Found::of(measured.value.is_some_and(|v| (v - published).abs() <= most)),
                };
                (Some(published), demand, found)
            }
        };
        Ok(self.judged(self.row(self.data.label(cell), published, measured, demand), found))
    }

    fn curves(&self, cells: &[usize], quick: bool) -> Result<Vec<CheckRow>, String> {
        let (axis, name) = self.along()?;
        let mut rows = Vec::new();
        for curve in self.groups(cells, axis) {
            if curve.len() < 2 {
                if quick {
                    continue;
                }
                return Err(format!("it takes two values of {name} to rise or fall"));
            }
            rows.push(self.curve(&curve, axis));
        }
        Ok(rows)
    }

    /// One curve, its cells in the axis's order; all differences are turned so that "as demanded" is positive.
    fn curve(&self, curve: &[usize], axis: usize) -> CheckRow {
        let difference = |from: usize, to: usize| {
            let d = Quantity::difference(self.data, to, from, &self.check.metric);
            if self.check.kind == Kind::Falls { d.negated() } else { d }
        };
        let low = |q: &Quantity| q.interval.map_or(f64::NEG_INFINITY, |i| i.0);
        let steps: Vec<_> = curve.windows(2).map(|s| (s[0], s[1], difference(s[0], s[1]))).collect();
        let whole = difference(curve[0], curve[curve.len() - 1]);
        let right = |q: &Quantity| q.interval.is_some_and(|(low, _)| low > 0.0);
        let wrong = |q: &Quantity| q.interval.is_some_and(|(_, high)| high < 0.0);
        let level = |q: &Quantity| q.interval.is_some_and(|(_, high)| high <= 0.0);
        let found = if self.check.significant {
            Found::between(steps.iter().all(|(.., q)| right(q)), steps.iter().any(|(.., q)| level(q)))
        } else {
            let back = steps.iter().any(|(.., q)| wrong(q));
            Found::between(!back && right(&whole), back || level(&whole))
        };
        let invalid = steps.iter().filter_map(|(.., q)| q.invalid).max();
        let incomplete = steps.iter().map(|(.., q)| q.incomplete).max().unwrap_or(0);
        let worst = steps.into_iter().min_by(|a, b| low(&a.2).total_cmp(&low(&b.2)));
        let (from, to, mut measured) = worst.unwrap_or((curve[0], curve[0], whole));
        (measured.incomplete, measured.invalid) = (incomplete, invalid);
        let way = if self.check.kind == Kind::Rises { "rises" } else { "falls" };
        let demand = match self.check.significant {
            true => format!("{way} at every step"),
            false => format!("{way} on the whole, no step back"),
        };
        let value = |cell| {
            let at = grid::indices(&self.data.axes, cell)[axis];
            self.data.axes[axis].values[at].label.clone()
        };
        let mut row = self.row(self.without(curve[0], axis), self.check.published, measured, demand);
        row.note = format!("smallest step: from {} to {}", value(from), value(to));
        self.judged(row, found)
    }

    fn orders(&self, cells: &[usize], quick: bool) -> Result<Vec<CheckRow>, String> {
        let (axis, name) = self.along()?;
        let first = self.check.first.clone().unwrap_or_default();
        let Some(first_at) = self.data.axes[axis].position(&first) else {
            let missing = NoCells::Value(name, first);
            return if quick { Ok(Vec::new()) } else { Err(missing.to_string()) };
        };
        let mut rows = Vec::new();
        for group in self.groups(cells, axis) {
            let own = self.data.moved(group[0], axis, first_at);
            let rivals: Vec<usize> = group.into_iter().filter(|&c| c != own).collect();
            if rivals.is_empty() {
                if quick {
                    continue;
                }
                return Err(format!("{first} has no rivals among the cells"));
            }
            rows.push(self.order(own, &rivals, axis, &first));
        }
        Ok(rows)
    }

    fn order(&self, own: usize, rivals: &[usize], axis: usize, first: &str) -> CheckRow {
        let lowest = self.check.is == Some(End::Lowest);
        let margin = |&rival: &usize| {
            let d = Quantity::difference(self.data, own, rival, &self.check.metric);
            (rival, if lowest { d.negated() } else { d })
        };
        let margins: Vec<(usize, Quantity)> = rivals.iter().map(margin).collect();
        let behind = |q: &Quantity, by: fn(f64) -> bool| q.interval.is_some_and(|(_, high)| by(high));
        let found = if self.check.significant {
            let ahead = margins.iter().all(|(_, q)| q.interval.is_some_and(|(low, _)| low > 0.0));
            Found::between(ahead, margins.iter().any(|(_, q)| behind(q, |high| high <= 0.0)))
        } else {
            Found::of(margins.iter().all(|(_, q)| behind(q, |high| high >= 0.0)))
        };
        let invalid = margins.iter().filter_map(|(_, q)| q.invalid).max();
        let incomplete = margins.iter().map(|(_, q)| q.incomplete).max().unwrap_or(0);
        let low = |q: &Quantity| q.interval.map_or(f64::NEG_INFINITY, |i| i.0);
        let nearest = margins.into_iter().min_by(|a, b| low(&a.1).total_cmp(&low(&b.1)));
        let (rival, mut measured) = nearest.unwrap_or((own, Quantity::default()));
        (measured.incomplete, measured.invalid) = (incomplete, invalid);
        let end = if lowest { "lowest" } else { "highest" };
        let not_clearly = if self.check.significant { "" } else { ", or not clearly second" };
        let demand = format!("{first} {end}{not_clearly}");
        let mut row = self.row(self.without(own, axis), self.check.published, measured, demand);
        let at = grid::indices(&self.data.axes, rival)[axis];
        row.note = format!("nearest rival: {}", self.data.axes[axis].values[at].label);
        self.judged(row, found)
    }

    fn along(&self) -> Result<(usize, String), String> {
        let name = self.check.along.clone().unwrap_or_default();
        let axis = self.data.axis(&name).map_err(|e| e.to_string())?;
        Ok((axis, name))
    }

    /// The selected cells that differ along one axis only, group by group, each in the axis's order.
    fn groups(&self, cells: &[usize], axis: usize) -> Vec<Vec<usize>> {
        let mut groups: Vec<(usize, Vec<usize>)> = Vec::new();
        for &cell in cells {
            let origin = self.data.moved(cell, axis, 0);
            match groups.iter_mut().find(|(o, _)| *o == origin) {
                Some((_, group)) => group.push(cell),
                None => groups.push((origin, vec![cell])),
            }
        }
        groups.into_iter().map(|(_, group)| group).collect()
    }

    /// A cell in words, without one axis.
    fn without(&self, cell: usize, axis: usize) -> String {
        let at = grid::indices(&self.data.axes, cell);
        let parts = self.data.axes.iter().zip(at).enumerate().filter(|(k, _)| *k != axis);
        parts.map(|(_, (a, k))| format!("{}={}", a.name, a.values[k].label)).collect::<Vec<_>>().join(", ")
    }

    /// Adds the check's remark, and turns a failure that is explained and measured as pinned into `differs`.
    fn explain(&self, row: &mut CheckRow) {
        if let (Some(why), Some(pinned)) = (&self.check.differs, self.check.pinned) {
            let pin = format!("{} ± {}", pinned.value, pinned.absolute);
            let drift = match row.interval.filter(|_| row.invalid.is_some()) {
                Some(interval) => {
                    is_outside(interval, (pinned.value - pinned.absolute, pinned.value + pinned.absolute))
                }
                None => {
                    row.measured.is_none_or(|m| (m - pinned.value).abs() > pinned.absolute + 1e-12 * m.abs())
                }
            };
            let problem = match (row.verdict, drift) {
                (Verdict::Undecided, _) => Some(format!("{}, where {pin} was known: {why}", undecided(row))),
                (Verdict::Pass, _) => {
                    Some(format!("agrees with the paper now, where {pin} was known: {why}"))
                }
                (_, true) => Some(format!("differs from the paper, but no longer by the known {pin}: {why}")),
                _ if row.incomplete > 0 => Some(row.note.clone()),
                _ => None,
            };
            row.verdict = match (row.verdict, &problem) {
                (Verdict::Undecided, _) => Verdict::Undecided,
                (_, Some(_)) => Verdict::Fail,
                (_, None) => Verdict::Differs,
            };
            row.note = problem.unwrap_or_else(|| why.clone());
        }
        if let Some(note) = &self.check.note {
            row.note = if row.note.is_empty() { note.clone() } else { format!("{}; {note}", row.note) };
        }
    }
}

/// Whether an interval lies wholly outside another one.
fn is_outside((low, high): (f64, f64), (least, most): (f64, f64)) -> bool {
    high < least || low > most
}

/// Why a row is undecided, in words.
fn undecided(row: &CheckRow) -> &str {
    if row.note.is_empty() { "neither as published nor clearly not" } else { &row.note }
}

fn rounded(x: f64) -> f64 {
    (x * 1e6).round() / 1e6
}

/// The value of the check's formula at a cell.
fn closed_form(check: &Check, data: &Data, cell: usize) -> Result<f64, String> {
    let text = check.formula.as_deref().unwrap_or_default();
    let bad = |e: &dyn std::fmt::Display| format!("formula \"{text}\": {e}");
    let formula = exmex::parse::<f64>(text).map_err(|e| bad(&e))?;
    let mut values = Vec::new();
    for name in formula.var_names() {
        let value = match check.variables.get(name.as_str()) {
            Some(toml::Value::Float(x)) => *x,
            Some(toml::Value::Integer(n)) => *n as f64,
            Some(toml::Value::String(axis)) => {
                let k = data.axis(axis).map_err(|e| bad(&e))?;
                let value = &data.axes[k].values[grid::indices(&data.axes, cell)[k]];
                value.number.ok_or_else(|| bad(&format!("{axis}={} is no number", value.label)))?
            }
            _ => return Err(bad(&format!("`let` gives {name} neither a number nor an axis"))),
        };
        values.push(value);
    }
    let value = formula.eval(&values).map_err(|e| bad(&e))?;
    if value.is_finite() { Ok(value) } else { Err(bad(&"its value is not finite")) }
}

#[cfg(test)]
mod tests;
