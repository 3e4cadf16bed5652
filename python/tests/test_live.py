"""The live engine from Python: this machine's kernel, as root and where the package was built with it."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import EXAMPLES, ROOT, SHORT

import truckee

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def kernel(command: Command) -> None:
    """Skips a test where the kernel cannot be had, with the doctor's reason; in CI nothing may be missing."""
    doctor = command("doctor")
    if doctor.returncode == 0:
        return
    assert "CI" not in os.environ, f"in CI no test may be skipped:\n{doctor.stdout}{doctor.stderr}"
    pytest.skip(doctor.stdout.strip().splitlines()[-1])


def left() -> tuple[list[str], list[str]]:
    """What a live run could leave behind: congestion control that is registered, and namespaces that have names."""
    registered = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text(encoding="ascii").split()
    named = Path("/run/netns")
    return sorted(registered), sorted(entry.name for entry in named.iterdir()) if named.is_dir() else []


@pytest.mark.usefixtures("kernel")
def test_the_kernel_runs_what_the_simulator_runs() -> None:
    before = left()
    run = truckee.run(EXAMPLES / "lossless.toml", engine="kernel", set={"duration": "2s"}, series=True)
    assert run.result["engine"] == "kernel" and run.digest == ""
    (flow,) = run.result["flows"]
    assert flow["bytes_delivered"] > 0 and len(run.events("window")) > 1
    assert left() == before


@pytest.mark.usefixtures("kernel")
def test_a_live_run_ends_at_ctrl_c_and_leaves_nothing_behind() -> None:
    before = left()
    begun = time.monotonic()
    thread = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        thread.start()
        truckee.run(SHORT, engine="kernel", set={"duration": "600s"})
    thread.join()
    assert time.monotonic() - begun < 300, "it did not run to its end"
    assert left() == before


@pytest.mark.usefixtures("kernel")
def test_engines_are_held_side_by_side() -> None:
    compared = truckee.compare(
        EXAMPLES / "lossless.toml", ["sim", "kernel"], runs=1, set={"duration": "2s"}, progress=False
    )
    assert [side["name"] for side in compared.result["engines"]] == ["sim", "kernel"] and compared.figure.startswith(
        "<svg"
    )


@pytest.mark.usefixtures("kernel")
def test_a_sweep_over_the_kernel_goes_on_in_its_folder(tmp_path: Path) -> None:
    axes = {"flow.sender": ["newreno", "kernel:cubic"]}
    short = truckee.Scenario(SHORT).replace({"duration": "1s"})
    first = truckee.sweep(short, axes, engine="kernel", runs=1, jobs=1, folder=tmp_path / "live", progress=False)
    again = truckee.sweep(short, axes, engine="kernel", runs=1, jobs=1, folder=tmp_path / "live", progress=False)
    assert len(first.runs) == 2 and list(first.runs["goodput_bps"]) == list(again.runs["goodput_bps"])


@pytest.mark.usefixtures("kernel")
def test_what_the_kernel_cannot_is_refused_with_the_reason() -> None:
    with pytest.raises(truckee.QuestionError, match="simulated time"):
        truckee.run(ROOT / "docs/scenarios/wlan-walk.toml", engine="kernel")
