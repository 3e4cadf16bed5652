"""Published results held against what is measured, and pages of what a folder holds."""

from __future__ import annotations

import html
import json
import os
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from truckee import _native
from truckee.errors import QuestionError
from truckee.progress import Bar
from truckee.runs import Figure


@dataclass(frozen=True)
class About:
    """A study that comes with the package."""

    id: str
    title: str
    paper: str
    """What it is held against."""
    place: str
    """Where in that: a figure, a table."""


class Study:
    """A study that has been run."""

    def __init__(self, report: dict[str, Any], holds: bool, figures: Sequence[Figure]) -> None:
        self.report = report
        """As `truckee study run --format json` has it."""
        self.holds = holds
        """Whether it was run and judged, and no check failed."""
        self.figures = list(figures)

    @property
    def checks(self) -> list[dict[str, Any]]:
        """Its checks, each with its verdict."""
        rows: list[dict[str, Any]] = self.report["rows"]
        return rows

    def __repr__(self) -> str:
        return f"<Study {self.report['id']}: {self._counts()}>"

    def _counts(self) -> str:
        if self.report["skipped"] is not None:
            return f"skipped, {self.report['skipped']}"
        return ", ".join(f"{count} {word}" for word, count in self.report["counts"].items() if count)

    def _repr_html_(self) -> str:
        title = f"<p><b>{html.escape(self.report['title'])}</b>: {html.escape(self._counts())}</p>"
        return title + "".join(self.figures)


def studies() -> list[About]:
    """The studies that come with the package."""
    return [About(*words) for words in _native.studies()]


def study(
    name: str | os.PathLike[str],
    *,
    quick: bool = False,
    folder: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    progress: bool | None = None,
) -> Study:
    """Runs a study, by its id or the path of its file; `quick` is its small form. With a `folder` its runs, figures and
    page are kept there, and the next call goes on from there."""
    with tempfile.TemporaryDirectory(prefix="truckee-") as scratch, closing(Bar(os.fspath(name), progress)) as bar:
        where = scratch if folder is None else os.fspath(folder)
        text, holds = _native.study(os.fspath(name), where, quick, jobs, bar)
        told: dict[str, Any] = json.loads(text)
        figures = [Figure(Path(path).read_text(encoding="utf-8")) for path in told["figures"]]
    return Study(told, holds, figures)


def report(
    folders: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    to: str | os.PathLike[str] | None = None,
) -> Path:
    """Writes one self-contained HTML page of what `run`, `sweep`, `study` or `compare` left in a folder, or of several
    runs side by side. Returns it."""
    every = [folders] if isinstance(folders, (str, os.PathLike)) else list(folders)
    if not every:
        raise QuestionError("folders: expected one at least")
    page = _native.report([os.fspath(one) for one in every], None if to is None else os.fspath(to))
    return Path(page)
