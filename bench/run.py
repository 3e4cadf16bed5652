#!/usr/bin/env python3
"""Measures Truckee beside its peers on the common workloads: speed, memory, goodput, and the targets.

All in one run and interleaved: in each repetition every program does the workload once, so that whatever else the
machine does falls on all of them alike. README.md says what is measured and how to read it.

  bench/run.py                        everything (about twenty minutes)
  bench/run.py --quick                seconds, without ns-3
  bench/run.py -w W1,W3 -p ns2 -r 9   two workloads against ns-2, nine repetitions
  bench/run.py -w senders,receivers   what predictors, estimators and ACK policies cost, without peers
  bench/run.py -w counted             instructions and cache misses a segment, by valgrind
  bench/run.py -w many                memory of up to 100,000 flows, and what a run of nothing takes
  bench/run.py -w radio               how fast radio networks are simulated, beside ns-2 and ns-3
  bench/run.py -w read                how fast captures are read, beside tshark and tcptrace; needs root
  bench/run.py -w path                what the path emulator keeps of what it promises; needs root
  bench/run.py -w shape               what shaping ACKs costs; needs root
"""

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path

import captures
import counted
import emulator
import many
import measure
import radio
import receivers
import report
import senders
import shaper
import simulators
import targets
import workloads
from results import Run, Table
from simulators import OURS, Simulator, Unavailable
from workloads import Workload

QUICK = ["W1", "W2", "W3", "W6", senders.NAME, receivers.NAME]
# Parts in which our own program runs in several ways, without peers.
OWN = (counted.NAME, many.NAME, senders.NAME, receivers.NAME, emulator.NAME, shaper.NAME, captures.NAME, radio.NAME)
# Those that answer with figures; all but the last need namespaces of their own.
APART = (emulator, shaper, captures, radio)


def main() -> int:
    """Exit code: 0 measured (whatever the verdicts), 1 our own program could not be run, 2 bad usage."""
    known = workloads.load_all()
    arguments = _arguments(known)
    chosen = [known[name] for name in arguments.workloads if name not in OWN]
    entrants = [simulators.ours(arguments.truckee), *arguments.programs]
    conditions = _conditions()
    _say(f"{conditions['machine']}, {conditions['cpus']} CPUs, load {conditions['load_1min']:.2f}")
    if conditions["load_1min"] > 0.5 * conditions["cpus"]:
        _say("this machine is busy: take the times with caution")

    found = targets.Measured()
    table = found.table
    bench = Bench(entrants, table, arguments.repetitions, arguments.seeds, arguments.timeout)
    for workload in chosen:
        bench.measure(workload)
        text = report.workload_table(workload, table, arguments.markdown)
        if text:
            print(f"{text}\n", flush=True)
    complete = all(table.get(workload.name, OURS) for workload in chosen)
    if counted.NAME in arguments.workloads:
        complete &= _count(found, known, arguments)
    if many.NAME in arguments.workloads:
        complete &= _many(found, known, arguments)
    if senders.NAME in arguments.workloads:
        lines = [one.simulator(arguments.truckee) for one in senders.senders(judged_only=arguments.quick)]
        complete &= _compare(lines, senders.long_workloads(known), found.sending, report.senders_table, arguments)
    if receivers.NAME in arguments.workloads:
        lines = [one.simulator(arguments.truckee) for one in receivers.receivers(judged_only=arguments.quick)]
        complete &= _compare(lines, receivers.long_workloads(known), found.receiving, report.receivers_table, arguments)
    figures = {}
    for part in APART:
        if part.NAME in arguments.workloads:
            measured = part.measure([simulators.program(arguments.truckee)], arguments.own_repetitions)
            complete &= all(figure.reached is not None for figure in measured)
            figures[part.NAME] = measured
    verdicts = targets.judge(found) if chosen or not figures else []
    for name, measured in figures.items():
        verdicts += targets.of_figures(name, measured)
    print(report.targets_table(verdicts, arguments.markdown))
    if arguments.json:
        everything = {
            "conditions": conditions,
            "programs": {entrant.name: entrant.about for entrant in entrants},
            "rows": [row.as_json() for row in table],
            "counted": [row.as_json() for row in found.counts],
            "many": [row.as_json() for row in found.dumbbells],
            "nothing": found.nothing.as_json() if found.nothing else None,
            "senders": [row.as_json() for row in found.sending],
            "receivers": [row.as_json() for row in found.receiving],
            **{part.NAME: [vars(figure) for figure in figures.get(part.NAME, [])] for part in APART},
            "targets": [vars(verdict) for verdict in verdicts],
        }
        arguments.json.write_text(json.dumps(everything, indent=1, ensure_ascii=False) + "\n")
    return 0 if complete else 1


