#!/usr/bin/env python3
"""Holds our senders with the stack profile `ns-2` against ns-2 itself, on 200 set-ups drawn by a committed seed.

The claim, in ns2_profile.toml with the ranges: on at least 95 % of the set-ups the goodputs agree within 3 %. A set-up is
run over seeds until the 95 % interval of the ratio of the means, ours over ns-2's, lies within 3 % ("within"), outside it
("differs"), or 200 seeds of each were used ("undecided"). Only "within" counts. Since each set-up is looked at several
times, up to nine, the confidence is a little lower than the stated 95 %.

  validation/ns2_profile.py                          everything
  validation/ns2_profile.py --quick                  the first ten set-ups with few seeds, where undecided ones do not count
  validation/ns2_profile.py --set-ups 3,17           these
  validation/ns2_profile.py --rival rfc              the same without the profile, which must not pass
  validation/ns2_profile.py --json rows.json --earlier rows.json    goes on where it was stopped

Exit code: 0 enough set-ups are within, 1 too few are, 2 bad usage or a program that cannot be run.
"""

import argparse
import hashlib
import json
import os
import shutil
import sys
import tempfile
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path

import ns2_draw
import verdicts
from ns2_draw import Check, SetUp
from plan import PlanError
from programs import NS2, OURS, RunError, Simulator, Unavailable, measure, simulators

PROFILE = "ns-2"
RIVALS = ("rfc",)
QUICK_SET_UPS, QUICK_SEEDS = 10, 27

WITHIN, DIFFERS, UNDECIDED, FAILED = "within", "differs", "undecided", "failed"


class Stopped(Exception):
    """The user has had enough."""


@dataclass(frozen=True)
class Row:
    """One set-up: goodputs by seed in Mbit/s, of the build of ours and the script of ns-2's that these hashes name."""

    set_up: SetUp
    profile: str
    binary: str
    script: str
    ours: list[float]
    ns2: list[float]
    verdict: str
    ratio: verdicts.Estimate | None
    failed: str = ""

    def as_json(self) -> dict:
        """Everything, for a file; the ratio is worked out anew when it is read."""
        return asdict(self)


def judged(check: Check, ours: list[float], theirs: list[float], most: int) -> tuple[str, verdicts.Estimate]:
    """The verdict on these goodputs, where at most `most` seeds are run."""
    ratio = verdicts.ratio(ours, theirs, check.bounds["level"])
    if verdicts.within(ratio, check.bounds["tolerance"]):
        return WITHIN, ratio
    if verdicts.beyond(ratio, check.bounds["tolerance"]):
        return DIFFERS, ratio
    return (UNDECIDED if min(len(ours), len(theirs)) >= most else ""), ratio


def kept(check: Check, file: Path | None, identity: tuple[str, str, str], most: int) -> dict[int, Row]:
    """The finished rows of an earlier run, by number, that are of the same set-ups, profile, binary and script.

    A file that is not there yet has none, so that one command line both begins and goes on.
    """
    if file is None or not file.exists():
        return {}
    rows = {}
    now = {set_up.number: set_up for set_up in check.set_ups()}
    for entry in json.loads(file.read_text())["rows"]:
        set_up = SetUp(**entry["set_up"])
        if (entry["profile"], entry["binary"], entry["script"]) != identity or set_up != now.get(set_up.number):
            continue
        if entry["failed"]:
            continue
        word, ratio = judged(check, entry["ours"], entry["ns2"], most)
        if word:
            rows[set_up.number] = Row(set_up, *identity, entry["ours"], entry["ns2"], word, ratio)
    return rows


