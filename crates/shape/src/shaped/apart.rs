//! Work on a thread of its own, in a network namespace, so that this one can give up its rights at once. Not for: the work.

use super::signals::Signals;
use crate::Error;
use truckee_host::netns::Netns;
use truckee_host::rights::{self, Kept};

/// Runs `work` in the namespace of that name, or in ours, and waits for it. Signals are blocked in both threads, and left to
/// it.
pub(super) fn apart<T: Send>(
    namespace: Option<&str>,
    work: impl FnOnce(&Signals) -> Result<T, Error> + Send,
) -> Result<T, Error> {
    let namespace = namespace.map(Netns::open).transpose()?;
    let signals = Signals::block()?;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, || {
            namespace.map_or(Ok(()), |namespace| namespace.join())?;
            work(&signals)
        });
        let thread = thread.map_err(|e| Error::system("start a thread", e))?;
        // The worker tells if it cannot be done.
        let _ = rights::shed(None, Kept::Nothing);
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
