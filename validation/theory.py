#!/usr/bin/env python3
"""Mean window against loss rate, by the rules alone: what studies/theory holds our senders against.

A fluid of segments: between two losses the window follows its growth rule round by round, at a loss it is multiplied. Losses
are one in 1/p segments, evenly spaced as the closed forms assume, or independent, as the studies' channels are. No packets, no
queue, no recovery, no timeouts: those are what the comparison is about. Run it to see the numbers.
"""

import math
import random
from collections.abc import Callable

# (window at the loss) -> (window after it, its growth: (window, rounds since) -> window one step later)
Step = Callable[[float, float], float]
Rule = Callable[[float], tuple[float, Step]]

STEP = 0.25  # rounds


def mean_window(rule: Rule, p: float, losses: int, independent: bool = True, seed: int = 1) -> float:
    """Mean over time in segments; the first twentieth of the losses does not count."""
    draw = random.Random(seed)
    window, area, time = 1.2 / math.sqrt(p), 0.0, 0.0
    for k in range(losses):
        if k == losses // 20:
            area = time = 0.0
        window, grow = rule(window)
        left = draw.expovariate(p) if independent else 1 / p
        while left > 1e-6:
            step = min(STEP, left / window)
            after = grow(window, step)
            area += step * (window + after) / 2
            time += step
            left -= step * window
            window = after
    return area / time


def standard(window: float) -> tuple[float, Step]:
    """RFC 5681: one segment a round, and half."""
    return window / 2, lambda w, step: w + step


def highspeed(window: float) -> tuple[float, Step]:
    """RFC 3649, sections 5 and 7."""
    return window * (1 - _cut(window)), lambda w, step: w + step * _gain(w)


def _cut(w: float) -> float:
    return 0.5 if w <= 38 else 0.5 - 0.4 * math.log(w / 38) / math.log(83000 / 38)


def _gain(w: float) -> float:
    return 1.0 if w <= 38 else w**2 * 0.078 / w**1.2 * 2 * _cut(w) / (2 - _cut(w))


def cubic(rtt: float, c: float = 0.4, beta: float = 0.7) -> Rule:
    """RFC 9438, sections 4.2 to 4.7, for a round-trip time in seconds; a rule that remembers W_max."""
    w_max = 0.0

    def reduce(window: float) -> tuple[float, Step]:
        nonlocal w_max
        w_max = window * (1 + beta) / 2 if window < w_max else window
        start = beta * window
        origin = max(w_max, start)
        k = ((origin - start) / c) ** (1 / 3)
        rounds, friendly = 0.0, start

        def grow(w: float, step: float) -> float:
            nonlocal rounds, friendly
            rounds += step
            friendly += step * (1.0 if friendly >= window else 3 * (1 - beta) / (1 + beta))
            return max(w, friendly, origin + c * (rounds * rtt - k) ** 3)

        return start, grow

    return reduce


def main() -> None:
    """The table."""
    rules: dict[str, tuple[Callable[[], Rule], Callable[[float], float]]] = {
        "standard": (lambda: standard, lambda p: math.sqrt(1.5 / p)),
        "highspeed": (lambda: highspeed, lambda p: max(math.sqrt(1.5 / p), 0.12 / p**0.835)),
        "cubic, RTT 100 ms": (lambda: cubic(0.1), lambda p: max(math.sqrt(1.5 / p), 1.054 * (0.1 / p) ** 0.75)),
    }
    print("rule               p       closed form  even losses  independent losses")
    for name, (rule, closed) in rules.items():
        for p in (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5):
            even = mean_window(rule(), p, 500, independent=False)
            independent = mean_window(rule(), p, 20_000)
            print(f"{name:18} {p:<7.0e} {closed(p):11.1f}  {even:11.1f}  {independent:18.1f}", flush=True)


if __name__ == "__main__":
    main()
