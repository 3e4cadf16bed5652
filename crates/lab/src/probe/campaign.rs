//! Probes of many servers, kept as they are finished.
//!
//! ```text
//! DIR/probe.json            how servers are probed: a campaign that goes on must be the same
//! DIR/probe.lock            locked by the one process that writes here
//! DIR/servers/HASH.json     one finished server; HASH is of its URL
//! DIR/servers.parquet       a row a server
//! DIR/tests.parquet         a row a test
//! DIR/histograms.svg        data packets and all packets, by server
//! ```
//!
//! A file is there whole or not at all: a campaign that is killed loses the server it was at, and no other.

use super::{histogram, tables};
use crate::Error;
use crate::store::write_durably;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use truckee_kernel::probe::{Conclusion, Observation, Options, Report};

/// How servers are probed, as far as results hang on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The program's version.
    pub truckee: String,
    /// The tests, by their letters.
    pub tests: String,
    /// How often each.
    pub repeat: u32,
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
            tests: o.tests.iter().map(|t| format!("{t:?}")).collect(),
            repeat: o.repeat,
            mss: o.mss,
            family: format!("{:?}", o.family).to_lowercase(),
            follow: o.follow,
            watch_s: o.watch.as_secs_f64(),
            patience_s: o.patience.as_secs_f64(),
        }
    }
}

/// What is kept of a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// The URL as given.
    pub url: String,
    /// The whole report, as the command's JSON has it.
    pub report: serde_json::Value,
    /// Its tests.
    pub tests: Vec<Observation>,
    /// Whether there is a verdict.
    pub judged: bool,
}

impl Kept {
    /// That of a report.
    pub fn of(report: &Report) -> Result<Self, Error> {
        Ok(Self {
            url: report.url.clone(),
            report: serde_json::to_value(report).map_err(|e| Error::Internal(e.to_string()))?,
            tests: report.tests.clone(),
            judged: matches!(report.conclusion, Conclusion::Verdict(_)),
        })
    }
}

/// A directory of finished servers, locked for this process.
#[derive(Debug)]
pub struct Campaign {
    dir: PathBuf,
    kept: BTreeMap<String, Kept>,
    /// Held as long as this lives; the system releases it if the process dies.
    _lock: File,
}

impl Campaign {
    /// Opens `dir`, creating it if need be. Errors: another process has it open, its servers were probed otherwise, it
    /// cannot be written. A file that cannot be read is as if its server had not been probed.
    pub fn open(dir: &Path, settings: &Settings) -> Result<Self, Error> {
        let servers = dir.join("servers");
        fs::create_dir_all(&servers).map_err(|e| Error::write(&servers, e))?;
        let lock = lock(dir)?;
        claim(dir, settings)?;
        let mut kept = BTreeMap::new();
        for entry in fs::read_dir(&servers).map_err(|e| Error::read(&servers, e))? {
            let path = entry.map_err(|e| Error::read(&servers, e))?.path();
            let text = fs::read(&path).unwrap_or_default();
            let read: Option<Kept> = serde_json::from_slice(&text).ok();
            if let Some(one) = read.filter(|one| path == file_of(dir, &one.url)) {
                kept.insert(one.url.clone(), one);
            }
        }
        Ok(Self { dir: dir.to_owned(), kept, _lock: lock })
    }

    /// What is known of a URL.
    pub fn get(&self, url: &str) -> Option<&Kept> {
        self.kept.get(url)
    }

    /// Keeps a server. When this returns it is on disk for good.
    pub fn keep(&mut self, kept: Kept) -> Result<(), Error> {
        let bytes = serde_json::to_vec(&kept).map_err(|e| Error::Internal(e.to_string()))?;
        write_durably(&file_of(&self.dir, &kept.url), &bytes)?;
        self.kept.insert(kept.url.clone(), kept);
        Ok(())
    }

    /// Writes the tables and, if tests A and C were made, the histograms. Returns the files.
    pub fn finish(&self) -> Result<Vec<PathBuf>, Error> {
        let all: Vec<&Kept> = self.kept.values().collect();
        let mut files = Vec::new();
        for (name, bytes) in
            [("servers.parquet", tables::servers(&all)), ("tests.parquet", tables::tests(&all))]
        {
            let path = self.dir.join(name);
            write_durably(&path, &bytes.map_err(|e| Error::Internal(e.to_string()))?)?;
            files.push(path);
        }
        if let Some(figure) = histogram::figure(&all) {
            let path = self.dir.join("histograms.svg");
            figure.write(&path)?;
            files.push(path);
        }
        Ok(files)
    }
}

fn file_of(dir: &Path, url: &str) -> PathBuf {
    let hash: String = Sha256::digest(url.as_bytes()).iter().take(16).map(|b| format!("{b:02x}")).collect();
    dir.join("servers").join(format!("{hash}.json"))
}

/// Writes down how servers are probed, or holds it against what is there.
fn claim(dir: &Path, settings: &Settings) -> Result<(), Error> {
    let path = dir.join("probe.json");
    match fs::read(&path) {
        Ok(text) => {
            let there: Settings = serde_json::from_slice(&text).map_err(|e| Error::read(&path, e))?;
            if there != *settings {
                return Err(Error::OtherCampaign { dir: dir.to_owned() });
            }
            Ok(())
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            let bytes = serde_json::to_vec_pretty(settings).map_err(|e| Error::Internal(e.to_string()))?;
            write_durably(&path, &bytes)
        }
        Err(e) => Err(Error::read(&path, e)),
    }
}

fn lock(dir: &Path) -> Result<File, Error> {
    let path = dir.join("probe.lock");
    let file = File::options().create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(|e| Error::write(&path, e))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::Locked { dir: dir.to_owned() }),
        Err(TryLockError::Error(e)) => Err(Error::write(&path, e)),
    }
}
