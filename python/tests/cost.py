#!/usr/bin/env python3
"""What a call of an algorithm written in Python costs, what `truckee.run` costs over the run itself, and a step of a learning
environment.

  target/python/venv/bin/python python/tests/cost.py

Of the package as it is installed; seconds are the process's own (CPU), least of so many, so that others on the machine matter
little. Not for: the simulator's speed, which bench/run.py measures.
"""

import statistics
import time
from collections.abc import Callable

import numpy as np
from conftest import SHORT
from test_algorithms import Tibet

import truckee
from truckee.algorithms import Ack, Controller, Loss, Window
from truckee.learn import SteeringEnv, SteeringVectorEnv

OFTEN, CALLS, STEPS = 7, 300, 20_000
LINK = {**SHORT, "duration": "60s"}


class Counted(Controller):
    """RFC 5681, with a count of its calls."""

    name = "counted"
    calls = 0

    def on_ack(self, ack: Ack, window: Window) -> None:
        """Opens the window."""
        Counted.calls += 1
        window.cwnd += window.mss if window.in_slow_start else window.mss * window.mss / window.cwnd

    def on_loss(self, loss: Loss, window: Window) -> None:
        """Halves it."""
        Counted.calls += 1
        window.ssthresh = window.half_flight
        window.cwnd = window.mss if loss.kind == "timeout" else window.ssthresh


def least(run: Callable[[], truckee.Run]) -> tuple[float, truckee.Run]:
    """CPU seconds of a run, and its outcome."""
    spent = []
    for _ in range(OFTEN):
        began = time.process_time()
        made = run()
        spent.append(time.process_time() - began)
    return min(spent), made


def over(what: str, with_python: float, without: float, calls: int) -> None:
    """Says what one call costs."""
    print(f"{what}: {1e6 * (with_python - without) / calls:.2f} us a call, of {calls} calls in {with_python:.3f} s")


def steps(number: int) -> None:
    """Says how many steps of 10 ms a second of one core makes, over 10 Mbit/s and with the path full."""
    path = {"rate": "10Mbit/s", "delay": "20ms", "channel": []}
    scenario = truckee.Scenario(LINK).replace({f"topology.{key}": value for key, value in path.items()})
    scenario = scenario.replace({"duration": "2000s"})
    stepped, full, still = STEPS // number, np.full((number, 1), 1.0, np.float32), np.zeros((number, 1), np.float32)
    env: SteeringEnv | SteeringVectorEnv
    if number == 1:
        env, full, still = SteeringEnv(scenario, every="10ms"), full[0], still[0]
    else:
        env = SteeringVectorEnv(number, scenario, every="10ms")
    env.reset(seed=1)
    for _ in range(6):
        env.step(full)
    spent = []
    for _ in range(OFTEN):
        began = time.process_time()
        for _ in range(stepped):
            env.step(still)
        spent.append(time.process_time() - began)
    print(f"{number} side by side: {stepped * number / min(spent):.0f} steps a second")


def main() -> None:
    """See the module."""
    built_in, run = least(lambda: truckee.run(LINK))
    mine, _ = least(lambda: truckee.run(LINK, set={"flow.sender": {"controller": "counted"}}, algorithms=[Counted]))
    over("controller, on_ack", mine, built_in, Counted.calls // OFTEN)
    built_in, _ = least(lambda: truckee.run(LINK, set={"flow.observe": {"estimators": ["tibet"]}}))
    observe = {"flow.observe": {"estimators": ["my-tibet"]}}
    mine, _ = least(lambda: truckee.run(LINK, set=observe, algorithms=[Tibet]))
    over("examples/tibet.py, on_sent", mine, built_in, run.result["flows"][0]["segments_sent"])
    short = truckee.Scenario(LINK).replace({"duration": "1ms"})
    beyond = []
    for _ in range(CALLS):
        began = time.perf_counter()
        made = truckee.run(short)
        beyond.append(time.perf_counter() - began - made.result["wall_s"])
    print(
        f"truckee.run over the run itself: median {1e6 * statistics.median(beyond):.0f} us, least {1e6 * min(beyond):.0f} us"
    )
    for number in (1, 64):
        steps(number)


if __name__ == "__main__":
    main()
