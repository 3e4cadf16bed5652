//! Where nodes are that have a place, and how they move.

use truckee_channel::random::stream;
use truckee_tcp::{Span, Time};
use truckee_wireless::mobility::{Mobility, RandomWaypoint, Trajectory};
use truckee_wireless::{ConfigError, Position};

/// A number of a node in [`Scenario::nodes`](super::Scenario::nodes).
pub type NodeId = usize;

/// The place of a node.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// Whose.
    pub node: NodeId,
    /// Where it is at each time.
    pub movement: Movement,
    /// How it goes from access point to access point, if it does.
    pub roam: Option<Roaming>,
}

/// How a node goes from one access point to another, each on a medium of its own. It begins at the one that it hears best by
/// path loss.
#[derive(Debug, Clone, PartialEq)]
pub struct Roaming {
    /// By how much another access point has to be heard better, by path loss alone, dB; `None`: it moves when it is told.
    pub hysteresis: Option<f64>,
    /// When it is told to move, and to which access point; in order.
    pub to: Vec<(Time, NodeId)>,
    /// For how long its radio hears neither.
    pub gap: Span,
}

/// How a node moves.
#[derive(Debug, Clone, PartialEq)]
pub enum Movement {
    /// Not at all.
    Still(Position),
    /// On straight lines from point to point, each reached at its time; it rests at the last. The first is of time 0.
    Path(Vec<(Time, Position)>),
    /// As a node of a trace in the format of ns-2's `setdest` does.
    Trace {
        /// The trace, relative to the scenario's folder.
        file: String,
        /// Which node of it.
        number: usize,
        /// Of the antenna above the trace's ground, metres.
        height: f64,
        /// What the trace says of it.
        trajectory: Trajectory,
    },
    /// From place to place of a rectangle, each drawn at random; from its stationary state on.
    RandomWaypoint(RandomWaypoint),
}

impl Movement {
    /// The movement in a run of this seed; `name`: of the node, by which its random stream is called.
    ///
    /// # Errors
    /// A number is out of its range.
    pub fn mobility(&self, seed: u64, name: &str) -> Result<Mobility, ConfigError> {
        Ok(match self {
            Self::Still(place) => Mobility::Static(*place),
            Self::Path(points) => Mobility::Trajectory(Trajectory::new(points.clone())?),
            Self::Trace { trajectory, .. } => Mobility::Trajectory(trajectory.clone()),
            Self::RandomWaypoint(model) => {
                Mobility::RandomWaypoint(Box::new(model.start(stream(seed, &format!("{name}/way")))?))
            }
        })
    }

    /// Whether it may ever be elsewhere than at first.
    pub fn moves(&self) -> bool {
        !matches!(self, Self::Still(_))
    }

    /// Whether the seed decides where it is.
    pub fn is_random(&self) -> bool {
        matches!(self, Self::RandomWaypoint(_))
    }
}
