//! Every bad file in the gallery is refused, and the whole text of the refusal is pinned: it must name the place, the
//! offending text, what was expected and, where there is one, the nearest valid name.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use std::path::Path;
use truckee_scenario::Document;

#[test]
fn each_bad_file_is_refused_at_its_place_with_what_was_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    assert!(files.len() >= 25);
    for file in files {
        let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
        let errors = Document::read(&file)
            .and_then(|document| document.scenario())
            .expect_err(&format!("{stem} was accepted"));
        for error in &errors.list {
            let place = error.place.as_ref().unwrap_or_else(|| panic!("{stem}: no place"));
            assert!(place.line.is_some(), "{stem}: no line");
            assert!(error.expected.is_some(), "{stem}: says nothing of what was expected: {error}");
        }
        // The folder differs from machine to machine; the snapshot holds the file's name only.
        let shown = errors.to_string().replace(&format!("{}/", folder.display()), "");
        insta::assert_snapshot!(stem, shown);
    }
}
