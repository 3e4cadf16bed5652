//! What the tests of all crates share: how one that cannot run on this machine says so, and how long one waits for what
//! has to come.
//!
//! A test that cannot run returns after [`skip`], which names it: on stderr, and in the file that `TRUCKEE_SKIPPED` names,
//! a line each, which the gate counts and shows. Where `CI` is set everything is there, and a skip is a failure.
//!
//! Not for: finding out what the machine can do, which is the doctor's (`truckee_host::doctor`); this crate depends on
//! nothing, so that every crate's own tests can use it.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

mod native;

pub use native::native;

use std::fmt::Display;
use std::fs::File;
use std::io::Write;
use std::time::{Duration, Instant};

/// How long something that has to come is waited for, before a test takes it that it never will. Not a bound on how long
/// anything may take: on a machine that stands still now and then all takes as long as it takes.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Says that the test which calls it cannot run here, and why; the test returns then.
///
/// # Panics
/// Where `CI` is set: there, nothing may be missing.
pub fn skip(why: impl Display) {
    let line = format!("{}: {}", name(), why.to_string().replace('\n', " "));
    assert!(std::env::var_os("CI").is_none(), "in CI no test may be skipped: {line}");
    eprintln!("skipped: {line}");
    if let Some(path) = std::env::var_os("TRUCKEE_SKIPPED") {
        let mut file = File::options().create(true).append(true).open(path).unwrap();
        // At once, so that lines of several processes do not mix.
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
    }
}

/// Whether something is there; skips the test if not.
pub fn given<T, E: Display>(there: Result<T, E>) -> Option<T> {
    there.inspect_err(|why| skip(why)).ok()
}

/// Whether this process is root's; skips the test if not.
pub fn root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("Uid:")?.split_whitespace().nth(1));
    let is = effective == Some("0");
    if !is {
        skip("it needs root");
    }
    is
}

/// Has the machine for itself, as far as other tests ask for it by the same name, for as long as what it returns lives: for what is of the
/// whole machine, such as sweeping up after dead runs. Tests of other processes wait.
///
/// # Panics
/// Where there is no folder for temporary files.
#[must_use]
pub fn alone(with: &str) -> File {
    let path = std::env::temp_dir().join(format!("truckee-tests-{with}.lock"));
    // One of another user's can be locked, but not written to.
    let file = File::open(&path).or_else(|_| File::create(&path)).unwrap();
    file.lock().unwrap();
    file
}

/// Waits until something has come.
///
/// # Panics
/// When it has not come within [`PATIENCE`].
pub fn until(what: &str, mut come: impl FnMut() -> bool) {
    wait_for(what, || come().then_some(()));
}

/// Waits for something to come.
///
/// # Panics
/// When it has not come within [`PATIENCE`].
pub fn wait_for<T>(what: &str, mut come: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(come) = come() {
            return come;
        }
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The test's name, as its runner has it.
fn name() -> String {
    let variable = |name: &str| std::env::var(name).ok();
    if let (Some(binary), Some(test)) = (variable("NEXTEST_BINARY_ID"), variable("NEXTEST_TEST_NAME")) {
        return format!("{binary} {test}");
    }
    let program = std::env::current_exe().unwrap_or_default();
    let program = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // The digits behind the last dash are the build's.
    let binary = program.rsplit_once('-').map_or(program.as_str(), |(name, _)| name);
    // A runner that runs one test alone runs it on its main thread, and has its name from its arguments.
    let thread = std::thread::current().name().unwrap_or_default().to_owned();
    let test = if thread == "main" { std::env::args().nth(1).unwrap_or_default() } else { thread };
    format!("{binary} {test}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_named_by_its_binary_and_its_path() {
        assert!(name().ends_with(" tests::a_test_is_named_by_its_binary_and_its_path"), "{}", name());
        assert!(name().starts_with("truckee"), "{}", name());
    }

    #[test]
    fn whoever_is_alone_is_waited_for() {
        let path = std::env::temp_dir().join("truckee-tests-alone.lock");
        let alone = alone("alone");
        assert!(File::open(&path).unwrap().try_lock().is_err());
        drop(alone);
        assert!(File::open(&path).unwrap().try_lock().is_ok());
    }

    #[test]
    fn what_comes_is_waited_for() {
        let mut left = 3;
        let come = wait_for("three looks", || {
            left -= 1;
            (left == 0).then_some("here")
        });
        assert_eq!(come, "here");
    }
}
