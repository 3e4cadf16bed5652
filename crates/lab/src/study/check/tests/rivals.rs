//! Rivals: the simplest thing that is wrong must not pass.

use super::*;

/// Reno at 0.02 measures 70, Tahoe 80, NewReno 95.
const RENO: &str = "kind = \"bound\"\nwhere = { s = \"reno\", per = 0.02 }\n";
const TAHOE: &str = "rival = { name = \"Tahoe\", where = { s = \"tahoe\" } }";

/// A row's verdict, and that of its rival.
fn both(keys: &str, data: &Data) -> (Verdict, Option<Verdict>) {
    let row = rows(keys, data).remove(0);
    (row.verdict, row.rival.map(|r| r.verdict))
}

#[test]
fn a_check_that_its_rival_passes_as_well_fails() {
    let d = data(&FALLING, 1.0);
    let with = |bound: &str| both(&format!("{RENO}{bound}\n{TAHOE}"), &d);
    assert_eq!(with("below = 75"), (Pass, Some(Fail)));
    assert_eq!(with("below = 90"), (Fail, Some(Pass)));
    assert_eq!(with("above = 60"), (Fail, Some(Pass)));
    assert_eq!(with("above = 90"), (Fail, Some(Fail)), "a rival that fails does not make the check pass");
    assert_eq!(rows(&format!("{RENO}below = 90\n{TAHOE}"), &d)[0].note, "its rival, Tahoe, passes as well");
}

#[test]
fn a_rival_stands_with_its_value_beside_each_row() {
    let d = data(&FALLING, 1.0);
    let keys = |rival: &str| {
        format!(
            "kind = \"bound\"\nwhere = {{ s = \"newreno\" }}\nabove = 65\nrival = {{ name = \"Reno\", where = {rival} }}"
        )
    };
    let equal = rows(&keys("{ s = \"reno\" }"), &d);
    let rival = |k: usize| equal[k].rival.clone().unwrap();
    assert_eq!([0, 1, 2].map(|k| rival(k).verdict), [Pass, Pass, Fail]);
    assert_eq!([0, 1, 2].map(|k| equal[k].verdict), [Pass; 3], "one row that fails is enough");
    let last = rival(2);
    assert_eq!((last.name.as_str(), last.cell.as_str(), last.n), ("Reno", "s=reno, per=0.04", 10));
    assert!((last.measured.unwrap() - 50.0).abs() < 5.0);
    // One with fewer rows shows where it does worst, at each.
    let fewer = rows(&keys("{ s = \"reno\", per = [0.01, 0.04] }"), &d);
    assert!(fewer.iter().all(|row| row.rival.as_ref().unwrap().cell == "s=reno, per=0.04"), "{fewer:?}");
    let other = rows(&keys("{ s = [\"reno\", \"tahoe\"] }"), &d);
    assert!(other.iter().all(|row| row.rival.as_ref().unwrap().cell == "s=tahoe, per=0.04"), "{other:?}");
}

#[test]
fn a_constant_takes_the_place_of_whatever_is_measured() {
    let d = data(&FALLING, 1.0);
    let with = |check: &str, value: f64| {
        both(&format!("{check}rival = {{ name = \"always the same\", value = {value} }}"), &d)
    };
    let ratio = "kind = \"bound\"\nwhere = { s = \"newreno\" }\nover = { s = \"reno\" }\nabove = 1.2\n";
    assert_eq!(with(ratio, 1.0), (Pass, Some(Fail)));
    assert_eq!(with(ratio, 1.3), (Fail, Some(Pass)), "of the ratio, not of its parts");
    let shown =
        rows(&format!("{ratio}rival = {{ name = \"one\", value = 1 }}"), &d)[0].rival.clone().unwrap();
    assert_eq!((shown.measured, shown.interval), (Some(1.0), Some((1.0, 1.0))));
    let order = "kind = \"order\"\nalong = \"s\"\nfirst = \"newreno\"\nis = \"highest\"\n";
    for trend in ["kind = \"falls\"\nalong = \"per\"\n", order] {
        assert_eq!(with(trend, 9.0), (Pass, Some(Fail)), "all alike have no trend");
    }
    let weak = format!("{order}significant = false\n");
    assert_eq!(with(&weak, 9.0), (Fail, Some(Pass)), "no constant is clearly second");
    let divided = "kind = \"within\"\nwhere = { s = \"reno\", per = 0.02 }\ndivide_by = 10\npublished = 7\ntolerance = 0.1\n";
    assert_eq!(with(divided, 70.0), (Pass, Some(Fail)), "in the unit of what is shown");
    let averaged = "kind = \"bound\"\naverage = [\"per\"]\nwhere = { s = \"reno\" }\nabove = 60\n";
    assert_eq!(with(averaged, 50.0), (Pass, Some(Fail)));
}

