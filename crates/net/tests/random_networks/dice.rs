//! Draws.

use truckee_channel::random::{Xoshiro256PlusPlus, chance, up_to};
use truckee_tcp::Span;

/// Draws by which everything here is made.
pub struct Dice(pub Xoshiro256PlusPlus);

impl Dice {
    /// Uniform in `[low, high]`.
    pub fn whole(&mut self, low: u64, high: u64) -> u64 {
        low + up_to(&mut self.0, high - low)
    }

    /// Uniform in `[low, high]`.
    pub fn span(&mut self, low: Span, high: Span) -> Span {
        Span::ns(self.whole(low.nanos(), high.nanos()))
    }

    /// Uniform in `[0, most]`.
    pub fn within(&mut self, most: Span) -> Span {
        self.span(Span::ZERO, most)
    }

    /// In `[low, high]`, every order of magnitude alike.
    pub fn spread(&mut self, low: f64, high: f64) -> f64 {
        let share = self.whole(0, 1000) as f64 / 1000.0;
        libm::exp(libm::log(low) + share * (libm::log(high) - libm::log(low)))
    }

    pub fn chance(&mut self, p: f64) -> bool {
        chance(&mut self.0, p)
    }

    pub fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.whole(0, of.len() as u64 - 1) as usize].clone()
    }
}
