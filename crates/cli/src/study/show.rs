//! What studies there are, and what one says before it is run.

use crate::error::Error;
use crate::human::many;
use crate::layout::{self, numbers, words};
use std::io::{self, Write};
use truckee_lab::EngineName;
use truckee_lab::study::Study;

/// One line a study, and the checks that are known to differ from the paper, each with its reason.
pub fn list(out: &mut dyn Write, studies: &[Study]) -> io::Result<()> {
    let columns = [
        words("study"),
        words("runs on"),
        numbers("checks"),
        numbers("differ"),
        words("title"),
        words("published in"),
    ];
    let row = |s: &Study| {
        let source = format!("{}, {}", s.source.paper, s.source.place);
        let differ = s.checks.iter().filter(|c| c.differs.is_some()).count();
        let on: Vec<EngineName> = s.engines(false).into_iter().collect();
        let checks = s.checks.len().to_string();
        vec![s.id.clone(), super::engines(&on), checks, differ.to_string(), s.title.clone(), source]
    };
    layout::write(out, &columns, studies.iter().map(row))?;
    writeln!(out)?;
    for study in studies {
        for check in &study.checks {
            if let Some(why) = &check.differs {
                writeln!(out, "{} differs from the paper: {}: {}", study.id, check.name, why.trim())?;
            }
        }
    }
    Ok(())
}

/// Everything but the verdict.
pub fn one(out: &mut dyn Write, study: &Study) -> Result<(), Error> {
    writeln!(out, "{}: {}", study.id, study.title)?;
    writeln!(out, "published: {}, {}", study.source.paper, study.source.place)?;
    let on: Vec<EngineName> = study.engines(false).into_iter().collect();
    if study.is_live(false) {
        let at_once = study.parallel.map(|n| format!(", at most {} at once", many(n, "live run")));
        writeln!(out, "runs on: {}{}", super::engines(&on), at_once.unwrap_or_default())?;
    }
    writeln!(out, "\n{}", study.setup.trim())?;
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
        writeln!(out, "  {}: {}{published}", check.name, check.metric)?;
        if let Some(why) = &check.differs {
            writeln!(out, "    differs from the paper: {}", why.trim())?;
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
