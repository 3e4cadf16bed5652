mod claims;
mod rivals;

use super::*;
use crate::Sweep;
use crate::rows::Row;
use crate::study::file::Reference;
use crate::testing::{LATE, PUNCTUAL, scenario};
use crate::{Grid, Metric, grid};

/// Goodput at sender × per, ten seeds: the mean given, plus noise common to all cells of a seed, plus some of its own.
fn data(means: &[[f64; 3]; 3], own: f64) -> Data {
    Data::of_sweep("main", &swept(means, own))
}

/// The same of live runs, of which those under so many seeds are invalid.
fn live(means: &[[f64; 3]; 3], own: f64, invalid: u64) -> Data {
    let mut sweep = swept(means, own);
    sweep.live = true;
    let late = |row: Row| Row { lateness: Some(if row.seed <= invalid { LATE } else { PUNCTUAL }), ..row };
    sweep.rows = sweep.rows.iter().map(late).collect();
    Data::of_sweep("main", &sweep)
}

fn swept(means: &[[f64; 3]; 3], own: f64) -> Sweep {
    let (axes, _) = grid::axes(&["s=tahoe,reno,newreno", "per=0.01,0.02,0.04"]).unwrap();
    // The finaliser of SplitMix64: uniform in ±0.5, unrelated from one number to the next.
    let wave = |k: u64| {
        let z = (k.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (k >> 3)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 40) as f64 / (1u64 << 24) as f64 - 0.5
    };
    let mut rows = Vec::new();
    for point in 0..9 {
        for seed in 1..=10 {
            let noise = 10.0 * wave(seed) + own * wave(seed * 31 + point as u64 + 100);
            let value = means[point / 3][point % 3] + noise;
            rows.push(Row { point, seed, values: vec![Some(value)], lateness: None });
        }
    }
    Sweep {
        grid: Grid::of(axes, (0..9).map(|k| scenario("s", k)).collect()).unwrap(),
        metrics: vec![Metric::parse("goodput_bps").unwrap()],
        rows: rows.into_iter().collect(),
        complete: true,
        live: false,
        imprecise: vec![],
        file: None,
        is_new: true,
    }
}

const FALLING: [[f64; 3]; 3] = [[100.0, 80.0, 60.0], [90.0, 70.0, 50.0], [120.0, 95.0, 70.0]];

fn check(keys: &str) -> Check {
    toml::from_str(&format!("name = \"c\"\nmetric = \"goodput_bps\"\n{keys}")).unwrap()
}

fn rows(keys: &str, data: &Data) -> Vec<CheckRow> {
    evaluate(&check(keys), std::slice::from_ref(data), false).unwrap()
}

fn verdicts(keys: &str, data: &Data) -> Vec<Verdict> {
    rows(keys, data).iter().map(|r| r.verdict).collect()
}

use Verdict::{Differs, Fail, Pass, Skipped, Undecided};

#[test]
fn within_holds_the_mean_against_the_published_value() {
    let d = data(&FALLING, 1.0);
    let at = "kind = \"within\"\nwhere = { s = \"reno\", per = 0.02 }\n";
    assert_eq!(verdicts(&format!("{at}published = 70\ntolerance = 0.15"), &d), [Pass]);
    assert_eq!(verdicts(&format!("{at}published = 100\ntolerance = 0.15"), &d), [Fail]);
    assert_eq!(verdicts(&format!("{at}published = 100\nabsolute = 40"), &d), [Pass]);
    let row = &rows(&format!("{at}published = 70\ntolerance = 0.15"), &d)[0];
    assert_eq!((row.cell.as_str(), row.n, row.demand.as_str()), ("s=reno, per=0.02", 10, "± 15 %"));
    assert!(row.interval.unwrap().0 < row.measured.unwrap());
}

#[test]
fn within_passes_only_with_its_whole_interval() {
    let d = data(&FALLING, 1.0);
    let at = "kind = \"within\"\nwhere = { s = \"reno\", per = 0.02 }\n";
    let row = &rows(&format!("{at}published = 70\nabsolute = 0"), &d)[0];
    let (mean, (low, high)) = (row.measured.unwrap(), row.interval.unwrap());
    let most = (high - low) / 4.0;
    let narrow = format!("{at}published = {mean}\nabsolute = {most}");
    assert_eq!(verdicts(&narrow, &d), [Undecided], "the mean is as published, the interval is twice as wide");
    let away = |by: f64| verdicts(&format!("{at}published = {}\nabsolute = {most}", mean + by), &d)[0];
    assert_eq!([most * 2.5, most * 3.5].map(away), [Undecided, Fail]);
    // So is what is said to differ; its pin is of the mean.
    let pinned = |by: f64| {
        let published = mean + by;
        let keys = format!("published = {published}\nabsolute = {most}\ndiffers = \"why\"");
        verdicts(&format!("{at}{keys}\npinned = {{ value = {mean}, absolute = 1 }}"), &d)[0]
    };
    assert_eq!([most * 2.0, most * 3.5].map(pinned), [Undecided, Differs]);
}

