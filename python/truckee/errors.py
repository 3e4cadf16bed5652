"""What can go wrong, as exceptions. The messages are those of the command `truckee`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_Place = tuple[str, int | None, int]


class Error(Exception):
    """Anything that this package raises of its own."""


class QuestionError(Error, ValueError):
    """What was asked for makes no sense: it is to be mended in the call, or in a file that it names."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a scenario."""

    message: str
    """What is wrong, naming the offending text."""
    origin: str | None
    """Where: `file:line:column`, or the override as `--set path=value`; `None` where the whole file is meant."""
    line: int | None
    """Line from 1; `None` in an override."""
    column: int | None
    """Column from 1, in characters."""
    expected: str | None
    """What was expected there."""
    help: str | None
    """How to mend it: the nearest valid name, say."""


class ScenarioError(QuestionError):
    """A scenario cannot be used. Its text shows every problem with an excerpt of where it stands."""

    def __init__(
        self,
        message: str,
        problems: Sequence[tuple[str, _Place | None, str | None, str | None]] = (),
    ) -> None:
        super().__init__(message)
        self._given = list(problems)

    @property
    def problems(self) -> list[Problem]:
        """Everything that was found wrong in one go, in the order of the file."""
        made: list[Problem] = []
        for message, place, expected, hint in self._given:
            origin, line, column = place or (None, None, None)
            made.append(Problem(message, origin, line, column, expected, hint))
        return made

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[object, ...]]:
        """Goes from process to process as it is."""
        return ScenarioError, (str(self), self._given)


class RunError(Error, RuntimeError):
    """A run could not be made, or not to its end."""

    def __init__(self, message: str, transient: bool = False) -> None:
        super().__init__(message)
        self.transient = transient
        """Whether it befell this run alone: made again, it may go well."""

    def __reduce__(self) -> tuple[type[RunError], tuple[object, ...]]:
        """Goes from process to process as it is."""
        return RunError, (str(self), self.transient)


class MachineError(Error, OSError):
    """This machine cannot do it, or not now: a folder that cannot be written, an engine that is not here."""


class InternalError(Error, RuntimeError):
    """A fault of this package. Please report it."""


class MachineWarning(UserWarning):
    """Something that befell a sweep, and was mended: a part of its folder that was damaged, a run made again."""
