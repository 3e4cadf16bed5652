//! Random waypoint (D. Johnson, D. Maltz, 1996): to a place drawn at random in a rectangle, at a speed drawn at random, a
//! pause, and on to the next.
//!
//! It starts in its stationary state (W. Navidi, T. Camp, "Stationary distributions for the random waypoint mobility
//! model", IEEE Trans. Mobile Computing 3 (1), 2004): a run of any length is typical from its first moment on, where one
//! that starts at rest, spread evenly, slows down and gathers in the middle for minutes.

use super::leg::Leg;
use crate::error::between;
use crate::{ConfigError, Position, Span, Time};
use truckee_channel::random::{Xoshiro256PlusPlus, chance, uniform, up_to};

/// The model's parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomWaypoint {
    /// Metres to the east of the origin that the rectangle ends at.
    pub width: f64,
    /// Metres to the north of the origin that the rectangle ends at.
    pub height: f64,
    /// Metres a second, evenly between the two. The slowest is above zero: without that the model has no stationary
    /// state, and all stations come to a halt in the end (J. Yoon, M. Liu, B. Noble, INFOCOM 2003).
    pub speeds: (f64, f64),
    /// At each place.
    pub pause: Span,
    /// Of the antenna, in metres.
    pub antenna: f64,
}

impl RandomWaypoint {
    /// A station that moves so, from time 0 on.
    pub fn start(&self, rng: Xoshiro256PlusPlus) -> Result<Waypoints, ConfigError> {
        between("width in m", self.width, 1e-3, 1e7)?;
        between("height in m", self.height, 1e-3, 1e7)?;
        between("slowest speed in m/s", self.speeds.0, 1e-3, 1e5)?;
        between("fastest speed in m/s", self.speeds.1, self.speeds.0, 1e5)?;
        between("antenna's height in m", self.antenna, -1e5, 1e5)?;
        let mut all = Waypoints {
            model: *self,
            leg: Leg::resting(Time::ZERO, Time::ZERO, Position::default()),
            pausing: false,
            rng,
        };
        all.settle();
        Ok(all)
    }

    /// Mean distance of two points of the rectangle (B. Ghosh 1951; Navidi and Camp, section 4).
    fn mean_distance(&self) -> f64 {
        let (a, b) = (self.width, self.height);
        let d = libm::sqrt(a * a + b * b);
        let long = |a: f64, b: f64| b * b / a * libm::log((a + d) / b);
        let cubes = a * a * a / (b * b) + b * b * b / (a * a) + d * (3.0 - a * a / (b * b) - b * b / (a * a));
        cubes / 15.0 + (long(a, b) + long(b, a)) / 6.0
    }

    /// Mean of one over the speed.
    fn mean_slowness(&self) -> f64 {
        let (slow, fast) = self.speeds;
        if fast - slow < 1e-9 * slow { 1.0 / slow } else { libm::log(fast / slow) / (fast - slow) }
    }
}

/// A station that moves by random waypoints.
#[derive(Debug, Clone)]
pub struct Waypoints {
    model: RandomWaypoint,
    leg: Leg,
    /// The leg is a pause.
    pausing: bool,
    rng: Xoshiro256PlusPlus,
}

impl Waypoints {
    /// The leg that one is on at a time. Times do not fall from call to call.
    pub fn leg(&mut self, at: Time) -> Leg {
        while at >= self.leg.until && self.leg.until < Time::MAX {
            self.next();
        }
        self.leg
    }

    fn place(&mut self) -> Position {
        let RandomWaypoint { width, height, antenna, .. } = self.model;
        Position { x: width * uniform(&mut self.rng), y: height * uniform(&mut self.rng), z: antenna }
    }

    /// When one arrives who leaves then.
    fn arrival(from: Time, start: &Position, end: &Position, speed: f64) -> Time {
        // A leg takes time, however short it is.
        from.saturating_add(Span::truncated((start.distance(end) / speed * 1e9).max(1.0)))
    }

    fn next(&mut self) {
        let (from, start) = (self.leg.until, self.leg.end);
        self.pausing = !self.pausing && !self.model.pause.is_zero();
        if self.pausing {
            self.leg = Leg::resting(from, from.saturating_add(self.model.pause), start);
            return;
        }
        let end = self.place();
        let (slow, fast) = self.model.speeds;
        let speed = slow + (fast - slow) * uniform(&mut self.rng);
        self.leg = Leg { from, until: Self::arrival(from, &start, &end, speed), start, end };
    }

