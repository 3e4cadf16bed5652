//! Progress on stderr: appears after a second, only on a terminal, and leaves nothing behind.

use crate::human;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::io::IsTerminal as _;
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
        let bar = Self::hidden(what);
        if !std::io::stderr().is_terminal() {
            return bar;
        }
        let late = bar.bar.clone();
        std::thread::spawn(move || {
            std::thread::sleep(PATIENCE);
            if !late.is_finished() {
                late.set_draw_target(ProgressDrawTarget::stderr());
                late.enable_steady_tick(TICK);
            }
        });
        bar
    }

    fn hidden(what: &str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        bar.set_message(what.to_owned());
        let end = Arc::default();
        style(&bar, "{spinner} {msg} {elapsed}", &end);
        Self { bar, end }
    }

    /// The same for a single live run, which is announced.
    pub fn one_live(what: &str, plan: &LivePlan) -> Self {
        announce(plan);
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
            let _ = out.write_str(&left.map(long).unwrap_or_default());
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
        self.bar.suspend(|| announce(&plan));
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

/// Says on stderr what live runs are about to take: whoever waits that long should know before.
pub fn announce(plan: &LivePlan) {
    let &LivePlan { ref engine, runs, at_once, at_most } = plan;
    let side_by_side = match (runs, at_once) {
        (1, _) => String::new(),
        (_, 1) => ", one at a time".to_owned(),
        (_, n) => format!(", {n} at once"),
    };
    note(&format!("{engine}: {}{side_by_side}: {} at most", human::many(runs, "live run"), long(at_most)));
}

/// A time as people say it: `45 s`, `12 min`, `2 h 5 min`.
pub fn long(time: Duration) -> String {
    let seconds = time.as_secs_f64().ceil() as u64;
    let minutes = seconds.div_ceil(60);
    match (seconds, minutes) {
        (0..=119, _) => format!("{seconds} s"),
        (_, 0..=119) => format!("{minutes} min"),
        _ if minutes.is_multiple_of(60) => format!("{} h", minutes / 60),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::TermLike;
    use std::io;

    /// A terminal that remembers all that was ever written to it.
    #[derive(Debug, Clone, Default)]
    struct Terminal(Arc<Mutex<String>>);

    impl TermLike for Terminal {
        fn width(&self) -> u16 {
            100
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What is seen after another tick.
    fn seen(bar: &Bar, terminal: &Terminal) -> String {
        terminal.0.lock().unwrap().clear();
        bar.bar.force_draw();
        terminal.0.lock().unwrap().clone()
    }

    #[test]
    fn live_runs_show_the_real_time_left() {
        let terminal = Terminal::default();
        let mut bar = Bar::hidden("study");
        bar.bar.set_draw_target(ProgressDrawTarget::term_like(Box::new(terminal.clone())));
        bar.started(4, 1);
        assert!(!seen(&bar, &terminal).contains("live"));
        bar.live(LivePlan {
            engine: "kernel".into(),
            runs: 3,
            at_once: 1,
            at_most: Duration::from_secs(3 * 3600),
        });
        let text = seen(&bar, &terminal);
        assert!(text.contains("1/4 live runs, 3 h left"), "{text}");
        bar.finished(Cell { point: 0, seed: 1 });
        bar.left(Duration::from_secs(60));
        let text = seen(&bar, &terminal);
        assert!(text.contains("2/4 live runs, 60 s left"), "{text}");
        bar.started(4, 2);
        assert!(!seen(&bar, &terminal).contains("live"), "the next runs are simulated");
    }

    #[test]
    fn times_are_in_words() {
        let cases = [
            (0.0, "0 s"),
            (44.2, "45 s"),
            (119.0, "119 s"),
            (121.0, "3 min"),
            (7200.0, "2 h"),
            (7500.0, "2 h 5 min"),
        ];
        for (seconds, words) in cases {
            assert_eq!(long(Duration::from_secs_f64(seconds)), words);
        }
    }
}
