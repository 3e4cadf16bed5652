//! Work that takes its time: it goes on in a thread of its own without the interpreter's lock, while the thread that asked
//! for it hears of Ctrl-C, and tells of progress.

use pyo3::prelude::*;
use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;
use truckee_lab::realtime::LivePlan;
use truckee_lab::{Cancel, Cell, Progress};

/// So often it is looked whether anybody has pressed Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(50);

/// What Ctrl-C asks for.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// The first time: that nothing more be begun.
    pub stop: Cancel,
    /// The second time: that what is under way end, too.
    pub abort: Cancel,
}

impl Wishes {
    /// Of something that is a whole: it ends the first time.
    pub fn at_once() -> Self {
        let stop = Cancel::new();
        Self { abort: stop.clone(), stop }
    }

    fn next(&self) {
        if !self.stop.cancel() {
            self.abort.cancel();
        }
    }
}

/// What the work says meanwhile.
enum Said {
    Started(usize, usize),
    Finished(usize),
    Live(LivePlan),
    Warned(String),
}

/// Through whom the work says it.
pub struct Teller(Sender<Said>);

impl Teller {
    fn tell(&self, said: Said) {
        // Nobody listens any more if the one who asked has been interrupted.
        let _ = self.0.send(said);
    }
}

impl Progress for Teller {
    fn started(&mut self, total: usize, done: usize) {
        self.tell(Said::Started(total, done));
    }
    fn live(&mut self, plan: LivePlan) {
        self.tell(Said::Live(plan));
    }
    fn finished(&mut self, _: Cell) {
        self.tell(Said::Finished(1));
    }
    fn warned(&mut self, message: &str) {
        self.tell(Said::Warned(message.to_owned()));
    }
}

/// Does `work` and hands back what comes of it. `progress`, if there is one, is told: it has the methods `started(total,
/// done)`, `finished(cells)`, `live(engine, runs, at_once, at_most_s)` and
/// `warned(message)`. Where it or a signal's handler raises, `wishes` come true
/// one by one, and once the work has ended that exception goes on.
pub fn attended<T: Send>(
    py: Python<'_>,
    wishes: &Wishes,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&mut Teller) -> T + Send,
) -> PyResult<T> {
    let (tell, hear) = mpsc::channel();
    let hear = Mutex::new(hear);
    thread::scope(|scope| {
        let worker = scope.spawn(move || work(&mut Teller(tell)));
        let mut raised = None;
        while let Some(said) = py.detach(|| heard(&hear)) {
            let told = said.into_iter().try_for_each(|said| pass_on(progress, said));
            if let Err(error) = told.and_then(|()| py.check_signals()) {
                wishes.next();
                raised.get_or_insert(error);
            }
        }
        let done = py.detach(|| worker.join()).unwrap_or_else(|panic| resume_unwind(panic));
        raised.map_or(Ok(done), Err)
    })
}

/// What has been said since, cells taken together; `None` when there is no more to come.
fn heard(hear: &Mutex<Receiver<Said>>) -> Option<Vec<Said>> {
    let hear = hear.lock().ok()?;
    let mut all: Vec<Said> = match hear.recv_timeout(PATIENCE) {
        Ok(said) => vec![said],
        Err(RecvTimeoutError::Timeout) => Vec::new(),
        Err(RecvTimeoutError::Disconnected) => return None,
    };
    for said in hear.try_iter() {
        match (all.last_mut(), said) {
            (Some(Said::Finished(cells)), Said::Finished(more)) => *cells += more,
            (_, said) => all.push(said),
        }
    }
    Some(all)
}

fn pass_on(progress: Option<&Bound<'_, PyAny>>, said: Said) -> PyResult<()> {
    let Some(progress) = progress else { return Ok(()) };
    match said {
        Said::Started(total, done) => progress.call_method1("started", (total, done)),
        Said::Finished(cells) => progress.call_method1("finished", (cells,)),
        Said::Live(plan) => {
            let LivePlan { engine, runs, at_once, at_most } = plan;
            progress.call_method1("live", (engine, runs, at_once, at_most.as_secs_f64()))
        }
        Said::Warned(message) => progress.call_method1("warned", (message,)),
    }
    .map(drop)
}
