"""What is expected of each foreign stack (expected.toml), and how much it has to send in a second round by that.

Pure: starts nothing, measures nothing.
"""

import itertools
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kinds

GROWTHS = ("per-ack", "bytes", "completing", "none")
FILE = Path(__file__).with_name("expected.toml")


class ExpectedError(Exception):
    """The file says something that cannot be: which case, what, and what could be."""


@dataclass(frozen=True)
class Case:
    """One stack with one congestion control. Sizes in bytes, `limit` in segments. The round trip is so long that a machine
    which stands still for a tenth of a second ends no round, and short enough that no timer of the stack goes off before
    a round has been acknowledged."""

    stack: str
    control: str
    growth: str
    source: str
    initial_bytes: int | None = None
    initial_segments: int | None = None
    mss: int | None = None
    whole: bool = True
    limit: int | None = None
    small: bool = False
    size: int = 600_000
    variant: str | None = None
    rtt_ms: int = 280
    most_rtt_ms: int | None = None
    quick: bool = False

    @property
    def name(self) -> str:
        """As it is chosen and shown."""
        return "/".join(part for part in (self.stack, self.control, self.variant) if part)

    @property
    def verdict(self) -> tuple[str, int | None] | None:
        """What the probe has to say: its word, and how many segments an ACK counts for; nothing if there is no window."""
        match self.growth:
            case "none":
                return None
            case "per-ack":
                return "per-ack", None
            case "completing":
                return "counts-bytes", 1  # one ACK counts once, whatever it acknowledges
        return ("harmed", None) if self.small else ("counts-bytes", self.limit)

    def initial(self, mss: int) -> int:
        """The first window in bytes."""
        return self.initial_bytes if self.initial_bytes is not None else (self.initial_segments or 0) * mss

    def first_round(self, mss: int) -> int:
        """Bytes sent before any acknowledgement."""
        return self._sendable(self.initial(mss), mss)

    def second_round(self, sizes: list[int], acks: list[int], mss: int) -> int:
        """Bytes sent on these acknowledgements (bytes acknowledged in all, ascending) of a first round of these sizes."""
        ends = list(itertools.accumulate(sizes))
        window, previous = self.initial(mss), 0
        for ack in acks:
            window += self._added(ack - previous, any(previous < end <= ack for end in ends), mss)
            previous = ack
        return self._sendable(window - (ends[-1] - previous), mss)

    def _added(self, acknowledged: int, completes: bool, mss: int) -> int:
        limit = (self.limit or 0) * mss
        match self.growth:
            case "per-ack":
                return mss
            case "bytes":
                return min(acknowledged, limit) if limit else acknowledged
            case "completing":
                return limit if completes else 0
        raise ExpectedError(f"{self.name}: no window grows by {self.growth!r}")

    def _sendable(self, window: int, mss: int) -> int:
        return window // mss * mss if self.whole else window


def load(file: Path = FILE) -> list[Case]:
    """All cases, checked."""
    return [_case(entry, file) for entry in tomllib.loads(file.read_text())["case"]]


def _case(entry: dict[str, Any], file: Path) -> Case:
    initial: dict[str, Any] = entry.pop("initial", {})
    try:
        case = Case(**entry, **{f"initial_{unit}": size for unit, size in initial.items()})
    except TypeError as error:
        raise ExpectedError(f"{file}: {entry.get('stack')}/{entry.get('control')}: {error}") from error
    kind = kinds.KINDS.get(case.stack)
    if kind is None or case.control not in kind.controls:
        raise ExpectedError(f"{file}: there is no {case.name}")
    if case.growth not in GROWTHS:
        raise ExpectedError(f"{file}: {case.name}: growth = {case.growth!r}, not one of {', '.join(GROWTHS)}")
    if case.growth != "none" and (case.initial_bytes is None) == (case.initial_segments is None):
        raise ExpectedError(f"{file}: {case.name}: initial needs bytes or segments, one of them")
    return case
