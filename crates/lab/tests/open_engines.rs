//! An engine of a crate that the laboratory knows nothing of, used by its name in a sweep, a task and a study.

#![allow(clippy::unwrap_used)] // a test says so by failing

use truckee_lab::study::{self, RunOptions, Study};
use truckee_lab::{
    Cancel, Engine, EngineName, Engines, Failure, Grid, Plan, Registry, Runs, Task, grid, sweep,
};
use truckee_scenario::{Document, Outcome, Scenario};

/// The simulator, of which it tells half the goodput.
struct Half;

impl Engine for Half {
    fn name(&self) -> &str {
        "half"
    }

    fn run(&self, scenario: &Scenario, series: bool) -> Result<Outcome, Failure> {
        let options = truckee_net::Options { series, ..Default::default() };
        let mut outcome = truckee_net::run(scenario, &options).map_err(|e| e.to_string())?;
        outcome.engine = self.name().to_owned();
        outcome.flows.iter_mut().for_each(|flow| flow.goodput_bps /= 2.0);
        Ok(outcome)
    }
}

/// The simulator as it is.
struct Whole;

impl Engine for Whole {
    fn name(&self) -> &str {
        "sim"
    }

    fn run(&self, scenario: &Scenario, series: bool) -> Result<Outcome, Failure> {
        let options = truckee_net::Options { series, ..Default::default() };
        Ok(truckee_net::run(scenario, &options).map_err(|e| e.to_string())?)
    }
}

const SCENARIO: &str = r#"
    duration = "2s"
    [[link]]
    between = ["a", "b"]
    rate = "2Mbit/s"
    delay = "5ms"
    channel = { kind = "bernoulli", per = 0.01 }
    [[flow]]
    from = "a"
    to = "b"
    sender = "sack"
"#;

fn engines() -> Registry {
    Registry::default().with(Whole).with(Half)
}

#[test]
fn a_foreign_engine_runs_a_sweep_and_a_task_by_its_name() {
    let (axes, _) = grid::axes(&["channel.per=0.01,0.02"]).unwrap();
    let plan = Plan::new(
        Grid::new(&Document::parse("half.toml", SCENARIO).unwrap(), axes).unwrap(),
        Runs::Count(2),
        vec![],
    );
    let engines = engines();
    let dir = tempfile::tempdir().unwrap();
    let go = |name: &str| {
        let store = dir.path().join(name);
        let engine = engines.find(name).unwrap();
        sweep(&plan, engine, Some(&store), &mut (), &Cancel::new()).unwrap()
    };
    let (whole, half) = (go("sim"), go("half"));
    assert!(half.complete && !half.live && half.rows.len() == 4);
    for (all, part) in whole.values(0, "goodput_bps").iter().zip(half.values(0, "goodput_bps")) {
        assert_eq!((all.0, all.1.map(|bps| bps / 2.0)), part);
    }
    let manifest = std::fs::read_to_string(dir.path().join("half/sweep.json")).unwrap();
    assert!(manifest.contains(r#""engine": "half""#), "{manifest}");

    let name: EngineName = "half".parse().unwrap();
    let cell = plan.cells().unwrap().cell(0);
    let task = plan.task(&name, &engines.find("half").unwrap().build(), &[cell]).unwrap();
    let text = serde_json::to_string(&task).unwrap();
    assert!(text.contains(r#""engine":"half""#), "{text}");
    let there: Task = serde_json::from_str(&text).unwrap();
    assert_eq!(there.run(&engines).unwrap()[0].as_ref().unwrap().values, half.rows_at(0)[0].values);
}

#[test]
fn a_foreign_engine_runs_a_study_by_its_name() {
    let text = format!(
        "id = \"half\"\ntitle = \"Half of it\"\nsetup = \"s\"\nsource = {{ paper = \"p\", place = \"q\" }}\n\
         scenario = '''{SCENARIO}'''\n\
         [[sweep]]\nname = \"main\"\nruns = 4\nengines = [\"sim\", \"half\"]\n\
         [[check]]\nname = \"half\"\nkind = \"bound\"\nmetric = \"goodput_bps\"\nwhere = {{ engine = \"half\" }}\n\
         over = {{ engine = \"sim\" }}\nabove = 0.499\nbelow = 0.501\n"
    );
    let study = Study::parse("half.toml", &text, &()).unwrap();
    let ran = study::run(&study, &engines(), &RunOptions::default(), &mut (), &Cancel::new());
    let report = ran.unwrap().report;
    assert!(report.holds() && report.counts.pass == 1, "{:?}", report.rows);
    assert_eq!(serde_json::to_value(&report).unwrap()["engines"], serde_json::json!(["sim", "half"]));

    let alone = study::run(&study, &Whole, &RunOptions::default(), &mut (), &Cancel::new());
    let message = alone.err().unwrap().to_string();
    assert_eq!(
        message,
        "half: sweep \"main\": `engines`: there is no engine \"half\"; there is only \"sim\""
    );
}
