//! The check again: of its rival, which must not pass it, and with the cause of a difference taken away, which must.

use super::judge;
use crate::study::data::{self, Data};
use crate::study::file::{self, Check, Kind, Variation};
use crate::study::report::{Cause, CheckRow, Varied, Verdict};
use crate::validity::is_too_many;

/// Evaluates the check with the variation's keys.
fn vary(check: &Check, variation: &Variation, all: &[Data], quick: bool) -> Result<Vec<CheckRow>, String> {
    let mut varied = check.varied(variation);
    let data = data::named(all, varied.of.as_deref())?;
    if variation.of.is_some() {
        let has = |axis: &String| data.axis(axis).is_ok();
        varied.cells.retain(|axis, _| has(axis) || variation.cells.contains_key(axis));
        varied.average.retain(has);
    }
    judge::rows(&varied, data, variation.value, quick)
}

/// What a row of the varied check is to the reader of the check's own.
fn shown(variation: &Variation, row: &CheckRow) -> Varied {
    Varied {
        name: variation.name.clone(),
        cell: row.cell.clone(),
        measured: row.measured,
        interval: row.interval,
        n: row.n,
        verdict: row.verdict,
    }
}

/// The row that decides: the first of the worst verdict.
fn worst(rows: &[CheckRow]) -> Option<&CheckRow> {
    let first = |verdict: Verdict| rows.iter().find(|row| row.verdict == verdict);
    first(Verdict::Fail).or_else(|| first(Verdict::Undecided)).or(rows.first())
}

/// Shows the cause of a difference, and what removes it where that is known.
pub(super) fn cause(check: &Check, all: &[Data], quick: bool, rows: &mut [CheckRow]) -> Result<(), String> {
    let varied = match &check.cause {
        None => return Ok(()),
        Some(file::Cause::Unknown) => {
            rows.iter_mut().for_each(|row| row.cause = Some(Cause::Unknown));
            return Ok(());
        }
        Some(file::Cause::Shown(varied)) => varied,
    };
    let found = vary(check, varied, all, quick).map_err(|e| format!("cause \"{}\": {e}", varied.name))?;
    let Some(decides) = worst(&found) else { return Ok(()) };
    for row in rows {
        row.cause = Some(Cause::Shown(shown(varied, decides)));
        let problem = match (row.verdict, decides.verdict) {
            (Verdict::Differs, Verdict::Fail) => "the named cause does not remove the difference",
            (Verdict::Differs, Verdict::Undecided) => {
                "whether the named cause removes the difference is undecided"
            }
            _ => continue,
        };
        row.verdict = decides.verdict;
        row.note = format!("{problem}: {}", row.note);
    }
    Ok(())
}

/// Whether a significant trend or order is demanded, and is not found though there is an interval to judge by. No number
/// of runs decides this of a rival that has no trend at all: it fails since it does not pass.
fn lacks_significance(check: &Check, row: &CheckRow) -> bool {
    let is_of_differences = matches!(check.kind, Kind::Rises | Kind::Falls | Kind::Order);
    let is_spoilt = row.invalid.is_some_and(|invalid| is_too_many(invalid, row.n + row.incomplete));
    let is_open = row.verdict == Verdict::Undecided && row.interval.is_some() && !is_spoilt;
    is_of_differences && check.significant && is_open
}

/// Holds the check against its rival.
pub(super) fn rival(check: &Check, all: &[Data], quick: bool, rows: &mut [CheckRow]) -> Result<(), String> {
    let Some(rival) = &check.rival else { return Ok(()) };
    let mut found = vary(check, rival, all, quick).map_err(|e| format!("rival \"{}\": {e}", rival.name))?;
    for row in found.iter_mut().filter(|row| lacks_significance(check, row)) {
        row.verdict = Verdict::Fail;
    }
    let Some(decides) = worst(&found) else { return Ok(()) };
    let beside = found.len() == rows.len();
    let fails = found.iter().any(|row| row.verdict == Verdict::Fail && row.n > 0);
    let (verdict, problem) = match decides.verdict {
        _ if fails => (Verdict::Pass, String::new()),
        Verdict::Fail => (Verdict::Fail, format!("its rival, {}, has no value to be judged by", rival.name)),
        Verdict::Undecided => {
            (Verdict::Undecided, format!("whether its rival, {}, fails is undecided", rival.name))
        }
        Verdict::Pass if quick => {
            (Verdict::Undecided, format!("the quick form does not tell it from its rival, {}", rival.name))
        }
        Verdict::Pass => (Verdict::Fail, format!("its rival, {}, passes as well", rival.name)),
        Verdict::Skipped | Verdict::Differs => (Verdict::Pass, String::new()),
    };
    for (k, row) in rows.iter_mut().enumerate() {
        row.rival = Some(shown(rival, if beside { &found[k] } else { decides }));
        let is_worse = match verdict {
            Verdict::Fail => true,
            Verdict::Undecided => row.verdict == Verdict::Pass,
            _ => false,
        };
        if is_worse {
            row.verdict = verdict;
            row.remark(&problem);
        }
    }
    Ok(())
}
