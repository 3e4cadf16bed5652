//! Pages of what is on disk.

use super::render::{self, NAME};
use super::{compare, model, read, run, several, study, sweep, trace};
use crate::Error;
use std::path::{Path, PathBuf};
use truckee_lab::disk;

/// Writes the page of what is in these directories to `to`, or into the first one of them. A directory of several studies
/// gets a page that leads to theirs. Returns the file.
///
/// # Errors
/// A directory holds nothing that a page can be made of, or something that cannot be read.
pub fn write(dirs: &[PathBuf], to: Option<&Path>) -> Result<PathBuf, Error> {
    let page = match dirs {
        [dir] => page(dir)?,
        dirs => several::page(dirs)?,
    };
    let path = match (to, dirs.first()) {
        (Some(to), _) => to.to_owned(),
        (None, Some(dir)) if dirs.len() == 1 => dir.join(NAME),
        // The first run's own page must stay.
        (None, _) => PathBuf::from(NAME),
    };
    disk::write(&path, render::html(&page)?.as_bytes())?;
    Ok(path)
}

fn page(dir: &Path) -> Result<model::Page, Error> {
    let has = |name: &str| dir.join(name).exists();
    if has("result.json") {
        return Ok(run::page(&read::json(&dir.join("result.json"))?, &read::recorded(dir)?));
    }
    if has("compare.json") {
        return compare::page(dir);
    }
    if has(trace::FILE) {
        return trace::page(dir);
    }
    if has(study::FILE) {
        return study::page(dir);
    }
    if has("sweep.json") {
        return sweep::page(dir);
    }
    let studies = study::under(dir);
    for one in &studies {
        write(std::slice::from_ref(one), None)?;
    }
    if studies.is_empty() { Err(Error::NoReport { dir: dir.to_owned() }) } else { study::index(&studies) }
}

#[cfg(test)]
mod tests {
    use super::super::points::Recorded;
    use super::*;
    use truckee_engines::Simulator;
    use truckee_lab::compare::Comparison;
    use truckee_lab::study::{self, RunOptions, Study};
    use truckee_lab::testing::{Fake, STUDY};
    use truckee_lab::{Cancel, Engine, Grid, Plan, Runs, grid, output};
    use truckee_scenario::{Document, Scenario};

    fn scenario() -> Scenario {
        let text = r#"
            duration = "20s"
            [[link]]
            between = ["a", "b"]
            rate = "5Mbit/s"
            delay = "20ms"
            queue = { kind = "drop-tail", size = "20packets" }
            channel = { kind = "bernoulli", per = 0.01 }
            [[flow]]
            name = "a<b"
            from = "a"
            to = "b"
            sender = "newreno-lp"
            observe = { estimators = ["tibet"] }
        "#;
        Document::parse("page.toml", text).unwrap().scenario().unwrap()
    }

    fn written(dir: &Path) -> String {
        let path = write(&[dir.to_owned()], None).unwrap();
        std::fs::read_to_string(path).unwrap()
    }

    fn run_into(dir: &Path) {
        let outcome = Simulator.run(&scenario(), true).unwrap();
        output::write_run(dir, &outcome).unwrap();
    }

    #[test]
    fn a_run_s_page_has_all_its_figures_and_fetches_nothing() {
        let dir = tempfile::tempdir().unwrap();
        run_into(dir.path());
        let page = page(dir.path()).unwrap();
        let titles: Vec<_> =
            page.sections.iter().flat_map(|s| &s.figures).map(|f| f.title.as_str()).collect();
        let expected = [
            "a<b: congestion window and threshold",
            "a<b: segments and ACKs",
            "a<b: round-trip time and delay",
            "a<b: bandwidth estimates against the truth",
            "Queue lengths",
        ];
        assert_eq!(titles, expected);
        let html = written(dir.path());
        assert!(
            html.contains("<h2 id=\"heading-3\">Flow a&lt;b</h2>")
                && !html.contains("<h2 id=\"heading-3\">Flow a<b")
        );
        for fetched in ["src=", "<link", "@import", "url(h", "url(\"", "fetch(", "XMLHttpRequest"] {
            assert!(!html.contains(fetched), "{fetched}");
        }
    }

    #[test]
    fn a_run_in_memory_has_the_page_of_the_run_on_disk() {
        let air = std::fs::read_to_string("../../docs/scenarios/wlan-roam.toml").unwrap();
        let air = Document::parse("../../docs/scenarios/wlan-roam.toml", &air).unwrap().scenario().unwrap();
        for scenario in [scenario(), air] {
            let dir = tempfile::tempdir().unwrap();
            let outcome = Simulator.run(&scenario, true).unwrap();
            output::write_run(dir.path(), &outcome).unwrap();
            let on_disk = read::recorded(dir.path()).unwrap();
            assert!(!on_disk.flows.is_empty());
            assert!(on_disk == Recorded::of(&outcome), "what was recorded");
            let of_run: serde_json::Value =
                serde_json::from_str(&super::super::of_run(&outcome).unwrap()).unwrap();
            assert_eq!(of_run["page"], serde_json::to_value(page(dir.path()).unwrap()).unwrap());
        }
    }

