//! Why a scenario cannot be run, or not to its end.

/// Why a scenario cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No way from one node to another.
    #[error("\"{flow}\": no route from \"{from}\" to \"{to}\"")]
    NoRoute {
        /// The flow or traffic.
        flow: String,
        /// Where it starts.
        from: String,
        /// Where it should go.
        to: String,
    },
    /// More packets than there is room for.
    #[error(
        "at {at_s} s more than {most} packets wait or are under way; the longest queue is that of \"{link}\", \
         {backlog_s} s; expected a queue with a limit, shorter delays or smaller windows"
    )]
    TooManyPackets {
        /// Simulated time.
        at_s: f64,
        /// Most that may be.
        most: usize,
        /// The link with the longest queue.
        link: String,
        /// How long it will take for what waits.
        backlog_s: f64,
    },
    /// A medium cannot be as it is described.
    #[error("medium \"{medium}\": {error}")]
    Medium {
        /// The medium.
        medium: String,
        /// Why not.
        error: truckee_wireless::ConfigError,
    },
    /// What only real stacks have.
    #[error("flow \"{flow}\": {what}, which the simulator does not know; --engine kernel does")]
    OnlyLive {
        /// The flow.
        flow: String,
        /// What it asks for.
        what: String,
    },
    /// A part of a sender or receiver cannot be built.
    #[error("flow \"{flow}\": {error}")]
    Refused {
        /// The flow.
        flow: String,
        /// Why.
        error: truckee_tcp::SpecError,
    },
    /// What a steered flow is told is no window or no pace.
    #[error("flow \"{flow}\" was told {order:?}, expected a window and a pace that are numbers from 0 on")]
    Order {
        /// The flow.
        flow: String,
        /// What it was told.
        order: truckee_tcp::controller::Order,
    },
    /// Whoever could wish it has wished that the run end.
    #[error("stopped at {at} s, as was wished")]
    Stopped {
        /// When, in simulated seconds.
        at: f64,
    },
    /// A foreign algorithm has done what no run can go on with.
    #[error("\"{member}\" at {at} s: {what}")]
    Foreign {
        /// The algorithm's name.
        member: &'static str,
        /// What it did.
        what: String,
        /// When, in simulated seconds.
        at: f64,
    },
}
