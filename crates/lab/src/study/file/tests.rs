use super::*;
use crate::Registry;
use crate::testing::Fake;

const HEAD: &str = r#"
    id = "x"
    title = "t"
    setup = "s"
    source = { paper = "p", place = "fig. 1" }
    scenario = ""
    [[sweep]]
    name = "main"
    vary = ["flow.sender=tahoe,reno"]
    runs = 3
"#;

fn refusal(rest: &str) -> String {
    Study::parse("x.toml", &format!("{HEAD}{rest}"), &()).unwrap_err().to_string()
}

const CHECK: &str = "[[check]]\nname = \"c\"\nmetric = \"goodput_bps\"\n";

#[test]
fn a_study_is_read() {
    let check = format!(
        "{CHECK}kind = \"within\"\npublished = 1\ntolerance = 0.1\nwhere = {{ a = [1, 2], b = \"x\" }}"
    );
    let study = Study::parse("x.toml", &format!("{HEAD}{check}"), &()).unwrap();
    let labels: Vec<_> = study.checks[0].cells.values().map(Choice::labels).collect();
    assert_eq!(labels, [vec!["1", "2"], vec!["x"]]);
}

#[test]
fn unknown_keys_are_refused_with_their_place() {
    let message = refusal(&format!("{CHECK}kind = \"within\"\npublisched = 1\n"));
    assert!(
        message.contains("x.toml") && message.contains("line 15") && message.contains("publisched"),
        "{message}"
    );
}

#[test]
fn checks_that_say_nothing_are_refused() {
    for (keys, part) in [
        ("kind = \"within\"\npublished = 1", "either `tolerance`"),
        ("kind = \"within\"\npublished = 1\ntolerance = 1\nabove = 3", "`above` says nothing"),
        ("kind = \"order\"\nalong = \"flow.sender\"", "needs `along`, `first` and `is`"),
        ("kind = \"bound\"", "needs `above`"),
        ("kind = \"bound\"\nabove = 1\ndiffers = \"why\"", "go together"),
        ("kind = \"bound\"\nabove = 1\nof = \"no\"", "no sweep or drive \"no\""),
        ("kind = \"nothing\"", "unknown variant"),
    ] {
        let message = refusal(&format!("{CHECK}{keys}"));
        assert!(message.contains(part), "{keys}: {message}");
    }
    assert!(refusal("").contains("must be able to fail"));
    let unknown = "[[check]]\nname = \"c\"\nmetric = \"goodput\"\nkind = \"bound\"\nabove = 1";
    assert!(refusal(unknown).contains("did you mean \"goodput_bps\""));
}

/// The first check of the study with these keys beside its name and metric.
fn first_check(keys: &str) -> Check {
    Study::parse("x.toml", &format!("{HEAD}{CHECK}{keys}"), &()).unwrap().checks.remove(0)
}

#[test]
fn a_reference_has_a_source_and_takes_the_place_of_a_published_value() {
    let reference = "reference = { value = 2, source = \"ns-2.35\" }";
    assert_eq!(first_check(&format!("kind = \"exact\"\n{reference}")).target(), Some(2.0));
    let both = first_check(&format!("kind = \"exact\"\npublished = 1\n{reference}"));
    assert_eq!(both.target(), Some(1.0));
    for (keys, part) in [
        ("kind = \"exact\"", "needs `published` or `reference`"),
        ("kind = \"exact\"\nreference = { value = 2 }", "missing field `source`"),
        ("kind = \"exact\"\nreference = { value = 2, source = \" \" }", "`source` says where the value"),
        (
            &format!("kind = \"formula\"\nformula = \"1\"\ntolerance = 1\n{reference}"),
            "`reference` says nothing in a check of kind \"formula\"",
        ),
    ] {
        let message = refusal(&format!("{CHECK}{keys}"));
        assert!(message.contains(part), "{keys}: {message}");
    }
}