def _count(found: targets.Measured, known: dict[str, Workload], arguments: argparse.Namespace) -> bool:
    """Counts and shows what a segment costs; whether all of it could be counted. Without valgrind it is left out, as a
    peer is that is not there."""
    try:
        found.counts = counted.count(arguments.truckee, known, _say)
    except Unavailable as error:
        _say(f"{counted.NAME} is left out: {error}")
        return True
    for text in (
        report.counted_table(found.counts, arguments.markdown),
        report.counted_senders_table(found.counts, arguments.markdown),
    ):
        if text:
            print(f"{text}\n", flush=True)
    return len(found.counts) == len(counted.kinds())


def _many(found: targets.Measured, known: dict[str, Workload], arguments: argparse.Namespace) -> bool:
    """Measures and shows many flows and a run of nothing; whether those flows ran that a slope needs. What they take does
    not change from one run to the next: once will do."""
    bench = Bench([simulators.ours(arguments.truckee)], found.dumbbells, 1, 0, arguments.timeout)
    for workload in many.dumbbells(known):
        bench.measure(workload)
        text = report.workload_table(workload, found.dumbbells, arguments.markdown)
        if text:
            print(f"{text}\n", flush=True)
    try:
        found.nothing = many.nothing(arguments.truckee, arguments.timeout)
    except Unavailable as error:
        _say(f"a run of nothing is left out: {error}")
    return many.kib_a_flow(found.dumbbells) is not None


def _compare(
    lines: list[Simulator],
    over: list[Workload],
    table: Table,
    show: Callable[[Workload, Table, bool], str],
    arguments: argparse.Namespace,
) -> bool:
    """Measures and shows our own program in several ways; whether all of them ran."""
    bench = Bench(lines, table, arguments.own_repetitions, 0, arguments.timeout)
    for workload in over:
        bench.measure(workload)
        text = show(workload, table, arguments.markdown)
        if text:
            print(f"{text}\n", flush=True)
    return all(table.get(workload.name, line.name) for workload in over for line in lines)


class Bench:
    """The runs, and which programs have dropped out."""

    def __init__(self, entrants: list[Simulator], table: Table, repetitions: int, seeds: int, limit: float) -> None:
        self._entrants = entrants
        self._table = table
        self._repetitions = repetitions
        self._seeds = seeds
        self._limit = limit
        self._unavailable: set[str] = set()

    def measure(self, workload: Workload) -> None:
        """Fills the workload's rows: timed repetitions first, then the further seeds that a lossy path's mean needs."""
        ready = [entrant for entrant in self._entrants if self._get_ready(entrant, workload)]
        failed: set[str] = set()
        for repetition in range(1, max(self._repetitions, self._seeds if workload.lossy else 0) + 1):
            timed = repetition <= self._repetitions
            for entrant in ready:
                if entrant.name in failed or not self._takes_part(entrant, repetition):
                    continue
                run = self._run(entrant, workload, seed=repetition)
                if run is None:
                    failed.add(entrant.name)
                    continue
                row = self._table.row(workload, entrant.name)
                (row.timed if timed else row.further).append(run)

    def _takes_part(self, entrant: Simulator, repetition: int) -> bool:
        if repetition > self._repetitions and not entrant.further_seeds:
            return False
        return entrant.most_repetitions is None or repetition <= entrant.most_repetitions

    def _get_ready(self, entrant: Simulator, workload: Workload) -> bool:
        """Whether it takes part; builds it where that is due, so that no build falls into a measurement."""
        if entrant.name in self._unavailable:
            return False
        if workload.name in entrant.spared:
            _say(f"{entrant.name} is spared {workload.name}: {entrant.spared[workload.name]}")
            return False
        try:
            entrant.command(workload, 1)
        except Unavailable as error:
            _say(f"{entrant.name} is left out: {error}")
            self._unavailable.add(entrant.name)
            return False
        return True

    def _run(self, entrant: Simulator, workload: Workload, seed: int) -> Run | None:
        """One run, or None with a message where it failed."""
        command = entrant.command(workload, seed)
        try:
            finished = measure.run(command, self._limit)
        except OSError as error:
            _say(f"{entrant.name} on {workload.name} cannot be started: {error}")
            return None
        if finished.code != 0:
            how = f"ended with {finished.code} after {finished.cost.wall:.1f} s"
            _say(f"{entrant.name} on {workload.name} {how}: {(finished.stderr or finished.stdout).strip()[-400:]}")
            return None
        try:
            return Run(seed, finished.cost, entrant.read(finished.stdout, workload))
        except (ValueError, KeyError) as error:
            _say(f"{entrant.name} on {workload.name} said something unexpected: {error}")
            return None