class Runner:
    """The runs. `folder` takes our scenario files and a copy of our program, which a build meanwhile cannot exchange."""

    def __init__(self, check: Check, truckee: Path, profile: str, folder: Path, most: int, limit: float) -> None:
        self._check = check
        self._profile = profile
        self._folder = folder
        self._most = most
        self._limit = limit
        binary = folder / OURS
        shutil.copy2(truckee, binary)
        self._ours = simulators.ours(binary)
        self._ns2 = next(peer for peer in simulators.peers() if peer.name == NS2)
        self.identity = (profile, _sha256(binary), _sha256(simulators.PEERS / "ns2.tcl"))
        self.stop = threading.Event()

    def get_ready(self, set_up: SetUp) -> None:
        """Tries whether both can be run and ours knows what the scenario says. Raises Unavailable or RunError."""
        self._run([*self._command(OURS, set_up, 1), "--explain"])
        self._command(NS2, set_up, 1)

    def row(self, set_up: SetUp) -> Row:
        """Runs a set-up until it is decided."""
        ours: list[float] = []
        theirs: list[float] = []
        word, ratio = "", None
        try:
            for size in (n for n in (*self._check.sizes(), self._most) if n <= self._most):
                ours += [self._goodput(OURS, set_up, seed) for seed in range(len(ours) + 1, size + 1)]
                theirs += [self._goodput(NS2, set_up, seed) for seed in range(len(theirs) + 1, size + 1)]
                if not (sum(ours) and sum(theirs)):
                    raise RunError("delivered nothing")
                word, ratio = judged(self._check, ours, theirs, self._most)
                if word:
                    break
        except RunError as error:
            return Row(set_up, *self.identity, ours, theirs, FAILED, None, str(error))
        return Row(set_up, *self.identity, ours, theirs, word, ratio)

    def _goodput(self, program: str, set_up: SetUp, seed: int) -> float:
        """Mbit/s that have reached the receiver over the whole run."""
        if self.stop.is_set():
            raise Stopped
        simulator = self._simulator(program)
        output = self._run(self._command(program, set_up, seed))
        try:
            # ns-2's own figure has four decimals, which is little for a slow path.
            segments = simulator.read(output, self._workload(set_up)).segments
        except (ValueError, KeyError) as error:
            raise RunError(f"{program} said something unexpected: {error}") from error
        return segments * self._check.stack["mss"] * 8 / set_up.duration / 1e6

    def _simulator(self, program: str) -> Simulator:
        return self._ours if program == OURS else self._ns2

    def _workload(self, set_up: SetUp):
        return self._check.workload(set_up, self._folder / f"{set_up.number}.toml")

    def _command(self, program: str, set_up: SetUp, seed: int) -> list[str]:
        workload = self._workload(set_up)
        if program == OURS:
            if not workload.scenario.exists():
                profile = self._profile if self._profile == PROFILE else None
                workload.scenario.write_text(self._check.scenario(set_up, profile))
            return self._ours.command(workload, seed)
        words = [f"variant={set_up.sender}", f"delack={int(set_up.delayed)}", "syn=1", "count=receiver"]
        return [*self._ns2.command(workload, ns2_draw.ns2_seed(seed)), *words]

    def _run(self, command: list[str]) -> str:
        finished = measure.run(command, self._limit)
        if finished.code != 0:
            said = (finished.stderr or finished.stdout).strip()[-300:]
            raise RunError(f"{Path(command[0]).name} ended with {finished.code}: {said}")
        return finished.stdout


def line(row: Row) -> str:
    """One set-up, its parameters and what came of it."""
    s = row.set_up
    acks = "delayed" if s.delayed else "every"
    path = f"loss {s.loss:<9.4g} {s.rtt * 1e3:6.2f} ms {s.rate / 1e6:6.3f} Mbit/s queue {s.queue:4d} {s.duration:5d} s"
    ratio = f"{row.ratio.mean:6.3f} ± {row.ratio.half:.3f}" if row.ratio else row.failed
    seeds = min(len(row.ours), len(row.ns2))
    return f"{s.number:3d} {s.sender:8} {path} ACKs {acks:8} seeds {seeds:3d}  ratio {ratio}  {row.verdict}"


def cause(check: Check, row: Row) -> str:
    """What is known of a set-up that is not within."""
    reason = check.reasons.get(row.set_up.number)
    if reason is None or reason.because == "unknown":
        return "cause unknown"
    moved = row.ratio is not None and abs(row.ratio.mean - reason.ratio) > check.bounds["tolerance"] + row.ratio.half
    measured = f"measured at {reason.ratio}" + (", which it no longer is" if moved else "")
    return f"cause: {reason.because} ({measured})"


def passes(check: Check, rows: list[Row], quick: bool = False) -> bool:
    """Whether enough are within. A quick run has too few seeds to hold an undecided set-up against anyone."""
    counted = [row for row in rows if not (quick and row.verdict == UNDECIDED)]
    # Counts are compared, since 0.95 · 200 is not exactly 190.
    return sum(row.verdict == WITHIN for row in counted) >= round(check.bounds["share"] * len(counted), 6)


def report(check: Check, rows: list[Row], profile: str, quick: bool = False) -> str:
    """Every set-up that is not within, and the count of all."""
    lines = []
    for row in (row for row in rows if row.verdict != WITHIN):
        # The causes are those of the profile.
        lines += [line(row)] + ([f"    {cause(check, row)}"] if profile == PROFILE else [])
    gone = [row.set_up.number for row in rows if row.verdict == WITHIN and row.set_up.number in check.reasons]
    if gone and profile == PROFILE:
        lines.append(f"a reason is given, but they are within: {', '.join(map(str, gone))}")
    lines.append("")
    for sender in check.draw["senders"]:
        words = Counter(row.verdict for row in rows if row.set_up.sender == sender)
        lines.append(f"{sender:8} {_counts(words)}")
    words = Counter(row.verdict for row in rows)
    share = words[WITHIN] / len(rows)
    lines.append(
        f"profile {profile}: {_counts(words)}, {share:.1%} within {check.bounds['tolerance']:.0%} "
        f"(wanted: {check.bounds['share']:.0%}): {'passes' if passes(check, rows, quick) else 'FAILS'}"
    )
    if len(rows) < check.draw["set_ups"]:
        lines.append(f"{len(rows)} of {check.draw['set_ups']} set-ups were run; the claim is about all of them")
    return "\n".join(lines)


