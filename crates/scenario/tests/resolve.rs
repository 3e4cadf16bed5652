//! What files mean once they are resolved.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use truckee_channel::{Counts, Deed, Effect, ReorderWhich, Script};
use truckee_scenario::model::{
    App, Arrivals, Change, Changed, Connections, Era, KernelStack, Limit, Periods, Queue, Which,
};
use truckee_scenario::{Document, Errors, Scenario};
use truckee_tcp::{Arg, Size, Span, Stack, Time};

fn parse(text: &str) -> Result<Scenario, Errors> {
    Document::parse("test.toml", text)?.scenario()
}

fn good(text: &str) -> Scenario {
    parse(text).unwrap_or_else(|errors| panic!("{errors}"))
}

fn limit(queue: &Queue) -> Limit {
    queue.limit()
}

/// Two links in a row, `server – router – phone`, with `first` and `second` as their further keys, and what follows.
fn path(first: &str, second: &str, rest: &str) -> String {
    format!(
        "duration = \"60s\"\n[[link]]\nbetween = [\"server\", \"router\"]\n{first}\n\
         [[link]]\nbetween = [\"router\", \"phone\"]\n{second}\n{rest}\n"
    )
}

const FLOW: &str = "[[flow]]\nfrom = \"server\"\nto = \"phone\"\n";

#[test]
fn defaults_are_those_stated() {
    let scenario = good(&path("rate = \"1Mbit/s\"", "rate = \"1Mbit/s\"", FLOW));
    assert_eq!((scenario.seed, scenario.warmup, scenario.stop_when_done), (1, Span::ZERO, true));
    assert_eq!(scenario.name, "test.toml");
    assert_eq!(scenario.nodes, ["server", "router", "phone"]);
    let link = &scenario.links[0];
    assert_eq!((&*link.label(&scenario.nodes), link.forward.delay), ("server-router", Span::ZERO));
    assert_eq!(link.forward, link.back);
    assert_eq!(limit(&link.forward.queue), Limit::None);
    let flow = &scenario.flows[0];
    assert_eq!((flow.name.as_str(), flow.sender.label.as_str()), ("flow-1", "newreno"));
    assert_eq!((flow.receiver.name.as_str(), &flow.app, flow.start), ("every", &App::Bulk, Time::ZERO));
    assert_eq!(flow.stack, Stack::default());
}

#[test]
fn an_ack_filter_belongs_to_the_queue_of_its_direction_and_the_explanation_shows_it_where_it_is_on() {
    let one = "rate = \"1Mbit/s\"\nqueue = { size = \"9packets\" }\nqueue_back = { ack_filter = true }";
    let both = "rate = \"1Mbit/s\"\nqueue = { kind = \"red\", ack_filter = true }";
    let scenario = good(&path(one, both, FLOW));
    let filters: Vec<_> = scenario.links.iter().map(|l| (l.forward.ack_filter, l.back.ack_filter)).collect();
    assert_eq!(filters, [(false, true), (true, true)]);
    let explained = truckee_scenario::explain(&scenario);
    assert_eq!(explained.matches("ack_filter = true").count(), 3, "{explained}");
    assert!(!explained.contains("ack_filter = false"), "{explained}");
    assert_eq!(good(&explained).links, scenario.links);
}

#[test]
fn a_queue_may_stand_behind_the_channel_of_its_direction() {
    let one = "rate = \"1Mbit/s\"\nqueue = { size = \"9packets\", after_channel = true }\nqueue_back = {}";
    let scenario = good(&path(one, "rate = \"1Mbit/s\"", FLOW));
    let behind: Vec<_> =
        scenario.links.iter().map(|l| (l.forward.after_channel, l.back.after_channel)).collect();
    assert_eq!(behind, [(true, false), (false, false)]);
    let explained = truckee_scenario::explain(&scenario);
    assert_eq!(explained.matches("after_channel = true").count(), 1, "{explained}");
    assert_eq!(good(&explained).links, scenario.links);
}

