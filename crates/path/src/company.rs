//! Who else forwards in this process.
//!
//! An emulator that looks at the clock until the moment comes holds a processor with real-time priority. By itself that costs
//! nobody anything; where there are more emulators than processors, it keeps the others from what they are due to send, and
//! the end hosts of all from what they are to answer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

/// The emulators that forward at this moment, and how many of them have a processor each.
#[derive(Debug, Clone)]
pub(super) struct Company {
    here: Arc<AtomicUsize>,
    room: usize,
}

/// One of them, until it is dropped.
#[derive(Debug)]
pub(super) struct Member(Company);

impl Company {
    /// Nobody, with so many processors.
    pub fn new(room: usize) -> Self {
        Self { here: Arc::default(), room }
    }

    /// That of this process.
    pub fn of_process() -> Self {
        static HERE: LazyLock<Company> =
            LazyLock::new(|| Company::new(std::thread::available_parallelism().map_or(1, usize::from)));
        HERE.clone()
    }

    /// One more forwards.
    pub fn join(&self) -> Member {
        self.here.fetch_add(1, Ordering::Relaxed);
        Member(self.clone())
    }
}

impl Member {
    /// Whether there are more of them than processors.
    pub fn is_crowded(&self) -> bool {
        self.0.here.load(Ordering::Relaxed) > self.0.room
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.0.here.fetch_sub(1, Ordering::Relaxed);
    }
}
