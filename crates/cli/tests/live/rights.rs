//! What is read and written for a user is read and written with that user's rights, whatever rights the program has besides:
//! as nobody with a file that has capabilities, and as root in folders of nobody's.

use crate::{TRUCKEE, able, left, said};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;
use truckee_kernel::doctor::Capability;
use truckee_testing::{given, root};

const NOBODY: u32 = 65_534;
/// A link with a flow, of a second.
const SCENARIO: &str = r#"
duration = "1s"
[[link]]
between = ["a", "b"]
rate = "1Mbit/s"
delay = "1ms"
[[flow]]
from = "a"
to = "b"
"#;
/// Bits of a capability set, by linux/capability.h: CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, NET_ADMIN, NET_RAW, SYS_ADMIN; and
/// in its second word PERFMON and BPF.
const CAPABILITIES: [u32; 2] = [1 | 1 << 1 | 1 << 2 | 1 << 12 | 1 << 13 | 1 << 21, 1 << 6 | 1 << 7];

/// A folder of root's that others may enter, with a scenario, a file of root's alone, and a folder of nobody's.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        fs::set_permissions(place.folder.path(), Permissions::from_mode(0o755)).unwrap();
        fs::write(place.at("scenario.toml"), SCENARIO).unwrap();
        fs::write(place.at("secret"), "first = root's own words\n").unwrap();
        fs::set_permissions(place.at("secret"), Permissions::from_mode(0o600)).unwrap();
        fs::create_dir(place.at("theirs")).unwrap();
        chown(place.at("theirs"), Some(NOBODY), Some(NOBODY)).unwrap();
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn path(&self, name: &str) -> String {
        self.at(name).display().to_string()
    }

    /// The program, in a file that has the capabilities as `setcap cap_…+ep` gives them; none: skipped.
    fn capable(&self) -> Option<PathBuf> {
        let program = self.at("truckee");
        fs::copy(TRUCKEE, &program).unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        // struct vfs_cap_data, revision 2, of linux/capability.h: in effect from the start.
        let words = [0x0200_0001u32, CAPABILITIES[0], 0, CAPABILITIES[1], 0];
        let value: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let flags = rustix::fs::XattrFlags::empty();
        given(rustix::fs::setxattr(&program, "security.capability", &value, flags))?;
        Some(program)
    }

    /// Has nobody of another user laid a link of that name that leads to the secret.
    fn plant(&self, name: &str) -> PathBuf {
        let link = self.at("theirs").join(name);
        symlink(self.at("secret"), &link).unwrap();
        lchown(&link, Some(NOBODY), Some(NOBODY)).unwrap();
        link
    }

    fn secret(&self) -> String {
        fs::read_to_string(self.at("secret")).unwrap()
    }
}

/// What it says and does as nobody.
fn as_nobody(program: &Path, folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).uid(NOBODY).gid(NOBODY).env_remove("SUDO_UID");
    command.output().unwrap()
}

#[test]
fn with_file_capabilities_nothing_is_read_or_written_that_the_user_could_not() {
    if !root() {
        return;
    }
    let place = Place::new();
    let Some(program) = place.capable() else { return };
    let (secret, scenario) = (place.path("secret"), place.path("scenario.toml"));
    let theirs = place.at("theirs");
    fs::create_dir(place.at("ours")).unwrap();
    let denied: [&[&str]; 14] = [
        &["run", &secret],
        &["read", &secret],
        &["run", &scenario, "--set", &format!("link.0.channel={{ kind = \"trace\", file = \"{secret}\" }}")],
        &["run", &scenario, "--figure", &secret],
        &["run", &scenario, "--pcapng", &secret],
        &["run", &scenario, "--out", &place.path("ours")],
        &["run", &scenario, "--xplot", &place.path("ours/below")],
        &["sweep", &scenario, "--vary", "seed=1,2", "--out", &place.path("ours")],
        &["compare", &scenario, "--engines", "sim,sim", "--figure", &secret],
        &["study", "show", &secret],
        &["probe", "--list", &secret],
        &["probe", "https://127.0.0.1:1/", "--ca", &secret],
        &["probe", "http://127.0.0.1:1/", "--out", &place.path("ours")],
        &["exec", "--ack", "every", "--report", &secret, "--", "true"],
    ];
    for arguments in denied {
        let output = as_nobody(&program, &theirs, arguments);
        let told = said(&output);
        assert!(!output.status.success(), "{arguments:?}: {told}");
        assert!(told.contains("ermission denied"), "{arguments:?}: {told}");
        assert!(!told.contains("own words"), "{arguments:?}: {told}");
    }
    assert_eq!(place.secret(), "first = root's own words\n");
    assert_eq!(fs::read_dir(place.at("ours")).unwrap().count(), 0);
    // What the user may do is done, and is the user's.
    let output = as_nobody(&program, &theirs, &["run", &scenario, "--figure", "a.svg", "--out", "results"]);
    assert!(output.status.success(), "{}", said(&output));
    for name in ["a.svg", "results/result.json", "results/report.html"] {
        assert_eq!(fs::metadata(theirs.join(name)).unwrap().uid(), NOBODY, "{name}");
    }
}

