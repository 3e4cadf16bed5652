"""One run: what comes of it, and how it ends."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest import EXAMPLES, SHORT

import truckee

Command = Callable[..., subprocess.CompletedProcess[str]]


def test_a_run_is_that_of_the_command(command: Command) -> None:
    file = EXAMPLES / "wireless.toml"
    words = ["run", str(file), "--set", "duration=20s", "--seed", "7", "--format", "json"]
    theirs = json.loads(command(*words).stdout)
    ours = truckee.run(file, set={"duration": "20s"}, seed=7)
    assert ours.digest == theirs["digest"]
    for result in (theirs, made := dict(ours.result)):
        del result["wall_s"]
    assert made == theirs
    assert ours.metric("goodput_bps") == ours.flows["goodput_bps"].mean()
    assert ours.metric("flow.0.completion_s") is None and np.isnan(ours.flows["completion_s"][0])


def test_tables_are_views_that_nobody_can_write_to() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    run = truckee.run(SHORT, series=True)
    window = run.events("window", flow=run.flow_names[0])
    assert window.column_names == ["flow", "t_s", "cwnd_bytes", "ssthresh_bytes", "flight_bytes", "rtt_s"]
    cwnd = window["cwnd_bytes"]
    assert cwnd.dtype == np.float64 and not cwnd.flags.owndata and not cwnd.flags.writeable
    assert np.shares_memory(cwnd, window["cwnd_bytes"])
    arrow = window.to_arrow()
    assert arrow["cwnd_bytes"].chunk(0).buffers()[1].address == cwnd.ctypes.data, "the same memory"
    del window, arrow, run
    assert cwnd[0] > 0, "the numbers stay as long as somebody looks at them"
    assert pyarrow.table(truckee.run(SHORT).flows).column_names[0] == "name"


def test_events_say_what_happened_when() -> None:
    run = truckee.run(SHORT, series=True)
    drops, losses = run.events("drop"), run.events("loss")
    flow = run.result["flows"][0]
    assert len(drops) == sum(flow["drops"].values()) + sum(flow["ack_drops"].values())
    assert set(drops["cause"]) <= {"queue", "channel", "outage"} and drops["is_ack"].dtype == bool
    assert set(losses["verdict"]) <= {"congestion", "wireless", "none"}
    assert len(run.events()) == sum(
        len(run.events(kind)) for kind in ("window", "segment", "ack", "drop", "loss", "delay")
    )
    assert run.queues.rows(1)[0]["packets"] >= 0
    with pytest.raises(truckee.QuestionError, match='no events "windows", only window, segment'):
        run.events("windows")  # type: ignore[arg-type]
    with pytest.raises(truckee.QuestionError, match='no flow "x", only'):
        run.events("ack", flow="x")
    with pytest.raises(TypeError, match="are missing"):
        run.events()["seq"]
    with pytest.raises(KeyError, match="no column"):
        run.flows["goodput"]
    with pytest.raises(truckee.QuestionError, match="series=True"):
        truckee.run(SHORT).events("window")


def test_a_run_shows_itself_in_a_notebook() -> None:
    plain, drawn = truckee.run(SHORT), truckee.run(SHORT, series=True)
    assert "goodput_bps" in plain._repr_html_() and "<svg" not in plain._repr_html_()
    assert "<svg" in drawn._repr_html_() and drawn.digest in repr(drawn)
    assert drawn.figure()._repr_svg_().startswith("<svg")
    assert "rows more" in drawn.events("ack")._repr_html_()


def test_a_run_is_written_as_the_command_writes_it(tmp_path: Path) -> None:
    run = truckee.run(SHORT, series=True, capture="sender")
    names = {path.name for path in run.write(tmp_path / "out")}
    assert {"result.json", "flows.parquet", "series.parquet", "report.html"} <= names
    run.write_pcapng(tmp_path / "run.pcapng")
    capture = truckee.read(tmp_path / "run.pcapng")
    assert len(capture.connections) == 1
    told = capture.replay(["tibet", "vegas"])
    assert told["estimators"][0]["name"] == "tibet"
    with pytest.raises(truckee.QuestionError, match="no estimator"):
        capture.replay(["tibett"])
    with pytest.raises(truckee.QuestionError, match="capture="):
        truckee.run(SHORT).write_pcapng(tmp_path / "no.pcapng")
    with pytest.raises(truckee.MachineError, match="cannot"):
        run.write(tmp_path / "run.pcapng" / "below")
    page = truckee.report(tmp_path / "out", tmp_path / "page.html")
    assert page.read_text().startswith("<!")
    with pytest.raises(truckee.QuestionError, match=r"holds no result\.json"):
        truckee.report(tmp_path)


def test_an_engine_that_is_not_there_is_named() -> None:
    with pytest.raises(truckee.QuestionError, match=r'there is no engine "simm"; .*did you mean "sim"\?'):
        truckee.run(SHORT, engine="simm")


def test_a_run_that_only_a_kernel_can_make_is_refused_by_the_simulator() -> None:
    with pytest.raises(truckee.RunError, match="htcp"):
        truckee.run(SHORT, set={"flow.sender": "kernel:htcp"})


def test_other_threads_go_on_and_ctrl_c_ends_a_run() -> None:
    # Far more than a test may take, if nobody ended it; where the interpreter's lock were held, nobody could.
    counted = 0

    def count_and_interrupt() -> None:
        nonlocal counted
        for _ in range(1000):
            counted += 1
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Timer(0.05, count_and_interrupt)
    with pytest.raises(KeyboardInterrupt):
        thread.start()
        truckee.run(SHORT, set={"duration": "86400s"})
    thread.join()
    assert counted == 1000


def test_runs_go_side_by_side_in_threads() -> None:
    digests: list[str] = []
    threads = [threading.Thread(target=lambda: digests.append(truckee.run(SHORT).digest)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(digests) == 4 and len(set(digests)) == 1


def test_a_result_names_the_build_of_the_package_and_not_the_interpreters(tmp_path: Path) -> None:
    truckee.run(SHORT).write(tmp_path / "run")
    digits = hashlib.sha256(Path(str(truckee._native.__file__)).read_bytes()).hexdigest()[:16]
    assert f"({digits})" in json.loads((tmp_path / "run/result.json").read_text())["build"]
