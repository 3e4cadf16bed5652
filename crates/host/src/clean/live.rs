#![cfg(live)]

use super::*;
use crate::doctor::Capability;
use crate::doctor::trial::kept_control;
use crate::identity;
use crate::netns::Netns;
use crate::session::Session;
use crate::testing::{able, tun};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

fn program(name: &str, arguments: &[&str]) {
    let status = Command::new(name).args(arguments).status().unwrap();
    assert!(status.success(), "{name} {arguments:?}");
}

/// Runs this very binary with the test below as a run of its own, and waits until that has made all it makes: the
/// process, its digits, and the process that it left in its control group.
fn victim() -> (Child, String, String) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["clean::live::a_run_that_waits_to_be_killed", "--exact", "--ignored", "--nocapture"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let line = lines.filter_map(|l| Some(l.split_once("made ")?.1.to_owned())).next().unwrap();
    let (id, process) = line.split_once(' ').unwrap();
    (child, id.to_owned(), process.to_owned())
}

#[test]
#[ignore = "it is what the tests below run and kill"]
fn a_run_that_waits_to_be_killed() {
    let session = Session::begin().unwrap();
    let [_first, second] = ["a", "b"].map(|node| Netns::create(&session.namespace(node)).unwrap());
    let _tun = second.enter(|| tun("tk0")).unwrap().unwrap();
    kept_control(&session.control(0));
    program("ip", &["tuntap", "add", &session.control(1), "mode", "tun"]);
    let group = cgroup_mount().unwrap().join(session.cgroup());
    fs::create_dir_all(group.join("below")).unwrap();
    let mut sleeper = Command::new("sleep").arg("600").spawn().unwrap();
    fs::write(group.join("below/cgroup.procs"), sleeper.id().to_string()).unwrap();
    fs::write(identity::path(&format!("{}.notes", session.id())), "notes").unwrap();
    println!("made {} {}", session.id(), sleeper.id());
    std::io::stdout().flush().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(60));
    // Nobody has killed it.
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
}

fn of(swept: &Swept, kind: Kind) -> Vec<&str> {
    swept.found.iter().filter(|item| item.kind == kind).map(|item| item.name.as_str()).collect()
}

#[test]
fn a_lock_that_a_child_of_a_dead_run_still_holds_is_waited_for() {
    if !able(&[Capability::StructOps]) {
        return;
    }
    let _alone = truckee_testing::alone("clean");
    let mut dead = Command::new("true").spawn().unwrap();
    dead.wait().unwrap();
    let id = Session::begin().unwrap().id().to_owned(); // free again
    let path = identity::path(&id);
    fs::write(&path, format!("{} truckee run\n", dead.id())).unwrap();
    // What was forked and has not become a program yet, and holds what it has inherited.
    let mut child = Command::new("flock").arg(&path).arg("cat").stdin(Stdio::piped()).spawn().unwrap();
    truckee_testing::until("the lock", || identity::lock(fs::File::open(&path).unwrap(), &id).is_none());
    let sweeping = std::thread::spawn({
        let id = id.clone();
        move || sweep::one(id, false).unwrap().unwrap()
    });
    drop(child.stdin.take());
    child.wait().unwrap();
    assert!(!sweeping.join().unwrap().alive);
    assert!(!path.exists());
}

#[test]
fn what_a_killed_run_leaves_is_removed_and_nothing_else() {
    if !able(&[Capability::StructOps, Capability::Cgroup]) {
        return;
    }
    let _alone = truckee_testing::alone("clean");
    let (mut child, id, sleeper) = victim();
    // A user's own, one of them with a name that a run could have given; and a run that lives.
    let user = [format!("truckee-{id}"), format!("truckee-user{}-x", std::process::id())];
    for name in &user {
        program("ip", &["netns", "add", name]);
    }
    let living = Session::begin().unwrap();
    let kept = Netns::create(&living.namespace("kept")).unwrap();

    let alive = sweep::one(id.clone(), false).unwrap().unwrap();
    assert!(alive.alive && alive.command.starts_with(&child.id().to_string()), "{alive:?}");
    assert_eq!(of(&alive.swept, Kind::Namespace).len(), 2, "listed, and not touched");
    assert!(Path::new("/proc").join(&sleeper).exists());

    child.kill().unwrap();
    child.wait().unwrap();
    let listed = clean(true).unwrap().into_iter().find(|run| run.id == id).unwrap();
    assert!(!listed.alive && identity::path(&id).exists(), "a rehearsal removes nothing");

    let swept = sweep::one(id.clone(), false).unwrap().unwrap().swept;
    assert!(swept.failed.is_empty(), "{:?}", swept.failed);
    assert_eq!(swept.found, listed.swept.found, "the rehearsal told the truth");
    assert_eq!(of(&swept, Kind::Namespace), [format!("truckee-{id}-a"), format!("truckee-{id}-b")]);
    assert_eq!(of(&swept, Kind::CongestionControl), [format!("tk{id}_0")]);
    assert_eq!(of(&swept, Kind::Interface), [format!("tk{id}_1")]);
    assert_eq!(of(&swept, Kind::Cgroup).len(), 1);
    assert_eq!(of(&swept, Kind::File).len(), 2, "the notes, and what lists the run");

    assert!(!identity::path(&id).exists() && sweep::one(id.clone(), false).unwrap().is_none());
    assert!(registered_with(|name| name.contains(&id)).is_empty());
    assert!(sweep::sweep(&id, true).unwrap().found.is_empty(), "nothing is left");
    // Killed, and not yet waited for by whoever inherited it, at most.
    let state = fs::read_to_string(format!("/proc/{sleeper}/stat")).unwrap_or_default();
    assert!(state.is_empty() || state.contains(") Z "), "{state}");
    for name in user.iter().map(String::as_str).chain([kept.name()]) {
        assert!(Netns::open(name).is_ok(), "{name}");
    }
    for name in &user {
        program("ip", &["netns", "delete", name]);
    }
}

#[test]
fn a_session_that_ends_sweeps_up_after_itself() {
    if !able(&[Capability::StructOps, Capability::Cgroup]) {
        return;
    }
    let session = Session::begin().unwrap();
    let name = session.namespace("forgotten");
    std::mem::forget(Netns::create(&name).unwrap());
    kept_control(&session.control(0));
    let id = session.id().to_owned();
    drop(session);
    assert!(Netns::open(&name).is_err());
    assert!(sweep::sweep(&id, true).unwrap().found.is_empty());
}

#[test]
fn a_namespace_without_a_run_is_a_users() {
    if !able(&[Capability::Namespaces]) {
        return;
    }
    let name = format!("truckee-{:04x}-x", std::process::id() as u16);
    program("ip", &["netns", "add", &name]);
    let listed = clean(true).unwrap();
    assert!(
        listed.iter().all(|run| of(&run.swept, Kind::Namespace).iter().all(|n| *n != name)),
        "{listed:?}"
    );
    // And no run will ever take its digits.
    assert!((0..200).all(|_| !Session::begin().unwrap().namespace("x").eq(&name)));
    program("ip", &["netns", "delete", &name]);
}
