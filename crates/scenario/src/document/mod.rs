//! A scenario file that has been parsed but not yet resolved: values can still be overridden, and every problem found
//! later can be shown where it was written. Not for: the meaning of keys, which [`crate::decode`] knows.

mod given;
mod overwritten;
mod set;
pub(crate) mod tree;
mod written;

use crate::error::{Error, Errors, Spot};
use crate::nearest::nearest;
pub use given::Given;
use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use toml::de::DeTable;
use tree::{Place, Table};
use truckee_channel::CapacityTrace;
use truckee_tcp::Registry;
pub use written::{Scalar, Written};

/// Scenario files above this many bytes are refused: nobody wrote them by hand, and a mistyped file name should not
/// cost the machine's memory.
pub const MAX_FILE_BYTES: u64 = 16 << 20;

/// A scenario file, parsed, with the places of all its values known. Cheap enough to clone once a run of a sweep.
#[derive(Debug, Clone)]
pub struct Document {
    source: Arc<Source>,
    pub(crate) root: Table,
    traces: Traces,
    /// What there is in place of a disk, if anything.
    files: Option<given::Files>,
    /// What was overridden, in order: path and value.
    overrides: Vec<(String, String)>,
    /// Foreign algorithms that it may name.
    pub(crate) foreign: Arc<Registry>,
}

/// What was read, and from where.
#[derive(Debug)]
struct Source {
    name: String,
    text: String,
}

/// Trace files already read, shared by all clones: the runs of a sweep read each file once.
type Traces = Arc<Mutex<HashMap<PathBuf, Arc<CapacityTrace>>>>;

impl Document {
    /// Reads and parses a file. Files named in it are relative to its folder.
    ///
    /// # Errors
    /// The file cannot be read, is larger than [`MAX_FILE_BYTES`], is not UTF-8, or is not TOML.
    pub fn read(path: &Path) -> Result<Self, Errors> {
        let name = path.display().to_string();
        let fail = |message: String| Error {
            message,
            place: None,
            expected: None,
            help: Some("give the path of a scenario file".into()),
        };
        if path.is_dir() {
            return Err(fail(format!("\"{name}\" is a folder")).into());
        }
        // One byte more than allowed tells a file that is too long, even one without a length such as a pipe.
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path).map_err(|e| {
            let error = fail(format!("cannot read \"{name}\": {e}"));
            let meant = (e.kind() == std::io::ErrorKind::NotFound).then(|| neighbour(path)).flatten();
            Error { help: meant.or(error.help.clone()), ..error }
        })?;
        let read = file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(|e| fail(format!("cannot read \"{name}\": {e}")))?;
        check_size(&name, bytes.len() as u64)?;
        let text = String::from_utf8(bytes).map_err(|e| {
            fail(format!("\"{name}\" is not UTF-8 text: byte {} is none", e.utf8_error().valid_up_to() + 1))
        })?;
        Self::parse(&name, &text)
    }

    /// Parses a text. `name` stands for the file in messages and results; if it is a path, files named in the text are
    /// relative to its folder.
    ///
    /// # Errors
    /// The text is larger than [`MAX_FILE_BYTES`] or is not TOML.
    pub fn parse(name: &str, text: &str) -> Result<Self, Errors> {
        check_size(name, text.len() as u64)?;
        let (table, errors) = DeTable::parse_recoverable(text);
        if !errors.is_empty() {
            let place = |span: Option<std::ops::Range<usize>>| {
                span.map(|span| Box::new(Spot::in_file(name, text, span.start, span.end)))
            };
            // The parser goes on after a mistake, but what it then finds is often the same mistake again.
            let mut list: Vec<Error> = Vec::new();
            for error in errors.iter().take(Errors::MAX) {
                let place = place(error.span());
                let seen =
                    |known: &Error| known.place.as_ref().map(|p| p.line) == place.as_ref().map(|p| p.line);
                if !list.iter().any(seen) {
                    list.push(syntax_error(error.message(), place));
                }
            }
            return Err(Errors { list });
        }
        Ok(Self {
            source: Arc::new(Source { name: name.to_owned(), text: text.to_owned() }),
            root: Table::from_toml(table.get_ref()),
            traces: Traces::default(),
            files: None,
            overrides: Vec::new(),
            foreign: Arc::default(),
        })
    }

    /// The same where these foreign algorithms may be named as any others.
    pub fn among(self, foreign: Registry) -> Self {
        Self { foreign: Arc::new(foreign), ..self }
    }

    /// The same where files that it names are among these: none is read from a disk.
    pub fn with_files(self, files: HashMap<String, String>) -> Self {
        Self { files: Some(Arc::new(files)), ..self }
    }

    /// Overrides a value, as `--set path=value` and the axes of a sweep do. `path` names a key by its way through the
    /// file (`duration`, `link.0.rate`, `link.server-router.delay`, `flow.app.size` for all flows, or a link's key
    /// alone for all links that have it: `channel.per_bad`); `value` is a TOML value or, failing that, a bare string.
    /// FORMAT.md has the rules.
    ///
    /// # Errors
    /// The path meets nothing, or the value begins like an array, table or quoted string and is not a whole one.
    /// Whether the value makes sense is seen when the scenario is resolved.
    pub fn set(&mut self, path: &str, value: &str) -> Result<(), Errors> {
        set::set(&mut self.root, path, value)?;
        self.overrides.push((path.to_owned(), value.to_owned()));
        Ok(())
    }

    /// The file's name as it was given, and its text.
    pub fn source(&self) -> (&str, &str) {
        (&self.source.name, &self.source.text)
    }

    /// Paths and values that were [set](Self::set), in order: together with [the text](Self::source) they are the document.
    pub fn overrides(&self) -> &[(String, String)] {
        &self.overrides
    }

    /// Numbers and names where they stand in the text, in order; without those that were [set](Self::set).
    pub fn written(&self) -> Vec<Written> {
        written::of(&self.root, &self.source.text)
    }

    /// The text with everything that was [set](Self::set) written into it.
    pub fn overwritten(&self) -> String {
        let (table, _) = DeTable::parse_recoverable(&self.source.text);
        overwritten::text(&self.source.text, &Table::from_toml(table.get_ref()), &self.root)
    }

    /// The label of the scenario in results: the file's name without its folder.
    pub(crate) fn label(&self) -> String {
        let name = &self.source.name;
        Path::new(name).file_name().map_or_else(|| name.clone(), |file| file.to_string_lossy().into_owned())
    }

    /// The place as errors carry it.
    pub(crate) fn spot(&self, place: &Place) -> Spot {
        match place {
            Place::File { start, end } => Spot::in_file(&self.source.name, &self.source.text, *start, *end),
            Place::Override { given, key } => set::spot(given, *key),
        }
    }

    /// The trace file called `file` in the scenario, read once. It keeps that name, so that the scenario written out
    /// again finds the file in the same way.
    pub(crate) fn trace(&self, file: &str) -> Result<Arc<CapacityTrace>, truckee_channel::TraceError> {
        let path = Path::new(&self.source.name).parent().unwrap_or(Path::new("")).join(file);
        // A poisoned lock means that another thread died while inserting; the map itself is whole.
        let mut traces = self.traces.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(trace) = traces.get(&path) {
            return Ok(Arc::clone(trace));
        }
        let mut trace = match &self.files {
            Some(files) => given::trace(file, given::text(files, file))?,
            None => CapacityTrace::read(&path)?,
        };
        trace.name = file.to_owned();
        let trace = Arc::new(trace);
        traces.insert(path, Arc::clone(&trace));
        Ok(trace)
    }
}

