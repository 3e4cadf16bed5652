//! Checks: what each kind demands, exactly.
//!
//! A *quantity* is the mean of a metric over all seeds at a cell, or with `over` the ratio of the means at two cells,
//! or with `minus` the mean difference between two cells, both paired by common seeds. Its *interval* is the 97.5 %
//! confidence interval of [`crate::stats`]. A run without a value fails the check: nothing is averaged over gaps. The
//! *target* is the value that is `published`, or where there is none that of `reference`.
//!
//! | kind | passes when |
//! |---|---|
//! | `within` | the whole interval is within the target ± `tolerance`·\|target\|, or ± `absolute`; it fails where the whole interval is outside |
//! | `exact` | every seed gives the target (to 1e-9 of it) |
//! | `bound` | the whole interval is above `above`, and below `below` |
//! | `rises`, `falls` | along an axis every step's paired difference has its whole interval on the right side of 0; with `significant = false`: no step's interval lies wholly on the wrong side, and that of the whole way (last minus first) lies wholly on the right one |
//! | `order` | at every selected cell, the paired difference of `first` to each other selected value of `along` has its whole interval on the right side of 0; with `significant = false`: none lies wholly on the wrong side |
//! | `formula` | as `within`, with the closed form's value at the cell as the target |
//!
//! What fails has its whole interval on the wrong side (that of a step of `rises`, of a value that is behind in `order`).
//! An interval that holds both agreement and disagreement is `undecided`, and takes more runs, as is a row that has no
//! interval where the kind needs one. Of a single simulated run `within` and `formula` judge the value itself; of a single
//! live one nothing can be judged. Of live runs a row is undecided too where more of them are invalid than
//! [`crate::validity::MOST_INVALID`], and an `exact` one where any of them could have spoilt it.
//!
//! With `average` the metric is first averaged over those axes, run by run, over the values that `where` selects on them.
//!
//! `within`, `exact`, `bound` and `formula` give one row a cell; `rises` and `falls` one a curve, with its worst step;
//! `order` one a cell, with its nearest competitor.
//!
//! # What is known to differ
//!
//! A check with `differs` must select one row, disagree with what is demanded, and measure the `pinned` value within its
//! tolerance (of live runs, and in the quick form, which has fewer: its interval reaches the pin). If it agrees after all, or has moved away from the pin, it fails
//! and says so. Its `cause` is unknown, or a [`Variation`](super::file::Variation): the same check with these keys must
//! pass, or the row fails; where that is undecided, so is the row.
//!
//! A check whose bound was `loosened` with the result known cannot do better than `differs`.
//!
//! # Rivals
//!
//! A check that anything passes says nothing. Its `rival` is the simplest thing that is wrong, and the same check with the
//! rival's keys must have a row that fails. Where all of them pass, all rows of the check fail. Where none of them fails
//! and one is undecided, what passed is undecided; but of `rises`, `falls` and `order` a rival that shows nothing
//! significant has failed: of one without any trend more runs would show no more. A rival without any value fails nothing: the check then fails, since it
//! compares with nothing. In the quick form, which has part of the cells and of the runs, a check that cannot be told from
//! its rival is undecided.

mod judge;
mod variation;

use super::data::{self, Data};
use super::file::Check;
use super::report::{CheckRow, Verdict};
use judge::is_outside;

/// Rows of one check; `all` is what the study has measured, of which the check looks at the first if it does not say
/// (`of`). Errors, in words: it names what is not there, or its formula cannot be evaluated.
pub fn evaluate(check: &Check, all: &[Data], quick: bool) -> Result<Vec<CheckRow>, String> {
    let mut rows = judge::rows(check, data::named(all, check.of.as_deref())?, None, quick)?;
    if rows.iter().all(|row| row.verdict == Verdict::Skipped) {
        return Ok(rows);
    }
    if check.differs.is_some() && rows.len() != 1 {
        return Err(format!("a check that differs selects one row, not {}", rows.len()));
    }
    for row in &mut rows {
        known(check, row, quick);
        loosened(check, row);
    }
    variation::cause(check, all, quick, &mut rows)?;
    variation::rival(check, all, quick, &mut rows)?;
    for row in &mut rows {
        row.remark(check.note.as_deref().unwrap_or_default());
    }
    Ok(rows)
}

/// Turns a failure that is explained and measured as pinned into `differs`.
fn known(check: &Check, row: &mut CheckRow, quick: bool) {
    let (Some(why), Some(pinned)) = (&check.differs, check.pinned) else { return };
    let pin = format!("{} ± {}", pinned.value, pinned.absolute);
    let paper = if check.published.is_none() && check.reference.is_some() { "reference" } else { "paper" };
    let drift = match row.interval.filter(|_| quick || row.invalid.is_some()) {
        Some(interval) => {
            is_outside(interval, (pinned.value - pinned.absolute, pinned.value + pinned.absolute))
        }
        None => row.measured.is_none_or(|m| (m - pinned.value).abs() > pinned.absolute + 1e-12 * m.abs()),
    };
    let problem = match (row.verdict, drift) {
        (Verdict::Undecided, _) => Some(format!("{}, where {pin} was known: {why}", undecided(row))),
        (Verdict::Pass, _) => Some(format!("agrees with the {paper} now, where {pin} was known: {why}")),
        (_, true) => Some(format!("differs from the {paper}, but no longer by the known {pin}: {why}")),
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

/// Why a row is undecided, in words.
fn undecided(row: &CheckRow) -> &str {
    if row.note.is_empty() { "neither as published nor clearly not" } else { &row.note }
}

/// What passes a bound that was made to fit it is no pass.
fn loosened(check: &Check, row: &mut CheckRow) {
    let Some(before) = &check.loosened else { return };
    if row.verdict == Verdict::Pass {
        row.verdict = Verdict::Differs;
    }
    row.remark(&format!("loosened with the result known; before: {before}"));
}

#[cfg(test)]
mod tests;
