//! Where stations are as time goes by. Not for: what a medium makes of it, which is told by [`crate::Medium::put`].
//!
//! Every movement is a sequence of legs, each at one speed on a straight line, or none at all. Who drives a medium puts
//! a station where its leg says, as often as its reach asks for: [`Leg::after`] says when it will have gone so far.

mod setdest;
mod trajectory;
mod waypoint;

use crate::{Position, Time};
pub use setdest::{TraceError, read_setdest};
pub use trajectory::Trajectory;
pub use waypoint::{RandomWaypoint, Waypoints};

/// A straight way at one speed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leg {
    /// When it begins.
    pub from: Time,
    /// When it ends; [`Time::MAX`] if nothing follows.
    pub until: Time,
    /// Where it begins.
    pub start: Position,
    /// Where it ends.
    pub end: Position,
}

impl Leg {
    /// One that stays where it is.
    pub fn resting(from: Time, until: Time, place: Position) -> Self {
        Self { from, until, start: place, end: place }
    }

    /// Where one is on it at a time; before it begins at its start, after it has ended at its end.
    pub fn at(&self, time: Time) -> Position {
        if time >= self.until || self.until <= self.from {
            return self.end;
        }
        let share = time.saturating_sub(self.from) as f64 / (self.until - self.from) as f64;
        let between = |a: f64, b: f64| a + share * (b - a);
        Position {
            x: between(self.start.x, self.end.x),
            y: between(self.start.y, self.end.y),
            z: between(self.start.z, self.end.z),
        }
    }

    /// When one will have gone `metres` from where one is at `time`, or the leg has ended.
    pub fn after(&self, time: Time, metres: f64) -> Time {
        let length = self.start.distance(&self.end);
        if length <= 0.0 || time >= self.until {
            return self.until;
        }
        let takes = metres / length * (self.until - self.from) as f64;
        time.saturating_add(takes.max(1.0) as Time).min(self.until)
    }
}

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
            Self::Static(place) => Leg::resting(0, Time::MAX, *place),
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
        let leg = Leg { from: 1_000, until: 6_000, start, end };
        assert_eq!(leg.at(0), start);
        assert_eq!(leg.at(3_500), Position::on_ground(15.0, 20.0));
        assert_eq!(leg.at(9_000), end);
        // 50 m in 5,000 ns.
        assert_eq!(leg.after(1_000, 10.0), 2_000);
        assert_eq!(leg.after(5_900, 10.0), 6_000);
        assert_eq!(Leg::resting(0, 70, start).after(3, 1.0), 70);
        assert_eq!(Mobility::Static(end).leg(5).after(5, 1.0), Time::MAX);
    }
}