#[test]
fn a_file_that_is_set_user_id_root_is_refused() {
    if !root() {
        return;
    }
    let place = Place::new();
    let program = place.at("truckee");
    fs::copy(TRUCKEE, &program).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o4755)).unwrap();
    let output = as_nobody(&program, &place.at("theirs"), &["run", &place.path("secret")]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("set-user-ID root") && !said(&output).contains("own words"));
}

#[test]
fn a_capability_is_there_for_what_needs_it() {
    if !root() {
        return;
    }
    let place = Place::new();
    let Some(program) = place.capable() else { return };
    // Nobody listens: that much takes a raw socket to find out.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{closed}/");
    let arguments =
        ["probe", &url, "--tests", "A", "--pause", "10ms", "--format", "json", "--out", "campaign"];
    let output = as_nobody(&program, &place.at("theirs"), &arguments);
    let all: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output)));
    assert_eq!(all["servers"][0]["not_judged"]["name"], "refused", "{}", said(&output));
    assert!(place.at("theirs/campaign/servers.parquet").exists(), "{}", said(&output));
}

#[test]
fn a_program_of_nobodys_is_shaped_and_gets_no_capability() {
    if !able(&[Capability::Cgroup, Capability::Shaping]) {
        return;
    }
    let place = Place::new();
    let Some(program) = place.capable() else { return };
    let arguments =
        ["exec", "--quiet", "--ack", "every", "--report", "acks.json", "--", "cat", "/proc/self/status"];
    let output = as_nobody(&program, &place.at("theirs"), &arguments);
    assert!(output.status.success(), "{}", said(&output));
    for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
        assert!(said(&output).contains(&format!("{set}:\t0000000000000000\n")), "{set}: {}", said(&output));
    }
    let report = fs::read_to_string(place.at("theirs/acks.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["status"], &report["broken"]), (&0.into(), &serde_json::Value::Null));
    assert_eq!(left(report["id"].as_str().unwrap()), Vec::<String>::new());
}

#[test]
fn as_root_no_link_of_another_users_is_followed() {
    if !root() {
        return;
    }
    let place = Place::new();
    let scenario = place.path("scenario.toml");
    let run = |arguments: &[&str]| {
        let output = Command::new(TRUCKEE).args(arguments).env_remove("SUDO_UID").output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    };
    let planted: Vec<PathBuf> =
        ["result.tmp", "result.json", "report.html", "flows.parquet", "a.svg", "a.pcapng", "flow-1.xpl"]
            .map(|name| place.plant(name))
            .into();
    let theirs = place.path("theirs");
    run(&["run", &scenario, "--out", &theirs, "--xplot", &theirs]);
    run(&[
        "run",
        &scenario,
        "--figure",
        &format!("{theirs}/a.svg"),
        "--pcapng",
        &format!("{theirs}/a.pcapng"),
    ]);
    run(&["compare", &scenario, "--engines", "sim,sim", "--figure", &format!("{theirs}/a.svg")]);
    run(&["report", &theirs]);
    assert_eq!(place.secret(), "first = root's own words\n");
    for link in &planted[1..] {
        let there = fs::symlink_metadata(link).unwrap();
        assert!(there.is_file() && there.uid() == 0 && there.len() > 100, "{}", link.display());
    }
}

#[test]
fn as_root_no_folder_is_entered_and_no_lock_made_through_another_users_link() {
    if !root() {
        return;
    }
    let place = Place::new();
    let (scenario, theirs) = (place.path("scenario.toml"), place.path("theirs"));
    let sweep = || {
        let arguments = ["sweep", &scenario, "--vary", "seed=1,2", "--out", &theirs];
        Command::new(TRUCKEE).args(arguments).env_remove("SUDO_UID").output().unwrap()
    };
    fs::create_dir(place.at("ours")).unwrap();
    fs::write(place.at("ours/unfinished.tmp"), "root's").unwrap();
    let parts = place.at("theirs/parts");
    symlink(place.at("ours"), &parts).unwrap();
    lchown(&parts, Some(NOBODY), None).unwrap();
    let output = sweep();
    assert!(said(&output).contains("a link that another user has laid"), "{}", said(&output));
    assert_eq!(fs::read_dir(place.at("ours")).unwrap().count(), 1);
    fs::remove_file(&parts).unwrap();
    let lock = place.at("theirs/sweep.lock");
    symlink(place.at("ours/lock"), &lock).unwrap();
    lchown(&lock, Some(NOBODY), None).unwrap();
    assert!(!sweep().status.success());
    assert!(!place.at("ours/lock").exists());
}

#[test]
fn a_campaign_of_roots_is_summed_up_in_its_users_folder() {
    if !root() {
        return;
    }
    let place = Place::new();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (url, campaign) = (format!("http://{closed}/"), place.path("theirs"));
    let arguments = ["probe", &url, "--tests", "A", "--pause", "10ms", "--out", &campaign];
    let output = Command::new(TRUCKEE).args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "no server could be judged: {}", said(&output));
    for name in ["probe.json", "servers.parquet", "tests.parquet"] {
        let there = fs::metadata(place.at("theirs").join(name));
        assert_eq!(there.unwrap_or_else(|_| panic!("{name}: {}", said(&output))).uid(), NOBODY, "{name}");
    }
}