#[test]
fn a_variation_takes_the_place_of_a_check_s_keys() {
    let check = first_check(
        "kind = \"bound\"\nabove = 1\nwhere = { a = 1, b = 2 }\nover = { a = 3 }\nfull_only = true\nloosened = \"l\"\n\
         rival = { name = \"r\", where = { b = 4, c = 5 }, minus = { a = 6 }, metric = \"completion_s\" }",
    );
    let varied = check.varied(check.rival.as_ref().unwrap());
    let selected: Vec<_> =
        varied.cells.iter().map(|(axis, c)| format!("{axis}={}", c.labels().join(","))).collect();
    assert_eq!(selected, ["a=1", "b=4", "c=5"]);
    assert_eq!(
        (varied.over, varied.minus.map(|w| w.len())),
        (None, Some(1)),
        "ratio or difference, not both"
    );
    assert_eq!((varied.metric.as_str(), varied.above, varied.full_only), ("completion_s", Some(1.0), true));
    assert!(varied.rival.is_none() && varied.loosened.is_none());
    let asked: Vec<&str> = check.asked().map(|(_, metric)| metric.as_str()).collect();
    assert_eq!(asked, ["goodput_bps", "completion_s"]);
}

#[test]
fn variations_that_say_nothing_are_refused() {
    let known = "differs = \"d\"\npinned = { value = 1, absolute = 1 }\n";
    for (keys, part) in [
        ("rival = { name = \"r\" }", "rival: nothing is different"),
        ("rival = { name = \" \", value = 1 }", "rival: `name` says in a few words"),
        ("rival = { value = 1 }", "missing field `name`"),
        ("rival = { name = \"r\", value = 1, of = \"main\" }", "rival: `value` takes the place"),
        ("rival = { name = \"r\", value = nan }", "rival: `value` is a number"),
        ("rival = { name = \"r\", of = \"no\" }", "rival: there is no sweep or drive \"no\""),
        (
            "rival = { name = \"r\", first = \"reno\" }",
            "rival: `first` says nothing in a check of kind \"bound\"",
        ),
        ("rival = { name = \"r\", metric = \"goodput\" }", "did you mean \"goodput_bps\""),
        (
            "rival = { name = \"r\", over = { a = 1 }, minus = { a = 1 } }",
            "rival: `over` and `minus` exclude",
        ),
        ("rival = { name = \"r\", were = { a = 1 } }", "unknown field `were`"),
        ("cause = \"unknown\"", "`cause` says why it differs: it needs `differs`"),
        (known, "`differs` needs `cause`: the variation that removes the difference, or \"unknown\""),
        (&format!("{known}cause = \"unknwon\""), "`cause` is \"unknown\", or a table"),
        (&format!("{known}cause = {{ name = \"c\" }}"), "cause: nothing is different"),
        (&format!("{known}cause = {{ name = \"c\", value = 1 }}"), "cause: `value` is a rival's"),
        (&format!("{known}cause = {{ nam = \"c\" }}"), "unknown field `nam`"),
        ("loosened = \"\"", "`loosened` says what the bound was before"),
    ] {
        let message = refusal(&format!("{CHECK}kind = \"bound\"\nabove = 1\n{keys}"));
        assert!(message.contains(part), "{keys}: {message}");
    }
    let shown = first_check(&format!(
        "kind = \"bound\"\nabove = 1\n{known}cause = {{ name = \"c\", where = {{ a = 1 }} }}"
    ));
    assert!(matches!(shown.cause, Some(Cause::Shown(Variation { .. }))));
}

#[test]
fn the_quick_form_is_part_of_the_full_form() {
    let with = |quick: &str| HEAD.replace("runs = 3", &format!("runs = 3\nquick = {{ keep = {quick} }}"));
    let check = format!("{CHECK}kind = \"bound\"\nabove = 1\n");
    let parse = |quick| Study::parse("x.toml", &format!("{}{check}", with(quick)), &());
    let study = parse("{ \"flow.sender\" = \"reno\" }").unwrap();
    assert_eq!(study.sweeps[0].axes(true).unwrap()[0].values.len(), 1);
    assert_eq!(study.sweeps[0].axes(false).unwrap()[0].values.len(), 2);
    assert!(parse("{ \"flow.sender\" = \"vegas\" }").unwrap_err().to_string().contains("no such value"));
    assert!(parse("{ x = 1 }").unwrap_err().to_string().contains("no such axis"));
}

