#!/usr/bin/env python3
"""Runs what is live and judged by statistics, and writes the book's page of it.

That is: the scenarios of validation/kernel, the simulator against this machine's kernel, within the tolerances that each
file states; and the studies that stand on a real stack. Nothing is tried again for how it came out: `truckee` replaces
runs in which the machine was too late, makes more while nothing is decided, and says what it could not judge.

  validation/live.py                        everything, some hours; rewrites docs/live-results.md
  validation/live.py --quick                the quick forms of the studies, and fewer seeds
  validation/live.py -s newreno -S none     one scenario and no study; the page goes to stdout

What is finished is kept under --out, by the program that made it, and is not made again.
Exit status: 0 nothing is broken, 1 something is or could not be judged, 2 bad usage.
"""

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import live_page
from live_page import Facts, Results

ROOT = Path(__file__).resolve().parent.parent
SCENARIOS = ROOT / "validation" / "kernel"
STUDIES = ROOT / "studies"
PAGE = ROOT / "docs" / "live-results.md"
LIVE_ENGINES = {"kernel", "probe"}
# What `truckee` ends with when it has an answer: all is well, something is not, nothing was decided.
ANSWERS = (0, 1, 3)


@dataclass(frozen=True)
class Form:
    """How much is run."""

    quick: bool
    runs: int
    at_most: int
    jobs: int


def form(quick: bool, jobs: int) -> Form:
    """The seeds of a scenario, and the most while it is undecided."""
    return Form(quick, 4, 8, jobs) if quick else Form(quick, 8, 32, jobs)


class Unusable(Exception):
    """The program gave no answer."""


@dataclass(frozen=True)
class Kept:
    """A folder of what is finished; one a program and form, since other programs give other results."""

    folder: Path

    @classmethod
    def of(cls, out: Path, truckee: Path, quick: bool) -> "Kept":
        """Where the results of this program go."""
        made_by = hashlib.sha256(truckee.read_bytes()).hexdigest()[:12]
        return cls(out / f"{made_by}{'-quick' if quick else ''}")

    def find(self, sort: str, name: str) -> Any | None:
        """The answer of that name, if it is finished."""
        path = self._path(sort, name)
        return json.loads(path.read_text()) if path.exists() else None

    def keep(self, sort: str, name: str, answer: Any) -> None:
        """Keeps an answer whole, or not at all."""
        path = self._path(sort, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".tmp")
        unfinished.write_text(json.dumps(answer, indent=1, ensure_ascii=False) + "\n")
        unfinished.replace(path)

    def _path(self, sort: str, name: str) -> Path:
        return self.folder / sort / f"{name}.json"


@dataclass(frozen=True)
class Truckee:
    """The program."""

    path: Path

    def ask(self, *arguments: str) -> Any:
        """Its answer in JSON; what it says on stderr is seen."""
        command = [str(self.path), *arguments, "--format", "json"]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode not in ANSWERS:
            raise Unusable(f"{' '.join(command)} ended with status {done.returncode}")
        try:
            return json.loads(done.stdout)
        except ValueError:
            raise Unusable(f"{' '.join(command)} gave no answer") from None

    def compare(self, scenario: Path, tolerances: str, how: Form) -> Any:
        """A scenario on simulator and kernel."""
        seeds = ["--runs", str(how.runs), "--at-most", str(how.at_most), "--jobs", str(how.jobs)]
        return self.ask("compare", str(scenario), *seeds, "--tolerance", tolerances)

    def study(self, name: str, how: Form, out: Path) -> Any:
        """A study; its runs are kept in `out`, so that one that is stopped goes on."""
        quick = ["--quick"] if how.quick else []
        return self.ask("study", "run", name, *quick, "--jobs", str(how.jobs), "--out", str(out))[0]


def tolerances(text: str) -> str:
    """What the lines `# tolerance: METRIC=BOUND, …` of a scenario say."""
    lines = [line.removeprefix("# tolerance:") for line in text.splitlines() if line.startswith("# tolerance:")]
    return ",".join(part.strip() for line in lines for part in line.split(","))


def scenarios() -> list[str]:
    """The scenarios by name."""
    return sorted(path.stem for path in SCENARIOS.glob("*.toml"))


def live_studies() -> list[str]:
    """The studies that stand on a real stack, by name."""
    return sorted(path.stem for path in STUDIES.glob("*/*.toml") if is_live(path.read_text()))


