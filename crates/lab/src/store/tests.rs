use super::*;
use crate::cell::Record;
use truckee_scenario::Lateness;

fn manifest(build: &str) -> Manifest {
    Manifest {
        format: FORMAT,
        truckee: "0.1.0".into(),
        engine: "fake".into(),
        live: None,
        build: build.into(),
        scenario: "s".into(),
        axes: vec![],
        metrics: vec!["goodput_bps".into()],
        asked: vec![],
        commands: vec![],
        builds: vec![format!("0.1.0 ({build})")],
    }
}

const DIGEST: ScenarioDigest = [7; 16];

fn open(dir: &Path) -> Store {
    Store::open(dir, &manifest("this"), &[DIGEST]).unwrap().0
}

/// One of which no byte is like another's.
fn value(seed: u64) -> f64 {
    (seed as f64).sqrt().exp()
}

fn kept(seed: u64) -> Kept {
    let record = Record {
        digest: format!("{seed:x}"),
        values: vec![(!seed.is_multiple_of(3)).then_some(value(seed))],
        lateness: None,
    };
    Kept { key: Key::parts(&DIGEST, "fake", "this"), seed, record }
}

/// Writes them as a part of their own.
fn append(store: &mut Store, seeds: impl IntoIterator<Item = u64>) {
    for seed in seeds {
        store.keep(kept(seed), (0, 0)).unwrap();
    }
    store.flush(true).unwrap();
}

/// The seeds of all records that `store` has not read yet, and what is said.
fn refresh(store: &mut Store) -> (Vec<u64>, Vec<String>) {
    let mut seeds = Vec::new();
    let said = store.refresh(&["goodput_bps".to_owned()], &mut |key, seed, record| {
        assert_eq!((key, &record.values), (kept(seed).key, &kept(seed).record.values));
        seeds.push(seed);
        Some((0, 0))
    });
    seeds.sort_unstable();
    (seeds, said.unwrap())
}

fn parts(dir: &Path) -> Vec<PathBuf> {
    let mut all: Vec<_> = fs::read_dir(dir.join("parts")).unwrap().map(|e| e.unwrap().path()).collect();
    all.sort();
    all
}

#[test]
fn what_one_writes_another_that_is_there_as_well_reads() {
    let dir = tempfile::tempdir().unwrap();
    let (mut one, mut other) = (open(dir.path()), open(dir.path()));
    append(&mut one, [1, 2]);
    assert_eq!(refresh(&mut other).0, [1, 2]);
    append(&mut other, [3]);
    append(&mut one, [4]);
    assert_eq!((refresh(&mut one).0, refresh(&mut other).0), (vec![3], vec![4]), "each record once");
    drop((one, other));
    assert_eq!(refresh(&mut open(dir.path())).0, [1, 2, 3, 4]);
}

#[test]
fn runs_are_on_disk_half_a_second_after_they_are_finished_and_the_first_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = open(dir.path());
    store.keep(kept(1), (0, 0)).unwrap();
    assert!(store.flush(false).unwrap(), "nothing was written before it");
    store.keep(kept(2), (0, 0)).unwrap();
    store.flushed = Some(Instant::now() + FLUSH);
    assert!(!store.flush(false).unwrap());
    store.flushed = Instant::now().checked_sub(FLUSH);
    assert!(store.flush(false).unwrap());
    assert_eq!(parts(dir.path()).len(), 2);
}

#[test]
fn many_parts_become_few_and_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, mut other) = (open(dir.path()), open(dir.path()));
    append(&mut other, [1000]);
    for seed in 0..200 {
        append(&mut store, [seed]);
    }
    assert!(parts(dir.path()).len() < MERGE_AT + 1);
    let all: Vec<u64> = (0..200).chain([1000]).collect();
    assert_eq!(refresh(&mut open(dir.path())).0, all, "and another's part is still there");
}

#[test]
fn parts_that_are_merged_while_they_are_looked_at_are_all_read() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, mut reader) = (open(dir.path()), open(dir.path()));
    let mut seeds = std::collections::BTreeSet::new();
    for seed in 0..150 {
        append(&mut store, [seed]);
        seeds.extend(refresh(&mut reader).0);
        if seed == 75 {
            append(&mut store, [500]);
        }
    }
    assert_eq!(seeds.len(), 151);
}

