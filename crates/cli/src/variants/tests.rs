use super::*;
use truckee_scenario::Document;
use truckee_tcp::preset;

#[test]
fn a_preset_names_its_start_and_pacing_only_where_they_are_not_the_ordinary_ones() {
    for preset in preset::PRESETS {
        let Usage::Preset(parts, _) = super::preset(preset).unwrap().usage else { panic!("no preset") };
        let named = |key: &str| parts.iter().find(|(k, _)| *k == key).map(|(_, spec)| spec.name.clone());
        for (key, spec, ordinary) in
            [("start", preset.start(), "slow-start"), ("pacing", preset.pacing(), "none")]
        {
            let expected = (spec.name != ordinary).then_some(spec.name);
            assert_eq!(named(key), expected, "{key} of {}", preset.info.name);
        }
    }
}

#[test]
fn a_preset_shows_what_it_sets_in_the_stack() {
    let groups = groups().unwrap();
    let shown = |name: &str| {
        let entry = groups[0].entries.iter().find(|e| e.info.name == name).unwrap();
        toml(&groups[0], name, &entry.usage).split_off(1)
    };
    assert_eq!(shown("rfc2581"), ["initial_window = \"1segments\"", "send_buffer = \"64KiB\""]);
    assert_eq!(shown("harmed"), ["initial_window = \"3segments\"", "segment_from_acks = true"]);
    assert!(shown("newreno").is_empty());
}

#[test]
fn what_a_profile_sets_can_be_written_by_hand_instead() {
    let explained = |top: &str, flow: &str, traffic: &str| {
        let text = format!(
            "duration = \"1s\"\n{top}\n[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"1Mbit/s\"\ndelay = \"1ms\"\n\
             [[flow]]\nfrom = \"a\"\nto = \"b\"\n{flow}\n[[traffic]]\nfrom = \"a\"\nto = \"b\"\n\
             kind = \"pareto\"\nrate = \"1Mbit/s\"\non = \"1s\"\noff = \"1s\"\n{traffic}\n"
        );
        let scenario = Document::parse("profile.toml", &text).and_then(|d| d.scenario());
        truckee_scenario::explain(&scenario.unwrap_or_else(|errors| panic!("{text}{errors}")))
    };
    for profile in Profile::ALL {
        let ByHand { flow, parts, traffic } = by_hand(profile);
        let flow: String = flow.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
        let traffic: String = traffic.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
        let name = profile.info().name;
        for sender in ["tahoe", "reno", "newreno", "sack", "vegas"] {
            let parts =
                parts.iter().find(|(member, _)| *member == sender).map_or(&[][..], |(_, parts)| parts);
            let parts: String =
                parts.iter().map(|(key, spec)| format!(", {key} = {}", spec_toml(spec))).collect();
            let label = format!("preset = \"{sender}\", label = \"{sender}\"");
            let named = explained(&format!("profile = \"{name}\""), &format!("sender = {{ {label} }}"), "");
            let written = explained("", &format!("{flow}sender = {{ {label}{parts} }}"), &traffic);
            assert_eq!(written, named, "{sender} in {name}");
        }
    }
}

#[test]
fn a_profile_shows_what_it_sets_and_the_one_that_holds_without_shows_nothing() {
    let shown = |profile| {
        let mut out = Vec::new();
        show_by_hand(&mut out, &by_hand(profile)).unwrap();
        String::from_utf8(out).unwrap()
    };
    assert_eq!(shown(Profile::Rfc), "");
    let linux = shown(Profile::Linux);
    for line in ["min_rto = \"200ms\"", "receiver = \"linux\"", "after_idle = \"decay\""] {
        assert!(linux.contains(line), "{line} in {linux}");
    }
    let papers = shown(Profile::Papers);
    for line in ["limited_transmit = true", "receiver = ", "sender = { recovery = \"newreno\" }"] {
        assert!(papers.contains(line), "{line} in {papers}");
    }
    let older = shown(Profile::Linux61);
    assert!(older.contains("rwnd = \"3MiB\"") && !older.contains("linear_syn_timeouts"), "{older}");
    let ns2 = shown(Profile::Ns2);
    for line in ["rto_tick = \"10ms\"", "sender = { recovery = \"sack1\" }", "bursts = \"packets\""] {
        assert!(ns2.contains(line), "{line} in {ns2}");
    }
}

#[test]
fn every_part_of_a_sender_is_a_family_in_the_list() {
    let groups = groups().unwrap();
    for (title, member) in [("starts", "slow-start"), ("pacings", "none"), ("growth rules", "per-ack")] {
        let group = groups.iter().find(|g| g.title == title).unwrap();
        assert!(group.entries.iter().any(|e| e.info.name == member), "{title}: {member}");
    }
}

#[test]
fn what_is_shown_of_a_sender_or_receiver_can_be_pasted_into_a_scenario() {
    for group in groups().unwrap() {
        for entry in &group.entries {
            let line = toml(&group, entry.info.name, &entry.usage).join("\n");
            let line = match line.split_once(" = ") {
                Some(("sender" | "receiver", _)) => line,
                Some(("response", _)) => format!("sender = {{ {line} }}"),
                // Kinds have a test of their own.
                _ => continue,
            };
            let text = format!(
                "duration = \"1s\"\n[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"1Mbit/s\"\ndelay = \"1ms\"\n\
                 [[flow]]\nfrom = \"a\"\nto = \"b\"\n{line}\n"
            );
            if let Err(errors) = Document::parse("shown.toml", &text).and_then(|d| d.scenario()) {
                panic!("{}: {errors}", entry.info.name);
            }
        }
    }
}
