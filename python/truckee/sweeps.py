"""Many runs: `sweep` over a grid of values and seeds, and `compare` over engines."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from truckee import _native, mirrors
from truckee.algorithms import Algorithm, given
from truckee.clusters import Crew
from truckee.errors import Error, QuestionError
from truckee.progress import Bar
from truckee.runs import Figure
from truckee.scenarios import Source, Value, scenario, written
from truckee.tables import Table

if TYPE_CHECKING:
    from distributed import Client

Values: TypeAlias = str | Sequence[Value]
"""The values of an axis: a sequence, or a range as the command's `--vary` has it: `"1e-5..1e-1:log13"`."""

RUNS = 10
"""Runs at each point unless told otherwise."""
LIMIT = 1_000_000
"""Most runs of a sweep unless told otherwise."""


class Sweep:
    """A sweep that has been made."""

    def __init__(self, native: _native.Sweep, url: str | None = None) -> None:
        self._native = native
        self._url = url

    @property
    def summary(self) -> Table:
        """One row for each point and metric: the axes' values as written, `metric`, `unit`, `n`, `incomplete`, `mean`,
        `sd`, `half_width` of the mean's 97.5 % interval; where variants share their seeds, `difference` from the first one
        and `difference_half_width`."""
        return Table(self._native.summary())

    @property
    def runs(self) -> Table:
        """One row a run: the axes' values, `seed`, and the metrics that were asked for. With a folder, all metrics are in
        its `rows.parquet`."""
        return Table(self._native.runs())

    @property
    def result(self) -> dict[str, Any]:
        """The summary as `truckee sweep --format json` has it."""
        made: dict[str, Any] = json.loads(self._native.json())
        return made

    @property
    def complete(self) -> bool:
        """Whether all runs were made."""
        return self._native.complete

    @property
    def imprecise(self) -> list[str]:
        """Points, in words, that did not reach the precision asked for."""
        return self._native.imprecise

    @property
    def file(self) -> Path | str | None:
        """The table of all runs, `rows.parquet`: its path, or its URL where the folder is in an object store."""
        if self._native.file is None:
            return None
        return Path(self._native.file) if self._url is None else f"{self._url.rstrip('/')}/rows.parquet"

    def __repr__(self) -> str:
        return f"<Sweep of {len(self._native.runs())} runs{'' if self.complete else ', not complete'}>"

    def _repr_html_(self) -> str:
        return self.summary.html()


def sweep(
    source: Source,
    vary: Mapping[str, Values] | None = None,
    *,
    metrics: Sequence[str] = ("goodput_bps",),
    runs: int | None = None,
    seeds: Sequence[int] | None = None,
    precision: float | None = None,
    set: Mapping[str, Value] | None = None,
    seed: int | None = None,
    engine: str = "sim",
    jobs: int | None = None,
    client: Client | None = None,
    folder: str | os.PathLike[str] | None = None,
    limit: int | None = LIMIT,
    progress: bool | None = None,
    algorithms: Sequence[type[Algorithm]] = (),
) -> Sweep:
    """Runs a scenario over a grid of values, each under several seeds, on all cores.

    `vary` has a path and its values for each axis. `runs` seeds are counted up from the scenario's, 10 unless told
    otherwise; or these `seeds`; or as many as make the first metric's interval as narrow as `precision`, relative to its
    mean. With a `folder` every finished run is kept there, and the same call goes on where it stopped; the command
    `truckee sweep --out` and this share folders. It may be the URL of one in an object store, `s3://bucket/name` say.
    `jobs` runs go at once.

    With the `client` of a dask.distributed scheduler its workers run all of it, and the result is the same, row by row. What
    a worker or a scheduler takes along when it dies is run again (docs/howto/cluster.md).

    Before anything is run, a grid of more than `limit` runs is refused with what it would cost; `limit=None` allows it.

    `algorithms` are classes that the scenario may name (see `truckee.algorithms`); while one of them runs, no other does.

    Ctrl-C ends it when the runs under way are done, a second one at once; what was finished is in the folder.
    """
    if isinstance(metrics, str):
        metrics = [metrics]
    if runs is None and seeds is None and precision is None and "seed" not in (vary or {}):
        runs = RUNS
    if runs is not None and runs < 1:
        raise QuestionError(f"runs={runs}, expected one at least")
    asked = scenario(source, set, seed)
    axes = [_axis(path, values) for path, values in (vary or {}).items()]
    many = None if seeds is None else list(seeds)
    if client is not None and jobs is not None:
        raise QuestionError(f"jobs={jobs}: with client= the cluster has as many runs at once as it has threads")
    crew = None if client is None else Crew(client, algorithms)
    if crew is not None:
        jobs = crew.threads()
    with ExitStack() as held:
        where = held.enter_context(mirrors.at(folder))
        bar = held.enter_context(closing(Bar("sweep", progress)))
        try:
            made = _native.sweep(
                asked.document,
                axes,
                list(metrics),
                (runs, many, precision),
                engine,
                jobs,
                where,
                limit,
                bar,
                given(algorithms),
                crew,
            )
        except Error as error:
            if crew is not None and crew.raised is not None:
                raise error from crew.raised
            raise
        return Sweep(made, mirrors.url(folder))


def _axis(path: str, values: Values) -> str:
    if not isinstance(values, str):
        values = ",".join(written(value) for value in values)
    return f"{path}={values}"


class Comparison:
    """Engines side by side."""

    def __init__(self, result: dict[str, Any], figure: Figure) -> None:
        self.result = result
        """As `truckee compare --format json` has it (docs/reference/compare.md)."""
        self.figure = figure
        """Windows of the first seed's runs, and the goodputs."""

    @property
    def holds(self) -> bool:
        """Whether all tolerances hold."""
        return bool(self.result["holds"])

    def __repr__(self) -> str:
        names = ", ".join(side["name"] for side in self.result["engines"])
        return f"<Comparison of {names}: {self.result['verdict']}>"

    def _repr_html_(self) -> str:
        return str(self.figure)


def compare(
    source: Source,
    engines: Sequence[str] = ("sim", "kernel"),
    *,
    runs: int = 1,
    at_most: int | None = None,
    tolerances: Mapping[str, str] | None = None,
    set: Mapping[str, Value] | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    as_written: bool = False,
    as_late: bool = False,
    progress: bool | None = None,
) -> Comparison:
    """Runs a scenario on several engines and holds them side by side, seed by seed; the first is what the others are held
    against.

    `tolerances` says how far apart metrics may be: `{"goodput": "10%", "retransmitted": "1%"}`. While one is undecided,
    twice as many runs are made, up to `at_most`. The simulator is set as the kernel is unless it is to run the scenario
    `as_written`. With `as_late` each simulated run is as late as the live one of its seed was, packet by packet.
    """
    if runs < 1 or (at_most is not None and at_most < runs):
        raise QuestionError(f"runs={runs}, at_most={at_most}: expected one run at least, and at_most no fewer")
    asked = scenario(source, set, seed)
    bounds = [f"{metric}={bound}" for metric, bound in (tolerances or {}).items()]
    with closing(Bar("compare", progress)) as bar:
        document = asked.document
        text, svg = _native.compare(document, list(engines), runs, at_most, bounds, jobs, as_written, as_late, bar)
    return Comparison(json.loads(text), Figure(svg))
