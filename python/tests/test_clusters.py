"""Sweeps on a cluster of processes: what dies is made up for, and the result is that of one machine, row by row."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from conftest import SHORT

import truckee
from truckee.algorithms import Cause, Loss, Predictor

distributed = pytest.importorskip("distributed")
from dask_processes import Processes, until

parquet = pytest.importorskip("pyarrow.parquet")

Command = Callable[..., subprocess.CompletedProcess[str]]
VARY: dict[str, Sequence[object]] = {"flow.sender": ["reno", "sack"], "channel.per": [0.001, 0.01]}
WORDS = ["--vary", "flow.sender=reno,sack", "--vary", "channel.per=0.001,0.01"]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    """A scheduler with two workers, of whom nobody is to die."""
    with closing(Processes(tmp_path_factory.mktemp("cluster"))) as processes:
        processes.start_scheduler()
        processes.start_worker()
        processes.start_worker()
        yield processes


@pytest.fixture
def client(cluster: Processes) -> Iterator[Any]:
    with distributed.Client(cluster.address, set_as_default=False) as client:
        client.wait_for_workers(2)
        yield client


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    """A cluster of one's own: a scheduler, and no worker yet."""
    folder = tmp_path / "processes"
    folder.mkdir()
    with closing(Processes(folder)) as processes:
        processes.start_scheduler()
        yield processes


def rows(folder: str | Path) -> Any:
    return parquet.read_table(Path(folder) / "rows.parquet")


def gate(folder: Path) -> type[Predictor]:
    """A predictor that writes down in whose process it judges its first loss, and waits there for a file `go`."""

    class Gate(Predictor):
        def __init__(self) -> None:
            self.first = True

        def verdict(self, loss: Loss) -> Cause:
            if self.first:
                import os
                import time

                self.first = False
                with open(folder / "journal", "ab", 0) as journal:
                    journal.write(f"{os.getpid()}\n".encode())
                while not (folder / "go").exists():
                    time.sleep(0.01)
            return "congestion"

    return Gate


GATED = {"flow.sender": {"response": {"by-cause": {"predictor": "gate"}}}}


def journal(folder: Path) -> list[int]:
    """Who has judged, in order."""
    file = folder / "journal"
    return [int(line) for line in file.read_text().split()] if file.exists() else []


class Under(threading.Thread):
    """A sweep under way in a thread."""

    def __init__(self, **asked: Any) -> None:
        super().__init__(daemon=True)
        self.asked = asked
        self.came: truckee.Sweep | None = None
        self.error: truckee.Error | None = None
        self.start()

    def run(self) -> None:
        try:
            self.came = truckee.sweep(SHORT, progress=False, **self.asked)
        except truckee.Error as error:
            self.error = error

    def done(self) -> truckee.Sweep:
        self.join(120)
        assert not self.is_alive() and self.error is None, self.error
        assert self.came is not None
        return self.came


def test_threads_a_cluster_and_the_command_have_the_same_rows(
    tmp_path: Path, client: Any, cluster: Processes, command: Command
) -> None:
    here = truckee.sweep(SHORT, VARY, runs=5, folder=tmp_path / "here", progress=False)
    there = truckee.sweep(SHORT, VARY, runs=5, folder=tmp_path / "there", client=client, progress=False)
    assert there.complete and there.result == here.result
    assert rows(tmp_path / "here").equals(rows(tmp_path / "there")), "row by row, digests included"
    file = tmp_path / "short.toml"
    file.write_text(truckee.Scenario(SHORT).text)
    words = [*WORDS, "--runs", "5", "--scheduler", cluster.address, "--out", tmp_path / "command"]
    told = command("sweep", file, *words)
    assert told.returncode == 0, told.stderr
    assert rows(tmp_path / "command").equals(rows(tmp_path / "here"))
    # In memory alone, too.
    assert truckee.sweep(SHORT, VARY, runs=5, client=client, progress=False).result == here.result


def test_a_precision_is_reached_and_a_sweep_goes_on_wherever_it_began(tmp_path: Path, client: Any) -> None:
    asked: dict[str, Any] = {"vary": VARY, "precision": 0.02, "progress": False}
    here = truckee.sweep(SHORT, **asked)
    truckee.sweep(SHORT, VARY, runs=3, folder=tmp_path, progress=False)
    there = truckee.sweep(SHORT, **asked, folder=tmp_path, client=client)
    assert len(here.runs) > 20 and there.result == here.result
    assert truckee.sweep(SHORT, **asked, folder=tmp_path).result == here.result


def test_an_algorithm_in_python_goes_along_and_what_it_raises_comes_back(tmp_path: Path, client: Any) -> None:
    (tmp_path / "go").touch()
    asked: dict[str, Any] = {"set": GATED, "runs": 3, "algorithms": [gate(tmp_path)], "progress": False}
    there = truckee.sweep(SHORT, **asked, client=client)
    assert len(journal(tmp_path)) == 3 and os.getpid() not in journal(tmp_path)
    assert there.result == truckee.sweep(SHORT, **asked).result

    class Wrong(Predictor):
        def verdict(self, loss: Loss) -> Cause:
            raise LookupError("never heard of it")

    asked = {"set": {"flow.sender": {"response": {"by-cause": {"predictor": "wrong"}}}}, "algorithms": [Wrong]}
    with pytest.raises(truckee.Error, match="wrong.*never heard of it") as raised:
        truckee.sweep(SHORT, **asked, client=client, progress=False)
    # What was pickled has no lines of a file to show, with some versions of cloudpickle.
    assert re.search(r"in verdict\n.*LookupError: never heard of it", str(raised.value.__cause__), re.DOTALL)


