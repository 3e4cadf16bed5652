"""What a series of runs came to: one row for each workload and program, of medians and means.

Not for: layout (report.py) or judgement (targets.py).
"""

import math
import statistics
from dataclasses import dataclass, field

from measure import Cost
from simulators import Answer
from workloads import Workload


@dataclass(frozen=True)
class Run:
    """One run."""

    seed: int
    cost: Cost
    answer: Answer


@dataclass
class Row:
    """All runs of one program on one workload. Only timed runs count for cost; the others add seeds to the goodput."""

    workload: Workload
    program: str
    timed: list[Run] = field(default_factory=list)
    further: list[Run] = field(default_factory=list)

    @property
    def wall(self) -> float:
        """Median wall time, s."""
        return statistics.median(run.cost.wall for run in self.timed)

    @property
    def user(self) -> float:
        """Median user CPU time, s."""
        return statistics.median(run.cost.user for run in self.timed)

    @property
    def segments_per_second(self) -> float:
        """Median of segments delivered in order per second of wall time, starting the process included."""
        return statistics.median(run.answer.segments / run.cost.wall for run in self.timed)

    @property
    def segments_per_cpu_second(self) -> float:
        """Median of the same per second of CPU time: what remains comparable on a machine that others use, too."""
        return statistics.median(run.answer.segments / (run.cost.user + run.cost.system) for run in self.timed)

    @property
    def packets_per_cpu_second(self) -> float:
        """Median of data segments and ACKs sent per second of CPU time."""
        return statistics.median(run.answer.packets / (run.cost.user + run.cost.system) for run in self.timed)

    @property
    def segments(self) -> float:
        """Mean number of segments a timed run answered with."""
        return statistics.fmean(run.answer.segments for run in self.timed)

    @property
    def packets(self) -> float:
        """Mean number of packets a timed run answered with."""
        return statistics.fmean(run.answer.packets for run in self.timed)

    @property
    def seconds_per_segment(self) -> float:
        """Median of wall time per segment delivered in order, s."""
        return statistics.median(run.cost.wall / run.answer.segments for run in self.timed)

    @property
    def peak_mib(self) -> float:
        """Largest peak of resident memory, MiB."""
        return max(run.cost.peak_kib for run in self.timed) / 1024

    @property
    def goodput(self) -> float:
        """Mean over all seeds, Mbit/s."""
        return statistics.fmean(self._goodputs())

    @property
    def goodput_error(self) -> float:
        """Standard error of that mean, Mbit/s; 0 where there is one run or nothing random."""
        values = self._goodputs()
        return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0

    @property
    def seeds(self) -> int:
        """How many seeds the goodput is a mean over."""
        return len(self._goodputs())

    def _goodputs(self) -> list[float]:
        return [run.answer.goodput_mbps for run in self.timed + self.further]

    def as_json(self) -> dict:
        """Everything, for a file."""
        return {
            "workload": self.workload.name,
            "program": self.program,
            "simulated_s": self.workload.duration,
            "wall_s": self.wall,
            "user_s": self.user,
            "segments_per_s": self.segments_per_second,
            "segments_per_cpu_s": self.segments_per_cpu_second,
            "peak_mib": self.peak_mib,
            "goodput_mbps": self.goodput,
            "goodput_standard_error_mbps": self.goodput_error,
            "seeds": self.seeds,
            "runs": [_run(run, True) for run in self.timed] + [_run(run, False) for run in self.further],
        }


class Table:
    """Rows by workload and program, in the order they were measured; only rows with a timed run are handed out."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], Row] = {}

    def row(self, workload: Workload, program: str) -> Row:
        """The row to add runs to."""
        return self._rows.setdefault((workload.name, program), Row(workload, program))

    def get(self, workload: str, program: str) -> Row | None:
        """The row, if that was measured."""
        row = self._rows.get((workload, program))
        return row if row and row.timed else None

    def of(self, workload: str) -> list[Row]:
        """Every program's row on a workload."""
        return [row for (name, _), row in self._rows.items() if name == workload and row.timed]

    def __iter__(self):
        return (row for row in self._rows.values() if row.timed)


def _run(run: Run, timed: bool) -> dict:
    return {
        "seed": run.seed,
        "timed": timed,
        "wall_s": run.cost.wall,
        "user_s": run.cost.user,
        "system_s": run.cost.system,
        "peak_kib": run.cost.peak_kib,
        "segments": run.answer.segments,
        "packets": run.answer.packets,
        "goodput_mbps": run.answer.goodput_mbps,
    }
