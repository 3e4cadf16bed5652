use super::*;
use crate::testing::outcome;
use truckee_scenario::outcome::{MediumOutcome, MessagesOutcome, RoutingOutcome};

fn get(name: &str, o: &Outcome) -> Option<f64> {
    Metric::parse(name).unwrap().of(o).unwrap()
}

#[test]
fn an_unqualified_metric_is_the_mean_over_flows() {
    let mut o = outcome(1, &[1e6, 3e6]);
    assert_eq!(get("goodput_bps", &o), Some(2e6));
    assert_eq!(get("total_goodput_bps", &o), Some(4e6));
    o.flows[0].completion_s = Some(3.0);
    o.flows[1].completion_s = None;
    assert_eq!(get("completion_s", &o), None, "one flow did not finish");
    assert_eq!(get("flow.flow-1.completion_s", &o), Some(3.0));
}

#[test]
fn one_flow_link_or_sender_is_named_or_numbered() {
    let mut o = outcome(1, &[1e6, 3e6, 5e6]);
    o.flows[0].name = "a.b".into();
    o.flows[2].sender = "vegas".into();
    o.links = vec![LinkOutcome { name: "a-b".into(), utilisation: 0.5, ..LinkOutcome::default() }];
    assert_eq!(get("flow.a.b.goodput_bps", &o), Some(1e6));
    assert_eq!(get("flow.1.goodput_bps", &o), Some(3e6));
    assert_eq!(get("sender.newreno.goodput_bps", &o), Some(2e6));
    assert_eq!(get("link.a-b.utilisation", &o), Some(0.5));
    let error = Metric::parse("link.x.utilisation").unwrap().of(&o).unwrap_err().to_string();
    assert!(error.contains("no link \"x\", only \"a-b\""), "{error}");
    let station = StationOutcome { name: "ap@wlan".into(), airtime: 0.25, ..StationOutcome::default() };
    let medium = MediumOutcome { stations: vec![station], ..Default::default() };
    o.media = vec![medium];
    assert_eq!(["station.ap@wlan.airtime", "station.0.airtime"].map(|name| get(name, &o)), [Some(0.25); 2]);
    assert_eq!(get("station.ap@wlan.drops.collision", &o), Some(0.0));
    let error = Metric::parse("flow.fow-2.goodput_bps").unwrap().of(&o).unwrap_err().to_string();
    assert!(error.ends_with("; did you mean \"flow-2\"?"), "{error}");
}

#[test]
fn what_a_medium_and_its_routing_protocol_did_is_a_metric() {
    let rreq = MessagesOutcome { name: "RREQ", messages: 3, bytes: 72 };
    let routing = RoutingOutcome {
        protocol: "aodv".into(),
        packets: 8,
        crossed: 4,
        mean_hops: 2.5,
        messages: vec![rreq],
        lost: vec![("not-found", 2)],
        ..RoutingOutcome::default()
    };
    let medium = MediumOutcome { name: "air".into(), routing: Some(routing), ..Default::default() };
    let mut o = outcome(1, &[1e6]);
    o.media = vec![medium, MediumOutcome { name: "still".into(), airtime: 0.5, ..Default::default() }];
    let of_air = |name: &str| get(&format!("medium.air.routing.{name}"), &o);
    assert_eq!(of_air("packets_per_crossed"), Some(2.0));
    assert_eq!([of_air("messages.RREQ.messages"), of_air("messages.RREQ.bytes")], [Some(3.0), Some(72.0)]);
    assert_eq!(of_air("messages.full update.bytes"), Some(0.0), "none was sent");
    assert_eq!([of_air("lost.not-found"), of_air("lost.ttl")], [Some(2.0), Some(0.0)]);
    assert_eq!(of_air("mean_hops"), Some(2.5));
    assert_eq!(get("medium.1.airtime", &o), Some(0.5));
    assert_eq!(get("medium.still.routing.messages.RREQ.bytes", &o), None, "it has no protocol");
    let refused = |name| Metric::parse(name).unwrap_err().to_string();
    let error = refused("medium.air.routing.messages.RREQ.byte");
    assert!(error.contains("medium.air.routing.messages.RREQ.bytes"), "{error}");
    let error = refused("medium.air.routing.packet");
    assert!(error.contains("medium.air.routing.packets"), "{error}");
    let error = Metric::parse("medium.sea.airtime").unwrap().of(&o).unwrap_err().to_string();
    assert!(error.contains("no medium \"sea\", only \"air\", \"still\""), "{error}");
}