def test_what_a_killed_worker_had_is_run_again_and_counts_once(tmp_path: Path, processes: Processes) -> None:
    asked: dict[str, Any] = {"set": GATED, "runs": 6, "algorithms": [gate(tmp_path)]}
    first = processes.start_worker()
    with distributed.Client(processes.address, set_as_default=False) as client:
        sweep = Under(**asked, client=client, folder=tmp_path / "there")
        until(lambda: journal(tmp_path), "a run")
        first.kill()
        second = processes.start_worker()
        (tmp_path / "go").touch()
        sweep.done()
    who = journal(tmp_path)
    assert set(who) == {first.pid, second.pid} and len(who) > 6, "a run was made twice"
    truckee.sweep(SHORT, **asked, folder=tmp_path / "here", progress=False)
    assert rows(tmp_path / "there").equals(rows(tmp_path / "here"))


def test_a_scheduler_that_is_started_again_costs_nothing(tmp_path: Path, processes: Processes) -> None:
    asked: dict[str, Any] = {"set": GATED, "runs": 6, "algorithms": [gate(tmp_path)]}
    first = processes.start_worker()
    with distributed.Client(processes.address, set_as_default=False, timeout=120) as client:
        sweep = Under(**asked, client=client, folder=tmp_path / "there")
        until(lambda: journal(tmp_path), "a run")
        assert processes.scheduler is not None
        processes.scheduler.kill()
        processes.scheduler.wait()
        first.kill()
        processes.start_scheduler()
        processes.start_worker()
        (tmp_path / "go").touch()
        sweep.done()
    truckee.sweep(SHORT, **asked, folder=tmp_path / "here", progress=False)
    assert rows(tmp_path / "there").equals(rows(tmp_path / "here"))


def test_a_scheduler_that_does_not_come_back_ends_it_and_what_was_done_is_kept(
    tmp_path: Path, processes: Processes
) -> None:
    processes.start_worker()
    with distributed.Client(processes.address, set_as_default=False, timeout=10) as client:
        truckee.sweep(SHORT, runs=4, client=client, folder=tmp_path, progress=False)
        (tmp_path / "more").mkdir()
        sweep = Under(
            set=GATED, runs=6, algorithms=[gate(tmp_path / "more")], folder=tmp_path / "more/f", client=client
        )
        until(lambda: journal(tmp_path / "more"), "a run")
        assert processes.scheduler is not None
        processes.scheduler.kill()
        sweep.join(120)
        assert isinstance(sweep.error, truckee.MachineError) and "is lost" in str(sweep.error)
    assert len(rows(tmp_path)) == 4
    (tmp_path / "more/go").touch()


