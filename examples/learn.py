#!/usr/bin/env python3
"""A window that learns what a loss is worth where losses are noise: `pip install 'truckee[learn]'`, and half a minute.

A policy of three weights moves the window once a round-trip time, by how long segments wait in queues and by what had to be
sent again. The cross-entropy method (Rubinstein 1999) draws weights, keeps the best, and draws anew around those. Nobody tells
it what NewReno is built on, that a loss means a full queue; over this path, which loses one segment in a hundred, that is not
true, and it does not learn it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import truckee
from numpy.typing import NDArray
from truckee.learn import SteeringEnv, SteeringVectorEnv

Numbers = NDArray[np.float64]

NOISY = {
    "duration": "20s",
    "topology": {
        "kind": "single-link",
        "rate": "10Mbit/s",
        "delay": "20ms",
        "queue": {"size": "100packets"},
        "channel": {"kind": "bernoulli", "per": 0.01},
    },
    "flow": [{"from": "src", "to": "dst", "sender": "newreno"}],
}
POPULATION, KEPT, GENERATIONS = 24, 6, 15
WAITS, RESENT = 3, 2
"""Numbers of an observation."""


def act(weights: Numbers, seen: NDArray[np.float32]) -> NDArray[np.float32]:
    """The action of a policy: it opens the window by its first weight, and adds what is seen times the others."""
    drive = weights[..., 0] + weights[..., 1] * seen[..., WAITS] + weights[..., 2] * seen[..., RESENT]
    return np.clip(drive[..., None], -1, 1).astype(np.float32)


def worth(env: SteeringVectorEnv, weights: Numbers, seed: int) -> Numbers:
    """The mean reward of each candidate over one run; all of them have the same losses ahead of them."""
    seen, _ = env.reset(seed=[seed] * len(weights))
    sums, steps, over = np.zeros(len(weights)), 0, False
    while not over:
        seen, reward, terminated, truncated, _ = env.step(act(weights, seen))
        sums, steps, over = sums + reward, steps + 1, bool((terminated | truncated).any())
    return sums / steps


def learn(seed: int = 1, generations: int = GENERATIONS) -> Numbers:
    """The weights that the cross-entropy method comes to, out of this seed."""
    draw = np.random.default_rng(seed)
    mean: Numbers = np.zeros(3)
    spread: Numbers = np.array([1.0, 2.0, 2.0])
    env = SteeringVectorEnv(POPULATION, NOISY)
    for generation in range(generations):
        weights = draw.normal(mean, spread, (POPULATION, 3))
        best = weights[np.argsort(worth(env, weights, seed + generation))[-KEPT:]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.05
    return mean


@dataclass
class Result:
    """What a flow has had of a path."""

    goodput_bps: float
    rtt_s: float


def tried(weights: Numbers, seed: int) -> Result:
    """A policy at work over one run."""
    env = SteeringEnv(NOISY)
    seen, _ = env.reset(seed=seed)
    over = False
    while not over:
        seen, _, terminated, truncated, _ = env.step(act(weights, seen))
        over = terminated or truncated
    return result(env.finish())


def result(run: truckee.Run) -> Result:
    """Of a run's first flow."""
    return Result(float(run.flows["goodput_bps"][0]), float(run.flows["rtt_s.mean"][0]))


def mean(results: list[Result]) -> Result:
    """Of several runs."""
    goodputs, rtts = zip(*((one.goodput_bps, one.rtt_s) for one in results))
    return Result(sum(goodputs) / len(results), sum(rtts) / len(results))


def blinded(weights: Numbers) -> Numbers:
    """The same policy, which does not see what is sent again."""
    blind: Numbers = weights.copy()
    blind[2] = 0.0
    return blind


def main() -> None:
    """Learns, and tries what was learnt over runs that it has not seen."""
    weights = learn()
    print("learnt: {:+.2f} {:+.2f}·waits {:+.2f}·resent".format(*weights))
    fresh = range(1001, 1011)
    for name, results in {
        "newreno": [result(truckee.run(NOISY, seed=seed)) for seed in fresh],
        "learnt": [tried(weights, seed) for seed in fresh],
        "learnt, blind to losses": [tried(blinded(weights), seed) for seed in fresh],
    }.items():
        of = mean(results)
        print(f"{name:24} {of.goodput_bps / 1e6:5.2f} Mbit/s, round-trip time {of.rtt_s * 1e3:5.1f} ms")


if __name__ == "__main__":
    main()
