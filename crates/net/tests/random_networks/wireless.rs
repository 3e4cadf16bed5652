//! Random networks over radio media, a function of their seed.

use crate::dice::Dice;
use crate::generate::Case;
use std::fmt::Write;
use truckee_channel::random::stream;
use truckee_scenario::Document;

/// The network of a seed; none where what was drawn has no way for its flows.
pub fn network(seed: u64) -> Option<Case> {
    let text = text(&mut Dice(stream(seed, "random wireless network")), seed);
    let scenario = Document::parse(&format!("wireless-{seed}"), &text).unwrap().scenario();
    match scenario {
        Ok(scenario) => Some(Case { scenario, must_complete: false }),
        Err(errors) => {
            let no_way = |e: &truckee_scenario::Error| {
                e.message.contains("no route") || e.message.contains("out of reach")
            };
            assert!(errors.list.iter().all(no_way), "{errors}\n{text}");
            None
        }
    }
}

fn text(dice: &mut Dice, seed: u64) -> String {
    let mut out = String::new();
    let nodes = dice.whole(2, 7);
    // Nothing is sent in the last minutes: what was sent has met its end by then, also where a router of DSDV has held it
    // for half a minute, had it back, and held it again.
    let stop = dice.whole(500, 4000);
    let _ = writeln!(out, "duration = \"{}ms\"\nseed = {seed}\nstop_when_done = false", stop + 200_000);
    if dice.chance(0.2) {
        let _ = writeln!(out, "warmup = \"{}ms\"", dice.whole(1, stop));
    }
    let wired = dice.chance(0.5);
    if wired {
        let _ = writeln!(
            out,
            "[[link]]\nbetween = [\"server\", \"n0\"]\nrate = \"{}bit/s\"\ndelay = \"{}us\"",
            dice.spread(1e7, 1e8) as u64,
            dice.whole(0, 50_000)
        );
    }
    let extent = dice.spread(10.0, 600.0);
    for node in 0..nodes {
        let _ = writeln!(out, "[[node]]\nname = \"n{node}\"");
        let (x, y) = (dice.spread(1.0, extent), dice.spread(1.0, extent));
        match dice.whole(0, 5) {
            0 => {
                let _ = writeln!(
                    out,
                    "move = {{ kind = \"random-waypoint\", area = [\"{extent}m\", \"{extent}m\"], speed = [\"1m/s\", \"{}m/s\"], pause = \"{}ms\" }}",
                    dice.whole(1, 30),
                    dice.whole(0, 900)
                );
            }
            1 => {
                let _ = writeln!(
                    out,
                    "at = [\"{x}m\", \"{y}m\"]\nmove = {{ kind = \"path\", points = [[\"2s\", \"{y}m\", \"{x}m\"]] }}"
                );
            }
            _ => {
                let _ = writeln!(out, "at = [\"{x}m\", \"{y}m\"]");
            }
        }
    }
    medium(dice, &mut out, seed);
    let all: Vec<String> =
        (0..nodes).map(|n| format!("n{n}")).chain(wired.then(|| "server".to_owned())).collect();
    let ends = |dice: &mut Dice| {
        let from = dice.whole(0, all.len() as u64 - 1) as usize;
        let to = (from + dice.whole(1, all.len() as u64 - 1) as usize) % all.len();
        format!("from = \"{}\"\nto = \"{}\"\n", all[from], all[to])
    };
    for _ in 0..dice.whole(0, 2) {
        let (ends, size) = (ends(dice), dice.spread(100.0, 3e5) as u64);
        let _ = writeln!(
            out,
            "[[flow]]\n{ends}app = {{ kind = \"file\", size = \"{size}B\" }}\nstop = \"{stop}ms\""
        );
        let senders = crate::generate::senders();
        let _ = writeln!(out, "sender = \"{}\"", dice.one(&senders));
    }
    for _ in 0..dice.whole(1, 3) {
        let kind = dice.one(&["cbr", "poisson"]);
        let (ends, rate, packet) = (ends(dice), dice.spread(1e3, 2e7) as u64, dice.whole(40, 2296));
        let _ = writeln!(
            out,
            "[[traffic]]\n{ends}kind = \"{kind}\"\nrate = \"{rate}bit/s\"\npacket = \"{packet}B\"\nstop = \"{stop}ms\""
        );
    }
    out
}

fn medium(dice: &mut Dice, out: &mut String, seed: u64) {
    let standard = dice.one(&["802.11b", "802.11g", "802.11a", "802.11n"]);
    let loss = dice.one(&["free-space", "two-ray", "log-distance"]);
    let _ = writeln!(out, "[[medium]]\nstandard = \"{standard}\"\npropagation.kind = \"{loss}\"");
    if dice.chance(0.3) {
        let _ = writeln!(out, "propagation.shadowing = {{ sigma = \"{}dB\" }}", dice.whole(0, 12));
    }
    if dice.chance(0.3) {
        let _ = writeln!(out, "propagation.fading = {{ coherence = \"{}us\" }}", dice.whole(100, 100_000));
    }
    let _ = writeln!(out, "rate = \"{}\"", dice.one(&["arf", "minstrel"]));
    if dice.chance(0.3) {
        let _ = writeln!(out, "access_point = \"n0\"");
    } else if dice.chance(0.6) {
        let protocol = dice.one(&["aodv", "olsr", "dsdv"]);
        let _ = writeln!(out, "routing = {}", routing(protocol, &mut Dice(stream(seed, "routing"))));
    }
    if dice.chance(0.3) {
        let _ = writeln!(out, "rts_threshold = \"{}B\"", dice.whole(0, 2000));
    }
    if dice.chance(0.3) {
        let _ = writeln!(out, "short_retries = {}\nlong_retries = {}", dice.whole(1, 9), dice.whole(1, 9));
    }
    if dice.chance(0.5) {
        let queue = dice.one(&["drop-tail", "red", "codel", "fq-codel", "pie"]);
        let _ = writeln!(out, "queue = {{ kind = \"{queue}\", size = \"{}packets\" }}", dice.whole(20, 100));
    }
    if dice.chance(0.3) {
        let _ = writeln!(out, "power = \"{}dBm\"", dice.whole(0, 20));
    }
}

/// A protocol, half of the time with settings of its own.
fn routing(protocol: &str, dice: &mut Dice) -> String {
    if dice.chance(0.5) {
        return format!("\"{protocol}\"");
    }
    let flags: &[&str] = match protocol {
        "aodv" => &[
            "link_layer",
            "hello",
            "local_repair",
            "salvage",
            "gratuitous",
            "destination_only",
            "acknowledge",
        ],
        "olsr" => &["hysteresis", "link_layer"],
        _ => &["spreads_breaks", "link_layer"],
    };
    let mut keys: Vec<String> = flags.iter().map(|flag| format!("{flag} = {}", dice.chance(0.5))).collect();
    keys.push(match protocol {
        "olsr" => format!("hello_interval = \"{}ms\"", dice.whole(1000, 3000)),
        "aodv" => format!("buffer = {}", dice.whole(1, 64)),
        _ => format!("period = \"{}ms\"", dice.whole(2000, 20_000)),
    });
    format!("{{ kind = \"{protocol}\", {} }}", keys.join(", "))
}
