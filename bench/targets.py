"""What we promise to be beside the peers, and whether a series of runs kept the promise.

A target whose rows were not measured is neither reached nor missed. Not for: layout.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import counted
import many
import receivers
import senders
from figure import Figure
from results import Row, Table
from simulators import COMPUTED_NS2, NS3, OURS, TUNED_NS2

# A mean over fewer seeds says too little about a lossy path to be held against 3 %.
ENOUGH_SEEDS = 20

# What NewReno with a predictor or an estimator may take, over NewReno without.
MOST_FOR_A_RULE = 1.25

# Instructions that a delivered segment may take: of W1 and flows-1000 in so many words, of the others what they took
# before there was a target, over 1.6.
MOST_INSTRUCTIONS = {"W1": 1600, "W2": 1850, "W4": 1880, "W6": 1770, "flows-1000": 2000}

# One flow and many over the same link for the same time: how many those are, and what a segment may cost, over the one flow's.
GROWTH = (("W6", "flows-1000", "1,000", 1.5), ("W6x10", "flows-30000", "30,000", 2.5))

# What a sender that paces or listens may take, over NewReno.
MOST_FOR_A_SENDER = 1.3

# What the profile linux may take, over NewReno of the RFCs, where nothing is lost.
MOST_FOR_LINUX = 1.5

# "Not more" between two runs of the same program: what is left after medians of several, on a machine with others on it.
NOISE = 1.05


@dataclass(frozen=True)
class Verdict:
    """One target: what was asked, what was measured, and whether that will do (None: not measured)."""

    target: str
    measured: str
    reached: bool | None

    @property
    def word(self) -> str:
        """The verdict, as read."""
        return {True: "reached", False: "NOT REACHED", None: "not measured"}[self.reached]


@dataclass
class Measured:
    """All that targets are about, empty where it was not measured: the workloads, and what each part of our own found."""

    table: Table = field(default_factory=Table)
    counts: list[counted.Row] = field(default_factory=list)
    dumbbells: Table = field(default_factory=Table)
    nothing: many.Nothing | None = None
    sending: Table = field(default_factory=Table)
    receiving: Table = field(default_factory=Table)


def judge(found: Measured) -> list[Verdict]:
    """Every target, in a fixed order."""
    return [
        *_speed(found.table),
        _real_time(found.table),
        *_goodput(found.table),
        _memory(found.table, "W1", 16),
        _memory(found.table, "flows-1000", 64),
        *_growth(found.table),
        *_counted(found.counts),
        *_counted_growth(found.counts),
        *_counted_senders(found.counts),
        *_many(found.dumbbells),
        _nothing(found.nothing),
        *_senders(found.sending),
        *_receivers(found.receiving),
    ]


def of_figures(part: str, figures: list[Figure]) -> list[Verdict]:
    """What a live part was measured at, beside what is asked of it."""
    return [Verdict(f"{part}, {figure.what}: {figure.target}", figure.measured, figure.reached) for figure in figures]


def _speed(table: Table) -> Iterator[Verdict]:
    for workload, peer, name, factor in (
        ("W1", COMPUTED_NS2, "ns-2 (Splay, minimal headers)", 3),
        ("W3", COMPUTED_NS2, "ns-2 (Splay, minimal headers)", 10),
        ("W1", TUNED_NS2, "ns-2 with routes by hand besides", 7),
        ("W1-3000s", TUNED_NS2, "ns-2 with routes by hand besides", 3),
        ("W3", TUNED_NS2, "ns-2 with routes by hand besides", 14),
        ("flows-1000", TUNED_NS2, "ns-2 with routes by hand besides", 20),
        ("W1", NS3, "ns-3", 100),
        ("W3", NS3, "ns-3", 100),
    ):
        text = f"{workload}: segments/s at least {factor} × {name}"
        us, them = table.get(workload, OURS), table.get(workload, peer)
        if us is None or them is None:
            yield _unmeasured(text)
            continue
        ratio = us.segments_per_second / them.segments_per_second
        yield Verdict(text, f"{ratio:.1f} ×", ratio >= factor)


def _real_time(table: Table) -> Verdict:
    text = "W6x10: at least 4 × faster than real time"
    us = table.get("W6x10", OURS)
    if us is None:
        return _unmeasured(text)
    factor = us.workload.duration / us.wall
    return Verdict(text, f"{factor:.1f} ×", factor >= 4)


def _goodput(table: Table) -> Iterator[Verdict]:
    for workload in ("W1", "W2", "W3", "W6"):
        text = f"{workload}: goodput within 3 % of ns-2's"
        us, them = table.get(workload, OURS), table.get(workload, TUNED_NS2)
        if us is None or them is None:
            yield _unmeasured(text)
            continue
        off = us.goodput / them.goodput - 1
        measured = f"{100 * off:+.2f} %"
        if us.workload.lossy:
            measured += f" ± {100 * _relative_error(us, them):.2f} (means over {us.seeds} and {them.seeds} seeds)"
            if min(us.seeds, them.seeds) < ENOUGH_SEEDS:
                yield Verdict(text, f"{measured}: too few, {ENOUGH_SEEDS} needed", None)
                continue
        yield Verdict(text, measured, abs(off) <= 0.03)


def _relative_error(us: Row, them: Row) -> float:
    """Standard error of the ratio of the two means, to first order."""
    return ((us.goodput_error / us.goodput) ** 2 + (them.goodput_error / them.goodput) ** 2) ** 0.5


def _memory(table: Table, workload: str, limit: int) -> Verdict:
    text = f"{workload}: peak memory at most {limit} MiB"
    us = table.get(workload, OURS)
    if us is None:
        return _unmeasured(text)
    return Verdict(text, f"{us.peak_mib:.1f} MiB", us.peak_mib <= limit)


def _growth(table: Table) -> Iterator[Verdict]:
    """Nearly as many segments, so the same question with many endpoints in place of one (README.md says why this one)."""
    for alone, together, flows, most in GROWTH:
        text = f"cost per segment from 1 flow ({alone}) to {flows} ({together}): less than {most} ×"
        one, all_of_them = table.get(alone, OURS), table.get(together, OURS)
        if one is None or all_of_them is None:
            yield _unmeasured(text)
            continue
        growth = all_of_them.seconds_per_segment / one.seconds_per_segment
        yield Verdict(text, f"{growth:.2f} ×", growth < most)


def _counted(rows: list[counted.Row]) -> Iterator[Verdict]:
    """The event loop alone: what a process does before its first event does not grow with what it delivers."""
    for workload, most in MOST_INSTRUCTIONS.items():
        text = f"{workload}: at most {most:,} instructions a segment"
        row = counted.find(rows, workload)
        if row is None:
            yield _unmeasured(text)
            continue
        instructions = row.loop.instructions / row.loop.delivered
        yield Verdict(text, f"{instructions:,.0f}", instructions <= most)
    text = "flows-1000: at most 7 cache misses a segment"
    row = counted.find(rows, "flows-1000")
    if row is None:
        yield _unmeasured(text)
        return
    misses = row.loop.misses / row.loop.delivered
    yield Verdict(text, f"{misses:.1f}", misses <= 7)


def _counted_growth(rows: list[counted.Row]) -> Iterator[Verdict]:
    """The same in instructions, which do not hang on the machine, its caches and who else uses them."""
    for alone, together, flows, most in GROWTH:
        text = f"instructions a segment from 1 flow ({alone}) to {flows} ({together}): less than {most} ×"
        growth = counted.growth(rows, alone, together)
        yield _unmeasured(text) if growth is None else Verdict(text, f"{growth:.2f} ×", growth < most)


def _counted_senders(rows: list[counted.Row]) -> Iterator[Verdict]:
    for sender in counted.OTHERS:
        yield _counted_sender(rows, counted.SENDERS_ON, sender, MOST_FOR_A_SENDER)
    yield _counted_sender(rows, counted.UNLOST, counted.PROFILE, MOST_FOR_LINUX)


def _counted_sender(rows: list[counted.Row], workload: str, sender: str, most: float) -> Verdict:
    text = f"{sender}: instructions a segment at most {most} × {counted.BASE}'s"
    ratio = counted.sender_ratio(rows, workload, sender)
    return _unmeasured(text) if ratio is None else Verdict(text, f"{ratio:.2f} ×", ratio <= most)


def _many(table: Table) -> Iterator[Verdict]:
    text = "a flow in a dumbbell: at most 3 KiB"
    slope = many.kib_a_flow(table)
    yield _unmeasured(text) if slope is None else Verdict(text, f"{slope:.1f} KiB", slope <= 3)
    text = f"{many.MOST:,} flows with hosts of their own: in at most 512 MiB"
    most = table.get(many.name(many.MOST), OURS)
    if most is None:
        # Where fewer ran, so many were tried.
        yield _unmeasured(text) if slope is None else Verdict(text, "does not run", False)
        return
    yield Verdict(text, f"{most.peak_mib:.0f} MiB", most.peak_mib <= 512)


def _nothing(nothing: many.Nothing | None) -> Verdict:
    text = "a run of nothing: at most 20 µs"
    if nothing is None:
        return _unmeasured(text)
    return Verdict(text, f"{nothing.microseconds:.1f} µs", nothing.microseconds <= 20)


def _senders(sending: Table) -> Iterator[Verdict]:
    """A predictor or an estimator may make NewReno a quarter slower, on no workload more."""
    for sender in (*senders.PREDICTORS, *senders.ESTIMATORS):
        text = f"{sender}: CPU time per segment at most {MOST_FOR_A_RULE} × {senders.BASE}'s"
        workloads = [f"{name}-{senders.SECONDS}s" for name in senders.WORKLOADS]
        ratios = [senders.cost_ratio(sending, workload, sender) for workload in workloads]
        known = [ratio for ratio in ratios if ratio is not None]
        if len(known) < len(ratios):
            yield _unmeasured(text)
            continue
        measured = ", ".join(f"{name} {ratio:.2f} ×" for name, ratio in zip(senders.WORKLOADS, known, strict=True))
        yield Verdict(text, measured, max(known) <= MOST_FOR_A_RULE)


def _receivers(receiving: Table) -> Iterator[Verdict]:
    """Divided ACKs may cost what ACKs cost; to save ACKs may cost nothing."""
    for name in receivers.DIVISIONS.values():
        text = f"{name}: CPU time per packet not above that of {receivers.EVERY}"
        yield _not_more(text, receiving, name, receivers.packet_ratio)
    for name in receivers.SAVING:
        text = f"{name}: CPU time per segment not above that of {receivers.DELAYED}"
        yield _not_more(text, receiving, name, receivers.segment_ratio)


def _not_more(text: str, receiving: Table, name: str, ratio: Callable[[Table, str, str], float | None]) -> Verdict:
    ratios = [ratio(receiving, f"{workload}-{receivers.SECONDS}s", name) for workload in receivers.WORKLOADS]
    known = [one for one in ratios if one is not None]
    if len(known) < len(ratios):
        return _unmeasured(text)
    measured = ", ".join(f"{name} {one:.2f} ×" for name, one in zip(receivers.WORKLOADS, known, strict=True))
    return Verdict(text, measured, max(known) <= NOISE)


def _unmeasured(text: str) -> Verdict:
    return Verdict(text, "–", None)