def is_live(study: str) -> bool:
    """Whether a study's file names a live engine."""
    read = tomllib.loads(study)
    engines = {read.get("engine", "sim")}.union(*(sweep.get("engines", []) for sweep in read.get("sweep", [])))
    return not LIVE_ENGINES.isdisjoint(engines)


def run(truckee: Truckee, kept: Kept, chosen: tuple[Iterable[str], Iterable[str]], how: Form) -> Results:
    """Makes what is not finished; what gave no answer is named."""
    results = Results()
    for name in chosen[0]:
        path = SCENARIOS / f"{name}.toml"

        def compare(path: Path = path) -> Any:
            return truckee.compare(path, tolerances(path.read_text()), how)

        results.scenarios[name] = _one(kept, "scenarios", name, compare)
    for name in chosen[1]:

        def study(name: str = name) -> Any:
            return truckee.study(name, how, kept.folder / "runs")

        results.studies[name] = _one(kept, "studies", name, study)
    return results


def _one(kept: Kept, sort: str, name: str, make: Any) -> Any | None:
    answer = kept.find(sort, name)
    if answer is not None:
        _say(f"{sort}: {name}: kept")
        return answer
    _say(f"{sort}: {name}")
    try:
        answer = make()
    except Unusable as error:
        _say(f"{sort}: {name}: {error}")
        return None
    # A study that was stopped, or that this machine cannot run, has an answer that is none.
    if sort == "scenarios" or answer["complete"]:
        kept.keep(sort, name, answer)
    return answer


def facts(how: Form) -> Facts:
    """Of this machine, this moment and these sources."""

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
        return done.stdout.strip()

    changed = " with changes" if git("status", "--porcelain", "--untracked-files=no") else ""
    return Facts(
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        commit=(git("rev-parse", "--short=10", "HEAD") or "unknown") + changed,
        kernel=f"{platform.system()} {platform.release()}",
        cores=os.cpu_count() or 1,
        quick=how.quick,
        seeds=(how.runs, how.at_most),
        jobs=how.jobs,
    )


def main() -> int:
    """See above."""
    arguments = _arguments()
    truckee = arguments.truckee.resolve()
    if not truckee.exists():
        _say(f"{truckee} is missing: make release")
        return 1
    how = form(arguments.quick, arguments.jobs)
    kept = Kept.of(arguments.out.resolve(), truckee, how.quick)
    if subprocess.run([truckee, "doctor"], stdout=subprocess.DEVNULL, check=False).returncode != 0:
        _say("live runs are not possible here; truckee doctor says why")
        return 1
    try:
        results = run(Truckee(truckee), kept, (arguments.scenario, arguments.study), how)
    except KeyboardInterrupt:
        _say(f"stopped; what is finished is kept in {kept.folder}, and the same command goes on from there")
        return 1
    page = live_page.page(results, facts(how))
    whole = set(results.scenarios) == set(scenarios()) and set(results.studies) == set(live_studies())
    to = arguments.page or (PAGE if whole else None)
    if to is None:
        print(page)
    else:
        to.write_text(page)
        _say(f"wrote {to}")
    broken = results.broken()
    for line in broken:
        _say(line)
    return 1 if broken else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Runs what is live and judged by statistics, and writes the book's page of it.",
        epilog="Exit status: 0 nothing is broken, 1 something is or could not be judged, 2 bad usage.",
    )
    parser.add_argument("--truckee", type=Path, default=ROOT / "target" / "release" / "truckee", help="the program")
    parser.add_argument("--quick", action="store_true", help="the quick forms of the studies, and fewer seeds")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "live", help="where what is finished is kept")
    parser.add_argument("--page", type=Path, help="the page; by default the book's, or stdout if only a part is run")
    parser.add_argument("--jobs", type=int, default=2, help="live runs at once (2)")
    for short, name, known in [("-s", "scenario", scenarios()), ("-S", "study", live_studies())]:
        parser.add_argument(short, f"--{name}", metavar="NAMES", help=f"only these, between commas, or none: {known}")
    arguments = parser.parse_args()
    for name, known in [("scenario", scenarios()), ("study", live_studies())]:
        given: str | None = getattr(arguments, name)
        chosen = known if given is None else [] if given == "none" else given.split(",")
        if unknown := [one for one in chosen if one not in known]:
            parser.error(f"--{name}: there is no {unknown[0]}, only {', '.join(known)}")
        setattr(arguments, name, chosen)
    return arguments


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
