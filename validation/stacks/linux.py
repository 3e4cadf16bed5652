"""What a foreign stack is given by Linux: the namespace, a TUN device, forwarding, an end with its parent.

Knows no stack. The devices are not persistent: each is there for as long as its descriptor is.
"""

import ctypes
import fcntl
import os
import signal
import socket
import struct
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

# Private ones (RFC 1918, RFC 4193), beside those of `truckee path`: the probe takes others for strangers'.
HOST, STACK, BITS = "10.78.0.1", "10.78.0.2", 24
HOST6, STACK6, BITS6 = "fd78::1", "fd78::2", 64
MTU = 1500

_LIBC = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNET, _CLONE_NEWNS = 0x40000000, 0x00020000
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_TUNSETIFF = 0x400454CA
_IFF_TUN, _IFF_NO_PI = 0x0001, 0x1000
_FORWARD = (Path("/proc/sys/net/ipv4/ip_forward"), Path("/proc/sys/net/ipv6/conf/all/forwarding"))


class Refused(Exception):
    """Linux has refused something: what, and why."""


@dataclass(frozen=True)
class Device:
    """A device of the namespace, and the descriptor that the stack reads and writes (-1: the stack made the device)."""

    name: str
    fd: int


def path_of(namespace: str) -> Path:
    """Where ip netns keeps it."""
    return Path("/run/netns") / namespace


def enter(namespace: str) -> None:
    """Moves this process into the namespace."""
    with path_of(namespace).open() as file:
        if _LIBC.setns(file.fileno(), _CLONE_NEWNET) != 0:
            raise Refused(f"cannot enter the network namespace {namespace}: {os.strerror(ctypes.get_errno())}")


def die_with_parent(number: signal.Signals) -> None:
    """Has this process get the signal as soon as its parent is gone."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)


def private_namespaces() -> None:
    """Gives this process and its children a /run/netns of their own: what is named there ends with them, however they end."""
    if _LIBC.unshare(_CLONE_NEWNS) != 0:
        raise Refused(f"cannot make a mount namespace: {os.strerror(ctypes.get_errno())}")
    path_of("").mkdir(parents=True, exist_ok=True)
    run("mount", "--make-rprivate", "/")
    run("mount", "-t", "tmpfs", "tmpfs", str(path_of("")))


def adopt() -> None:
    """Has what the children of this process leave behind become children of this process, for bury_all."""
    _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def bury_all() -> None:
    """Waits until every child of this process, adopted ones too, has ended."""
    with suppress(ChildProcessError):
        while True:
            os.wait()


@contextmanager
def forwarding() -> Iterator[None]:
    """Forwarding in the namespace, and afterwards what was there before."""
    before = {setting: setting.read_text() for setting in _FORWARD if setting.exists()}
    for setting in before:
        setting.write_text("1")
    try:
        yield
    finally:
        for setting, value in before.items():
            setting.write_text(value)


@contextmanager
def device(name: str, addressed: bool = True) -> Iterator[Device]:
    """A TUN device, with the host's address. Packets carry no extra header, and no offload is on."""
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
    try:
        try:
            fcntl.ioctl(fd, _TUNSETIFF, struct.pack("16sH22x", name.encode(), _IFF_TUN | _IFF_NO_PI))
        except OSError as error:
            raise Refused(f"cannot make the TUN device {name}: {error}") from error
        if addressed:
            address(name)
        else:
            raise_up(name)
        yield Device(name, fd)
    finally:
        os.close(fd)


def address(name: str) -> None:
    """Gives the device the host's addresses, and brings it up."""
    run("ip", "address", "add", f"{HOST}/{BITS}", "dev", name)
    if has_ipv6():
        run("ip", "address", "add", f"{HOST6}/{BITS6}", "dev", name, "nodad")
    raise_up(name)


def has_ipv6() -> bool:
    """Whether this machine's kernel speaks IPv6."""
    return Path("/proc/sys/net/ipv6").exists()


def raise_up(name: str) -> None:
    """Brings the device up."""
    run("ip", "link", "set", name, "mtu", str(MTU), "txqueuelen", "10000", "up")


def is_free(name: str) -> None:
    """Refuses a namespace that has the device already."""
    if any(name == known for _, known in socket.if_nameindex()):
        raise Refused(f"there is a device {name} already: this namespace has a stack")


def appears(name: str) -> None:
    """Waits for a device that another program makes."""
    # A kernel that boots on a busy machine takes its time.
    until(lambda: any(name == known for _, known in socket.if_nameindex()), f"a device {name}", 60.0)


def until(come: Callable[[], bool], what: str, patience_s: float = 10.0) -> None:
    """Waits for something to come."""
    end = time.monotonic() + patience_s
    while not come():
        if time.monotonic() > end:
            raise Refused(f"{what} has not come within {patience_s:g} s")
        time.sleep(0.02)


def answer_arp_for_all(name: str) -> None:
    """Has the device answer ARP for every address that the namespace has a route to, at once."""
    Path(f"/proc/sys/net/ipv4/conf/{name}/proxy_arp").write_text("1")
    Path(f"/proc/sys/net/ipv4/neigh/{name}/proxy_delay").write_text("0")


def run(*words: str) -> str:
    """A command that has to succeed, and what it has written."""
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Refused(f"{' '.join(words)}: {done.stderr.strip() or f'exit code {done.returncode}'}")
    return done.stdout


def answers(url: str, size: int, patience_s: float, alive: Callable[[], bool]) -> bool:
    """Whether the URL is answered with a body of that size before the patience or the server ends."""
    end = time.monotonic() + patience_s
    while alive() and time.monotonic() < end:
        try:
            with urllib.request.urlopen(url, timeout=5) as response:
                return len(response.read()) == size
        except OSError:
            time.sleep(0.1)
    return False
