"""Sweeps on a cluster: their cells are run by the workers of a dask.distributed scheduler.

`truckee.sweep(..., client=client)` and `truckee sweep --scheduler` use it; it needs `pip install 'truckee[dask]'`, here and
on every worker. docs/howto/cluster.md describes it.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import hashlib
import importlib
import pickle
import queue
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from truckee import _native
from truckee.algorithms import Algorithm, given, source
from truckee.errors import Error, MachineError, QuestionError

if TYPE_CHECKING:
    from distributed import Client

WAITING = 2
"""So many tasks there are for each thread of the cluster: one that runs, one that waits for its end."""
SPARE = 2
"""And so many more, so that a cluster that grows with what waits begins to grow."""
LOOKED = 1.0
"""So often it is looked which workers there are, s."""
LOST = (asyncio.CancelledError, concurrent.futures.CancelledError, OSError)
"""What a task ends with that was lost with its scheduler."""
ALONE = 10.0
"""After so long without a worker somebody is told, s."""
DEATHS = 3
"""So often a task is handed out again of which the scheduler says that it has ended several workers."""


Done: TypeAlias = "tuple[str, str | None, float, str | None]"
"""What a worker says of a task: its address; the answers as JSON, or none where it can run no such task; how long it took;
why it cannot run it, or the traceback of what an algorithm has raised."""
CALL = '__import__("truckee.clusters").clusters.run_task(text, algorithms)'
"""What a worker is asked to evaluate. As text, since a worker that cannot import what it is sent closes its connection, and
nobody hears why."""


class RemoteTraceback(Exception):
    """What an algorithm has raised on a worker, as text."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


def run_task(text: str, algorithms: bytes) -> Done:
    """Runs the cells of a task. It is called on a worker."""
    from distributed import get_worker

    worker = str(get_worker().address)
    began = time.perf_counter()
    try:
        classes = _loaded(algorithms)
        answers, raised = _native.run_task(text, classes)
    except Error as error:
        return worker, None, 0.0, str(error)
    told = None if raised is None else "".join(traceback.format_exception(raised)).rstrip()
    return worker, answers, time.perf_counter() - began, told


def _loaded(algorithms: bytes) -> list[Any]:
    """The classes that have come along, refused where this process has others by these names."""
    try:
        classes: list[Any] = pickle.loads(algorithms)
    except Exception as error:
        raise QuestionError(f"the algorithms cannot be had here: {type(error).__name__}: {error}") from error
    for _, name, one, _, _, digits in classes:
        _same(name, one, digits)
    return classes


def _same(name: str, one: type[Algorithm], digits: str) -> None:
    """Refuses a class that this process has from a module of its own, and that is another one there."""
    module = sys.modules.get(one.__module__)
    if getattr(module, one.__qualname__, None) is one and source(one) != digits:
        raise QuestionError(f'the algorithm "{name}" of module {one.__module__} is another one on this worker')


@dataclass
class _Task:
    """A task that is out."""

    text: str
    future: Any = None
    only: frozenset[str] | None = None
    """The workers that may run it, where not all may."""
    attempts: int = 0
    deaths: int = 0


_Came: TypeAlias = "tuple[int, int, Done | BaseException]"
"""A task's number, the attempt at it, and what came of that."""


@dataclass
class _Workers:
    """Which there are."""

    threads: dict[str, int] = field(default_factory=dict[str, int])
    looked: float = -LOOKED
    since: float = field(default_factory=time.monotonic)
    """When there was none for the first time."""
    refused: dict[str, str] = field(default_factory=dict[str, str])
    """Those that can run no task of this sweep, and why."""

    @property
    def able(self) -> dict[str, int]:
        return {worker: threads for worker, threads in self.threads.items() if worker not in self.refused}


