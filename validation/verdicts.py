"""When two goodputs agree: the ratio of two means over seeds, its interval, and the verdict on a row.

Not for: running anything.
"""

import math
import statistics
from dataclasses import dataclass

from plan import Reason

TOLERANCE = 0.05
LEVEL = 0.975

AGREES = "agrees"
DIFFERS = "differs"
FAILS = "FAILS"


@dataclass(frozen=True)
class Estimate:
    """A mean with half the width of its interval, 97.5 % unless said otherwise; infinite, as unknown, for a single run."""

    mean: float
    half: float
    n: int


@dataclass(frozen=True)
class Verdict:
    """On one row and peer: `word` is one of the three above."""

    word: str
    why: str = ""


def estimate(values: list[float]) -> Estimate:
    """Mean and interval by Student's t."""
    n = len(values)
    if n < 2:
        return Estimate(statistics.fmean(values), math.inf, n)
    error = statistics.stdev(values) / math.sqrt(n)
    return Estimate(statistics.fmean(values), student(LEVEL, n - 1) * error if error > 0 else 0.0, n)


def ratio(ours: list[float], theirs: list[float], level: float = LEVEL) -> Estimate:
    """Ratio of the means of two independent samples; its interval to first order (delta method, Welch's freedom)."""
    if min(len(ours), len(theirs)) < 2:
        return Estimate(statistics.fmean(ours) / statistics.fmean(theirs), math.inf, min(len(ours), len(theirs)))
    parts = [(statistics.variance(v) / len(v) / statistics.fmean(v) ** 2, len(v) - 1) for v in (ours, theirs)]
    total = sum(part for part, _ in parts)
    quotient = statistics.fmean(ours) / statistics.fmean(theirs)
    if total == 0:
        return Estimate(quotient, 0.0, min(len(ours), len(theirs)))
    freedom = total**2 / sum(part**2 / nu for part, nu in parts)
    half = quotient * student(level, freedom) * math.sqrt(total)
    return Estimate(quotient, half, min(len(ours), len(theirs)))


def decided(ratio: Estimate, tolerance: float = TOLERANCE) -> bool:
    """Whether the whole interval lies within the tolerance, or outside it."""
    return within(ratio, tolerance) or beyond(ratio, tolerance)


def judge(ratio: Estimate, reason: Reason | None, tolerance: float = TOLERANCE) -> Verdict:
    """Agrees with the interval within the tolerance; differs where a reason is known and holds; fails otherwise."""
    if reason is None:
        if within(ratio, tolerance):
            return Verdict(AGREES)
        if beyond(ratio, tolerance):
            return Verdict(FAILS, f"off by more than {tolerance:.0%}, and no reason is known")
        return Verdict(FAILS, "undecided: more seeds are needed")
    if within(ratio, tolerance):
        return Verdict(FAILS, f"agrees now, where {reason.ratio} was known: {reason.because}")
    if abs(ratio.mean - reason.ratio) > reason.absolute:
        return Verdict(
            FAILS, f"differs, but no longer by the known {reason.ratio} ± {reason.absolute}: {reason.because}"
        )
    return Verdict(DIFFERS, reason.because)


def student(level: float, freedom: float) -> float:
    """Two-sided quantile of Student's t by the expansion about the normal one (Abramowitz and Stegun 26.7.5).

    Off by less than 1 % from three degrees of freedom on; below that it errs to the narrow side.
    """
    z = statistics.NormalDist().inv_cdf(0.5 + level / 2)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / freedom ** (k + 1) for k, term in enumerate(terms))


def within(ratio: Estimate, tolerance: float) -> bool:
    """Whether the whole interval lies within the tolerance."""
    return abs(ratio.mean - 1) + ratio.half <= tolerance


def beyond(ratio: Estimate, tolerance: float) -> bool:
    """Whether the whole interval lies outside the tolerance."""
    return abs(ratio.mean - 1) - ratio.half > tolerance