#[test]
fn exact_needs_every_run_to_give_it() {
    let mut d = Data::deterministic("d", grid::axes(&["g=a,b"]).unwrap().0);
    d.put(0, "goodput_bps", "bit/s", 2460.0);
    d.put(1, "goodput_bps", "bit/s", 3920.0);
    let exact =
        |value: f64| verdicts(&format!("kind = \"exact\"\npublished = {value}\nwhere = {{ g = \"a\" }}"), &d);
    assert_eq!((exact(2460.0), exact(2461.0)), (vec![Pass], vec![Fail]));
    let noisy = data(&FALLING, 0.0);
    let mean =
        rows("kind = \"within\"\npublished = 1\ntolerance = 1\nwhere = { s = \"reno\", per = 0.02 }", &noisy);
    let keys = format!(
        "kind = \"exact\"\npublished = {}\nwhere = {{ s = \"reno\", per = 0.02 }}",
        mean[0].measured.unwrap()
    );
    assert_eq!(verdicts(&keys, &noisy), [Fail], "the mean hits it, the runs do not");
}

#[test]
fn a_bound_is_for_the_whole_interval() {
    let d = data(&FALLING, 1.0);
    let ratio = "kind = \"bound\"\nwhere = { s = \"newreno\" }\nover = { s = \"reno\" }\n";
    assert_eq!(verdicts(&format!("{ratio}above = 1.2"), &d), [Pass, Pass, Pass]);
    assert_eq!(verdicts(&format!("{ratio}above = 1.36"), &d), [Fail, Undecided, Pass]);
    assert_eq!(verdicts(&format!("{ratio}above = 1.0\nbelow = 1.1"), &d), [Fail, Fail, Fail]);
    let difference = "kind = \"bound\"\nwhere = { s = \"newreno\", per = 0.01 }\nminus = { s = \"reno\" }\n";
    assert_eq!(verdicts(&format!("{difference}above = 14\nbelow = 16\ndivide_by = 2"), &d), [Pass]);
    assert_eq!(verdicts(&format!("{difference}above = 29\nbelow = 31"), &d), [Pass]);
}

#[test]
fn falling_means_every_step_of_every_curve() {
    let d = data(&FALLING, 1.0);
    assert_eq!(verdicts("kind = \"falls\"\nalong = \"per\"", &d), [Pass, Pass, Pass]);
    assert_eq!(verdicts("kind = \"rises\"\nalong = \"per\"", &d), [Fail, Fail, Fail]);
    let mut flat = FALLING;
    flat[1] = [90.0, 70.0, 70.0];
    let flat = data(&flat, 1.0);
    assert_eq!(verdicts("kind = \"falls\"\nalong = \"per\"", &flat), [Pass, Undecided, Pass]);
    assert_eq!(verdicts("kind = \"falls\"\nalong = \"per\"\nsignificant = false", &flat), [Pass, Pass, Pass]);
    let back = data(&[[100.0, 50.0, 80.0], [1.0; 3], FALLING[2]], 1.0);
    let weak = "kind = \"falls\"\nalong = \"per\"\nsignificant = false";
    assert_eq!(verdicts(weak, &back), [Fail, Undecided, Pass], "a step back, and no fall to be seen");
    assert!(rows(weak, &back)[0].note.contains("from 0.02 to 0.04"));
}

#[test]
fn an_order_is_of_paired_differences() {
    let d = data(&FALLING, 1.0);
    let highest = |who| format!("kind = \"order\"\nalong = \"s\"\nis = \"highest\"\nfirst = \"{who}\"");
    assert_eq!(verdicts(&highest("newreno"), &d), [Pass, Pass, Pass]);
    assert_eq!(verdicts(&highest("tahoe"), &d), [Fail, Fail, Fail]);
    assert_eq!(
        verdicts("kind = \"order\"\nalong = \"s\"\nis = \"lowest\"\nfirst = \"reno\"", &d),
        [Pass, Pass, Pass]
    );
    let tahoe_or_reno = format!("{}\nwhere = {{ s = [\"tahoe\", \"reno\"], per = 0.01 }}", highest("tahoe"));
    assert_eq!(verdicts(&tahoe_or_reno, &d), [Pass]);
    let tie = data(&[[100.0; 3], [100.0; 3], [90.0; 3]], 4.0);
    assert_eq!(verdicts(&highest("tahoe"), &tie), [Undecided; 3]);
    let weakly = format!("{}\nsignificant = false", highest("tahoe"));
    assert!(verdicts(&weakly, &tie).contains(&Pass));
    assert_eq!(rows(&highest("newreno"), &d)[0].note, "nearest rival: tahoe");
}

