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
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import figure
import plan
import table
import verdicts
from plan import Plan, Variant
from programs import NS3, OURS, PEERS, Programs, RunError, Trace, Unavailable, Workload, WorkloadError
from verdicts import Verdict

# With noise: seeds of our own runs, and of a peer's at least and at most.
OUR_SEEDS, LEAST, MOST = 60, 8, 96
# ns-3 takes a hundred times as long.
MOST_OF_NS3 = 48
BATCH = 8
QUICK = {"scenarios": ["short", "noise-1e-2"], "seeds": 16}
TRACED = ("lossless", "noise-1e-3")
TRACE_SECONDS, TRACE_STEP = 60.0, 0.05


@dataclass(frozen=True)
class Row:
    """One variant on one scenario: goodputs of every program by seed, and the verdict on each peer."""

    scenario: str
    variant: str
    goodputs: dict[str, list[float]]
    verdicts: dict[str, Verdict]
    failed: dict[str, str]

    def as_json(self) -> dict:
        """Everything, for a file."""
        ratios = {p: verdicts.ratio(self.goodputs[OURS], self.goodputs[p]) for p in self.verdicts if p in self.goodputs}
        return asdict(self) | {
            "estimates": {program: asdict(verdicts.estimate(v)) for program, v in self.goodputs.items()},
            "ratios": {peer: asdict(ratio) for peer, ratio in ratios.items()},
        }


def main() -> int:
    """Exit code: 0 every row agrees or differs for a known reason, 1 one fails, 2 bad usage."""
    known = plan.load()
    arguments = _arguments(known)
    programs = Programs(arguments.truckee, arguments.timeout)
    peers = []
    for program in (OURS, *arguments.peers):
        try:
            programs.get_ready(program, next(iter(known.scenarios.values())))
        except Unavailable as error:
            if program == OURS:
                sys.exit(f"run.py: {error}")
            _say(f"{program} is left out: {error}")
        else:
            peers += [program] if program != OURS else []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        validation = Validation(known, programs, peers, pool, arguments)
        rows = []
        for scenario, variant in known.rows:
            if scenario in arguments.scenarios and variant in arguments.variants:
                rows.append(validation.row(scenario, known.variants[variant]))
                _say(table.line(rows[-1]))
        if arguments.figures:
            validation.draw(arguments.figures)
    print(table.table(rows, peers, arguments.markdown))
    if arguments.json:
        arguments.json.write_text(json.dumps([row.as_json() for row in rows], indent=1, ensure_ascii=False) + "\n")
    return 1 if any(v.word == verdicts.FAILS for row in rows for v in row.verdicts.values()) else 0


