//! Where stations are as time goes by. Not for: what a medium makes of it, which is told by [`crate::Medium::put`].
//!
//! Every movement is a sequence of legs, each at one speed on a straight line, or none at all. Who drives a medium puts
//! a station where its leg says, as often as its reach asks for: [`Leg::after`] says when it will have gone so far.

mod leg;
mod setdest;
mod trajectory;
mod waypoint;

use crate::{Position, Time};
pub use leg::Leg;
pub use setdest::{TraceError, read_setdest};
pub use trajectory::Trajectory;
pub use waypoint::{RandomWaypoint, Waypoints};

/// How a station moves.
#[derive(Debug, Clone)]
pub enum Mobility {
    /// Not at all.
    Static(Position),
    /// As is given.
    Trajectory(Trajectory),
    /// At random.
    RandomWaypoint(Box<Waypoints>),
}

impl Mobility {
    /// The leg that one is on at a time. Times do not fall from call to call.
    pub fn leg(&mut self, at: Time) -> Leg {
        match self {
            Self::Static(place) => Leg::resting(Time::ZERO, Time::MAX, *place),
            Self::Trajectory(trajectory) => trajectory.leg(at),
            Self::RandomWaypoint(waypoints) => waypoints.leg(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leg_is_gone_at_one_speed() {
        let (start, end) = (Position::on_ground(0.0, 0.0), Position::on_ground(30.0, 40.0));
        let leg = Leg { from: Time::us(1), until: Time::us(6), start, end };
        assert_eq!(leg.at(Time::ZERO), start);
        assert_eq!(leg.at(Time::ns(3_500)), Position::on_ground(15.0, 20.0));
        assert_eq!(leg.at(Time::us(9)), end);
        // 50 m in 5,000 ns.
        assert_eq!(leg.after(Time::us(1), 10.0), Time::us(2));
        assert_eq!(leg.after(Time::ns(5_900), 10.0), Time::us(6));
        assert_eq!(Leg::resting(Time::ZERO, Time::ns(70), start).after(Time::ns(3), 1.0), Time::ns(70));
        assert_eq!(Mobility::Static(end).leg(Time::ns(5)).after(Time::ns(5), 1.0), Time::MAX);
    }
}
