"""Runs one command as a process of its own and says what it cost.

Not for: what the command means; its output is handed back as text.
"""

import os
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

GNU_TIME = "/usr/bin/time"


@dataclass(frozen=True)
class Cost:
    """What one process took: times in seconds, peak resident memory in KiB."""

    wall: float
    user: float
    system: float
    peak_kib: int


@dataclass(frozen=True)
class Finished:
    """A process that ended: its exit code (negative: the signal that ended it), its cost and its output."""

    code: int
    cost: Cost
    stdout: str
    stderr: str


def run(command: list[str], limit: float, folder: Path | None = None) -> Finished:
    """Runs `command`, in `folder` or here, to its end, or kills it and its children after `limit` seconds.

    Wall time is the monotonic clock around the process; CPU times are the kernel's account of it (wait4). Peak memory
    comes from GNU time where there is one: a process forked from this interpreter inherits the interpreter's own peak
    (about 10 MiB) and can never show less. Raises OSError where the command cannot be started.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.NamedTemporaryFile("r") as peak:
        timed = os.access(GNU_TIME, os.X_OK)
        prefix = [GNU_TIME, "-q", "-o", peak.name, "-f", "%M"] if timed else []
        started = time.monotonic()
        process = subprocess.Popen(
            prefix + command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        watchdog = threading.Timer(limit, _kill_group, [process.pid])
        watchdog.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.monotonic() - started
        except KeyboardInterrupt:
            _kill_group(process.pid)
            process.wait()
            raise
        finally:
            watchdog.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        text = peak.read().strip() if timed else ""
        return Finished(
            code=process.returncode,
            cost=Cost(wall, usage.ru_utime, usage.ru_stime, int(text) if text.isdigit() else usage.ru_maxrss),
            stdout=_text(out),
            stderr=_text(err),
        )


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # It ended between the alarm and the shot.


def _text(file) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")