class Crew:
    """The workers of a scheduler, for one sweep: tasks in, answers out, each once.

    A task is a pure function of its text, so that it may be run again, or twice, wherever it is. What its worker takes along
    when it dies, or its scheduler, is handed out again.
    """

    def __init__(self, client: Client, algorithms: Sequence[type[Algorithm]] = ()) -> None:
        # Of whose methods distributed says too little.
        self._client: Any = checked(client)
        classes = given(algorithms)
        # By value, where workers have no module with it.
        self._algorithms: bytes = importlib.import_module("cloudpickle").dumps(classes)
        self._digits = "".join(one[-1] for one in classes)
        self._tasks: dict[int, _Task] = {}
        self._came: queue.SimpleQueue[_Came] = queue.SimpleQueue()
        self._again: set[int] = set()
        self._workers = _Workers()
        self._said: list[str] = []
        self._lonely = False
        self._address = str(self._client.scheduler.address)
        self.raised: RemoteTraceback | None = None
        """What an algorithm has raised."""
        self.owned = False
        """Whether the connection ends with the sweep."""

    def threads(self) -> int:
        """How many runs may go at once now, one at least."""
        self._look()
        return max(sum(self._workers.able.values()), 1)

    def room(self) -> int:
        """How many tasks there should be, waiting or under way."""
        self._look()
        return WAITING * sum(self._workers.able.values()) + SPARE

    def send(self, number: int, text: str) -> None:
        """Takes a task."""
        self._tasks[number] = _Task(text)
        self._submit(number)

    def returned(self, patience: float) -> list[tuple[int, str, float]]:
        """What has come back: numbers of tasks, answers, and how long they took."""
        self._look()
        done: list[tuple[int, str, float]] = []
        for number, attempt, what in self._heard(patience):
            task = self._tasks.get(number)
            if task is not None and attempt == task.attempts:
                done.extend(self._take(number, task, what))
        if self._again and self._client.status == "running":
            again, self._again = self._again, set()
            for number in sorted(again & self._tasks.keys()):
                self._submit(number)
        return done

    def take_back(self) -> list[int]:
        """Takes back what nobody has begun."""
        begun: set[str] = set()
        try:
            for keys in self._client.processing().values():
                begun.update(str(key) for key in keys)
        except (OSError, RuntimeError):
            pass  # no scheduler, nobody at work
        back = [n for n, task in self._tasks.items() if task.future is None or str(task.future.key) not in begun]
        for number in back:
            self._forget(number)
        return back

    def said(self) -> list[str]:
        """What somebody should read."""
        said, self._said = self._said, []
        return said

    def close(self) -> None:
        """Nobody waits for anything any more."""
        for number in list(self._tasks):
            self._forget(number)
        if self.owned:
            self._client.close()

    def _heard(self, patience: float) -> list[_Came]:
        """What has come since; it waits where nothing has."""
        try:
            heard = [self._came.get(timeout=patience)]
        except queue.Empty:
            return []
        while not self._came.empty():
            heard.append(self._came.get())
        return heard

    def _submit(self, number: int) -> None:
        """Hands a task out, to all but those who have refused one."""
        task = self._tasks[number]
        if self._client.status != "running":
            self._again.add(number)
            return
        only = sorted(self._workers.able) if self._workers.refused else None
        task.only = None if only is None else frozenset(only)
        task.attempts += 1
        # The same for whoever asks the same, so that two who sweep the same share it; another one each time that it has
        # come to nothing.
        name = hashlib.sha256(f"{self._digits}\n{task.text}".encode()).hexdigest()[:32]
        try:
            task.future = self._client.submit(
                eval,
                CALL,
                {"text": task.text, "algorithms": self._algorithms},
                key=f"truckee-{name}-{task.attempts}",
                workers=only,
                pure=False,
            )
        except (OSError, RuntimeError):
            self._again.add(number)
            return
        follow = self._follow(number, task.attempts, task.future)
        asyncio.run_coroutine_threadsafe(follow, self._client.loop.asyncio_loop)

    async def _follow(self, number: int, attempt: int, future: Any) -> None:
        """Waits for a task in the client's own thread."""
        what: Done | BaseException
        try:
            what = await self._client.gather(future, asynchronous=True)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 (it is looked at where it is heard)
            what = error
        self._came.put((number, attempt, what))

    def _take(self, number: int, task: _Task, what: Done | BaseException) -> list[tuple[int, str, float]]:
        """What comes of what has come."""
        killed: type[BaseException] = _distributed().KilledWorker
        if isinstance(what, tuple):
            worker, answers, seconds, said = what
            if answers is not None:
                if said is not None:
                    self.raised = RemoteTraceback(said)
                self._forget(number)
                return [(number, answers, seconds)]
            self._refuse(worker, said or "")
        elif isinstance(what, killed):
            task.deaths += 1
            if task.deaths >= DEATHS:
                raise MachineError(
                    f"the workers of {self._address} die, one after the other, while they run the same task: {what}; "
                    "have they enough memory?"
                )
        elif not isinstance(what, LOST):
            raise MachineError(
                f"a worker of {self._address} cannot run a task: {type(what).__name__}: {what}; "
                "is the same truckee installed there?"
            ) from what
        self._again.add(number)
        return []

    def _refuse(self, worker: str, why: str) -> None:
        """Notes that a worker can run no task of this sweep."""
        workers = self._workers
        if worker not in workers.refused:
            workers.refused[worker] = why
            self._said.append(f"worker {worker} gets no more of this sweep: {why}")
        if not workers.able and workers.threads:
            raise MachineError(f"no worker of {self._address} can run this sweep; {worker}: {why}")

    def _look(self) -> None:
        """Which workers there are, if it was long ago that somebody looked."""
        client, workers, now = self._client, self._workers, time.monotonic()
        if client.status == "closed":
            raise MachineError(f"the scheduler at {self._address} is lost; what has finished is kept")
        if now - workers.looked < LOOKED:
            return
        workers.looked = now
        try:
            workers.threads = dict(client.nthreads()) if client.status == "running" else {}
        except (OSError, RuntimeError):
            workers.threads = {}
        if workers.threads:
            workers.since, self._lonely = now, False
        elif now - workers.since > ALONE and not self._lonely:
            self._lonely = True
            self._said.append(f"the scheduler at {self._address} has no worker; waiting for one")
        # Those that only workers may run that are gone are for others now.
        for number, task in self._tasks.items():
            if task.only is not None and not task.only & workers.threads.keys() and workers.able:
                self._again.add(number)

    def _forget(self, number: int) -> None:
        task = self._tasks.pop(number)
        self._again.discard(number)
        if task.future is not None:
            # Which the scheduler hears, unless somebody else waits for it.
            task.future.release()


