#!/usr/bin/env python3
"""What sweeps cost from Python and on a cluster of this machine, beside the command's and threads', as tables of the book.

  tools/package.py --release      the package as a release has it, in target/python/release
  target/python/release/bin/python python/tests/speed.py beside      the command's sweep, threads and workers, side by side
  target/python/release/bin/python python/tests/speed.py waiting     cells that wait, for up to eight workers

Of each pair one runs after the other, and the median of the ratios is told: of wall time, and of the CPU time of all processes
that take part, which others on the machine disturb less. The command is `target/release/truckee`, of the same sources. What an
algorithm written in Python costs: cost.py.
"""

from __future__ import annotations

import argparse
import importlib
import resource
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
from conftest import ROOT, SHORT
from dask_processes import Processes

import truckee
from truckee.algorithms import Cause, Loss, Predictor

distributed: Any = importlib.import_module("distributed")

CELL = 0.05
"""How long a cell is to take, s."""
NUMBERS = {1: "one worker of one thread", 2: "two workers of one thread each"}
Spent = tuple[float, float]
"""Wall time and CPU time, s."""


def spent(work: Callable[[], object], others: Callable[[], float] = lambda: 0.0) -> Spent:
    """What something takes, with the children that it has waited for and the CPU time of others."""

    def now() -> Spent:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.perf_counter(), time.process_time() + children.ru_utime + children.ru_stime + others()

    before = now()
    work()
    after = now()
    return after[0] - before[0], after[1] - before[1]


def cell() -> dict[str, Any]:
    """A scenario that takes about as long as a cell is to."""
    seconds, duration = 0.0, 10.0
    while seconds < CELL / 2:
        duration *= 2
        scenario = {**SHORT, "duration": f"{duration:g}s"}
        seconds = min(truckee.run(scenario).result["wall_s"] for _ in range(5))
    return {**SHORT, "duration": f"{duration * CELL / seconds:.0f}s"}


def ratios(what: str, pairs: int, one: Callable[[], Spent], other: Callable[[], Spent]) -> None:
    """How much longer the second one takes, as a row."""
    made = []
    for _ in range(pairs):
        first, second = one(), other()
        made.append((second[0] / first[0] - 1, second[1] / first[1] - 1))
    wall, cpu = ([100 * pair[k] for pair in made] for k in (0, 1))
    told = [f"{statistics.median(some):+.1f} % ({min(some):+.0f} to {max(some):+.0f})" for some in (wall, cpu)]
    print(f"| {what} | {told[0]} | {told[1]} |", flush=True)


def beside_the_command(command: Path, scenario: dict[str, Any], runs: int, pairs: int) -> None:
    """The same sweep by the command and from Python."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "cell.toml")
        file.write_text(truckee.Scenario(scenario).text)
        words: list[str | Path] = [command, "sweep", file, "--runs", str(runs), "--format", "json"]
        ratios(
            f"{runs} cells from Python, over the command",
            pairs,
            lambda: spent(lambda: subprocess.run(words, check=True, capture_output=True)),
            lambda: spent(lambda: truckee.sweep(file, runs=runs, progress=False)),
        )


def cpu_of(processes: list[subprocess.Popen[bytes]]) -> float:
    """CPU time of processes, s."""
    times = [psutil.Process(process.pid).cpu_times() for process in processes]
    return float(sum(one.user + one.system for one in times))


def on_workers(cluster: Processes, scenario: dict[str, Any], workers: int, runs: int, pairs: int) -> None:
    """The same sweep by threads and by as many workers."""
    started = cluster.workers[:workers]
    with distributed.Client(cluster.address, set_as_default=False) as client:
        client.wait_for_workers(workers)
        truckee.sweep(scenario, runs=4 * workers, client=client, progress=False)
        assert cluster.scheduler is not None
        all_of_them = [*started, cluster.scheduler]
        ratios(
            f"{runs} cells on {NUMBERS[workers]}, over as many threads",
            pairs,
            lambda: spent(lambda: truckee.sweep(scenario, runs=runs, jobs=workers, progress=False)),
            lambda: spent(
                lambda: truckee.sweep(scenario, runs=runs, client=client, progress=False), lambda: cpu_of(all_of_them)
            ),
        )


class Waits(Predictor):
    """Waits at a run's first loss, as long as a cell is to take."""

    def __init__(self) -> None:
        self.first = True

    def verdict(self, loss: Loss) -> Cause:
        """Congestion, some time later."""
        if self.first:
            time.sleep(CELL)
            self.first = False
        return "congestion"


WAITING = {"flow.sender": {"response": {"by-cause": {"predictor": "waits"}}}}


def waiting(cluster: Processes, workers: int) -> None:
    """Cells that wait, so that more workers than cores can be had: what the driver and the scheduler bear."""
    runs = 200 * workers
    with distributed.Client(cluster.address, set_as_default=False) as client:
        client.wait_for_workers(workers)
        truckee.sweep(SHORT, runs=4 * workers, set=WAITING, algorithms=[Waits], client=client, progress=False)
        scheduler, driver = [cluster.scheduler], time.process_time()
        assert scheduler[0] is not None
        before = cpu_of([scheduler[0]])
        took, _ = spent(
            lambda: truckee.sweep(SHORT, runs=runs, set=WAITING, algorithms=[Waits], client=client, progress=False)
        )
        per_cell = [(cpu_of([scheduler[0]]) - before) / runs, (time.process_time() - driver) / runs]
        row = [f"{workers}", f"{runs / took:.1f}", f"{100 * runs * CELL / workers / took:.0f} %"]
        row += [f"{1e3 * one:.2f} ms" for one in per_cell]
        print(f"| {' | '.join(row)} |", flush=True)


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["beside", "waiting"])
    parser.add_argument("--command", type=Path, default=ROOT / "target/release/truckee", help="the command")
    parser.add_argument("--runs", type=int, default=60, help="cells of a sweep")
    parser.add_argument("--pairs", type=int, default=7, help="pairs of sweeps")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, closing(Processes(Path(folder))) as cluster:
        cluster.start_scheduler()
        if asked.what == "beside":
            scenario = cell()
            print("| | wall time | CPU time |\n|---|---|---|")
            beside_the_command(asked.command, scenario, asked.runs, asked.pairs)
            for workers in NUMBERS:
                cluster.start_worker()
                on_workers(cluster, scenario, workers, asked.runs, asked.pairs)
            return
        print(
            "| workers | cells/s | of what is possible | scheduler's CPU time a cell | driver's |\n|---|---|---|---|---|"
        )
        for workers in (1, 2, 4, 8):
            while len(cluster.workers) < workers:
                cluster.start_worker()
            waiting(cluster, workers)


if __name__ == "__main__":
    main()
