"""The foreign stacks: what each is built of, which device it wants, how it is started.

What is expected of each, and why, is not here but in expected.toml.
"""

import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import linux

HERE = Path(__file__).resolve().parent
BUILT = Path(os.environ.get("CARGO_TARGET_DIR") or HERE.parents[1] / "target").resolve() / "stacks"

# The device behind which the stack is.
DEVICE = "stack0"

Say = Callable[[str], None]


class Missing(Exception):
    """Something that the stack needs is not there, or does not build."""


class Unfit(Exception):
    """This machine cannot run the stack, whatever is installed."""


@dataclass(frozen=True)
class Command:
    """What runs a stack: the words, the descriptors it inherits, what it finds in its environment."""

    words: list[str]
    fds: list[int] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)


class Kind:
    """A stack. The first congestion control is the one it takes when nothing is said."""

    name: str
    controls: tuple[str, ...]
    ipv6 = True

    def prepare(self, say: Say) -> None:
        """Builds what it runs, outside the namespace; quick when that is done."""

    def addresses(self) -> list[str]:
        """Where it is reached, as in a URL."""
        return [linux.STACK, f"[{linux.STACK6}]"] if self.ipv6 and linux.has_ipv6() else [linux.STACK]

    def device(self) -> AbstractContextManager[linux.Device]:
        """Its device, inside the namespace."""
        return linux.device(DEVICE)

    def command(self, namespace: str, device: linux.Device, control: str, size: int) -> Command:
        """What runs it."""
        raise NotImplementedError

    def started(self, device: linux.Device) -> None:
        """What remains to be done in the namespace once it runs."""


class Smoltcp(Kind):
    """smoltcp, a TCP in Rust for machines without an operating system."""

    name = "smoltcp"
    controls = ("reno", "cubic", "none")

    def prepare(self, say: Say) -> None:
        say("building smoltcp's server")
        manifest = HERE / "smoltcp" / "Cargo.toml"
        _build("cargo", "build", "--quiet", "--release", "--locked", "--manifest-path", manifest, "--target-dir", BUILT)

    def command(self, namespace: str, device: linux.Device, control: str, size: int) -> Command:
        os.set_blocking(device.fd, False)  # smoltcp reads until there is no more
        words = [str(BUILT / "release" / "smoltcp-server"), str(device.fd), control, str(size)]
        return Command(words, [device.fd])


class Lwip(Kind):
    """lwIP, a TCP in C for small devices, as Debian builds it."""

    name = "lwip"
    controls = ("abc",)

    def prepare(self, say: Say) -> None:
        if not Path("/usr/include/lwip/lwip/init.h").exists():
            raise Missing("lwIP is not here: apt-get install liblwip-dev")
        say("building lwIP's server")
        BUILT.mkdir(parents=True, exist_ok=True)
        sources: list[str | Path] = ["-I/usr/include/lwip", HERE / "lwip" / "server.c", "-llwip", "-lpthread"]
        _build("cc", "-O2", "-Wall", "-Wextra", "-o", BUILT / "lwip-server", *sources)

    def command(self, namespace: str, device: linux.Device, control: str, size: int) -> Command:
        return Command([str(BUILT / "lwip-server"), str(device.fd), str(size)], [device.fd])


# Where Go's own installation instructions put it, which not every shell has on its path.
INSTALLED_GO = "/usr/local/go/bin/go"


class Gvisor(Kind):
    """The network stack of gVisor, a TCP in Go."""

    name = "gvisor"
    controls = ("reno", "cubic")

    def prepare(self, say: Say) -> None:
        go = shutil.which("go") or shutil.which(INSTALLED_GO)
        if not go:
            raise Missing("there is no go, which builds gVisor's stack: install Go 1.26.3 or newer")
        say("building gVisor's server")
        BUILT.mkdir(parents=True, exist_ok=True)
        _build(go, "build", "-mod=readonly", "-o", BUILT / "gvisor-server", ".", folder=HERE / "gvisor")

    def command(self, namespace: str, device: linux.Device, control: str, size: int) -> Command:
        return Command([str(BUILT / "gvisor-server"), str(device.fd), control, str(size)], [device.fd])


class Uml(Kind):
    """User-mode Linux: a whole kernel as a program, of another version than the machine's, as Debian builds it."""

    name = "uml"
    # Those that are modules are loaded by init.sh.
    controls = ("cubic", "reno", "westwood", "vegas", "veno", "highspeed", "htcp", "hybla", "illinois", "bbr")

    def prepare(self, say: Say) -> None:
        fits(Path("/proc/cpuinfo").read_text())
        _want("linux.uml", "user-mode-linux")
        _want("insmod", "kmod")
        _want("nginx", "nginx-light")

    def device(self) -> AbstractContextManager[linux.Device]:
        return nullcontext(linux.Device(DEVICE, -1))  # a TAP, which linux.uml makes

    def command(self, namespace: str, device: linux.Device, control: str, size: int) -> Command:
        words = ["linux.uml", "mem=128M", "rootfstype=hostfs", "ro", f"init={HERE / 'uml' / 'init.sh'}"]
        words += ["con=null", "con0=null,fd:1", "quiet", f"vec0:transport=tap,ifname={device.name},depth=128"]
        words += [f"stack_control={control}", f"stack_size={size}"]
        return Command(words)

    def started(self, device: linux.Device) -> None:
        linux.appears(device.name)
        linux.address(device.name)


class Slirp(Kind):
    """libslirp, the TCP of 4.4BSD inside QEMU and rootless containers, as slirp4netns runs it."""

    name = "slirp"
    controls = ("reno",)
    ipv6 = False  # slirp4netns lets no IPv6 in to its own loopback

    def prepare(self, say: Say) -> None:
        _want("slirp4netns", "slirp4netns")
        _want("nginx", "nginx-light")

    def device(self) -> AbstractContextManager[linux.Device]:
        return nullcontext(linux.Device(DEVICE, -1))  # a TAP, which slirp4netns makes

    def command(self, namespace: str, device: linux.Device, control: str, size: int) -> Command:
        start = str(HERE / "slirp" / "start.sh")
        return Command(["unshare", "--net", "--mount", "--", start, namespace, device.name, str(size)])

    def started(self, device: linux.Device) -> None:
        linux.appears(device.name)
        linux.address(device.name)
        # libslirp asks for every address as if it were on the wire.
        linux.answer_arp_for_all(device.name)


KINDS: dict[str, Kind] = {kind.name: kind for kind in (Smoltcp(), Lwip(), Gvisor(), Uml(), Slirp())}


def fits(processor: str) -> None:
    """Refuses user-mode Linux on a processor, as /proc/cpuinfo describes it, that has AMX: with it there is more extended state than
    Linux 6.1 has room for, and its first process dies of what cannot be written back (ptrace: EFAULT)."""
    if "amx_tile" in processor.split():
        raise Unfit("user-mode Linux 6.1 does not run on a processor with AMX: it cannot restore that much state")


def _want(program: str, package: str) -> None:
    if not shutil.which(program):
        raise Missing(f"there is no {program}: apt-get install {package}")


def _build(*words: str | Path, folder: Path = HERE) -> None:
    done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Missing(f"{' '.join(map(str, words))} failed:\n{done.stderr.strip()}")