#[test]
fn torn_and_altered_parts_are_set_aside_and_our_unfinished_writes_alone_removed() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = open(dir.path());
    (1..=3).for_each(|seed| append(&mut store, [seed]));
    drop(store);
    let files = parts(dir.path());
    let bytes = fs::read(&files[0]).unwrap();
    fs::write(&files[0], &bytes[..bytes.len() / 2]).unwrap();
    let mut bytes = fs::read(&files[1]).unwrap();
    // The seed, which its name is made of.
    let seed = bytes.windows(8).position(|eight| eight == 2u64.to_le_bytes()).unwrap();
    bytes[seed] ^= 1;
    fs::write(&files[1], &bytes).unwrap();
    let (ours, foreign) = (dir.path().join("parts/.truckee-Ab3.tmp"), dir.path().join("parts/notes.tmp"));
    fs::write(&ours, b"half").unwrap();
    fs::write(&foreign, b"not of this program").unwrap();
    let mut store = open(dir.path());
    let (seeds, said) = refresh(&mut store);
    assert_eq!((seeds, said.len()), (vec![3], 2), "{said:?}");
    assert!(said[0].contains("not those that were written") && said[0].contains("part-"), "{said:?}");
    assert!(!ours.exists() && foreign.exists());
    fs::write(&ours, b"half").unwrap();
    let mut other = open(dir.path());
    assert!(ours.exists(), "somebody else is writing");
    assert!(refresh(&mut other).1.is_empty(), "set aside once");
}

#[test]
fn a_part_that_cannot_be_read_is_an_error_and_stays_where_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = open(dir.path());
    append(&mut store, [1]);
    append(&mut store, [2]);
    drop(store);
    let file = parts(dir.path()).remove(0);
    let bytes = fs::read(&file).unwrap();
    // Reading a folder fails for root too.
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let error = open(dir.path()).refresh(&[], &mut |_, _, _| None).unwrap_err();
    assert!(matches!(&error, Error::Read { path, .. } if *path == file), "{error}");
    assert!(file.exists() && parts(dir.path()).len() == 2, "nothing is set aside");
    fs::remove_dir(&file).unwrap();
    fs::write(&file, bytes).unwrap();
    assert_eq!(refresh(&mut open(dir.path())).0, [1, 2]);
}

#[test]
fn a_record_that_lacks_what_is_asked_for_is_named_and_none() {
    let dir = tempfile::tempdir().unwrap();
    append(&mut open(dir.path()), [1, 2]);
    let mut store = open(dir.path());
    let said = store.refresh(&["overhead".to_owned()], &mut |_, _, _| panic!("it has none")).unwrap();
    assert!(said[0].contains("2 records lack what is asked for") && said[0].contains("part-"), "{said:?}");
}

#[test]
fn a_block_is_one_process_s_until_that_gives_it_back() {
    let dir = tempfile::tempdir().unwrap();
    let (one, other) = (open(dir.path()), open(dir.path()));
    let claim = one.claim("a-0-3").unwrap().unwrap();
    assert!(other.claim("a-0-3").unwrap().is_none() && other.claim("a-0-4").unwrap().is_some());
    drop(claim);
    assert!(other.claim("a-0-3").unwrap().is_some());
    one.close().unwrap();
    assert!(dir.path().join("claims/a-0-3").exists(), "another one is there");
    other.close().unwrap();
    assert!(!dir.path().join("claims/a-0-3").exists());
}

#[test]
fn a_store_takes_in_another_one_as_often_as_one_likes() {
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [mut here, mut there] = [open(dirs[0].path()), open(dirs[1].path())];
    append(&mut here, [1]);
    append(&mut there, [1, 2]);
    append(&mut there, [3]);
    let came = |new, there| Imported { new, there, ..Imported::default() };
    assert_eq!(here.import(dirs[1].path()).unwrap(), came(2, 1));
    assert_eq!(here.import(dirs[1].path()).unwrap(), came(0, 3));
    let mut seeds = refresh(&mut open(dirs[0].path())).0;
    seeds.dedup();
    assert_eq!(seeds, [1, 2, 3]);
    assert_eq!(here.import(dirs[0].path()).unwrap(), came(0, 4), "from itself: one is in two parts");
}