#[test]
fn a_bdp_queue_is_rate_times_the_round_trip_of_the_flows_over_their_packet() {
    // 10 Mbit/s · 2 · (50 + 10) ms / (1500 · 8 bit) = 100 packets; the other direction has a tenth of the rate.
    let first = "rate = \"10Mbit/s\"\nrate_back = \"1Mbit/s\"\ndelay = \"50ms\"\nqueue = { size = \"bdp\" }";
    let second = "rate = \"10Mbit/s\"\ndelay = \"10ms\"\nqueue = { size = \"2bdp\" }";
    let scenario = good(&path(first, second, FLOW));
    assert_eq!(limit(&scenario.links[0].forward.queue), Limit::Packets(100));
    assert_eq!(limit(&scenario.links[0].back.queue), Limit::Packets(10));
    assert_eq!(limit(&scenario.links[1].forward.queue), Limit::Packets(200));
    // Without flows: the link's own two delays.
    let scenario = good(&path(first, second, ""));
    assert_eq!(limit(&scenario.links[0].forward.queue), Limit::Packets(84));
    // A smaller segment makes more packets of it, and the largest counts: 512 + 40 bytes.
    let scenario = good(&path(first, second, &format!("{FLOW}mss = 512\n{FLOW}mss = 100\n")));
    assert_eq!(limit(&scenario.links[0].forward.queue), Limit::Packets(272));
    // Never less than one packet.
    let scenario = good(&path("rate = \"1bit/s\"\nqueue = { size = \"bdp\" }", second, FLOW));
    assert_eq!(limit(&scenario.links[0].forward.queue), Limit::Packets(1));
}

#[test]
fn the_longest_fattest_pipe_still_reads_back_from_its_explanation() {
    let vast = "rate = \"1000000Gbit/s\"\ndelay = \"5000000min\"\nqueue = { size = \"1e6bdp\" }";
    let scenario = good(&path(vast, vast, FLOW));
    assert_eq!(good(&truckee_scenario::explain(&scenario)), scenario);
}

#[test]
fn a_bdp_follows_the_route_that_is_written() {
    let triangle = |route: &str| {
        format!(
            "duration = \"1s\"\n[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"12Mbit/s\"\ndelay = \"10ms\"\n\
             queue = {{ size = \"bdp\" }}\n[[link]]\nbetween = [\"a\", \"c\"]\nrate = \"12Mbit/s\"\ndelay = \"40ms\"\n\
             [[link]]\nbetween = [\"c\", \"b\"]\nrate = \"12Mbit/s\"\ndelay = \"40ms\"\nqueue = {{ size = \"bdp\" }}\n\
             [[flow]]\nfrom = \"a\"\nto = \"b\"\n{route}\n"
        )
    };
    let packets = |text: &str| {
        let scenario = good(text);
        [0, 2].map(|link: usize| limit(&scenario.links[link].forward.queue))
    };
    // 12 Mbit/s is one packet of 1500 bytes a millisecond.
    assert_eq!(packets(&triangle("")), [Limit::Packets(20), Limit::Packets(80)]);
    assert_eq!(
        packets(&triangle("route = [\"a\", \"c\", \"b\"]")),
        [Limit::Packets(20), Limit::Packets(160)]
    );
}

#[test]
fn channels_act_in_their_directions_in_the_order_written() {
    let noisy = r#"
        rate = "1Mbit/s"
        channel = [{ kind = "bernoulli", per = 0.1 }, { kind = "none" }, { kind = "reorder", every = 5, delay = "1ms" }]
        channel_back = { kind = "bit-errors", ber = 1e-6 }
        channel_both = { kind = "bursts", every = "10s", lasting = "1s", until = "50s", phase = "2s" }
    "#;
    let scenario = good(&path("rate = \"1Mbit/s\"", noisy, FLOW));
    let burst = Effect::Bursts {
        every: Span::s(10),
        lasting: Span::s(1),
        until: Some(Time::s(50)),
        phase: Some(Span::s(2)),
    };
    let reorder = Effect::Reorder { which: ReorderWhich::Every(5), delay: Span::ms(1) };
    let link = &scenario.links[1];
    assert_eq!(link.forward.channel.effects, [Effect::Bernoulli { per: 0.1 }, reorder, burst.clone()]);
    assert_eq!(link.back.channel.effects, [Effect::BitErrors { ber: 1e-6 }, burst]);
}

