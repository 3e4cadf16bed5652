//! What a scenario may ask of a network that the emulator does not do, refused by name before anything starts.

use super::address::{MOST_FLOWS, MOST_NODES};
use crate::Error;
use truckee_channel::{Span, Time};
use truckee_scenario::Scenario;
use truckee_scenario::model::{Change, Link, LinkChange, NodeId, Which};
use truckee_scenario::route::Routes;

fn refused(place: String, why: impl Into<String>) -> Error {
    Error::Refused { place, why: why.into() }
}

fn of_link(link: &Link, nodes: &[String]) -> String {
    format!("link \"{}\"", link.label(nodes))
}

/// Refuses what the emulator cannot do.
pub(super) fn check(scenario: &Scenario) -> Result<(), Error> {
    if let Some(medium) = scenario.media.first() {
        let why = "a medium that stations share is simulated time's alone; run it with --engine sim, or write the hop as a link with a channel";
        return Err(refused(format!("medium \"{}\"", medium.name), why));
    }
    if scenario.nodes.len() > MOST_NODES {
        let why = format!("{} nodes, but a kernel run has addresses for {MOST_NODES}", scenario.nodes.len());
        return Err(refused("nodes".into(), why));
    }
    if scenario.flows.len() > MOST_FLOWS {
        let why = format!("{} flows, but a kernel run has ports for {MOST_FLOWS}", scenario.flows.len());
        return Err(refused("flows".into(), why));
    }
    if scenario.asks_for_rates() {
        let asks = |flow: &&truckee_scenario::model::Flow| flow.sender.start.name == "quick-start";
        let name = scenario.flows.iter().find(asks).map_or("", |flow| &flow.name);
        let why = "Quick-Start asks routers for a rate (RFC 4782), and the emulator's do not answer; choose another start";
        return Err(refused(format!("flow \"{name}\""), why));
    }
    if let Some(flow) = scenario.flows.iter().find(|flow| flow.processing > Span::ZERO) {
        let why = "real hosts take the time that they take; leave processing out";
        return Err(refused(format!("flow \"{}\"", flow.name), why));
    }
    if scenario.cells.is_some() {
        let why = "handoffs between base stations are the simulator's only; use --engine sim";
        return Err(refused("cells".into(), why));
    }
    scenario.links.iter().try_for_each(|link| check_link(link, &scenario.nodes))?;
    check_changes(scenario)
}

/// Refuses what the emulator cannot do on a link between two of these nodes.
pub(super) fn check_link(link: &Link, nodes: &[String]) -> Result<(), Error> {
    if link.forward.ack_filter || link.back.ack_filter {
        return Err(refused(of_link(link, nodes), "the emulator does not filter ACKs; leave ack_filter out"));
    }
    Ok(())
}

/// Packets in the emulator keep to the way they have at the start: refuses changes that would move them to another.
fn check_changes(scenario: &Scenario) -> Result<(), Error> {
    let moves = |change: &LinkChange| change.up.is_some() || change.delay.is_some();
    if !scenario.changes.iter().filter_map(Change::of_link).any(moves) {
        return Ok(());
    }
    let mut routes = Routes::new(&scenario.nodes, &scenario.links);
    let users: Vec<(String, NodeId, NodeId)> = users(scenario);
    let ways: Vec<_> = users.iter().map(|(_, from, to)| routes.path(*from, *to)).collect();
    for change in &scenario.changes {
        let Some(of) = change.of_link() else { continue };
        for forward in directions(of.direction) {
            routes.change(of.link, *forward, of.delay, of.up);
        }
        for ((name, from, to), way) in users.iter().zip(&ways) {
            let now = routes.path(*from, *to);
            if now.is_some() && now != *way {
                return Err(refused(
                    of_link(&scenario.links[of.link], &scenario.nodes),
                    elsewhere(change.at, name),
                ));
            }
        }
    }
    Ok(())
}

