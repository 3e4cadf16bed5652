//! The files a newcomer copies are valid, and explaining one gives the same scenario again.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use std::path::{Path, PathBuf};
use truckee_scenario::{Document, Scenario, explain};

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    files
}

fn resolve(path: &Path) -> Scenario {
    Document::read(path).and_then(|document| document.scenario()).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn every_example_is_a_valid_scenario() {
    let files = examples();
    assert!(files.len() >= 5, "{files:?}");
    for file in files {
        let scenario = resolve(&file);
        assert_eq!(Some(scenario.name.as_str()), file.file_name().and_then(|n| n.to_str()));
        assert!(!scenario.flows.is_empty());
    }
}

#[test]
fn an_explained_example_reads_back_as_the_same_scenario() {
    for file in examples() {
        let scenario = resolve(&file);
        let text = explain(&scenario);
        let document = Document::parse(&file.display().to_string(), &text);
        let again = document.and_then(|d| d.scenario()).unwrap_or_else(|errors| panic!("{errors}\n\n{text}"));
        assert_eq!(again, scenario);
    }
}

#[test]
fn the_explanation_of_the_lossless_example_shows_every_default() {
    let scenario = resolve(&examples().into_iter().find(|f| f.ends_with("lossless.toml")).unwrap());
    insta::assert_snapshot!(explain(&scenario));
}
