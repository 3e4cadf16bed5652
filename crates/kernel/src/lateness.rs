//! How late the machine is while a run goes on: a thread of ordinary priority that sleeps a millisecond at a time and
//! sees how late it wakes, and what the system says of stolen time. With what the path emulator knows of its own
//! lateness, that is a run's [`Lateness`].
//!
//! Why a witness, and not the kernel's own account of how long the run's threads waited (`schedstat`): that is a sum,
//! which grows with every packet that wakes a thread, and does not tell one wait of 50 ms from five thousand of 10 µs;
//! it is gone with a thread that has ended, knows nothing of the web servers that a run may start, and not every kernel
//! has it. The witness is a thread as the end hosts' are and waits as they do, whatever they do. A thousand wake-ups a
//! second cost it less than a hundredth of a processor; it sees every wait of more than a millisecond, and takes it for
//! shorter than it was by at most as much.
//!
//! Not for: the rule (see [`truckee_scenario::lateness`]).

use crate::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use truckee_channel::Span;
use truckee_host::punctual::clock;
use truckee_path::Books;
use truckee_scenario::Lateness;
use truckee_scenario::lateness::LATE_S;

/// How long the witness sleeps at a time.
const NAP: Duration = Duration::from_millis(1);
/// Where the system says what its processors did.
const PROCESSORS: &str = "/proc/stat";

/// A witness at work. Dropped, it ends, and what it saw is lost.
#[derive(Debug)]
pub(crate) struct Witness {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Waits>>,
    before: Option<Processors>,
}

/// What a witness saw.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Seen {
    waiting_share: f64,
    longest_wait_s: f64,
    stolen_share: Option<f64>,
}

impl Witness {
    /// Begins to look.
    pub fn start() -> Result<Self, Error> {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let look = move || {
            let mut waits = Waits::default();
            while !flag.load(Ordering::Relaxed) {
                let before = clock();
                std::thread::sleep(NAP);
                waits.add(clock().saturating_sub(before));
            }
            waits
        };
        let thread = std::thread::Builder::new().name("truckee-witness".into()).spawn(look);
        let thread = thread.map_err(|e| Error::system("start the witness of the machine's lateness", e))?;
        Ok(Self { stop, thread: Some(thread), before: Processors::now() })
    }

    /// Ends, and says what it saw.
    pub fn finish(mut self) -> Seen {
        let stolen_share =
            self.before.zip(Processors::now()).and_then(|(before, now)| now.stolen_since(before));
        self.stop.store(true, Ordering::Relaxed);
        // It cannot panic.
        let waits = self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        Seen { waiting_share: waits.share(), longest_wait_s: waits.longest.seconds(), stolen_share }
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Seen {
    /// With what the path saw, and how many records of the senders and receivers were lost.
    pub fn with(self, path: &Books, lost_records: u64) -> Lateness {
        let late = path.late;
        Lateness {
            packets: late.packets,
            late_share: late.late as f64 / late.packets.max(1) as f64,
            latest_s: late.latest.seconds(),
            waiting_share: self.waiting_share,
            longest_wait_s: self.longest_wait_s,
            stolen_share: self.stolen_share,
            lost_records,
            unread_packets: path.ports.iter().map(|port| port.unread).sum(),
            replaces: 0,
        }
    }
}

/// The witness's naps.
#[derive(Debug, Clone, Copy, Default)]
struct Waits {
    /// Time over which it looked.
    all: Span,
    /// Of it, what it waited for a processor, at more than [`LATE_S`] a time.
    waited: Span,
    longest: Span,
}

impl Waits {
    /// A nap took so long.
    fn add(&mut self, took: Span) {
        let wait = took.saturating_sub(NAP.into());
        self.all += took;
        self.longest = self.longest.max(wait);
        if wait.as_f64() > LATE_S * 1e9 {
            self.waited += wait;
        }
    }

    fn share(&self) -> f64 {
        self.waited.as_f64() / self.all.max(Span::ns(1)).as_f64()
    }
}

/// What all processors have done since the system began, in its ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Processors {
    all: u64,
    stolen: u64,
}

impl Processors {
    fn now() -> Option<Self> {
        Self::read(&std::fs::read_to_string(PROCESSORS).ok()?)
    }

    /// The first line: `cpu user nice system idle iowait irq softirq steal guest guest_nice`, of which the last two are in
    /// the first two.
    fn read(text: &str) -> Option<Self> {
        let line = text.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).take(8).collect();
        Some(Self { all: ticks.iter().sum(), stolen: *ticks.get(7)? })
    }

    /// The share stolen since then; `None`: no tick has passed.
    fn stolen_since(self, before: Self) -> Option<f64> {
        let all = self.all.saturating_sub(before.all);
        (all > 0).then(|| self.stolen.saturating_sub(before.stolen) as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_count_from_the_bound_on_and_are_a_share_of_the_time() {
        let mut waits = Waits::default();
        let ms = |ms: f64| Span::truncated(ms * 1e6);
        (0..89).for_each(|_| waits.add(ms(1.0)));
        waits.add(ms(1.0 + 2.0));
        assert_eq!(waits.share(), 0.0, "a wait of 2 ms is none");
        waits.add(ms(1.0 + 8.0));
        assert!((waits.share() - 8.0 / 101.0).abs() < 1e-9 && waits.longest == ms(8.0));
        assert_eq!(Waits::default().share(), 0.0);
    }

    #[test]
    fn stolen_time_is_a_share_of_all_processors_time() {
        let read = |line: &str| Processors::read(&format!("{line}\ncpu0 1 2 3\n"));
        let before = read("cpu  100 0 50 800 10 0 5 35 7 0").unwrap();
        assert_eq!(before, Processors { all: 1000, stolen: 35 });
        let now = read("cpu  150 0 80 900 10 0 5 55 9 0").unwrap();
        assert_eq!(now.stolen_since(before), Some(0.1));
        assert_eq!(before.stolen_since(before), None);
        assert_eq!(read("cpu  1 2 3 4"), None, "an old kernel does not say");
        assert_eq!(read("intr 1"), None);
    }

    #[test]
    fn a_witness_sees_something() {
        let witness = Witness::start().unwrap();
        std::thread::sleep(10 * NAP);
        let seen = witness.finish();
        assert!(seen.longest_wait_s > 0.0 && (0.0..=1.0).contains(&seen.waiting_share), "{seen:?}");
    }
}
