"""What many flows take in memory, and what a run costs in which nothing happens: Truckee alone.

The slope between two numbers of flows over the same link tells what a flow takes from what the program and the packets in
flight take. Not for: what a segment costs among many flows, which the workloads and counted.py measure.
"""

import re
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import measure
import simulators
from results import Table
from simulators import OURS, Unavailable
from workloads import Workload

# The part's name on the command line, beside those of the workloads.
NAME = "many"

BASE = "flows-30000"
# Two numbers of flows, started as in the base; then one more, started faster.
FEWER, MORE, MOST = 10_000, 30_000, 100_000
SECONDS = 4

_BENCH = ("cargo", "bench", "--package", "truckee-net", "--bench", "parts", "--")
_NOTHING = "run/nothing"


@dataclass(frozen=True)
class Nothing:
    """What a run took in which nothing happens, from the criterion benchmarks."""

    microseconds: float

    def as_json(self) -> dict:
        """For a file."""
        return {"benchmark": _NOTHING, "us": self.microseconds}


def dumbbells(known: dict[str, Workload]) -> list[Workload]:
    """What is run, a pair of hosts of its own for each flow."""
    base = known[BASE].lasting(SECONDS)
    return [_with(base, flows, base.gap if flows <= base.flows else 2e-5) for flows in (FEWER, MORE, MOST)]


def _with(base: Workload, flows: int, gap: float) -> Workload:
    settings = (f"topology.n={flows}", f"flow.count={flows}", f"flow.start_every={gap * 1e6:.0f}us")
    return replace(
        base,
        name=name(flows),
        title=f"{name(flows)}: {flows:,} flows over {base.rate / 1e9:g} Gbit/s for {SECONDS} simulated seconds.",
        flows=flows,
        gap=gap,
        overrides=(*base.overrides, *settings),
    )


def name(flows: int) -> str:
    """What its row is called."""
    return f"many-{flows}"


def kib_a_flow(table: Table) -> float | None:
    """Peak memory that a flow more takes, KiB; None where that was not measured."""
    fewer, more = table.get(name(FEWER), OURS), table.get(name(MORE), OURS)
    return 1024 * (more.peak_mib - fewer.peak_mib) / (MORE - FEWER) if fewer and more else None


def nothing(binary: Path | None, limit: float) -> Nothing:
    """Raises Unavailable where it cannot be measured."""
    if binary is not None:
        raise Unavailable("a program built before has no benchmarks")
    if shutil.which(_BENCH[0]) is None:
        raise Unavailable(f"there is no {_BENCH[0]}")
    try:
        finished = measure.run([*_BENCH, "--output-format", "bencher", f"{_NOTHING}$"], limit, simulators.ROOT)
    except OSError as error:
        raise Unavailable(str(error)) from None
    if finished.code != 0:
        raise Unavailable(f"{' '.join(_BENCH)} ended with {finished.code}: {finished.stderr.strip()[-400:]}")
    return Nothing(read(finished.stdout))


def read(output: str) -> float:
    """Microseconds, from what criterion prints for programs. Raises Unavailable."""
    found = re.search(rf"^test {_NOTHING} \.\.\. bench:\s+([\d,]+) ns/iter", output, re.MULTILINE)
    if found is None:
        raise Unavailable(f"no benchmark {_NOTHING}: {output.strip()[-200:] or '(nothing)'}")
    return float(found[1].replace(",", "")) / 1000