#[test]
fn every_reason_for_which_a_packet_may_have_no_way_is_a_metric() {
    for reason in RoutingOutcome::reasons() {
        assert!(Metric::parse(&format!("medium.0.routing.lost.{reason}")).is_ok(), "{reason}");
    }
}

#[test]
fn accuracy_over_flows_counts_loss_events_not_flows() {
    let mut o = outcome(1, &[1.0, 1.0]);
    o.flows[0].loss_events = LossEvents { wireless: 9, wireless_judged_right: 9, ..Default::default() };
    o.flows[1].loss_events = LossEvents { wireless: 1, ..Default::default() };
    assert_eq!(get("accuracy.wireless", &o), Some(0.9));
    assert_eq!(get("accuracy.congestion", &o), None);
}

#[test]
fn observers_are_asked_for_by_name_over_all_flows_or_of_one() {
    let watch = |wireless, right| PredictorOutcome {
        name: "spike(alpha=0.8)".into(),
        loss_events: LossEvents { wireless, wireless_judged_right: right, ..Default::default() },
        ..PredictorOutcome::default()
    };
    let mut o = outcome(1, &[1.0, 1.0]);
    o.flows[0].observers.predictors = vec![watch(9, 9)];
    o.flows[1].observers.predictors = vec![watch(1, 0)];
    let estimator = EstimatorOutcome { name: "tibet".into(), mean_bps: Some(5e5), ..Default::default() };
    o.flows[1].observers.estimators = vec![estimator];
    assert_eq!(get("predictor.spike(alpha=0.8).accuracy.wireless", &o), Some(0.9));
    assert_eq!(get("flow.1.predictor.spike(alpha=0.8).accuracy.wireless", &o), Some(0.0));
    assert_eq!(get("estimator.tibet.mean_bps", &o), Some(5e5));
    assert_eq!(get("estimator.westwood-2.mean_bps", &o), None, "nobody of that name watched");
    let error = Metric::parse("flow.d.predictor.vegas.accuracy").unwrap_err().to_string();
    assert!(error.contains("flow.d.predictor.vegas.accuracy"), "{error}");
}

#[test]
fn who_watches_in_no_scenario_is_refused_with_the_nearest() {
    let text = "duration = \"1s\"\nlink = [{ between = [\"a\", \"b\"], rate = \"1Mbit/s\" }]\n\
                flow = [{ from = \"a\", to = \"b\", observe = { predictors = [\"vegas\"] } }]";
    let scenario = truckee_scenario::Document::parse("o.toml", text).unwrap().scenario().unwrap();
    let check = |name| Metric::parse(name).unwrap().check_observer(&Metric::of_observers(&scenario));
    assert!(check("predictor.vegas.accuracy.all").is_ok() && check("goodput_bps").is_ok());
    let error = check("predictor.vegs.accuracy.all").unwrap_err().to_string();
    assert!(error.ends_with("no predictor \"vegs\", only \"vegas\"; did you mean \"vegas\"?"), "{error}");
    let error = check("estimator.tibet.mean_bps").unwrap_err().to_string();
    assert!(error.ends_with("no estimator \"tibet\", none at all"), "{error}");
}

