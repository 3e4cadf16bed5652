//! What is published and what is referred to, what is known to differ and why, what was loosened.

use super::*;
use crate::study::report::Cause;

const WITHIN: &str = "kind = \"within\"\ntolerance = 0.1\nwhere = { s = \"reno\", per = 0.02 }\n";

#[test]
fn a_reference_is_held_against_where_nothing_is_published() {
    let d = data(&FALLING, 1.0);
    let reference = |value: f64| format!("{WITHIN}reference = {{ value = {value}, source = \"ns-2\" }}\n");
    assert_eq!([verdicts(&reference(70.0), &d), verdicts(&reference(100.0), &d)], [[Pass], [Fail]]);
    let row = rows(&reference(70.0), &d).remove(0);
    assert_eq!((row.published, row.target()), (None, Some(70.0)));
    // With both the paper decides.
    let both = |published: f64| format!("{}published = {published}", reference(100.0));
    assert_eq!([verdicts(&both(70.0), &d), verdicts(&both(100.0), &d)], [[Pass], [Fail]]);
    let row = rows(&both(70.0), &d).remove(0);
    assert_eq!((row.published, row.reference.unwrap().value), (Some(70.0), 100.0));
    // Of a bound it is shown, and decides nothing.
    let bound = "kind = \"bound\"\nabove = 60\nwhere = { s = \"reno\", per = 0.02 }\nreference = { value = 1, source = \"x\" }";
    let row = rows(bound, &d).remove(0);
    assert_eq!((row.verdict, row.reference.unwrap().value), (Pass, 1.0));
    let mut five = Data::deterministic("d", grid::axes(&["g=a"]).unwrap().0);
    five.put(0, "goodput_bps", "", 5.0);
    assert_eq!(verdicts("kind = \"exact\"\nreference = { value = 5, source = \"RFC 5681\" }", &five), [Pass]);
}

/// Reno at 0.02 is published with 95, which NewReno has and Reno, with 70, has not.
fn differing(cause: &str) -> String {
    let known = "differs = \"less\"\npinned = { value = 70, absolute = 5 }";
    format!("{WITHIN}published = 95\n{known}\ncause = {cause}")
}

#[test]
fn a_cause_is_shown_by_a_variation_that_removes_the_difference() {
    let d = data(&FALLING, 1.0);
    let shown =
        rows(&differing("{ name = \"NewReno's repair\", where = { s = \"newreno\" } }"), &d).remove(0);
    let Some(Cause::Shown(cause)) = &shown.cause else { panic!("{:?}", shown.cause) };
    assert_eq!((shown.verdict, shown.note.as_str()), (Differs, "less"));
    assert_eq!((cause.name.as_str(), cause.cell.as_str()), ("NewReno's repair", "s=newreno, per=0.02"));
    assert_eq!((cause.verdict, (cause.measured.unwrap() - 95.0).abs() < 5.0), (Pass, true));
    let not = rows(&differing("{ name = \"the rate\", where = { per = 0.04 } }"), &d).remove(0);
    assert_eq!(not.verdict, Fail);
    assert_eq!(not.note, "the named cause does not remove the difference: less");
    let same = rows(&differing("{ name = \"nothing\", where = { s = \"reno\" } }"), &d).remove(0);
    assert_eq!(same.verdict, Fail, "it differs, so it cannot be its own cause");
}

#[test]
fn a_cause_that_may_remove_the_difference_or_not_leaves_it_undecided() {
    let d = data(&FALLING, 1.0);
    let newreno = rows("kind = \"bound\"\nabove = 0\nwhere = { s = \"newreno\", per = 0.02 }", &d).remove(0);
    let at = "kind = \"bound\"\nwhere = { s = \"reno\", per = 0.02 }\n";
    let known = "differs = \"less\"\npinned = { value = 70, absolute = 5 }\n";
    let cause = "cause = { name = \"repair\", where = { s = \"newreno\" } }";
    let row = rows(&format!("{at}above = {}\n{known}{cause}", newreno.measured.unwrap()), &d).remove(0);
    assert_eq!(row.verdict, Undecided);
    let says = "whether the named cause removes the difference is undecided";
    assert!(row.note.starts_with(says), "{}", row.note);
}

#[test]
fn the_few_runs_of_the_quick_form_reach_a_pin_by_their_interval() {
    let d = [data(&FALLING, 1.0)];
    // Reno's interval is some 3 to either side of 70.
    let verdict = |pin: f64, quick: bool| {
        let known = format!("differs = \"less\"\npinned = {{ value = {pin}, absolute = 0.1 }}");
        evaluate(&check(&format!("{WITHIN}published = 95\n{known}")), &d, quick).unwrap()[0].verdict
    };
    let mean =
        rows("kind = \"bound\"\nabove = 0\nwhere = { s = \"reno\", per = 0.02 }", &d[0])[0].measured.unwrap();
    assert_eq!([0.0, 1.0, 30.0].map(|by| verdict(mean + by, true)), [Differs, Differs, Fail]);
    assert_eq!([0.0, 1.0].map(|by| verdict(mean + by, false)), [Differs, Fail]);
}

#[test]
fn an_unknown_cause_is_said_to_be_unknown() {
    let row = rows(&differing("\"unknown\""), &data(&FALLING, 1.0)).remove(0);
    assert_eq!((row.verdict, &row.cause), (Differs, &Some(Cause::Unknown)));
    assert_eq!(serde_json::to_value(&row).unwrap()["cause"], "unknown");
}

#[test]
fn a_cause_whose_cells_are_not_run_in_the_quick_form_says_nothing_there() {
    let keys = differing("{ name = \"Vegas\", where = { s = \"vegas\" } }");
    let quick = evaluate(&check(&keys), &[data(&FALLING, 1.0)], true).unwrap().remove(0);
    let Some(Cause::Shown(cause)) = quick.cause else { panic!("no cause") };
    assert_eq!((quick.verdict, cause.verdict), (Differs, Skipped));
    let full = evaluate(&check(&keys), &[data(&FALLING, 1.0)], false).unwrap_err();
    assert_eq!(full, "cause \"Vegas\": axis \"s\" has no value \"vegas\"");
}

#[test]
fn what_passes_a_loosened_bound_differs() {
    let d = data(&FALLING, 1.0);
    let keys = |published: f64| format!("{WITHIN}published = {published}\nloosened = \"5 %, which failed\"");
    let row = rows(&keys(70.0), &d).remove(0);
    let note = "loosened with the result known; before: 5 %, which failed";
    assert_eq!((row.verdict, row.note.as_str()), (Differs, note));
    assert_eq!(verdicts(&keys(100.0), &d), [Fail], "a failure it does not mend");
    let rival = format!("{}\nrival = {{ name = \"seventy\", value = 70 }}", keys(70.0));
    assert_eq!(verdicts(&rival, &d), [Fail]);
}

#[test]
fn a_check_that_differs_has_a_rival_too() {
    let d = data(&FALLING, 1.0);
    let rival =
        |value: f64| format!("{}\nrival = {{ name = \"r\", value = {value} }}", differing("\"unknown\""));
    assert_eq!([verdicts(&rival(50.0), &d), verdicts(&rival(95.0), &d)], [[Differs], [Fail]]);
}