    /// The stationary state at time 0.
    fn settle(&mut self) {
        let travel = self.model.mean_distance() * self.model.mean_slowness();
        let pause = self.model.pause.seconds();
        self.pausing = chance(&mut self.rng, pause / (pause + travel));
        if self.pausing {
            // What is left of a constant pause that one comes upon is evenly distributed (section 5).
            let left = Span::ns(1 + up_to(&mut self.rng, self.model.pause.nanos() - 1));
            let place = self.place();
            self.leg = Leg::resting(Time::ZERO, Time::at(left), place);
            return;
        }
        // Ways that are long take long: a way is come upon in proportion to its length (section 3).
        let RandomWaypoint { width, height, speeds: (slow, fast), .. } = self.model;
        let longest = libm::sqrt(width * width + height * height);
        let (start, end) = loop {
            let (start, end) = (self.place(), self.place());
            if chance(&mut self.rng, start.distance(&end) / longest) {
                break (start, end);
            }
        };
        // And in proportion to its slowness: the density of the speed goes by 1/v.
        let speed = slow * libm::pow(fast / slow, uniform(&mut self.rng));
        let way = Leg { from: Time::ZERO, until: Time::ns(1 << 32), start, end };
        let here = way.at(Time::ns(up_to(&mut self.rng, (1 << 32) - 1)));
        self.leg =
            Leg { from: Time::ZERO, until: Self::arrival(Time::ZERO, &here, &end, speed), start: here, end };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> RandomWaypoint {
        RandomWaypoint {
            width: 1_000.0,
            height: 600.0,
            speeds: (1.0, 19.0),
            pause: Span::s(30),
            antenna: 1.5,
        }
    }

    /// Mean speed, share at rest, and mean distance from the middle, of 4,000 stations at a time.
    fn state(model: RandomWaypoint, at: Time) -> [f64; 3] {
        const N: u32 = 4_000;
        let mut sums = [0.0; 3];
        for i in 0..N {
            let rng = truckee_channel::stream(1, &format!("waypoints {i}"));
            let leg = model.start(rng).unwrap().leg(at);
            let moves = leg.start != leg.end;
            let speed = leg.start.distance(&leg.end) / (leg.until - leg.from).seconds();
            let middle = Position { x: model.width / 2.0, y: model.height / 2.0, z: model.antenna };
            let all = [speed, f64::from(u8::from(!moves)), leg.at(at).distance(&middle)];
            sums.iter_mut().zip(all).for_each(|(sum, x)| *sum += x / f64::from(N));
        }
        sums
    }

    #[test]
    fn the_mean_distance_is_that_of_two_points_drawn() {
        // Of a unit square 0.5214054.
        let square = RandomWaypoint { width: 1.0, height: 1.0, ..model() };
        assert!((square.mean_distance() - 0.521_405_4).abs() < 1e-6, "{}", square.mean_distance());
        let mut rng = truckee_channel::stream(1, "points");
        let mut point = || Position::on_ground(1_000.0 * uniform(&mut rng), 600.0 * uniform(&mut rng));
        let mean = (0..100_000).map(|_| point().distance(&point())).sum::<f64>() / 1e5;
        assert!((model().mean_distance() / mean - 1.0).abs() < 0.006);
    }

    #[test]
    fn the_first_moment_is_as_any_later_one() {
        let (start, later) = (state(model(), Time::ZERO), state(model(), Time::s(2_000)));
        for (i, (a, b)) in start.iter().zip(later).enumerate() {
            // Standard errors are below 2 % of each of the three.
            assert!((a / b - 1.0).abs() < 0.08, "{i}: {a} {b}");
        }
        // In closed form: the share at rest, and the mean speed of those who move, 18/ln 19.
        let travel = model().mean_distance() * libm::log(19.0) / 18.0;
        let rest = 30.0 / (30.0 + travel);
        assert!((start[1] - rest).abs() < 4.0 * (rest * (1.0 - rest) / 4_000.0).sqrt());
        let speed = (1.0 - rest) * 18.0 / libm::log(19.0);
        assert!((start[0] / speed - 1.0).abs() < 0.08, "{} {speed}", start[0]);
    }

    #[test]
    fn legs_follow_each_other_without_a_gap() {
        let mut one = model().start(truckee_channel::stream(1, "one")).unwrap();
        let mut leg = one.leg(Time::ZERO);
        for _ in 0..200 {
            let next = one.leg(leg.until);
            assert_eq!((next.from, next.start), (leg.until, leg.end));
            assert!((0.0..=1_000.0).contains(&next.end.x) && (0.0..=600.0).contains(&next.end.y));
            let metres = next.start.distance(&next.end);
            let speed = metres / (next.until - next.from).seconds();
            assert!(
                metres == 0.0 && next.until - next.from == Span::s(30) || (0.999..19.01).contains(&speed)
            );
            leg = next;
        }
    }

    #[test]
    fn who_never_pauses_never_rests() {
        let without = RandomWaypoint { pause: Span::ZERO, speeds: (5.0, 5.0), ..model() };
        let [speed, rest, _] = state(without, Time::s(500));
        assert!(rest == 0.0 && (speed - 5.0).abs() < 0.01, "{speed} {rest}");
    }

    #[test]
    fn speeds_without_a_stationary_state_are_refused() {
        let still = RandomWaypoint { speeds: (0.0, 20.0), ..model() };
        let error = still.start(truckee_channel::stream(1, "one")).unwrap_err();
        assert_eq!(error.to_string(), "slowest speed in m/s: 0 is not between 0.001 and 100000");
    }
}