class Validation:
    """The runs."""

    def __init__(
        self, known: Plan, programs: Programs, peers: list[str], pool: ThreadPoolExecutor, arguments: argparse.Namespace
    ) -> None:
        self._plan = known
        self._programs = programs
        self._peers = peers
        self._pool = pool
        self._most = arguments.seeds

    def row(self, scenario: str, variant: Variant) -> Row:
        """Runs one row until it is decided."""
        workload = self._plan.scenarios[scenario]
        goodputs: dict[str, list[float]] = {}
        failed: dict[str, str] = {}
        found: dict[str, Verdict] = {}
        names = {OURS: variant.ours} | {p: variant.peers[p] for p in self._peers if p in variant.peers}
        for program, name in names.items():
            try:
                goodputs[program] = self._sample(program, workload, name, goodputs.get(OURS))
            except RunError as error:
                failed[program] = str(error)
        for peer in names:
            if peer == OURS:
                continue
            missing = next((f"{program} {failed[program]}" for program in (OURS, peer) if program in failed), None)
            if missing:
                found[peer] = Verdict(verdicts.FAILS, missing)
            else:
                ratio = verdicts.ratio(goodputs[OURS], goodputs[peer])
                found[peer] = verdicts.judge(ratio, self._plan.reasons.get((scenario, variant.name, peer)))
        return Row(scenario, variant.name, goodputs, found, failed)

    def _sample(self, program: str, workload: Workload, variant: str, ours: list[float] | None) -> list[float]:
        """Goodputs by seed: two where nothing seems to be random, a fixed number of ours, enough of a peer's."""
        most = min(self._most, OUR_SEEDS if program == OURS else MOST_OF_NS3 if program == NS3 else MOST)
        values = self._runs(program, workload, variant, 0, 2)
        if values[0] == values[1] and not workload.lossy:
            return values
        if program == OURS:
            return values + self._runs(program, workload, variant, 2, most)
        while len(values) < most:
            values += self._runs(program, workload, variant, len(values), min(most, max(LEAST, len(values) + BATCH)))
            if ours is None or verdicts.decided(verdicts.ratio(ours, values)):
                break
        return values

    def _runs(self, program: str, workload: Workload, variant: str, first: int, end: int) -> list[float]:
        seeds = range(first + 1, end + 1)
        return list(self._pool.map(lambda seed: self._programs.goodput(program, workload, variant, seed), seeds))

    def draw(self, folder: Path) -> None:
        """One figure for each traced scenario."""
        folder.mkdir(parents=True, exist_ok=True)
        for scenario in TRACED:
            workload = self._plan.scenarios[scenario]
            windows: dict[str, dict[str, Trace]] = {}
            for name in (variant for at, variant in self._plan.rows if at == scenario):
                variant = self._plan.variants[name]
                calls = {OURS: variant.ours, **{p: v for p, v in variant.peers.items() if p in self._peers}}
                waiting = {
                    program: self._pool.submit(
                        self._programs.window, program, workload, called, TRACE_SECONDS, TRACE_STEP
                    )
                    for program, called in calls.items()
                }
                for program, future in waiting.items():
                    try:
                        windows.setdefault(name, {})[program] = future.result()
                    except RunError as error:
                        _say(f"no window of {program} {name}: {error}")
            file = folder / f"{scenario}.svg"
            figure.draw(file, workload.title, windows)
            _say(str(file))


def _arguments(known: Plan) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag, what, there in (
        ("s", "scenarios", list(known.scenarios)),
        ("v", "variants", list(known.variants)),
        ("p", "peers", list(PEERS)),
    ):
        parser.add_argument(f"-{flag}", f"--{what}", help=f"comma-separated, of {','.join(there)} (default: all)")
    parser.add_argument("--quick", action="store_true", help=f"{','.join(QUICK['scenarios'])}, few seeds")
    parser.add_argument("--seeds", type=int, help="most seeds of any program on a noisy path")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="runs at a time (default: a CPU each)")
    parser.add_argument("--timeout", type=float, default=900.0, help="seconds after which a run is killed (900)")
    parser.add_argument("--truckee", type=Path, help="a program built before, in place of a release build of this tree")
    parser.add_argument("--figures", type=Path, metavar="DIR", help="also draw windows over time into this folder")
    parser.add_argument("--markdown", action="store_true", help="the table in Markdown")
    parser.add_argument("--json", type=Path, metavar="FILE", help="every run")
    arguments = parser.parse_args()
    defaults = {
        "scenarios": QUICK["scenarios"] if arguments.quick else list(known.scenarios),
        "variants": list(known.variants),
        "peers": list(PEERS),
    }
    there = {"scenarios": known.scenarios, "variants": known.variants, "peers": PEERS}
    for what, default in defaults.items():
        given = getattr(arguments, what)
        chosen = default if given is None else [name for name in given.split(",") if name]
        for name in chosen:
            if name not in there[what]:
                parser.error(f"there is no {what[:-1]} {name!r}; there are {', '.join(there[what])}")
        setattr(arguments, what, chosen)
    if arguments.seeds is None:
        arguments.seeds = QUICK["seeds"] if arguments.quick else MOST
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
