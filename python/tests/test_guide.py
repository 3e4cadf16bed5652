"""What the book says of the package: every block of docs/howto/python.md, one after the other."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from conftest import EXAMPLES, ROOT

PAGE = ROOT / "docs/howto/python.md"


def test_the_page_is_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pyarrow", "duckdb", "polars", "pandas"):
        pytest.importorskip(name)
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    blocks = list(re.finditer(r"```python\n(.*?)```", text, re.DOTALL))
    assert len(blocks) > 8
    said: dict[str, object] = {"__name__": "guide"}
    for block in blocks:
        line = text[: block.start()].count("\n") + 1
        # Lines are those of the page, for who reads a traceback.
        exec(compile("\n" * line + block[1], str(PAGE), "exec"), said)  # noqa: S102 (the page is ours)
