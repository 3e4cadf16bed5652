"""Folders of sweeps in object stores: `s3://bucket/name` and whatever else fsspec knows, with `pip install 'truckee[dask]'`.

A sweep works in a folder of this machine, which is kept the same as what is in the store: finished runs are there some
seconds later. Parts are never changed and are called by what is in them, so that writing one again does no harm, and what
several write there at once adds up.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import shutil
import tempfile
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any

from truckee.errors import MachineError, QuestionError

EVERY = 2.0
"""So often what is here and what is there are made the same, s."""
FIRST = ("sweep.json", "points.parquet")
"""What says of a folder whose it is."""
LAST = ("rows.parquet", "report.html")
"""What stands there when a sweep is done."""


class Mirror:
    """A folder of this machine that is kept the same as one in an object store."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._fs, self._root = _store(self.url)
        self._known: dict[str, tuple[int, int]] = {}
        """What is the same here and there: name, and size and time of change here."""
        self.folder = tempfile.mkdtemp(prefix="truckee-")
        """Where it is here."""
        try:
            self._check()
            self._pull([*FIRST, *LAST])
        except Exception as error:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise MachineError(f"cannot use {self.url}: {_said(error)}") from error
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="truckee-mirror", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Waits until there is there what is here, and ends it."""
        self._over.set()
        self._thread.join()
        try:
            self._push()
        except Exception as error:
            raise MachineError(
                f"cannot write {self.url}: {_said(error)}; what has finished is in {self.folder}"
            ) from error
        shutil.rmtree(self.folder, ignore_errors=True)

    def _follow(self) -> None:
        while not self._over.wait(EVERY):
            # What fails now may go well the next time; the last time it is said.
            with contextlib.suppress(Exception):
                self._push()
                self._pull([])

    def _check(self) -> None:
        """Writes there, and removes it: better now than after hours."""
        probe = f"{self._root}/claims/{os.path.basename(self.folder)}"
        self._fs.pipe_file(probe, b"truckee")
        self._fs.rm_file(probe)

    def _pull(self, names: list[str]) -> None:
        """Fetches these, as far as they are there, and the parts that are not here."""
        there = [f"parts/{os.path.basename(path)}" for path in self._listed() if path.endswith(".parquet")]
        for name in [*names, *there]:
            if name in self._known:
                continue
            with contextlib.suppress(FileNotFoundError):
                content: bytes = self._fs.cat_file(f"{self._root}/{name}")
                here = Path(self.folder, name)
                here.parent.mkdir(exist_ok=True)
                # Whole or not at all, for who looks at the folder meanwhile.
                unfinished = here.with_name(f".{here.name}.pulled")
                unfinished.write_bytes(content)
                unfinished.rename(here)
                self._known[name] = _state(here)

    def _listed(self) -> list[str]:
        self._fs.invalidate_cache()
        try:
            found: list[str] = self._fs.ls(f"{self._root}/parts", detail=False)
        except FileNotFoundError:
            return []
        return found

    def _push(self) -> None:
        """Writes what is new here, and removes what is not here any more: a part that is in another one now."""
        parts = [f"parts/{path.name}" for path in sorted(Path(self.folder, "parts").glob("part-*"))]
        for name in [*FIRST, *parts, *LAST]:
            here = Path(self.folder, name)
            try:
                state = _state(here)
                if self._known.get(name) != state:
                    self._fs.pipe_file(f"{self._root}/{name}", here.read_bytes())
                    self._known[name] = state
            except FileNotFoundError:
                continue  # there is none, or it is in another one since
        for name in [name for name in self._known if not Path(self.folder, name).exists()]:
            with contextlib.suppress(FileNotFoundError):
                self._fs.rm_file(f"{self._root}/{name}")
            # Who lists may find it for a while; it is not to come back.
            self._known[name] = (-1, -1)


def _state(path: Path) -> tuple[int, int]:
    state = path.stat()
    return state.st_size, state.st_mtime_ns


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__


def _store(url: str) -> tuple[Any, str]:
    """The store that a URL is in, and its path there."""
    try:
        core: Any = importlib.import_module("fsspec.core")
    except ImportError as error:
        raise QuestionError(f"{url}: object stores need fsspec: pip install 'truckee[dask]'") from error
    try:
        store, root = core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise QuestionError(f"{url}: {error}") from error
    return store, root


def url(folder: str | os.PathLike[str] | None) -> str | None:
    """The folder where it is one in an object store."""
    where = "" if folder is None else os.fspath(folder)
    return where if "://" in where and not where.startswith("file://") else None


@contextlib.contextmanager
def at(folder: str | os.PathLike[str] | None) -> Generator[str | None]:
    """The folder to work in: one that is kept the same, where it is one in an object store."""
    there = url(folder)
    if folder is None or there is None:
        yield None if folder is None else os.fspath(folder).removeprefix("file://")
        return
    mirror = Mirror(there)
    try:
        yield mirror.folder
    finally:
        mirror.close()
