#!/usr/bin/env python3
"""Results that the book stands on: each stored with the command that makes it, its date, the commit and the build.

  docs/results.py studies [--runs DIR] [ID…]   run studies in full; without ids, all of them (an hour on two cores);
                                               simulations in what live runs leave of the machine, live
                                               studies beside one another as far as their runs bear it, and
                                               those that bear nothing else when all others are done
  docs/results.py numbers [NAME…]              run the commands of results.toml that sentences take their numbers from;
                                               without names, all but those that take long; --live: those that stand on
                                               this machine's kernel (as root, a quarter of an hour)
  docs/results.py list                         what there is, how old, and of which build

A study's result is what `truckee study run` says of its file in this tree, in docs/studies/results/ID.json; a number's is
what its command says, in docs/results/NAME.json. docs/generate.py draws the studies' pages from the former, puts the latter
into sentences, and its --check fails where page and result do not agree. Nothing here is judged.
"""

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
STUDIES = DOCS / "studies" / "results"
NUMBERS = DOCS / "results"
FIGURES = DOCS / "figures" / "studies"
# Live runs at once, of all studies together, for each processor: no study has more (crates/lab).
BORNE_RUNS_PER_CORE = 8
# Recorded traces that some studies need, which may not be handed on and are nowhere in this repository.
DATA = Path(os.environ.get("TRUCKEE_DATA", ROOT / "../shared/data")).resolve()


def study_files() -> dict[str, Path]:
    """The studies of this tree, by their ids."""
    files = sorted((ROOT / "studies").glob("*/*.toml"))
    return {tomllib.loads(file.read_text())["id"]: file for file in files}


def stored(folder: Path) -> dict[str, dict[str, Any]]:
    """What a folder holds, by name; each is an object with `command`, `date`, `commit`, `build` and `report`."""
    return {file.stem: read(file) for file in sorted(folder.glob("*.json"))}


def read(file: Path) -> dict[str, Any]:
    """One stored result; says of a damaged one which it is."""
    try:
        found = json.loads(file.read_text())
    except ValueError as error:
        raise SystemExit(f"{file}: no JSON: {error}") from error
    if not isinstance(found, dict) or (missing := {"command", "date", "commit", "build", "report"} - found.keys()):
        lacks = ", ".join(sorted(missing)) if isinstance(found, dict) else "no object"
        raise SystemExit(f"{file}: a stored result has command, date, commit, build and report; this lacks: {lacks}")
    return found


def store(file: Path, command: str, report: Any, provenance: dict[str, str]) -> None:
    """Writes a result, beside first, so that one that is stopped leaves the old one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    date = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    found = {"command": command, "date": date, **provenance, "report": report}
    beside = file.with_suffix(".part")
    beside.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    beside.replace(file)


def provenance(binary: Path) -> dict[str, str]:
    """The commit of this tree, `+` where it has been changed since, and what the command says it is built of."""
    commit = _said(["git", "rev-parse", "--short=12", "HEAD"])
    changed = _said(["git", "status", "--porcelain", "--untracked-files=no", "--", "studies", "crates", "Cargo.lock"])
    build = _said([str(binary), "--version"]).splitlines()
    return {"commit": commit + ("+" if changed else ""), "build": "; ".join(build)}


def _said(words: Sequence[str]) -> str:
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


def is_live(file: Path) -> bool:
    """Whether a study's file asks for another engine than the simulator."""
    study = tomllib.loads(file.read_text())
    parts = [study, *study.get("sweep", [])]
    return any({"sim"} < {"sim", part.get("engine", "sim"), *part.get("engines", [])} for part in parts)


def bears_nothing_else(file: Path) -> bool:
    """Whether a live study says that nothing else may run beside it."""
    return bool(tomllib.loads(file.read_text()).get("alone", False))


def at_once(file: Path) -> int:
    """How many live runs at once a study says that it bears; two a processor where it says nothing."""
    return int(tomllib.loads(file.read_text()).get("parallel", 2 * (os.cpu_count() or 1)))


