//! `truckee lab`: the laboratory as one page that runs in a browser.

use crate::error::Error;
use crate::progress::note;
use crate::variants;
use std::io::Write;
use std::path::{Path, PathBuf};
use truckee_engines::Simulator;
use truckee_engines::drive::Algorithms;
use truckee_lab::study::{self, Study};
use truckee_lab::{Engine, disk};
use truckee_web::{Example, Page};

/// Write the laboratory as one self-contained page that runs in a browser, without a network
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The scenario that it opens with [default: an example]
    #[arg(value_name = "SCENARIO.toml")]
    scenario: Option<PathBuf>,
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
  truckee lab scenario.toml --out lab.html
  truckee lab --engine target/wasm32-unknown-unknown/web/truckee_web.wasm";

/// Empty where the build had none: see build.rs.
const ENGINE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/engine.wasm"));

/// The examples that need no file beside them. The page opens with the first one. `gallery` is a link to their folder, which a
/// package of this crate has as a folder.
const SCENARIOS: [(&str, &str); 5] = [
    ("lossless.toml", include_str!("../gallery/lossless.toml")),
    ("wireless.toml", include_str!("../gallery/wireless.toml")),
    ("dumbbell.toml", include_str!("../gallery/dumbbell.toml")),
    ("handoff.toml", include_str!("../gallery/handoff.toml")),
    ("divided.toml", include_str!("../gallery/divided.toml")),
];

/// Writes the page.
pub fn lab(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Error> {
    let read = |path: &Path| std::fs::read(path).map_err(|e| truckee_lab::Error::read(path, e));
    let given = arguments.engine.as_deref().map(read).transpose()?;
    let engine = given.as_deref().unwrap_or(ENGINE);
    if engine.is_empty() {
        return Err(Error::Usage(
            "this truckee was built without the simulator for browsers: `make web` builds that, and --engine takes its file"
                .to_owned(),
        ));
    }
    let mut examples = Vec::new();
    if let Some(path) = &arguments.scenario {
        let text = String::from_utf8_lossy(&read(path)?).into_owned();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        examples.push(example("Given", &name, text));
    }
    examples.extend(SCENARIOS.map(|(name, text)| example("Examples", name, text.to_owned())));
    examples.extend(study::builtin(&Algorithms)?.into_iter().filter_map(of_study));
    let names = variants::placed()?;
    let page = Page { engine, names, examples }.html().map_err(|e| Error::Failed(e.to_string()))?;
    disk::write(&arguments.out, page.as_bytes())?;
    note("open it in a browser; it needs no network");
    Ok(writeln!(out, "{}", arguments.out.display())?)
}

/// What its first comment says is what it shows.
fn example(group: &str, name: &str, text: String) -> Example {
    let said = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default();
    let title = said.split_inclusive(['.', '?', ':']).next().unwrap_or(said).trim_end_matches(['.', ':']);
    Example { group: group.to_owned(), name: name.to_owned(), title: title.to_owned(), text }
}

/// The scenario that a study varies, where the simulator alone runs it, from nothing but its text.
fn of_study(study: Study) -> Option<Example> {
    let simulated = study.engines(false).iter().all(|engine| engine.as_str() == Engine::name(&Simulator));
    if !simulated || !study.recordings.is_empty() {
        return None;
    }
    let text = study.scenario.filter(|text| !text.contains("file ="))?;
    let what =
        format!("# {}: {}.\n# {}, {}.\n\n", study.id, study.title, study.source.paper, study.source.place);
    Some(Example {
        group: study.source.paper,
        name: format!("{}.toml", study.id),
        title: study.title,
        text: what + text.trim_start(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use truckee_scenario::Document;

    #[test]
    fn every_scenario_of_the_gallery_can_be_read() {
        let studies: Vec<_> = study::builtin(&Algorithms).unwrap().into_iter().filter_map(of_study).collect();
        assert!(studies.len() > 30, "{}", studies.len());
        let all = SCENARIOS.map(|(name, text)| example("", name, text.to_owned()));
        for one in all.into_iter().chain(studies) {
            assert!(!one.title.is_empty(), "{}", one.name);
            if let Err(errors) =
                Document::parse(&one.name, &one.text).and_then(|document| document.scenario())
            {
                panic!("{errors}");
            }
        }
    }
}
