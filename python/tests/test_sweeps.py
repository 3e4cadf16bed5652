"""Many runs: grids, engines, studies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from conftest import EXAMPLES, SHORT

import truckee

Command = Callable[..., subprocess.CompletedProcess[str]]
VARY: dict[str, Sequence[object]] = {"flow.sender": ["reno", "sack"], "channel.per": [0.001, 0.01]}
WORDS = ["--vary", "flow.sender=reno,sack", "--vary", "channel.per=0.001,0.01"]


def test_a_sweep_is_that_of_the_command_and_they_share_a_folder(tmp_path: Path, command: Command) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "short.toml"
    file.write_text(truckee.Scenario(SHORT).text)
    theirs = command("sweep", file, *WORDS, "--runs", "3", "--format", "json", "--out", tmp_path / "theirs")
    ours = truckee.sweep(file, VARY, runs=3, folder=tmp_path / "ours", progress=False)
    assert ours.complete and ours.result == json.loads(theirs.stdout)
    rows = [parquet.read_table(tmp_path / name / "rows.parquet") for name in ("ours", "theirs")]
    assert rows[0].equals(rows[1]), "row by row, digests included"
    again = truckee.sweep(file, VARY, runs=3, folder=tmp_path / "theirs", progress=False)
    assert again.result == ours.result and again.file == tmp_path / "theirs" / "rows.parquet"
    assert (tmp_path / "ours" / "report.html").exists()


def test_runs_and_their_summary_are_tables() -> None:
    sweep = truckee.sweep(SHORT, VARY, runs=3, metrics=["goodput_bps", "timeouts"], progress=False)
    runs, summary = sweep.runs, sweep.summary
    assert runs.column_names == ["flow.sender", "channel.per", "seed", "goodput_bps", "timeouts"]
    assert len(runs) == 12 and set(runs["seed"]) == {1, 2, 3} and runs["channel.per"].dtype == np.float64
    mine = (runs["flow.sender"] == "reno") & (runs["channel.per"] == 0.01)
    first = next(
        row
        for row in summary.rows()
        if row["flow.sender"] == "reno" and row["channel.per"] == "0.01" and row["metric"] == "goodput_bps"
    )
    assert first["mean"] == pytest.approx(runs["goodput_bps"][mine].mean(), rel=1e-12) and first["n"] == 3
    assert "difference" in summary and "<table>" in sweep._repr_html_() and "12 runs" in repr(sweep)
    one = truckee.run(SHORT, set={"flow.sender": "reno", "channel.per": 0.01}, seed=2)
    assert one.metric("goodput_bps") == runs["goodput_bps"][mine][1]


def test_seeds_are_counted_given_or_as_many_as_a_precision_takes() -> None:
    assert set(truckee.sweep(SHORT, seeds=[4, 9], progress=False).runs["seed"]) == {4, 9}
    assert set(truckee.sweep(SHORT, {"seed": [3, 5]}, progress=False).runs["seed"]) == {3, 5}
    assert set(truckee.sweep(SHORT, seed=7, runs=2, progress=False).runs["seed"]) == {7, 8}
    assert len(truckee.sweep(SHORT, precision=0.5, progress=False).runs) == 5
    for asked in ({"runs": 2, "seeds": [1]}, {"runs": 2, "precision": 0.1}, {"precision": 2.0}, {"runs": 0}):
        with pytest.raises(truckee.QuestionError):
            truckee.sweep(SHORT, progress=False, **asked)


def test_a_range_of_the_command_is_an_axis() -> None:
    sweep = truckee.sweep(SHORT, {"channel.per": "1e-3..1e-1:log3"}, runs=1, progress=False)
    assert sweep.runs["channel.per"] == pytest.approx([1e-3, 1e-2, 1e-1])


def test_a_huge_grid_is_refused_with_what_it_would_cost() -> None:
    axes = {"seed": "1..2000", "channel.per": "0.001..0.1:log20"}
    with pytest.raises(
        truckee.QuestionError, match=r"20 points × 2000 seeds are 40000 runs, more than limit=30000: one"
    ):
        truckee.sweep(SHORT, axes, limit=30000, progress=False)
    with pytest.raises(truckee.QuestionError, match="a grid has at most 100000 points"):
        truckee.sweep(SHORT, {"channel.per": "0.001..0.1:log1000", "queue.size": "1..1000"}, limit=None, progress=False)


def test_what_makes_no_sense_is_refused_before_anything_is_run(tmp_path: Path) -> None:
    for metrics, said in [
        (["godput_bps"], 'did you mean "goodput_bps"'),
        (["predictor.vegas.accuracy.all"], "no predictor"),
    ]:
        with pytest.raises(truckee.QuestionError, match=said):
            truckee.sweep(SHORT, metrics=metrics, progress=False)
    with pytest.raises(truckee.QuestionError, match="renoo"):
        truckee.sweep(SHORT, {"flow.sender": ["reno", "renoo"]}, progress=False)
    (tmp_path / "file").touch()
    with pytest.raises(truckee.MachineError, match="cannot"):
        truckee.sweep(SHORT, runs=1, folder=tmp_path / "file" / "below", progress=False)


def test_ctrl_c_ends_a_sweep_and_it_goes_on_from_there(tmp_path: Path) -> None:
    def sweep(seeds: int) -> truckee.Sweep:
        return truckee.sweep(SHORT, seeds=range(seeds), folder=tmp_path, limit=None, progress=False)

    sweep(3)  # so that there is something to lose
    thread = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        thread.start()
        sweep(1_000_000)
    thread.join()
    assert len(sweep(3).runs) == 3


def test_engines_stand_side_by_side() -> None:
    compared = truckee.compare(SHORT, ["sim", "sim"], runs=2, tolerances={"goodput": "1%"}, progress=False)
    assert compared.holds and compared.result["seeds"] == [1, 2] and compared.figure.startswith("<svg")
    assert "sim, sim" in repr(compared)
    with pytest.raises(truckee.QuestionError, match="two or more"):
        truckee.compare(SHORT, ["sim"], progress=False)
    with pytest.raises(truckee.QuestionError, match="such as sim,kernel; found sim, sim"):
        truckee.compare(SHORT, ["sim", "sim"], as_late=True, progress=False)
    with pytest.raises(truckee.QuestionError, match="tolerance"):
        truckee.compare(SHORT, ["sim", "sim"], tolerances={"godput": "1%"}, progress=False)


def test_a_study_is_run_and_judged(tmp_path: Path, command: Command) -> None:
    known = {about.id for about in truckee.studies()}
    assert {"wireless-download", "bw-filters"} <= known
    ours = truckee.study("split-abc-table", quick=True, folder=tmp_path, progress=False)
    theirs = json.loads(
        command("study", "run", "split-abc-table", "--quick", "--format", "json", "--out", tmp_path / "t").stdout
    )
    assert [row["verdict"] for row in ours.checks] == [row["verdict"] for row in theirs[0]["rows"]]
    assert ours.holds and all(figure.startswith("<svg") for figure in ours.figures)
    assert ours.report["title"] in ours._repr_html_() and "pass" in repr(ours)
    with pytest.raises(truckee.QuestionError, match='there is no study "bw-filter"; did you mean "bw-filters"'):
        truckee.study("bw-filter", progress=False)


def test_the_examples_are_scenarios() -> None:
    for file in sorted(EXAMPLES.glob("*.toml")):
        truckee.Scenario.load(file).check()