#[test]
fn a_rival_may_be_another_first_or_another_cell_to_compare_with() {
    let d = data(&FALLING, 1.0);
    let order = "kind = \"order\"\nalong = \"s\"\nfirst = \"newreno\"\nis = \"highest\"\n";
    let first = format!("{order}rival = {{ name = \"Tahoe first\", first = \"tahoe\" }}");
    assert_eq!(both(&first, &d), (Pass, Some(Fail)));
    // NewReno over Reno is 1.36, over Tahoe 1.19.
    let ratio =
        "kind = \"bound\"\nwhere = { s = \"newreno\", per = 0.02 }\nover = { s = \"reno\" }\nabove = 1.25\n";
    let over = format!("{ratio}rival = {{ name = \"over Tahoe\", over = {{ s = \"tahoe\" }} }}");
    assert_eq!(both(&over, &d), (Pass, Some(Fail)));
    let minus = format!("{ratio}rival = {{ name = \"less Reno\", minus = {{ s = \"reno\" }} }}");
    assert_eq!(both(&minus, &d), (Fail, Some(Pass)), "25 more, where the ratio would be 1.36");
}

#[test]
fn a_rival_in_another_sweep_leaves_out_the_axes_that_it_lacks() {
    let mut other = Data::deterministic("other", grid::axes(&["z=1,2"]).unwrap().0);
    other.put(0, "goodput_bps", "bit/s", 10.0);
    other.put(1, "goodput_bps", "bit/s", 200.0);
    let all = [data(&FALLING, 1.0), other];
    let rival = |keys: &str| {
        let keys = format!("{RENO}above = 60\nrival = {{ name = \"r\", of = \"other\", {keys} }}");
        evaluate(&check(&keys), &all, false)
    };
    let row = rival("where = { z = 1 }").unwrap().remove(0);
    assert_eq!((row.verdict, row.rival.unwrap().cell.as_str()), (Pass, "z=1"));
    assert_eq!(rival("where = { z = 2 }").unwrap()[0].verdict, Fail);
    let unknown = rival("where = { y = 2 }").unwrap_err();
    assert_eq!(unknown, "rival \"r\": there is no axis \"y\"", "what the rival says itself must be there");
}

#[test]
fn a_rival_that_neither_fails_nor_passes_leaves_the_check_undecided() {
    let d = data(&FALLING, 1.0);
    let tahoe = rows("kind = \"bound\"\nwhere = { s = \"tahoe\", per = 0.02 }\nabove = 0", &d).remove(0);
    let newreno = "kind = \"bound\"\nwhere = { s = \"newreno\", per = 0.02 }\n";
    let row = rows(&format!("{newreno}above = {}\n{TAHOE}", tahoe.measured.unwrap()), &d).remove(0);
    assert_eq!((row.verdict, row.rival.unwrap().verdict), (Undecided, Undecided));
    assert_eq!(row.note, "whether its rival, Tahoe, fails is undecided");
    // More runs would not show a trend where there is none.
    let mut flat = FALLING;
    flat[0] = [70.0; 3];
    let trend = format!("kind = \"falls\"\nalong = \"per\"\nwhere = {{ s = \"reno\" }}\n{TAHOE}");
    assert_eq!(both(&trend, &data(&flat, 1.0)), (Pass, Some(Fail)));
    assert_eq!(both(&trend, &d), (Fail, Some(Pass)));
}

#[test]
fn a_rival_without_any_value_shows_nothing() {
    let mut d = Data::deterministic("d", grid::axes(&["g=a,b"]).unwrap().0);
    d.put(0, "goodput_bps", "bit/s", 5.0);
    d.put_seeded(1, "goodput_bps", "bit/s", 0, None);
    let keys = "kind = \"bound\"\nabove = 4\nwhere = { g = \"a\" }\nrival = { name = \"none\", where = { g = \"b\" } }";
    let row = rows(keys, &d).remove(0);
    assert_eq!((row.verdict, row.note.as_str()), (Fail, "its rival, none, has no value to be judged by"));
}

#[test]
fn the_quick_form_leaves_undecided_what_it_cannot_tell_from_its_rival() {
    let d = [data(&FALLING, 1.0)];
    let quick = |keys: &str| evaluate(&check(&format!("{RENO}{keys}")), &d, true).unwrap().remove(0);
    let passed = quick(&format!("above = 60\n{TAHOE}"));
    let note = "the quick form does not tell it from its rival, Tahoe";
    assert_eq!((passed.verdict, passed.note.as_str()), (Undecided, note));
    assert_eq!(quick(&format!("above = 75\n{TAHOE}")).verdict, Fail, "what fails has failed");
    let not_run = quick("above = 60\nrival = { name = \"Vegas\", where = { s = \"vegas\" } }");
    assert_eq!((not_run.verdict, not_run.rival.unwrap().verdict), (Pass, Skipped));
}

#[test]
fn a_check_without_a_rival_says_so() {
    let row = rows(&format!("{RENO}above = 60"), &data(&FALLING, 1.0)).remove(0);
    assert_eq!((row.verdict, &row.rival), (Pass, &None));
    assert!(serde_json::to_value(&row).unwrap()["rival"].is_null());
}
