//! How late the machine was in a live run, and which lateness makes a run invalid.
//!
//! A live run is a measurement of TCP only while the machine does what is due when it is due. The rule below says when
//! it did not. It sees a [`Lateness`] and nothing else, so that no run can be thrown away, or kept, for what it showed;
//! and its bounds stand here alone, fixed before the runs that they judge.
//!
//! Not for: measuring it (the engine), or what becomes of an invalid run (the laboratory).

use serde::{Deserialize, Serialize};

/// What leaves the emulator later than this after it was due is late, and a thread that waits longer than this for a
/// processor is kept waiting; s. A queue of the papers' links holds a packet for a few ms, so that a smaller delay
/// changes the order of nothing.
pub const LATE_S: f64 = 2e-3;
/// Of the packets so many may be late.
pub const MOST_LATE: f64 = 0.01;
/// No packet may be later than this, s: half of the papers' usual RTT, in which a queue empties or overflows.
pub const LATEST_S: f64 = 50e-3;
/// The end hosts' threads may be kept waiting for such a share of the time. It is more than the packets' share, since
/// sockets' buffers bridge what the path cannot.
pub const MOST_WAITING: f64 = 0.05;
/// Others' use of the processors that this machine was promised may take such a share of their time.
pub const MOST_STOLEN: f64 = 0.05;

/// How late the machine was.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Lateness {
    /// Packets that left the path emulator.
    pub packets: u64,
    /// Share of them that left more than [`LATE_S`] after they were due.
    pub late_share: f64,
    /// The latest of them, s after it was due.
    pub latest_s: f64,
    /// Share of the run's time in which a thread of ordinary priority, as the end hosts' are, was ready and waited for
    /// a processor; waits above [`LATE_S`] count.
    pub waiting_share: f64,
    /// The longest of these waits, s.
    pub longest_wait_s: f64,
    /// Share of all processors' time that the hypervisor gave to others; `None`: the system does not say.
    pub stolen_share: Option<f64>,
    /// Records of the senders and receivers that were lost, since nobody took them in time.
    pub lost_records: u64,
    /// Packets that were lost before the emulator read them.
    pub unread_packets: u64,
    /// Earlier runs of the same seed that this one replaces, since they were invalid.
    pub replaces: u64,
}

impl Lateness {
    /// Whether the run is no measurement of TCP.
    pub fn is_invalid(&self) -> bool {
        !self.faults().is_empty()
    }

    /// Why it is none, each reason with its bound; empty for a valid run.
    pub fn faults(&self) -> Vec<String> {
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let ms = |s: f64| format!("{:.1} ms", 1e3 * s);
        let mut faults = Vec::new();
        let mut add = |is: bool, fault: String| faults.extend(is.then_some(fault));
        add(
            self.late_share > MOST_LATE,
            format!(
                "{} of the packets left more than {} late, allowed {}",
                percent(self.late_share),
                ms(LATE_S),
                percent(MOST_LATE)
            ),
        );
        add(
            self.latest_s > LATEST_S,
            format!("a packet left {} late, allowed {}", ms(self.latest_s), ms(LATEST_S)),
        );
        add(
            self.waiting_share > MOST_WAITING,
            format!(
                "the end hosts waited {} of the time for a processor, allowed {}",
                percent(self.waiting_share),
                percent(MOST_WAITING)
            ),
        );
        let stolen = self.stolen_share.unwrap_or(0.0);
        add(
            stolen > MOST_STOLEN,
            format!(
                "{} of the processors' time was stolen, allowed {}",
                percent(stolen),
                percent(MOST_STOLEN)
            ),
        );
        add(
            self.lost_records > 0,
            format!("{} records of the senders and receivers were lost, allowed none", self.lost_records),
        );
        add(
            self.unread_packets > 0,
            format!("{} packets were lost before the emulator read them, allowed none", self.unread_packets),
        );
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run of a machine with time to spare.
    const PUNCTUAL: Lateness = Lateness {
        packets: 10_000,
        late_share: 0.0,
        latest_s: 3e-4,
        waiting_share: 0.0,
        longest_wait_s: 1e-3,
        stolen_share: Some(0.0),
        lost_records: 0,
        unread_packets: 0,
        replaces: 0,
    };

    #[test]
    fn a_run_is_valid_up_to_each_bound() {
        assert!(!PUNCTUAL.is_invalid());
        let at_the_bounds = Lateness {
            late_share: MOST_LATE,
            latest_s: LATEST_S,
            waiting_share: MOST_WAITING,
            longest_wait_s: 10.0,
            stolen_share: Some(MOST_STOLEN),
            replaces: 2,
            ..PUNCTUAL
        };
        assert_eq!(at_the_bounds.faults(), [""; 0]);
        assert!(!Lateness { stolen_share: None, ..PUNCTUAL }.is_invalid(), "what nobody knows is no fault");
    }

    #[test]
    fn each_kind_of_lateness_alone_makes_a_run_invalid_and_is_named_with_its_bound() {
        let cases = [
            (
                Lateness { late_share: 0.02, ..PUNCTUAL },
                "2.0 % of the packets left more than 2.0 ms late, allowed 1.0 %",
            ),
            (Lateness { latest_s: 0.0601, ..PUNCTUAL }, "a packet left 60.1 ms late, allowed 50.0 ms"),
            (Lateness { waiting_share: 0.06, ..PUNCTUAL }, "the end hosts waited 6.0 % of the time"),
            (
                Lateness { stolen_share: Some(0.1), ..PUNCTUAL },
                "10.0 % of the processors' time was stolen, allowed 5.0 %",
            ),
            (Lateness { lost_records: 1, ..PUNCTUAL }, "1 records of the senders"),
            (Lateness { unread_packets: 7, ..PUNCTUAL }, "7 packets were lost before"),
        ];
        for (lateness, said) in cases {
            let faults = lateness.faults();
            assert!(lateness.is_invalid() && faults.len() == 1, "{faults:?}");
            assert!(faults[0].starts_with(said), "{}", faults[0]);
        }
    }

    #[test]
    fn a_run_may_be_late_in_several_ways() {
        let lateness = Lateness { late_share: 0.5, latest_s: 0.2, ..PUNCTUAL };
        assert_eq!(lateness.faults().len(), 2);
    }
}
