#!/usr/bin/env python3
"""Holds foreign stacks against the project's scripts, by `truckee drill --target program`, and that against drill.toml.

  validation/stacks/drill.py                     all stacks that there is a program for
  validation/stacks/drill.py smoltcp --write     and writes down what came of it

drill.toml has for each stack the scripts that it passes, those that it fails, with what was seen, and those that it now passes
and now fails, with what is known of the cause, which are held to nothing; all others ask for what it does not do. What passes and is not listed so is as much of a fault as what fails. Needs root, and what the stack is built of.

Exit code: 0 all is as it is listed, 1 it is not, 2 bad usage.
"""

import argparse
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any

import kinds

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SCRIPTS = ROOT / "tests" / "drill"
LISTED = HERE / "drill.toml"
# Subjects that any TCP can be held to: what there is of congestion and recovery begins with Linux's ten segments.
SUBJECTS = ("close", "handshake", "receiver", "timeout", "timestamps", "window")
PROGRAMS = {"smoltcp": kinds.BUILT / "release" / "smoltcp-drill"}
# Those that tell nothing of a connection, and refuse what asks for it: what comes before may hang on the machine, and says nothing
# of a script that is not held to its end.
SILENT = {"smoltcp"}
# A run in which the machine was later than the script bears says nothing of the stack, whatever came of it. Of so many one is to be
# in time, of a script that lasts for seconds, too.
RUNS = 40


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description="Holds foreign TCP stacks against the project's scripts.")
    parser.add_argument("stacks", nargs="*", choices=[*PROGRAMS, []], metavar="STACK", help="all, if none is named")
    parser.add_argument("--write", action="store_true", help="write down what came of it")
    parser.add_argument("--truckee", type=Path, default=ROOT / "target" / "release" / "truckee")
    arguments = parser.parse_args()
    faults: list[str] = []
    listed = tomllib.loads(LISTED.read_text()) if LISTED.exists() else {}
    for stack in arguments.stacks or PROGRAMS:
        kinds.KINDS[stack].prepare(lambda text: print(text, file=sys.stderr))
        known = listed.get(stack, {}).get("fails", {})
        seen = held(arguments.truckee, PROGRAMS[stack], [path for path in scripts() if can_end(stack, path, known)])
        faults += [f"{stack}: {fault}" for fault in different(seen, listed.get(stack, {}))]
        if arguments.write:
            listed[stack] = entry(seen, listed.get(stack, {}))
    if arguments.write:
        LISTED.write_text(written(listed))
        return 0
    print("\n".join(faults) or "every stack does what drill.toml says")
    return 1 if faults else 0


def scripts() -> list[Path]:
    """Those that any TCP can be held to."""
    return [path for subject in SUBJECTS for path in sorted(SCRIPTS.glob(f"{subject}/*.pkt"))]


def named(script: Path) -> str:
    """What it is called in the list."""
    return str(script.relative_to(SCRIPTS).with_suffix(""))


def can_end(stack: str, script: Path, fails: Container[str]) -> bool:
    """Whether a stack can be held to all of a script, or fails it before, as is known."""
    return stack not in SILENT or "%{" not in script.read_text() or named(script) in fails


def held(truckee: Path, program: Path, scripts: Sequence[Path]) -> dict[str, str | None]:
    """What came of each script that asks for nothing else: nothing, or what was seen in place of what."""
    names = {str(path): named(path) for path in scripts}
    seen: dict[str, str | None] = {}
    waiting = list(names)
    for _ in range(RUNS):
        reports = drilled(truckee, program, waiting)
        late = {report["script"] for report in reports if report["lateness_s"] > report["bears_s"]}
        for report in reports:
            if "refused" not in report and report["script"] not in late:
                seen[names[report["script"]]] = told(report["failure"])
        waiting = [script for script in waiting if script in late]
        if not waiting:
            return seen
    raise SystemExit(f"the machine was later than they bear in each of {RUNS} runs of {', '.join(waiting)}")


def drilled(truckee: Path, program: Path, scripts: list[str]) -> list[dict[str, Any]]:
    """The command's reports."""
    command = [str(truckee), "drill", *scripts, "--target", "program", "--format", "json", "--", str(program)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode not in (0, 1) or not done.stdout:
        raise SystemExit(f"{' '.join(command[:2])} … ended with status {done.returncode}")
    reports: list[dict[str, Any]] = json.loads(done.stdout)
    return reports


def told(failure: dict[str, Any] | None) -> str | None:
    """A failure in a line, without the times of the day."""
    if failure is None:
        return None
    seen = re.sub(r"TS val \d+", "TS val …", re.sub(r" until [\d.]+ s$", "", failure["seen"]))
    return f"line {failure['line']}: expected {failure['expected']}; seen {seen}"


def different(seen: dict[str, str | None], listed: dict[str, Any]) -> list[str]:
    """What is not as it is listed."""
    passes, fails, varies = set(listed.get("passes", [])), listed.get("fails", {}), listed.get("varies", {})
    seen = {name: failure for name, failure in seen.items() if name not in varies}
    faults = []
    for name, failure in seen.items():
        if failure is None and name not in passes:
            faults.append(f"{name} passes, and is not listed so")
        elif failure is not None and name not in fails:
            faults.append(f"{name} fails, and is not listed so: {failure}")
    faults += [
        f"{name} is listed, and asks for what the stack does not do" for name in sorted({*passes, *fails} - {*seen})
    ]
    return faults


def entry(seen: dict[str, str | None], before: dict[str, Any]) -> dict[str, Any]:
    """What is to be listed; why something fails stays as it was said."""
    why, varies = before.get("fails", {}), before.get("varies", {})
    seen = {name: failure for name, failure in seen.items() if name not in varies}
    return {
        "passes": [name for name, failure in seen.items() if failure is None],
        "fails": {name: why.get(name, failure) for name, failure in seen.items() if failure is not None},
        "varies": varies,
    }


def written(listed: dict[str, Any]) -> str:
    """The file."""
    lines = ["# What foreign stacks do with the scripts of tests/drill: drill.py holds them to it."]
    for stack, entries in sorted(listed.items()):
        lines += ["", f"[{stack}]", "passes = ["]
        lines += [f"    {json.dumps(name)}," for name in entries["passes"]]
        lines.append("]")
        for sort in ("fails", "varies"):
            lines += ["", f"[{stack}.{sort}]"]
            lines += [
                f"{json.dumps(name)} = {json.dumps(why, ensure_ascii=False)}" for name, why in entries[sort].items()
            ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
