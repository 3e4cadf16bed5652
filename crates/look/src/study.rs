//! What people look at of a study that was run: its figures, as SVG and as numbers in `study.json`, which its page is
//! made of.

mod plot;
mod sketch;

use crate::Error;
use crate::figure::{Figure, Map};
use crate::report::study::{FILE, Written};
pub use sketch::{Curve, Sketch, Spot, sketches};
use std::path::Path;
use truckee_lab::disk;
use truckee_lab::study::{Data, Ran, Study, StudyReport, named};

/// Draws the figures and maps of a complete study into `dir`, notes the files in its report, and writes `study.json`.
///
/// # Errors
/// A figure cannot be drawn, or a file not be written.
pub fn keep(study: &Study, ran: &mut Ran, dir: &Path) -> Result<(), Error> {
    let drawn = draw(study, &ran.data, &mut ran.report, dir)?;
    write(&ran.report, drawn, dir)
}

/// Writes `study.json`, which pages are made of.
fn write(report: &StudyReport, Drawn { figures, maps }: Drawn, dir: &Path) -> Result<(), Error> {
    let fail = |e: serde_json::Error| Error::Internal(format!("cannot encode the study: {e}"));
    let written = Written { report: serde_json::to_value(report).map_err(fail)?, figures, maps };
    let json = serde_json::to_vec_pretty(&written).map_err(fail)?;
    Ok(disk::write(&dir.join(FILE), &json)?)
}

/// What was drawn, as numbers.
#[derive(Debug, Default)]
struct Drawn {
    figures: Vec<Figure>,
    maps: Vec<Map>,
}

/// Draws its figures and maps into `dir`, and notes the files in the report.
fn draw(study: &Study, all: &[Data], report: &mut StudyReport, dir: &Path) -> Result<Drawn, Error> {
    disk::folder(dir)?;
    let mut drawn = Drawn::default();
    for part in &study.figures {
        let data = named(study, all, part.of.as_ref(), &format!("figure \"{}\"", part.name))?;
        let path = dir.join(format!("{}.svg", part.name));
        let figure = plot::figure(study, part, data, &report.rows, report.quick)?;
        figure.write(&path)?;
        drawn.figures.push(figure);
        report.figures.push(path);
    }
    for part in &study.maps {
        let data = named(study, all, part.of.as_ref(), &format!("map \"{}\"", part.name))?;
        if let Some(map) = plot::map(study, part, data, report.quick)? {
            let path = dir.join(format!("{}.svg", part.name));
            map.write(&path)?;
            drawn.maps.push(map);
            report.figures.push(path);
        }
    }
    Ok(drawn)
}
