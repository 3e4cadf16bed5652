//! What holds for every text: nothing panics, and a scenario that was resolved reads back from its explanation.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use proptest::prelude::*;
use truckee_scenario::{Document, explain};

/// Parses, resolves and, if that went well, goes through the explanation and back.
fn round_trip(text: &str) -> Result<bool, String> {
    let Ok(scenario) = Document::parse("fuzz.toml", text).and_then(|document| document.scenario()) else {
        return Ok(false);
    };
    let written = explain(&scenario);
    let again = Document::parse("fuzz.toml", &written)
        .and_then(|document| document.scenario())
        .map_err(|errors| format!("{errors}\n\n{written}"))?;
    if again == scenario { Ok(true) } else { Err(format!("{scenario:#?}\n\n{again:#?}\n\n{written}")) }
}

fn time() -> impl Strategy<Value = String> {
    prop_oneof![
        (1..10_000_000_000u64).prop_map(|n| format!("\"{n}ns\"")),
        (1..5000u32).prop_map(|n| format!("\"{n}ms\"")),
        (0.001..9.0f64).prop_map(|x| format!("\"{x}s\"")),
    ]
}

fn rate() -> impl Strategy<Value = String> {
    prop_oneof![
        (1..1_000_000_000_000u64).prop_map(|n| format!("\"{n}bit/s\"")),
        (0.01..1000.0f64).prop_map(|x| format!("\"{x}Mbit/s\"")),
    ]
}

fn probability() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1.0), 0.0..1.0f64, (0..12i32).prop_map(|e| 10f64.powi(-e))]
}

