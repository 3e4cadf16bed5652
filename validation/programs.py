"""The programs of the benchmarks, asked for one variant each: the scenario's parameters are theirs, as in bench/.

Not for: what the answers mean (verdicts.py).
"""

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "bench"))

import measure
import simulators
import workloads
from simulators import NS3, OURS, Simulator, Unavailable
from workloads import Workload, WorkloadError

NS2 = simulators.TUNED_NS2
PEERS = (NS2, NS3)

__all__ = [
    "NS2",
    "NS3",
    "OURS",
    "PEERS",
    "Programs",
    "RunError",
    "Unavailable",
    "Workload",
    "WorkloadError",
    "measure",
    "simulators",
    "workloads",
]


class RunError(Exception):
    """A run that gave no answer; says what the program said."""


@dataclass(frozen=True)
class Trace:
    """A window over time: s, segments."""

    times: list[float]
    cwnd: list[float]


class Programs:
    """Truckee and its peers."""

    def __init__(self, truckee: Path | None, limit: float) -> None:
        known = {peer.name: peer for peer in simulators.peers()}
        self._simulators: dict[str, Simulator] = {OURS: simulators.ours(truckee), **{p: known[p] for p in PEERS}}
        self._limit = limit

    def get_ready(self, program: str, workload: Workload) -> None:
        """Builds what is due, so that nothing is built in the middle. Raises Unavailable."""
        self._simulators[program].command(workload, 1)

    def goodput(self, program: str, workload: Workload, variant: str, seed: int) -> float:
        """Mbit/s delivered in one run. Raises RunError."""
        command = self.command(program, workload, variant, seed)
        try:
            return self._simulators[program].read(self._run(command), workload).goodput_mbps
        except (ValueError, KeyError) as error:
            raise RunError(f"said something unexpected: {error}") from error

    def window(self, program: str, workload: Workload, variant: str, seconds: float, step: float) -> Trace:
        """The window over the first `seconds`, every `step` seconds. Raises RunError."""
        with tempfile.TemporaryDirectory() as folder:
            command = self.command(program, workload, variant, seed=1)
            if program == OURS:
                self._run([*command, "--set", f"duration={seconds}s", "--out", folder])
                return _even(Path(folder) / "series.parquet", workload.mss, seconds, step)
            dashes = "--" if program == NS3 else ""
            file = Path(folder) / "cwnd"
            words = {"dur": seconds, "trace": file, "step": step}
            self._run([*command, *(f"{dashes}{key}={value}" for key, value in words.items())])
            points = [[float(word) for word in line.split()] for line in file.read_text().splitlines()]
            return Trace([t for t, _ in points], [cwnd for _, cwnd in points])

    def command(self, program: str, workload: Workload, variant: str, seed: int) -> list[str]:
        """How one run is started."""
        command = self._simulators[program].command(workload, seed)
        if program == OURS:
            return [*command, "--set", f"flow.sender={variant}"]
        return [*command, f"--variant={variant}" if program == NS3 else f"variant={variant}"]

    def _run(self, command: list[str]) -> str:
        finished = measure.run(command, self._limit)
        if finished.code != 0:
            said = (finished.stderr or finished.stdout).strip()[-300:]
            raise RunError(f"ended with {finished.code} after {finished.cost.wall:.0f} s: {said}")
        return finished.stdout


def _even(series: Path, mss: int, seconds: float, step: float) -> Trace:
    """Our window, which is recorded at each change, at even times."""
    import pyarrow.parquet  # type: ignore[import-untyped]

    table = pyarrow.parquet.read_table(series, columns=["kind", "t_s", "cwnd_bytes"]).to_pydict()
    changes = [
        (t, cwnd)
        for kind, t, cwnd in zip(*(table[c] for c in ("kind", "t_s", "cwnd_bytes")), strict=True)
        if kind == "window"
    ]
    times, windows, at = [], [], 0
    for k in range(int(seconds / step) + 1):
        while at + 1 < len(changes) and changes[at + 1][0] <= k * step:
            at += 1
        times.append(k * step)
        windows.append(changes[at][1] / mss)
    return Trace(times, windows)
