//! What can be named in a scenario beside the algorithms of `truckee-tcp`, for `truckee variants`.
//!
//! The scenario's reader is who decides what exists; the tests here hold this list against it, both ways.

use truckee_tcp::Info;

/// One kind, with a TOML value that uses it, all parameters shown.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Name, what it does, rule and source.
    pub info: Info,
    /// A value for the scenario's key.
    pub example: &'static str,
}

/// A key of the scenario and the kinds it takes.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// The key.
    pub key: &'static str,
    /// What it is called in headings.
    pub title: &'static str,
    /// The kinds.
    pub kinds: &'static [Kind],
}

const fn kind(
    name: &'static str,
    summary: &'static str,
    [formula, source]: [&'static str; 2],
    example: &'static str,
) -> Kind {
    Kind { info: Info { name, summary, formula, source }, example }
}

/// All of them.
#[rustfmt::skip]
pub const KEYS: &[Key] = &[
    Key { key: "channel", title: "channel kinds", kinds: &[
        kind("bernoulli", "each packet is lost independently",
            ["P(lost) = per", ""],
            "{ kind = \"bernoulli\", per = 0.01 }"),
        kind("bit-errors", "each bit is wrong independently; a packet with a wrong bit is lost",
            ["P(lost) = 1 − (1 − ber)^bits", ""],
            "{ kind = \"bit-errors\", ber = 1e-6 }"),
        kind("gilbert", "two states, each with its own packet error rate, holding times exponential in time",
            ["P(lost) = per_good or per_bad; mean holding times good and bad", "Gilbert 1960; Elliott 1963"],
            "{ kind = \"gilbert\", good = \"1s\", bad = \"50ms\", per_good = 0, per_bad = 0.3 }"),
        kind("bursts", "everything is lost during a burst that comes again and again",
            ["lost if (t − phase) mod every < lasting and t < until", ""],
            "{ kind = \"bursts\", every = \"10s\", lasting = \"300ms\", phase = \"2s\" }"),
        kind("outages", "the link is silent at given times, or at random ones",
            ["at = [[start, length], …], or every and lasting: a Poisson process", ""],
            "{ kind = \"outages\", at = [[\"10s\", \"300ms\"], [\"25s\", \"2s\"]] }"),
        kind("scripted", "loses, delays or doubles the packets it is told to",
            ["packets by number (of one flow, if given), all packets during [from, to)", ""],
            "{ kind = \"scripted\", packets = [100, \"200..210\"], during = [] }"),
        kind("delays", "each packet is late by its place in a list, such as of what was measured",
            ["the k-th by the k-th time, but not before those before it", ""],
            "{ kind = \"delays\", by = [\"0.2ms\", \"0s\", \"1ms\"] }"),
        kind("correlated", "loss whose draws remember the last one",
            ["x = correlation·x + (1 − correlation)·uniform; lost if x < per", "netem, tc-netem(8)"],
            "{ kind = \"correlated\", per = 0.1, correlation = 0.25 }"),
        kind("jitter", "extra delay drawn per packet, or going on from the one before",
            ["uniform(max), normal(mean, sd) cut at 0, pareto(scale, shape), or a table of netem's (file, mean, sd); correlation over t: exp(−t/correlation_time)", "correlated: Uhlenbeck and Ornstein 1930"],
            "{ kind = \"jitter\", distribution = \"uniform\", max = \"5ms\", correlation_time = \"50ms\", keep_order = true }"),
        kind("duplicate", "a packet arrives twice",
            ["with this probability, the copy so much later", ""],
            "{ kind = \"duplicate\", probability = 0.01, after = \"1ms\" }"),
        kind("reorder", "a packet is held back so that later ones overtake it",
            ["every n-th, or each with a probability, by delay", ""],
            "{ kind = \"reorder\", every = 100, delay = \"5ms\" }"),
        kind("trace", "recorded capacity in place of the link's rate",
            ["1500 bytes at each time stamp, repeated from the start after the last one", "the format of the mahimahi link shell, Netravali et al. 2015"],
            "{ kind = \"trace\", file = \"cellular.trace\" }"),
        kind("none", "does nothing", ["", ""], "{ kind = \"none\" }"),
    ]},
    Key { key: "queue", title: "queues", kinds: &[
        kind("drop-tail", "first in, first out; what does not fit is dropped",
            ["size in packets, bytes, or \"bdp\": rate times round trip", ""],
            "{ kind = \"drop-tail\", size = \"bdp\" }"),
        kind("red", "random early detection: drops or marks before it is full",
            ["p rises from 0 to max_probability while the average queue goes from min to max", "Floyd and Jacobson 1993"],
            "{ kind = \"red\", size = \"100packets\", min = \"10packets\", max = \"50packets\", max_probability = 0.1, weight = 0.002, gentle = true, ecn = false }"),
        kind("codel", "drops at the head while the least wait of an interval stays above a target",
            ["after an interval above target drops at distances of interval/√count", "RFC 8289"],
            "{ kind = \"codel\", size = \"1000packets\", target = \"5ms\", interval = \"100ms\", ecn = false }"),
        kind("fq-codel", "a queue for each flow, served in turns, CoDel at the head of each",
            ["deficit round robin by quantum bytes; flows that have just come go first", "RFC 8290"],
            "{ kind = \"fq-codel\", size = \"10240packets\", target = \"5ms\", interval = \"100ms\", queues = 1024, quantum = 1514, ecn = true }"),
        kind("pie", "drops at the tail by a chance that follows the wait and its trend",
            ["p += alpha·(wait − target) + beta·(wait − the one before) every update, scaled while p is small", "RFC 8033"],
            "{ kind = \"pie\", size = \"1000packets\", target = \"15ms\", update = \"15ms\", burst = \"150ms\", alpha = 0.125, beta = 1.25, ecn = false }"),
    ]},
    Key { key: "app", title: "applications", kinds: &[
        kind("bulk", "always has data", ["", ""], "{ kind = \"bulk\" }"),
        kind("file", "one file, then it closes", ["", ""], "{ kind = \"file\", size = \"20MB\" }"),
        kind("files", "several files over one, separate or parallel connections",
            ["", ""],
            "{ kind = \"files\", size = \"20kB\", count = 10, connections = \"parallel:6\", pause = \"100ms\" }"),
        kind("request-response", "the receiver asks, the sender answers, over one connection",
            ["", ""],
            "{ kind = \"request-response\", request = \"300B\", response = \"60kB\", count = 20, think = \"1s\" }"),
        kind("segments", "segments handed to TCP by an arrival process",
            ["", ""],
            "{ kind = \"segments\", arrivals = { kind = \"poisson\", rate = \"1Mbit/s\" }, size = \"1000B\", count = 500 }"),
        kind("web-page", "a page that a real client asks of a real server; only --engine kernel runs it",
            ["object sizes exponential, mean size", ""],
            "{ kind = \"web-page\", objects = 50, size = \"90kB\", connections = 6 }"),
    ]},
    Key { key: "arrivals", title: "arrival processes (cross traffic, and the app segments)", kinds: &[
        kind("cbr", "evenly spaced packets", ["gap = size/rate", ""],
            "{ kind = \"cbr\", rate = \"1Mbit/s\" }"),
        kind("poisson", "exponential gaps", ["mean gap = size/rate", ""],
            "{ kind = \"poisson\", rate = \"1Mbit/s\" }"),
        kind("exponential", "ON and OFF periods, both exponential", ["rate while ON; mean lengths on and off", ""],
            "{ kind = \"exponential\", rate = \"1Mbit/s\", on = \"500ms\", off = \"500ms\", bursts = \"time\" }"),
        kind("pareto", "ON and OFF periods, both Pareto: many such sources together are self-similar",
            ["rate while ON; mean lengths on and off; shape above 1", "Willinger et al. 1997"],
            "{ kind = \"pareto\", rate = \"1Mbit/s\", on = \"500ms\", off = \"500ms\", shape = 1.5, bursts = \"time\" }"),
        kind("on-off", "another name of exponential", ["", ""],
            "{ kind = \"on-off\", rate = \"1Mbit/s\", on = \"500ms\", off = \"500ms\", bursts = \"time\" }"),
        kind("trace", "packets at recorded times, repeated", ["", "the format of the mahimahi link shell"],
            "{ kind = \"trace\", file = \"cellular.trace\" }"),
    ]},
];

#[cfg(test)]
mod tests {
    use super::*;
    use truckee_scenario::{Document, Errors};

    /// A scenario in the examples' folder, where the recorded trace is, with this value in its place.
    fn resolve(key: &str, value: &str) -> Result<truckee_scenario::Scenario, Errors> {
        let (link, app) = match key {
            "app" => (String::new(), value.to_owned()),
            "arrivals" => (String::new(), format!("{{ kind = \"segments\", arrivals = {value} }}")),
            key => (format!("{key} = {value}"), "{ kind = \"bulk\" }".to_owned()),
        };
        let text = format!(
            "duration = \"1s\"\n[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"1Mbit/s\"\ndelay = \"10ms\"\n{link}\n\
             [[flow]]\nfrom = \"a\"\nto = \"b\"\nsender = \"newreno\"\napp = {app}\n"
        );
        let name = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/kind.toml");
        Document::parse(name, &text)?.scenario()
    }

    #[test]
    fn every_example_is_accepted() {
        for key in KEYS {
            for kind in key.kinds {
                if let Err(errors) = resolve(key.key, kind.example) {
                    panic!("{} {}: {errors}", key.key, kind.info.name);
                }
                assert!(kind.example.contains(&format!("kind = \"{}\"", kind.info.name)));
            }
        }
    }

    #[test]
    fn the_reader_knows_no_kind_that_is_missing_here() {
        for key in KEYS {
            let errors = resolve(key.key, "{ kind = \"no-such-kind\" }").unwrap_err();
            // The reader lists what it would have taken.
            let known = errors.list[0].expected.clone().unwrap();
            for kind in key.kinds {
                assert!(known.contains(kind.info.name), "{}: {} is not in {known}", key.key, kind.info.name);
            }
            let names = known.matches('"').count() / 2;
            assert_eq!(names.max(known.split(',').count()), key.kinds.len(), "{}: {known}", key.key);
        }
    }
}
