"""Learning environments: a flow's window or pacing rate, chosen step by step by somebody who learns.

Needs Gymnasium: `pip install 'truckee[learn]'`.

>>> import truckee.learn
>>> env = truckee.learn.SteeringEnv("examples/wireless.toml", every="10ms")
>>> seen, _ = env.reset(seed=7)
>>> seen, reward, terminated, truncated, info = env.step(env.action_space.sample())

`gymnasium.make("truckee/Steering-v0", scenario=…)` makes the same, and `gymnasium.make_vec` many of them side by side.

**What is steered.** Flows of a scenario, all of them or those of `flows`: one agent each. Their senders keep the window, or
the pacing rate, that they were told last, whatever is lost; what is lost is repaired by SACK (RFC 6675). Everything else, other
flows included, is as the scenario has it.

**An action** is one number from -1 to 1 an agent. It multiplies what the agent has set by `factor` to that power; 0 leaves
it. A flow begins with 10 segments, or with as many a round-trip time. Windows stay between one segment and 16 times what the
path holds, rates between a hundredth of what it carries and 4 times that.

**An observation** has six numbers an agent, as float32, all of the last step and none of what a sender could not know:

| | what | of what |
|---|---|---|
| 0 | bits acknowledged a second | of what the path carries |
| 1 | bits sent a second | of what the path carries |
| 2 | bytes sent again | of the bytes sent |
| 3 | mean round-trip time beyond the smallest one | of the smallest one |
| 4 | bytes in flight | of what the path holds |
| 5 | the window, or the rate, that is set | of what the path holds, or carries |

What the path carries is the rate of its slowest link less headers, what it holds that times its round-trip time without
queues; other traffic is not taken into account. Where a step brings no round-trip time the last one stands. No number is above
100. With one agent an observation has shape `(6,)` and an action `(1,)`, with several `(agents, 6)` and `(agents,)`.

**The reward** of an agent is number 0 less `delay` times number 3, and that of the environment the mean over its agents; with
`delay` between 0 and 1 it is largest where the path is full and its queue empty (Kleinrock's operating point). `reward`
gives another, of a `Reading`. Each agent's own is in `info["rewards"]`.

**An episode** is a run of the scenario: it is truncated at the scenario's duration, and terminated earlier only where all
flows are done. `reset(seed=7)` is the scenario with seed 7, the same losses as `truckee.run(…, seed=7)`; without a seed the
environment's own generator draws one. The same seed and actions give the same run, digest included.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from truckee import _native
from truckee.errors import QuestionError
from truckee.runs import Run
from truckee.scenarios import Source, Value, scenario

try:
    import gymnasium as gym
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError as missing:
    raise ImportError("truckee.learn needs Gymnasium: pip install 'truckee[learn]'") from missing

Seen = NDArray[np.float32]
Action = NDArray[np.float32]
Act = Literal["window", "pace"]

NUMBERS = 6
"""Of an observation of one agent."""
MOST = 100.0
FIRST_SEGMENTS = 10.0


class Path(NamedTuple):
    """What is known of an agent's path beforehand."""

    rate_bps: float
    """Of its slowest link, headers included."""
    capacity_bps: float
    """What of it is data."""
    rtt_s: float
    """Round-trip time of a full segment where nothing waits."""
    mss_bytes: float
    """Maximum segment size."""

    @property
    def holds_segments(self) -> float:
        """Full segments in flight with which it is full and nothing waits."""
        return self.capacity_bps * self.rtt_s / 8 / self.mss_bytes


class Reading(NamedTuple):
    """What an agent's flow has done in a step."""

    seconds: float
    acked_bps: float
    sent_bps: float
    resent: float
    """Bytes sent again, of the bytes sent."""
    rtt_s: float
    """Mean of the round-trip times taken; the last known where there are none."""
    rtt_min_s: float
    """The smallest so far."""
    window_bytes: float
    in_flight_bytes: float
    timeouts: float


class Losses(NamedTuple):
    """Segments of an agent's flow that were lost by now, by what lost them. No sender knows that."""

    to_queues: int
    to_noise: int
    """Channels, outages, collisions: whatever is no queue."""


Reward = Callable[[Reading, Path], float]
"""What a step is worth to an agent."""


