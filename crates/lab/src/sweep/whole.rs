//! A sweep from its question to its answer: what can be refused is refused, what is on disk is opened, and the cells are run,
//! here or elsewhere.

use super::elsewhere::Crew;
use super::plan::Plan;
use super::pool::Pool;
use super::work::{Hands, Sharing};
use super::{Progress, Sweep};
use crate::engine::default_jobs;
use crate::store::{FORMAT, Manifest, Store};
use crate::{Cancel, Engine, Error};
use std::path::Path;

/// Runs `plan`. With a `dir`, finished runs are stored there at once, and what is stored there already is not run again.
/// When `cancel` is wished the cells under way finish, and what there is comes back as an incomplete sweep.
///
/// # Errors
/// A cell fails; what is stored cannot be read or written, or is of another sweep.
pub fn sweep(
    plan: &Plan,
    engine: &dyn Engine,
    dir: Option<&Path>,
    progress: &mut dyn Progress,
    cancel: &Cancel,
) -> Result<Sweep, Error> {
    let pool = Pool::new(plan.jobs.unwrap_or_else(|| default_jobs(engine)));
    sweep_by(&mut Hands::Here(pool), plan, engine, dir, progress, cancel)
}

/// The same with runs made by this crew. What the engine here is called, and is built of, theirs has to be, too.
///
/// # Errors
/// As [`sweep`]; the crew is lost; the engine is live: its runs depend on the machine.
pub fn elsewhere(
    plan: &Plan,
    engine: &dyn Engine,
    dir: Option<&Path>,
    crew: &mut dyn Crew,
    progress: &mut dyn Progress,
    cancel: &Cancel,
) -> Result<Sweep, Error> {
    if engine.is_live() {
        let reason = format!("the {} engine runs only on this machine, on no cluster", engine.name());
        return Err(Error::Scenario { point: String::new(), reason });
    }
    sweep_by(&mut Hands::Elsewhere(crew), plan, engine, dir, progress, cancel)
}

fn sweep_by(
    hands: &mut Hands<'_>,
    plan: &Plan,
    engine: &dyn Engine,
    dir: Option<&Path>,
    progress: &mut dyn Progress,
    cancel: &Cancel,
) -> Result<Sweep, Error> {
    // Only live engines refuse what can be read, and a live grid is small.
    for point in (0..plan.grid.size()).filter(|_| engine.is_live()) {
        if let Some(reason) = engine.refuses(plan.grid.scenario(point)?.as_ref()) {
            return Err(Error::Scenario { point: plan.grid.label(point), reason });
        }
    }
    let mut store = None;
    if let Some(dir) = dir {
        let (opened, changed) = Store::open(dir, &manifest(plan, engine)?, plan.grid.digests())?;
        changed.iter().for_each(|what| progress.warned(what));
        store = Some(opened);
    }
    let mut sharing = Sharing::new(plan, engine, store, plan.cells()?, progress);
    sharing.refresh()?;
    let complete = sharing.until_enough(hands, cancel)?;
    sharing.result(complete)
}

fn manifest(plan: &Plan, engine: &dyn Engine) -> Result<Manifest, Error> {
    let build = engine.build().into_owned();
    let name = match plan.grid.size() {
        0 => String::new(),
        _ => plan.grid.scenario(0)?.name.clone(),
    };
    Ok(Manifest {
        format: FORMAT,
        truckee: env!("CARGO_PKG_VERSION").to_owned(),
        engine: engine.name().to_owned(),
        live: Some(engine.is_live()),
        builds: vec![format!("{} ({build})", env!("CARGO_PKG_VERSION"))],
        build,
        scenario: name,
        axes: plan.grid.axes.clone(),
        metrics: plan.metrics.iter().map(|m| m.name().to_owned()).collect(),
        asked: plan.asked.clone(),
        commands: vec![plan.command.clone()],
    })
}