#[test]
fn what_is_damaged_in_another_store_is_named_and_the_rest_of_it_taken() {
    let dirs = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [mut here, mut there] = [open(dirs[0].path()), open(dirs[1].path())];
    append(&mut there, [1]);
    append(&mut there, 10..20);
    let [torn, flipped] = [0, 1].map(|k| parts(dirs[1].path())[k].clone());
    fs::write(&torn, b"PAR1").unwrap();
    let mut bytes = fs::read(&flipped).unwrap();
    let value = bytes.windows(8).position(|eight| eight == value(14).to_le_bytes()).unwrap();
    bytes[value] ^= 1;
    fs::write(&flipped, bytes).unwrap();
    let Imported { new, said, .. } = here.import(dirs[1].path()).unwrap();
    assert_eq!((new, said.len()), (9, 2), "{said:?}");
    assert!(
        said[0].contains(&*torn.to_string_lossy()) && said[0].ends_with("all its runs are not taken over")
    );
    let address = kept(14).key.cell(14);
    let lost =
        format!("record 5 (cell {address}) cannot be decoded, and is not taken over; 9 others are kept");
    assert!(said[1].ends_with(&lost), "{said:?}");
    assert!(torn.exists() && flipped.exists(), "nothing is changed there");
    assert_eq!(refresh(&mut open(dirs[0].path())).0, [10, 11, 12, 13, 15, 16, 17, 18, 19]);
}

#[test]
fn another_question_another_build_and_no_sweep_at_all_are_told_where_they_are_to_be_taken_in() {
    let dirs = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let mut here = open(dirs[0].path());
    append(&mut here, [1]);
    let refused = |here: &mut Store, from: &Path| here.import(from).unwrap_err().to_string();
    assert!(refused(&mut here, dirs[1].path()).contains("holds no sweep"));
    let axes = Manifest { engine: "other".into(), ..manifest("this") };
    drop(Store::open(dirs[1].path(), &axes, &[DIGEST]).unwrap());
    let message = refused(&mut here, dirs[1].path());
    assert!(message.contains("its engine is \"other\", not \"fake\""), "{message}");
    let (mut that, _) = Store::open(dirs[2].path(), &manifest("that"), &[DIGEST]).unwrap();
    that.keep(Kept { key: Key::parts(&DIGEST, "fake", "that"), ..kept(5) }, (0, 0)).unwrap();
    that.close().unwrap();
    let Imported { new, there, unasked, said } = here.import(dirs[2].path()).unwrap();
    assert_eq!((new, there, unasked, said.len()), (1, 0, 1, 1));
    assert!(
        said[0].contains("by another build of truckee, 0.1.0 (that);") && said[0].contains("0.1.0 (this)")
    );
    let old = serde_json::json!({"truckee": "0.1.0", "engine": "fake", "scenario": "s", "axes": [], "metrics": [], "commands": []});
    fs::write(dirs[1].path().join("sweep.json"), old.to_string()).unwrap();
    assert!(refused(&mut here, dirs[1].path()).contains("a sweep of truckee 0.1"));
}

#[test]
fn of_a_live_run_that_was_made_again_the_later_record_is_taken_too() {
    let late = |replaces| Kept {
        record: Record { lateness: Some(Lateness { replaces, ..Lateness::default() }), ..kept(2).record },
        ..kept(2)
    };
    let dirs = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [mut here, mut there] = [open(dirs[0].path()), open(dirs[1].path())];
    for replaces in 0..2 {
        there.keep(late(replaces), (0, 0)).unwrap();
        there.flush(true).unwrap();
    }
    assert_eq!(here.import(dirs[1].path()).unwrap().new, 1);
    assert_eq!(parts(dirs[0].path()).len(), 2);
}

#[test]
fn a_record_that_cannot_be_decoded_is_named_and_the_others_of_its_part_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    append(&mut open(dir.path()), 0..50);
    let file = parts(dir.path()).remove(0);
    let mut bytes = fs::read(&file).unwrap();
    let value = bytes.windows(8).position(|eight| eight == value(17).to_le_bytes()).unwrap();
    bytes[value] ^= 1;
    fs::write(&file, bytes).unwrap();
    let mut store = open(dir.path());
    let (seeds, said) = refresh(&mut store);
    assert_eq!(seeds, (0..50).filter(|&seed| seed != 17).collect::<Vec<_>>());
    let address = kept(17).key.cell(17);
    let aside = file.with_extension("damaged");
    assert_eq!(
        said,
        [format!(
            "{} is damaged (its bytes are not those that were written); record 18 (cell {address}) cannot be decoded, and \
             is made again; 49 others are kept",
            aside.display()
        )]
    );
    assert!(aside.exists() && !file.exists());
    let (again, nothing) = refresh(&mut open(dir.path()));
    assert_eq!((again, nothing), (seeds, vec![]), "said once");
}

