"""Tests of the machine that stands still: python3 -m unittest discover -s tools."""

import functools
import itertools
import os
import signal
import subprocess
import sys
import time
import unittest
from collections.abc import Callable
from pathlib import Path

import stalls

PROGRAM = [sys.executable, str(Path(stalls.__file__))]


class Schedule(unittest.TestCase):
    def first(self, seed: int, number: int) -> list[stalls.Stall]:
        return list(itertools.islice(stalls.schedule(seed), number))

    def test_a_seed_is_a_load(self) -> None:
        self.assertEqual(self.first(7, 100), self.first(7, 100))
        self.assertNotEqual(self.first(7, 100), self.first(8, 100))

    def test_a_tenth_of_the_time_is_taken(self) -> None:
        for seed in range(5):
            drawn = self.first(seed, 20_000)
            taken = sum(stall.end - stall.begin for stall in drawn)
            self.assertAlmostEqual(taken / drawn[-1].end, 0.1, delta=0.002)

    def test_stalls_follow_each_other_and_last_5_to_100_ms_evenly(self) -> None:
        drawn = self.first(3, 20_000)
        for before, after in itertools.pairwise(drawn):
            self.assertLessEqual(before.end, after.begin)
        lengths = sorted(stall.end - stall.begin for stall in drawn)
        self.assertGreaterEqual(lengths[0], 0.005 - 1e-9)
        self.assertLessEqual(lengths[-1], 0.1 + 1e-9)
        for part in (0.25, 0.5, 0.75):
            self.assertAlmostEqual(lengths[int(part * len(lengths))], 0.005 + part * 0.095, delta=0.002)

    def test_what_was_taken_is_said_in_a_line(self) -> None:
        taken = [stalls.Taken(20, 1.0, 0.09), stalls.Taken(21, 1.1, 0.0995)]
        line = "20 stalls of 2 cores in 10.0 s took 10.0 to 11.0 % of a core's time, 100 ms at the longest"
        self.assertEqual(stalls.said(taken, 10.0), line)


class Running(unittest.TestCase):
    def setUp(self) -> None:
        if (why := stalls.refusal()) is not None:
            self.assertNotIn("CI", os.environ, why)
            self.skipTest(why)

    def test_the_exit_code_is_the_commands(self) -> None:
        for command, code in [("exit 7", 7), ("kill -KILL $$", 137)]:
            done = subprocess.run([*PROGRAM, "--", "sh", "-c", command], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertRegex(done.stderr, r"^==> \d+ stalls of \d+ cores in ")
        missing = subprocess.run([*PROGRAM, "--", "no-such-program"], capture_output=True, text=True, check=False)
        self.assertEqual(missing.returncode, stalls.REFUSED)
        self.assertIn("no-such-program cannot be run", missing.stderr)

    def test_time_is_taken_from_whoever_runs(self) -> None:
        done = subprocess.run([*PROGRAM, "--", "sleep", "3"], capture_output=True, text=True, check=False)
        number = int(done.stderr.split()[1])
        expected = sum(1 for _ in itertools.takewhile(lambda stall: stall.end < 3, stalls.schedule(1)))
        self.assertGreaterEqual(number, expected, done.stderr)

    def test_what_was_forked_by_a_process_that_is_gone_ends(self) -> None:
        for parent, status in ((os.getpid(), 7), (os.getpid() + 1, 0)):
            child = os.fork()
            if child == 0:
                stalls._end_with(parent, signal.SIGKILL)
                os._exit(7)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), status)

    def test_killed_it_leaves_nothing(self) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            child = subprocess.Popen([*PROGRAM, "--", "sleep", "600"], stderr=subprocess.DEVNULL)
            cores = len(os.sched_getaffinity(0))
            until(functools.partial(has_children, child.pid, cores + 1))
            left = children(child.pid)
            child.send_signal(number)
            child.wait()
            until(functools.partial(all_gone, left))


def children(process: int) -> list[int]:
    """The processes that this one has started."""
    return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def has_children(process: int, number: int) -> bool:
    """Whether a process has started so many."""
    return len(children(process)) == number


def all_gone(processes: list[int]) -> bool:
    """Whether none of these is there any more."""
    return not any(alive(process) for process in processes)


def alive(process: int) -> bool:
    """Whether a process is there, and not only waiting to be buried."""
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def until(come: Callable[[], bool]) -> None:
    """Waits, two minutes at most."""
    end = time.monotonic() + 120
    while not come():
        if time.monotonic() > end:
            raise AssertionError("it has not come")
        time.sleep(0.02)


if __name__ == "__main__":
    unittest.main()
