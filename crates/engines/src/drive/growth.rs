//! Growth rules fed a list of ACKs: the congestion window that each makes of it.

use super::written::spec;
use truckee_lab::grid;
use truckee_lab::study::Data;
use truckee_lab::study::file::plain;
use truckee_tcp::growth::{AnyGrowth, Growth};
use truckee_tcp::{Ack, Seq, Time, Window};

/// The metric: the congestion window after the last ACK, bytes.
pub const METRIC: &str = "cwnd_bytes";

/// Growth rules and the ACKs they are fed.
#[derive(Debug, Clone)]
pub struct Growths {
    rules: Vec<(String, AnyGrowth)>,
    window: Window,
    acks: Vec<u64>,
}

impl Growths {
    /// Rules as written; `mss`, `cwnd` and `ssthresh` (unbounded if `None`) in bytes, and the bytes newly acknowledged
    /// by each ACK.
    pub fn new(
        rules: &[toml::Value],
        mss: u32,
        cwnd: f64,
        ssthresh: Option<f64>,
        acks: Vec<u64>,
    ) -> Result<Self, String> {
        let mut window = Window::new(f64::from(mss), cwnd);
        window.ssthresh = ssthresh.unwrap_or(f64::MAX);
        window.flight = acks.iter().sum();
        let build = |value: &toml::Value| {
            let spec = spec(value, "growth rule", "\"per-ack\" and { byte-counting = { limit = 1 } }")?;
            let (rule, _) = AnyGrowth::build(&spec).map_err(|e| e.to_string())?;
            Ok((plain(value), rule))
        };
        Ok(Self { rules: rules.iter().map(build).collect::<Result<_, String>>()?, window, acks })
    }

    pub(super) fn run(&self, name: &str) -> Result<Data, String> {
        let labels = self.rules.iter().map(|(label, _)| label.clone());
        let mut data = Data::deterministic(name, vec![grid::names("growth", labels)]);
        for (point, (_, rule)) in self.rules.iter().enumerate() {
            data.put(point, METRIC, "B", self.cwnd_after(rule.clone()));
        }
        Ok(data)
    }

    fn cwnd_after(&self, mut rule: AnyGrowth) -> f64 {
        let mut w = self.window;
        let sent = Seq::FIRST + self.acks.iter().sum::<u64>();
        let mut acked = Seq::FIRST;
        for (k, &bytes) in self.acks.iter().enumerate() {
            acked += bytes;
            let mut ack = Ack::of_bytes(Time::ns(k as u64), bytes);
            (ack.ack, ack.highest) = (acked, sent);
            rule.on_ack(&ack, &mut w);
            w.flight -= bytes;
        }
        w.cwnd
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::Drive;
    use truckee_lab::study::Drive as _;

    fn drive(growth: &str) -> Result<Drive, toml::de::Error> {
        let text = format!("name = \"d\"\nmss = 1460\ncwnd = 1000\nacks = [730, 730]\ngrowth = {growth}");
        toml::from_str(&text)
    }

    #[test]
    fn rules_are_fed_the_same_acks() {
        let data = drive("[\"byte-counting\", \"per-ack\", { byte-counting = { limit = 1 } }]")
            .unwrap()
            .run()
            .unwrap();
        let cwnd = |point| data.samples(point, METRIC)[0].1;
        assert_eq!((cwnd(0), cwnd(1), cwnd(2)), (Some(2460.0), Some(3920.0), Some(2460.0)));
    }

    #[test]
    fn unknown_rules_and_arguments_are_refused() {
        let message = |growth| drive(growth).unwrap_err().to_string();
        assert!(message("[\"per-acc\"]").contains("no growth rule named \"per-acc\""));
        assert!(message("[{ per-ack = { x = 1 } }]").contains("no parameter \"x\""));
        assert!(message("[3]").contains("names no growth rule"));
    }
}
