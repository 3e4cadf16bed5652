"""TIBET in Python, beside the built-in one (docs/algorithms/estimator-tibet.md)."""

from math import exp

from truckee.algorithms import Departure, Estimator, Seconds


class Tibet(Estimator):
    """Length and interval are averaged apart; their quotient is smoothed by the time between."""

    name = "my-tibet"

    def __init__(self, alpha: float = 0.99, t0: Seconds = Seconds(1.0)) -> None:
        self.alpha, self.t0 = alpha, t0
        self.last: float | None = None
        self.waiting = 0.0
        self.means: tuple[float, float] | None = None
        self.value: float | None = None

    def on_sent(self, sent: Departure) -> None:
        if self.last is None:
            self.last = sent.now
            return
        self.waiting += 8.0 * sent.bytes
        gap = sent.now - self.last
        if gap <= 0.0:
            return
        self.last, bits, self.waiting = sent.now, self.waiting, 0.0
        mean_bits, mean_gap = self.means or (bits, gap)
        mean_bits = self.alpha * mean_bits + (1.0 - self.alpha) * bits
        mean_gap = self.alpha * mean_gap + (1.0 - self.alpha) * gap
        self.means, past = (mean_bits, mean_gap), exp(-gap / self.t0)
        rate = mean_bits / mean_gap
        self.value = rate if self.value is None else (1.0 - past) * rate + past * self.value

    def bits_per_second(self) -> float | None:
        return self.value
