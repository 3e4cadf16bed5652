"""Algorithms written in Python, run inside the simulator beside the built-in ones.

A class of one of the families below, with its methods, is handed to `run` or `sweep` as `algorithms=[Mine]`; the scenario
then names it as any other, by its `name`. An object of it stands in each sender or receiver. The parameters of `__init__`
are the scenario's, each with a default: a number, a switch, or `Seconds`, which takes a time with its unit.

>>> class Patient(Predictor):
...     name = "patient"
...     def __init__(self, wait: Seconds = Seconds(0.2)) -> None:
...         self.wait, self.before = wait, 0.0
...     def on_timeout(self, now: float) -> None:
...         self.before = now
...     def verdict(self, loss: Loss) -> Cause:
...         return "congestion" if loss.now - self.before < self.wait else "wireless"
>>> sender = {"response": {"by-cause": {"predictor": {"patient": {"wait": "100ms"}}}}}
>>> run("examples/wireless.toml", set={"flow.sender": sender}, algorithms=[Patient])

Times are in s, sizes and sequence numbers in bytes, rates in bit/s. What a method raises, and what it answers that no run
can go on with, ends the run with a `RunError` that names the algorithm and the simulated time; the exception is its cause.
A method that a class does not have of its own is not called, and costs nothing. `python/tests/cost.py` measures what a
call costs: 2 to 3 microseconds in a build without optimisation, a window that is set and the method's own work included.
Objects are copied by `copy.deepcopy`. Random numbers must come from a generator with a seed of its own, or runs cannot be
made again.
"""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Literal, TypeAlias

from truckee._native import Ack, Air, Arrival, Departure, Loss, Window
from truckee.errors import QuestionError

Cause = Literal["congestion", "wireless"]
"""What a loss is taken for."""

_Given: TypeAlias = tuple[str, str, Any, list[tuple[str, str, float]], list[str], str]


class Seconds(float):
    """A parameter's default that is a time: a scenario gives it with a unit, `"200ms"`."""


class Algorithm:
    """What all families have in common."""

    family: ClassVar[str]
    name: ClassVar[str] = ""
    """As scenarios name it; the class's own name in small letters with hyphens unless told otherwise."""


class Estimator(Algorithm):
    """A bandwidth estimator: `flow.observe.estimators`, or the `estimator` of a response."""

    family = "estimator"

    def on_sent(self, sent: Departure) -> None:
        """A data segment was sent, or sent again."""

    def on_ack(self, ack: Ack, window: Window) -> None:
        """An ACK has come; the window is as it was before."""

    def advance(self, now: float) -> None:
        """Nothing has come until now: told before the estimate is read at a loss event."""

    def on_timeout(self) -> None:
        """The retransmission timer has gone off."""

    def bits_per_second(self) -> float | None:
        """The estimate; `None` before there is one."""
        raise NotImplementedError


class Predictor(Algorithm):
    """A loss predictor: `flow.observe.predictors`, or the `predictor` of a response."""

    family = "predictor"

    def on_sent(self, sent: Departure) -> None:
        """A data segment was sent, or sent again."""

    def on_ack(self, ack: Ack, window: Window) -> None:
        """An ACK has come; the window is as it was before."""

    def on_timeout(self, now: float) -> None:
        """A retransmission timeout has been judged."""

    def verdict(self, loss: Loss) -> Cause:
        """What this loss is taken for."""
        raise NotImplementedError


class Detector(Algorithm):
    """A slow-start detector at the receiver: `flow.observe.detectors`, or the `detector` of a policy."""

    family = "detector"

    def on_segment(self, arrival: Arrival) -> None:
        """A data segment has come."""
        raise NotImplementedError

    def in_slow_start(self) -> bool:
        """Whether the sender is taken to be in slow start."""
        raise NotImplementedError


class Response(Algorithm):
    """A loss response: the `response` of `flow.sender`."""

    family = "response"

    def on_loss(self, loss: Loss, window: Window) -> Cause | None:
        """A loss event: sets `window.ssthresh` and `window.cwnd`, neither below one segment, and says what the loss was taken
        for; `None` is congestion."""
        raise NotImplementedError

    def on_ack(self, ack: Ack, window: Window) -> None:
        """Every ACK, before the window changes."""

    def on_sent(self, sent: Departure) -> None:
        """Every data segment sent."""


