"""Network namespaces for a measurement, and sockets in them: needs root and `ip`. What is made is removed again.

Not for: what is measured.
"""

import ctypes
import os
import shutil
import socket
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNET = 0x40000000
_SO_TIMESTAMPNS, _SO_RCVBUFFORCE, _UDP_SEGMENT = 35, 33, 103


class LiveError(Exception):
    """Something live could not be done on this machine."""


def need(*programs: str) -> None:
    """Says which of these programs are not there."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        names = " and ".join(missing)
        raise LiveError(
            f"{names} not found: `make bench` installs what it needs, or apt-get install {' '.join(missing)}"
        )


@contextmanager
def pair() -> Iterator[tuple[str, str]]:
    """Two namespaces of names of their own."""
    names = [f"tkbench-{os.getpid()}-{side}" for side in ("a", "b")]
    made: list[str] = []
    try:
        for name in names:
            ip("netns", "add", name)
            made.append(name)
        yield names[0], names[1]
    finally:
        for name in made:
            ip("netns", "del", name)


def ip(*arguments: str) -> None:
    """Runs ip."""
    _do("ip", *arguments)


def tc(*arguments: str) -> None:
    """Runs tc."""
    _do("tc", *arguments)


def receives_on(namespace: str, device: str, cpu: int) -> None:
    """What comes in at a device is worked on by this processor alone (RPS), as what a network card's one queue brings.
    Otherwise a veth's packets are worked on wherever they were sent from, which may be two processors at once: they
    overtake each other."""
    mask = Path("/sys/class/net") / device / "queues/rx-0/rps_cpus"
    _do("ip", "netns", "exec", namespace, "sh", "-c", f"echo {1 << cpu:x} > {mask}")


def sent_again(namespace: str) -> int:
    """TCP segments that this namespace has sent again."""
    with inside(namespace):
        lines = Path("/proc/thread-self/net/snmp").read_text().splitlines()
    names, values = (line.split() for line in lines if line.startswith("Tcp:"))
    return int(values[names.index("RetransSegs")])


def _do(*command: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise LiveError(f"{command[0]}: {error}") from error
    if done.returncode != 0:
        raise LiveError(f"{' '.join(command)}: {done.stderr.strip()}")


@contextmanager
def inside(name: str) -> Iterator[None]:
    """What this thread does meanwhile, it does in this namespace."""
    here = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    there = os.open(Path("/run/netns") / name, os.O_RDONLY)
    try:
        _enter(there)
        yield
    finally:
        _enter(here)
        os.close(there)
        os.close(here)


def _enter(namespace: int) -> None:
    if _LIBC.setns(namespace, _CLONE_NEWNET) != 0:
        raise LiveError(f"setns: {os.strerror(ctypes.get_errno())}")


def sender(name: str, segment: int = 0) -> socket.socket:
    """A datagram socket in a namespace; with `segment`, the kernel cuts what is sent into datagrams of so many bytes."""
    with inside(name):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    if segment:
        sock.setsockopt(socket.IPPROTO_UDP, _UDP_SEGMENT, segment)
    return sock


def receiver(name: str, port: int) -> socket.socket:
    """One that is bound, with the kernel's time on what it gets and room for all of it; it waits half a second."""
    with inside(name):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    sock.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 64 << 20)
    sock.bind(("0.0.0.0", port))
    sock.settimeout(0.5)
    return sock


def receive(sock: socket.socket) -> tuple[bytes, float] | None:
    """The next datagram and when the kernel got it, s of the wall clock; None: none came for half a second."""
    try:
        data, extra, _, _ = sock.recvmsg(2048, 64)
    except TimeoutError:
        return None
    seconds, nanoseconds = struct.unpack("qq", extra[0][2][:16])
    return data, seconds + nanoseconds / 1e9
