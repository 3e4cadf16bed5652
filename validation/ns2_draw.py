"""The set-ups on which our senders with the profile `ns-2` are held against ns-2: ns2_profile.toml, drawn by its seed.

Not for: running them (ns2_profile.py).
"""

import hashlib
import json
import math
import random
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path

from plan import FOLDER, PlanError
from programs import Workload

HEADERS = 40


@dataclass(frozen=True)
class Reason:
    """Why a set-up is not within, and the ratio ours/theirs it was measured at."""

    set_up: int
    ratio: float
    because: str


@dataclass(frozen=True)
class SetUp:
    """One path and sender. Times in s, rate in bit/s, queue in packets that wait."""

    number: int
    sender: str
    loss: float
    rtt: float
    rate: int
    queue: int
    delayed: bool
    duration: int


@dataclass(frozen=True)
class Check:
    """What ns2_profile.toml says."""

    draw: dict
    stack: dict
    duration: dict
    seeds: dict
    bounds: dict
    reasons: dict[int, Reason]

    def set_ups(self) -> list[SetUp]:
        """All of them. Only random() is called: it alone gives the same numbers in every version of Python."""
        source = random.Random(self.draw["seed"])
        return [self._set_up(source, number) for number in range(1, self.draw["set_ups"] + 1)]

    def _set_up(self, source: random.Random, number: int) -> SetUp:
        draw = self.draw
        # Rounded, so that both programs and the reader are told the same number.
        sender = draw["senders"][int(source.random() * len(draw["senders"]))]
        loss = float(f"{_log_uniform(source, draw['loss']):.4g}")
        rtt = round(_log_uniform(source, draw["rtt_ms"]) / 1e3, 5)
        rate = round(_log_uniform(source, draw["rate_mbit"]) * 1e3) * 1000
        delayed = source.random() < 0.5
        low, high = draw["queue_bdp"]
        products = low + (high - low) * source.random()
        queue = max(draw["queue_least"], round(products * rtt * self.packets_per_second(rate)))
        return SetUp(number, sender, loss, rtt, rate, queue, delayed, self._seconds(loss, rtt, rate))

    def packets_per_second(self, rate: float) -> float:
        """Full packets that a link of `rate` bit/s carries."""
        return rate / 8 / (self.stack["mss"] + HEADERS)

    def _seconds(self, loss: float, rtt: float, rate: float) -> int:
        """From the set-up alone, whatever a program does on it."""
        rules = self.duration
        capacity = self.packets_per_second(rate)
        lossy = 1.22 / (rtt * math.sqrt(loss))
        packets = min(capacity, lossy)
        most = rules["packets"] if lossy > rules["free"] * capacity else rules["packets_limited"]
        low, high = rules["seconds"]
        wanted = min(max(rules["losses"] / (loss * packets), low), high)
        return round(max(min(wanted, most / packets), rules["least_seconds"]))

    def workload(self, set_up: SetUp, scenario: Path) -> Workload:
        """What ns-2 is told of it, by the names of bench/; `scenario` is our file."""
        stack = self.stack
        return Workload(
            name=f"set-up {set_up.number}",
            title=f"set-up {set_up.number}",
            scenario=scenario,
            rate=set_up.rate,
            delay=one_way(set_up),
            duration=set_up.duration,
            loss=set_up.loss,
            flows=1,
            gap=0,
            queue=set_up.queue,
            mss=stack["mss"],
            initial_window=stack["initial_window"],
            ssthresh=stack["window"],
            window=stack["window"],
            min_rto=stack["min_rto_s"],
            limited_transmit=stack["limited_transmit"],
        )

    def scenario(self, set_up: SetUp, profile: str | None) -> str:
        """Our file. With and without the profile it differs by that line alone."""
        stack = self.stack
        receiver = f'{{ delayed = {{ timeout = "{stack["delayed_ack_s"]:.12g}s" }} }}' if set_up.delayed else '"every"'
        lines = [
            *([f'profile = "{profile}"'] if profile else []),
            f'duration = "{set_up.duration}s"',
            "[topology]",
            'kind = "dumbbell"',
            "n = 1",
            f'rate = "{set_up.rate}bit/s"',
            f'delay = "{one_way(set_up):.12g}s"',
            f'queue = {{ kind = "drop-tail", size = "{set_up.queue}packets" }}',
            # ns-2's ACKs have room without limit.
            'queue_back = { kind = "drop-tail" }',
            'access_delay = "0s"',
            f'channel = {{ kind = "bernoulli", per = {set_up.loss:.12g} }}',
            "[[flow]]",
            'from = "s1"',
            'to = "d1"',
            f'sender = "{set_up.sender}"',
            f"receiver = {receiver}",
            f"mss = {stack['mss']}",
            f'initial_window = "{stack["initial_window"]}segments"',
            f'initial_ssthresh = "{stack["window"]}segments"',
            f'rwnd = "{stack["window"]}segments"',
            f'min_rto = "{stack["min_rto_s"]:.12g}s"',
            f'initial_rto = "{stack["initial_rto_s"]:.12g}s"',
            f'max_rto = "{stack["max_rto_s"]:.12g}s"',
            f"limited_transmit = {str(stack['limited_transmit']).lower()}",
        ]
        return "\n".join(lines) + "\n"

    def sizes(self) -> list[int]:
        """How many seeds have been run when a set-up is looked at."""
        first, factor, most = (self.seeds[key] for key in ("first", "factor", "most"))
        sizes = [first]
        while sizes[-1] < most:
            sizes.append(min(most, math.ceil(sizes[-1] * factor)))
        return sizes


def load(path: Path = FOLDER / "ns2_profile.toml") -> Check:
    """Reads the file. Raises PlanError."""
    try:
        written = tomllib.loads(path.read_text())
        reasons = [Reason(**entry) for entry in written.pop("reason", [])]
        check = Check(**written, reasons={reason.set_up: reason for reason in reasons})
        last = check.draw["set_ups"]
    except (KeyError, TypeError, tomllib.TOMLDecodeError) as error:
        raise PlanError(f"{path.name}: {type(error).__name__}: {error}") from error
    for reason in reasons:
        if not (1 <= reason.set_up <= last and reason.because.strip()):
            raise PlanError(f"{path.name}: reason of set-up {reason.set_up}: of 1 to {last}, and not an empty one")
    if len(check.reasons) < len(reasons):
        raise PlanError(f"{path.name}: one reason a set-up")
    return check


def digest(set_ups: list[SetUp]) -> str:
    """SHA-256 of what was drawn."""
    return hashlib.sha256(json.dumps([asdict(set_up) for set_up in set_ups]).encode()).hexdigest()


def one_way(set_up: SetUp) -> float:
    """Propagation delay of the bottleneck, s; the other links have none."""
    return set_up.rtt / 2


def ns2_seed(number: int) -> int:
    """What ns-2's generator is given as seed `number`: 31 bits.

    It puts a seed into all six places of the state of a linear generator, so that the n-th number of seed k is k times
    that of seed 1, modulo 1: up to 30, small seeds all lose the first packet at a loss rate of 1 %.
    """
    return int.from_bytes(hashlib.sha256(str(number).encode()).digest()[:4], "big") >> 1 or 1


def _log_uniform(source: random.Random, ends: list[float]) -> float:
    low, high = (math.log(end) for end in ends)
    return math.exp(low + (high - low) * source.random())
