"""What the book says of the package: every block of these pages, one after the other."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from conftest import EXAMPLES, ROOT

PAGES = {"python": 9, "analyse": 7, "learn": 3}
"""Pages of docs/howto, and how many blocks they have at least."""


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_true(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = ROOT / f"docs/howto/{name}.md"
    for needed in ("pyarrow", "duckdb", "polars", "pandas", "gymnasium"):
        pytest.importorskip(needed)
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    blocks = list(re.finditer(r"```python\n(.*?)```", text, re.DOTALL))
    assert len(blocks) >= PAGES[name]
    said: dict[str, object] = {"__name__": "guide"}
    for block in blocks:
        line = text[: block.start()].count("\n") + 1
        # Lines are those of the page, for who reads a traceback.
        exec(compile("\n" * line + block[1], str(page), "exec"), said)  # noqa: S102 (the page is ours)
