//! The build's part of a cell's address: what changes it, and what does not.

#![allow(clippy::unwrap_used)] // a test says so by failing

use std::fs;
use std::path::Path;

#[path = "../build.rs"]
#[expect(dead_code, reason = "its main is for cargo")]
mod build;

/// A workspace with what the build script looks for.
fn workspace(root: &Path) {
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let crates = ["net", "kernel"];
    let paths = crates.map(|name| format!("truckee-{name} = {{ path = \"crates/{name}\" }}\n")).concat();
    write("Cargo.toml", &format!("[workspace.dependencies]\n{paths}"));
    write("Cargo.lock", "[[package]]\nname = \"libm\"\nversion = \"0.2.0\"\nchecksum = \"12\"\n");
    for name in crates {
        write(&format!("crates/{name}/Cargo.toml"), "[dependencies]\nlibm = \"0.2\"\n");
        write(&format!("crates/{name}/src/lib.rs"), &format!("// {name}"));
    }
    for file in
        ["lab/src/metric.rs", "engines/src/simulator.rs", "engines/src/live.rs", "engines/src/probe.rs"]
    {
        write(&format!("crates/{file}"), &format!("// {file}"));
    }
}

fn builds(root: &Path) -> Vec<String> {
    let builds = build::builds(&root.join("crates/engines"), "1.2.3").unwrap();
    assert_eq!(builds.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["SIM", "KERNEL"]);
    builds.into_iter().map(|(_, build)| build).collect()
}

#[test]
fn the_same_sources_are_the_same_build_wherever_they_are() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    // The order of paths does not depend on it either.
    let deep = other.path().join("a/zz/m");
    workspace(one.path());
    workspace(&deep);
    assert_eq!(builds(one.path()), builds(&deep));
}

#[test]
fn what_decides_a_record_is_another_build_and_nothing_else_is() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    workspace(root);
    let first = builds(root);
    let changed = |path: &str, text: &str| {
        let path = root.join(path);
        let before = fs::read(&path).unwrap_or_default();
        fs::write(&path, text).unwrap();
        let now = builds(root);
        fs::write(&path, before).unwrap();
        [now[0] != first[0], now[1] != first[1]]
    };
    assert_eq!(changed("crates/net/src/lib.rs", "// other"), [true, false]);
    assert_eq!(changed("crates/kernel/src/lib.rs", "// other"), [false, true]);
    assert_eq!(changed("crates/engines/src/simulator.rs", "// other"), [true, false]);
    assert_eq!(changed("crates/lab/src/metric.rs", "// other"), [true, true]);
    let lock = "[[package]]\nname = \"libm\"\nversion = \"0.2.1\"\nchecksum = \"13\"\n";
    assert_eq!(changed("Cargo.lock", lock), [true, true]);
    let more = "[[package]]\nname = \"libm\"\nversion = \"0.2.0\"\nchecksum = \"12\"\n[[package]]\nname = \"other\"\nversion = \"1.0.0\"\n";
    assert_eq!(changed("Cargo.lock", more), [false, false], "nobody depends on that");
}