#[test]
fn rounds_are_counted_from_one_and_missing_where_there_was_none() {
    let mut o = outcome(1, &[1.0]);
    o.flows[0].rounds = vec![RoundOutcome { segments: 3, acks: 6 }];
    assert_eq!((get("round.1.segments", &o), get("flow.0.round.1.acks", &o)), (Some(3.0), Some(6.0)));
    assert_eq!(get("round.2.acks", &o), None);
    assert!(Metric::parse("round.0.acks").is_err());
}

#[test]
fn what_a_probe_showed_is_missing_where_there_was_none() {
    use truckee_scenario::outcome::ProbeOutcome;
    let mut o = outcome(1, &[1.0]);
    assert_eq!(get("probe.initial_window", &o), None);
    let gains = [("A".to_owned(), 3.0)].into();
    let reaction = "per-ack".to_owned();
    let probe = ProbeOutcome { reaction, gains, initial_window: 10, ..Default::default() };
    o.flows[0].probe = Some(Box::new(probe));
    let values =
        ["probe.initial_window", "probe.per_ack", "flow.0.probe.harmed", "probe.gain.A", "probe.gain.B"];
    assert_eq!(values.map(|name| get(name, &o)), [Some(10.0), Some(1.0), Some(0.0), Some(3.0), None]);
    let message = Metric::parse("probe.initial_windw").unwrap_err().to_string();
    assert!(message.contains("did you mean \"probe.initial_window\"?"), "{message}");
}

#[test]
fn unknown_names_are_refused_with_the_nearest() {
    let message = |name| Metric::parse(name).unwrap_err().to_string();
    assert!(message("goodput").contains("did you mean \"goodput_bps\"?"));
    assert!(message("flow.d.goodput").contains("did you mean \"flow.d.goodput_bps\"?"));
    assert_eq!(message("xyzzy"), "there is no metric \"xyzzy\"");
}

#[test]
fn every_listed_metric_can_be_asked_for() {
    for info in list() {
        let name = match info.of {
            "link" | "station" | "medium" | "traffic" | "predictor" | "estimator" | "detector" => {
                format!("{}.x.{}", info.of, info.name)
            }
            "kind of message" => format!("medium.x.routing.messages.HELLO.{}", info.name),
            "round" => format!("round.3.{}", info.name),
            "probe" => format!("probe.{}", info.name),
            _ => info.name.to_owned(),
        };
        assert_eq!(Metric::parse(&name).unwrap().unit(), info.unit, "{name}");
    }
}

/// The names are those of the stable JSON: every number in a flow's JSON can be asked for under its path.
#[test]
fn every_number_of_the_json_is_a_metric() {
    fn paths(value: &serde_json::Value, at: &str, out: &mut Vec<String>) {
        match value {
            serde_json::Value::Object(map) => map.iter().for_each(|(k, v)| {
                paths(v, &if at.is_empty() { k.clone() } else { format!("{at}.{k}") }, out);
            }),
            serde_json::Value::String(_) | serde_json::Value::Array(_) => {}
            _ => out.push(at.to_owned()),
        }
    }
    let of = |value: serde_json::Value| {
        let mut names = Vec::new();
        paths(&value, "", &mut names);
        names
    };
    let flow = of(serde_json::to_value(FlowOutcome::default()).unwrap());
    let predictor = of(serde_json::to_value(PredictorOutcome::default()).unwrap());
    let estimator = of(serde_json::to_value(EstimatorOutcome::default()).unwrap());
    let detector = of(serde_json::to_value(DetectorOutcome::default()).unwrap());
    assert!(flow.len() > 30 && predictor.len() == 8 && estimator.len() == 7 && detector.len() == 15);
    let predictor = predictor.iter().map(|name| format!("predictor.x.{name}"));
    let estimator = estimator.iter().map(|name| format!("estimator.x.{name}"));
    let detector = detector.iter().map(|name| format!("detector.x.{name}"));
    for name in flow.into_iter().chain(predictor).chain(estimator).chain(detector) {
        assert!(Metric::parse(&name).is_ok(), "{name}");
    }
}
