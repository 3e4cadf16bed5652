"""What shaping ACKs costs: `truckee shape` at the receiver's end of a veth, beside the bare veth.

Three questions: how much of the bare throughput is left, how late held ACKs are released on a busy machine and whether all
of them are, and what ten thousand connections take in memory. Needs root, `ip` and iperf3. Not for: what leaves, which
the crate's tests hold against the policies' definitions.
"""

import json
import multiprocessing
import os
import resource
import socket
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import machine
import namespaces
from figure import Figure
from namespaces import LiveError

# The part's name on the command line, beside those of the workloads.
NAME = "shape"

HERE, THERE = "10.77.0.1", "10.77.0.2"
# Of a transfer whose lateness is asked for, s.
SECONDS = 3
# Shaped and bare take turns of so many seconds, after some in which what is in the queues has left; so many turns for
# each repetition; and before the first one the window grows.
TURN, SETTLE, TURNS, BEGINNING = 0.8, 0.2, 3, 2.0
# What is held against the bare veth, and how much of it is to be left. A division by one looks at each ACK and lets it pass.
LINES = (
    ("attached and idle", "division:1", 0.95),
    ("division by 4", "division:4", 0.85),
    ("held, one for 128 segments", "delayed:128", 0.95),
    ("accumulated", "accumulated", 0.95),
    ("accumulated-full", "accumulated-full", 0.95),
)
# Connections that send now and then, so that the timer has to let go of nearly every ACK; and one that sends always.
NOW_AND_THEN = ("-P", "100", "-l", "1400", "-b", "200K", "-t", str(SECONDS))
HELD = "delayed:64:timeout=20ms"
FLOWS, BYTES, PORT = 10_000, 20_000, 8000
# Of the process and of the BPF programs' maps together.
MOST_MIB = 96
TIMER = 1e-3


def measure(command: list[str], repetitions: int) -> list[Figure]:
    """All of them; `command` begins the command truckee."""
    figures: list[Figure] = []
    for part in (_throughput, _lateness, _memory):
        try:
            with machine.watched() as seen:
                found = part(command, repetitions)
            figures += machine.beside(found, seen)
        except (LiveError, OSError, ValueError, KeyError, IndexError, subprocess.SubprocessError) as error:
            figures.append(Figure(part.__name__.strip("_"), "–", f"cannot be measured: {error}", None))
    return figures


@contextmanager
def _wire() -> Iterator[tuple[str, str]]:
    """Two namespaces with a veth between them: where the data goes, and where it comes from. Each is a host whose card has
    one queue."""
    with namespaces.pair() as (receiver, sender):
        namespaces.ip("-n", receiver, "link", "add", "v0", "type", "veth", "peer", "name", "v0", "netns", sender)
        for namespace, address in ((receiver, HERE), (sender, THERE)):
            namespaces.ip("-n", namespace, "addr", "add", f"{address}/24", "dev", "v0")
            namespaces.ip("-n", namespace, "link", "set", "v0", "up")
        for number, namespace in enumerate((receiver, sender)):
            namespaces.receives_on(namespace, "v0", number % (os.cpu_count() or 1))
        yield receiver, sender


class _Shaping:
    """A running `truckee shape`."""

    def __init__(self, process: subprocess.Popen) -> None:
        self._process = process

    def mib(self) -> float:
        """Memory of the process and of its BPF maps, MiB."""
        folder = Path("/proc") / str(self._process.pid)
        status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
        kib = int(status["VmRSS"].split()[0])
        maps: dict[str, int] = {}
        for entry in (folder / "fdinfo").iterdir():
            lines = dict(line.split(":", 1) for line in entry.read_text().splitlines() if ":" in line)
            if "map_id" in lines:
                maps[lines["map_id"]] = int(lines["memlock"])
        return kib / 1024 + sum(maps.values()) / 2**20

    def report(self) -> dict:
        """Ends it; what it counted."""
        self._process.send_signal(2)
        out, err = self._process.communicate(timeout=30)
        if self._process.returncode != 0:
            raise LiveError(err.strip()[-300:])
        return json.loads(out)["counts"]


