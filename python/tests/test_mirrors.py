"""Folders in object stores, of which memory is one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import SHORT

import truckee
from truckee.mirrors import Mirror

fsspec = pytest.importorskip("fsspec")
parquet = pytest.importorskip("pyarrow.parquet")

URL = "memory://bucket/sweep"


@pytest.fixture
def store() -> Iterator[Any]:
    store = fsspec.filesystem("memory")
    yield store
    if store.exists("/bucket"):
        store.rm("/bucket", recursive=True)


def test_a_sweep_in_a_store_is_that_of_a_folder_and_goes_on(tmp_path: Path, store: Any) -> None:
    first = truckee.sweep(SHORT, runs=3, folder=URL, progress=False)
    assert first.file == f"{URL}/rows.parquet"
    parts = store.ls("/bucket/sweep/parts", detail=False)
    assert parts and store.exists("/bucket/sweep/sweep.json")
    before = {path: store.cat_file(path) for path in parts}
    truckee.sweep(SHORT, runs=5, folder=URL, progress=False)
    assert all(store.cat_file(path) == content for path, content in before.items()), "parts are never changed"
    truckee.sweep(SHORT, runs=5, folder=tmp_path, progress=False)
    with store.open("/bucket/sweep/rows.parquet") as file:
        assert parquet.read_table(file).equals(parquet.read_table(tmp_path / "rows.parquet"))
    assert b"<html" in store.cat_file("/bucket/sweep/report.html")[:1000].lower()


def test_what_is_not_here_any_more_goes_there_too_and_does_not_come_back(store: Any) -> None:
    mirror = Mirror(URL)
    folder = Path(mirror.folder)
    (folder / "parts").mkdir()
    for name in "ab":
        (folder / f"parts/part-{name}.parquet").write_bytes(name.encode())
    mirror._push()
    assert len(store.ls("/bucket/sweep/parts")) == 2
    (folder / "parts/part-a.parquet").unlink()
    store.pipe_file("/bucket/sweep/parts/part-c.parquet", b"c")
    mirror._push()
    mirror._pull([])
    there = [os.path.basename(path) for path in store.ls("/bucket/sweep/parts", detail=False)]
    assert sorted(there) == ["part-b.parquet", "part-c.parquet"]
    assert (folder / "parts/part-c.parquet").read_bytes() == b"c", "what others write comes here"
    mirror.close()
    assert not folder.exists()


def test_a_store_that_cannot_be_used_is_an_error_and_nothing_is_lost(
    store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(truckee.QuestionError, match="nosuch"):
        truckee.sweep(SHORT, runs=1, folder="nosuch://bucket/x", progress=False)

    def full(*_: object, **__: object) -> None:
        raise OSError("the bucket is full")

    monkeypatch.setattr(type(store), "pipe_file", full)
    with pytest.raises(truckee.MachineError, match="cannot use memory://bucket/sweep: the bucket is full"):
        truckee.sweep(SHORT, runs=1, folder=URL, progress=False)
    monkeypatch.undo()
    mirror = Mirror(URL)
    truckee.sweep(SHORT, runs=2, folder=mirror.folder, progress=False)
    monkeypatch.setattr(type(store), "pipe_file", full)
    with pytest.raises(truckee.MachineError, match="the bucket is full; what has finished is in "):
        mirror.close()
    assert (Path(mirror.folder) / "rows.parquet").exists()
    shutil.rmtree(mirror.folder)


def test_a_folder_by_its_url_is_that_folder(tmp_path: Path) -> None:
    sweep = truckee.sweep(SHORT, runs=1, folder=f"file://{tmp_path}", progress=False)
    assert sweep.file == tmp_path / "rows.parquet"
