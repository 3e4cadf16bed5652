"""What a segment costs in instructions and cache misses: Truckee alone, counted by valgrind's callgrind.

A count hangs neither on the machine nor on what else runs there, so that two per cent show. The caches are simulated, of
fixed sizes. Each workload is run for two durations: the difference is what the event loop costs by itself, the longer run
what the whole process does. Not for: time, which follows instructions and misses only roughly.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import measure
import simulators
from simulators import Unavailable
from workloads import Workload

# The part's name on the command line, beside those of the workloads.
NAME = "counted"

# The stack of today's Linux, against the RFCs', in a window that path and queue hold: nothing is lost, so that it is counted
# what a segment costs and not a repair.
PROFILE, UNLOST = "linux", "W1-unlost"
_UNLOST_ON, _UNLOST_SETTING = "W1", 'flow.rwnd="150segments"'

# Simulated seconds, short because valgrind is fifty times slower; from the shorter to the longer all flows are there.
SECONDS: dict[str, tuple[float, float]] = {
    "W1": (100, 300),
    "W2": (100, 300),
    "W3": (20, 40),
    "W4": (2, 5),
    "W6": (2, 5),
    "W6x10": (3, 3.5),
    "flows-1000": (2, 4),
    "flows-30000": (3, 3.5),
    UNLOST: (20, 60),
}
# What paces or listens, against the sender of the workloads.
BASE, OTHERS, SENDERS_ON = "newreno", ("cubic", "bbr", "vegas"), "W1"

# Size in bytes, ways, bytes of a line: the same wherever this is run. The last level is small on purpose: what does not
# fit there waits for memory, or for a cache that others use, too.
CACHES = ("--I1=32768,8,64", "--D1=32768,8,64", "--LL=524288,16,64")
_VALGRIND = ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--cache-sim=yes", *CACHES)

# A run may take minutes, however short it is simulated.
_LIMIT = 3600.0


@dataclass(frozen=True)
class Count:
    """One process: its instructions, its misses of the last level (of instructions, reads and writes), the segments
    that it delivered and those that it sent."""

    instructions: float
    misses: float
    delivered: float
    sent: float

    def __sub__(self, other: "Count") -> "Count":
        return Count(
            self.instructions - other.instructions,
            self.misses - other.misses,
            self.delivered - other.delivered,
            self.sent - other.sent,
        )


@dataclass(frozen=True)
class Row:
    """A workload with a sender, over two durations."""

    workload: str
    sender: str
    seconds: tuple[float, float]
    shorter: Count
    longer: Count

    @property
    def loop(self) -> Count:
        """What the longer run does beyond the shorter: neither the process's start nor the building of hosts."""
        return self.longer - self.shorter

    def as_json(self) -> dict:
        """Everything, for a file."""
        whole, loop = self.longer, self.loop
        return {
            "workload": self.workload,
            "sender": self.sender,
            "simulated_s": list(self.seconds),
            "instructions_per_segment": whole.instructions / whole.delivered,
            "loop_instructions_per_segment": loop.instructions / loop.delivered,
            "misses_per_segment": whole.misses / whole.delivered,
            "loop_misses_per_segment": loop.misses / loop.delivered,
            "instructions_per_segment_sent": whole.instructions / whole.sent,
            "loop_instructions_per_segment_sent": loop.instructions / loop.sent,
            "runs": [vars(self.shorter), vars(self.longer)],
        }


def kinds() -> list[tuple[str, str]]:
    """Every workload and sender that is counted; the profile stands for a sender."""
    others = [(SENDERS_ON, sender) for sender in OTHERS]
    return [(name, BASE) for name in SECONDS] + [*others, (UNLOST, PROFILE)]


def lasting(known: dict[str, Workload], name: str, seconds: float) -> Workload:
    """The workload of this name, over so long a simulated time."""
    if name != UNLOST:
        return known[name].lasting(seconds)
    workload = known[_UNLOST_ON].lasting(seconds)
    return replace(workload, name=f"{name}-{seconds:g}s", overrides=(*workload.overrides, _UNLOST_SETTING))


