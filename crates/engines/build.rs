//! Says what decides the records of each engine: a hash of the sources of the crates that it is made of, and of the versions
//! of what they depend on. Not of a binary or a profile, so that a command, a wheel and a page of a browser that were built
//! of the same sources share what they have run.
//!
//! Where the sources of the other crates are not beside these, as in a crate from a registry, its version stands for them:
//! what is published under one never changes.

use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};
use toml::Table;

type Failed = Box<dyn Error>;

fn main() -> Result<(), Failed> {
    for (name, build) in builds(Path::new(&env::var("CARGO_MANIFEST_DIR")?), &env::var("CARGO_PKG_VERSION")?)?
    {
        println!("cargo::rustc-env=TRUCKEE_{name}_BUILD={build}");
    }
    Ok(())
}

/// What decides the records of each engine, by their names; `here`: this crate's folder, of this version.
pub fn builds(here: &Path, version: &str) -> Result<Vec<(&'static str, String)>, Failed> {
    // Without a `..`: what is hashed are the paths below it.
    let root = here.ancestors().nth(2).unwrap_or(here);
    let lab = root.join("crates/lab/src");
    // What takes the numbers of a record from an outcome decides it, too.
    let common = [lab.join("metric.rs"), lab.join("metric")];
    let kernel = [here.join("src/live.rs"), here.join("src/probe.rs")];
    let simulator = [here.join("src/simulator.rs")];
    let mut builds = Vec::new();
    for (name, package, own) in
        [("SIM", "truckee-net", &simulator[..]), ("KERNEL", "truckee-kernel", &kernel[..])]
    {
        let build = match fs::read_to_string(root.join("Cargo.toml")) {
            Ok(workspace) if root.join("crates/net").exists() => {
                let files = common.iter().chain(own);
                of_sources(root, &workspace.parse()?, package, files)?
            }
            _ => format!("release {version}"),
        };
        builds.push((name, build));
    }
    Ok(builds)
}

/// The digits of a crate of the workspace, of those it depends on, and of these files and folders.
fn of_sources<'p>(
    root: &Path,
    workspace: &Table,
    package: &str,
    more: impl Iterator<Item = &'p PathBuf>,
) -> Result<String, Failed> {
    let (mut ours, mut others) = (BTreeSet::new(), BTreeSet::new());
    let mut open = vec![package.to_owned()];
    while let Some(name) = open.pop() {
        let Some(folder) = folder_of(workspace, &name) else {
            others.insert(name);
            continue;
        };
        if ours.insert(folder.to_owned()) {
            let manifest: Table = fs::read_to_string(root.join(folder).join("Cargo.toml"))?.parse()?;
            dependencies(&manifest, &mut open);
        }
    }
    let mut hash = Sha256::new();
    let mut files = Vec::new();
    for folder in ours.iter().map(|folder| root.join(folder)) {
        for part in ["Cargo.toml", "build.rs", "src", "bpf"] {
            collect(&folder.join(part), &mut files)?;
        }
    }
    for path in more {
        collect(path, &mut files)?;
    }
    files.sort();
    for file in files {
        // A path that does not depend on where the sources are.
        let name = file.strip_prefix(root)?.to_string_lossy().replace('\\', "/");
        let bytes = fs::read(&file)?;
        hash.update(name);
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    }
    let lock = root.join("Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    println!("cargo::rerun-if-changed={}", root.join("Cargo.toml").display());
    locked(&fs::read_to_string(lock)?.parse()?, others).iter().for_each(|version| hash.update(version));
    Ok(hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

/// Where the workspace has a crate of this name.
fn folder_of<'w>(workspace: &'w Table, name: &str) -> Option<&'w str> {
    workspace.get("workspace")?.get("dependencies")?.get(name)?.get("path")?.as_str()
}

/// Adds the names of what a manifest depends on, on any system; what only tests need is none of it.
fn dependencies(manifest: &Table, names: &mut Vec<String>) {
    let targets = manifest.get("target").and_then(|t| t.as_table()).into_iter().flat_map(|t| t.values());
    for table in std::iter::once(manifest).chain(targets.filter_map(|target| target.as_table())) {
        for kind in ["dependencies", "build-dependencies"] {
            names.extend(
                table.get(kind).and_then(|d| d.as_table()).into_iter().flat_map(|d| d.keys()).cloned(),
            );
        }
    }
}

/// The locked versions of these, and of all that they depend on.
fn locked(lock: &Table, names: BTreeSet<String>) -> BTreeSet<String> {
    let mut known: BTreeMap<&str, Vec<&Table>> = BTreeMap::new();
    let packages = lock.get("package").and_then(|p| p.as_array()).into_iter().flatten();
    for package in packages.filter_map(|p| p.as_table()) {
        known.entry(text(package, "name")).or_default().push(package);
    }
    let (mut all, mut open) = (BTreeSet::new(), names.into_iter().collect::<Vec<_>>());
    while let Some(name) = open.pop() {
        // `name` or, where there are several, `name version`.
        let mut words = name.split(' ');
        let (name, version) = (words.next().unwrap_or_default(), words.next());
        for package in known.get(name).into_iter().flatten() {
            let is = text(package, "version");
            if version.is_some_and(|version| version != is) {
                continue;
            }
            if all.insert(format!("{name} {is} {}\n", text(package, "checksum"))) {
                let depends = package.get("dependencies").and_then(|d| d.as_array()).into_iter().flatten();
                open.extend(depends.filter_map(|d| d.as_str()).map(str::to_owned));
            }
        }
    }
    all
}

fn text<'t>(table: &'t Table, key: &str) -> &'t str {
    table.get(key).and_then(|value| value.as_str()).unwrap_or_default()
}

/// All files at or below a path but those of tests; what is not there has none.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failed> {
    let is_test = path.file_stem().is_some_and(|name| name == "tests");
    if is_test || !path.exists() {
        return Ok(());
    }
    println!("cargo::rerun-if-changed={}", path.display());
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            collect(&entry?.path(), files)?;
        }
    } else {
        files.push(path.to_owned());
    }
    Ok(())
}
