"""The rows: every program run over seeds on one scenario and variant until the row is decided.

Not for: what a row is to say (plan.toml), the verdict's rule (verdicts.py) or layout (table.py).
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import figure
import verdicts
from plan import Plan, Variant
from programs import NS3, OURS, PEERS, Programs, RunError, Trace, Workload
from verdicts import Verdict

# With noise: seeds of our own runs, and of a peer's at least and at most.
OUR_SEEDS, LEAST, MOST = 60, 8, 96
# ns-3 takes a hundred times as long.
MOST_OF_NS3 = 32
BATCH = 8
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


def judged(known: Plan, scenario: str, variant: str, goodputs: dict[str, list[float]], failed: dict[str, str]) -> Row:
    """The row that these runs make, with a verdict on each peer that was run."""
    found: dict[str, Verdict] = {}
    for peer in (p for p in PEERS if p in goodputs or p in failed):
        missing = next((f"{program} {failed[program]}" for program in (OURS, peer) if program in failed), None)
        if missing:
            found[peer] = Verdict(verdicts.FAILS, missing)
        else:
            ratio = verdicts.ratio(goodputs[OURS], goodputs[peer])
            found[peer] = verdicts.judge(ratio, known.reasons.get((scenario, variant, peer)))
    return Row(scenario, variant, goodputs, found, failed)


class Validation:
    """The runs."""

    def __init__(
        self, known: Plan, programs: Programs, peers: list[str], pool: ThreadPoolExecutor, most_seeds: int
    ) -> None:
        self._plan = known
        self._programs = programs
        self._peers = peers
        self._pool = pool
        self._most = most_seeds

    def row(self, scenario: str, variant: Variant) -> Row:
        """Runs one row until it is decided."""
        workload = variant.on(self._plan.scenarios[scenario])
        goodputs: dict[str, list[float]] = {}
        failed: dict[str, str] = {}
        names = {OURS: variant.ours} | {p: variant.peers[p] for p in self._peers if p in variant.peers}
        for program, name in names.items():
            try:
                goodputs[program] = self._sample(program, workload, name, goodputs.get(OURS))
            except RunError as error:
                failed[program] = str(error)
        return judged(self._plan, scenario, variant.name, goodputs, failed)

    def _sample(self, program: str, workload: Workload, variant: str, ours: list[float] | None) -> list[float]:
        """Goodputs by seed: two where nothing seems to be random, a fixed number of ours, enough of a peer's."""
        most = OUR_SEEDS if program == OURS else min(self._most, MOST_OF_NS3 if program == NS3 else MOST)
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
                        self._programs.window, program, variant.on(workload), called, TRACE_SECONDS, TRACE_STEP
                    )
                    for program, called in calls.items()
                }
                for program, future in waiting.items():
                    try:
                        windows.setdefault(name, {})[program] = future.result()
                    except RunError as error:
                        print(f"no window of {program} {name}: {error}", file=sys.stderr)
            file = folder / f"{scenario}.svg"
            figure.draw(file, workload.title, windows)
            print(file, file=sys.stderr)