#[test]
fn a_script_names_a_flow_that_comes_later_in_the_file() {
    let scripted = r#"
        rate = "1Mbit/s"
        channel = { kind = "scripted", flow = "late", packets = [3, "10..20"], during = [["1s", "2s"]] }
    "#;
    let flows = format!("{FLOW}{FLOW}name = \"late\"\n");
    let scenario = good(&path("rate = \"1Mbit/s\"", scripted, &flows));
    let expected = Effect::Scripted(Script {
        flow: Some(1),
        packets: vec![(3, 3), (10, 20)],
        during: vec![(Time::s(1), Time::s(2))],
        ..Script::default()
    });
    assert_eq!(scenario.links[1].forward.channel.effects, [expected]);
}

#[test]
fn a_script_may_count_every_packet_and_hold_back_or_double_those_it_names() {
    let script = |deed: &str| {
        let keys = format!(
            "rate = \"1Mbit/s\"\nchannel_back = {{ kind = \"scripted\", packets = [4], counts = \"all\", {deed} }}"
        );
        good(&path("rate = \"1Mbit/s\"", &keys, FLOW)).links[1].back.channel.effects.clone()
    };
    let does = |does| {
        [Effect::Scripted(Script { counts: Counts::All, packets: vec![(4, 4)], does, ..Script::default() })]
    };
    assert_eq!(script("does = \"lose\""), does(Deed::Lose));
    assert_eq!(script("does = \"delay\", by = \"30ms\""), does(Deed::Delay(Span::ms(30))));
    assert_eq!(script("does = \"duplicate\", by = \"2ms\""), does(Deed::Duplicate(Span::ms(2))));
}

#[test]
fn a_hundred_flows_over_a_dumbbell_take_a_few_lines() {
    let scenario = good(
        r#"
        duration = "60s"
        topology = { kind = "dumbbell", n = 100, rate = "100Mbit/s", delay = "20ms", queue = { size = "bdp" } }
        [[flow]]
        name = "bulk"
        from = "s*"
        to   = "d*"
        start_every = "10ms"
        "#,
    );
    assert_eq!((scenario.flows.len(), scenario.links.len(), scenario.nodes.len()), (100, 201, 202));
    let last = &scenario.flows[99];
    assert_eq!((last.name.as_str(), last.start), ("bulk.100", Time::ms(990)));
    assert_eq!((scenario.nodes[last.from].as_str(), scenario.nodes[last.to].as_str()), ("s100", "d100"));
    let bottleneck = scenario.links.iter().find(|link| link.label(&scenario.nodes) == "r1-r2").unwrap();
    // 100 Mbit/s · 2 · (1 + 20 + 1) ms / 12,000 bit, rounded up.
    assert_eq!(limit(&bottleneck.forward.queue), Limit::Packets(367));
    assert_eq!(scenario.links[0].forward.rate, 1_000_000_000);
}