#[test]
fn a_formula_gives_the_value_at_each_cell() {
    let d = data(&[[101.0, 102.0, 104.0], FALLING[1], FALLING[2]], 0.0);
    let keys = |a: f64| {
        format!(
            "kind = \"formula\"\nformula = \"100 * (1 + k * p) + a\"\nlet = {{ p = \"per\", k = 1, a = {a} }}\n\
             where = {{ s = \"tahoe\" }}\ntolerance = 0.1"
        )
    };
    assert_eq!(verdicts(&keys(0.0), &d), [Pass, Pass, Pass]);
    let row = &rows(&keys(0.0), &d)[2];
    let reference = Reference { value: 104.0, source: "100 * (1 + k * p) + a".to_owned() };
    assert_eq!((row.published, &row.reference), (None, &Some(reference)), "no paper printed it");
    assert_eq!(verdicts(&keys(50.0), &d), [Fail, Fail, Fail]);
    let unknown = check("kind = \"formula\"\nformula = \"z + 1\"\ntolerance = 1");
    assert!(evaluate(&unknown, &[d], false).unwrap_err().contains("gives z neither"));
}

#[test]
fn a_difference_is_only_known_while_it_stays_as_pinned() {
    let mut d = Data::deterministic("d", grid::axes(&["g=a"]).unwrap().0);
    let known = "kind = \"exact\"\npublished = 39\ndiffers = \"against its own rule\"\npinned = { value = 30, absolute = 1 }";
    for (measured, verdict, part) in [
        (30.0, Differs, "against its own rule"),
        (31.0, Differs, "against"),
        (33.0, Fail, "no longer by the known"),
        (39.0, Fail, "agrees with the paper now"),
    ] {
        d.put(0, "goodput_bps", "", measured);
        let row = &rows(known, &d)[0];
        assert_eq!(row.verdict, verdict, "{measured}");
        assert!(row.note.contains(part), "{}", row.note);
    }
    let many = check(known);
    assert!(evaluate(&many, &[data(&FALLING, 1.0)], false).unwrap_err().contains("one row"));
}

#[test]
fn a_run_without_a_value_fails_the_check() {
    let (axes, _) = grid::axes(&["s=a"]).unwrap();
    let row = |seed, value| Row { point: 0, seed, values: vec![value], lateness: None };
    let sweep = Sweep {
        grid: Grid::of(axes, vec![scenario("s", 0)]).unwrap(),
        metrics: vec![Metric::parse("goodput_bps").unwrap()],
        rows: [row(1, Some(5.0)), row(2, Some(5.0)), row(3, None)].into_iter().collect(),
        complete: true,
        live: false,
        imprecise: vec![],
        file: None,
        is_new: true,
    };
    let rows = rows("kind = \"within\"\npublished = 5\ntolerance = 0.1", &Data::of_sweep("m", &sweep));
    assert_eq!((rows[0].verdict, rows[0].incomplete), (Fail, 1));
    assert_eq!(rows[0].note, "1 of 3 runs have no value");
}

#[test]
fn the_quick_form_skips_what_it_does_not_run() {
    let d = data(&FALLING, 1.0);
    let quick = |keys| evaluate(&check(keys), std::slice::from_ref(&d), true).unwrap()[0].verdict;
    assert_eq!(quick("kind = \"bound\"\nabove = 1\nwhere = { per = 0.08 }"), Skipped);
    assert_eq!(quick("kind = \"bound\"\nabove = 1\nfull_only = true"), Skipped);
    assert_eq!(quick("kind = \"bound\"\nabove = 1\nover = { s = \"vegas\" }"), Skipped);
    assert!(
        evaluate(
            &check("kind = \"bound\"\nabove = 1\nwhere = { per = 0.08 }"),
            std::slice::from_ref(&d),
            false
        )
        .is_err()
    );
    assert!(evaluate(&check("kind = \"bound\"\nabove = 1\nwhere = { x = 1 }"), &[d], true).is_err());
}

#[test]
fn a_check_is_undecided_where_its_interval_holds_agreement_and_disagreement() {
    // Reno at 0.02: a mean near 70, its interval some 3 to either side.
    let at = "where = { s = \"reno\", per = 0.02 }\n";
    let d = live(&FALLING, 1.0, 0);
    let (low, high) = rows(&format!("kind = \"bound\"\n{at}above = 0"), &d)[0].interval.unwrap();
    assert!(high - low > 2.0, "{low} … {high}");
    let middle = (low + high) / 2.0;
    let within = |published: f64, most: f64| {
        let text = format!("kind = \"within\"\n{at}published = {published}\nabsolute = {most}");
        (verdicts(&text, &data(&FALLING, 1.0))[0], verdicts(&text, &d)[0])
    };
    // Simulated and live alike.
    assert_eq!(within(middle, 20.0), (Pass, Pass));
    assert_eq!(within(middle, 0.5), (Undecided, Undecided));
    assert_eq!(within(middle + 1.0, 0.5), (Undecided, Undecided));
    assert_eq!(within(middle + 20.0, 0.5), (Fail, Fail));
    for d in [d, data(&FALLING, 1.0)] {
        let bound = |above: f64| verdicts(&format!("kind = \"bound\"\n{at}above = {above}"), &d)[0];
        assert_eq!([low - 1.0, middle, high + 1.0].map(bound), [Pass, Undecided, Fail]);
    }
}