def hired(address: str) -> Crew:
    """Those who work for the scheduler at this address, for one sweep."""
    distributed = _distributed()
    try:
        distributed.comm.get_address_host(address)
        distributed.comm.parse_host_port(address.rpartition("//")[2])
    except ValueError as error:
        raise QuestionError(
            f'"{address}" is no scheduler\'s address, expected one like tcp://HOST:8786: {error}'
        ) from error
    try:
        client = distributed.Client(address, set_as_default=False, name="truckee")
    except OSError as error:
        raise MachineError(f"there is no scheduler at {address}: {error}") from error
    crew = Crew(client)
    crew.owned = True
    return crew


def checked(client: object) -> Any:
    """Refuses what is no client of a scheduler that understands this program."""
    one: Any = client
    if not isinstance(one, _distributed().Client):
        raise QuestionError(f"client={client!r}, expected a distributed.Client")
    if one.asynchronous:
        raise QuestionError("client= is asynchronous, expected one that was made with asynchronous=False")
    if one.status != "running":
        raise MachineError(f"client= is {one.status}, expected one that is connected to its scheduler")
    versions = one.get_versions()
    here, there = (versions[side]["packages"]["distributed"] for side in ("client", "scheduler"))
    if here != there:
        raise MachineError(
            f"the scheduler at {one.scheduler.address} is of distributed {there}, this process of {here}: "
            "install the same version"
        )
    return one


def _distributed() -> Any:
    """The module, if it is there."""
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise QuestionError("a cluster needs dask.distributed: pip install 'truckee[dask]'") from error