#[test]
fn another_build_is_said_and_its_records_are_called_otherwise() {
    let dir = tempfile::tempdir().unwrap();
    append(&mut open(dir.path()), [1]);
    let (_, said) = Store::open(dir.path(), &manifest("that"), &[DIGEST]).unwrap();
    let said = said.unwrap();
    assert!(said.contains("another build of truckee, 0.1.0 (this)") && said.contains("kept apart"), "{said}");
    assert_ne!(Key::parts(&DIGEST, "fake", "this"), Key::parts(&DIGEST, "fake", "that"));
}

#[test]
fn what_looks_at_a_directory_reads_one_of_version_0_1_and_the_last_build_s_of_this() {
    use arrow_array::{Array as _, ArrayRef, Float64Array, StringArray, UInt64Array};
    use arrow_schema::Field;
    use std::sync::Arc;
    let dir = tempfile::tempdir().unwrap();
    append(&mut open(dir.path()), [1, 2]);
    let (mut that, _) = Store::open(dir.path(), &manifest("that"), &[DIGEST]).unwrap();
    that.keep(Kept { key: Key::parts(&DIGEST, "fake", "that"), ..kept(5) }, (0, 0)).unwrap();
    that.close().unwrap();
    let seeds = |dir: &Path| {
        let manifest = Manifest::read(dir).unwrap().unwrap();
        let rows = read(dir, &manifest, 1, &["goodput_bps".to_owned()], |_| true).unwrap().shown;
        rows.iter().map(|row| row.seed).collect::<Vec<_>>()
    };
    assert_eq!(seeds(dir.path()), [5]);

    let old = tempfile::tempdir().unwrap();
    fs::create_dir(old.path().join("parts")).unwrap();
    let column = |name: &str, array: ArrayRef| (Field::new(name, array.data_type().clone(), true), array);
    let bytes = to_bytes(vec![
        column("point", Arc::new(UInt64Array::from(vec![0, 0]))),
        column("seed", Arc::new(UInt64Array::from(vec![8, 9]))),
        column("digest", Arc::new(StringArray::from(vec!["a", "b"]))),
        column("goodput_bps", Arc::new(Float64Array::from(vec![1.0, 2.0]))),
    ])
    .unwrap();
    fs::write(old.path().join(format!("parts/part-00000000-{}.parquet", hash_of(&bytes))), bytes).unwrap();
    let json = serde_json::json!({
        "truckee": "0.1.0", "engine": "fake", "scenario": "s", "digest": "d", "axes": [],
        "metrics": ["goodput_bps"], "commands": [],
    });
    fs::write(old.path().join("sweep.json"), json.to_string()).unwrap();
    assert_eq!(seeds(old.path()), [8, 9]);
    let refused = Store::open(old.path(), &manifest("this"), &[DIGEST]).unwrap_err();
    assert!(matches!(refused, Error::OldSweep { .. }), "{refused}");
    assert!(!old.path().join("claims").exists(), "nothing was touched");
}

#[test]
fn a_directory_that_cannot_be_written_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, b"").unwrap();
    let message = Store::open(&file, &manifest("this"), &[]).unwrap_err().to_string();
    assert!(message.starts_with("cannot ") && message.contains("file"), "{message}");
}

#[test]
fn a_live_record_that_has_replaced_another_one_is_the_one_that_counts() {
    let late = |replaces| Kept {
        record: Record { lateness: Some(Lateness { replaces, ..Lateness::default() }), ..kept(2).record },
        ..kept(2)
    };
    let dir = tempfile::tempdir().unwrap();
    let mut store = open(dir.path());
    store.keep(late(1), (0, 0)).unwrap();
    store.flush(true).unwrap();
    store.keep(late(0), (0, 0)).unwrap();
    store.close().unwrap();
    let manifest = Manifest::read(dir.path()).unwrap().unwrap();
    let rows = read(dir.path(), &manifest, 1, &["goodput_bps".to_owned()], |_| true).unwrap().shown;
    assert_eq!(rows.iter().map(|row| row.lateness.unwrap().replaces).collect::<Vec<_>>(), [1]);
}
