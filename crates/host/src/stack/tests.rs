mod live;

use super::*;
use crate::netns::Metrics;
use truckee_tcp::Arg;

const TODAY: KernelStack =
    KernelStack { era: Era::Today, sack: None, dsack: None, rack: None, tail_loss_probe: None, f_rto: None };
const MS: Span = Span::ms(1);

fn flow(era: Era, stack: &Stack, recovery: &str, receiver: &str) -> Settings {
    of_flow(
        &KernelStack { era, ..KernelStack::default() },
        "download",
        stack,
        recovery,
        &Spec::named(receiver),
    )
    .unwrap()
}

fn value<'a>(sysctls: &'a [Sysctl], name: &str) -> Option<&'a str> {
    sysctls.iter().find(|s| s.name == name).map(|s| s.value.as_str())
}

#[test]
fn the_papers_stack_is_set_whole() {
    let settings = flow(Era::Papers, &Stack::default(), "newreno", "every");
    for (name, expected) in [
        ("tcp_sack", "0"),
        ("tcp_timestamps", "0"),
        ("tcp_window_scaling", "1"),
        ("tcp_ecn", "0"),
        ("tcp_recovery", "0"),
        ("tcp_early_retrans", "0"),
        ("tcp_frto", "0"),
        ("tcp_no_metrics_save", "1"),
        ("tcp_rto_max_ms", "64000"),
    ] {
        assert_eq!(value(&settings.sender, name), Some(expected), "{name}");
    }
    assert_eq!(value(&settings.receiver, "tcp_moderate_rcvbuf"), Some("0"));
    assert_eq!(settings.route.initcwnd, Some(2));
    assert_eq!(settings.route.rto_min, Some(1000 * MS));
    assert!(settings.route_back.quickack && !settings.route.quickack);
    assert_eq!((settings.mtu, settings.sockets.maxseg), (1500, Some(1460)));
    assert_eq!((settings.gso_max_segs, settings.sockets.no_delay), (Some(1), true));
    assert!(settings.stated.iter().any(|s| s.contains("RFC 6937")), "{:?}", settings.stated);
    assert_eq!(value(&flow(Era::Papers, &Stack::default(), "sack", "every").sender, "tcp_sack"), Some("1"));
}

#[test]
fn todays_stack_is_the_kernels_own_but_for_what_the_flow_sets() {
    let settings = flow(Era::Today, &Stack::default(), "sack", "delayed");
    let names = |sysctls: &[Sysctl]| sysctls.iter().map(|s| s.name).collect::<Vec<_>>();
    assert_eq!((names(&settings.sender), names(&settings.receiver)), (vec!["tcp_sack"], vec!["tcp_sack"]));
    assert_eq!((settings.route, settings.route_back), (Metrics::default(), Metrics::default()));
    assert_eq!((settings.mtu, settings.gso_max_segs), (1500, None));
    assert_eq!(settings.sockets, SocketSettings { mss: 1460, ample: true, ..SocketSettings::default() });

    let stack = Stack {
        initial_window: Size::Segments(4.0),
        min_rto: 300 * MS,
        timestamps: true,
        ..Stack::default()
    };
    let settings = flow(Era::Today, &stack, "sack", "delayed");
    assert_eq!((settings.route.initcwnd, settings.route.rto_min), (Some(4), Some(300 * MS)));
    assert_eq!(names(&settings.sender), ["tcp_sack", "tcp_timestamps"]);
}

#[test]
fn timestamps_make_room_for_a_full_segment() {
    let stack = Stack { timestamps: true, ..Stack::default() };
    let settings = flow(Era::Papers, &stack, "sack", "every");
    assert_eq!((settings.mtu, settings.sockets.maxseg), (1512, Some(1472)));
}

#[test]
fn a_send_buffer_is_kept_by_the_other_ends_window() {
    let stack = Stack { send_buffer: Some(Size::Bytes(65_536)), ..Stack::default() };
    assert_eq!(flow(Era::Papers, &stack, "sack", "every").sockets.window, Some(65_536));
    let stack = Stack { rwnd: Size::Segments(10.0), ..stack };
    assert_eq!(flow(Era::Papers, &stack, "sack", "every").sockets.window, Some(14_600));
}

#[test]
fn windows_are_whole_segments() {
    let of = |initial_window| {
        let stack = Stack { initial_window, initial_ssthresh: Some(initial_window), ..Stack::default() };
        let settings = flow(Era::Papers, &stack, "sack", "every");
        assert_eq!(settings.route.initcwnd, settings.initial_ssthresh);
        settings.route.initcwnd
    };
    assert_eq!(of(Size::Bytes(4380)), Some(3));
    assert_eq!(of(Size::Bytes(4379)), Some(2));
    assert_eq!(of(Size::Segments(0.5)), Some(1));
}

