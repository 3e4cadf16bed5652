//! Progress on stderr: appears after a second, only on a terminal, and leaves nothing behind.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;
use truckee_lab::sweep::{Cell, Progress};

/// Whoever waits less than this needs no progress.
const PATIENCE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(100);

/// A bar with the time that remains.
pub struct Bar(ProgressBar);

impl Bar {
    /// A bar of unknown length for `what`.
    pub fn new(what: &str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        bar.set_message(what.to_owned());
        style(&bar, "{spinner} {msg} {elapsed}");
        let late = bar.clone();
        std::thread::spawn(move || {
            std::thread::sleep(PATIENCE);
            if !late.is_finished() {
                late.set_draw_target(ProgressDrawTarget::stderr());
                late.enable_steady_tick(TICK);
            }
        });
        Self(bar)
    }
}

fn style(bar: &ProgressBar, template: &str) {
    // The templates are ours; a wrong one would leave the default style.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}

impl Progress for Bar {
    fn started(&mut self, total: usize, done: usize) {
        self.0.set_length(total as u64);
        self.0.set_position(done as u64);
        // The remaining time is judged by this command's own runs.
        self.0.reset_eta();
        style(&self.0, "{msg} {wide_bar} {pos}/{len} runs, {eta} left");
    }

    fn finished(&mut self, _cell: Cell) {
        self.0.inc(1);
    }

    fn warned(&mut self, message: &str) {
        self.0.suspend(|| warn(message));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
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