    #[test]
    fn a_medium_s_causes_of_loss_are_in_the_table_of_flows_and_no_table_is_empty() {
        let text = r#"
            duration = "20s"
            node = [{ name = "a", at = ["0m", "0m"] }, { name = "b", at = ["1100m", "0m"] }, { name = "c", at = ["9m", "0m"] }]
            medium = [{ standard = "802.11b", rate = "11Mbit/s", short_retries = 1, long_retries = 1 }]
            flow = [{ from = "a", to = "b" }, { from = "c", to = "b" }]
        "#;
        let outcome =
            Simulator.run(&Document::parse("air.toml", text).unwrap().scenario().unwrap(), true).unwrap();
        assert!(outcome.flows.iter().any(|flow| flow.drops.collision > 0));
        let dir = tempfile::tempdir().unwrap();
        output::write_run(dir.path(), &outcome).unwrap();
        let page = page(dir.path()).unwrap();
        let flows = &page.sections[0].tables[0];
        assert!(flows.columns.iter().any(|column| column.name == "collision"));
        assert!(flows.rows.iter().all(|row| row.len() == flows.columns.len()));
        assert!(
            page.sections.iter().flat_map(|s| &s.tables).all(|table| !table.rows.is_empty()),
            "an empty table"
        );
    }

    #[test]
    fn every_drop_and_every_verdict_of_the_run_is_in_its_figures() {
        let dir = tempfile::tempdir().unwrap();
        let outcome = Simulator.run(&scenario(), true).unwrap();
        output::write_run(dir.path(), &outcome).unwrap();
        let page = page(dir.path()).unwrap();
        let figures: Vec<_> = page.sections.iter().flat_map(|s| &s.figures).collect();
        let count = |figure: usize, label: &str| {
            figures[figure].series.iter().find(|s| s.label == label).map_or(0, |s| s.x.len() as u64)
        };
        let flow = &outcome.flows[0];
        assert!(flow.drops.queue > 0 && flow.drops.channel > 0);
        assert_eq!(count(1, "segment lost: queue"), flow.drops.queue);
        assert_eq!(count(1, "segment lost: channel"), flow.drops.channel);
        assert_eq!(count(0, "judged wireless, rightly"), flow.loss_events.wireless_judged_right);
        assert_eq!(count(1, "judged congestion, rightly"), flow.loss_events.congestion_judged_right);
        assert_eq!(count(1, "sent again"), flow.retransmitted_segments);
    }

    #[test]
    fn several_runs_stand_side_by_side() {
        let dir = tempfile::tempdir().unwrap();
        let dirs = ["one", "two"].map(|name| dir.path().join(name));
        dirs.iter().for_each(|d| run_into(d));
        let to = dir.path().join("both.html");
        assert_eq!(write(&dirs, Some(&to)).unwrap(), to);
        let page = several::page(&dirs).unwrap();
        let labels: Vec<_> = page.sections[1].figures[0].series.iter().map(|s| s.label.as_str()).collect();
        assert_eq!(labels, ["one", "two"]);
        assert_eq!(page.sections[0].tables[0].rows.len(), 2);
    }

    #[test]
    fn a_sweep_s_grid_has_the_means_of_its_runs_even_unfinished() {
        let dir = tempfile::tempdir().unwrap();
        let (axes, _) = grid::axes(&["duration=10s,20s"]).unwrap();
        let document = Document::parse("x.toml", "duration = \"1s\"\n[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"1Mbit/s\"\n[[flow]]\nfrom = \"a\"\nto = \"b\"\n").unwrap();
        let asked = vec![truckee_lab::Metric::parse("overhead").unwrap()];
        let plan = Plan::new(Grid::new(&document, axes).unwrap(), Runs::Count(4), asked);
        truckee_lab::sweep(&plan, &Fake::new(), Some(dir.path()), &mut (), &Cancel::new()).unwrap();
        let page = page(dir.path()).unwrap();
        let grid = page.sections[0].grid.as_ref().unwrap();
        let goodput = grid.metrics.iter().find(|m| m.name == "goodput_bps").unwrap();
        // Twice the duration and a hundredth of the seeds 1 to 4.
        assert_eq!((goodput.unit.as_str(), goodput.n.as_slice()), ("bit/s", &[4, 4][..]));
        assert!((goodput.mean[1].unwrap() - 40.025).abs() < 1e-9);
        assert!(goodput.half[0].unwrap() > 0.0);
        assert_eq!((&grid.axes[0].numbers[..], grid.axes[0].unit.as_str()), (&[10.0, 20.0][..], "s"));
        let first: Vec<&str> = grid.first.iter().map(|&k| grid.metrics[k].name.as_str()).collect();
        assert_eq!(first[..2], ["overhead", "goodput_bps"], "what was asked for comes first");
        let columns = &page.sections[1].tables[0].columns;
        assert_eq!(columns[1].name, "overhead");
        std::fs::remove_file(dir.path().join("rows.parquet")).unwrap();
        assert!(written(dir.path()).contains("x.toml: sweep"));
    }

