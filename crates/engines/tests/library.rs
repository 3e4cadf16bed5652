//! The laboratory as a library, with the simulator: the example runs, and a cell runs anywhere.

#![allow(clippy::unwrap_used)] // a test says so by failing

#[path = "../examples/sweep.rs"]
mod example;

use truckee_engines::Simulator;
use truckee_lab::{Cancel, Engine, EngineName, Grid, Plan, Runs, Task, grid, sweep};
use truckee_scenario::Document;

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
"#;

fn plan() -> Plan {
    let mut document = Document::parse("anywhere.toml", SCENARIO).unwrap();
    document.set("link.0.rate", "3Mbit/s").unwrap();
    let (axes, _) = grid::axes(&["flow.sender=reno,sack"]).unwrap();
    Plan::new(Grid::new(&document, axes).unwrap(), Runs::Count(3), vec![])
}

#[test]
fn the_example_runs() {
    example::main().unwrap();
}

#[test]
fn a_cell_that_was_sent_elsewhere_as_text_has_the_record_that_it_has_here() {
    let plan = plan();
    let found = sweep(&plan, &Simulator, None, &mut (), &Cancel::new()).unwrap();
    let round = plan.cells().unwrap();
    assert_eq!(round.iter().count(), 6);
    for (cell, row) in round.iter().zip(found.rows.iter()) {
        let task = plan.task(&EngineName::default(), &Simulator.build(), &[cell]).unwrap();
        let text = serde_json::to_string(&task).unwrap();
        let there: Task = serde_json::from_str(&text).unwrap();
        let record = there.run(&Simulator).unwrap().remove(0).unwrap();
        assert_eq!(record.values, row.values);
        assert_eq!(record, plan.run(&Simulator, cell).unwrap());
        let sent: truckee_lab::Record =
            serde_json::from_str(&serde_json::to_string(&record).unwrap()).unwrap();
        assert_eq!(sent, record, "it comes back to the last digit");
    }
    assert!(plan.next(&round, &found.rows).is_empty(), "no precision was asked for");
}

#[test]
fn a_cell_of_another_build_is_refused_by_its_address() {
    let plan = plan();
    let cell = plan.cells().unwrap().cell(0);
    let task = plan.task(&EngineName::default(), "another", &[cell]).unwrap();
    let message = task.run(&Simulator).unwrap_err().to_string();
    assert!(
        message.contains("this build") && message.contains(&task.cells[0].address.to_string()),
        "{message}"
    );
    let kernel = Task { engine: "kernel".parse().unwrap(), ..task };
    let message = kernel.run(&Simulator).unwrap_err().to_string();
    assert_eq!(
        message,
        "anywhere.toml: the task's engine: there is no engine \"kernel\"; there is only \"sim\""
    );
}
