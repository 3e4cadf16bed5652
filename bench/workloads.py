"""The common workloads, read from the scenario files in workloads/, which we run as they stand: what peers are told.

One definition: a peer's parameters are taken from the file, so that both sides cannot drift apart. Only what occurs in
these files is understood; anything else is refused. Not for: checking scenarios, which is the program's own business.
"""

import re
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

FOLDER = Path(__file__).parent / "workloads"

_UNITS = {
    "bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9,
    "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0,
    "packets": 1.0, "segments": 1.0,
}  # fmt: skip


class WorkloadError(Exception):
    """A scenario file that the peers cannot be told about; names the file and what is odd."""


@dataclass(frozen=True)
class Workload:
    """One workload. SI units; windows, thresholds and queues in segments or packets."""

    name: str
    title: str
    scenario: Path
    rate: float
    delay: float
    duration: float
    loss: float
    flows: int
    gap: float
    queue: int
    mss: int
    initial_window: int
    ssthresh: int
    window: int
    min_rto: float
    limited_transmit: bool
    overrides: tuple[str, ...] = ()

    @property
    def lossy(self) -> bool:
        """Whether a run depends on its seed."""
        return self.loss > 0

    def lasting(self, seconds: float) -> "Workload":
        """The same over another simulated time."""
        return replace(
            self,
            name=f"{self.name}-{seconds:g}s",
            title=f"{self.name}-{seconds:g}s: {self.name} for {seconds:g} simulated seconds.",
            duration=float(seconds),
            overrides=(f"duration={seconds:g}s",),
        )

    def parameters(self) -> dict[str, float]:
        """What a peer is told, by the names the programs in peers/ use."""
        return {
            "rate": self.rate, "delay": self.delay, "dur": self.duration, "loss": self.loss,
            "n": self.flows, "gap": self.gap, "q": self.queue,
            "mss": self.mss, "iw": self.initial_window, "ssthresh": self.ssthresh, "window": self.window,
            "minrto": self.min_rto, "limited": int(self.limited_transmit),
        }  # fmt: skip


def load_all() -> dict[str, Workload]:
    """Every workload by name, in the order they are run."""
    workloads = {workload.name: workload for workload in map(load, FOLDER.glob("*.toml"))}
    # A run of tenths of a second is noisy, and what a program does before its first event weighs much in it: the same
    # questions, asked for ten times as long.
    for name, seconds in (("W1", 3000), ("W3", 600)):
        longer = workloads[name].lasting(seconds)
        workloads[longer.name] = longer
    return dict(sorted(workloads.items(), key=lambda item: (not item[0].startswith("W"), item[0])))


def load(path: Path) -> Workload:
    """Reads one file. Raises WorkloadError."""
    text = path.read_text()
    file = tomllib.loads(text)
    try:
        return _workload(path, text, file)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise WorkloadError(f"{path.name}: {type(error).__name__}: {error}") from error


def _workload(path: Path, text: str, file: dict) -> Workload:
    topology = file["topology"]
    (flow,) = file["flow"]
    flows = flow.get("count", 1)
    _expect(topology["kind"] == "dumbbell" and topology["n"] == flows, "a dumbbell with a pair of hosts for each flow")
    # Without access_rate, hosts have links of ten times the bottleneck's rate.
    _expect("access_rate" not in topology and topology["access_delay"] == "0s", "fast access links without delay")
    _expect(topology["queue"]["kind"] == "drop-tail", "a drop-tail queue")
    _expect(flow["sender"] == "newreno" and flow["receiver"] == "every", "newreno with an ACK for every segment")
    _expect(flow["handshake"] is False, "connections that are there at once")
    return Workload(
        name=re.sub("^w", "W", path.stem),
        title=text.splitlines()[0].lstrip("# "),
        scenario=path,
        rate=_quantity(topology["rate"], "bit/s"),
        delay=_quantity(topology["delay"], "s"),
        duration=_quantity(file["duration"], "s"),
        loss=_bernoulli(topology.get("channel")),
        flows=flows,
        gap=_quantity(flow.get("start_every", "0s"), "s"),
        queue=int(_quantity(topology["queue"]["size"], "packets")),
        mss=flow["mss"],
        initial_window=int(_quantity(flow["initial_window"], "segments")),
        ssthresh=int(_quantity(flow["initial_ssthresh"], "segments")),
        window=int(_quantity(flow["rwnd"], "segments")),
        min_rto=_quantity(flow["min_rto"], "s"),
        limited_transmit=flow["limited_transmit"],
    )


def _bernoulli(channel: dict | None) -> float:
    if channel is None:
        return 0.0
    _expect(channel["kind"] == "bernoulli", "independent losses or none")
    return channel["per"]


def _quantity(text: str, unit: str) -> float:
    """`text` in `unit`; times and rates in any unit of their kind."""
    match = re.fullmatch(r"([0-9.eE+-]+)\s*([A-Za-z/]+)", text)
    number, given = match.groups() if match else ("", "")
    _expect(match is not None, f"a quantity in {unit}, not {text!r}")
    kind = "bit/s" if "bit" in given else given if given in ("packets", "segments") else "s"
    _expect(given in _UNITS and kind == unit, f"a quantity in {unit}, not {text!r}")
    # Rounded so that 10 ms is 0.01 and not its neighbour.
    return float(f"{float(number) * _UNITS[given]:.12g}")


def _expect(true: bool, what: str) -> None:
    if not true:
        raise ValueError(f"expected {what}")