    #[test]
    fn a_study_s_page_holds_published_values_beside_ours() {
        let dir = tempfile::tempdir().unwrap();
        let rival = "published = 60\n    rival = { name = \"half of it\", value = 40 }\n";
        let text = STUDY.replace("published = 60\n", rival);
        let study = Study::parse("twice.toml", &text, &()).unwrap();
        let options = RunOptions { dir: Some(dir.path().to_owned()), ..RunOptions::default() };
        let mut ran = study::run(&study, &Fake::new(), &options, &mut (), &Cancel::new()).unwrap();
        crate::study::keep(&study, &mut ran, &study.dir(dir.path(), false)).unwrap();
        assert!(std::fs::read_to_string(&ran.report.figures[0]).unwrap().contains("goodput / bit/s"));
        let page = page(&study.dir(dir.path(), false)).unwrap();
        let [ours, published] = &page.sections[0].figures[0].series[..] else { panic!("two series") };
        assert_eq!((ours.x.len(), ours.half.len()), (3, 3));
        assert_eq!((published.y.as_slice(), published.hollow), (&[20.0, 40.0, 80.0][..], true));
        let checks = &page.sections[1].tables[0];
        let cell = |row: usize, name: &str| {
            &checks.rows[row][checks.columns.iter().position(|column| column.name == name).unwrap()]
        };
        assert_eq!((checks.rows.len(), cell(0, "Verdict").verdict.as_str()), (5, "pass"));
        assert_eq!((cell(0, "Published").sort, cell(0, "Reference").sort), (None, Some(20.0)));
        assert_eq!(cell(0, "Note").text, "Reference: 2 * t");
        let rivals = [0, 4].map(|row| cell(row, "Rival, which must fail").text.as_str());
        assert_eq!(rivals, ["no rival named", "half of it: 40.0 ± 0.0 bit/s, fails"]);
        assert_eq!(page.sections[2].says, "none", "the set-up");
        assert!(page.sections[3].grid.is_some());
        // The directory above leads to it.
        let index = written(dir.path());
        assert!(
            index.contains("<a href=\"./twice/report.html\">")
                || index.contains("<a href=\".&#x2f;twice&#x2f;report.html\">")
        );
        assert!(dir.path().join("twice/report.html").exists());
    }

    #[test]
    fn a_comparison_s_page_tells_engines_of_the_same_name_apart_and_has_its_notes() {
        let dir = tempfile::tempdir().unwrap();
        let outcome = || Simulator.run(&scenario(), true).unwrap();
        let sides = [vec![outcome()], vec![outcome()]];
        for (k, side) in sides.iter().enumerate() {
            output::write_run(&dir.path().join(format!("{}-sim-seed-1", k + 1)), &side[0]).unwrap();
        }
        let notes = vec!["set as the kernel is".to_owned()];
        let comparison = Comparison { notes, ..Comparison::new(&sides).unwrap() };
        std::fs::write(dir.path().join("compare.json"), serde_json::to_vec(&comparison).unwrap()).unwrap();
        let page = page(dir.path()).unwrap();
        let bars = &page.sections[0].figures[0];
        assert_eq!(bars.series.iter().map(|s| s.label.as_str()).collect::<Vec<_>>(), ["sim 1", "sim 2"]);
        let windows =
            page.sections.iter().flat_map(|s| &s.figures).find(|f| f.title.ends_with("congestion window"));
        assert_eq!(windows.unwrap().series.len(), 2);
        assert!(page.facts.contains(&("Note".to_owned(), "set as the kernel is".to_owned())));
    }

    #[test]
    fn a_directory_of_nothing_is_refused_with_what_would_fill_it() {
        let dir = tempfile::tempdir().unwrap();
        let message = write(&[dir.path().to_owned()], None).unwrap_err().to_string();
        assert!(message.contains("result.json") && message.contains("--out DIR"), "{message}");
    }
}
