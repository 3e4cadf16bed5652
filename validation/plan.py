"""What is held against what: the variants and scenarios of plan.toml, and the differences known, of reasons.toml.

Not for: running programs (programs.py) or judging results (verdicts.py).
"""

import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

from programs import PEERS, Workload, workloads

FOLDER = Path(__file__).resolve().parent


class PlanError(Exception):
    """plan.toml or reasons.toml says something that cannot be; names the file and what is odd."""


@dataclass(frozen=True)
class Variant:
    """One algorithm: what each program calls it, and the one setting of the scenarios it may change for all of them."""

    name: str
    ours: str
    peers: dict[str, str]
    limited_transmit: bool

    def on(self, workload: Workload) -> Workload:
        """The scenario with this variant's setting."""
        if self.limited_transmit == workload.limited_transmit:
            return workload
        setting = f"flow.limited_transmit={str(self.limited_transmit).lower()}"
        return replace(workload, limited_transmit=self.limited_transmit, overrides=(*workload.overrides, setting))


@dataclass(frozen=True)
class Reason:
    """A known difference: why it is there, and the ratio ours/theirs it was measured at."""

    scenario: str
    variant: str
    peer: str
    ratio: float
    absolute: float
    because: str


@dataclass(frozen=True)
class Plan:
    """Every row that can be run, and the differences that are known."""

    variants: dict[str, Variant]
    scenarios: dict[str, Workload]
    rows: tuple[tuple[str, str], ...]
    reasons: dict[tuple[str, str, str], Reason]


def load(plan: Path = FOLDER / "plan.toml", reasons: Path = FOLDER / "reasons.toml") -> Plan:
    """Reads both files. Raises PlanError, or WorkloadError for a scenario that the peers cannot be told."""
    try:
        written = tomllib.loads(plan.read_text())
        variants = {entry["name"]: _variant(entry) for entry in written["variant"]}
        rows = [
            (entry["name"], variant)
            for entry in written["scenario"]
            for variant in entry.get("variants", list(variants))
        ]
        names = [entry["name"] for entry in written["scenario"]]
        scenarios = {name: workloads.load(FOLDER / "scenarios" / f"{name}.toml") for name in names}
    except (KeyError, tomllib.TOMLDecodeError) as error:
        raise PlanError(f"{plan.name}: {type(error).__name__}: {error}") from error
    for scenario, name in rows:
        if name not in variants:
            raise PlanError(f'{plan.name}: scenario "{scenario}": there is no variant "{name}"')
    return Plan(variants, scenarios, tuple(rows), _reasons(reasons, rows, variants))


def _variant(entry: dict) -> Variant:
    peers = {peer: entry[peer] for peer in PEERS if peer in entry}
    odd = entry.keys() - {"name", "ours", "limited_transmit", *PEERS}
    if odd:
        raise PlanError(f"plan.toml: variant {entry['name']}: what is {', '.join(sorted(odd))}?")
    return Variant(entry["name"], entry["ours"], peers, entry.get("limited_transmit", True))


def _reasons(path: Path, rows: list[tuple[str, str]], variants: dict[str, Variant]) -> dict:
    known: dict[tuple[str, str, str], Reason] = {}
    try:
        written = [Reason(**entry) for entry in tomllib.loads(path.read_text()).get("reason", [])]
    except (TypeError, tomllib.TOMLDecodeError) as error:
        raise PlanError(f"{path.name}: {error}") from error
    for reason in written:
        place = (reason.scenario, reason.variant, reason.peer)
        if place[:2] not in rows or reason.peer not in variants[reason.variant].peers:
            raise PlanError(f"{path.name}: there is no row {' '.join(place)}")
        if place in known or not reason.because.strip():
            raise PlanError(f"{path.name}: {' '.join(place)}: one reason a row, and not an empty one")
        known[place] = reason
    return known