impl Document {
    /// The text of the file called `file` in the scenario.
    pub(crate) fn text_of(&self, file: &str) -> Result<String, String> {
        let path = Path::new(&self.source.name).parent().unwrap_or(Path::new("")).join(file);
        let cannot = |error: std::io::Error| format!("cannot read \"{}\": {error}", path.display());
        if let Some(files) = &self.files {
            return given::text(files, file).map(str::to_owned).map_err(cannot);
        }
        let mut text = String::new();
        let mut opened = std::fs::File::open(&path).map_err(cannot)?.take(MAX_FILE_BYTES + 1);
        opened.read_to_string(&mut text).map_err(cannot)?;
        match text.len() as u64 <= MAX_FILE_BYTES {
            true => Ok(text),
            false => Err(format!("\"{}\" has more than {} MiB", path.display(), MAX_FILE_BYTES >> 20)),
        }
    }
}

/// Asks whether a file of the same folder was meant whose name is most like that of `path`, if one is.
fn neighbour(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let names: Vec<String> =
        entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    let name = path.file_name()?.to_string_lossy();
    let near = nearest(&name, names.iter().map(String::as_str))?;
    let file = folder.map_or_else(|| PathBuf::from(near), |folder| folder.join(near));
    Some(format!("did you mean \"{}\"?", file.display()))
}

/// Refuses more than [`MAX_FILE_BYTES`].
fn check_size(name: &str, bytes: u64) -> Result<(), Errors> {
    if bytes <= MAX_FILE_BYTES {
        return Ok(());
    }
    Err(Errors::from(Error {
        message: format!("\"{name}\" is too long"),
        place: None,
        expected: Some(format!("a scenario of at most {} MiB", MAX_FILE_BYTES >> 20)),
        help: None,
    }))
}

/// Turns the parser's `what, expected such` into an error of ours.
fn syntax_error(message: &str, place: Option<Box<Spot>>) -> Error {
    let (what, expected) = match message.split_once(", expected ") {
        Some((what, expected)) => (what, Some(expected.to_owned())),
        None if message.contains("duplicate") => (message, Some("each key once in its table".to_owned())),
        None => (message, Some("TOML as at https://toml.io".to_owned())),
    };
    Error { message: format!("not valid TOML: {what}"), place, expected, help: None }
}
