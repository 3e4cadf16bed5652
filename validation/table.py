"""The results as text: one line a variant and scenario, with each peer's goodput, the ratio and the verdict.

Not for: judging (verdicts.py).
"""

import verdicts
from figure import NAMES
from programs import OURS
from rows import Row
from verdicts import Estimate


def table(rows: list[Row], peers: list[str], markdown: bool) -> str:
    """All rows; below them why those differ that do, rows with one reason together."""
    header = ["scenario", "variant", NAMES[OURS]]
    for peer in peers:
        header += [NAMES[peer], "ratio", "verdict"]
    lines = [header] + [[row.scenario, row.variant, *_cells(row, peers)] for row in rows]
    widths = [max(len(line[k]) for line in lines) for k in range(len(header))]
    text = [_lay(line, widths, markdown) for line in lines]
    if markdown:
        text.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    whys: dict[str, list[str]] = {}
    for row in rows:
        for peer, verdict in row.verdicts.items():
            if verdict.why:
                whys.setdefault(verdict.why, []).append(f"{row.scenario}, {row.variant}, {NAMES[peer]}")
    notes = [f"{'- ' if markdown else ''}{'; '.join(places)}: {why}" for why, places in whys.items()]
    words = [verdict.word for row in rows for verdict in row.verdicts.values()]
    count = ", ".join(f"{words.count(w)} {w}" for w in (verdicts.AGREES, verdicts.DIFFERS, verdicts.FAILS))
    unit = "Goodput in Mbit/s; ± half the width of the mean's 97.5 % interval."
    parts = [text, [unit], notes, [count]]
    return "\n\n".join("\n".join(part) for part in parts if part)


def line(row: Row) -> str:
    """A row while it is the newest."""
    peers = list(row.verdicts)
    told = [f"{NAMES[peer]} {_of(row, peer)} ({_ratio(row, peer)}, {row.verdicts[peer].word})" for peer in peers]
    return f"{row.scenario} {row.variant}: {NAMES[OURS]} {_of(row, OURS)}; {'; '.join(told)}"


def _cells(row: Row, peers: list[str]) -> list[str]:
    cells = [_of(row, OURS)]
    for peer in peers:
        known = peer in row.verdicts
        cells += [_of(row, peer), _ratio(row, peer), row.verdicts[peer].word] if known else ["", "", ""]
    return cells


def _of(row: Row, program: str) -> str:
    values = row.goodputs.get(program)
    if not values:
        return "none"
    return _plus_minus(verdicts.estimate(values))


def _ratio(row: Row, peer: str) -> str:
    if OURS not in row.goodputs or peer not in row.goodputs:
        return ""
    return _plus_minus(verdicts.ratio(row.goodputs[OURS], row.goodputs[peer]))


def _plus_minus(estimate: Estimate) -> str:
    return f"{estimate.mean:.3f}" + (f" ± {estimate.half:.3f}" if estimate.half > 0 else "")


def _lay(cells: list[str], widths: list[int], markdown: bool) -> str:
    padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
    return f"| {' | '.join(padded)} |" if markdown else "  ".join(padded).rstrip()
