//! What mobile nodes `m0`, `m1`, … and a server exchange: files and cross traffic, one way or the other.

use crate::dice::Dice;
use crate::generate::senders;
use std::fmt::Write;

/// Draws it into the text of a scenario with so many mobile nodes; all ends at `stop`, ms.
pub fn exchange(dice: &mut Dice, out: &mut String, nodes: u64, stop: u64) {
    let ends = |dice: &mut Dice| {
        let node = dice.whole(0, nodes - 1);
        let other = (node + 1) % nodes;
        match dice.whole(0, 3) {
            0 => format!("from = \"m{node}\"\nto = \"server\"\n"),
            1 if other != node => format!("from = \"m{node}\"\nto = \"m{other}\"\n"),
            _ => format!("from = \"server\"\nto = \"m{node}\"\n"),
        }
    };
    for _ in 0..dice.whole(0, 2) {
        let (ends, size) = (ends(dice), dice.spread(100.0, 1e6) as u64);
        let sender = dice.one(&senders());
        let _ = writeln!(
            out,
            "[[flow]]\n{ends}app = {{ kind = \"file\", size = \"{size}B\" }}\nsender = \"{sender}\"\nstop = \"{stop}ms\""
        );
    }
    for _ in 0..dice.whole(1, 3) {
        let kind = dice.one(&["cbr", "poisson"]);
        let (ends, rate, packet) = (ends(dice), dice.spread(1e3, 5e6) as u64, dice.whole(40, 1500));
        let _ = writeln!(
            out,
            "[[traffic]]\n{ends}kind = \"{kind}\"\nrate = \"{rate}bit/s\"\npacket = \"{packet}B\"\nstop = \"{stop}ms\""
        );
    }
}
