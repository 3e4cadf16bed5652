//! One part of a movement.

use crate::{Position, Span, Time};

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
        let share = time.saturating_sub(self.from) / (self.until - self.from);
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
        let takes = metres / length * (self.until - self.from).as_f64();
        time.saturating_add(Span::truncated(takes.max(1.0))).min(self.until)
    }
}
