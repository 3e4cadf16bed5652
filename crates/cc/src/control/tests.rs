use super::*;
use crate::PORTS;
use truckee_tcp::pace::AnyPacing;
use truckee_tcp::preset::PRESETS;
use truckee_tcp::recovery::AnyRecovery;
use truckee_tcp::start::AnyStart;

/// A preset as a scenario's model has it: all defaults filled in, and its stack.
fn sender(name: &str) -> (Sender, Stack) {
    let preset = preset::find(name).unwrap();
    let sender = Sender {
        label: name.to_owned(),
        recovery: AnyRecovery::build(&preset.recovery()).unwrap().1,
        growth: AnyGrowth::build(&preset.growth()).unwrap().1,
        response: AnyResponse::build(&preset.response()).unwrap().1,
        start: AnyStart::build(&preset.start()).unwrap().1,
        pacing: AnyPacing::build(&preset.pacing()).unwrap().1,
        controller: None,
        native: None,
    };
    (sender, preset.stack(Stack::default()))
}

fn control(name: &str) -> Result<Control, Error> {
    let (sender, stack) = sender(name);
    control_of(&sender, &stack)
}

#[test]
fn the_kernel_s_own_carry_what_they_are() {
    for (preset, own) in [
        ("sack-abc", "reno"),
        ("abc", "reno"),
        ("iw10", "reno"),
        ("cubic", "cubic"),
        ("cubic-linux", "cubic"),
        ("bbr", "bbr"),
        ("bbr1", "bbr"),
        ("westwood-plus", "westwood"),
    ] {
        assert_eq!(control(preset).unwrap(), Control::Native(own.to_owned()), "{preset}");
    }
}

#[test]
fn every_published_port_carries_its_preset() {
    for published in PORTS {
        assert!(published.name.len() <= 15, "{}", published.name);
        let Control::Port(port) = control(published.preset).unwrap() else {
            panic!("{} is not carried by a port", published.preset)
        };
        assert_eq!(port, published.port().unwrap());
        assert_eq!(port.published(), Some(published));
    }
    for preset in ["reno", "sack"] {
        let Control::Port(port) = control(preset).unwrap() else { panic!("{preset}") };
        assert_eq!(port.published().unwrap().name, "tk_newreno");
    }
}

#[test]
fn what_no_kernel_does_is_refused_by_name() {
    for (preset, names) in [
        ("tahoe", "tahoe"),
        ("tahoe-nofr", "tahoe-nofr"),
        ("reno-once", "second"),
        ("jump-start", "jump-start"),
        ("quick-start", "quick-start"),
        ("newreno-paced", "per-window"),
        ("ideal-bandwidth", "oracle"),
        ("santa-cruz", "santa-cruz"),
        ("selective-slow-start", "selective-slow-start"),
        ("harmed", "segment_from_acks"),
    ] {
        let error = control(preset).unwrap_err().to_string();
        assert!(error.contains(preset) && error.contains(names), "{preset}: {error}");
    }
}

#[test]
fn every_preset_is_carried_or_refused() {
    let refused = PRESETS.iter().filter(|p| control(p.info.name).is_err()).count();
    assert_eq!((refused, PRESETS.len()), (10, 40));
}

#[test]
fn what_has_to_be_told_the_truth_is_a_port_of_runs_alone() {
    let Control::Port(port) = control("newreno-lp(ideal)").unwrap() else { panic!() };
    assert!(port.wants_truth() && port.published().is_none());
    let error = crate::load_for_all(&port, "tkideal").unwrap_err().to_string();
    assert!(error.contains("tkideal") && error.contains("path of a run"), "{error}");
    let Control::Port(other) = control("newreno-lp").unwrap() else { panic!() };
    assert!(!other.wants_truth());
}

#[test]
fn cubic_with_parameters_and_mixtures_are_refused() {
    let (mut mixed, stack) = sender("cubic");
    mixed.response = sender("newreno").0.response;
    assert!(control_of(&mixed, &stack).unwrap_err().to_string().contains("halve"));
    let (mut other, stack) = sender("cubic");
    other.response = AnyResponse::build(&Spec::named("cubic").with("beta", Arg::Number(0.8))).unwrap().1;
    assert!(control_of(&other, &stack).unwrap_err().to_string().contains("parameters"));
}

#[test]
fn any_product_of_ported_parts_is_a_port() {
    let (mut product, stack) = sender("hstcp");
    let by_cause = Spec::named("by-cause").with("predictor", Arg::Name("spike".into()));
    product.response = AnyResponse::build(&by_cause.with("alpha", Arg::Number(0.7))).unwrap().1;
    let Control::Port(port) = control_of(&product, &stack).unwrap() else { panic!() };
    assert_eq!(port.published(), None);
    let stack = Stack { initial_ssthresh: Some(truckee_tcp::Size::Segments(20.0)), ..stack };
    let Control::Port(port) = control_of(&product, &stack).unwrap() else { panic!() };
    assert_eq!(port.ssthresh, Some(20));
}