fn channel() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(r#"{ kind = "none" }"#.to_owned()),
        probability().prop_map(|p| format!(r#"{{ kind = "bernoulli", per = {p:?} }}"#)),
        probability().prop_map(|p| format!(r#"{{ kind = "bit-errors", ber = {p:?} }}"#)),
        (time(), time(), probability(), probability()).prop_map(|(good, bad, p, q)| format!(
            r#"{{ kind = "gilbert", good = {good}, bad = {bad}, per_good = {p:?}, per_bad = {q:?} }}"#
        )),
        (time(), any::<bool>()).prop_map(|(t, fixed)| format!(
            r#"{{ kind = "bursts", every = "20s", lasting = {t}, phase = {} }}"#,
            if fixed { "\"3s\"" } else { "\"random\"" }
        )),
        (time(), time()).prop_map(|(e, l)| format!(r#"{{ kind = "outages", every = {e}, lasting = {l} }}"#)),
        time().prop_map(|t| format!(r#"{{ kind = "outages", at = [["0s", {t}], ["30s", "1s"]] }}"#)),
        (1..9u64, 10..99u64).prop_map(|(a, b)| format!(
            r#"{{ kind = "scripted", flow = "one", packets = [{a}, "{b}..{}"], during = [["1s", "2s"]], counts = "all", does = "delay", by = "7ms" }}"#,
            b + a
        )),
        (probability(), 0.0..0.99f64)
            .prop_map(|(p, c)| format!(r#"{{ kind = "correlated", per = {p:?}, correlation = {c:?} }}"#)),
        time().prop_map(|t| format!(
            r#"{{ kind = "jitter", distribution = "uniform", max = {t}, correlation_time = {t}, keep_order = true }}"#
        )),
        (time(), time()).prop_map(|(m, s)| format!(
            r#"{{ kind = "jitter", distribution = "normal", mean = {m}, sd = {s} }}"#
        )),
        (time(), 0.1..9.0f64).prop_map(|(s, k)| format!(
            r#"{{ kind = "jitter", distribution = "pareto", scale = {s}, shape = {k:?} }}"#
        )),
        (time(), time()).prop_map(|(a, b)| format!(r#"{{ kind = "delays", by = [{a}, {b}] }}"#)),
        (probability(), time())
            .prop_map(|(p, t)| format!(r#"{{ kind = "duplicate", probability = {p:?}, after = {t} }}"#)),
        (1..100u32, time()).prop_map(|(n, t)| format!(r#"{{ kind = "reorder", every = {n}, delay = {t} }}"#)),
        (probability(), time())
            .prop_map(|(p, t)| format!(r#"{{ kind = "reorder", probability = {p:?}, delay = {t} }}"#)),
    ]
}

fn queue() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("{}".to_owned()),
        (1..10_000u32).prop_map(|n| format!(r#"{{ kind = "drop-tail", size = "{n}packets" }}"#)),
        (1..10_000_000u32, any::<bool>())
            .prop_map(|(n, filter)| format!(r#"{{ size = "{n}B", ack_filter = {filter} }}"#)),
        (0.01..5.0f64).prop_map(|x| format!(r#"{{ size = "{x}bdp" }}"#)),
        (1.0..50.0f64, any::<bool>(), any::<bool>()).prop_map(|(min, gentle, ecn)| format!(
            r#"{{ kind = "red", size = "bdp", min = "{min}packets", gentle = {gentle}, ecn = {ecn} }}"#
        )),
    ]
}

fn sender() -> impl Strategy<Value = String> {
    let presets = truckee_tcp::preset::PRESETS.len();
    prop_oneof![
        (0..presets).prop_map(|i| format!("\"{}\"", truckee_tcp::preset::PRESETS[i].info.name)),
        (0.41..1.0f64).prop_map(|a| format!(
            r#"{{ response = {{ by-cause = {{ predictor = "spike", alpha = {a:?} }} }} }}"#
        )),
        Just(r#"{ label = "mine", growth = "byte-counting" }"#.to_owned()),
        Just(r#""kernel:bbr""#.to_owned()),
    ]
}

fn app() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(r#"{ kind = "bulk" }"#.to_owned()),
        (1..10_000u32, 1..100u32).prop_map(|(n, at_a_time)| format!(
            r#"{{ kind = "web-page", objects = {n}, size = "{n}kB", connections = {at_a_time} }}"#
        )),
        (1..u64::from(u32::MAX)).prop_map(|n| format!(r#"{{ kind = "file", size = "{n}B" }}"#)),
        (1..100u32, 1..9u32, time()).prop_map(|(n, lanes, pause)| format!(
            r#"{{ kind = "files", size = "{n}segments", count = {n}, connections = "parallel:{lanes}", pause = {pause} }}"#
        )),
        (1..5000u32, time()).prop_map(|(n, think)| format!(
            r#"{{ kind = "request-response", request = "{n}B", response = "{n}kB", count = {n}, think = {think} }}"#
        )),
        rate().prop_map(|r| format!(r#"{{ kind = "segments", arrivals = {{ kind = "poisson", rate = {r} }} }}"#)),
        (rate(), time(), 1.01..4.0f64).prop_map(|(r, t, shape)| format!(
            r#"{{ kind = "segments", arrivals = {{ kind = "pareto", rate = {r}, on = {t}, off = {t}, shape = {shape:?} }} }}"#
        )),
    ]
}

fn link() -> impl Strategy<Value = String> {
    let keys = (rate(), rate(), time(), queue(), queue());
    let noise = (prop::collection::vec(channel(), 0..3), channel(), channel());
    (keys, noise).prop_map(|((rate, rate_back, delay, queue, queue_back), (list, back, both))| {
        format!(
            "rate = {rate}\nrate_back = {rate_back}\ndelay = {delay}\nqueue = {queue}\nqueue_back = {queue_back}\n\
             channel = [{}]\nchannel_back = {back}\nchannel_both = {both}\n",
            list.join(", ")
        )
    })
}

fn flow() -> impl Strategy<Value = String> {
    (sender(), app(), time(), 1..65_495u32, time(), any::<bool>(), 1..1000u32).prop_map(
        |(sender, app, start, mss, rto, flag, n)| {
            format!(
                "sender = {sender}\napp = {app}\nstart = {start}\nmss = {mss}\nmin_rto = {rto}\ntimestamps = {flag}\n\
                 rwnd = \"{n}segments\"\nsend_buffer = \"{n}KiB\"\nreceiver = \"delayed\"\n"
            )
        },
    )
}

/// A whole scenario that is valid by construction.
fn kernel() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("\"papers\""), Just("\"today\""), Just("{ sack = true, f_rto = false }")]
}

fn scenario() -> impl Strategy<Value = String> {
    (link(), link(), flow(), flow(), 1..4u32, any::<u64>(), rate(), time(), kernel()).prop_map(
        |(first, second, one, many, count, seed, rate, at, kernel)| {
            format!(
                "duration = \"100s\"\nwarmup = \"1s\"\nseed = {seed}\nkernel = {kernel}\n\
                 [[link]]\nbetween = [\"a\", \"b\"]\n{first}\n[[link]]\nname = \"radio\"\nbetween = [\"b\", \"c\"]\n{second}\n\
                 [[flow]]\nname = \"one\"\nfrom = \"a\"\nto = \"c\"\nroute = [\"a\", \"b\", \"c\"]\n{one}\n\
                 [[flow]]\nfrom = \"c\"\nto = \"a\"\ncount = {count}\nstart_every = \"10ms\"\n{many}\n\
                 [[traffic]]\nfrom = \"a\"\nto = \"b\"\nkind = \"cbr\"\nrate = {rate}\nstop = \"50s\"\n\
                 [[change]]\nat = {at}\nlink = \"radio\"\nrate = {rate}\nup = false\n"
            )
        },
    )
}

/// A valid scenario with pieces of its text cut out, doubled or replaced.
fn mutated() -> impl Strategy<Value = String> {
    let edit =
        (any::<prop::sample::Index>(), 0..12usize, prop_oneof!["[\\[\\]{}=\".,*0-9a-z-]{0,6}", "\\PC{0,3}"]);
    (scenario(), prop::collection::vec(edit, 1..8)).prop_map(|(text, edits)| {
        let mut chars: Vec<char> = text.chars().collect();
        for (at, cut, new) in edits {
            let from = at.index(chars.len());
            let to = (from + cut).min(chars.len());
            chars.splice(from..to, new.chars());
            if chars.is_empty() {
                break;
            }
        }
        chars.into_iter().collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_valid_scenario_reads_back_from_its_explanation(text in scenario()) {
        match round_trip(&text) {
            Ok(valid) => prop_assert!(valid, "{}", Document::parse("x", &text).and_then(|d| d.scenario()).unwrap_err()),
            Err(difference) => prop_assert!(false, "{}", difference),
        }
    }

    #[test]
    fn arbitrary_text_never_panics(text in "\\PC*") {
        prop_assert!(round_trip(&text).is_ok());
    }

    #[test]
    fn a_mutated_scenario_never_panics_and_still_reads_back_if_it_is_valid(text in mutated()) {
        let result = round_trip(&text);
        prop_assert!(result.is_ok(), "{:?}", result);
        if let Err(errors) = Document::parse("fuzz.toml", &text).and_then(|document| document.scenario()) {
            prop_assert!(!errors.list.is_empty());
            prop_assert!(!errors.to_string().is_empty());
        }
    }

    #[test]
    fn no_override_panics(path in "[a-z0-9.-]{0,20}|(link|flow|traffic|channel|defaults)\\.[a-z0-9.*]{0,12}", value in "\\PC{0,20}") {
        let text = include_str!("../../../examples/handoff.toml");
        let mut document = Document::parse("fuzz.toml", text).unwrap();
        match document.set(&path, &value) {
            Ok(()) => drop(document.scenario()),
            Err(errors) => prop_assert!(!errors.to_string().is_empty()),
        }
    }
}

#[test]
fn nothing_in_the_corpus_of_a_coverage_guided_fuzzer_panics() {
    bolero::check!().with_type::<String>().with_iterations(20_000).for_each(|text| {
        if let Err(difference) = round_trip(text) {
            panic!("{difference}");
        }
    });
}