fn elsewhere(at: Time, who: &str) -> String {
    let at = truckee_scenario::units::format_time(at.since_start());
    format!(
        "its change at {at} moves {who} to another way, and routes do not follow changes in a kernel run; give it a route"
    )
}

/// Those whose way is not written: names and ends.
fn users(scenario: &Scenario) -> Vec<(String, NodeId, NodeId)> {
    let flows = scenario.flows.iter().filter(|f| f.route.is_none());
    let traffic = scenario.traffic.iter().filter(|t| t.route.is_none());
    flows
        .map(|f| (format!("flow \"{}\"", f.name), f.from, f.to))
        .chain(traffic.map(|t| (format!("traffic \"{}\"", t.name), t.from, t.to)))
        .collect()
}

/// Whether forward, of each direction that a change concerns.
pub(super) fn directions(which: Which) -> &'static [bool] {
    match which {
        Which::Both => &[true, false],
        Which::Forward => &[true],
        Which::Back => &[false],
    }
}

#[cfg(test)]
mod tests {
    use crate::Plan;
    use truckee_scenario::Document;

    const DIAMOND: &str = r#"
        duration = "10s"
        link = [
            { between = ["a", "b"], rate = "1Mbit/s", delay = "1ms" },
            { between = ["b", "d"], rate = "1Mbit/s", delay = "1ms" },
            { between = ["a", "c"], rate = "1Mbit/s", delay = "5ms" },
            { between = ["c", "d"], rate = "1Mbit/s", delay = "5ms" },
        ]
        flow = [{ from = "a", to = "d", sender = "reno" }]
    "#;

    fn refusal(text: &str, set: &[(&str, &str)]) -> Option<String> {
        let mut document = Document::parse("test.toml", text).unwrap();
        set.iter().for_each(|(path, value)| document.set(path, value).unwrap());
        Plan::of(&document.scenario().unwrap()).err().map(|error| error.to_string())
    }

    #[test]
    fn what_cannot_be_emulated_is_named() {
        assert_eq!(refusal(DIAMOND, &[]), None);
        let said = refusal(DIAMOND, &[("link.0.queue_back", "{ ack_filter = true }")]).unwrap();
        assert!(said.starts_with("link \"a-b\": the emulator does not filter ACKs"), "{said}");
        let quick = DIAMOND.replace("sender = \"reno\"", "sender = \"quick-start\"");
        let said = refusal(&quick, &[]).unwrap();
        assert!(said.starts_with("flow \"flow-1\": Quick-Start asks routers"), "{said}");
        for queue in ["red", "codel", "fq-codel", "pie"] {
            assert_eq!(refusal(DIAMOND, &[("link.1.queue", &format!("{{ kind = \"{queue}\" }}"))]), None);
        }
        let on_air = r#"
            node = [{ name = "a", at = ["0m", "0m"] }, { name = "b", at = ["9m", "0m"] }]
            medium = [{ name = "wlan", standard = "802.11b" }]
        "#;
        let said = refusal(&format!("{DIAMOND}{on_air}"), &[]).unwrap();
        assert!(said.starts_with("medium \"wlan\": ") && said.contains("--engine sim"), "{said}");
    }

    #[test]
    fn changes_that_move_a_flow_are_refused_and_others_obeyed() {
        let change = |what: &str| format!("{DIAMOND}\nchange = [{{ at = \"2s\", link = \"a-b\", {what} }}]");
        let said = refusal(&change("up = false"), &[]).unwrap();
        assert!(said.starts_with("link \"a-b\": its change at 2s moves flow \"flow-1\""), "{said}");
        assert!(refusal(&change("delay = \"20ms\""), &[]).is_some());
        assert_eq!(refusal(&change("delay = \"2ms\""), &[]), None);
        assert_eq!(refusal(&change("rate = \"2Mbit/s\""), &[]), None);
        let routed = change("up = false").replace("sender =", "route = [\"a\", \"b\", \"d\"], sender =");
        assert_eq!(refusal(&routed, &[]), None);
    }
}