#[test]
fn what_no_kernel_does_is_refused_by_name() {
    let usual = Stack::default();
    let stacks = [
        ("clock", Stack { clock: 500 * MS, ..usual.clone() }),
        ("handshake", Stack { handshake: false, ..usual.clone() }),
        ("segment_from_acks", Stack { segment_from_acks: true, ..usual.clone() }),
        ("rto_tick", Stack { rto_tick: 10 * MS, ..usual.clone() }),
        ("validate_window", Stack { validate_window: false, ..usual.clone() }),
        ("undo", Stack { undo: truckee_tcp::stack::Undo::Timestamps, ..usual.clone() }),
        ("a profile that sets it", truckee_tcp::Profile::Ns2.stack(usual.clone())),
        ("ack_rate_request", Stack { ack_rate_request: 2, ..usual.clone() }),
        ("ecn = \"accurate\"", Stack { ecn: truckee_tcp::stack::Ecn::Accurate, ..usual.clone() }),
        ("initial_rto is 3 s", Stack { initial_rto: 3000 * MS, ..usual.clone() }),
        ("max_rto is 240 s", Stack { max_rto: 240_000 * MS, ..usual.clone() }),
        ("mss is 40 bytes", Stack { mss: 40, ..usual.clone() }),
        ("mss is 60000 bytes", Stack { mss: 60_000, ..usual.clone() }),
    ];
    let refused = |stack: &Stack, recovery: &str, receiver: &Spec| {
        of_flow(&TODAY, "download", stack, recovery, receiver).unwrap_err().to_string()
    };
    for (key, stack) in &stacks {
        let error = refused(stack, "sack", &Spec::named("every"));
        assert!(error.starts_with("flow \"download\": ") && error.contains(key), "{key}: {error}");
    }
    let error = refused(&usual, "tahoe", &Spec::named("every"));
    assert!(error.contains("recovery \"tahoe\""), "{error}");
}

#[test]
fn what_the_profile_linux_sets_is_todays_kernels_own() {
    let linux = truckee_tcp::Profile::Linux.stack(Stack::default());
    let asked = |era, stack: &Stack| {
        let kernel = KernelStack { era, ..KernelStack::default() };
        of_flow(&kernel, "download", stack, "rack", &Spec::named("linux"))
    };
    let settings = asked(Era::Today, &linux).unwrap();
    assert!(!settings.route_back.quickack, "its receiver delays ACKs by itself");
    assert_eq!(
        (settings.mtu, settings.sockets.maxseg, settings.route.initcwnd),
        (1500, Some(1460), Some(10))
    );
    // With its arguments written out, as a scenario that has been read has them.
    let written = Spec::named("linux").with("quick", Arg::Flag(true)).with("ping_pong", Arg::Flag(false));
    assert!(acknowledges_natively(Era::Today, &written));
    let resolved = AnyAckPolicy::build(&Spec::named("linux")).unwrap().1;
    assert!(acknowledges_natively(Era::Today, &resolved), "{resolved:?}");
    assert!(!acknowledges_natively(Era::Today, &Spec::named("linux").with("quick", Arg::Flag(false))));
    // Set back by the scenario, or set further by it.
    assert!(asked(Era::Today, &Stack { dsack: false, ..linux.clone() }).is_ok());
    let other = Stack { rto_tick: 10 * MS, ..linux.clone() };
    assert!(asked(Era::Today, &other).unwrap_err().to_string().contains("rto_tick"));
    // The papers' kernels had none of it.
    assert!(asked(Era::Papers, &linux).unwrap_err().to_string().contains("rwnd_autotuning"));
    let reports = Stack { dsack: true, ..Stack::default() };
    assert!(asked(Era::Papers, &reports).unwrap_err().to_string().contains("dsack"));
    let bursts = Stack { tso: true, ..Stack::default() };
    assert!(asked(Era::Papers, &bursts).unwrap_err().to_string().contains("tso"));
    assert!(asked(Era::Today, &Stack { tso: true, small_queues: true, ..linux.clone() }).is_ok());
    let error = asked(Era::Papers, &Stack::default()).unwrap_err().to_string();
    assert!(error.contains("recovery \"rack\""), "{error}");
}

#[test]
fn what_the_profile_papers_sets_is_what_a_kernel_is_set_up_to_be() {
    let papers = truckee_tcp::Profile::Papers.stack(Stack::default());
    let kernel = KernelStack { era: Era::Papers, ..KernelStack::default() };
    let asked = |stack: &Stack| of_flow(&kernel, "download", stack, "newreno", &Spec::named("delayed"));
    let settings = asked(&papers).unwrap();
    for (name, expected) in
        [("tcp_timestamps", "0"), ("tcp_syn_linear_timeouts", "0"), ("tcp_rto_max_ms", "120000")]
    {
        assert_eq!(value(&settings.sender, name), Some(expected), "{name}");
    }
    assert_eq!(value(&settings.receiver, "tcp_dsack"), Some("0"));
    assert_eq!((settings.route.initcwnd, settings.route.rto_min), (Some(2), Some(1000 * MS)));
    let linux = truckee_tcp::Profile::Linux61.stack(Stack::default());
    let error = asked(&linux).unwrap_err().to_string();
    assert!(error.contains("it takes rfc, papers)"), "{error}");
}

