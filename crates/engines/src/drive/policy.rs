//! ACK policies fed segments in order, one after the other: the numbers of the ACKs that each sends.
//!
//! Not for: timers, holes and what a sender makes of it, which need a network.

use super::written::{label, spec};
use truckee_lab::grid;
use truckee_lab::study::Data;
use truckee_tcp::ack::{AckPolicy, AckSink, AnyAckPolicy};
use truckee_tcp::{Arrival, Seq, Time};

/// The metric: the acknowledgment number of an ACK, of a connection whose first byte of data has number 1. ACKs are counted
/// from 1 on by the axis `ack`.
pub const METRIC: &str = "ack_number";

/// Most segments of a drive, and most ACKs of a policy: an axis as long is a table that nobody reads.
const MOST: usize = 10_000;

/// Policies ready to be driven.
#[derive(Debug, Clone)]
pub struct Policies {
    members: Vec<(String, AnyAckPolicy)>,
    segments: Vec<u32>,
}

impl Policies {
    /// Policies as written, and the bytes of each segment. An error says which key does not do.
    pub fn new(members: &[toml::Value], segments: Vec<u32>) -> Result<Self, String> {
        let build = |value: &toml::Value| {
            let spec = spec(value, "ACK policy", "\"every\" and { division = { n = 4 } }")?;
            let (member, _) = AnyAckPolicy::build(&spec).map_err(|e| e.to_string())?;
            Ok((label(value), member))
        };
        let members: Vec<_> = members.iter().map(build).collect::<Result<_, String>>()?;
        if members.is_empty() {
            return Err("there is no ACK policy".to_owned());
        }
        match segments.iter().position(|bytes| *bytes == 0) {
            _ if segments.is_empty() || segments.len() > MOST => {
                Err(format!("segments has {} of them, expected 1 to {MOST}", segments.len()))
            }
            Some(k) => Err(format!("segments has one of 0 bytes, number {}, expected at least 1", k + 1)),
            None => Ok(Self { members, segments }),
        }
    }

    pub(super) fn run(&self, name: &str) -> Result<Data, String> {
        let all =
            self.members.iter().map(|(label, member)| Ok((label, self.numbers(label, member.clone())?)));
        let all: Vec<_> = all.collect::<Result<_, String>>()?;
        let most = all.iter().map(|(_, numbers)| numbers.len()).max().unwrap_or(0);
        let axes = vec![
            grid::names("policy", all.iter().map(|(label, _)| (*label).clone())),
            grid::names("ack", (1..=most).map(|k| k.to_string())),
        ];
        let mut data = Data::deterministic(name, axes);
        for (k, (_, numbers)) in all.iter().enumerate() {
            for (at, number) in numbers.iter().enumerate() {
                data.put(k * most + at, METRIC, "", number.number() as f64);
            }
        }
        Ok(data)
    }

    /// The numbers of the ACKs that a policy sends, in their order.
    fn numbers(&self, label: &str, mut policy: AnyAckPolicy) -> Result<Vec<Seq>, String> {
        let (mut sink, mut sent) = (AckSink::default(), Vec::new());
        let (mut next, mut acked) = (Seq::FIRST, Seq::FIRST);
        for (k, &bytes) in self.segments.iter().enumerate() {
            next += u64::from(bytes);
            let mut arrival = Arrival::of_bytes(Time::ns(k as u64), bytes);
            (arrival.rcv_nxt, arrival.end, arrival.unacked) = (next, next, next - acked);
            policy.on_segment(&arrival, &mut sink);
            while let Some(number) = sink.pop() {
                acked = acked.max(number).min(next);
                sent.push(number);
                if sent.len() > MOST {
                    return Err(format!("{label} sends more than {MOST} ACKs"));
                }
            }
        }
        Ok(sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::Drive;
    use truckee_lab::study::Drive as _;

    fn drive(keys: &str) -> Result<Drive, toml::de::Error> {
        toml::from_str(&format!("name = \"d\"\n{keys}"))
    }

    #[test]
    fn policies_are_fed_the_same_segments_and_their_acks_counted() {
        let data =
            drive("policy = [\"every\", \"delayed\", { division = { n = 2 } }]\nsegments = [1000, 1000]")
                .unwrap()
                .run()
                .unwrap();
        let numbers = |policy: usize| -> Vec<f64> {
            (0..4).filter_map(|ack| data.samples(policy * 4 + ack, METRIC).first()?.1).collect()
        };
        assert_eq!(numbers(0), [1001.0, 2001.0]);
        assert_eq!(numbers(1), [2001.0]);
        assert_eq!(numbers(2), [501.0, 1001.0, 1501.0, 2001.0]);
    }

    #[test]
    fn what_cannot_be_fed_is_refused() {
        let refusal = |keys: &str| drive(keys).unwrap_err().to_string();
        for (keys, part) in [
            ("policy = [\"every\"]", "ACK policies need `segments`"),
            ("policy = []\nsegments = [1]", "there is no ACK policy"),
            ("policy = [\"every\"]\nsegments = []", "has 0 of them, expected 1 to 10000"),
            ("policy = [\"every\"]\nsegments = [1, 0]", "one of 0 bytes, number 2"),
            ("policy = [\"evry\"]\nsegments = [1]", "no ACK policy named \"evry\""),
            ("policy = [3]\nsegments = [1]", "3 names no ACK policy"),
            (
                "policy = [\"every\"]\nsegments = [1]\nbytes = 3",
                "`bytes` says nothing where ACK policies are driven",
            ),
        ] {
            let message = refusal(keys);
            assert!(message.contains(part), "{keys}: {message}");
        }
        let many = drive(
            "policy = [{ division = { n = 1000 } }]\nsegments = [2000, 2000, 2000, 2000, 2000, 2000, 2000, 2000, 2000, 2000, 2000]",
        );
        let error = many.unwrap().run().unwrap_err().to_string();
        assert!(error.contains("sends more than 10000 ACKs"), "{error}");
    }
}