/// The study with these keys of its own and these of its sweep.
fn with_engines(own: &str, sweep: &str) -> Result<Study, Error> {
    let text = HEAD.replace("id = \"x\"", &format!("id = \"x\"\n{own}"));
    Study::parse("x.toml", &format!("{text}{sweep}\n{CHECK}kind = \"bound\"\nabove = 1\n"), &())
}

#[test]
fn engines_are_the_studys_or_the_sweeps() {
    let [sim, kernel] = ["sim", "kernel"].map(|name| name.parse::<EngineName>().unwrap());
    let engines = Registry::default().with(Fake::new()).with(Fake::live());
    let plain = with_engines("", "").unwrap();
    assert_eq!((&plain.engine, plain.is_live(&engines, false)), (&sim, false));
    let live = with_engines("engine = \"kernel\"\nparallel = 2", "").unwrap();
    assert_eq!(live.engines_of(&live.sweeps[0], false), std::slice::from_ref(&kernel));
    assert!(live.is_live(&engines, true) && live.sweeps[0].engine_axis(false).is_none());
    let quick = "quick = { keep = { engine = \"sim\" } }";
    let both = with_engines("", &format!("engines = [\"sim\", \"kernel\"]\n{quick}")).unwrap();
    assert_eq!(both.engines_of(&both.sweeps[0], false), [sim.clone(), kernel]);
    assert_eq!(both.engines_of(&both.sweeps[0], true), [sim]);
    assert!(both.is_live(&engines, false) && !both.is_live(&engines, true));
    let axis = both.sweeps[0].engine_axis(false).unwrap();
    assert_eq!((axis.name.as_str(), axis.values.len()), ("engine", 2));
    assert_eq!(both.sweeps[0].axes(true).unwrap().len(), 1, "the engine is no axis of the grid");
}

#[test]
fn engines_that_say_nothing_are_refused() {
    let both = "engines = [\"sim\", \"kernel\"]\n";
    for (own, sweep, part) in [
        ("engine = \"../sim\"", "", "is no engine's name"),
        ("parallel = 2", "", "`parallel` says nothing: no [[sweep]] is live"),
        ("alone = true", "", "`alone` says nothing: no [[sweep]] is live"),
        ("engine = \"kernel\"\nparallel = 0", "", "1 or more"),
        ("engine = \"kernel\"", both, "`engine` says nothing"),
        ("", "engines = [\"sim\", \"sim\"]", "there twice"),
        ("", &format!("{both}axis = [{{ name = \"engine\", values = [] }}]"), "its axis \"engine\" already"),
        ("", &format!("{both}quick = {{ keep = {{ engine = \"ns3\" }} }}"), "no such engine"),
        ("", "quick = { keep = { engine = \"sim\" } }", "no such axis"),
    ] {
        let message = with_engines(own, sweep).unwrap_err().to_string();
        assert!(message.contains(part), "{own} {sweep}: {message}");
    }
}

#[test]
fn named_values_set_several_paths() {
    let axis = "axis = [{ name = \"arrivals\", values = [{ name = \"two\", number = 2, set = { a = 1, b = \"x\" } }] }]\n";
    let study =
        Study::parse("x.toml", &format!("{HEAD}{axis}{CHECK}kind = \"bound\"\nabove = 1\n"), &()).unwrap();
    let axes = study.sweeps[0].axes(false).unwrap();
    assert_eq!((axes[0].name.as_str(), axes[1].name.as_str()), ("arrivals", "flow.sender"));
    let sets = [("a", "1"), ("b", "x")].map(|(p, v)| (p.to_owned(), v.to_owned()));
    assert_eq!(axes[0].values[0].sets, sets);
}
