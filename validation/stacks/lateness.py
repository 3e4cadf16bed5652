"""How late a machine was: what a test on the clock is judged beside, and not by its outcome.

A core may stand still (a host takes it away), and a stack may wait for a core although all of them run.
"""

import os
import threading
import time
from pathlib import Path
from typing import Self


class Watch:
    """For how long, at the longest, a core stands still meanwhile, or the processes under one wait for a core, s."""

    STEP_S = 0.002

    def __init__(self, above: int | None = None) -> None:
        """`above`: the process whose descendants are looked at, too."""
        self.late_s = 0.0
        self._above = above
        self._before = 0.0
        self._over = threading.Event()
        self._late = dict.fromkeys(os.sched_getaffinity(0), 0.0)
        self._threads = [threading.Thread(target=self._watch, args=(core,)) for core in self._late]

    def __enter__(self) -> Self:
        self._before = self._waited()
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()
        self.late_s = max(*self._late.values(), self._waited() - self._before)

    def _watch(self, core: int) -> None:
        os.sched_setaffinity(0, {core})  # of this thread alone
        before = time.monotonic()
        while not self._over.is_set():
            time.sleep(self.STEP_S)
            now = time.monotonic()
            self._late[core] = max(self._late[core], now - before - self.STEP_S)
            before = now

    def _waited(self) -> float:
        return 0.0 if self._above is None else waited_s(self._above)


def waited_s(above: int) -> float:
    """For how long the descendants of a process, as far as they live, have been ready to run and not run, added up, s; 0 where the
    kernel does not say."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name, in brackets, may have any character.
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue
    return sum(_waited_s(process) for process in parents if _is_below(process, above, parents))


def _is_below(process: int, above: int, parents: dict[int, int]) -> bool:
    while process in parents:
        process = parents[process]
        if process == above:
            return True
    return False


def _waited_s(process: int) -> float:
    waited = 0
    for stat in Path(f"/proc/{process}/task").glob("*/schedstat"):
        try:
            waited += int(stat.read_text().split()[1])
        except OSError:
            continue
    return waited / 1e9
