//! Topologies in one table: `topology = { kind = "dumbbell", … }` written out as link tables, whose values keep the
//! places where the topology's table has them. Not for: what the values mean, which the link decoder sees to.

use super::diagnostics::{Diagnostics, MAX_RATE};
use super::reader::Reader;
use crate::document::tree::{Kind, Place, Table, Value};
use crate::units::format_rate;
use std::borrow::Cow;

/// The kinds of topologies.
const KINDS: [&str; 4] = ["single-link", "dumbbell", "parking-lot", "multihop"];
/// Most pairs of hosts of a dumbbell.
const MAX_PAIRS: u64 = 100_000;
/// Most hops of a chain.
const MAX_HOPS: u64 = 1000;

/// A table of links, as written or as a topology made it, and the place it stands for.
pub(super) struct LinkTable<'d> {
    pub table: Cow<'d, Table>,
    pub place: &'d Place,
    /// The ends of each link that it stands for; empty: one link, with its ends in the table.
    pub between: Vec<(String, String)>,
}

/// The links of the topology, in the order of its nodes.
pub(super) fn expand<'d>(diag: &'d Diagnostics<'d>, value: &'d Value) -> Vec<LinkTable<'d>> {
    let Some(reader) = Reader::of(diag, value, "a topology") else { return Vec::new() };
    let Some(kind) = reader.kind(&KINDS, None) else {
        reader.abandon();
        return Vec::new();
    };
    let mut builder = Builder { reader, links: Vec::new() };
    match kind {
        "single-link" => builder.single_link(),
        "dumbbell" => builder.dumbbell(),
        "parking-lot" => builder.chain(true),
        _ => builder.chain(false),
    }
    builder.reader.finish();
    builder.links
}

/// Keys of the link in the middle, and those that make its medium noisy.
const WIRE: [&str; 7] = ["rate", "delay", "queue", "rate_back", "delay_back", "queue_back", "quick_start"];
const NOISE: [&str; 3] = ["channel", "channel_back", "channel_both"];

struct Builder<'d> {
    reader: Reader<'d>,
    links: Vec<LinkTable<'d>>,
}

impl<'d> Builder<'d> {
    /// A link between two nodes, with what the topology has under `keys` as its own keys.
    fn link(&mut self, first: &str, second: &str, keys: &[(&'static str, Option<Value>)]) {
        self.links(vec![(first.to_owned(), second.to_owned())], keys);
    }

    /// Likewise links that are alike.
    fn links(&mut self, between: Vec<(String, String)>, keys: &[(&'static str, Option<Value>)]) {
        let mut table = Table::default();
        for (key, value) in keys {
            if let Some(value) = value {
                table.put(key, value.place.clone(), value.clone());
            }
        }
        self.links.push(LinkTable { table: Cow::Owned(table), place: self.reader.place, between });
    }

    fn copied(&self, keys: &[&'static str]) -> Vec<(&'static str, Option<Value>)> {
        keys.iter().map(|key| (*key, self.reader.get(key).cloned())).collect()
    }

    fn text(&self, text: String) -> Value {
        Value { kind: Kind::Text(text), place: self.reader.place.clone() }
    }

    /// src –(wire)– router –(wireless)– dst.
    fn single_link(&mut self) {
        self.reader.required_rate("rate");
        let wire = self.copied(&WIRE);
        let rate = self.reader.get("wireless_rate").or_else(|| self.reader.get("rate")).cloned();
        let delay = self.reader.get("wireless_delay").cloned().unwrap_or_else(|| self.text("10us".into()));
        let queue = self.reader.get("wireless_queue").cloned();
        let mut wireless = self.copied(&NOISE);
        wireless.extend([("rate", rate), ("delay", Some(delay)), ("queue", queue)]);
        self.link("src", "router", &wire);
        self.link("router", "dst", &wireless);
    }

    /// s1…sn – r1 –(bottleneck)– r2 – d1…dn.
    fn dumbbell(&mut self) {
        let n = self.side("n", MAX_PAIRS);
        let bottleneck = self.copied(&WIRE);
        let access = self.access();
        let mut last = self.copied(&NOISE);
        last.extend(access.iter().cloned());
        self.links((1..=n).map(|i| (format!("s{i}"), "r1".to_owned())).collect(), &access);
        self.link("r1", "r2", &bottleneck);
        self.links((1..=n).map(|i| ("r2".to_owned(), format!("d{i}"))).collect(), &last);
    }

    /// Routers in a row. With hosts: s0 and d0 at the two ends, and for each hop i its own s(i) in front of it and
    /// d(i) behind it.
    fn chain(&mut self, hosts: bool) {
        let hops = self.side("hops", MAX_HOPS);
        self.reader.required_rate("rate");
        let mut middle = self.copied(&WIRE);
        middle.extend(self.copied(&NOISE));
        if !hosts {
            for i in 0..hops {
                self.link(&format!("n{i}"), &format!("n{}", i + 1), &middle);
            }
            return;
        }
        let access = self.access();
        self.link("s0", "r1", &access);
        for i in 1..=hops {
            self.link(&format!("s{i}"), &format!("r{i}"), &access);
            self.link(&format!("r{i}"), &format!("r{}", i + 1), &middle);
            self.link(&format!("r{}", i + 1), &format!("d{i}"), &access);
        }
        self.link(&format!("r{}", hops + 1), "d0", &access);
    }

    /// The links of hosts: by default ten times as fast as the middle, so that they are never the bottleneck.
    fn access(&self) -> Vec<(&'static str, Option<Value>)> {
        let middle = self.reader.required_rate("rate");
        let rate = self.reader.get("access_rate").cloned();
        let rate = rate.unwrap_or_else(|| self.text(format_rate((10.0 * middle).min(MAX_RATE))));
        let delay = self.reader.get("access_delay").cloned().unwrap_or_else(|| self.text("1ms".into()));
        vec![("rate", Some(rate)), ("delay", Some(delay))]
    }

    fn side(&self, key: &'static str, most: u64) -> u64 {
        self.reader.required(key, "2").and_then(|v| self.reader.diag.count(v, 1..=most)).unwrap_or(1)
    }
}
