"""What a live part of the bench tells: a line of what was measured beside what is asked of it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One line: what was measured, beside what is asked of it; None: it could not be measured."""

    what: str
    target: str
    measured: str
    reached: bool | None
