#!/usr/bin/env python3
"""Runs a command on a machine that stands still again and again: the load under which live tests must hold.

  tools/stalls.py --seed 1 -- cargo nextest run --profile live

While the command runs, every core that it may use is taken away at the same moments, for 5 to 100 ms each, a tenth of the
time, by a busy process of the highest real-time priority on each core. The moments are drawn by the seed, so that the same
seed is the same load. At the end it says how much time was taken indeed. The exit code is the command's; 125 if the
command could not be started, or there is no right to real-time priority. However this ends, nothing of it is left.
"""

import argparse
import ctypes
import gc
import itertools
import mmap
import os
import random
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

SHORTEST_S, LONGEST_S = 0.005, 0.100
SHARE = 0.1
PRIORITY = 99
REFUSED = 125

_PR_SET_PDEATHSIG = 1
# What a holder tells of itself: stalls, time taken, the longest, s.
_RECORD = struct.Struct("ddd")


@dataclass(frozen=True)
class Stall:
    """When the cores are taken, and when they are given back, s after the beginning."""

    begin: float
    end: float


@dataclass(frozen=True)
class Taken:
    """What a holder has taken of its core."""

    stalls: int
    total_s: float
    longest_s: float


def schedule(seed: int) -> Iterator[Stall]:
    """The stalls, without an end. Between two of them the machine is left alone for between nothing and twice the mean."""
    drawn = random.Random(seed)
    most_pause = 2 * (SHORTEST_S + LONGEST_S) / 2 * (1 - SHARE) / SHARE
    now = 0.0
    while True:
        begin = now + drawn.uniform(0, most_pause)
        now = begin + drawn.uniform(SHORTEST_S, LONGEST_S)
        yield Stall(begin, now)


def said(taken: list[Taken], lasted_s: float) -> str:
    """What was taken, in a line."""
    shares = [core.total_s / lasted_s if lasted_s else 0.0 for core in taken]
    longest = max(core.longest_s for core in taken)
    return (
        f"{min(core.stalls for core in taken)} stalls of {len(taken)} cores in {lasted_s:.1f} s took "
        f"{100 * min(shares):.1f} to {100 * max(shares):.1f} % of a core's time, {1000 * longest:.0f} ms at the longest"
    )


class Holders:
    """One busy process a core."""

    def __init__(self, seed: int, begin: float) -> None:
        self._records = mmap.mmap(-1, mmap.PAGESIZE * 16)
        self._processes = []
        parent = os.getpid()
        for place, core in enumerate(sorted(os.sched_getaffinity(0))):
            process = os.fork()
            if process == 0:
                _end_with(parent, signal.SIGKILL)
                _hold(core, schedule(seed), begin, self._records, place * _RECORD.size)
            self._processes.append(process)

    def end(self) -> list[Taken]:
        """Ends them; what each has taken."""
        for process in self._processes:
            os.kill(process, signal.SIGKILL)
        for process in self._processes:
            os.waitpid(process, 0)
        places = range(len(self._processes))
        records = [_RECORD.unpack_from(self._records, place * _RECORD.size) for place in places]
        return [Taken(int(stalls), total, longest) for stalls, total, longest in records]


def _hold(core: int, stalls: Iterator[Stall], begin: float, records: mmap.mmap, at: int) -> None:
    """A holder's life: it never returns."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    gc.disable()
    os.sched_setaffinity(0, {core})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    total = longest = 0.0
    clock = time.monotonic
    for count in itertools.count(1):
        stall = next(stalls)
        time.sleep(max(0.0, begin + stall.begin - clock()))
        took, end = clock(), begin + stall.end
        while clock() < end:
            pass
        lasted = clock() - took
        total, longest = total + lasted, max(longest, lasted)
        _RECORD.pack_into(records, at, count, total, longest)


def _end_with(parent: int, number: signal.Signals) -> None:
    """Has this process, just forked, get a signal when its parent ends; it ends here if that has happened already."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)


def refusal() -> str | None:
    """Why no core can be taken away here, if so."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    except (AttributeError, OSError) as error:
        why = "it is not Linux" if isinstance(error, AttributeError) else error.strerror
        return f"no core can be taken away here, for want of real-time priority (root or CAP_SYS_NICE has it): {why}"
    return None


def main() -> int:
    """See the module."""
    arguments = _arguments()
    if why := refusal():
        _say(why)
        return REFUSED
    begin = time.monotonic()
    holders = Holders(arguments.seed, begin)
    try:
        return _run(arguments.command)
    finally:
        _say(said(holders.end(), time.monotonic() - begin))


def _run(command: list[str]) -> int:
    """The command's exit code. Who asks us to end asks it."""
    parent = os.getpid()
    try:
        # There are no threads here.
        process = subprocess.Popen(command, preexec_fn=lambda: _end_with(parent, signal.SIGTERM))  # noqa: PLW1509
    except OSError as error:
        _say(f"{command[0]} cannot be run: {error.strerror}")
        return REFUSED
    # A terminal's Ctrl-C reaches the command by itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: process.send_signal(number))
    status = process.wait()
    return 128 - status if status < 0 else status


def _say(text: str) -> None:
    print(f"==> {text}", file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="draws the moments [default: 1]")
    parser.add_argument("command", nargs="+", help="what is run, after --")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
