"""The page of live results: tables of what `truckee compare` and `truckee study run` answered, and what is broken.

Not for: running anything (live.py), or judging: the verdicts are the program's.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

NONE = "–"


@dataclass(frozen=True)
class Facts:
    """Where the results come from."""

    date: str
    commit: str
    kernel: str
    cores: int
    quick: bool
    # At first, and at most while undecided.
    seeds: tuple[int, int]
    jobs: int


@dataclass
class Results:
    """Answers by name; None where there was none."""

    scenarios: dict[str, Any | None] = field(default_factory=dict)
    studies: dict[str, Any | None] = field(default_factory=dict)

    def broken(self) -> list[str]:
        """What makes the whole fail, in words."""
        verdicts = [(name, scenario_verdict(answer)) for name, answer in self.scenarios.items()]
        verdicts += [(name, study_verdict(answer)) for name, answer in self.studies.items()]
        return [f"{name}: {verdict}" for name, verdict in verdicts if verdict not in FINE]

    def live(self) -> "Live":
        """All their live runs."""
        answers = [*self.scenarios.values(), *self.studies.values()]
        return Live.of(answer.get("live") for answer in answers if answer is not None)


# What does not make the whole fail: more seeds may decide what is undecided, and a simulation is judged elsewhere.
FINE = ("holds", "undecided", "pass", "differs", "simulated only")


@dataclass(frozen=True)
class Live:
    """Live runs that the answers stand on, and those thrown away."""

    runs: int = 0
    invalid: int = 0
    replaced: int = 0

    @classmethod
    def of(cls, all_runs: Any) -> "Live":
        """The sum of these parts of answers; None counts nothing."""
        parts = [part for part in all_runs if part is not None]
        return cls(*(sum(part[key] for part in parts) for key in ("runs", "invalid", "replaced")))

    def share(self) -> str:
        """How many of the runs made were invalid: `3 of 43 (7.0 %)`."""
        late, made = self.invalid + self.replaced, self.runs + self.replaced
        return f"{late} of {made} ({100 * late / made:.1f} %)" if made else NONE


def scenario_verdict(answer: Any | None) -> str:
    """A comparison in a word."""
    return "no answer" if answer is None else str(answer["verdict"]).replace("-", " ")


def study_verdict(answer: Any | None) -> str:
    """A study in a word: the worst of its checks'."""
    if answer is None:
        return "no answer"
    if answer["skipped"] is not None:
        return f"skipped: {answer['skipped']}"
    if not answer["complete"]:
        return "not complete"
    if answer.get("not_judged") is not None:
        return "not judged"
    counts = answer["counts"]
    if counts["fail"] > 0:
        return "fail"
    if "live" not in answer:
        return "simulated only"
    return next((word for word in ("undecided", "differs") if counts[word] > 0), "pass")


def page(results: Results, facts: Facts) -> str:
    """All of it, in Markdown."""
    return "\n".join(_lines(results, facts)) + "\n"


def _lines(results: Results, facts: Facts) -> Iterator[str]:
    live = results.live()
    seeds = f"{facts.seeds[0]} seeds on each engine, up to {facts.seeds[1]} while a tolerance is undecided"
    yield from [
        "# Live results",
        "",
        (
            "What is live is a measurement, and is judged as one: by intervals, over runs in which the machine was not too late."
            " `make live` makes these measurements and writes this page; [what makes a run invalid]"
            "(kernel.md#what-real-time-does), and what becomes of it, was fixed before."
        ),
        "",
        "| | |",
        "|---|---|",
        f"| date | {facts.date} |",
        f"| commit | `{facts.commit}` |",
        f"| machine | {facts.kernel}, {facts.cores} processors, {facts.jobs} live runs at once |",
        f"| form | {'quick: fewer seeds, and the studies in their quick form' if facts.quick else 'full'} |",
        f"| live runs that the results stand on | {live.runs}, of them {live.invalid} invalid and marked |",
        f"| invalid of all that were made | {live.share()} |",
        "",
    ]
    if results.scenarios:
        yield from _scenarios(results, seeds)
    if results.studies:
        yield from _studies(results)


