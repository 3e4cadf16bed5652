//! What every random network comes to with every sender and every receiver, a line of JSON a run: so that a change that
//! must change nothing can be held against the tree before it, run by run (`tools/outcomes.py`). Names of scenario files
//! are all that is known here of senders and receivers, so that this file says the same in both trees.

use crate::{from_environment, generate};
use rayon::prelude::*;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use truckee_net::{Options, run};
use truckee_scenario::Document;
use truckee_scenario::model::Scenario;

/// Networks between two writings: what is in memory at a time.
const BATCH: u64 = 20;

/// What stands in all flows in place of what was drawn.
enum Member {
    AsGenerated,
    Sender(Scenario),
    Receiver(Scenario),
}

impl Member {
    fn put(&self, scenario: &mut Scenario) {
        let (Self::Sender(model) | Self::Receiver(model)) = self else { return };
        scenario.duration = scenario.duration.min(model.duration);
        for flow in &mut scenario.flows {
            match self {
                Self::Sender(_) => flow.sender = model.flows[0].sender.clone(),
                _ => flow.receiver = model.flows[0].receiver.clone(),
            }
        }
    }
}

/// The scenario of a file in which nothing is said but who sends, who receives, and how long it may last: with an end
/// that lies, files never complete, and some networks would last for ten years.
fn model(profile: &str, sender: &str, receiver: &str) -> Scenario {
    let text = format!(
        "duration = \"600s\"\nprofile = \"{profile}\"\n[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"1Mbit/s\"\n\
         delay = \"1ms\"\n[[flow]]\nfrom = \"a\"\nto = \"b\"\nsender = \"{sender}\"\nreceiver = \"{receiver}\"\n"
    );
    Document::parse("member.toml", &text).and_then(|document| document.scenario()).unwrap()
}

/// All that is run in each network, by name. A profile counts where it makes another sender.
fn members() -> Vec<(String, Member)> {
    let mut members = vec![("as generated".to_owned(), Member::AsGenerated)];
    for name in generate::senders() {
        let (rfc, ns2) = (model("rfc", name, "every"), model("ns-2", name, "every"));
        let another = rfc.flows[0].sender != ns2.flows[0].sender;
        members.push((format!("sender {name}"), Member::Sender(rfc)));
        if another {
            members.push((format!("sender {name}, profile ns-2"), Member::Sender(ns2)));
        }
    }
    for name in generate::receivers() {
        members.push((format!("receiver {name}"), Member::Receiver(model("rfc", "newreno", name))));
    }
    members
}

/// One run as a line: all of its outcome but what another machine or another version may say.
fn line(network: u64, name: &str, member: &Member) -> String {
    let mut scenario = generate::network(network).scenario;
    member.put(&mut scenario);
    let attempt = catch_unwind(AssertUnwindSafe(|| run(&scenario, &Options::default())));
    let mut outcome = match attempt {
        Ok(Ok(outcome)) => serde_json::to_value(&outcome).unwrap(),
        Ok(Err(error)) => serde_json::json!({ "error": error.to_string() }),
        Err(_) => serde_json::json!({ "error": "panic" }),
    };
    let fields = outcome.as_object_mut().unwrap();
    fields.remove("wall_s");
    fields.remove("truckee");
    let digest = fields.remove("digest");
    serde_json::json!({ "network": network, "member": name, "digest": digest, "outcome": outcome })
        .to_string()
}

#[test]
#[ignore = "writes the file that TRUCKEE_OUTCOMES names"]
fn what_every_network_comes_to_with_every_member() {
    let file = std::env::var("TRUCKEE_OUTCOMES").expect("TRUCKEE_OUTCOMES names the file to write");
    // A test runs in its crate's folder; a path is of the repository's.
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    let mut file = BufWriter::new(File::create(file).unwrap());
    let first = from_environment("TRUCKEE_FIRST", 0);
    let last = first + from_environment("TRUCKEE_NETWORKS", 200);
    let members = members();
    for batch in (first..last).step_by(BATCH as usize) {
        let networks = batch..last.min(batch + BATCH);
        let runs: Vec<_> = networks.flat_map(|n| members.iter().map(move |(name, m)| (n, name, m))).collect();
        let lines: Vec<String> = runs.into_par_iter().map(|(n, name, m)| line(n, name, m)).collect();
        lines.iter().try_for_each(|line| writeln!(file, "{line}")).unwrap();
    }
    file.flush().unwrap();
}
