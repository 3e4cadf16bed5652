//! What is built without the live leg compiles nothing of what that needs: the simulator alone, as a wheel and a page in a
//! browser have it.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::process::Command;

/// What only the live leg needs, by the beginnings of names.
const HEAVY: [&str; 8] =
    ["bytemuck", "libbpf", "tokio", "rustls", "rtnetlink", "netlink", "landlock", "ring"];

/// The names of all that is compiled for a package of the workspace, build scripts' included.
fn compiled(package: &str, features: &[&str]) -> Vec<String> {
    let tree = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--locked",
            "--offline",
            "--prefix",
            "none",
            "--edges",
            "normal,build",
            "--package",
            package,
        ])
        .args(features)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(tree.status.success(), "{package}: {}", String::from_utf8_lossy(&tree.stderr));
    let text = String::from_utf8(tree.stdout).unwrap();
    text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

fn heavy(names: &[String]) -> Vec<&String> {
    names.iter().filter(|name| HEAVY.iter().any(|heavy| name.starts_with(heavy))).collect()
}

#[test]
fn a_build_without_the_live_leg_compiles_nothing_of_what_it_needs() {
    let without = ["--no-default-features"];
    for (package, features) in [
        ("truckee-cli", &without[..]),
        ("truckee-kernel", &without),
        ("truckee-engines", &without),
        ("truckee-look", &without),
        ("truckee-lab", &[]),
        ("truckee-scenario", &[]),
        ("truckee-net", &[]),
        ("truckee-tcp", &[]),
        ("truckee-channel", &[]),
        ("truckee-capture", &[]),
    ] {
        let names = compiled(package, features);
        assert!(names.iter().any(|name| name == package), "{names:?}");
        let found = heavy(&names);
        assert!(
            found.is_empty(),
            "{package} {features:?} compiles {found:?} (cargo tree -p {package} says by whom)"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn and_one_with_it_does() {
    let names = compiled("truckee-cli", &[]);
    for wanted in ["libbpf-rs", "tokio", "rustls", "rtnetlink", "landlock"] {
        assert!(names.iter().any(|name| name == wanted), "{wanted}: is it spelt as it was?");
    }
}
