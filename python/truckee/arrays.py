"""Single algorithms on arrays, with no network around them: what an estimator makes of a stream of arrivals, what a predictor
takes losses for, when a detector sees slow start, which ACKs a policy sends.

An algorithm is a name, or a mapping of its name to its parameters, as in a scenario: `"tibet"`,
`{"tibet": {"alpha": 0.9, "t0": "500ms"}}`. Times are in s and rise; sizes are in bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from truckee import _native
from truckee.tables import Table

if TYPE_CHECKING:
    import numpy.typing as npt

Algorithm: TypeAlias = str | Mapping[str, Mapping[str, Any]]
"""A name, or a name with parameters."""


def estimate(
    estimator: Algorithm,
    t_s: npt.ArrayLike,
    bytes: npt.ArrayLike,
    rtt_s: npt.ArrayLike,
    *,
    cwnd_bytes: float = 65_536.0,
) -> npt.NDArray[np.float64]:
    """The bandwidth in bit/s that an estimator gives after each arrival; NaN before it has one.

    Each arrival is told as a segment sent and as its ACK, so that estimators of either kind hear the same. `bytes` and
    `rtt_s` may be one number for all.
    """
    times = _real(t_s)
    told = _native.estimate(_spec(estimator), _raw(times), _like(bytes, times), _like(rtt_s, times), cwnd_bytes)
    return _column(told, "bits_per_second")


def judge(
    predictor: Algorithm,
    t_s: npt.ArrayLike,
    rtt_s: npt.ArrayLike,
    cwnd_bytes: npt.ArrayLike,
    losses_s: npt.ArrayLike,
    *,
    mss: int = 1460,
) -> npt.NDArray[np.bool_]:
    """Whether a predictor takes each loss for one of the wireless channel, having heard the ACKs up to then: of one segment of
    `mss` each, at `t_s`, with these round-trip times and windows."""
    times = _real(t_s)
    rtts, windows = _like(rtt_s, times), _like(cwnd_bytes, times)
    told = _native.judge(_spec(predictor), _raw(times), rtts, windows, mss, _raw(_real(losses_s)))
    return _flags(told, "wireless")


def detect(
    detector: Algorithm,
    t_s: npt.ArrayLike,
    bytes: npt.ArrayLike,
    rtt_s: npt.ArrayLike,
) -> npt.NDArray[np.bool_]:
    """Whether a detector at the receiver takes the sender to be in slow start, after each arrival."""
    times = _real(t_s)
    told = _native.detect(_spec(detector), _raw(times), _like(bytes, times), _like(rtt_s, times))
    return _flags(told, "slow_start")


def acknowledge(
    policy: Algorithm,
    t_s: npt.ArrayLike,
    bytes: npt.ArrayLike,
    rtt_s: npt.ArrayLike | None = None,
    *,
    until_s: float | None = None,
) -> Table:
    """The ACKs with which a policy answers segments in order: `t_s`, and `acked_bytes`, what is acknowledged in all. Timers go
    off up to `until_s`, a second after the last arrival unless told otherwise."""
    times = _real(t_s)
    rtts = None if rtt_s is None else _like(rtt_s, times)
    end = until_s if until_s is not None else float(times[-1]) + 1.0 if len(times) else 0.0
    return Table(_native.acknowledge(_spec(policy), _raw(times), _like(bytes, times), rtts, end))


def _spec(algorithm: Algorithm) -> str:
    if isinstance(algorithm, str):
        return json.dumps(algorithm)
    return json.dumps({name: dict(parameters) for name, parameters in algorithm.items()})


def _real(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    return np.ascontiguousarray(values, dtype=np.float64).ravel()


def _raw(values: npt.NDArray[np.float64]) -> bytes:
    return values.tobytes()


def _like(values: npt.ArrayLike, times: npt.NDArray[np.float64]) -> bytes:
    """One for each time: the values, or the only one for all."""
    given = np.asarray(values, dtype=np.float64)
    return _raw(np.full(times.shape, given) if given.ndim == 0 else _real(given))


def _column(told: _native.Table, name: str) -> npt.NDArray[np.float64]:
    column: npt.NDArray[np.float64] = np.asarray(told.column(name))
    return column


def _flags(told: _native.Table, name: str) -> npt.NDArray[np.bool_]:
    flags: npt.NDArray[np.bool_] = _column(told, name) == 1.0
    return flags
