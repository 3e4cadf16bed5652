"""Algorithms written in Python, inside the simulator."""

from __future__ import annotations

import importlib.util
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import EXAMPLES, SHORT

import truckee
from truckee.algorithms import (
    Ack,
    AckPolicy,
    Air,
    Algorithm,
    Arrival,
    Cause,
    Controller,
    Departure,
    Detector,
    Estimator,
    Loss,
    Predictor,
    Response,
    Seconds,
    Window,
)


def example(path: Path, name: str) -> Any:
    """A class of an example's file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


Tibet: type[Estimator] = example(EXAMPLES / "tibet.py", "Tibet")


class Newreno(Controller):
    """Growth and response of RFC 5681."""

    name = "my-newreno"

    def on_ack(self, ack: Ack, window: Window) -> None:
        if window.in_slow_start:
            window.cwnd += window.mss
        else:
            window.cwnd += window.mss * window.mss / window.cwnd

    def on_loss(self, loss: Loss, window: Window) -> None:
        window.ssthresh = window.half_flight
        window.cwnd = window.mss if loss.kind == "timeout" else window.ssthresh


class Halve(Response):
    """Half the flight, whatever the loss."""

    name = "my-halve"

    def on_loss(self, loss: Loss, window: Window) -> Cause:
        window.ssthresh = window.half_flight
        window.cwnd = window.mss if loss.kind == "timeout" else window.ssthresh
        return "congestion"


class Optimist(Predictor):
    """Every loss is noise."""

    def verdict(self, loss: Loss) -> Cause:
        return "wireless"


class Every(AckPolicy):
    """An ACK for each segment."""

    name = "my-every"

    def on_segment(self, arrival: Arrival) -> int:
        return arrival.rcv_nxt


class Delayed(AckPolicy):
    """An ACK for each second segment, or after a while."""

    name = "my-delayed"

    def __init__(self, timeout: Seconds = Seconds(0.2)) -> None:
        self.timeout = timeout
        self.at: float | None = None

    def on_segment(self, arrival: Arrival) -> list[int]:
        if arrival.urgent or self.at is not None:
            self.at = None
            return [arrival.rcv_nxt]
        self.at = arrival.now + self.timeout
        return []

    def on_timer(self, now: float, rcv_nxt: int) -> int:
        self.at = None
        return rcv_nxt

    def deadline(self) -> float | None:
        return self.at


class Sleepy(Detector):
    """Slow start for so many segments."""

    def __init__(self, segments: int = 10) -> None:
        self.left = segments

    def on_segment(self, arrival: Arrival) -> None:
        self.left -= 1

    def in_slow_start(self) -> bool:
        return self.left > 0


def digest(sender: object = "newreno", receiver: object = "every", algorithms: tuple[type[Algorithm], ...] = ()) -> str:
    """Of ten seconds with these ends."""
    changes = {"flow.sender": sender, "flow.receiver": receiver}
    return truckee.run(SHORT, set=changes, algorithms=algorithms).digest


def test_tibet_is_the_built_in_one_to_rounding() -> None:
    source = (EXAMPLES / "tibet.py").read_text()
    assert len(source.splitlines()) < 40
    for mine, theirs in [
        ("my-tibet", "tibet"),
        ({"my-tibet": {"alpha": 0.9, "t0": "500ms"}}, {"tibet": {"alpha": 0.9, "t0": "500ms"}}),
    ]:
        run = truckee.run(SHORT, set={"flow.observe": {"estimators": [mine, theirs]}}, series=True, algorithms=[Tibet])
        events = run.events("estimate")
        first, second = (
            events["estimate_bps"][events["estimator"] == name] for name in dict.fromkeys(events["estimator"])
        )
        assert len(first) == len(second) > 90 and np.isfinite(second).sum() > 90
        np.testing.assert_allclose(first, second, rtol=1e-12)


def test_what_is_written_in_python_does_what_is_built_in_to_the_digest() -> None:
    assert digest({"controller": "my-newreno"}, algorithms=(Newreno,)) == digest()
    assert digest({"response": "my-halve"}, algorithms=(Halve,)) == digest()
    by_cause = {"response": {"by-cause": {"predictor": "optimist"}}}
    assert digest(by_cause, algorithms=(Optimist,)) == digest("newreno-lp(always-wireless)")
    assert digest(receiver="my-every", algorithms=(Every,)) == digest()
    assert digest(receiver="my-delayed", algorithms=(Delayed,)) == digest(receiver="delayed")
    slow = {"my-delayed": {"timeout": "500ms"}}
    assert digest(receiver=slow, algorithms=(Delayed,)) == digest(receiver={"delayed": {"timeout": "500ms"}})


def test_a_detector_watches_and_its_parameters_are_the_scenario_s() -> None:
    observe = {"flow.observe": {"detectors": ["sleepy", {"sleepy": {"segments": 100}}]}}
    run = truckee.run(SHORT, set=observe, series=True, algorithms=[Sleepy])
    assert run.observers["name"].tolist() == ["sleepy", "sleepy(segments=100)"]
    assert run.digest == digest(), "an observer changes nothing"


def test_all_of_a_controller_is_told() -> None:
    told: dict[str, Any] = {}

    class Listener(Newreno):
        name = "listener"

        def hear(self, ack: Ack, window: Window) -> None:
            told["rtt"] = ack.rtt or told.get("rtt")

        def after_ack(self, ack: Ack, air: Air, window: Window) -> None:
            told["rate"] = air.delivery_rate or told.get("rate")

        def on_sent(self, sent: Departure) -> None:
            told["sent"] = told.get("sent", 0) + 1

        def pacing_rate(self, window: Window) -> float | None:
            return 4e6

    run = truckee.run(SHORT, set={"flow.sender": {"controller": "listener"}}, algorithms=[Listener])
    assert told["sent"] == run.result["flows"][0]["segments_sent"]
    assert 0.06 <= told["rtt"] <= 0.2 and 1e5 < told["rate"] < 5.5e6
    assert run.metric("goodput_bps") is not None and run.result["flows"][0]["goodput_bps"] < 4e6


class Bad(Newreno):
    """Does something wrong from its two hundredth ACK on."""

    name = "bad"
    acks = 0

    def on_ack(self, ack: Ack, window: Window) -> None:
        self.acks += 1
        super().on_ack(ack, window)
        if self.acks > 200:
            self.fail(window)

    def fail(self, window: Window) -> None:
        raise ZeroDivisionError("out of ideas")


def test_what_it_raises_ends_the_run_with_its_traceback_and_the_simulated_time() -> None:
    with pytest.raises(
        truckee.RunError, match=r'"bad" at \d+\.\d+ s: on_ack raised ZeroDivisionError: out of ideas'
    ) as caught:
        truckee.run(SHORT, set={"flow.sender": {"controller": "bad"}}, algorithms=[Bad])
    cause = caught.value.__cause__
    assert isinstance(cause, ZeroDivisionError) and cause.__traceback__ is not None
    assert [frame.name for frame in traceback.extract_tb(cause.__traceback__)] == ["on_ack", "fail"]
    with pytest.raises(truckee.MachineError, match="seed [12]: .*out of ideas") as in_sweep:
        truckee.sweep(SHORT, set={"flow.sender": {"controller": "bad"}}, runs=2, algorithms=[Bad], progress=False)
    assert isinstance(in_sweep.value.__cause__, ZeroDivisionError)


def test_what_no_run_can_go_on_with_is_refused() -> None:
    class NoWindow(Bad):
        name = "no-window"

        def fail(self, window: Window) -> None:
            window.cwnd = float("nan")

    with pytest.raises(truckee.RunError, match="left a cwnd of NaN bytes"):
        truckee.run(SHORT, set={"flow.sender": {"controller": "no-window"}}, algorithms=[NoWindow])

    class Unsure(Optimist):
        name = "unsure"

        def verdict(self, loss: Loss) -> Any:
            return "perhaps"

    changes = {"flow.sender": {"response": {"by-cause": {"predictor": "unsure"}}}}
    with pytest.raises(truckee.RunError, match='answered perhaps, expected "congestion" or "wireless"'):
        truckee.run(SHORT, set=changes, algorithms=[Unsure])

    class Hollow(Estimator):
        name = "hollow"

    with pytest.raises(truckee.RunError, match="NotImplementedError"):
        truckee.run(SHORT, set={"flow.observe": {"estimators": ["hollow"]}}, algorithms=[Hollow])

    class Locked(Newreno):
        name = "locked"

        def __init__(self) -> None:
            import threading

            self.lock = threading.Lock()

    with pytest.raises(truckee.RunError, match='"locked" at 0 s: __deepcopy__ raised TypeError'):
        truckee.run(SHORT, set={"flow.sender": {"controller": "locked"}}, algorithms=[Locked])


def test_a_class_that_is_none_is_refused_before_anything_is_run() -> None:
    class Crooked(Newreno):
        def __init__(self, path: str = "x") -> None:
            self.path = path

    class Picky(Newreno):
        name = "picky"

        def __init__(self, alpha: float = 0.5) -> None:
            if alpha >= 1.0:
                raise ValueError("alpha is below 1")

    class Cubic(Newreno):
        name = "cubic"

    for wrong, said in [
        (int, "is no algorithm"),
        (Controller, "is no algorithm"),
        (Crooked, "parameter path, expected a default"),
        (Cubic, 'named "cubic" already'),
    ]:
        with pytest.raises(truckee.QuestionError, match=said):
            truckee.run(SHORT, algorithms=[wrong])
    for parameters, said in [
        ({"alpha": 2}, "ValueError: alpha is below 1"),
        ({"alpha": "1s"}, "alpha is"),
        ({"beta": 1}, '"picky" has no parameter'),
    ]:
        with pytest.raises(truckee.ScenarioError, match=said):
            truckee.run(SHORT, set={"flow.sender": {"controller": {"picky": parameters}}}, algorithms=[Picky])
    with pytest.raises(truckee.ScenarioError, match="my-newreno"):
        truckee.run(SHORT, set={"flow.sender": {"controller": "my-newreno"}})


def test_a_sweep_varies_python_s_algorithms_and_knows_one_from_another(tmp_path: Path) -> None:
    senders = ["newreno", {"controller": "my-newreno"}]

    def sweep(one: type[Algorithm]) -> truckee.Sweep:
        return truckee.sweep(SHORT, {"flow.sender": senders}, runs=3, folder=tmp_path, algorithms=[one], progress=False)

    goodput = sweep(Newreno).runs["goodput_bps"]
    assert (goodput[:3] == goodput[3:]).all()

    class Gentle(Newreno):
        def on_ack(self, ack: Ack, window: Window) -> None:
            window.cwnd += 0.5 * window.mss * window.mss / window.cwnd

    with pytest.warns(truckee.MachineWarning, match="another build"):
        gentle = sweep(Gentle).runs["goodput_bps"]
    assert (gentle[:3] == goodput[:3]).all() and (gentle[3:] != goodput[3:]).all(), "its cells are others"
