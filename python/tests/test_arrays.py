"""Single algorithms on arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import truckee
from truckee.arrays import acknowledge, detect, estimate, judge


def test_a_constant_stream_is_estimated_at_its_rate() -> None:
    times = np.arange(1, 2001) * 1e-3
    for name in ("tibet", "csfq", "ewma", {"tibet": {"alpha": 0.9, "t0": "500ms"}}):
        rate = estimate(name, times, 1000, 0.05)
        assert rate.shape == times.shape and np.isnan(rate[0])
        assert rate[-1] == pytest.approx(8e6, rel=1e-6)


def test_alternating_gaps_show_the_bias_of_rate_samples() -> None:
    # Gaps T and 2T with L bits each (lp, figure 3.6): the true rate is 2L/3T, the mean of samples 3L/4T.
    times = 1.0 + np.cumsum(np.tile([1e-3, 2e-3], 20_000))
    unit = 8000 / 1e-3
    tibet = estimate({"tibet": {"alpha": 0.999, "smoother": False}}, times, 1000, 0.05)
    biased = estimate({"ewma": {"weight": 0.999}}, times, 1000, 0.05)
    assert tibet[-1] / unit == pytest.approx(2 / 3, rel=1e-3)
    assert biased[-1] / unit == pytest.approx(3 / 4, rel=1e-3)


def test_a_predictor_tells_a_loss_on_an_empty_path_from_one_in_a_full_queue() -> None:
    times = np.arange(1, 401) * 0.01
    rtts = np.where(times < 2.0, 0.1, 0.4)
    wireless = judge("vegas", times, rtts, 20 * 1460, [1.995, 3.995])
    assert wireless.dtype == bool and wireless.tolist() == [True, False]
    assert judge("always-wireless", times, rtts, 20 * 1460, [1.0, 2.0]).all()


def test_a_detector_sees_bursts_that_double() -> None:
    bursts = [1, 2, 4, 8, 8, 8, 8]
    times = np.concatenate([0.1 * k + 1e-3 * np.arange(n) for k, n in enumerate(bursts)])
    slow_start = detect("round-growth", times, 1000, 0.1)
    assert slow_start.sum() == 31 and not slow_start[-1], "as the drives of studies have it"


def test_a_policy_answers_segments() -> None:
    times = np.arange(5) * 1e-3
    every = acknowledge("every", times, 1000)
    assert every["acked_bytes"].tolist() == [1000, 2000, 3000, 4000, 5000] and every["t_s"].tolist() == times.tolist()
    delayed = acknowledge("delayed", times, 1000)
    assert delayed["acked_bytes"].tolist() == [2000, 4000, 5000] and delayed["t_s"][-1] > times[-1]
    assert len(acknowledge({"division": {"n": 4}}, times, 1000, 0.1)) == 20


def test_what_makes_no_sense_is_refused() -> None:
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: estimate("tibett", [1.0], 1000, 0.1), 'no bandwidth estimator named "tibett"'),
        (lambda: estimate("oracle", [1.0], 1000, 0.1), "knows nothing outside a network"),
        (lambda: estimate({"tibet": {"alpa": 1}}, [1.0], 1000, 0.1), 'no parameter "alpa"'),
        (lambda: estimate("tibet", [2.0, 1.0], 1000, 0.1), r"t_s\[1\] is 1, before t_s\[0\]"),
        (lambda: estimate("tibet", [float("nan")], 1000, 0.1), r"t_s\[0\] is NaN"),
        (lambda: estimate("tibet", [1.0], 0, 0.1), r"bytes\[0\] is 0"),
        (lambda: estimate("tibet", [1.0], 1000, 0.0), r"rtt_s\[0\] is 0"),
        (lambda: estimate("tibet", [1.0, 2.0], [1000], 0.1), "t_s has 2 elements and bytes has 1"),
        (lambda: estimate("tibet", [1.0], 1000, 0.1, cwnd_bytes=1.0), "cwnd_bytes is 1"),
        (lambda: acknowledge("evry", [1.0], 1000), 'no ACK policy named "evry"'),
    ]
    for call, said in calls:
        with pytest.raises(truckee.QuestionError, match=said):
            call()


@settings(max_examples=50)
@given(
    st.sampled_from(
        ["tibet", "csfq", "ewma", "packet-pair", "westwood-1", "westwood-2", "westwood-3", "westwood-plus"]
    ),
    st.lists(st.tuples(st.floats(0, 1), st.integers(1, 65_535), st.floats(1e-6, 2)), max_size=40),
)
def test_whatever_arrives_an_estimate_is_a_rate_or_none(name: str, events: list[tuple[float, int, float]]) -> None:
    gaps, sizes, rtts = (np.array([event[k] for event in events], dtype=float) for k in range(3))
    rate = estimate(name, np.cumsum(gaps), sizes, rtts)
    assert rate.shape == gaps.shape and (np.isnan(rate) | (rate >= 0)).all()
