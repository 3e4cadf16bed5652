//! Campaigns over servers that are made up.

use super::testing::observation;
use super::*;
use std::fs;
use std::path::Path;
use truckee_kernel::probe::{Options, Test};
use truckee_lab::Error;

fn kept(url: &str, packets: u32) -> Kept {
    let tests: Vec<_> =
        [Test::A, Test::C].into_iter().flat_map(|t| [1, 2].map(|k| observation(t, k, packets))).collect();
    let report = serde_json::json!({
        "url": url, "tested": url, "address": "192.0.2.1:80", "status": 200, "answer_bytes": 160_000,
        "verdict": { "reaction": "counts-bytes", "confidence": "fair", "agreeing": 2, "judged": 2,
                     "limit": null, "initial_window": 10, "mss": 1448,
                     "retransmission": { "first_s": 0.3, "segments": 2.0 } },
        "tests": tests,
    });
    Kept { url: url.to_owned(), report, tests, judged: true }
}

fn settings() -> Settings {
    Settings::of(&Options::default())
}

fn rows(path: &Path) -> i64 {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let reader = SerializedFileReader::new(fs::File::open(path).unwrap()).unwrap();
    reader.metadata().file_metadata().num_rows()
}

#[test]
fn a_campaign_goes_on_where_it_stopped_and_ends_in_tables() {
    let dir = tempfile::tempdir().unwrap();
    let mut campaign = Campaign::open(dir.path(), &settings()).unwrap();
    campaign.keep(kept("http://a.example/", 16)).unwrap();
    campaign.keep(kept("http://b.example/", 80)).unwrap();
    drop(campaign);
    let torn = dir.path().join("servers/00.json");
    fs::write(&torn, "{\"url\": \"http://c.ex").unwrap();
    let campaign = Campaign::open(dir.path(), &settings()).unwrap();
    assert_eq!(campaign.get("http://a.example/"), Some(&kept("http://a.example/", 16)));
    assert_eq!(campaign.get("http://c.example/"), None);
    let files = campaign.finish().unwrap();
    assert_eq!(files.iter().map(|file| rows(file)).collect::<Vec<_>>(), [2, 8, 4]);
    let packets: Vec<u32> = campaign.servers().map(|s| s.tests[0].data_packets).collect();
    assert_eq!(packets, [16, 80]);
}

#[test]
fn a_campaign_of_other_settings_or_of_another_process_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let first = Campaign::open(dir.path(), &settings()).unwrap();
    assert!(matches!(Campaign::open(dir.path(), &settings()), Err(Error::Locked { .. })));
    drop(first);
    let other = Settings { repeat: 7, ..settings() };
    let message = Campaign::open(dir.path(), &other).unwrap_err().to_string();
    assert!(message.contains("probed otherwise"), "{message}");
}

#[test]
fn servers_without_tests_have_rows() {
    let dir = tempfile::tempdir().unwrap();
    let mut campaign = Campaign::open(dir.path(), &settings()).unwrap();
    let report = serde_json::json!({ "url": "http://a/", "not_judged": { "name": "refused", "words": "the connection is refused" } });
    campaign.keep(Kept { url: "http://a/".into(), report, tests: vec![], judged: false }).unwrap();
    let files = campaign.finish().unwrap();
    assert_eq!(files.iter().map(|file| rows(file)).collect::<Vec<_>>(), [1, 0, 0]);
}

#[test]
fn a_server_that_cannot_be_read_is_an_error_and_a_changed_build_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let mut campaign = Campaign::open(dir.path(), &settings()).unwrap();
    assert_eq!(campaign.changed(), None);
    campaign.keep(kept("http://a.example/", 16)).unwrap();
    drop(campaign);
    fs::write(dir.path().join("servers/notes.tmp"), "of somebody else").unwrap();
    // Reading a folder fails for root too.
    let unreadable = dir.path().join("servers/00.json");
    fs::create_dir(&unreadable).unwrap();
    let error = Campaign::open(dir.path(), &settings()).unwrap_err();
    assert!(matches!(&error, Error::Read { path, .. } if *path == unreadable), "{error}");
    fs::remove_dir(&unreadable).unwrap();
    let path = dir.path().join("probe.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("0.1.0 (", "0.1.0 (other than ")).unwrap();
    let campaign = Campaign::open(dir.path(), &settings()).unwrap();
    assert!(campaign.changed().unwrap().contains("another build"), "{:?}", campaign.changed());
    assert!(dir.path().join("servers/notes.tmp").exists());
    drop(campaign);
    assert_eq!(Campaign::open(dir.path(), &settings()).unwrap().changed(), None, "said once");
}