class Controller(Algorithm):
    """Window growth, loss response and pacing in one: the `controller` of `flow.sender`."""

    family = "controller"

    def on_ack(self, ack: Ack, window: Window) -> None:
        """An ACK of new data while nothing is being repaired and the window is what limits the sender: raises
        `window.cwnd`."""
        raise NotImplementedError

    def on_loss(self, loss: Loss, window: Window) -> Cause | None:
        """As in `Response`."""
        raise NotImplementedError

    def hear(self, ack: Ack, window: Window) -> None:
        """Any ACK, before it changes anything."""

    def after_ack(self, ack: Ack, air: Air, window: Window) -> None:
        """Any ACK, after everything else that it brings; may set the window."""

    def on_sent(self, sent: Departure) -> None:
        """A segment leaves."""

    def on_undo(self, now: float, window: Window) -> None:
        """The last loss event was none: the window is again what it was before."""

    def pacing_rate(self, window: Window) -> float | None:
        """Bit/s, headers included, at which to pace; `None`: as fast as the window allows."""
        return None


class AckPolicy(Algorithm):
    """A receiver's ACK policy: `flow.receiver`. One that waits has `on_timer` and `deadline`."""

    family = "policy"

    def on_segment(self, arrival: Arrival) -> int | Iterable[int] | None:
        """A data segment has come: the acknowledgement numbers that leave now, one, several or none."""
        raise NotImplementedError

    def on_timer(self, now: float, rcv_nxt: int) -> int | Iterable[int] | None:
        """The time asked for by `deadline` has come; `rcv_nxt` is the next sequence number expected."""
        raise NotImplementedError

    def deadline(self) -> float | None:
        """When to call `on_timer`; later than the last one."""
        return None


FAMILIES = (Estimator, Predictor, Detector, Response, Controller, AckPolicy)


def given(classes: Sequence[type[Algorithm]]) -> list[_Given]:
    """The classes as the simulator takes them."""
    return [_given(one) for one in classes]


def _given(one: type[Algorithm]) -> _Given:
    base = next((family for family in FAMILIES if inspect.isclass(one) and issubclass(one, family)), None)
    if base is None or one is base:
        families = ", ".join(family.__name__ for family in FAMILIES)
        raise QuestionError(f"{one!r} is no algorithm, expected a class of one of {families}")
    own = [method for method in vars(base) if callable(getattr(base, method)) and not method.startswith("_")]
    methods = [method for method in own if getattr(one, method) is not getattr(base, method)]
    name = one.name or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", one.__name__).lower()
    if re.fullmatch(r"[a-z][a-z0-9-]*", name) is None:
        raise QuestionError(f'{one.__name__}: "{name}" is no name, expected small letters, digits and hyphens')
    return base.family, name, one, [*_parameters(one)], methods, source(one)


def _parameters(one: type[Algorithm]) -> Iterable[tuple[str, str, float]]:
    if one.__init__ is object.__init__:
        return
    for parameter in list(inspect.signature(one.__init__).parameters.values())[1:]:
        default = parameter.default
        if parameter.kind in (
            parameter.POSITIONAL_ONLY,
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ) or not isinstance(default, (bool, int, float)):
            raise QuestionError(
                f"{one.__name__}: parameter {parameter.name}, expected a default that is a number, a switch or Seconds"
            )
        kind = "switch" if isinstance(default, bool) else "time" if isinstance(default, Seconds) else "number"
        yield parameter.name, kind, float(default)


def source(one: type[Algorithm]) -> str:
    """Digits that change when the class does, so that a sweep's folder never takes runs of one for those of another."""
    digits = hashlib.sha256()
    for part in one.__mro__:
        if part in FAMILIES:
            break
        try:
            digits.update(inspect.getsource(part).encode())
        except (OSError, TypeError):
            digits.update(repr(sorted(_code(part))).encode())
    return digits.hexdigest()[:16]


def _code(part: type[object]) -> Iterable[str]:
    """What a class does, where its source is not there."""
    for name, value in vars(part).items():
        code = getattr(value, "__code__", None)
        yield (
            f"{name} {code.co_code.hex()} {code.co_consts} {code.co_names}" if code is not None else f"{name} {value!r}"
        )


__all__ = [
    "Ack",
    "AckPolicy",
    "Air",
    "Algorithm",
    "Arrival",
    "Cause",
    "Controller",
    "Departure",
    "Detector",
    "Estimator",
    "Loss",
    "Predictor",
    "Response",
    "Seconds",
    "Window",
]