def find(rows: Iterable[Row], workload: str, sender: str = BASE) -> Row | None:
    """The row, if that was counted."""
    return next((row for row in rows if (row.workload, row.sender) == (workload, sender)), None)


def sender_ratio(rows: list[Row], workload: str, sender: str) -> float | None:
    """Instructions of the loop per segment sent, over those of the base; None where either was not counted."""
    base, row = find(rows, workload), find(rows, workload, sender)
    if base is None or row is None:
        return None
    return (row.loop.instructions / row.loop.sent) / (base.loop.instructions / base.loop.sent)


def growth(rows: list[Row], alone: str, together: str) -> float | None:
    """Instructions of the loop per segment delivered to many flows, over those to one; None where either was not counted."""
    one, many = find(rows, alone), find(rows, together)
    if one is None or many is None:
        return None
    return (many.loop.instructions / many.loop.delivered) / (one.loop.instructions / one.loop.delivered)


def count(binary: Path | None, known: dict[str, Workload], say: Callable[[str], None]) -> list[Row]:
    """Every row that can be counted; `say` hears of what cannot. As many runs at a time as there are processors: a count
    does not mind. Raises Unavailable where there is nothing to count with or nothing to count."""
    if shutil.which(_VALGRIND[0]) is None:
        raise Unavailable(f"there is no command {_VALGRIND[0]}")
    simulators.program(binary)  # built before the runs, which would all build it
    jobs = [(lasting(known, name, seconds), sender) for name, sender in kinds() for seconds in SECONDS[name]]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        # The longest go first, so that nothing waits for one of them alone at the end.
        order = sorted(range(len(jobs)), key=lambda at: -jobs[at][0].flows)
        running = {at: pool.submit(_count, binary, *jobs[at]) for at in order}
        counts: list[Count | None] = []
        for at, (workload, sender) in enumerate(jobs):
            try:
                counts.append(running[at].result())
            except (OSError, ValueError, KeyError) as error:
                say(f"{sender} on {workload.name} cannot be counted: {error}")
                counts.append(None)
            except KeyboardInterrupt:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    rows = []
    for (name, sender), shorter, longer in zip(kinds(), counts[::2], counts[1::2], strict=True):
        if shorter and longer:
            rows.append(Row(name, sender, SECONDS[name], shorter, longer))
    return rows


def _count(binary: Path | None, workload: Workload, sender: str) -> Count:
    """One run under valgrind."""
    finished = measure.run(command(binary, workload, sender), _LIMIT)
    if finished.code != 0:
        said = (finished.stderr or finished.stdout).strip()[-400:]
        raise ValueError(f"ended with {finished.code} after {finished.cost.wall:.0f} s: {said}")
    instructions, misses = read(finished.stderr)
    delivered = simulators.ours(binary).read(finished.stdout, workload).segments
    sent = _sending(binary, sender).read(finished.stdout, workload).segments
    return Count(instructions, misses, delivered, sent)


def command(binary: Path | None, workload: Workload, sender: str) -> list[str]:
    """What is run: ours, as ever, under valgrind."""
    return [*_VALGRIND, *_sending(binary, sender).command(workload, 1)]


def _sending(binary: Path | None, sender: str) -> simulators.Simulator:
    named: dict[str, tuple[str, ...]] = {BASE: (), PROFILE: (f'profile="{PROFILE}"',)}
    settings = named.get(sender, (f'flow.sender="{sender}"',))
    return simulators.ours_sending(binary, sender, settings)


def read(said: str) -> tuple[float, float]:
    """Instructions and last-level misses, from what callgrind says at the end. Raises ValueError."""
    events = re.search(r"== Events    : (.+)", said)
    collected = re.search(r"== Collected : (.+)", said)
    if events is None or collected is None:
        raise ValueError(f"callgrind said no numbers: {said.strip()[-200:]}")
    numbers = dict(zip(events[1].split(), map(float, collected[1].split()), strict=True))
    return numbers["Ir"], numbers["ILmr"] + numbers["DLmr"] + numbers["DLmw"]
