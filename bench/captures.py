"""How fast a capture is read: `truckee read` beside tshark and tcptrace, on the same gigabyte.

The capture is of one TCP connection over the path emulator without a limit, whole packets of 1500 bytes, by tcpdump. It
is read once before anything is measured, so that it is in memory for all. Needs root, `ip`, iperf3 and tcpdump. Not for:
whether the answers agree, which the crate's tests hold.
"""

import json
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import emulator
import namespaces
from figure import Figure
from measure import run
from namespaces import LiveError

# The part's name on the command line, beside those of the workloads.
NAME = "read"

SIZE = 1e9
# MB of the capture that a second of reading must do at least, on one core.
SPEED = 300
# MiB that it may take.
MEMORY = 64
# Longest that the transfer may take, and a reading.
LIMIT = 300.0


def measure(command: list[str], repetitions: int) -> list[Figure]:
    """Speed and memory of each; `command` begins the command truckee."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "capture.pcap"
        try:
            _capture(command, path)
        except (LiveError, OSError, ValueError) as error:
            return [Figure("capture of 1 GB", "–", f"cannot be made: {error}", None)]
        return list(_read(command, path, repetitions))


def _read(command: list[str], path: Path, repetitions: int) -> Iterator[Figure]:
    size = path.stat().st_size
    ours = _cost([*command, "read", str(path), "--format", "json"], repetitions)
    peers = {
        "tshark": ["tshark", "-r", str(path), "-q", "-z", "conv,tcp"],
        "tcptrace": ["tcptrace", "-l", "-r", "-n", str(path)],
    }
    costs = {name: _cost(line, min(repetitions, 2)) for name, line in peers.items()}

    def figure(
        what: str, target: str, unit: str, number: Callable[[Cost], float], good: Callable[[float], bool]
    ) -> Figure:
        told = [f"{name}: {c if isinstance(c, str) else format(number(c), '.0f')}" for name, c in costs.items()]
        if isinstance(ours, str):
            return Figure(what, target, ours, None)
        return Figure(what, target, f"{number(ours):.0f} {unit} ({', '.join(told)})", good(number(ours)))

    # Of the processor's time: others use this machine, and one core is what is promised.
    yield figure(
        f"{size / 1e6:.0f} MB on one core",
        f"at least {SPEED} MB/s",
        "MB/s",
        lambda cost: size / cost.seconds / 1e6,
        lambda speed: speed >= SPEED,
    )
    yield figure("peak memory", f"at most {MEMORY} MiB", "MiB", lambda cost: cost.peak, lambda peak: peak <= MEMORY)


@dataclass(frozen=True)
class Cost:
    """What a reading takes: processor time, s, and memory, MiB."""

    seconds: float
    peak: float


def _cost(line: list[str], repetitions: int) -> Cost | str:
    """The median time and the most memory of several readings, or why there are none."""
    if shutil.which(line[0]) is None:
        return "not installed"
    costs = []
    for _ in range(repetitions):
        finished = run(line, LIMIT)
        if finished.code != 0:
            return f"ended with {finished.code}: {finished.stderr[-200:]}"
        costs.append(finished.cost)
    seconds = statistics.median(cost.user + cost.system for cost in costs)
    return Cost(seconds, max(cost.peak_kib for cost in costs) / 1024)


def _capture(command: list[str], path: Path) -> None:
    """A capture of SIZE bytes, or more."""
    namespaces.need("iperf3", "tcpdump")
    with emulator.path(command, *emulator.FAST, "--delay", "1ms") as (left, right, _), _dumping(left, path):
        server = subprocess.Popen(
            ["ip", "netns", "exec", right, "iperf3", "-s", "-1"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            time.sleep(0.5)
            amount = str(int(SIZE))
            line = ["ip", "netns", "exec", left, "iperf3", "-J", "-c", emulator.THERE, "-n", amount]
            done = subprocess.run(line, capture_output=True, text=True, timeout=LIMIT, check=False)
            sent = json.loads(done.stdout)["end"]["sum_sent"]["bytes"]
        finally:
            server.kill()
            server.wait()
    size = path.stat().st_size
    if size < 0.5 * sent:
        raise LiveError(f"tcpdump kept {size / 1e6:.0f} MB of {sent / 1e6:.0f} MB")
    with path.open("rb") as file:
        while file.read(1 << 24):
            pass


@contextmanager
def _dumping(namespace: str, path: Path) -> Iterator[None]:
    """tcpdump of the TUN device in that namespace."""
    line = [
        "ip",
        "netns",
        "exec",
        namespace,
        "tcpdump",
        "-i",
        "truckee0",
        "-B",
        "262144",
        "-Z",
        "root",
        "-w",
        str(path),
    ]
    try:
        process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    except OSError as error:
        raise LiveError(f"tcpdump: {error}") from error
    try:
        for text in process.stderr or ():
            if "listening" in text:
                break
        else:
            raise LiveError("tcpdump did not begin")
        yield
        time.sleep(1)
    finally:
        with suppress(ProcessLookupError):
            process.send_signal(2)
        process.communicate(timeout=60)