def _scenarios(results: Results, seeds: str) -> Iterator[str]:
    yield from [
        "## Simulator and kernel",
        "",
        (
            f"The scenarios of `validation/kernel`: {seeds}. Ratios are kernel to simulator, differences are in percentage"
            " points, with their 97.5 % intervals. A tolerance holds if the whole interval is within its bound and is broken if"
            " the whole interval is beyond."
        ),
        "",
        "| scenario | seeds | goodput | resent share | mean RTT | verdict | invalid |",
        "|---|--:|---|---|---|---|---|",
    ]
    for name, answer in results.scenarios.items():
        if answer is None:
            yield f"| `{name}` | | | | | **no answer** | |"
            continue
        cells = [_compared(answer, metric) for metric in ("goodput_bps", "retransmitted_share", "rtt_s.mean")]
        verdict, live = _marked(scenario_verdict(answer)), Live.of([answer.get("live")])
        yield f"| `{name}` | {len(answer['seeds'])} | {' | '.join(cells)} | {verdict} | {live.share()} |"
    yield ""
    left = [
        f"- `{name}`, {held['subject']}, `{held['tolerance']}`: {_marked(held['verdict'])}"
        f"{_why(held['note'] or _span(held['interval']))}"
        for name, answer in results.scenarios.items()
        for held in (answer or {"tolerances": []})["tolerances"]
        if held["verdict"] != "holds"
    ]
    yield from [*left, ""] if left else []


def _studies(results: Results) -> Iterator[str]:
    yield from [
        "## Studies on a real stack",
        "",
        "| study | pass | differ | undecided | fail | verdict | invalid |",
        "|---|--:|--:|--:|--:|---|---|",
    ]
    for name, answer in results.studies.items():
        verdict = _marked(study_verdict(answer))
        counts = {} if answer is None else answer["counts"]
        numbers = [str(counts.get(word, "")) for word in ("pass", "differs", "undecided", "fail")]
        live = Live.of([] if answer is None else [answer.get("live")])
        yield f"| [`{name}`](studies/{name}.md) | {' | '.join(numbers)} | {verdict} | {live.share()} |"
    lines = [
        _row(name, row)
        for name, answer in results.studies.items()
        for row in (answer or {"rows": []})["rows"]
        if row["verdict"] in ("fail", "undecided")
    ]
    yield from ["", *lines] if lines else []


def _row(name: str, row: Any) -> str:
    """A check that has neither passed nor differs as it is known to."""
    where = f" at {row['cell']}" if row["cell"] else ""
    said = f"{_number(row['measured'])}{_span(row['interval'])}, demanded {row['demand']}"
    return f"- `{name}`, {row['check']}{where}: {_marked(row['verdict'])}: {said}{_why(row['note'])}"


def _compared(answer: Any, metric: str) -> str:
    """The second engine against the first, of the first flow."""
    rows = [row for flow in answer["flows"][:1] for row in flow["metrics"] if row["metric"] == metric]
    if not rows:
        return NONE
    against = rows[0]["against"][0]
    size, middle = (100.0, against["difference"]) if rows[0]["share"] else (1.0, against["ratio"])
    if middle is None:
        return NONE
    digits = "+.2f" if rows[0]["share"] else ".3f"
    ends = [_signed(size * end, digits) for end in against["interval"] or []]
    return _signed(size * middle, digits) + (f" ({ends[0]} … {ends[1]})" if ends else "")


def _marked(verdict: str) -> str:
    """What must not be overlooked."""
    return verdict.replace("-", " ") if verdict.replace("-", " ") in FINE else f"**{verdict.replace('-', ' ')}**"


def _signed(x: float, digits: str) -> str:
    return format(x, digits).replace("-", "−")


def _span(interval: list[float] | None) -> str:
    return f" ({_number(interval[0])} … {_number(interval[1])})" if interval else ""


def _why(note: str) -> str:
    return f": {note.strip()}" if note else ""


def _number(x: float | None) -> str:
    return NONE if x is None else _signed(x, ".4g")