#[test]
fn an_order_or_curve_fails_only_when_an_interval_is_wholly_on_the_wrong_side() {
    let order = |first: &str| {
        format!(
            "kind = \"order\"\nalong = \"s\"\nfirst = \"{first}\"\nis = \"highest\"\nwhere = {{ per = 0.01 }}"
        )
    };
    let clear = live(&FALLING, 1.0, 0);
    assert_eq!(
        (verdicts(&order("newreno"), &clear), verdicts(&order("reno"), &clear)),
        (vec![Pass], vec![Fail])
    );
    // Noise of its own that hides ten and twenty.
    let noisy = live(&FALLING, 200.0, 0);
    assert_eq!(verdicts(&order("tahoe"), &noisy), [Undecided]);
    assert_eq!(verdicts(&order("tahoe"), &data(&FALLING, 200.0)), [Undecided], "simulated ones alike");
    let curve = |kind: &str| format!("kind = \"{kind}\"\nalong = \"per\"\nwhere = {{ s = \"reno\" }}");
    assert_eq!(
        (verdicts(&curve("falls"), &clear), verdicts(&curve("rises"), &clear)),
        (vec![Pass], vec![Fail])
    );
    assert_eq!(verdicts(&curve("falls"), &live(&FALLING, 400.0, 0)), [Undecided]);
}

#[test]
fn a_live_check_without_an_interval_is_undecided() {
    let mut sweep = swept(&FALLING, 1.0);
    sweep.live = true;
    let first = sweep.rows.iter().filter(|row| row.seed == 1);
    sweep.rows = first.map(|row| Row { lateness: Some(PUNCTUAL), ..row }).collect();
    let d = Data::of_sweep("main", &sweep);
    let row =
        &rows("kind = \"within\"\nwhere = { s = \"reno\", per = 0.02 }\npublished = 1000\nabsolute = 1", &d)
            [0];
    assert_eq!((row.verdict, row.note.as_str()), (Undecided, "no interval: more runs are needed"));
}

#[test]
fn a_row_with_too_many_invalid_runs_is_undecided_whatever_they_showed() {
    let at = "where = { s = \"reno\", per = 0.02 }\n";
    for (invalid, expected) in [(0, [Pass, Fail]), (1, [Pass, Fail]), (2, [Undecided, Undecided])] {
        let d = live(&FALLING, 1.0, invalid);
        let bound = |above: f64| rows(&format!("kind = \"bound\"\n{at}above = {above}"), &d).remove(0);
        assert_eq!([bound(10.0), bound(200.0)].map(|row| row.verdict), expected);
        assert_eq!(bound(10.0).invalid, Some(invalid as usize), "the row says how many");
    }
    let exact = format!("kind = \"exact\"\n{at}published = 1");
    let spoilt = &rows(&exact, &live(&FALLING, 1.0, 1))[0];
    assert_eq!(
        (spoilt.verdict, spoilt.note.as_str()),
        (Undecided, "the machine was too late in 1 of 10 runs")
    );
    assert_eq!(verdicts(&exact, &live(&FALLING, 1.0, 0)), [Fail]);
    let simulated = serde_json::to_value(&rows(&exact, &data(&FALLING, 1.0))[0]).unwrap();
    assert!(simulated.get("invalid").is_none());
}

#[test]
fn a_known_live_difference_fails_only_when_its_interval_has_left_the_pin() {
    let at = "kind = \"bound\"\nwhere = { s = \"reno\", per = 0.02 }\n";
    let d = live(&FALLING, 1.0, 0);
    let mean = rows(&format!("{at}above = 0"), &d)[0].measured.unwrap();
    let known = |above: f64, pin: f64| {
        let pin = format!("differs = \"why\"\npinned = {{ value = {pin}, absolute = 0.1 }}");
        verdicts(&format!("{at}above = {above}\n{pin}"), &d)[0]
    };
    assert_eq!(known(200.0, mean), Differs);
    assert_eq!(known(200.0, mean + 1.0), Differs, "its interval reaches the pin");
    assert_eq!(known(200.0, mean + 30.0), Fail);
    assert_eq!(known(mean, mean), Undecided, "neither different nor not");
    assert_eq!(known(0.0, mean), Fail, "it agrees now");
}
