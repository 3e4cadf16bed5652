"""One run: `run`, and what comes of it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from truckee import _native
from truckee.algorithms import Algorithm, given
from truckee.scenarios import Source, Value, scenario
from truckee.tables import Table, html_table

Kind = Literal["window", "segment", "ack", "drop", "loss", "estimate", "phase", "delay"]
"""Kinds of events in a run's series."""

SUMMARY = ["name", "sender", "goodput_bps", "completion_s", "retransmitted_segments", "timeouts", "mean_cwnd_segments"]


class Figure(str):
    """A figure as SVG text. Notebooks show it."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it to a file."""
        Path(path).write_text(self, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return str(self)


class Run:
    """A run that has been made. Times are in s, rates in bit/s, sizes in bytes, unless a name says otherwise."""

    def __init__(self, native: _native.Run) -> None:
        self._native = native
        self._result: dict[str, Any] | None = None

    @property
    def digest(self) -> str:
        """Digest of the run's history: the same scenario, seed and build give the same one on any machine. Empty of a
        live run."""
        return self._native.digest

    @property
    def result(self) -> dict[str, Any]:
        """The outcome as `truckee run --format json` has it (docs/reference/json.md)."""
        if self._result is None:
            told: dict[str, Any] = json.loads(self._native.json())
            self._result = told
        return self._result

    @property
    def flow_names(self) -> list[str]:
        """Names of the flows, in the scenario's order."""
        return self._native.flow_names

    def metric(self, name: str) -> float | None:
        """A metric by its name (docs/reference/metrics.md): `goodput_bps`, `flow.NAME.rtt_s.mean`,
        `link.NAME.utilisation`; `None` where the run has none, a completion time of a flow that has not finished, say."""
        return self._native.metric(name)

    @property
    def flows(self) -> Table:
        """One row a flow: `name`, `sender`, `receiver`, and a column for each metric of flows."""
        return Table(self._native.flows())

    @property
    def observers(self) -> Table:
        """One row for each predictor, estimator and detector that watched a flow."""
        return Table(self._native.observers())

    def events(self, kind: Kind | None = None, flow: str | None = None) -> Table:
        """What happened when, of a run with `series=True`: of all flows or one, of one kind or, in a long form, all.

        Beside `flow` and `t_s`: `window` has `cwnd_bytes`, `ssthresh_bytes`, `flight_bytes`, `rtt_s`; `segment` has `seq`,
        `len_bytes`, `retransmission`; `ack` has `seq`; `drop` has `seq`, `is_ack`, `cause`, `link`; `loss` has `seq`,
        `cause`, `verdict`, `event`; `estimate` has `estimator`, `estimate_bps`, `available_bps`, `used_bps`; `phase` has
        `detector`, `verdict`; `delay` has `delay_s`.
        """
        return Table(self._native.events(kind, flow))

    @property
    def queues(self) -> Table:
        """One row for each change of a queue's length, of a run with `series=True`: `link`, `t_s`, `packets`."""
        return Table(self._native.queues())

    @property
    def places(self) -> Table:
        """Where stations of radio media are: `medium`, `station`, `t_s`, `x_m`, `y_m`."""
        return Table(self._native.places())

    @property
    def frames(self) -> Table:
        """Frames on radio media: when, from whom to whom, at which rate, and what became of them."""
        return Table(self._native.frames())

    @property
    def hops(self) -> Table:
        """By whom flows' data went on over radio media: `medium`, `flow`, `t_s`, `from`, `to`, one row a change."""
        return Table(self._native.hops())

    def figure(self) -> Figure:
        """Windows and losses over time, of a run with `series=True`."""
        return Figure(self._native.figure())

    def write(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Writes what `truckee run --out` writes, the page report.html included. Returns the files."""
        return [Path(path) for path in self._native.write(os.fspath(folder))]

    def write_pcapng(self, path: str | os.PathLike[str]) -> None:
        """Writes the packets of the flows, of a run with `capture=`."""
        self._native.write_pcapng(os.fspath(path))

    def __repr__(self) -> str:
        return f"<Run of {self.result['scenario']}, seed {self.result['seed']}: {self.digest or 'live'}>"

    def _repr_html_(self) -> str:
        rows = self.flows.rows(20)
        figure = str(self.figure()) if self.result["flows"] and self._native.has_series else ""
        return html_table(SUMMARY, rows, len(self.flow_names)) + figure


def run(
    source: Source,
    *,
    set: Mapping[str, Value] | None = None,
    seed: int | None = None,
    engine: str = "sim",
    series: bool = False,
    capture: Literal["sender", "receiver"] | None = None,
    algorithms: Sequence[type[Algorithm]] = (),
) -> Run:
    """Runs a scenario once.

    `set` changes values of it, `seed` the seed of all randomness. `engine` is `sim`, the simulator, or `kernel`, this
    machine's own TCP in real time, which needs Linux and root. `series` records what happened when; `capture` keeps the
    packets too, as that end of the flows sees them. `algorithms` are classes that the scenario may name (see
    `truckee.algorithms`).

    Other threads of Python go on meanwhile, and Ctrl-C ends it.

    Raises `ScenarioError` for what is wrong with the scenario, `RunError` where the run could not be made.
    """
    asked = scenario(source, set, seed)
    return Run(_native.run(asked.document, engine, series, capture, given(algorithms)))