class _Runs:
    """Some runs of a scenario, and what their agents have set."""

    def __init__(
        self,
        source: Source,
        changes: Mapping[str, Value] | None,
        flows: Sequence[str],
        act: Act,
        every: str | float,
        factor: float,
        delay: float,
        number: int,
    ) -> None:
        if act not in ("window", "pace"):
            raise QuestionError(f'act="{act}", expected "window" or "pace"')
        if not (math.isfinite(factor) and factor > 1):
            raise QuestionError(f"factor={factor}, expected a number above 1")
        if not (math.isfinite(delay) and delay >= 0):
            raise QuestionError(f"delay={delay}, expected a number from 0 on")
        asked = scenario(source, changes)
        self.native = _native.Steps(asked.document, list(flows), act == "pace", _step(every), delay, number)
        self.flows = self.native.flows
        self.factor, self.act = factor, act
        self.agents, self.number = len(self.flows), number
        self.settings = [0.0] * (self.agents * number)
        self.least, self.most = list(self.settings), list(self.settings)
        self.shape = (NUMBERS,) if self.agents == 1 else (self.agents, NUMBERS)
        self.seen = gym.spaces.Box(0.0, MOST, self.shape, np.float32)
        self.action = gym.spaces.Box(-1.0, 1.0, (self.agents,), np.float32)

    def begin(self, number: int, seed: int) -> Seen:
        """Begins one of the runs anew."""
        seen = _shaped(self.native.begin(number, seed), (self.agents, NUMBERS))
        for agent, path in enumerate(self.paths(number)):
            at = number * self.agents + agent
            if self.act == "window":
                self.settings[at] = FIRST_SEGMENTS
                self.least[at], self.most[at] = 1.0, max(16 * path.holds_segments, FIRST_SEGMENTS)
            else:
                self.least[at], self.most[at] = path.rate_bps / 100, path.rate_bps * 4
                first = FIRST_SEGMENTS / path.holds_segments * path.rate_bps
                self.settings[at] = min(max(first, self.least[at]), self.most[at])
            seen[agent, -1] = self.settings[at] / (path.holds_segments if self.act == "window" else path.rate_bps)
        return np.reshape(seen, self.shape)

    def set(self, action: Sequence[float]) -> list[float]:
        """What the agents have set after this action."""
        settings, factor = self.settings, self.factor
        if len(action) != len(settings):
            raise QuestionError(f"an action of {len(action)} numbers, expected {len(settings)}")
        for at, one in enumerate(action):
            if not -1.0 <= one <= 1.0:
                raise QuestionError(f"action[{at}] is {one}, expected a number from -1 to 1")
            new = settings[at] * factor**one
            settings[at] = min(max(new, self.least[at]), self.most[at])
        return settings

    def paths(self, number: int) -> list[Path]:
        """Of each agent."""
        return [Path(*path) for path in self.native.paths(number)]

    def readings(self, number: int) -> list[Reading]:
        """Of each agent."""
        return [Reading(*reading) for reading in self.native.readings(number)]


def _step(every: str | float) -> float | None:
    """A step in seconds; `None` where it is a round-trip time."""
    if every == "rtt":
        return None
    if isinstance(every, str):
        for unit, seconds in (("ms", 1e-3), ("us", 1e-6), ("s", 1.0)):
            if every.endswith(unit):
                try:
                    return float(every[: -len(unit)]) * seconds
                except ValueError:
                    break
        raise QuestionError(f'every="{every}", expected "rtt" or a time such as "10ms"')
    return float(every)


def _shaped(said: bytearray, shape: tuple[int, ...]) -> Seen:
    """What agents see, as an array over these bytes."""
    return np.reshape(np.frombuffer(said, np.float32), shape)


