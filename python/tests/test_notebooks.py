"""The course (notebooks/): each notebook runs from its first cell to its last, solutions included, in its quick form."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

FOLDER = ROOT / "notebooks"
COURSE = sorted(FOLDER.glob("*.ipynb"))


def cells(text: str) -> list[dict[str, Any]]:
    """Of a notebook."""
    found: list[dict[str, Any]] = json.loads(text)["cells"]
    return found


def test_there_are_six() -> None:
    assert [file.name[:2] for file in COURSE] == [f"{number}-" for number in range(1, 7)]


@pytest.mark.parametrize("file", COURSE, ids=lambda file: file.stem)
def test_a_notebook_is_stored_as_it_is_written(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    notebook = json.loads(text)
    nbformat.validate(notebook)
    assert text == json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    for cell in notebook["cells"]:
        assert not cell.get("outputs") and cell.get("execution_count") is None, "outputs are nobody's to store"
    said = "".join("".join(cell["source"]) for cell in notebook["cells"])
    assert "## Exercises" in said and "## Solutions" in said and "Sources:" in said


@pytest.mark.parametrize("file", COURSE, ids=lambda file: file.stem)
def test_a_notebook_runs_to_its_end_and_shows_pictures(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUCKEE_QUICK", "1")
    monkeypatch.delenv("TRUCKEE_LIVE", raising=False)
    notebook = nbformat.read(file, as_version=4)
    nbclient.NotebookClient(notebook, timeout=None, resources={"metadata": {"path": str(FOLDER)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert sum("image/png" in output.get("data", {}) for output in outputs) >= 2


def test_a_handout_has_the_exercises_and_no_solutions(tmp_path: Path) -> None:
    subprocess.run([sys.executable, FOLDER / "handout.py", tmp_path], check=True, capture_output=True)
    assert sorted(file.name for file in tmp_path.iterdir()) == [file.name for file in COURSE]
    for file in COURSE:
        whole, handed = (cells((folder / file.name).read_text(encoding="utf-8")) for folder in (FOLDER, tmp_path))
        left_out = [cell for cell in whole if cell not in handed]
        assert left_out and all(cell["metadata"]["tags"] == ["solution"] for cell in left_out)
        # What stands before the exercises does not stand on the solutions, which come after them.
        assert whole[: len(handed)] == handed