#[test]
fn a_kernel_tunes_its_window_by_itself_and_is_told_no_more_than_how_far() {
    let linux = truckee_tcp::Profile::Linux.stack(Stack::default());
    let asked = |stack: &Stack| of_flow(&TODAY, "download", stack, "rack", &Spec::named("linux"));
    let settings = asked(&linux).unwrap();
    assert_eq!((settings.sockets.window, value(&settings.receiver, "tcp_rmem")), (None, None));
    let less = Stack { rwnd: Size::Bytes(1 << 20), ..linux };
    let settings = asked(&less).unwrap();
    assert_eq!(settings.sockets.window, None);
    assert_eq!(value(&settings.receiver, "tcp_rmem"), Some("4096 131072 2097152"));
    let whole = Stack { rwnd_autotuning: truckee_tcp::stack::Autotuning::Off, ..less };
    assert_eq!(asked(&whole).unwrap().sockets.window, Some(1 << 20));
    let other = truckee_tcp::Profile::Linux61.stack(Stack::default());
    let error = asked(&other).unwrap_err().to_string();
    assert!(error.contains("rwnd_autotuning") && error.contains("it takes rfc, papers, linux)"), "{error}");
}

#[test]
fn recoveries_that_the_kernel_has_only_in_part_are_run_and_stated() {
    let stated = |recovery| flow(Era::Papers, &Stack::default(), recovery, "every").stated;
    for (recovery, what) in [("reno", "no plain Reno"), ("vegas", "before the third duplicate ACK")] {
        assert!(stated(recovery).iter().any(|s| s.contains(what)), "{recovery}");
        assert!(!stated("newreno").iter().any(|s| s.contains(what)), "{recovery}");
    }
}

#[test]
fn the_kernels_own_delayed_acks_are_written_out_or_not() {
    let (_, written) = AnyAckPolicy::build(&Spec::named("delayed")).unwrap();
    for spec in [Spec::named("delayed"), written] {
        assert!(of_flow(&KernelStack::default(), "f", &Stack::default(), "sack", &spec).is_ok(), "{spec:?}");
    }
}

#[test]
fn flows_of_one_namespace_come_to_terms_or_are_named() {
    let newreno = flow(Era::Papers, &Stack::default(), "newreno", "every");
    let sack = flow(Era::Papers, &Stack::default(), "sack", "every");
    let sacked = |ends: &[(&str, End, &Settings)]| {
        merge(ends.iter().copied()).map(|s| value(&s, "tcp_sack").unwrap().to_owned())
    };
    assert_eq!(sacked(&[("a", End::Sender, &sack), ("b", End::Sender, &sack)]).unwrap(), "1");
    // Where data goes, who wants the option has it: the other flow's sender declines it.
    assert_eq!(sacked(&[("a", End::Receiver, &newreno), ("b", End::Receiver, &sack)]).unwrap(), "1");
    assert_eq!(sacked(&[("a", End::Receiver, &newreno), ("b", End::Sender, &sack)]).unwrap(), "1");
    for ends in [
        [("a", End::Sender, &newreno), ("b", End::Sender, &sack)],
        [("a", End::Sender, &newreno), ("b", End::Receiver, &sack)],
    ] {
        let error = sacked(&ends).unwrap_err().to_string();
        assert!(error.starts_with("flows \"a\" and \"b\": they share a node"), "{error}");
        assert!(error.contains("net.ipv4.tcp_sack cannot be 0 and 1"), "{error}");
        assert!(error.ends_with("of their own, or say for all: kernel = { sack = true }"), "{error}");
    }
}

#[test]
fn the_highest_limit_does_for_all() {
    let [low, high] = [1 << 20, 1 << 24].map(|bytes| {
        flow(Era::Papers, &Stack { rwnd: Size::Bytes(bytes), ..Stack::default() }, "sack", "every")
    });
    let both = merge([("a", End::Sender, &high), ("b", End::Sender, &low)]).unwrap();
    assert_eq!(value(&both, "tcp_wmem"), value(&high.sender, "tcp_wmem"));
    assert_ne!(value(&low.sender, "tcp_wmem"), value(&high.sender, "tcp_wmem"));
}

#[test]
fn flows_of_one_route_agree_about_its_metrics() {
    let metrics = |initcwnd| Metrics { initcwnd: Some(initcwnd), ..Metrics::default() };
    assert_eq!(merge_metrics([("a", metrics(2)), ("b", metrics(2))]).unwrap(), metrics(2));
    let error = merge_metrics([("a", metrics(2)), ("b", metrics(10))]).unwrap_err().to_string();
    assert_eq!(
        error,
        "flows \"a\" and \"b\": they share a route, whose initial window cannot be 2 and 10 at once; give them nodes of their own"
    );
    assert_eq!(merge_metrics([]).unwrap(), Metrics::default());
}
