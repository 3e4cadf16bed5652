//! Explicit congestion notification beyond one echo a round trip: Accurate ECN (RFC 9768), in which the receiver tells how many
//! packets came marked, as a counter of three bits in every segment. The option that tells bytes beside (RFC 9768, section 3.2.3)
//! is optional, and not here. The segment that ends the handshake says of the SYN-ACK that it came unmarked (section 3.2.2.1), since no
//! SYN-ACK of ours is ECN-capable.

use crate::segment::flags::{AE, CWR, ECE};

/// How the ends of a connection use ECN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ecn {
    /// They do not.
    #[default]
    Off,
    /// RFC 3168: the receiver echoes a mark until the sender says that it has reduced its window. Agreed on without words.
    Classic,
    /// RFC 9768, where both ends want it, which the handshake shows; else classic, where the other has that.
    Accurate,
}

impl Ecn {
    /// Whether packets are ECN-capable at all.
    pub fn on(self) -> bool {
        self != Self::Off
    }

    /// Flags of the SYN (RFC 9768, section 3.1.1).
    pub(crate) fn offer(self) -> u8 {
        if self == Self::Accurate { ACE } else { 0 }
    }

    /// What a side that is called makes of a SYN's flags, and the flags of its SYN-ACK (RFC 9768, table 2; the SYN was not
    /// ECN-capable).
    pub(crate) fn grant(self, syn: u8) -> (Self, u8) {
        match (self, syn & ACE) {
            (Self::Accurate, asked) if asked == CWR | ECE => (Self::Classic, ECE),
            (Self::Accurate, 0) => (Self::Off, 0),
            (Self::Accurate, _) => (Self::Accurate, CWR), // whatever a later version means by it (section 3.1.3)
            (Self::Classic, ACE) => (Self::Classic, ECE), // RFC 3168 does not know AE
            (mode, _) => (mode, 0),
        }
    }

    /// What the side that called makes of a SYN-ACK's flags (RFC 9768, table 2).
    pub(crate) fn agree(self, syn_ack: u8) -> Self {
        match (self, syn_ack & ACE) {
            // Nothing, or what was sent comes back from one that mirrors what it does not know.
            (Self::Accurate, 0 | ACE) => Self::Off,
            (Self::Accurate, told) if told == ECE || told == AE | ECE => Self::Classic,
            (mode, _) => mode,
        }
    }
}

/// The bits of the counter in a segment's flags.
const ACE: u8 = AE | CWR | ECE;
/// Where both counters begin (RFC 9768, section 3.2.1).
pub(crate) const FIRST: u64 = 5;
/// What the counter is told modulo.
const MODULO: u64 = 8;

/// A counter in a segment's flags.
pub(crate) fn to_flags(count: u64) -> u8 {
    let bit = |weight: u64, flag: u8| if count & weight == 0 { 0 } else { flag };
    bit(4, AE) | bit(2, CWR) | bit(1, ECE)
}

fn of_flags(flags: u8) -> u64 {
    let bit = |weight: u64, flag: u8| if flags & flag == 0 { 0 } else { weight };
    bit(4, AE) | bit(2, CWR) | bit(1, ECE)
}

/// Packets newly told to have come marked, by a segment's flags, where `told` have been before (counted from [`FIRST`]) and the
/// segment newly shows `packets` to have come: the least number that fits or, where the counter may have gone round unseen, the
/// largest (RFC 9768, appendix A.2.1; Linux, `__tcp_accecn_process`). Nothing, where it shows none to have come: it may be old.
pub(crate) fn newly_marked(told: u64, flags: u8, packets: u64) -> u64 {
    let least = (of_flags(flags) + MODULO - told % MODULO) % MODULO;
    match packets {
        0 => 0,
        1..MODULO => least,
        _ => packets - (packets - least) % MODULO,
    }
}

/// What a receiver counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Marks {
    /// Marked packets since the beginning, and [`FIRST`] (r.cep).
    count: u64,
    /// Of them, since an ACK last left.
    untold: u64,
    /// Whether the packet before was marked.
    before: bool,
    /// Whether an ACK is due for what has been counted.
    due: bool,
}

impl Marks {
    const NONE: Self = Self { count: FIRST, untold: 0, before: false, due: false };

    /// A packet with data has come. A mark behind none is told at once, and so is every second one (RFC 9768, section 3.2.2.5.1,
    /// where n "SHOULD be 2" as long as data waits for its ACK, as here it does).
    fn hear(&mut self, marked: bool) {
        self.count += u64::from(marked);
        self.untold += u64::from(marked);
        self.due = marked && (!self.before || self.untold >= 2);
        self.before = marked;
    }

    /// An ACK leaves, with these flags.
    fn tell(&mut self) -> u8 {
        (self.untold, self.due) = (0, false);
        to_flags(self.count)
    }
}