class SteeringEnv(gym.Env[Seen, Action]):
    """One run at a time, whose steered flows are one agent or several: see the module."""

    def __init__(
        self,
        scenario: Source,
        *,
        set: Mapping[str, Value] | None = None,
        flows: Sequence[str] = (),
        act: Act = "window",
        every: str | float = "rtt",
        factor: float = 1.25,
        delay: float = 0.5,
        reward: Reward | None = None,
    ) -> None:
        """`scenario` and `set` are those of `truckee.run`. `every` is how long a step takes: seconds, a time such as "10ms",
        or "rtt", the longest smoothed round-trip time of the agents at the moment."""
        self._runs = _Runs(scenario, set, flows, act, every, factor, delay, 1)
        self._reward = reward
        self.observation_space = self._runs.seen
        self.action_space = self._runs.action

    @property
    def flows(self) -> list[str]:
        """The steered flows' names, in the order of the agents."""
        return self._runs.flows

    @property
    def paths(self) -> list[Path]:
        """What is known of each agent's path beforehand; of a run that has begun."""
        return self._runs.paths(0)

    @property
    def readings(self) -> list[Reading]:
        """What each agent's flow has done in the last step."""
        return self._runs.readings(0)

    @property
    def losses(self) -> list[Losses]:
        """The truth about what each agent's flow has lost by now."""
        return [Losses(*losses) for losses in self._runs.native.losses(0)]

    @property
    def settings(self) -> list[float]:
        """What each agent has set: segments, or bit/s with headers."""
        return list(self._runs.settings)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Seen, dict[str, Any]]:
        """Begins a run anew: with this seed, or with one that the environment draws."""
        super().reset(seed=seed)
        drawn = int(self.np_random.integers(1 << 31)) if seed is None else seed
        return self._runs.begin(0, drawn), {"seed": drawn}

    def step(self, action: Action) -> tuple[Seen, SupportsFloat, bool, bool, dict[str, Any]]:
        """Sets what the action says, and goes on by a step. A run that is over stays as it is."""
        runs = self._runs
        said, worth, (over,) = runs.native.step(runs.set(action.tolist()))
        if self._reward is not None:
            worth = [self._reward(*of) for of in zip(runs.readings(0), runs.paths(0))]
        reward = worth[0] if runs.agents == 1 else sum(worth) / runs.agents
        seen = _shaped(said, runs.shape)
        if not over:
            return seen, reward, False, False, {"rewards": worth}
        truncated = runs.native.timed_out(0)
        return seen, reward, not truncated, truncated, {"rewards": worth}

    def finish(self) -> Run:
        """Ends the run where it is: what has come of it, as `truckee.run` has it. `reset` begins another one."""
        return Run(self._runs.native.end(0))


class SteeringVectorEnv(VectorEnv[Seen, Action, NDArray[Any]]):
    """Some runs side by side, each with a seed of its own, all stepped by one call: see the module.

    `reset(seed=7)` gives them seeds 7, 8, 9 and so on. One that is over begins anew, with a seed of its own generator, with
    the step after that, whose action counts for nothing and whose reward is 0 (Gymnasium's `NEXT_STEP`).
    """

    def __init__(
        self,
        num_envs: int,
        scenario: Source,
        *,
        set: Mapping[str, Value] | None = None,
        flows: Sequence[str] = (),
        act: Act = "window",
        every: str | float = "rtt",
        factor: float = 1.25,
        delay: float = 0.5,
    ) -> None:
        """As of `SteeringEnv`, without a reward of one's own."""
        if num_envs < 1:
            raise QuestionError(f"num_envs={num_envs}, expected one at least")
        self.metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}
        self._runs = _Runs(scenario, set, flows, act, every, factor, delay, num_envs)
        self.num_envs = num_envs
        self.single_observation_space, self.single_action_space = self._runs.seen, self._runs.action
        self.observation_space = batch_space(self._runs.seen, num_envs)
        self.action_space = batch_space(self._runs.action, num_envs)
        self._over = np.zeros(num_envs, np.bool_)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, Any]]:
        """Begins all runs anew."""
        first = seed if isinstance(seed, int) else None
        super().reset(seed=first)
        if seed is None:
            seeds = [self._drawn() for _ in range(self.num_envs)]
        elif isinstance(seed, int):
            seeds = [seed + k for k in range(self.num_envs)]
        else:
            seeds = [self._drawn() if one is None else one for one in seed]
        if len(seeds) != self.num_envs:
            raise QuestionError(f"{len(seeds)} seeds for {self.num_envs} runs")
        self._over[:] = False
        return np.stack([self._runs.begin(k, one) for k, one in enumerate(seeds)]), {"seed": np.array(seeds)}

    def _drawn(self) -> int:
        return int(self.np_random.integers(1 << 31))

    def step(
        self, actions: Action
    ) -> tuple[Seen, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Has all runs go on by a step."""
        runs = self._runs
        chosen = runs.set(np.ravel(actions).tolist())
        anew = np.flatnonzero(self._over)
        said, worth, over = runs.native.step(chosen)
        seen = _shaped(said, (self.num_envs, *runs.shape))
        each = np.reshape(np.array(worth, np.float64), (self.num_envs, runs.agents))
        for k in anew:
            # Over already, it has stood still in this step.
            seen[k] = runs.begin(int(k), self._drawn())
            each[k], over[k] = 0.0, False
        self._over = np.array(over)
        truncated = np.array([one and runs.native.timed_out(k) for k, one in enumerate(over)])
        return seen, each.mean(axis=1), self._over & ~truncated, truncated, {"rewards": each}


# Gymnasium's stubs leave the words of an environment open.
gym.register(  # pyright: ignore[reportUnknownMemberType]
    "truckee/Steering-v0",
    entry_point="truckee.learn:SteeringEnv",
    vector_entry_point="truckee.learn:SteeringVectorEnv",
)