class Places:
    """So many live runs may go at once, whoever has them."""

    def __init__(self, count: int) -> None:
        """As many as this are free."""
        self.count = self.free = count
        self.changed = threading.Condition()

    @contextmanager
    def taken(self, wanted: int) -> Iterator[None]:
        """Waits until there are so many, or all where there never are so many, and has them for a while."""
        wanted = min(wanted, self.count)
        with self.changed:
            self.changed.wait_for(lambda: self.free >= wanted)
            self.free -= wanted
        try:
            yield
        finally:
            with self.changed:
                self.free += wanted
                self.changed.notify_all()


def run_study(binary: Path, file: Path, runs: Path | None, aside: bool = False) -> dict[str, Any]:
    """What a study's file comes to, and its figures beside the book's others; `aside`: on processors that nobody else wants."""
    with tempfile.TemporaryDirectory() as folder:
        out = runs or Path(folder) / "runs"
        words = ["chrt", "--idle", "0"] if aside else []
        words += [str(binary), "study", "run", str(file), "--out", str(out), "--format", "json"]
        done = subprocess.run(
            words,
            cwd=folder,
            env=os.environ | {"TRUCKEE_DATA": str(DATA)},
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode not in (0, 1, 3) or not done.stdout.strip():
            raise SystemExit(f"{shlex.join(words)} ended with status {done.returncode}")
        report: dict[str, Any] = json.loads(done.stdout)[0]
        if not report["complete"]:
            return report
        FIGURES.mkdir(parents=True, exist_ok=True)
        names = []
        for figure in report["figures"]:
            name = f"{report['id']}-{Path(figure).name}"
            shutil.copyfile(Path(folder) / figure, FIGURES / name)
            names.append(name)
        report["figures"] = names
        del report["wall_s"]
    return report


def studies(binary: Path, ids: Sequence[str], runs: Path | None) -> int:
    """Runs studies and stores what they come to. One that this machine cannot run keeps its result, and is said."""
    known = study_files()
    if unknown := [name for name in ids if name not in known]:
        raise SystemExit(f"no study {', '.join(unknown)} in studies/*/*.toml")
    chosen = ids or sorted(known)
    live = [name for name in chosen if is_live(known[name])]
    simulated = [name for name in chosen if name not in live]
    alone = [name for name in live if bears_nothing_else(known[name])]
    # Those that take most of the machine first: what takes little finds its place beside any of them.
    beside = sorted(set(live) - set(alone), key=lambda name: (-at_once(known[name]), name))
    places = Places(BORNE_RUNS_PER_CORE * (os.cpu_count() or 1))

    def group(names: Sequence[str], aside: bool) -> bool:
        return not [name for name in names if not stored_anew(binary, name, known[name], runs, aside)]

    def in_its_place(name: str) -> bool:
        with places.taken(at_once(known[name])):
            return group([name], False)

    with ThreadPoolExecutor(len(beside) + 1) as pool:
        groups = [pool.submit(in_its_place, name) for name in beside]
        groups.append(pool.submit(group, simulated, bool(beside)))
    stored = [done.result() for done in groups] + [group(alone, False)]
    return 0 if all(stored) else 1


def stored_anew(binary: Path, name: str, file: Path, runs: Path | None, aside: bool) -> bool:
    """Runs a study and stores what it comes to; false: it keeps what it has."""
    came = run_study(binary, file, runs, aside)
    if not came["complete"]:
        print(f"{name}: kept as it is: {came['skipped'] or 'it was stopped'}", file=sys.stderr)
        return False
    store(STUDIES / f"{name}.json", f"truckee study run {name}", came, provenance(binary))
    counts = ", ".join(f"{count} {verdict}" for verdict, count in came["counts"].items() if count)
    print(f"{name}: {counts}", flush=True)
    return True


def commands() -> dict[str, dict[str, Any]]:
    """The commands that numbers in sentences come from, by name: `command`, and where it is not `--format json` that makes it
    say JSON: `json`, the option behind which a file is named, or `text`, where what it prints is the result; `live`, where it
    needs a kernel to measure. One that `judges` may end with status 1, or 3
    where it decides nothing: that is a verdict, and stands in what it says."""
    return {entry["name"]: entry for entry in tomllib.loads((DOCS / "results.toml").read_text())["result"]}


def without_runs(report: Any) -> Any:
    """A bench's report without every single run: what they came to is in the rows. Packets a segment are kept."""
    if isinstance(report, list):
        return [without_runs(part) for part in report]
    if not isinstance(report, dict):
        return report
    runs = report.get("runs")
    if not isinstance(runs, list):
        return {key: without_runs(value) for key, value in report.items()}
    kept = {key: without_runs(value) for key, value in report.items() if key != "runs"}
    if runs and "packets" in runs[0]:
        kept["packets_per_segment"] = sum(run["packets"] for run in runs) / sum(run["segments"] for run in runs)
    return kept


def late(report: Any) -> str | None:
    """Why a live answer is no number for the book: the machine was too late in one of its runs."""
    live = report.get("live") if isinstance(report, dict) else None
    return (
        f"the machine was too late in {live['invalid']} of {live['runs']} live runs"
        if live and live["invalid"]
        else None
    )


def numbers(binary: Path, names: Sequence[str], live: bool) -> int:
    """Runs commands of results.toml and stores their JSON: these, or all that are live, or all that are quick."""
    status = 0
    known = commands()
    quick = {name for name, entry in known.items() if not entry.keys() & {"json", "text", "live"}}
    chosen = names or sorted({name for name, entry in known.items() if entry.get("live")} if live else quick)
    if unknown := [name for name in names if name not in known]:
        raise SystemExit(f"no result {', '.join(unknown)} in docs/results.toml")
    with tempfile.TemporaryDirectory() as folder:
        bin_ = Path(folder) / "bin"
        bin_.mkdir()
        (bin_ / "truckee").symlink_to(binary)
        for shared in ("examples", "docs", "bench", "tests", "validation"):
            (Path(folder) / shared).symlink_to(ROOT / shared)
        environment = os.environ | {"PATH": f"{bin_}:{os.environ['PATH']}", "NO_COLOR": "1"}
        for name in chosen:
            report = _answer(known[name], Path(folder), environment)
            if why := late(report):
                print(f"{name}: kept as it is: {why}", file=sys.stderr, flush=True)
                status = 1
                continue
            store(NUMBERS / f"{name}.json", known[name]["command"], report, provenance(binary))
            print(f"{name}: stored", flush=True)
    return status


def _answer(entry: dict[str, Any], folder: Path, environment: dict[str, str]) -> Any:
    """What a command says as JSON, on its output or into a file."""
    words = shlex.split(entry["command"])
    written = folder / "answer.json"
    by_file, text = entry.get("json"), bool(entry.get("text"))
    words += [by_file, str(written)] if by_file else [] if text else ["--format", "json"]
    cwd = ROOT if by_file or text else folder
    done = subprocess.run(words, cwd=cwd, env=environment, stdout=subprocess.PIPE, check=False)
    if done.returncode not in ((0, 1, 3) if entry.get("judges") else (0,)):
        raise SystemExit(f"{entry['name']}: {shlex.join(words)} ended with status {done.returncode}")
    if text:
        return done.stdout.decode().strip()
    return without_runs(json.loads(written.read_text() if by_file else done.stdout))


def listed() -> None:
    """One line a result."""
    for folder in (STUDIES, NUMBERS):
        for name, found in stored(folder).items():
            print(f"{found['date']}  {found['commit']:<13}  {name}")


def main() -> int:
    """Exit code: 0 all that was asked for is stored, 1 something could not be run here."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_subparsers(dest="what", required=True)
    of_studies = what.add_parser("studies", help="run studies in full")
    of_studies.add_argument("--runs", type=Path, metavar="DIR", help="keep the runs here, and go on from there")
    of_studies.add_argument("ids", nargs="*", metavar="ID")
    of_numbers = what.add_parser("numbers", help="run the commands that sentences take their numbers from")
    of_numbers.add_argument("--live", action="store_true", help="run those that stand on this machine's kernel")
    of_numbers.add_argument("names", nargs="*", metavar="NAME")
    what.add_parser("list", help="what there is")
    arguments = parser.parse_args()
    if arguments.what == "list":
        listed()
        return 0
    binary = (ROOT / os.environ.get("TRUCKEE", "target/release/truckee")).resolve()
    if not binary.exists():
        raise SystemExit(f"{binary} is missing: make release")
    if arguments.what == "numbers":
        return numbers(binary, arguments.names, arguments.live)
    return studies(binary, arguments.ids, arguments.runs.resolve() if arguments.runs else None)


if __name__ == "__main__":
    sys.exit(main())
