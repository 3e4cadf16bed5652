//! The page: one file with its scripts, its examples and the simulator as a browser runs it. It opens from a disk.
//!
//! Its content security policy lets nothing out and nothing in: its scripts are named by their digests, workers
//! are made of text within the page, and what scenarios say is never taken for markup.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, context};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::Write;
use truckee_look::report::{SCRIPTS, STYLES};
use truckee_look::study::Sketch;

/// What a worker runs.
const WORKER: [&str; 2] = [include_str!("../page/engine.js"), include_str!("../page/worker.js")];
/// What the page runs beside the scripts of reports; the first one is CodeMirror, see `page/vendor/codemirror/LICENSE`.
const PAGE: [&str; 13] = [
    include_str!("../page/vendor/codemirror/codemirror.iife.min.js"),
    include_str!("../page/hands.js"),
    include_str!("../page/link.js"),
    include_str!("../page/names.js"),
    include_str!("../page/editor.js"),
    include_str!("../page/knobs.js"),
    include_str!("../page/path.js"),
    include_str!("../page/results.js"),
    include_str!("../page/seeds.js"),
    include_str!("../page/files.js"),
    include_str!("../page/lessons.js"),
    include_str!("../page/studies.js"),
    include_str!("../page/lab.js"),
];
const STYLE: &str = include_str!("../page/lab.css");
const TEMPLATE: &str = include_str!("../page/lab.html");
/// The scenarios that stand side by side: their letter in the page's identifiers, what they are called, and their element.
const SIDES: [(&str, &str, &str); 2] = [("a", "Scenario A", "scenario"), ("b", "Scenario B", "variant")];
/// How WebAssembly begins.
const MAGIC: &[u8] = b"\0asm";

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was given as the simulator is none.
    #[error("that is no WebAssembly: it begins with {begins:?}, not with {MAGIC:?}")]
    Engine {
        /// Its first bytes.
        begins: Vec<u8>,
    },
    /// The page cannot be put together, which is a fault of ours.
    #[error("cannot write the page: {0}")]
    Internal(String),
}

/// A scenario to begin with.
#[derive(Debug, Clone, Serialize)]
pub struct Example {
    /// What it is one of, such as a paper.
    pub group: String,
    /// Its file's name.
    pub name: String,
    /// What it shows, in a line.
    pub title: String,
    /// The file.
    pub text: String,
    /// Files that it names, with their texts.
    pub files: BTreeMap<String, String>,
}

/// What goes into a page.
#[derive(Debug)]
pub struct Page<'a> {
    /// This crate as WebAssembly.
    pub engine: &'a [u8],
    /// What can be named in a scenario, as `truckee variants` has it, each with its `place`.
    pub names: Vec<Value>,
    /// The page opens with the first one.
    pub examples: Vec<Example>,
    /// The figures of studies, by the names of their examples, as [`truckee_look::study::sketches`] has them.
    pub studies: Vec<(String, Vec<Sketch>)>,
    /// Runs of other engines, which lessons play.
    pub recordings: Vec<Recording>,
}

/// A run that was recorded.
#[derive(Debug, Clone, Serialize)]
pub struct Recording {
    /// What lessons call it.
    pub name: String,
    /// What it is a run of, in a sentence.
    pub says: String,
    /// The page of the run, as [`truckee_look::report::of_run`] has it.
    pub live: Value,
}

impl Page<'_> {
    /// The page's text.
    ///
    /// # Errors
    /// The simulator is no WebAssembly.
    pub fn html(&self) -> Result<String, Error> {
        let fail = |e: &dyn std::fmt::Display| Error::Internal(e.to_string());
        if !self.engine.starts_with(MAGIC) {
            return Err(Error::Engine { begins: self.engine.iter().take(4).copied().collect() });
        }
        let packed = |bytes: &[u8]| {
            let mut packer = GzEncoder::new(Vec::new(), Compression::best());
            packer.write_all(bytes).and_then(|()| packer.finish()).map(|gz| STANDARD.encode(gz))
        };
        let engine = packed(self.engine).map_err(|e| fail(&e))?;
        let studies: BTreeMap<_, _> = self.studies.iter().map(|(name, sketches)| (name, sketches)).collect();
        let more = json!({ "studies": studies, "recordings": self.recordings });
        let more = packed(more.to_string().as_bytes()).map_err(|e| fail(&e))?;
        let scripts: Vec<&str> = SCRIPTS.into_iter().chain(PAGE).collect();
        let digests: Vec<String> = scripts.iter().map(|script| digest(script)).collect();
        let lessons = crate::lessons::lessons().map_err(Error::Internal)?;
        let known = json!({
            "names": self.names, "examples": self.examples, "lessons": lessons,
            "studied": studies.keys().collect::<Vec<_>>(),
        });
        // No `<` ends the element early.
        let known = serde_json::to_string(&known).map_err(|e| fail(&e))?.replace('<', "\\u003c");
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        let blocks = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(blocks.map_err(|e| fail(&e))?);
        environment.add_template("lab.html", TEMPLATE).map_err(|e| fail(&e))?;
        let template = environment.get_template("lab.html").map_err(|e| fail(&e))?;
        template
            .render(context! {
                digests => digests.join(" "),
                engine,
                known,
                more,
                scripts,
                sides => SIDES,
                styles => [STYLES.concat(), STYLE.to_owned()].concat(),
                version => env!("CARGO_PKG_VERSION"),
                worker => WORKER.concat(),
            })
            .map_err(|e| fail(&e))
    }
}

/// How a content security policy names a script.
fn digest(script: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(script)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(engine: &[u8]) -> Result<String, Error> {
        let example = Example {
            group: "t".into(),
            name: "</script><b>.toml".into(),
            title: "t".into(),
            text: "duration = \"1s\" # </script>".into(),
            files: BTreeMap::new(),
        };
        Page {
            engine,
            names: vec![json!({ "name": "<i>" })],
            examples: vec![example],
            studies: Vec::new(),
            recordings: Vec::new(),
        }
        .html()
    }

    #[test]
    fn the_page_names_its_scripts_by_their_digests_and_lets_nothing_else_in() {
        let html = page(b"\0asm").unwrap();
        let scripts: Vec<_> =
            html.split("<script>").skip(1).map(|rest| rest.split("</script>").next().unwrap()).collect();
        assert_eq!(scripts.len(), SCRIPTS.len() + PAGE.len());
        for script in scripts {
            assert!(html.contains(&digest(script)), "{}", script.lines().next().unwrap());
        }
        assert!(!html.contains("<b>.toml") && !html.contains("<i>"), "what is named is no markup");
        for fetched in [" src=", "<link", "@import", "url(http", "XMLHttpRequest", "connect-src"] {
            assert!(!html.contains(fetched), "{fetched}");
        }
    }

    #[test]
    fn what_is_no_web_assembly_is_refused_by_its_first_bytes() {
        let message = page(b"\x7fELF and so on").unwrap_err().to_string();
        assert!(message.contains("[127, 69, 76, 70]"), "{message}");
    }
}