/// A receiver's side: what it makes of marks, and what of them its ACKs tell.
#[derive(Debug, Clone)]
pub(crate) struct Feedback {
    mode: Ecn,
    /// ECE goes out until CWR comes.
    echo: bool,
    /// Flags of the SYN-ACK.
    greeting: u8,
    /// Whether the segment that ends the handshake is still to be sent, by who began it.
    ends_handshake: bool,
    marks: Marks,
}

impl Feedback {
    /// Before the handshake, of a side that wants this.
    pub(crate) fn new(wanted: Ecn) -> Self {
        Self { mode: wanted, echo: false, greeting: 0, ends_handshake: false, marks: Marks::NONE }
    }

    /// ECN as both ends have agreed on it.
    pub(crate) fn mode(&self) -> Ecn {
        self.mode
    }

    /// A SYN has come, with these flags.
    pub(crate) fn on_syn(&mut self, flags: u8) {
        (self.mode, self.greeting) = self.mode.grant(flags);
    }

    /// A SYN-ACK has.
    pub(crate) fn on_syn_ack(&mut self, flags: u8) {
        self.mode = self.mode.agree(flags);
        self.ends_handshake = self.mode == Ecn::Accurate;
    }

    /// Flags of the SYN-ACK.
    pub(crate) fn greeting(&self) -> u8 {
        self.greeting
    }

    /// A segment with data or FIN has come, with these flags, marked or not.
    pub(crate) fn hear(&mut self, flags: u8, marked: bool) {
        match self.mode {
            Ecn::Off => {}
            Ecn::Classic => self.echo = marked || self.echo && flags & CWR == 0,
            Ecn::Accurate => self.marks.hear(marked),
        }
    }

    /// Whether an ACK is due for it.
    pub(crate) fn is_due(&self) -> bool {
        self.marks.due
    }

    /// Flags of an ACK that leaves.
    pub(crate) fn tell(&mut self) -> u8 {
        match self.mode {
            // What the SYN-ACK's packet was: not ECN-capable (RFC 9768, table 3).
            Ecn::Accurate if std::mem::take(&mut self.ends_handshake) => CWR,
            Ecn::Accurate => self.marks.tell(),
            _ if self.echo => ECE,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_agree_on_the_most_that_both_have() {
        let agreed = |caller: Ecn, called: Ecn| {
            let (theirs, answer) = called.grant(caller.offer());
            (caller.agree(answer), theirs)
        };
        use Ecn::{Accurate, Classic, Off};
        assert_eq!(agreed(Accurate, Accurate), (Accurate, Accurate));
        assert_eq!(agreed(Accurate, Classic), (Classic, Classic));
        assert_eq!(agreed(Accurate, Off), (Off, Off));
        assert_eq!(agreed(Classic, Classic), (Classic, Classic));
        assert_eq!(agreed(Off, Accurate), (Off, Off));
        assert_eq!(Accurate.grant(CWR | ECE), (Classic, ECE), "a caller of RFC 3168 that says so");
        assert_eq!(Accurate.agree(ACE), Off, "one that mirrors the SYN");
        assert_eq!(Accurate.agree(AE | CWR), Accurate, "a SYN that came marked");
        for later in [AE, CWR, ECE, AE | CWR, AE | ECE] {
            assert_eq!(Accurate.grant(later), (Accurate, CWR), "{later:#b}: a version to come");
        }
    }

    #[test]
    fn the_segment_that_ends_the_handshake_says_how_the_syn_ack_came_and_those_after_it_count() {
        let mut feedback = Feedback::new(Ecn::Accurate);
        feedback.on_syn_ack(CWR);
        assert_eq!([feedback.tell(), feedback.tell()], [CWR, AE | ECE]);
    }

    #[test]
    fn the_flags_hold_the_counter_modulo_eight() {
        for count in 0..20 {
            assert_eq!(of_flags(to_flags(count)), count % 8);
        }
        assert_eq!(to_flags(FIRST), AE | ECE);
    }

    #[test]
    fn a_counter_that_may_have_gone_round_is_taken_for_the_most_that_fits() {
        let told = |marks: u64, packets: u64| newly_marked(FIRST, to_flags(FIRST + marks), packets);
        for packets in 1..8 {
            for marks in 0..=packets {
                assert_eq!(told(marks, packets), marks);
            }
        }
        assert_eq!((told(1, 8), told(1, 9), told(1, 20), told(0, 20), told(3, 11)), (1, 9, 17, 16, 11));
        assert_eq!(told(2, 0), 0, "an old ACK");
        assert_eq!(newly_marked(FIRST + 6, to_flags(FIRST + 9), 3), 3, "over the end of three bits");
    }

    #[test]
    fn a_first_mark_is_told_at_once_and_then_every_second_one() {
        let mut marks = Marks::NONE;
        let due: Vec<bool> = [false, true, true, true, false, true]
            .map(|marked| {
                marks.hear(marked);
                let due = marks.due;
                if due {
                    marks.tell();
                }
                due
            })
            .into();
        assert_eq!(due, [false, true, false, true, false, true]);
        assert_eq!(marks.count, FIRST + 4);
    }
}
