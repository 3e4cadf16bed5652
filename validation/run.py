#!/usr/bin/env python3
"""Holds our senders against those of ns-2 and ns-3: the same path, the same settings, goodput within 5 %.

Each row is run over seeds until the 97.5 % interval of the ratio of the means lies within 5 % or outside it. A row that
differs fails unless reasons.toml names the cause and the ratio it was measured at. README.md says how to read it.

  validation/run.py                          everything (about half an hour on two cores)
  validation/run.py --quick                  a part of it in two minutes
  validation/run.py -s noise-1e-3 -v sack    one row
  validation/run.py --figures docs/figures/validation    windows over time, side by side
"""

import argparse
import json
import os
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import plan
import table
import verdicts
from plan import Plan
from programs import OURS, PEERS, Programs, Unavailable, WorkloadError
from rows import MOST, Row, Validation, judged

QUICK_SCENARIOS = ["short", "noise-1e-2"]
QUICK_VARIANTS = ["newreno", "sack", "vegas", "highspeed", "cubic"]
QUICK_SEEDS = 24


def main() -> int:
    """Exit code: 0 every row agrees or differs for a known reason, 1 one fails, 2 bad usage."""
    known = plan.load()
    arguments = _arguments(known)
    chosen = [(s, v) for s, v in known.rows if s in arguments.scenarios and v in arguments.variants]
    kept = {(row.scenario, row.variant): row for row in _earlier(known, arguments.earlier)}
    rows = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        programs = Programs(arguments.truckee, arguments.timeout)
        peers = (
            _ready(programs, known, arguments.peers) if arguments.figures or any(r not in kept for r in chosen) else []
        )
        validation = Validation(known, programs, peers, pool, arguments.seeds)
        for scenario, variant in chosen:
            row = kept.get((scenario, variant)) or validation.row(scenario, known.variants[variant])
            rows.append(row)
            _say(table.line(row))
        if arguments.figures:
            validation.draw(arguments.figures)
    if rows:
        print(table.table(rows, arguments.peers, arguments.markdown))
    if arguments.json:
        arguments.json.write_text(json.dumps([row.as_json() for row in rows], indent=1, ensure_ascii=False) + "\n")
    return 1 if any(v.word == verdicts.FAILS for row in rows for v in row.verdicts.values()) else 0


def _ready(programs: Programs, known: Plan, asked: list[str]) -> list[str]:
    """The peers of those asked for that can be run here; ends the program where ours cannot."""
    peers = []
    for program in (OURS, *asked):
        try:
            programs.get_ready(program, next(iter(known.scenarios.values())))
        except Unavailable as error:
            if program == OURS:
                sys.exit(f"run.py: {error}")
            _say(f"{program} is left out: {error}")
        else:
            peers += [program] if program != OURS else []
    return peers


def _earlier(known: Plan, files: list[Path]) -> list[Row]:
    """The rows of earlier runs, judged by today's reasons."""
    rows = [row for file in files for row in json.loads(file.read_text())]
    return [judged(known, row["scenario"], row["variant"], row["goodputs"], row["failed"]) for row in rows]


def _arguments(known: Plan) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag, what, there in (
        ("-s", "scenarios", known.scenarios),
        ("-v", "variants", known.variants),
        ("-p", "peers", PEERS),
    ):
        parser.add_argument(
            flag, f"--{what}", help=f"comma-separated, of {','.join(there)}; '' for none (default: all)"
        )
    parser.add_argument("--quick", action="store_true", help="two scenarios, five variants, few seeds")
    parser.add_argument("--seeds", type=int, help="most seeds of a peer on a noisy path")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="runs at a time (default: a CPU each)")
    parser.add_argument("--timeout", type=float, default=900.0, help="seconds after which a run is killed (900)")
    parser.add_argument("--truckee", type=Path, help="a program built before, in place of a release build of this tree")
    parser.add_argument("--figures", type=Path, metavar="DIR", help="also draw windows over time into this folder")
    parser.add_argument("--markdown", action="store_true", help="the table in Markdown")
    parser.add_argument("--json", type=Path, metavar="FILE", help="every run")
    parser.add_argument(
        "--earlier",
        type=Path,
        metavar="FILE",
        action="append",
        default=[],
        help="rows of this --json are judged, not run",
    )
    arguments = parser.parse_args()

    def names(what: str, there: Iterable[str], default: list[str]) -> list[str]:
        given = getattr(arguments, what)
        chosen = default if given is None else [name for name in given.split(",") if name]
        for name in chosen:
            if name not in there:
                parser.error(f"there is no {what[:-1]} {name!r}; there are {', '.join(there)}")
        return chosen

    scenarios = QUICK_SCENARIOS if arguments.quick else list(known.scenarios)
    variants = QUICK_VARIANTS if arguments.quick else list(known.variants)
    arguments.scenarios = names("scenarios", known.scenarios, scenarios)
    arguments.variants = names("variants", known.variants, variants)
    arguments.peers = names("peers", PEERS, list(PEERS))
    if arguments.seeds is None:
        arguments.seeds = QUICK_SEEDS if arguments.quick else MOST
    if arguments.seeds < 2 or arguments.jobs < 1:
        parser.error("at least two seeds and one job")
    return arguments


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (plan.PlanError, WorkloadError) as error:
        sys.exit(f"run.py: {error}")
    except KeyboardInterrupt:
        sys.exit("stopped")
