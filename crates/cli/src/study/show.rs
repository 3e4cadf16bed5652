//! What studies there are, and what one says before it is run.

use crate::engines::named;
use crate::error::Error;
use crate::human::many;
use crate::layout::{self, numbers, words};
use std::io::{self, Write};
use truckee_lab::EngineName;
use truckee_lab::study::Study;
use truckee_lab::study::file::Cause;

/// One line a study; `study show` says the rest.
pub fn list(out: &mut dyn Write, studies: &[Study]) -> io::Result<()> {
    let columns = [words("study"), words("runs on"), numbers("checks"), numbers("differ"), words("title")];
    let row = |s: &Study| {
        let differ = s.checks.iter().filter(|c| c.differs.is_some()).count();
        let on: Vec<EngineName> = s.engines(false).into_iter().collect();
        let checks = s.checks.len().to_string();
        vec![s.id.clone(), named(&on), checks, differ.to_string(), s.title.clone()]
    };
    let rows: Vec<Vec<String>> = studies.iter().map(row).collect();
    let widest = |k: usize| rows.iter().map(|r| r[k].chars().count()).max().unwrap_or(0);
    // Two columns between each two, and the headers of the numbers.
    let before = widest(0).max("study".len()) + widest(1).max("runs on".len()) + "checksdiffer".len() + 8;
    let left = usize::from(layout::width()).saturating_sub(before).max(20);
    let cut = rows.into_iter().map(|mut row| {
        row[4] = cut(&row[4], left);
        row
    });
    layout::write(out, &columns, cut)?;
    writeln!(
        out,
        "\ntruckee study show ID says the rest: the claim, its source, what differs from it and why"
    )
}

/// A text of so many characters at most.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// Everything but the verdict.
pub fn one(out: &mut dyn Write, study: &Study) -> Result<(), Error> {
    writeln!(out, "{}: {}", study.id, study.title)?;
    writeln!(out, "published: {}, {}", study.source.paper, study.source.place)?;
    let on: Vec<EngineName> = study.engines(false).into_iter().collect();
    if on.iter().any(|e| *e != EngineName::default()) {
        let at_once = study.parallel.map(|n| format!(", at most {} at once", many(n, "live run")));
        writeln!(out, "runs on: {}{}", named(&on), at_once.unwrap_or_default())?;
    }
    writeln!(out, "\n{}", study.setup.trim())?;
    if let Some(what) = &study.calibrated {
        writeln!(out, "\ncalibrated on what it is held against: {}", what.trim())?;
    }
    for sweep in &study.sweeps {
        writeln!(out, "\nsweep \"{}\": {}", sweep.name, many(sweep.runs as usize, "seed"))?;
        for axis in sweep.engine_axis(false).into_iter().chain(sweep.axes(false)?) {
            let labels: Vec<&str> = axis.values.iter().map(|v| v.label.as_str()).collect();
            writeln!(out, "  {} = {}", axis.name, labels.join(", "))?;
        }
    }
    writeln!(out, "\nchecks:")?;
    for check in &study.checks {
        let published = check.published.map(|x| format!(", published {x}")).unwrap_or_default();
        let reference = check.reference.as_ref();
        let reference =
            reference.map(|r| format!(", reference {} ({})", r.value, r.source)).unwrap_or_default();
        writeln!(out, "  {}: {}{published}{reference}", check.name, check.metric)?;
        let rival = check.rival.as_ref().map_or("none named", |rival| rival.name.as_str());
        writeln!(out, "    rival, which must fail: {rival}")?;
        if let Some(what) = &check.differs {
            let cause = match &check.cause {
                Some(Cause::Shown(variation)) => format!("cause: {}", variation.name),
                Some(Cause::Unknown) => "cause unknown".to_owned(),
                None => "no cause named".to_owned(),
            };
            writeln!(out, "    differs from the paper: {}; {cause}", what.trim())?;
        }
        if let Some(before) = &check.loosened {
            writeln!(out, "    loosened with the result known; before: {}", before.trim())?;
        }
    }
    if let Some(scenario) = &study.scenario {
        writeln!(out, "\nscenario:")?;
        for line in scenario.trim().lines() {
            writeln!(out, "  {}", line.trim_end())?;
        }
    }
    Ok(())
}