def test_what_a_driver_that_dies_has_kept_is_not_run_again(
    tmp_path: Path, cluster: Processes, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    file = tmp_path / "short.toml"
    file.write_text(truckee.Scenario({**SHORT, "duration": "100s"}).text)
    there = tmp_path / "there"
    words: list[str | Path] = ["sweep", file, *WORDS, "--runs", "200", "--scheduler", cluster.address, "--out", there]
    driver = subprocess.Popen(
        [Path(sys.executable).with_name("truckee"), *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    until(lambda: len(list(there.glob("parts/part-*"))) > 1, "a part")
    driver.kill()
    assert driver.wait() == -signal.SIGKILL
    kept = sum(len(parquet.read_table(part)) for part in there.glob("parts/part-*"))
    assert kept > 0
    began: list[tuple[int, int]] = []
    monkeypatch.setattr(truckee.progress.Bar, "started", lambda _, total, done: began.append((total, done)))
    truckee.sweep(file, VARY, runs=10, folder=there, client=client, progress=False)
    stored = sum(
        seed <= 10 for part in there.glob("parts/part-*") for seed in parquet.read_table(part)["seed"].to_pylist()
    )
    assert began[0][0] == 40 and began[0][1] > 0 and stored == 40, "each is there once"
    truckee.sweep(file, VARY, runs=10, folder=tmp_path / "here", progress=False)
    assert rows(there).equals(rows(tmp_path / "here"))


def test_a_task_that_ends_every_worker_ends_the_sweep(tmp_path: Path) -> None:
    class Deadly(Predictor):
        def verdict(self, loss: Loss) -> Cause:
            import os

            os._exit(1)

    deadly = {"flow.sender": {"response": {"by-cause": {"predictor": "deadly"}}}}
    with closing(Processes(tmp_path)) as processes:
        processes.start_scheduler(DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")
        for _ in range(3):
            processes.start_worker()
        with (
            distributed.Client(processes.address, set_as_default=False) as client,
            pytest.raises(truckee.MachineError, match="die, one after the other, while they run the same task"),
        ):
            truckee.sweep(SHORT, runs=1, set=deadly, algorithms=[Deadly], client=client, progress=False)


def test_ctrl_c_keeps_what_was_under_way(tmp_path: Path, client: Any) -> None:
    def press() -> None:
        until(lambda: journal(tmp_path), "a run")
        os.kill(os.getpid(), signal.SIGINT)
        (tmp_path / "go").touch()

    asked: dict[str, Any] = {"set": GATED, "algorithms": [gate(tmp_path)], "client": client, "progress": False}
    thread = threading.Thread(target=press)
    with pytest.raises(KeyboardInterrupt):
        thread.start()
        truckee.sweep(SHORT, **asked, seeds=range(1_000_000), limit=None, folder=tmp_path / "there")
    thread.join()
    kept = sum(len(parquet.read_table(part)) for part in (tmp_path / "there").glob("parts/part-*"))
    assert kept > 0


def other_build(folder: Path) -> Path:
    """The package once more, but for the name of the build in it."""
    package = Path(truckee.__file__).parent
    shutil.copytree(package, folder / "truckee")
    (module,) = (folder / "truckee").glob("_native*.so")
    build = truckee.builds()[1].encode()
    assert len(build) == 16
    module.write_bytes(module.read_bytes().replace(build, build[::-1]))
    return folder


def test_a_worker_of_another_build_gets_nothing_and_is_named(tmp_path: Path, processes: Processes) -> None:
    other = processes.start_worker(PYTHONPATH=str(other_build(tmp_path / "other")))
    asked: dict[str, Any] = {"vary": VARY, "runs": 5, "progress": False}
    with distributed.Client(processes.address, set_as_default=False) as client:
        client.wait_for_workers(1)
        with pytest.raises(truckee.MachineError, match=r"no worker of .* can run this sweep; .*: cell .* this build"):
            truckee.sweep(SHORT, **asked, folder=tmp_path / "there", client=client)
        assert not list((tmp_path / "there/parts").iterdir())
        processes.start_worker()
        client.wait_for_workers(2)
        with pytest.warns(truckee.MachineWarning, match="gets no more of this sweep"):
            truckee.sweep(SHORT, **asked, folder=tmp_path / "there", client=client)
        # One that dies takes nothing along.
        other.kill()
    truckee.sweep(SHORT, **asked, folder=tmp_path / "here")
    assert rows(tmp_path / "there").equals(rows(tmp_path / "here"))


def test_a_worker_without_the_package_is_an_error_that_says_so(tmp_path: Path, processes: Processes) -> None:
    broken = tmp_path / "truckee"
    broken.mkdir()
    (broken / "__init__.py").write_text("raise ImportError('it is not here')")
    processes.start_worker(PYTHONPATH=str(tmp_path))
    with distributed.Client(processes.address, set_as_default=False) as client:
        with pytest.raises(truckee.MachineError, match="is the same truckee installed there?"):
            truckee.sweep(SHORT, runs=2, client=client, folder=tmp_path / "there", progress=False)
        assert not list((tmp_path / "there/parts").iterdir())


def test_what_makes_no_sense_on_a_cluster_is_refused(
    client: Any, command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(truckee.QuestionError, match="expected a distributed.Client"):
        truckee.sweep(SHORT, client="tcp://localhost:8786", progress=False)  # type: ignore[arg-type]
    with pytest.raises(truckee.QuestionError, match="jobs=2: with client="):
        truckee.sweep(SHORT, client=client, jobs=2, progress=False)
    with pytest.raises(truckee.QuestionError, match="20000 runs, more than limit=9: .*, 2 at once"):
        truckee.sweep(SHORT, runs=20000, limit=9, client=client, progress=False)
    with pytest.raises(truckee.Error, match="kernel"):
        truckee.sweep(SHORT, engine="kernel", client=client, progress=False)
    with pytest.raises(truckee.QuestionError, match="renoo"):
        truckee.sweep(SHORT, {"flow.sender": ["renoo"]}, client=client, progress=False)
    (tmp_path / "file").touch()
    with pytest.raises(truckee.MachineError, match="cannot"):
        truckee.sweep(SHORT, runs=1, client=client, folder=tmp_path / "file" / "below", progress=False)
    versions = client.get_versions()
    versions["scheduler"]["packages"]["distributed"] = "2021.1.0"
    monkeypatch.setattr(type(client), "get_versions", lambda _: versions)
    with pytest.raises(truckee.MachineError, match=r"is of distributed 2021\.1\.0, this process of "):
        truckee.sweep(SHORT, client=client, progress=False)
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "1s")
    file = tmp_path / "short.toml"
    file.write_text(truckee.Scenario(SHORT).text)
    for address, status, said in [
        ("tcp://127.0.0.1:9", 1, "there is no scheduler at tcp://127.0.0.1:9"),
        ("nowhere", 2, '"nowhere" is no scheduler\'s address'),
    ]:
        told = command("sweep", file, "--scheduler", address)
        assert told.returncode == status and said in told.stderr and "Traceback" not in told.stderr, told.stderr
