//! Random Cellular IP networks, a function of their seed.

use crate::dice::Dice;
use crate::generate::Case;
use crate::mobile;
use std::fmt::Write;
use truckee_channel::random::stream;
use truckee_scenario::Document;

/// The network of a seed.
pub fn network(seed: u64) -> Case {
    let text = text(&mut Dice(stream(seed, "random cells")), seed);
    let scenario = Document::parse(&format!("cells-{seed}"), &text).unwrap().scenario();
    let scenario = scenario.unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    Case { scenario, must_complete: false }
}

fn link(dice: &mut Dice, out: &mut String, (first, second): (&str, &str)) {
    let _ = writeln!(
        out,
        "[[link]]\nbetween = [\"{first}\", \"{second}\"]\nrate = \"{}bit/s\"\ndelay = \"{}us\"",
        dice.spread(1e7, 1e9) as u64,
        dice.whole(0, 30_000)
    );
    if dice.chance(0.2) {
        let _ = writeln!(out, "queue = {{ size = \"{}packets\" }}", dice.whole(1, 50));
    }
    if dice.chance(0.1) {
        let _ = writeln!(out, "channel = {{ kind = \"bernoulli\", per = {} }}", dice.spread(1e-4, 0.3));
    }
}

fn text(dice: &mut Dice, seed: u64) -> String {
    let mut out = String::new();
    // Nothing is sent in the last half minute: what was sent has met its end by then.
    let stop = dice.whole(500, 10_000);
    let _ = writeln!(out, "duration = \"{}ms\"\nseed = {seed}\nstop_when_done = false", stop + 31_000);
    if dice.chance(0.2) {
        let _ = writeln!(out, "warmup = \"{}ms\"", dice.whole(1, stop));
    }
    let stations = dice.whole(1, 6) as usize;
    let hosts = dice.whole(1, 3) as usize;
    link(dice, &mut out, ("server", "gateway"));
    for station in 0..stations {
        let above = dice.whole(0, station as u64) as usize;
        let above = if above == station { "gateway".to_owned() } else { format!("bs{above}") };
        link(dice, &mut out, (&above, &format!("bs{station}")));
    }
    for host in 0..hosts {
        for station in 0..stations {
            link(dice, &mut out, (&format!("bs{station}"), &format!("m{host}")));
        }
    }
    let names: Vec<String> = (0..stations).map(|station| format!("\"bs{station}\"")).collect();
    let _ = writeln!(out, "[cells]\ngateway = \"gateway\"\nstations = [{}]", names.join(", "));
    if dice.chance(0.5) {
        let update = dice.whole(1, 2000);
        let _ = writeln!(
            out,
            "route_update = \"{update}ms\"\nroute_timeout = \"{}ms\"\npaging_update = \"{}ms\"\nactive_timeout = \"{}ms\"",
            dice.whole(update, 4 * update),
            dice.whole(100, 5000),
            dice.whole(100, 5000)
        );
    }
    if dice.chance(0.5) {
        let _ = writeln!(out, "old_ways = \"replaced\"");
    }
    (0..hosts).for_each(|host| self::host(dice, &mut out, host, &names));
    mobile::exchange(dice, &mut out, hosts as u64, stop);
    out
}

/// A mobile host, which stays, goes from station to station, or comes to others at given times.
fn host(dice: &mut Dice, out: &mut String, host: usize, stations: &[String]) {
    let at = dice.whole(0, stations.len() as u64 - 1) as usize;
    let _ = writeln!(out, "[[cells.host]]\nnode = \"m{host}\"\nat = {}", stations[at]);
    if stations.len() == 1 {
        return;
    }
    let other = (at + dice.whole(1, stations.len() as u64 - 1) as usize) % stations.len();
    match dice.whole(0, 3) {
        0 => return,
        1 => {
            let _ = writeln!(
                out,
                "moves = [[\"{}ms\", {}], [\"{}ms\", {}]]",
                dice.whole(0, 2000),
                stations[other],
                dice.whole(3000, 9000),
                stations[at]
            );
        }
        _ => {
            let times = dice.one(&["regular", "poisson"]);
            let (every, there, here) = (dice.whole(600, 4000), &stations[other], &stations[at]);
            let _ = writeln!(out, "every = \"{every}ms\"\namong = [{here}, {there}]\ntimes = \"{times}\"");
        }
    }
    if dice.chance(0.5) {
        let _ = writeln!(out, "gap = \"{}ms\"", dice.whole(0, 200));
    }
    if dice.chance(0.5) {
        let _ = writeln!(
            out,
            "handoff = \"semisoft\"\nsemisoft_delay = \"{}ms\"\nhold = \"{}ms\"",
            dice.whole(1, 300),
            dice.whole(0, 100)
        );
    }
}
