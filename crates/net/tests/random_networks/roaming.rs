//! Random networks whose nodes go from access point to access point, a function of their seed.

use crate::dice::Dice;
use crate::generate::Case;
use crate::mobile;
use std::fmt::Write;
use truckee_channel::random::stream;
use truckee_scenario::Document;

/// The network of a seed; none where an access point is out of everybody's reach for ever.
pub fn network(seed: u64) -> Option<Case> {
    let text = text(&mut Dice(stream(seed, "random roaming")), seed);
    let scenario = Document::parse(&format!("roaming-{seed}"), &text).unwrap().scenario();
    match scenario {
        Ok(scenario) => Some(Case { scenario, must_complete: false }),
        Err(errors) => {
            assert!(errors.list.iter().all(|e| e.message.contains("out of reach")), "{errors}\n{text}");
            None
        }
    }
}

fn text(dice: &mut Dice, seed: u64) -> String {
    let mut out = String::new();
    // Nothing is sent in the last minute: what was sent has met its end by then.
    let stop = dice.whole(500, 10_000);
    let _ = writeln!(out, "duration = \"{}ms\"\nseed = {seed}\nstop_when_done = false", stop + 60_000);
    if dice.chance(0.2) {
        let _ = writeln!(out, "warmup = \"{}ms\"", dice.whole(1, stop));
    }
    let (points, phones) = (dice.whole(1, 4), dice.whole(1, 3));
    let apart = dice.spread(20.0, 300.0);
    link(dice, &mut out, "server");
    for point in 0..points {
        link(dice, &mut out, &format!("ap{point}"));
        let _ = writeln!(
            out,
            "[[node]]\nname = \"ap{point}\"\nat = [\"{}m\", \"{}m\"]",
            point as f64 * apart,
            dice.whole(0, 20)
        );
    }
    for phone in 0..phones {
        self::phone(dice, &mut out, phone, (points, apart));
    }
    let standard = dice.one(&["802.11b", "802.11g", "802.11a", "802.11n"]);
    let with: String = (0..phones).map(|phone| format!(", \"m{phone}\"")).collect();
    for point in 0..points {
        let _ = writeln!(
            out,
            "[[medium]]\nname = \"c{point}\"\nstandard = \"{standard}\"\naccess_point = \"ap{point}\"\nstations = [\"ap{point}\"{with}]\nrate = \"{}\"",
            dice.one(&["arf", "minstrel"])
        );
        if dice.chance(0.5) {
            let _ = writeln!(out, "propagation = {{ kind = \"log-distance\", exponent = 3 }}");
        }
        if dice.chance(0.3) {
            let queue = dice.one(&["drop-tail", "red", "codel", "fq-codel", "pie"]);
            let _ =
                writeln!(out, "queue = {{ kind = \"{queue}\", size = \"{}packets\" }}", dice.whole(1, 50));
        }
    }
    mobile::exchange(dice, &mut out, phones, stop);
    out
}

/// The wire from the switch.
fn link(dice: &mut Dice, out: &mut String, to: &str) {
    let _ = writeln!(
        out,
        "[[link]]\nbetween = [\"switch\", \"{to}\"]\nrate = \"{}bit/s\"\ndelay = \"{}us\"",
        dice.spread(1e7, 1e9) as u64,
        dice.whole(0, 20_000)
    );
}

/// A node that stays or moves along the access points, and roams as it hears them or as it is told.
fn phone(dice: &mut Dice, out: &mut String, phone: u64, (points, apart): (u64, f64)) {
    let place = |dice: &mut Dice| dice.spread(1.0, apart * points as f64);
    let (x, y) = (place(dice), dice.whole(0, 50));
    let _ = writeln!(out, "[[node]]\nname = \"m{phone}\"\nat = [\"{x}m\", \"{y}m\"]");
    if dice.chance(0.7) {
        let (begin, to) = (dice.whole(0, 3000), place(dice));
        let _ = writeln!(
            out,
            "move = {{ kind = \"path\", points = [[\"{begin}ms\", \"{x}m\", \"{y}m\"], [\"{}ms\", \"{to}m\", \"{y}m\"]] }}",
            begin + dice.whole(2000, 9000)
        );
    }
    if points == 1 || dice.chance(0.1) {
        return;
    }
    let gap = dice.whole(0, 300);
    let how = if dice.chance(0.6) {
        format!("hysteresis = \"{}dB\"", dice.whole(0, 12))
    } else {
        let mut at = 0;
        let moves: Vec<String> = (0..dice.whole(1, 8))
            .map(|_| {
                at += gap + dice.whole(1, 2000);
                format!("[\"{at}ms\", \"ap{}\"]", dice.whole(0, points - 1))
            })
            .collect();
        format!("to = [{}]", moves.join(", "))
    };
    let _ = writeln!(out, "roam = {{ {how}, gap = \"{gap}ms\" }}");
}
