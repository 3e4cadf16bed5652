//! What a check finds: its rows, each with what its interval holds. Not for what becomes of them by the check's rival and
//! by what is known to differ.

use crate::grid;
use crate::study::data::{Data, NoCells};
use crate::study::file::{Check, End, Kind, Reference};
use crate::study::quantity::Quantity;
use crate::study::report::{CheckRow, Verdict};
use crate::validity::is_too_many;
use exmex::Express;

/// The rows of a check at the data it is of; of a rival that always measures the same, with this in place of all that is
/// measured. In the quick form a single row says why it is skipped.
pub(super) fn rows(
    check: &Check,
    data: &Data,
    constant: Option<f64>,
    quick: bool,
) -> Result<Vec<CheckRow>, String> {
    if !check.average.is_empty() {
        let averaged = data.averaged(&check.average, &check.cells, quick).map_err(|e| e.to_string())?;
        let mut rest = check.clone();
        rest.average.clear();
        rest.cells.retain(|axis, _| !check.average.contains(axis));
        return rows(&rest, &averaged, constant, quick);
    }
    if !data.has(&check.metric) {
        return Err(format!("\"{}\" does not keep the metric \"{}\"", data.name, check.metric));
    }
    let judge = Judge { check, data, constant };
    if quick && check.full_only {
        return Ok(vec![judge.skipped("needs the full form's seeds")]);
    }
    let cells = data.select(&check.cells, quick).map_err(|e| e.to_string())?;
    let rows = match check.kind {
        Kind::Rises | Kind::Falls => judge.curves(&cells, quick),
        Kind::Order => judge.orders(&cells, quick),
        _ => judge.cells(&cells, quick),
    }?;
    Ok(if rows.is_empty() { vec![judge.skipped("its cells are not run in the quick form")] } else { rows })
}

/// What a row's interval holds.
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
    /// What is measured everywhere, whatever the data say.
    constant: Option<f64>,
}

impl Judge<'_> {
    /// What is measured at a cell. `None`: the cell it is compared with is not run in the quick form.
    fn measure(&self, cell: usize, quick: bool) -> Result<Option<Quantity>, String> {
        match self.constant {
            Some(value) => Ok(Some(Quantity::always(value))),
            None => Quantity::of(self.check, self.data, cell, quick).map_err(|e| e.to_string()),
        }
    }

    /// The mean difference of the metric between two cells.
    fn difference(&self, a: usize, b: usize) -> Quantity {
        match self.constant {
            Some(_) => Quantity::always(0.0),
            None => Quantity::difference(self.data, a, b, &self.check.metric),
        }
    }

    fn row(&self, cell: String, measured: Quantity, demand: String) -> CheckRow {
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
            published: self.check.published,
            reference: self.check.reference.clone(),
            measured: measured.value,
            interval: measured.interval,
            n: measured.n,
            incomplete: measured.incomplete,
            invalid: measured.invalid,
            demand,
            rival: None,
            verdict: Verdict::Fail,
            cause: None,
            note: String::new(),
        }
    }

    fn skipped(&self, why: &str) -> CheckRow {
        let row = self.row(String::new(), Quantity::default(), String::new());
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
            (None, Found::Both) => Verdict::Undecided,
            (Some(_), _) if no_interval && row.incomplete == 0 && row.measured.is_some() => {
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
            if let Some(measured) = self.measure(cell, quick)? {
                rows.push(self.cell(cell, measured)?);
            }
        }
        Ok(rows)
    }

    fn cell(&self, cell: usize, measured: Quantity) -> Result<CheckRow, String> {
        let check = self.check;
        let (reference, demand, found) = match check.kind {
            Kind::Exact => {
                let target = check.target().unwrap_or(f64::NAN);
                let hit = measured.value.is_some_and(|v| (v - target).abs() <= 1e-9 * target.abs());
                (None, "exactly".to_owned(), Found::of(hit && measured.constant))
            }
            Kind::Bound => {
                let (demand, found) = self.bound(&measured);
                (None, demand, found)
            }
            Kind::Formula => {
                let value = closed_form(check, self.data, cell)?;
                let source = check.formula.clone().unwrap_or_default();
                let (demand, found) = self.near(value, &measured);
                (Some(Reference { value, source }), demand, found)
            }
            _ => {
                let (demand, found) = self.near(check.target().unwrap_or(f64::NAN), &measured);
                (None, demand, found)
            }
        };
        let row = self.row(self.data.label(cell), measured, demand);
        let reference = reference.or_else(|| row.reference.clone());
        Ok(self.judged(CheckRow { reference, ..row }, found))
    }

    /// What `bound` demands, and what is found.
    fn bound(&self, measured: &Quantity) -> (String, Found) {
        let (above, below) = (self.check.above, self.check.below);
        let inside =
            |(low, high): (f64, f64)| above.is_none_or(|b| low > b) && below.is_none_or(|b| high < b);
        let outside =
            |(low, high): (f64, f64)| above.is_some_and(|b| high <= b) || below.is_some_and(|b| low >= b);
        let ends = [above.map(|b| format!("> {b}")), below.map(|b| format!("< {b}"))];
        let demand = ends.into_iter().flatten().collect::<Vec<_>>().join(" and ");
        let without = measured.interval.is_some_and(outside);
        (demand, Found::between(measured.interval.is_some_and(inside), without))
    }

    /// What is demanded of a value that must be near the target, and what is found.
    fn near(&self, target: f64, measured: &Quantity) -> (String, Found) {
        let (most, demand) = match (self.check.tolerance, self.check.absolute) {
            (Some(relative), _) => (relative * target.abs(), format!("± {} %", rounded(100.0 * relative))),
            (_, absolute) => {
                let most = absolute.unwrap_or(0.0);
                (most, format!("± {most}"))
            }
        };
        let is_near = |value: f64| (value - target).abs() <= most;
        let found = match measured.interval {
            Some((low, high)) => {
                let without = is_outside((low, high), (target - most, target + most));
                Found::between(is_near(low) && is_near(high), without)
            }
            None => Found::of(measured.value.is_some_and(is_near)),
        };
        (demand, found)
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
            let d = self.difference(to, from);
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
        let mut row = self.row(self.without(curve[0], axis), measured, demand);
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
            let d = self.difference(own, rival);
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
        let mut row = self.row(self.without(own, axis), measured, demand);
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
}

/// Whether an interval lies wholly outside another one.
pub(super) fn is_outside((low, high): (f64, f64), (least, most): (f64, f64)) -> bool {
    high < least || low > most
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
