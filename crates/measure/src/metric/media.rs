//! The metrics of a medium that stations share, and of the protocol by which packets find their way over it.

use super::fields::{Field, field, find, split};
use truckee_scenario::outcome::{MediumOutcome, MessagesOutcome, RoutingOutcome};

/// What of a medium.
#[derive(Clone)]
pub(super) enum OfMedium {
    Medium(&'static Field<MediumOutcome>),
    /// Of messages of one kind, named as in [`MessagesOutcome::kinds`].
    Messages(&'static str, &'static Field<MessagesOutcome>),
}

/// What stands between a medium's name and a kind of message.
const MARK: &str = ".routing.messages.";

impl OfMedium {
    /// Of `NAME.metric` or `NAME.routing.messages.KIND.metric`: the name, and what of it.
    pub(super) fn parse(rest: &str) -> Option<(String, Self)> {
        if let Some((name, of)) = rest.split_once(MARK) {
            let (kind, metric) = of.rsplit_once('.')?;
            let kind = MessagesOutcome::kinds().find(|known| *known == kind)?;
            return Some((name.to_owned(), Self::Messages(kind, find(MESSAGES, metric)?)));
        }
        split(rest, MEDIUM).map(|(name, field)| (name.to_owned(), Self::Medium(field)))
    }

    /// Everything that may follow a medium's name, for messages about names.
    pub(super) fn names() -> Vec<String> {
        let messages = MessagesOutcome::kinds()
            .flat_map(|kind| MESSAGES.iter().map(move |f| format!("{}{kind}.{}", &MARK[1..], f.name)));
        MEDIUM.iter().map(|f| f.name.to_owned()).chain(messages).collect()
    }

    pub(super) fn unit(&self) -> &'static str {
        match self {
            Self::Medium(field) => field.unit,
            Self::Messages(_, field) => field.unit,
        }
    }

    /// Its value; of a kind of message that was not sent: zero.
    pub(super) fn of(&self, medium: &MediumOutcome) -> Option<f64> {
        match self {
            Self::Medium(field) => (field.get)(medium),
            Self::Messages(kind, field) => {
                let sent = medium.routing.as_ref()?.messages.iter().find(|of| of.name == *kind);
                sent.map_or(Some(0.0), |of| (field.get)(of))
            }
        }
    }
}

pub(super) const MESSAGES: &[Field<MessagesOutcome>] = &[
    field("messages", "", "messages of that kind sent, each hop counted", |m| Some(m.messages as f64)),
    field("bytes", "B", "bytes of them, without headers of IP and UDP", |m| Some(m.bytes as f64)),
];

/// Of the medium's routing protocol, if it has one.
fn routing(medium: &MediumOutcome, of: fn(&RoutingOutcome) -> f64) -> Option<f64> {
    medium.routing.as_ref().map(of)
}

/// Of what crossed the medium; nothing where nothing did.
fn each_crossed(medium: &MediumOutcome, of: fn(&RoutingOutcome) -> f64) -> Option<f64> {
    medium.routing.as_ref().filter(|r| r.crossed > 0).map(of)
}

/// Packets of data that ended for want of a way; `reason`: those of one reason.
fn lost(routing: &RoutingOutcome, reason: &str) -> f64 {
    routing.lost.iter().filter(|(name, _)| *name == reason).map(|(_, count)| *count as f64).sum()
}

pub(super) const MEDIUM: &[Field<MediumOutcome>] = &[
    field("airtime", "", "share of the time that frames were on the air, each counted for itself", |m| {
        Some(m.airtime)
    }),
    field("busy", "", "share of the time that any frame was on the air", |m| Some(m.busy)),
    field("routing.packets", "", "packets of routing sent, each hop counted", |m| {
        routing(m, |r| r.packets as f64)
    }),
    field("routing.bytes", "B", "bytes of them, headers of IP and UDP included", |m| {
        routing(m, |r| r.bytes as f64)
    }),
    field("routing.packets_lost", "", "packets of routing that a full queue or the retry limit ended", |m| {
        routing(m, |r| r.packets_lost as f64)
    }),
    field("routing.packets_per_crossed", "", "packets of routing over packets of data that crossed", |m| {
        each_crossed(m, |r| r.packets as f64 / r.crossed as f64)
    }),
    field("routing.bytes_per_crossed", "B", "bytes of routing over packets of data that crossed", |m| {
        each_crossed(m, |r| r.bytes as f64 / r.crossed as f64)
    }),
    field("routing.crossed", "", "packets of data that have crossed the medium", |m| {
        routing(m, |r| r.crossed as f64)
    }),
    field("routing.mean_hops", "", "mean number of hops they took", |m| each_crossed(m, |r| r.mean_hops)),
    field("routing.route_changes", "", "changes of the next hop to a destination, over all stations", |m| {
        routing(m, |r| r.route_changes as f64)
    }),
    field("routing.held", "", "packets of data that wait for a route at the end", |m| {
        routing(m, |r| r.held as f64)
    }),
    field(
        "routing.lost.no-route",
        "",
        "packets of data that ended: no route, and none was looked for",
        |m| routing(m, |r| lost(r, "no-route")),
    ),
    field("routing.lost.not-found", "", "packets of data that ended: a search found no route", |m| {
        routing(m, |r| lost(r, "not-found"))
    }),
    field("routing.lost.buffer-full", "", "packets of data that ended: younger ones took their place", |m| {
        routing(m, |r| lost(r, "buffer-full"))
    }),
    field("routing.lost.expired", "", "packets of data that ended: they waited too long for a route", |m| {
        routing(m, |r| lost(r, "expired"))
    }),
    field("routing.lost.ttl", "", "packets of data that ended: they had passed 64 stations", |m| {
        routing(m, |r| lost(r, "ttl"))
    }),
    field(
        "routing.lost.link-broken",
        "",
        "packets of data that ended: the next station did not answer",
        |m| routing(m, |r| lost(r, "link-broken")),
    ),
];