def _arguments(known: dict[str, Workload]) -> argparse.Namespace:
    parts = [*known, *OWN]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names, peers = ",".join(parts), {peer.name: peer for peer in simulators.peers()}
    parser.add_argument(
        "-r", "--repetitions", type=int, help="timed runs of each program on each workload (5, our own parts 9)"
    )
    parser.add_argument("-w", "--workloads", help=f"comma-separated, of {names} (default: all)")
    parser.add_argument("-p", "--peers", help=f"comma-separated, of {','.join(peers)}; '' for none (default: all)")
    parser.add_argument("--peer", action="append", default=[], metavar="'NAME=PROGRAM {args}'", help="one more peer")
    parser.add_argument("--seeds", type=int, default=20, help="seeds a lossy workload's goodput is a mean over (20)")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds after which a run is killed (300)")
    parser.add_argument("--truckee", type=Path, help="a program built before, in place of a release build of this tree")
    parser.add_argument("--quick", action="store_true", help=f"{','.join(QUICK)}; ns-2 tuned; three times")
    parser.add_argument("--markdown", action="store_true", help="tables in Markdown")
    parser.add_argument("--json", type=Path, metavar="FILE", help="everything measured, every run")
    arguments = parser.parse_args()

    arguments.workloads = _names(arguments.workloads, QUICK if arguments.quick else parts)
    arguments.peers = _names(arguments.peers, [simulators.TUNED_NS2] if arguments.quick else list(peers))
    for what, asked, there in (("workload", arguments.workloads, parts), ("peer", arguments.peers, peers)):
        for name in asked:
            if name not in there:
                parser.error(f"there is no {what} {name!r}; there are {', '.join(there)}")
    # A quarter more or less is to be told apart, on runs of tenths of a second: our own parts get more repetitions.
    arguments.own_repetitions = arguments.repetitions or (3 if arguments.quick else 9)
    if arguments.repetitions is None:
        arguments.repetitions = 3 if arguments.quick else 5
    if arguments.repetitions < 1:
        parser.error("at least one repetition")
    try:
        arguments.programs = [peers[name] for name in arguments.peers]
        arguments.programs += [simulators.foreign(definition) for definition in arguments.peer]
    except ValueError as error:
        parser.error(str(error))
    return arguments


def _names(given: str | None, default: list[str]) -> list[str]:
    return default if given is None else [name for name in given.split(",") if name]


def _conditions() -> dict:
    return {
        "machine": _processor(),
        "system": platform.platform(),
        "cpus": os.cpu_count() or 1,
        "load_1min": os.getloadavg()[0],
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except workloads.WorkloadError as error:
        sys.exit(f"run.py: {error}")
    except KeyboardInterrupt:
        sys.exit("stopped")
