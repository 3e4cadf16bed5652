//! Progress on stderr: appears after a second, only on a terminal, and leaves nothing behind.

use crate::engines;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use truckee_lab::realtime::LivePlan;
use truckee_lab::sweep::{Cell, Progress};

/// Whoever waits less than this needs no progress.
const PATIENCE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(100);

/// A bar with the time that remains.
pub struct Bar {
    bar: ProgressBar,
    /// When live runs will be done at the latest.
    end: Arc<Mutex<Option<Instant>>>,
}

impl Bar {
    /// A bar of unknown length for `what`.
    pub fn new(what: &str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        bar.set_message(what.to_owned());
        let end = Arc::default();
        style(&bar, "{spinner} {msg} {elapsed}", &end);
        let late = bar.clone();
        std::thread::spawn(move || {
            std::thread::sleep(PATIENCE);
            if !late.is_finished() {
                late.set_draw_target(ProgressDrawTarget::stderr());
                late.enable_steady_tick(TICK);
            }
        });
        Self { bar, end }
    }

    /// The same for a single live run, which is announced.
    pub fn one_live(what: &str, plan: &LivePlan) -> Self {
        engines::announce(plan);
        let bar = Self::new(what);
        bar.ends_in(Some(plan.at_most));
        style(&bar.bar, "{spinner} {msg}, {left} left", &bar.end);
        bar
    }

    fn ends_in(&self, left: Option<Duration>) {
        if let Ok(mut end) = self.end.lock() {
            *end = left.map(|left| Instant::now() + left);
        }
    }
}

fn style(bar: &ProgressBar, template: &str, end: &Arc<Mutex<Option<Instant>>>) {
    // The templates are ours; a wrong one would leave the default style.
    if let Ok(style) = ProgressStyle::with_template(template) {
        let end = Arc::clone(end);
        let left = move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
            let end = end.lock().ok().and_then(|end| *end);
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            // A bar that cannot be written is not seen.
            let _ = out.write_str(&left.map(engines::long).unwrap_or_default());
        };
        bar.set_style(style.with_key("left", left));
    }
}

impl Progress for Bar {
    fn started(&mut self, total: usize, done: usize) {
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
        // The remaining time is judged by this command's own runs.
        self.bar.reset_eta();
        style(&self.bar, "{msg} {wide_bar} {pos}/{len} runs, {eta} left", &self.end);
    }

    fn live(&mut self, plan: LivePlan) {
        self.bar.suspend(|| engines::announce(&plan));
        self.ends_in(Some(plan.at_most));
        style(&self.bar, "{msg} {wide_bar} {pos}/{len} live runs, {left} left", &self.end);
    }

    fn left(&mut self, at_most: Duration) {
        self.ends_in(Some(at_most));
    }

    fn finished(&mut self, _cell: Cell) {
        self.bar.inc(1);
    }

    fn warned(&mut self, message: &str) {
        self.bar.suspend(|| warn(message));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A message on stderr; whoever has closed it does not want any.
pub fn note(message: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{message}");
}

/// A warning on stderr.
pub fn warn(message: &str) {
    note(&format!("warning: {message}"));
}
