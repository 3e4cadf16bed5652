"""What predictors and estimators cost: Truckee alone, NewReno with one or another of them, against NewReno without.

Time is held against segments *sent*, retransmissions included: over the same path for the same time, each sender sends
another number of them. Not for: what the senders achieve, which the studies measure.
"""

from dataclasses import dataclass
from pathlib import Path

import simulators
from results import Table
from simulators import Simulator
from workloads import Workload

# The part's name on the command line, beside those of the workloads.
NAME = "senders"

BASE = "newreno"
# NewReno with a predictor that judges every loss, and NewReno that falls to an estimate.
PREDICTORS = ("newreno-lp", "newreno-lp(ncpld)", "newreno-lp(spike)", "newreno-lp(flip-flop)")
ESTIMATORS = ("westwood-1", "westwood-2", "westwood-3", "tibet")
# The same rules beside a NewReno that does not go by them: by name, the predictors and the estimators.
OBSERVED = {
    "newreno, vegas watches": (["vegas"], []),
    "newreno, tibet watches": ([], ["tibet"]),
    "newreno, all eight watch": (["vegas", "ncpld", "spike", "flip-flop"], list(ESTIMATORS)),
}
OTHERS = ("vegas", "hstcp", "cubic", "bbr")

# One flow without noise and with: W1 makes long queues, W2 many losses. Long enough that starting the process, some
# 2 ms, is a hundredth or so.
WORKLOADS = ("W1", "W2")
SECONDS = 1500


@dataclass(frozen=True)
class Sender:
    """One line of the table."""

    name: str
    settings: tuple[str, ...]

    def simulator(self, binary: Path | None) -> Simulator:
        """Truckee with this sender: `binary`, or a release build of this tree."""
        return simulators.ours_sending(binary, self.name, self.settings)


def senders(judged_only: bool) -> list[Sender]:
    """NewReno first, then those a target is about, then those that are shown for information."""
    judged = [_preset(name) for name in (BASE, *PREDICTORS, *ESTIMATORS)]
    if judged_only:
        return judged
    watched = [_observed(name, *which) for name, which in OBSERVED.items()]
    return [*judged, *watched, *map(_preset, OTHERS)]


def long_workloads(known: dict[str, Workload]) -> list[Workload]:
    """What they send over."""
    return [known[name].lasting(SECONDS) for name in WORKLOADS]


def cost_ratio(table: Table, workload: str, sender: str) -> float | None:
    """CPU time per segment sent over plain NewReno's, medians both; None where either was not measured."""
    base, row = table.get(workload, BASE), table.get(workload, sender)
    return base.segments_per_cpu_second / row.segments_per_cpu_second if base and row else None


def _preset(name: str) -> Sender:
    return Sender(name, (f'flow.sender="{name}"',))


def _observed(name: str, predictors: list[str], estimators: list[str]) -> Sender:
    return Sender(name, (f"flow.observe={{ predictors = {_list(predictors)}, estimators = {_list(estimators)} }}",))


def _list(names: list[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"