#[test]
fn the_other_topologies_have_the_nodes_they_promise() {
    let nodes = |topology: &str| good(&format!("duration = \"1s\"\ntopology = {{ {topology} }}")).nodes;
    assert_eq!(nodes(r#"kind = "single-link", rate = "1Mbit/s""#), ["src", "router", "dst"]);
    assert_eq!(nodes(r#"kind = "multihop", hops = 3, rate = "1Mbit/s""#), ["n0", "n1", "n2", "n3"]);
    let parking = nodes(r#"kind = "parking-lot", hops = 2, rate = "1Mbit/s""#);
    for node in ["s0", "d0", "s1", "d1", "s2", "d2", "r1", "r2", "r3"] {
        assert!(parking.iter().any(|n| n == node), "{node} is not among {parking:?}");
    }
    assert_eq!(parking.len(), 9);
}

#[test]
fn links_can_be_added_to_a_topology() {
    let scenario = good(
        "duration = \"1s\"\ntopology = { kind = \"single-link\", rate = \"1Mbit/s\" }\n\
         [[link]]\nbetween = [\"router\", \"other\"]\nrate = \"1Mbit/s\"\n[[flow]]\nfrom = \"other\"\nto = \"dst\"\n",
    );
    assert_eq!(scenario.links.len(), 3);
}

#[test]
fn defaults_hold_for_flows_that_say_nothing_else() {
    let rest = format!(
        "[defaults]\nsender = \"tahoe\"\nmss = 536\nrwnd = \"20segments\"\n{FLOW}{FLOW}sender = \"reno\"\nmss = 1000\n"
    );
    let scenario = good(&path("rate = \"1Mbit/s\"", "rate = \"1Mbit/s\"", &rest));
    let [first, second] = scenario.flows.as_slice() else { panic!("two flows") };
    assert_eq!(
        (first.sender.label.as_str(), first.stack.mss, first.stack.rwnd),
        ("tahoe", 536, Size::Segments(20.0))
    );
    assert_eq!((second.sender.label.as_str(), second.stack.mss), ("reno", 1000));
}

#[test]
fn a_sender_in_parts_takes_what_it_leaves_out_from_newreno_or_its_preset() {
    let sender = |text: &str| {
        let flow = format!("{FLOW}sender = {text}\n");
        good(&path("rate = \"1Mbit/s\"", "rate = \"1Mbit/s\"", &flow)).flows.remove(0).sender.clone()
    };
    let parts = sender(r#"{ response = { by-cause = { predictor = "spike", alpha = 0.6 } } }"#);
    assert_eq!(parts.label, "newreno+per-ack+by-cause");
    let Some((_, Arg::Spec(spike))) = parts.response.args.iter().find(|(name, _)| name == "predictor") else {
        panic!("no predictor in {parts:?}")
    };
    assert_eq!(spike.name, "spike");
    assert!(spike.args.contains(&("alpha".to_owned(), Arg::Number(0.6))));
    assert!(spike.args.iter().any(|(name, _)| name == "beta"), "defaults are filled in: {spike:?}");
    let preset = sender(r#"{ preset = "newreno-lp", recovery = "reno" }"#);
    assert_eq!((preset.recovery.name.as_str(), preset.response.name.as_str()), ("reno", "by-cause"));
    assert_eq!(preset.label, "reno+per-ack+by-cause");
    assert_eq!(sender(r#"{ preset = "newreno-lp" }"#), sender(r#""newreno-lp""#));
}

#[test]
fn every_preset_can_be_named() {
    for preset in truckee_tcp::preset::PRESETS {
        let flow = format!("{FLOW}sender = \"{}\"\n", preset.info.name);
        let scenario = good(&path("rate = \"1Mbit/s\"", "rate = \"1Mbit/s\"", &flow));
        assert_eq!(scenario.flows[0].sender.label, preset.info.name);
    }
}

#[test]
fn a_presets_stack_holds_where_nothing_is_written() {
    let stacks = |rest: &str| {
        let flows = good(&path("rate = \"1Mbit/s\"", "rate = \"1Mbit/s\"", rest)).flows;
        flows.into_iter().map(|flow| flow.stack.clone()).collect::<Vec<_>>()
    };
    let buffered = |initial_window| Stack {
        initial_window,
        send_buffer: Some(Size::Bytes(64 << 10)),
        ..Stack::default()
    };
    let server = format!("{FLOW}sender = \"rfc2581\"\n");
    assert_eq!(stacks(&server), [buffered(Size::Segments(1.0))]);
    let in_parts = format!("{FLOW}sender = {{ preset = \"rfc2581\", recovery = \"sack\" }}\n");
    assert_eq!(stacks(&in_parts), stacks(&server));
    // In [defaults] it is the preset of all flows but of those that have their own sender.
    let defaults = format!("[defaults]\nsender = \"rfc2581\"\n{FLOW}{FLOW}sender = \"harmed\"\n");
    let harmed = Stack { initial_window: Size::Segments(3.0), segment_from_acks: true, ..Stack::default() };
    assert_eq!(stacks(&defaults), [buffered(Size::Segments(1.0)), harmed]);
}

#[test]
fn a_presets_stack_yields_to_what_is_written() {
    let scenario = |rest: &str| good(&path("rate = \"1Mbit/s\"", "rate = \"1Mbit/s\"", rest));
    let written = "initial_window = \"4segments\"\nsegment_from_acks = false\n";
    let own = scenario(&format!("{FLOW}sender = \"harmed\"\n{written}"));
    let from_defaults = scenario(&format!("[defaults]\n{written}\n{FLOW}sender = \"harmed\"\n"));
    let expected = Stack { initial_window: Size::Segments(4.0), ..Stack::default() };
    assert_eq!((&own.flows[0].stack, &from_defaults.flows[0].stack), (&expected, &expected));
    // One key yields without the other.
    let larger = scenario(&format!("{FLOW}sender = \"rfc2581\"\nsend_buffer = \"1MiB\"\n"));
    let stack = &larger.flows[0].stack;
    assert_eq!((stack.initial_window, stack.send_buffer), (Size::Segments(1.0), Some(Size::Bytes(1 << 20))));
}

#[test]
fn the_explanation_shows_the_stack_that_a_preset_brought() {
    for preset in truckee_tcp::preset::PRESETS {
        let text = path(
            "rate = \"1Mbit/s\"",
            "rate = \"1Mbit/s\"",
            &format!("{FLOW}sender = \"{}\"\n", preset.info.name),
        );
        let scenario = good(&text);
        let explained = truckee_scenario::explain(&scenario);
        for setting in preset.settings() {
            assert!(
                explained.contains(&format!("\n{} = ", setting.key())),
                "{}: {explained}",
                preset.info.name
            );
        }
        assert_eq!(good(&explained).flows, scenario.flows, "{}", preset.info.name);
    }
}

#[test]
fn routers_know_quick_start_unless_said_otherwise_and_the_explanation_says_so_where_it_matters() {
    let asking = "[[flow]]\nfrom = \"server\"\nto = \"phone\"\nsender = \"quick-start\"\n";
    let rate = "rate = \"1Mbit/s\"";
    let text = path(rate, "rate = \"1Mbit/s\"\nquick_start = false", asking);
    let scenario = good(&text);
    assert!(scenario.asks_for_rates());
    assert_eq!(scenario.links.iter().map(|l| l.quick_start).collect::<Vec<_>>(), [true, false]);
    let explained = truckee_scenario::explain(&scenario);
    assert!(
        explained.contains("quick_start = true") && explained.contains("quick_start = false"),
        "{explained}"
    );
    assert_eq!(good(&explained).links, scenario.links);
    let ordinary = good(&path(rate, rate, FLOW));
    assert!(!ordinary.asks_for_rates() && !truckee_scenario::explain(&ordinary).contains("quick_start"));
}

#[test]
fn the_kernels_stack_is_a_word_or_a_table_and_can_be_overridden() {
    let link = "[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"1Mbit/s\"\n";
    let of = |kernel: &str| good(&format!("duration = \"1s\"\n{kernel}\n{link}")).kernel;
    let papers = KernelStack::default();
    assert_eq!(papers.era, Era::Papers);
    assert_eq!(of(""), papers);
    let today = KernelStack { era: Era::Today, ..papers };
    assert_eq!(of("kernel = \"today\""), today);
    let without = KernelStack { sack: Some(false), ..today };
    assert_eq!(of("kernel = { stack = \"today\", sack = false }"), without);
    let mut document = Document::parse("test.toml", &format!("duration = \"1s\"\n{link}")).unwrap();
    document.set("kernel", "{ rack = true }").unwrap();
    assert_eq!(document.scenario().unwrap().kernel, KernelStack { rack: Some(true), ..papers });
}

#[test]
fn a_congestion_control_of_the_running_kernel_has_its_name_for_a_label() {
    let text = "duration = \"1s\"\n[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"1Mbit/s\"\n[[flow]]\nfrom = \"a\"\nto = \"b\"\n";
    let sender = &good(&format!("{text}sender = \"kernel:bbr\"")).flows[0].sender;
    assert_eq!((sender.label.as_str(), sender.native.as_deref()), ("kernel:bbr", Some("bbr")));
    assert_eq!(good(text).flows[0].sender.native, None);
}

#[test]
fn applications_and_traffic_are_read() {
    let rest = format!(
        "{FLOW}app = {{ kind = \"files\", size = \"10segments\", count = 5, connections = \"parallel:6\", pause = \"1s\" }}\n\
         {FLOW}app = {{ kind = \"request-response\", request = \"200B\", response = \"20kB\", think = \"1s\" }}\n\
         {FLOW}app = {{ kind = \"segments\", arrivals = {{ kind = \"on-off\", rate = \"1Mbit/s\", on = \"1s\", off = \"2s\" }} }}\n\
         [[traffic]]\nfrom = \"server\"\nto = \"phone\"\nsources = 3\nkind = \"pareto\"\nrate = \"1Mbit/s\"\n\
         on = \"1s\"\noff = \"1s\"\npacket = \"576B\"\n"
    );
    let scenario = good(&path("rate = \"1Mbit/s\"", "rate = \"1Mbit/s\"", &rest));
    let apps: Vec<&App> = scenario.flows.iter().map(|flow| &flow.app).collect();
    let files =
        App::Files { size: 14_600, count: 5, connections: Connections::Parallel(6), pause: Span::s(1) };
    assert_eq!(apps[0], &files);
    assert_eq!(
        apps[1],
        &App::RequestResponse { request: 200, response: 20_000, count: None, think: Span::s(1) }
    );
    let on_off = |on, off, periods| Arrivals::OnOff { rate: 1e6, on, off, periods, whole_packets: false };
    let arrivals = on_off(Span::s(1), Span::s(2), Periods::Exponential);
    assert_eq!(apps[2], &App::Segments { arrivals, size: 1460, count: None });
    let traffic = &scenario.traffic[0];
    assert_eq!((traffic.sources, traffic.packet), (3, 576));
    assert_eq!(traffic.arrivals, on_off(Span::s(1), Span::s(1), Periods::Pareto { shape: 1.5 }));
}

#[test]
fn changes_are_put_in_order_of_time() {
    let rest = "[[change]]\nat = \"20s\"\nlink = \"router-phone\"\nup = false\ndirection = \"back\"\n\
                [[change]]\nat = \"10s\"\nlink = \"server-router\"\ndelay = \"1ms\"\n";
    let scenario = good(&path("rate = \"1Mbit/s\"", "rate = \"1Mbit/s\"", rest));
    let of_link = |c: &Change| c.of_link().map(|of| (c.at, of.link, of.direction));
    let seen: Vec<_> = scenario.changes.iter().filter_map(of_link).collect();
    assert_eq!(seen, [(Time::s(10), 0, Which::Both), (Time::s(20), 1, Which::Back)]);
}

#[test]
fn a_receiver_changes_by_its_flows_name_for_all_copies() {
    let rest = "[[flow]]\nname = \"many\"\ncount = 2\nfrom = \"server\"\nto = \"phone\"\n\
                [[flow]]\nname = \"other\"\nfrom = \"server\"\nto = \"phone\"\n\
                [[change]]\nat = \"5s\"\nflow = \"many\"\nreceiver = { delayed = { count = 3 } }\n";
    let scenario = good(&path("rate = \"1Mbit/s\"", "rate = \"1Mbit/s\"", rest));
    let changed = |c: &Change| match &c.what {
        Changed::Receiver { flow, policy } => Some((c.at, *flow, policy.args[0].clone())),
        Changed::Link(_) => None,
    };
    let count = ("count".to_owned(), Arg::Number(3.0));
    let seen: Vec<_> = scenario.changes.iter().filter_map(changed).collect();
    assert_eq!(seen, [(Time::s(5), 0, count.clone()), (Time::s(5), 1, count)]);
}

#[test]
fn a_recorded_link_needs_no_rate_and_has_its_traces_mean() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("link.trace"), "1\n2\n2\n6\n").unwrap();
    let text = path("rate = \"1Mbit/s\"", "channel = { kind = \"trace\", file = \"link.trace\" }", FLOW);
    let file = folder.path().join("scenario.toml");
    std::fs::write(&file, text).unwrap();
    let scenario =
        Document::read(&file).and_then(|d| d.scenario()).unwrap_or_else(|errors| panic!("{errors}"));
    // Four packets of 1500 bytes in 6 ms; the other direction, without a rate of its own, takes the same.
    assert_eq!((scenario.links[1].forward.rate, scenario.links[1].back.rate), (8_000_000, 8_000_000));
    assert!(scenario.links[1].back.channel.effects.is_empty());
    let Effect::Trace(trace) = &scenario.links[1].forward.channel.effects[0] else { panic!("a trace") };
    assert_eq!(trace.name, "link.trace");
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let errors = Document::read(std::path::Path::new("no-such-folder/no-such.toml")).unwrap_err();
    assert!(errors.to_string().contains("no-such-folder/no-such.toml"), "{errors}");
    let folder = tempfile::tempdir().unwrap();
    assert!(Document::read(folder.path()).unwrap_err().to_string().contains("is a folder"));
    let latin1 = folder.path().join("latin1.toml");
    std::fs::write(&latin1, b"# caf\xe9\n").unwrap();
    assert!(Document::read(&latin1).unwrap_err().to_string().contains("byte 6"));
    let huge = folder.path().join("huge.toml");
    std::fs::File::create(&huge).unwrap().set_len(truckee_scenario::MAX_FILE_BYTES + 1).unwrap();
    assert!(Document::read(&huge).unwrap_err().to_string().contains("16 MiB"));
}

#[test]
fn no_more_than_a_hundred_problems_are_listed() {
    let text: String = (0..500).map(|i| format!("key{i} = {i}\n")).collect();
    let errors = parse(&text).unwrap_err();
    assert_eq!(errors.list.len(), Errors::MAX);
    assert!(errors.to_string().ends_with("note: only the first 100 problems are shown"));
}

#[test]
fn a_hundred_thousand_flows_are_resolved_in_seconds() {
    let start = std::time::Instant::now();
    let scenario = good(
        r#"
        duration = "60s"
        topology = { kind = "dumbbell", n = 50_000, rate = "100Mbit/s", queue = { size = "bdp" } }
        flow = [
            { name = "there", from = "s*", to = "d*", count = 50_000 },
            { name = "back", from = "d*", to = "s*", count = 50_000 },
        ]
        "#,
    );
    assert_eq!(scenario.flows.len(), 100_000);
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn a_profile_changes_what_presets_are_made_of_and_nothing_that_is_written() {
    let of = |profile: &str, sender: &str| {
        let text = format!(
            "profile = \"{profile}\"\nduration = \"1s\"\n[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"1Mbit/s\"\n\
             [[flow]]\nfrom = \"a\"\nto = \"b\"\nsender = {sender}\nmin_rto = \"1s\"\n"
        );
        let flow = Document::parse("t.toml", &text).unwrap().scenario().unwrap().flows.remove(0);
        let names = [&flow.sender.recovery, &flow.sender.growth].map(|spec| spec.name.clone());
        (names, flow.sender.wants_sack(), flow.stack.validate_window, flow.stack.min_rto)
    };
    let names = |recovery: &str, growth: &str| [recovery.to_owned(), growth.to_owned()];
    let second = Span::s(1);
    assert_eq!(of("rfc", "\"sack\""), (names("sack", "per-ack"), true, true, second));
    assert_eq!(of("ns-2", "\"sack\""), (names("sack1", "per-ack"), true, false, second));
    let written = "{ preset = \"vegas\", recovery = \"newreno\" }";
    assert_eq!(of("ns-2", written), (names("newreno", "vegas-ns2"), false, false, second));
}

/// A row of 1000 routers, with as many hosts at each end.
fn long_row(hosts: usize) -> String {
    let row = (1..1000).map(|k| (format!("r{k}"), format!("r{}", k + 1)));
    let left = (1..=hosts).map(|k| (format!("s{k}"), "r1".to_owned()));
    let right = (1..=hosts).map(|k| ("r1000".to_owned(), format!("d{k}")));
    let link = |(a, b)| format!("[[link]]\nbetween = [\"{a}\", \"{b}\"]\nrate = \"1Mbit/s\"\n");
    let links: String = row.chain(left).chain(right).map(link).collect();
    format!("duration = \"1s\"\n{links}")
}

#[test]
fn ways_of_many_hops_are_refused_before_they_are_laid() {
    let text = format!("{}[[flow]]\nfrom = \"s*\"\nto = \"d*\"\n", long_row(10_000));
    let refused = Document::parse("t.toml", &text).unwrap().scenario().unwrap_err().to_string();
    assert!(refused.contains("hops of all ways") && refused.contains("at most 10000000"), "{refused}");
}

#[test]
fn flows_with_the_same_ends_share_a_way_of_many_hops() {
    let text = format!("{}[[flow]]\nfrom = \"s1\"\nto = \"d1\"\ncount = 20000\n", long_row(1));
    assert_eq!(good(&text).flows.len(), 20_000);
}
