//! The wish that something end early, in the hands of whoever may have it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The wish that runs end early. Copies of one are the same wish; another one is another's, and has nothing to do with it.
/// Once it is there it stays.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Nobody wishes it yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Wishes it. Whether it is the first time.
    pub fn cancel(&self) -> bool {
        !self.0.swap(true, Ordering::Relaxed)
    }

    /// What a signal's handler sets to wish it: there nothing else may be done.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// Whether it was wished.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_one_wish_and_another_one_is_not() {
        let (one, other) = (Cancel::new(), Cancel::new());
        let copy = one.clone();
        assert!(!copy.is_cancelled());
        assert!(one.cancel() && !one.cancel(), "the first time is told from the others");
        assert!(copy.is_cancelled() && !other.is_cancelled());
        other.flag().store(true, Ordering::Relaxed);
        assert!(other.is_cancelled());
    }
}
