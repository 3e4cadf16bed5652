//! The effects a channel can have, as configured. Probabilities are in [0, 1]; whoever fills these in has checked.

use crate::{DelayTable, Span, Time};
use std::sync::Arc;

/// What a channel does to packets, effect after effect in this order; empty: nothing. Every effect sees every packet,
/// and the first one to lose it gives the cause.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChannelConfig {
    /// The effects.
    pub effects: Vec<Effect>,
}

/// One effect.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Each packet is lost independently with probability `per`.
    Bernoulli {
        /// Packet error rate.
        per: f64,
    },
    /// Each bit is wrong independently with probability `ber`; a packet with a wrong bit is lost.
    BitErrors {
        /// Bit error rate.
        ber: f64,
    },
    /// Two-state Markov channel (Gilbert 1960, Elliott 1963) with exponential holding times in time, not in packets;
    /// starts in its stationary state.
    Gilbert {
        /// Mean holding time of the good state.
        good: Span,
        /// Mean holding time of the bad state.
        bad: Span,
        /// Packet error rate in the good state.
        per_good: f64,
        /// Packet error rate in the bad state.
        per_bad: f64,
    },
    /// Total loss during `lasting` of every `every`; counts as noise.
    Bursts {
        /// Period.
        every: Span,
        /// Length of the burst, at most `every`.
        lasting: Span,
        /// No burst from then on.
        until: Option<Time>,
        /// Start of the first burst; `None`: a random phase in [0, every), drawn from the seed.
        phase: Option<Span>,
    },
    /// Outages or handoffs at fixed times.
    Outages {
        /// Start and length of each, in rising order without overlap.
        at: Vec<(Time, Span)>,
    },
    /// Outages or handoffs as a Poisson process; works at time 0.
    PoissonOutages {
        /// Mean time between the end of one and the start of the next.
        every: Span,
        /// Length of each.
        lasting: Span,
    },
    /// Chosen packets are lost, held back or doubled.
    Scripted(Script),
    /// Correlated loss as netem defines it: x = `correlation`·x + (1 − `correlation`)·uniform, lost if x < `per`. The
    /// averaging moves x towards ½, so the true packet error rate is far below a `per` below ½: with a correlation of
    /// 0.5, a `per` of 0.1 loses 0.11 %.
    Correlated {
        /// Nominal packet error rate, true only without correlation.
        per: f64,
        /// Weight of the last draw, in [0, 1).
        correlation: f64,
    },
    /// Extra delay, drawn per packet; packets may overtake unless `keep_order`.
    Jitter {
        /// The distribution.
        distribution: JitterDistribution,
        /// The time in which the delays' correlation falls to 1/e; 0: each is drawn anew. The number behind the delay is a
        /// stationary Gauss–Markov process (Uhlenbeck & Ornstein 1930), whose correlation over a time t is
        /// exp(−t/`correlation_time`), whatever packets come meanwhile; the delay is the distribution's quantile of it.
        correlation_time: Span,
        /// Whether a packet is held until those before it have left.
        keep_order: bool,
    },
    /// Each packet arrives twice with probability `probability`.
    Duplicate {
        /// Probability.
        probability: f64,
        /// The copy arrives this much later.
        after: Span,
    },
    /// Some packets are held back for `delay` so that later ones overtake them.
    Reorder {
        /// Which ones.
        which: ReorderWhich,
        /// For how long.
        delay: Span,
    },
    /// Each packet is late by its place in a list.
    Delays(Delays),
    /// Recorded capacity (the format of the mahimahi link shell), in place of the link's rate.
    Trace(Arc<CapacityTrace>),
}

/// Which packets, and what is done to them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Script {
    /// Only packets of this flow (its number in the scenario); `None`: all packets.
    pub flow: Option<u32>,
    /// What is numbered.
    pub counts: Counts,
    /// Ordinals of the packets meant, counted from 1 over those (of that flow) that reach this channel and are numbered, as
    /// inclusive ranges in rising order.
    pub packets: Vec<(u64, u64)>,
    /// All packets (of that flow) in these intervals `[from, to)` are meant, numbered or not; in rising order.
    pub during: Vec<(Time, Time)>,
    /// What becomes of them.
    pub does: Deed,
}

/// What packets are late by, one after the other: as measured elsewhere. None arrives before those before it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Delays {
    /// Only packets of this flow (its number in the scenario); `None`: all packets.
    pub flow: Option<u32>,
    /// The extra delay of each (of that flow) that reaches this channel and that no effect before this one loses; of those
    /// beyond the list there is none.
    pub by: Arc<[Span]>,
}

/// Which packets a script numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Counts {
    /// Those that carry payload.
    #[default]
    Data,
    /// All: ACKs, SYN and FIN, too.
    All,
}

/// What a script does to a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Deed {
    /// It is lost.
    #[default]
    Lose,
    /// It arrives so much later, and others may overtake it.
    Delay(Span),
    /// It arrives twice, the copy so much later.
    Duplicate(Span),
}

impl Deed {
    /// Its name, where it is not the usual one.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::Lose => None,
            Self::Delay(_) => Some("delay"),
            Self::Duplicate(_) => Some("duplicate"),
        }
    }

    /// How much later the packet, or its copy, comes.
    pub fn by(self) -> Option<Span> {
        match self {
            Self::Lose => None,
            Self::Delay(by) | Self::Duplicate(by) => Some(by),
        }
    }
}

/// Distribution of extra delay.
#[derive(Debug, Clone, PartialEq)]
pub enum JitterDistribution {
    /// Uniform in [0, max].
    Uniform {
        /// Largest extra delay.
        max: Span,
    },
    /// Normal; draws below 0 become 0.
    Normal {
        /// Mean before the cut.
        mean: Span,
        /// Standard deviation before the cut.
        sd: Span,
    },
    /// Pareto.
    Pareto {
        /// Smallest extra delay.
        scale: Span,
        /// Shape, above 0; the mean is finite above 1.
        shape: f64,
    },
    /// As a table says, such as netem's; draws below 0 become 0.
    Table {
        /// The table.
        table: Arc<DelayTable>,
        /// What the table's 0 stands for.
        mean: Span,
        /// What the table's standard deviation stands for.
        sd: Span,
    },
}

/// Which packets a reordering channel holds back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ReorderWhich {
    /// Every n-th, n at least 1.
    Every(u64),
    /// Each with this probability.
    Probability(f64),
}

/// Delivery opportunities of a recorded link; repeats from its start for ever, after its last time stamp.
#[derive(Debug, Clone, PartialEq)]
pub struct CapacityTrace {
    /// Where it came from, for messages.
    pub name: String,
    /// Times of the opportunities in milliseconds, not falling; each carries up to 1500 bytes.
    pub opportunities_ms: Vec<u32>,
}
