"""How the machine was while something live was measured: how long its processors kept somebody waiting, what of them was
taken for other machines, and how late it wakes a program of real-time priority that does nothing else (cyclictest).

A figure of a live part says little without it. Not for: what is measured.
"""

import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from figure import Figure

PRESSURE, PROCESSORS = Path("/proc/pressure/cpu"), Path("/proc/stat")
# What cyclictest is given: its naps, µs, how long it is asked, s, and the longest wait that it tells apart, µs.
NAP, SECONDS, LONGEST = 3000, 3, 20_000


@dataclass
class Seen:
    """The machine between two moments. Shares of the time; None: the system does not say."""

    waited: float | None = None
    stolen: float | None = None

    def __str__(self) -> str:
        def share(value: float | None) -> str:
            return "?" if value is None else f"{100 * value:.1f} %"

        return f"waiting for a processor {share(self.waited)}, stolen {share(self.stolen)}"


@dataclass(frozen=True)
class _Moment:
    time: float
    # Time for which anybody waited for a processor, s.
    waited: float | None
    ticks: int
    stolen: int

    @staticmethod
    def now() -> "_Moment":
        try:
            some = PRESSURE.read_text().splitlines()[0]
            waited = int(some.split("total=")[1]) / 1e6
        except (OSError, IndexError, ValueError):
            waited = None
        ticks = [int(word) for word in PROCESSORS.read_text().splitlines()[0].split()[1:9]]
        return _Moment(time.monotonic(), waited, sum(ticks), ticks[7])


@contextmanager
def watched() -> Iterator[Seen]:
    """What is yielded says, when this has ended, how the machine was meanwhile."""
    seen, before = Seen(), _Moment.now()
    try:
        yield seen
    finally:
        after = _Moment.now()
        if before.waited is not None and after.waited is not None:
            seen.waited = (after.waited - before.waited) / max(after.time - before.time, 1e-9)
        if after.ticks > before.ticks:
            seen.stolen = (after.stolen - before.stolen) / (after.ticks - before.ticks)


def beside(figures: list[Figure], seen: Seen) -> list[Figure]:
    """The same, each with how the machine was."""
    return [replace(figure, measured=f"{figure.measured} ({seen})") for figure in figures]


def lateness() -> float | None:
    """How late the machine wakes a program of real-time priority, 99th percentile, s; None: there is no cyclictest."""
    if shutil.which("cyclictest") is None:
        return None
    line = ["cyclictest", "-q", "-m", "-t1", "-p1", "-i", str(NAP), "-D", str(SECONDS), "-h", str(LONGEST)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=10 * SECONDS, check=False)
    return tail(done.stdout)


def tail(text: str) -> float | None:
    """The 99th percentile of cyclictest's histogram, s; None: it has none."""
    counts = [(int(late), int(count)) for late, count in re.findall(r"^(\d+) (\d+)$", text, re.MULTILINE)]
    # What took longer than it tells apart.
    beyond = re.search(r"^# Histogram Overflows: (\d+)", text, re.MULTILINE)
    left = 0.99 * (sum(count for _, count in counts) + (int(beyond[1]) if beyond else 0))
    for late, count in counts:
        left -= count
        if left <= 0 < count:
            return late / 1e6
    return LONGEST / 1e6 if counts else None