def save(file: Path, check: Check, rows: list[Row], identity: tuple[str, str, str]) -> None:
    """Writes all rows so far; a reader finds the old file or the new one, never a part."""
    profile, binary, script = identity
    ordered = sorted(rows, key=lambda row: row.set_up.number)
    content = {
        "profile": profile,
        "binary": binary,
        "script": script,
        "draw": ns2_draw.digest(check.set_ups()),
        "bounds": check.bounds,
        "verdicts": Counter(row.verdict for row in ordered),
        "rows": [row.as_json() for row in ordered],
    }
    part = file.with_name(file.name + ".part")
    part.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    part.replace(file)


def main() -> int:
    """See the module."""
    check = ns2_draw.load()
    arguments = _arguments(check)
    chosen = [set_up for set_up in check.set_ups() if set_up.number in arguments.set_ups]
    profile = arguments.rival or PROFILE
    with tempfile.TemporaryDirectory() as folder:
        try:
            truckee = Path(simulators.program(arguments.truckee))
            runner = Runner(check, truckee, profile, Path(folder), arguments.seeds, arguments.timeout)
            rows = kept(check, arguments.earlier, runner.identity, arguments.seeds)
            runner.get_ready(chosen[0])
        except (Unavailable, RunError, OSError) as error:
            _say(f"ns2_profile.py: {error}")
            return 2
        due = [set_up for set_up in chosen if set_up.number not in rows]
        _say(f"profile {profile}: {len(due)} set-ups to run, {len(chosen) - len(due)} are kept")
        pool = ThreadPoolExecutor(arguments.jobs)
        try:
            for future in as_completed([pool.submit(runner.row, set_up) for set_up in due]):
                row = future.result()
                rows[row.set_up.number] = row
                _say(line(row))
                if arguments.json:
                    save(arguments.json, check, list(rows.values()), runner.identity)
        finally:
            # What is under way ends with its present run.
            runner.stop.set()
            pool.shutdown(cancel_futures=True)
        if arguments.json:
            save(arguments.json, check, list(rows.values()), runner.identity)
    asked = [rows[set_up.number] for set_up in chosen]
    print(report(check, asked, profile, arguments.quick))
    return 0 if passes(check, asked, arguments.quick) else 1


def _arguments(check: Check) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    last, most = check.draw["set_ups"], check.seeds["most"]
    parser.add_argument("--quick", action="store_true", help=f"the first {QUICK_SET_UPS} set-ups, {QUICK_SEEDS} seeds")
    parser.add_argument("--set-ups", metavar="N,…", help=f"these, of 1 to {last} (default: all)")
    parser.add_argument("--seeds", type=int, help=f"of each program at most ({most})")
    parser.add_argument("--rival", choices=RIVALS, help="rfc: our ordinary stack, with the same numbers written out")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="set-ups at a time (default: a CPU each)")
    parser.add_argument("--timeout", type=float, default=900.0, help="seconds after which a run is killed (900)")
    parser.add_argument("--truckee", type=Path, help="a program built before, in place of a release build of this tree")
    parser.add_argument("--json", type=Path, metavar="FILE", help="every run, written after each set-up")
    parser.add_argument("--earlier", type=Path, metavar="FILE", help="finished rows of this --json are kept, if any")
    arguments = parser.parse_args()
    if arguments.set_ups is None:
        arguments.set_ups = set(range(1, (QUICK_SET_UPS if arguments.quick else last) + 1))
    else:
        words = arguments.set_ups.split(",")
        if not all(word.isdecimal() and 1 <= int(word) <= last for word in words):
            parser.error(f"--set-ups: numbers of 1 to {last}, with commas between them")
        arguments.set_ups = set(map(int, words))
    if arguments.seeds is None:
        arguments.seeds = QUICK_SEEDS if arguments.quick else most
    if not 2 <= arguments.seeds <= most or arguments.jobs < 1:
        parser.error(f"2 to {most} seeds, and at least one job")
    return arguments


def _counts(words: Counter[str]) -> str:
    return ", ".join(f"{words[word]} {word}" for word in (WITHIN, DIFFERS, UNDECIDED, FAILED))


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (PlanError, ValueError) as error:
        _say(f"ns2_profile.py: {error}")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit("stopped")
