"""What we promise to be beside the peers, and whether a series of runs kept the promise.

A target whose rows were not measured is neither reached nor missed. Not for: layout.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import receivers
import senders
from emulator import Figure
from results import Row, Table
from simulators import COMPUTED_NS2, NS3, OURS, TUNED_NS2

# A mean over fewer seeds says too little about a lossy path to be held against 3 %.
ENOUGH_SEEDS = 20

# What NewReno with a predictor or an estimator may take, over NewReno without.
MOST_FOR_A_RULE = 1.25


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


def judge(table: Table, sending: Table, receiving: Table) -> list[Verdict]:
    """Every target, in a fixed order; `sending` holds what senders.py is about, `receiving` what receivers.py is."""
    return [
        *_speed(table),
        _real_time(table),
        *_goodput(table),
        _memory(table, "W1", 16),
        _memory(table, "flows-1000", 64),
        _growth(table),
        *_senders(sending),
        *_receivers(receiving),
    ]


def of_figures(part: str, figures: list[Figure]) -> list[Verdict]:
    """What a live part was measured at, beside what is asked of it."""
    return [Verdict(f"{part}, {figure.what}: {figure.target}", figure.measured, figure.reached) for figure in figures]


def _speed(table: Table) -> Iterator[Verdict]:
    for workload, peer, name, factor in (
        ("W1", COMPUTED_NS2, "ns-2 (Splay, minimal headers)", 3),
        ("W3", COMPUTED_NS2, "ns-2 (Splay, minimal headers)", 10),
        ("W1", TUNED_NS2, "ns-2 with routes by hand besides", 3),
        ("W1-3000s", TUNED_NS2, "ns-2 with routes by hand besides", 3),
        ("W3", TUNED_NS2, "ns-2 with routes by hand besides", 10),
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


def _growth(table: Table) -> Verdict:
    """One flow and a thousand over the same link for the same time: nearly as many segments, so the same question with
    a thousand endpoints in place of one (README.md says why this one)."""
    text = "cost per segment from 1 flow (W6) to 1,000 (flows-1000): less than 1.5 ×"
    one, thousand = table.get("W6", OURS), table.get("flows-1000", OURS)
    if one is None or thousand is None:
        return _unmeasured(text)
    growth = thousand.seconds_per_segment / one.seconds_per_segment
    return Verdict(text, f"{growth:.2f} ×", growth < 1.5)


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
