//! A movement that is given by its points.

use super::leg::Leg;
use crate::{ConfigError, Position, Time};

/// Points and the times at which they are reached; straight lines between them, rest before the first and after the last.
#[derive(Debug, Clone, PartialEq)]
pub struct Trajectory {
    /// Times do not fall. Of equal ones the last counts from then on: a jump.
    points: Vec<(Time, Position)>,
}

impl Trajectory {
    /// Of these points. Refused if there is none, a time falls, or a place is not finite.
    pub fn new(points: Vec<(Time, Position)>) -> Result<Self, ConfigError> {
        if points.is_empty() {
            return Err(ConfigError::new("trajectory", "no point", "one point or more"));
        }
        for (i, (_, place)) in points.iter().enumerate() {
            if !place.is_finite() {
                let value = format!("{place:?}");
                return Err(ConfigError::new(format!("point {i} of a trajectory"), value, "finite"));
            }
        }
        for (i, pair) in points.windows(2).enumerate() {
            let [(before, _), (at, _)] = pair else { continue };
            if at < before {
                let place = format!("time of point {} of a trajectory", i + 1);
                return Err(ConfigError::new(place, at.nanos(), format!("{} ns or later", before.nanos())));
            }
        }
        Ok(Self { points })
    }

    /// One that stays at a place.
    pub(super) fn resting(place: Position) -> Self {
        Self { points: vec![(Time::ZERO, place)] }
    }

    /// The leg that one is on at a time.
    pub fn leg(&self, at: Time) -> Leg {
        let next = self.points.partition_point(|p| p.0 <= at);
        match (next.checked_sub(1).map(|i| self.points[i]), self.points.get(next).copied()) {
            (Some((from, start)), Some((until, end))) => Leg { from, until, start, end },
            (Some((from, place)), None) => Leg::resting(from, Time::MAX, place),
            (None, Some((until, place))) => Leg::resting(Time::ZERO, until, place),
            (None, None) => Leg::resting(Time::ZERO, Time::MAX, Position::default()),
        }
    }

    /// From `at` on, wherever one is then: straight to a place, to be reached at `arrival`. What was to come is not.
    pub(super) fn head_for(&mut self, at: Time, place: Position, arrival: Time) {
        let here = self.leg(at).at(at);
        let past = self.points.partition_point(|p| p.0 < at);
        self.points.truncate(past);
        self.points.push((at, here));
        self.points.push((arrival, place));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(trajectory: &Trajectory, time: Time) -> f64 {
        trajectory.leg(time).at(time).x
    }

    fn x(x: f64) -> Position {
        Position::on_ground(x, 0.0)
    }

    #[test]
    fn one_rests_moves_jumps_and_rests() {
        let points = [(100, x(0.0)), (200, x(10.0)), (300, x(10.0)), (300, x(50.0)), (400, x(40.0))];
        let points = points.map(|(at, place)| (Time::ns(at), place));
        let trajectory = Trajectory::new(points.to_vec()).unwrap();
        let places = [0, 100, 150, 200, 250, 299, 300, 350, 400, 9_999].map(|t| at(&trajectory, Time::ns(t)));
        assert_eq!(places, [0.0, 0.0, 5.0, 10.0, 10.0, 10.0, 50.0, 45.0, 40.0, 40.0]);
        assert_eq!(trajectory.leg(Time::ns(400)).until, Time::MAX);
    }

    #[test]
    fn one_who_turns_leaves_from_where_one_is() {
        let mut trajectory = Trajectory::resting(x(0.0));
        trajectory.head_for(Time::ns(100), x(100.0), Time::ns(200));
        trajectory.head_for(Time::ns(150), x(0.0), Time::ns(250));
        assert_eq!(
            [50, 100, 125, 150, 200, 250, 300].map(|t| at(&trajectory, Time::ns(t))),
            [0.0, 0.0, 25.0, 50.0, 25.0, 0.0, 0.0]
        );
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        let message = |points| Trajectory::new(points).unwrap_err().to_string();
        assert_eq!(message(vec![]), "trajectory: no point is not one point or more");
        assert_eq!(
            message(vec![(Time::ns(5), x(0.0)), (Time::ns(4), x(1.0))]),
            "time of point 1 of a trajectory: 4 is not 5 ns or later"
        );
        assert!(message(vec![(Time::ZERO, x(f64::NAN))]).starts_with("point 0 of a trajectory: "));
    }
}