@contextmanager
def _shaping(command: list[str], namespace: str, policy: str) -> Iterator[_Shaping]:
    line = [*command, "shape", "--ns", namespace, "--dev", "v0", "--ack", policy, "--format", "json"]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        for text in process.stderr or ():
            if text.startswith("shaping"):
                break
        else:
            raise LiveError("truckee shape did not begin")
        yield _Shaping(process)
    finally:
        process.send_signal(2)
        try:
            process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


@contextmanager
def _iperf(receiver: str, sender: str, port: int, *options: str) -> Iterator[subprocess.Popen]:
    """One iperf3 that sends, begun; its report is its output."""
    namespaces.need("iperf3")
    inside = ["ip", "netns", "exec"]
    server = subprocess.Popen(
        [*inside, receiver, "iperf3", "-s", "-1", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        time.sleep(0.3)
        line = [*inside, sender, "iperf3", "-J", "-c", HERE, "-p", str(port), *options]
        client = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
        try:
            yield client
        finally:
            with suppress(ProcessLookupError):
                client.kill()
            client.communicate()
    finally:
        server.kill()
        server.wait()


def _end(client: subprocess.Popen) -> dict:
    out, _ = client.communicate(timeout=60)
    report = json.loads(out)
    if "error" in report:
        raise LiveError(f"iperf3: {report['error']}")
    return report["end"]


@dataclass(frozen=True)
class _Reading:
    """How far a connection has come at a time."""

    time: float
    bytes: int
    cpu: float

    @staticmethod
    def now(receiver: str) -> "_Reading":
        with namespaces.inside(receiver):
            devices = Path("/proc/thread-self/net/dev").read_text().splitlines()
        came = next(int(line.split(":")[1].split()[0]) for line in devices if line.strip().startswith("v0:"))
        # All that the machine did: user, nice, system, and after idling and waiting the interrupts.
        user, nice, system, _, _, irq, softirq = map(int, Path("/proc/stat").read_text().split()[1:8])
        cpu = (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")
        return _Reading(time.monotonic(), came, cpu)


@dataclass(frozen=True)
class _Rate:
    """Of one connection: bit/s that come, and bits for each second of processor time that the machine spent."""

    wall: float
    cpu: float

    @staticmethod
    def of(receiver: str) -> "_Rate":
        time.sleep(SETTLE)
        begin = _Reading.now(receiver)
        time.sleep(TURN)
        end = _Reading.now(receiver)
        bits = 8 * (end.bytes - begin.bytes)
        return _Rate(bits / (end.time - begin.time), bits / max(end.cpu - begin.cpu, 0.01))


def _throughput(command: list[str], repetitions: int) -> list[Figure]:
    figures = []
    with _wire() as (receiver, sender):
        for name, policy, least in LINES:
            bare, shares, again = _turns(command, receiver, sender, policy, TURNS * repetitions)
            share = statistics.median(one.wall for one in shares)
            cpu = statistics.median(one.cpu for one in shares)
            # A window that losses cut is no measure of what shaping costs.
            measured = f"{share:.2f} of {bare / 1e9:.1f} Gbit/s; for each second of processor time {cpu:.2f}; {again:,} sent again"
            figures.append(Figure(name, f"at least {least:.2f} of the bare throughput", measured, share >= least))
    return figures


def _turns(command: list[str], receiver: str, sender: str, policy: str, turns: int) -> tuple[float, list[_Rate], int]:
    """One connection, shaped and bare by turns. The bare rate; each turn's share of the bare ones before and after it: what
    else happens to a machine, and lasts for longer than a second, falls on both; and how many segments were sent again."""
    # Ample, with time for the shaper to begin and to end; what is left of it is cut short.
    seconds = int((2 * turns + 1) * 3 * (SETTLE + TURN)) + 10
    shares, bare = [], []
    with _iperf(receiver, sender, 5201, "-t", str(seconds)) as client:
        time.sleep(BEGINNING)
        again = namespaces.sent_again(sender)
        before = _Rate.of(receiver)
        for _ in range(turns):
            with _shaping(command, receiver, policy):
                shaped = _Rate.of(receiver)
            after = _Rate.of(receiver)
            share = _Rate(2 * shaped.wall / (before.wall + after.wall), 2 * shaped.cpu / (before.cpu + after.cpu))
            shares.append(share)
            bare.append(after.wall)
            before = after
        if client.poll() is not None:
            raise LiveError("iperf3 ended too soon")
        again = namespaces.sent_again(sender) - again
    return statistics.median(bare), shares, again


def _lateness(command: list[str], repetitions: int) -> list[Figure]:
    tails, most, released, again, unheld = [], [], 0, 0, 0
    for _ in range(repetitions):
        with _wire() as (receiver, sender), _shaping(command, receiver, HELD) as shaping:
            with (
                _iperf(receiver, sender, 5201, "-t", str(SECONDS)) as always,
                _iperf(receiver, sender, 5202, *NOW_AND_THEN) as some,
            ):
                again += _end(some)["sum_sent"]["retransmits"]
                _end(always)
            counts = shaping.report()
        tails.append(counts["lateness_s"]["p99"])
        most.append(counts["lateness_s"]["max"])
        released += counts["released"]
        unheld += counts["unheld"]
    tail = statistics.median(tails)
    late = f"{1e3 * tail:.2f} ms, at most {1e3 * max(most):.2f} ms, of {released:,}"
    # An ACK that is never released shows at the sender, whose timer is ten times as long.
    lost = f"{again} retransmissions, {unheld} not held for want of room"
    return [
        Figure("held ACKs under load: late, p99", "at most 1 ms", late, tail <= TIMER),
        Figure("held ACKs under load: never released", "none", lost, again == 0 and unheld == 0),
    ]


def _memory(command: list[str], _: int) -> list[Figure]:
    # An end of each in this process, the other in another: few systems let one have as many files as both.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        with _wire() as (receiver, sender), _shaping(command, receiver, "accumulated-full") as shaping:
            begin = shaping.mib()
            with _serving(sender), _connected(receiver):
                most = shaping.mib()
            counts = shaping.report()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    what = f"{most:.1f} MiB, {most - begin:.1f} more than with none; {counts['flows']:,} seen"
    reached = most <= MOST_MIB and counts["flows"] >= FLOWS
    return [Figure(f"memory with {FLOWS:,} connections", f"at most {MOST_MIB} MiB", what, reached)]


@contextmanager
def _serving(namespace: str) -> Iterator[None]:
    """A process that sends everyone who connects some data, and keeps the connections."""
    with namespaces.inside(namespace):
        listener = socket.create_server((THERE, PORT), backlog=64)
    process = multiprocessing.get_context("fork").Process(target=_serve, args=(listener,), daemon=True)
    process.start()
    listener.close()
    try:
        yield
    finally:
        process.kill()
        process.join()


def _serve(listener: socket.socket) -> None:
    kept, data = [], bytes(BYTES)
    while True:
        there, _ = listener.accept()
        there.sendall(data)
        kept.append(there)


@contextmanager
def _connected(namespace: str) -> Iterator[None]:
    """So many connections, open, each with data that has come."""
    with ExitStack() as kept, namespaces.inside(namespace):
        for _ in range(FLOWS):
            here = kept.enter_context(socket.create_connection((THERE, PORT), timeout=10))
            left = BYTES
            while left > 0:
                got = len(here.recv(left))
                if got == 0:
                    raise LiveError("a connection ended early")
                left -= got
        yield
