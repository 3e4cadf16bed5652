//! Probes of many servers, kept as they are finished.
//!
//! ```text
//! DIR/probe.json            how servers are probed: a campaign that goes on must be the same
//! DIR/probe.lock            locked by the one process that writes here
//! DIR/servers/HASH.json     one finished server; HASH is of its URL
//! DIR/servers.parquet       a row a server
//! DIR/tests.parquet         a row a test
//! DIR/sites.parquet         a row a test of a server: the least, the mean and the most of its repetitions
//! ```
//!
//! A file is there whole or not at all: a campaign that is killed loses the server it was at, and no other.

use super::kept::Kept;
use super::tables;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use truckee_kernel::probe::Options;
use truckee_lab::store::{build, changed};
use truckee_lab::{Error, disk};

/// How servers are probed, as far as results hang on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The program's version.
    pub truckee: String,
    /// The tests, by their letters, and after commas those of one's own.
    pub tests: String,
    /// How often each.
    pub repeat: u32,
    /// Whether it was asked which TCP they are.
    #[serde(default)]
    pub identify: bool,
    /// Largest segment announced, bytes.
    pub mss: Option<u32>,
    /// IP's version: `any`, `four` or `six`.
    pub family: String,
    /// Whether redirects were followed.
    pub follow: bool,
    /// How long a server is watched, s.
    pub watch_s: f64,
    /// How long one is waited for, s.
    pub patience_s: f64,
}

impl Settings {
    /// Those of these options.
    pub fn of(o: &Options) -> Self {
        Self {
            truckee: env!("CARGO_PKG_VERSION").to_owned(),
            tests: o.words(),
            repeat: o.repeat,
            identify: o.identify,
            mss: o.mss,
            family: format!("{:?}", o.family).to_lowercase(),
            follow: o.follow,
            watch_s: o.watch.as_secs_f64(),
            patience_s: o.patience.as_secs_f64(),
        }
    }
}

/// A directory of finished servers, locked for this process.
#[derive(Debug)]
pub struct Campaign {
    dir: PathBuf,
    kept: BTreeMap<String, Kept>,
    changed: Option<String>,
    /// Held as long as this lives; the system releases it if the process dies.
    _lock: File,
}

impl Campaign {
    /// Opens `dir`, creating it if need be. Errors: another process has it open, its servers were probed otherwise, it
    /// cannot be written, or not be read. A file that is not what was written is as if its server had not been probed.
    pub fn open(dir: &Path, settings: &Settings) -> Result<Self, Error> {
        let servers = dir.join("servers");
        disk::folder(dir)?;
        disk::folder(&servers)?;
        let lock = disk::lock(dir, "probe.lock")?;
        let changed = claim(dir, settings)?;
        let mut kept = BTreeMap::new();
        for entry in fs::read_dir(&servers).map_err(|e| Error::read(&servers, e))? {
            let path = entry.map_err(|e| Error::read(&servers, e))?.path();
            if path.extension().is_none_or(|ending| ending != "json") {
                continue;
            }
            let text = fs::read(&path).map_err(|e| Error::read(&path, e))?;
            let read: Option<Kept> = serde_json::from_slice(&text).ok();
            if let Some(one) = read.filter(|one| path == file_of(dir, &one.url)) {
                kept.insert(one.url.clone(), one);
            }
        }
        Ok(Self { dir: dir.to_owned(), kept, changed, _lock: lock })
    }

    /// That it was begun by another build of the program, in words; `None`: by this one.
    pub fn changed(&self) -> Option<&str> {
        self.changed.as_deref()
    }

    /// What is known of a URL.
    pub fn get(&self, url: &str) -> Option<&Kept> {
        self.kept.get(url)
    }

    /// Keeps a server. When this returns it is on disk for good.
    pub fn keep(&mut self, kept: Kept) -> Result<(), Error> {
        let bytes = serde_json::to_vec(&kept).map_err(|e| Error::Internal(e.to_string()))?;
        disk::write(&file_of(&self.dir, &kept.url), &bytes)?;
        self.kept.insert(kept.url.clone(), kept);
        Ok(())
    }

    /// All servers, in order of their URLs.
    pub fn servers(&self) -> impl Iterator<Item = &Kept> {
        self.kept.values()
    }

    /// Writes the tables. Returns the files.
    pub fn finish(&self) -> Result<Vec<PathBuf>, Error> {
        let all: Vec<&Kept> = self.servers().collect();
        let mut files = Vec::new();
        for (name, bytes) in [
            ("servers.parquet", tables::servers(&all)),
            ("tests.parquet", tables::tests(&all)),
            ("sites.parquet", tables::sites(&all)),
        ] {
            let path = self.dir.join(name);
            disk::write(&path, &bytes.map_err(|e| Error::Internal(e.to_string()))?)?;
            files.push(path);
        }
        Ok(files)
    }
}

fn file_of(dir: &Path, url: &str) -> PathBuf {
    let hash: String = Sha256::digest(url.as_bytes()).iter().take(16).map(|b| format!("{b:02x}")).collect();
    dir.join("servers").join(format!("{hash}.json"))
}

/// `probe.json`.
#[derive(Serialize, Deserialize)]
struct Begun {
    #[serde(flatten)]
    settings: Settings,
    /// The builds of the program that worked on it, the first one first.
    #[serde(default)]
    builds: Vec<String>,
}

/// Writes down how servers are probed, or holds it against what is there. Returns what is to be said if the build before
/// was another one.
fn claim(dir: &Path, settings: &Settings) -> Result<Option<String>, Error> {
    let path = dir.join("probe.json");
    let now = build();
    let (mut builds, mut other) = (Vec::new(), None);
    match fs::read(&path) {
        Ok(text) => {
            let there: Begun = serde_json::from_slice(&text).map_err(|e| Error::read(&path, e))?;
            if there.settings != *settings {
                return Err(Error::OtherCampaign { dir: dir.to_owned() });
            }
            other = changed(&there.builds, &now);
            if other.is_none() {
                return Ok(None);
            }
            builds = there.builds;
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
        Err(e) => return Err(Error::read(&path, e)),
    }
    builds.push(now);
    let begun = Begun { settings: settings.clone(), builds };
    let bytes = serde_json::to_vec_pretty(&begun).map_err(|e| Error::Internal(e.to_string()))?;
    disk::write(&path, &bytes)?;
    Ok(other.map(|what| format!("{}: {what}", dir.display())))
}
