#!/usr/bin/env python3
"""Has `truckee probe --identify` tell which TCP each foreign stack is, and holds what it says against their sources.

Each run is one repetition of the probe over our emulated path. Three tables show which was taken for which: the recovery
with SACK, that without, and the congestion control. A case holds if at least nine in ten of its runs are right, each of
the three by itself.

  validation/stacks/identify.py                      every case of identities.toml, ten runs each
  validation/stacks/identify.py --only uml,linux/bbr --runs 3

Needs root. Exit code: 0 every case holds, 1 one does not or could not be run, 2 bad usage.
"""

import argparse
import json
import os
import signal
import sys
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lab
import linux
from run import TRUCKEE

FILE = Path(__file__).with_name("identities.toml")
# What is asked, and where the probe's report has it.
QUESTIONS = ("recovery", "recovery_without_sack", "control")
CANNOT = "cannot-tell"
HOLDS = 0.9
# Bytes of the file: more than the windows of all rounds.
SIZE = 6_000_000
RTT_MS = 40
LIMIT_S = 180.0


@dataclass(frozen=True)
class Case:
    """A stack with a congestion control, and which TCP that is by its source."""

    stack: str
    control: str
    source: str
    recovery: str | None = None
    without_sack: str | None = None
    is_: str | None = None
    # Whether it is asked over TLS.
    secure: bool = False
    # What is seen in place of what is right, by question, and its cause.
    differs: dict[str, str] = field(default_factory=dict)
    cause: str | None = None

    @property
    def name(self) -> str:
        """As it is chosen and shown."""
        return f"{self.stack}/{self.control}" + ("/https" if self.secure else "")

    def truth(self, question: str) -> str | None:
        """What is right; nothing where that is not asked."""
        if question == "control":
            return self.is_ or self.control
        return self.recovery if question == "recovery" else self.without_sack


@dataclass
class Result:
    """What the runs of a case said: of each question how often what; and why some said nothing, or why there are none."""

    case: Case
    said: dict[str, Counter[str]] = field(default_factory=lambda: {question: Counter() for question in QUESTIONS})
    runs: list[dict[str, Any]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    skipped: str | None = None

    def wrong(self) -> list[str]:
        """The questions of which fewer than nine in ten runs were right, or, where that is known to differ, as they differ."""
        if self.skipped:
            return []
        if self.faults:
            return self.faults
        return [
            f"{question}: {said[expected]} of {said.total()} said {expected}"
            for question, said in self.said.items()
            if (truth := self.case.truth(question))
            and (expected := self.case.differs.get(question, truth))
            and said[expected] < HOLDS * said.total()
        ]


def main() -> int:
    """See the module."""
    arguments = _arguments(load())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        linux.private_namespaces()
    except linux.Refused as error:
        _say(str(error))
        return 1
    missing = lab.prepare({case.stack for case in arguments.cases}, _say)

    def run(case: Case) -> Result:
        if why := missing.get(case.stack):
            return Result(case, faults=[why]) if os.environ.get("CI") else Result(case, skipped=why)
        return _run(case, arguments.truckee, arguments.runs)

    with ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(run, arguments.cases))
    print(table(results))
    if arguments.json:
        arguments.json.write_text(json.dumps([_as_json(result) for result in results], indent=1) + "\n")
    return 1 if any(result.wrong() for result in results) else 0


def load(file: Path = FILE) -> list[Case]:
    """All cases."""
    entries = tomllib.loads(file.read_text())["case"]
    return [Case(is_=entry.pop("is", None), **entry) for entry in entries]


def heard(server: dict[str, Any]) -> dict[str, str]:
    """What one report says to each question that was asked."""
    identity = server.get("identity") or {}
    found = {question: identity.get(question) for question in QUESTIONS}
    return {question: finding["is"] or CANNOT for question, finding in found.items() if finding}


def table(results: list[Result]) -> str:
    """A table a question, which was taken for which; then what does not hold."""
    lines = []
    for question in QUESTIONS:
        rows = [(result.case, result.said[question]) for result in results if result.said[question].total()]
        columns = sorted({what for _, said in rows for what in said})
        lines += ["", f"| {question.replace('_', ' ')} | by its source | " + " | ".join(columns) + " |"]
        lines += ["|" + "---|" * (2 + len(columns))]
        lines += [
            f"| {case.name} | {case.truth(question)} | " + " | ".join(str(said[what] or "") for what in columns) + " |"
            for case, said in rows
        ]
    asked = [
        said[truth] / said.total()
        for result in results
        for question, said in result.said.items()
        if (truth := result.case.truth(question)) and said.total()
    ]
    lines += ["", f"{100 * sum(asked) / len(asked):.1f} % of the answers are right" if asked else "nothing was asked"]
    lines += [f"{result.case.name}: {wrong}" for result in results for wrong in result.wrong()]
    lines += [
        f"{result.case.name} differs: {question} is {seen}, since {result.case.cause}"
        for result in results
        for question, seen in result.case.differs.items()
        if result.said[question].total()
    ]
    lines += [f"{result.case.name} is left out: {result.skipped}" for result in results if result.skipped]
    return "\n".join(lines[1:])


def _run(case: Case, truckee: Path, runs: int) -> Result:
    """One case, in namespaces of its own."""
    result = Result(case)
    ends = lab.ends(case.name)
    try:
        which = (case.stack, case.control)
        with lab.served(truckee, ends, RTT_MS, which, SIZE, case.secure) as url:
            for _ in range(runs):
                report = lab.identify(truckee, ends[0], url, LIMIT_S)
                result.runs.append(report)
                for question, what in heard(report).items():
                    if case.truth(question):
                        result.said[question][what] += 1
    except (lab.Failed, linux.Refused) as error:
        result.faults.append(str(error))
    _say(f"{case.name}: {'; '.join(result.wrong()) or 'right'}")
    return result


def _as_json(result: Result) -> dict[str, Any]:
    return {"case": result.case.name, "wrong": result.wrong(), "skipped": result.skipped, "runs": result.runs}


def _say(message: str) -> None:
    print(f"==> {message}", file=sys.stderr, flush=True)


def _arguments(cases: list[Case]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="NAME,…", help="these stacks (lwip) or cases (uml/vegas)")
    parser.add_argument("--runs", type=int, default=10, help="of each case [default: 10]")
    parser.add_argument("--truckee", type=Path, default=TRUCKEE, help=f"the program [default: {TRUCKEE}]")
    parser.add_argument("--jobs", type=int, default=2, help="so many cases at a time [default: 2]")
    parser.add_argument("--json", type=Path, metavar="FILE", help="all that was said, too")
    arguments = parser.parse_args()
    names = {name for case in cases for name in (case.stack, case.name)}
    only = arguments.only.split(",") if arguments.only else list(names)
    if unknown := set(only) - names:
        parser.error(f"there is no {', '.join(sorted(unknown))}, only {', '.join(sorted(names))}")
    arguments.cases = [case for case in cases if {case.stack, case.name} & set(only)]
    if not arguments.truckee.exists():
        parser.error(f"there is no {arguments.truckee}: make release, or --truckee")
    if arguments.jobs < 1 or arguments.runs < 1:
        parser.error("--jobs and --runs: at least 1")
    if os.geteuid() != 0:
        parser.error("this needs root, for namespaces and TUN devices")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
