//! `truckee lab`: the laboratory as one page that runs in a browser.

use crate::error::Error;
use crate::input::overridden;
use crate::progress::note;
use crate::variants;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use truckee_engines::Simulator;
use truckee_engines::drive::Algorithms;
use truckee_lab::study::{self, Study};
use truckee_lab::{Engine, disk};
use truckee_look::report;
use truckee_look::study::sketches;
use truckee_scenario::Document;
use truckee_web::{Example, Page, Recording};

/// Write the laboratory as one self-contained page that runs in a browser, without a network
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The scenario that it opens with [default: an example]
    #[arg(value_name = "SCENARIO.toml")]
    scenario: Option<PathBuf>,
    /// Override a value of it: flow.sender=sack, link.0.rate=2Mbit/s, channel.per_bad=0.5 (repeatable)
    #[arg(long, value_name = "PATH=VALUE", requires = "scenario")]
    set: Vec<String>,
    /// Write no page, but print what the address of any of these pages needs behind its # to open with this scenario
    #[arg(long, requires = "scenario", conflicts_with_all = ["out", "engine"])]
    link: bool,
    /// Write the page to this file
    #[arg(long, value_name = "FILE.html", default_value = "lab.html")]
    out: PathBuf,
    /// The simulator as a browser runs it, which `make web` builds, in place of the one that is built in
    #[arg(long, value_name = "FILE.wasm")]
    engine: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  truckee lab
  truckee lab scenario.toml --set flow.sender=cubic --out lab.html
  truckee lab scenario.toml --link
  truckee lab --engine target/wasm32-unknown-unknown/web/truckee_web.wasm";

/// Empty where the build had none: see build.rs.
const ENGINE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/engine.wasm"));

/// The examples. The page opens with the first one. `gallery` is a link to their folder, which a
/// package of this crate has as a folder.
const SCENARIOS: [(&str, &str); 6] = [
    ("lossless.toml", include_str!("../gallery/lossless.toml")),
    ("wireless.toml", include_str!("../gallery/wireless.toml")),
    ("dumbbell.toml", include_str!("../gallery/dumbbell.toml")),
    ("handoff.toml", include_str!("../gallery/handoff.toml")),
    ("divided.toml", include_str!("../gallery/divided.toml")),
    ("cellular-trace.toml", include_str!("../gallery/cellular-trace.toml")),
];
/// What they name.
const TRACE: (&str, &str) = ("cellular.trace", include_str!("../gallery/cellular.trace"));

/// A run on Linux's TCP, as `truckee run` left it: in `recorded`, with how it was made.
const RECORDED: (&str, &str, [(&str, &[u8]); 3]) = (
    "kernel-newreno",
    "A run on Linux's own TCP, recorded: over an emulated path, with the same losses as the simulator's run",
    [
        ("result.json", include_bytes!("../recorded/kernel-newreno/result.json")),
        ("series.parquet", include_bytes!("../recorded/kernel-newreno/series.parquet")),
        ("queues.parquet", include_bytes!("../recorded/kernel-newreno/queues.parquet")),
    ],
);

/// Writes the page, or a link to one.
pub fn lab(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Error> {
    let read = |path: &Path| std::fs::read(path).map_err(|e| truckee_lab::Error::read(path, e));
    let opened = arguments.scenario.as_deref().map(|path| given(path, &arguments.set)).transpose()?;
    if let (true, Some((name, text))) = (arguments.link, &opened) {
        return Ok(writeln!(out, "{}", truckee_web::link(name, text)?)?);
    }
    let given = arguments.engine.as_deref().map(read).transpose()?;
    let engine = given.as_deref().unwrap_or(ENGINE);
    if engine.is_empty() {
        return Err(Error::Usage(
            "this truckee was built without the simulator for browsers: `make web` builds that, and --engine takes its file"
                .to_owned(),
        ));
    }
    let mut examples = Vec::new();
    if let Some((name, text)) = opened {
        examples.push(example("Given", &name, text));
    }
    examples.extend(SCENARIOS.map(|(name, text)| example("Examples", name, text.to_owned())));
    let mut studies = Vec::new();
    for study in study::builtin(&Algorithms)? {
        let Some(one) = of_study(&study) else { continue };
        studies.push((one.name.clone(), sketches(&study)?));
        examples.push(one);
    }
    let names = variants::placed()?;
    let page = Page { engine, names, examples, studies, recordings: vec![recorded()?] }
        .html()
        .map_err(|e| Error::Failed(e.to_string()))?;
    disk::write(&arguments.out, page.as_bytes())?;
    note("open it in a browser; it needs no network");
    Ok(writeln!(out, "{}", arguments.out.display())?)
}

/// A scenario's name and its text, with what is overridden written into it.
fn given(path: &Path, sets: &[String]) -> Result<(String, String), Error> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut document = Document::read(path)?;
    overridden(&mut document, sets)?;
    Ok((name, document.overwritten()))
}

/// The recorded run, drawn as any run is.
fn recorded() -> Result<Recording, Error> {
    let (name, says, files) = RECORDED;
    let dir = tempfile::tempdir()?;
    for (file, bytes) in files {
        std::fs::write(dir.path().join(file), bytes)?;
    }
    let live = report::of_recorded(dir.path())?;
    let live = serde_json::from_str(&live).map_err(|e| Error::Failed(e.to_string()))?;
    Ok(Recording { name: name.to_owned(), says: says.to_owned(), live })
}

/// What its first comment says is what it shows.
fn example(group: &str, name: &str, text: String) -> Example {
    let said = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default();
    let title = said.split_inclusive(['.', '?', ':']).next().unwrap_or(said).trim_end_matches(['.', ':']);
    let (file, trace) = TRACE;
    let named = text.contains(&format!("file = \"{file}\"")).then(|| (file.to_owned(), trace.to_owned()));
    let files = named.into_iter().collect();
    Example { group: group.to_owned(), name: name.to_owned(), title: title.to_owned(), text, files }
}

/// The scenario that a study varies, where the simulator alone runs it, from nothing but its text.
fn of_study(study: &Study) -> Option<Example> {
    let simulated = study.engines(false).iter().all(|engine| engine.as_str() == Engine::name(&Simulator));
    if !simulated || !study.recordings.is_empty() {
        return None;
    }
    let text = study.scenario.as_deref().filter(|text| !text.contains("file ="))?;
    let what =
        format!("# {}: {}.\n# {}, {}.\n\n", study.id, study.title, study.source.paper, study.source.place);
    Some(Example {
        group: study.source.paper.clone(),
        name: format!("{}.toml", study.id),
        title: study.title.clone(),
        text: what + text.trim_start(),
        files: BTreeMap::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use truckee_scenario::Document;

    #[test]
    fn every_scenario_of_the_gallery_can_be_read() {
        let studies: Vec<_> = study::builtin(&Algorithms).unwrap().iter().filter_map(of_study).collect();
        assert!(studies.len() > 30, "{}", studies.len());
        let all = SCENARIOS.map(|(name, text)| example("", name, text.to_owned()));
        for one in all.into_iter().chain(studies) {
            assert!(!one.title.is_empty(), "{}", one.name);
            if let Err(errors) = Document::parse(&one.name, &one.text)
                .and_then(|document| document.with_files(one.files.into_iter().collect()).scenario())
            {
                panic!("{errors}");
            }
        }
    }
}
