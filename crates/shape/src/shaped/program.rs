//! A program whose ACKs are shaped, from its start to its end. Not for: the parts of that.

use super::apart::apart;
use super::asked::{Ended, Program, Watch};
use super::attend::{Shaping, is_stop};
use super::child::{self, Start};
use super::signals::Signals;
use crate::Error;
use crate::{Devices, Scope};
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use std::process::Child;
use truckee_host::cgroup;
use truckee_host::rights::{self, Kept};
use truckee_host::session::Session;
use truckee_host::user::User;

/// See [`super::exec`].
pub(super) fn run(program: Program<'_>, watch: &mut dyn Watch) -> Result<Ended, Error> {
    let invoking = User::invoking()?;
    let user = program.user.map_or_else(|| Ok(invoking.clone()), User::named)?;
    apart(program.namespace, |signals| begin(program, &invoking, &user, signals, watch))
}

fn begin(
    program: Program<'_>,
    invoking: &User,
    user: &User,
    signals: &Signals,
    watch: &mut dyn Watch,
) -> Result<Ended, Error> {
    let Program { command, wanted, .. } = program;
    let session = Session::begin()?;
    let group = cgroup::of_a_program(&session)?;
    let scope = Scope::Cgroup(group.clone());
    let mut shaping = Shaping::begin(session, invoking, wanted, scope, Devices::All)?;
    let mut child = child::spawn(&Start { command, user, group: &group, mask: signals.before() })?;
    if let Err(error) = rights::shed(Some(&group), Kept::Sweep) {
        watch.warned(&format!("more rights are kept than needed: {error}"));
    }
    watch.begun(shaping.id());
    let status = wait(&mut child, &mut shaping, signals, watch);
    Ok(Ended { status, report: shaping.end() })
}

/// Until it ends.
fn wait(child: &mut Child, shaping: &mut Shaping, signals: &Signals, watch: &mut dyn Watch) -> u8 {
    let process = Pid::from_raw(child.id() as i32);
    loop {
        match child.try_wait() {
            Ok(None) => {}
            Ok(Some(ended)) => return child::status(ended),
            Err(error) => {
                watch.warned(&format!("nobody knows how the program ended: {error}"));
                return u8::MAX;
            }
        }
        shaping.wait(signals, None, watch);
        while let Some(came) = signals.next() {
            if came.signal == Signal::SIGCHLD {
                continue;
            }
            came.pass_on(process);
            if is_stop(came.signal) {
                shaping.stop_here(watch);
            }
        }
    }
}
