"""A scheduler and workers of dask.distributed as processes of their own, which can be killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

LONG = 120.0
"""Nothing takes as long as this, s, whatever else the machine does."""


def until(happened: Callable[[], object], what: str) -> None:
    """Waits for something."""
    deadline = time.monotonic() + LONG
    while not happened():
        assert time.monotonic() < deadline, f"{what} has not happened"
        time.sleep(0.02)


class Processes:
    """A cluster, as far as it has been started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []
        self.address = ""

    def close(self) -> None:
        """Ends it."""
        for process in [*self.workers, self.scheduler]:
            if process is not None:
                process.kill()
                process.wait()

    def start_scheduler(self, **environment: str) -> None:
        """Starts it, where the one before has been if there was one."""
        port = self.address.rsplit(":", 1)[-1] or "0"
        told = self.folder / "scheduler.json"
        told.unlink(missing_ok=True)
        self.scheduler = self._start(
            "scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            port,
            "--no-dashboard",
            "--scheduler-file",
            str(told),
            **environment,
        )
        until(told.exists, "the scheduler's start")
        until(lambda: told.read_text().endswith("}"), "the scheduler's start")
        self.address = json.loads(told.read_text())["address"]

    def start_worker(self, **environment: str) -> subprocess.Popen[bytes]:
        """Starts one with one thread."""
        few = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(self.folder)]
        worker = self._start("worker", self.address, *few, **environment)
        self.workers.append(worker)
        return worker

    def _start(self, what: str, *words: str, **environment: str) -> subprocess.Popen[bytes]:
        dask = Path(sys.executable).with_name("dask")
        with (self.folder / f"{what}.log").open("ab") as log:
            return subprocess.Popen(
                [dask, what, *words], stdout=log, stderr=log, cwd=self.folder, env={**os.environ, **environment}
            )
