//! What mends what is missing, in the words of the machine's distribution.

use super::capability::Capability;
use std::fs;

/// A family of distributions, by its package manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Debian,
    Fedora,
    Arch,
    Other,
}

impl Family {
    /// By the text of /etc/os-release.
    fn of(release: &str) -> Self {
        let value = |key: &str| {
            let line = release.lines().find_map(|l| l.strip_prefix(key)?.strip_prefix('='));
            line.unwrap_or_default().trim_matches('"').to_owned()
        };
        let names = format!("{} {}", value("ID"), value("ID_LIKE"));
        let known = names.split_whitespace().find_map(|name| match name {
            "debian" | "ubuntu" => Some(Self::Debian),
            "fedora" | "rhel" | "centos" => Some(Self::Fedora),
            "arch" => Some(Self::Arch),
            _ => None,
        });
        known.unwrap_or(Self::Other)
    }

    fn here() -> Self {
        Self::of(&fs::read_to_string("/etc/os-release").unwrap_or_default())
    }

    /// How to install what building the live leg takes.
    fn build_tools(self) -> &'static str {
        match self {
            Self::Debian => "apt-get install clang libelf-dev zlib1g-dev make pkg-config",
            Self::Fedora => "dnf install clang elfutils-libelf-devel zlib-devel make pkgconf",
            Self::Arch => "pacman -S clang libelf zlib make pkgconf",
            Self::Other => "install clang, and libelf and zlib with their headers",
        }
    }

    /// How to install the programs of a web page.
    fn web(self) -> &'static str {
        match self {
            Self::Debian => "apt-get install nginx-light curl",
            Self::Fedora => "dnf install nginx-core curl",
            Self::Arch => "pacman -S nginx curl",
            Self::Other => "install nginx and curl",
        }
    }

    /// How to install the kernel modules that a small installation leaves out.
    fn modules(self) -> &'static str {
        match self {
            Self::Debian => "apt-get install linux-modules-extra-$(uname -r) (Ubuntu), then ",
            Self::Fedora => "dnf install kernel-modules-extra, then ",
            Self::Arch | Self::Other => "",
        }
    }

    /// How to install a kernel that has all that is wanted.
    fn kernel(self) -> &'static str {
        match self {
            Self::Debian => {
                "apt-get install linux-image-amd64 (Debian) or linux-generic (Ubuntu), and reboot"
            }
            Self::Fedora => "dnf upgrade kernel, and reboot",
            Self::Arch => "pacman -S linux, and reboot",
            Self::Other => "run a distribution's own kernel",
        }
    }
}

/// What mends it here.
pub(super) fn of(what: Capability) -> String {
    on(Family::here(), what)
}

fn on(family: Family, what: Capability) -> String {
    let kernel = |option: &str| format!("a kernel with {option}: {}", family.kernel());
    match what {
        Capability::Linux => "run it on Linux".into(),
        Capability::Built => format!("{}, then build truckee again", family.build_tools()),
        Capability::Clang => family.build_tools().into(),
        Capability::Privileges => "run it as root: sudo truckee …; in a container: --privileged".into(),
        Capability::Namespaces => kernel("CONFIG_NET_NS"),
        Capability::Tun => "modprobe tun; in a container: --device /dev/net/tun".into(),
        Capability::Btf => kernel("CONFIG_DEBUG_INFO_BTF"),
        Capability::StructOps => kernel("CONFIG_BPF_JIT and CONFIG_DEBUG_INFO_BTF"),
        Capability::StructOpsLink => format!("Linux 6.4 or newer: {}", family.kernel()),
        Capability::Controls => kernel("CONFIG_INET"),
        Capability::Tracing => kernel("CONFIG_BPF_EVENTS"),
        Capability::Tc => format!("{}modprobe sch_ingress cls_bpf", family.modules()),
        Capability::Shaping => format!("Linux 6.6 or newer with CONFIG_NET_XGRESS: {}", family.kernel()),
        Capability::Cgroup => {
            "mkdir -p /sys/fs/cgroup/unified && mount -t cgroup2 none /sys/fs/cgroup/unified".into()
        }
        Capability::Pins => "mount -t bpf bpf /sys/fs/bpf".into(),
        Capability::RealTime => "run it as root, or allow rtprio in /etc/security/limits.conf".into(),
        Capability::Lockdown => "boot without lockdown=confidentiality".into(),
        Capability::Netem => format!("{}modprobe sch_netem", family.modules()),
        Capability::Fq => format!("{}modprobe sch_fq", family.modules()),
        Capability::WebPage => family.web().into(),
        Capability::Leftovers => "truckee clean".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_are_known_by_themselves_or_by_what_they_are_like() {
        let like = "NAME=\"Linux Mint\"\nID=linuxmint\nID_LIKE=\"ubuntu debian\"\n";
        for (release, family) in [
            ("ID=debian\n", Family::Debian),
            (like, Family::Debian),
            ("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", Family::Fedora),
            ("ID=manjaro\nID_LIKE=arch\n", Family::Arch),
            ("ID=nixos\n", Family::Other),
            ("", Family::Other),
        ] {
            assert_eq!(Family::of(release), family, "{release}");
        }
    }

    #[test]
    fn everything_has_something_that_mends_it_everywhere() {
        for family in [Family::Debian, Family::Fedora, Family::Arch, Family::Other] {
            for &what in Capability::ALL {
                assert!(!on(family, what).is_empty(), "{what:?}");
            }
        }
        assert!(on(Family::Fedora, Capability::Clang).starts_with("dnf install clang"));
    }
}
