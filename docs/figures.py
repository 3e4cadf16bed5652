#!/usr/bin/env python3
"""Draws the book's figures of single runs anew, as docs/figures.toml says, and the first page's, which is a study's.

`make figures` calls this. Not for: the figures of studies (results.py), and those of the validation.
"""

import os
import subprocess
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent


@dataclass(frozen=True)
class Figure:
    """What a figure is drawn of."""

    scenario: str
    overrides: list[str]

    def words(self) -> list[str]:
        """As the command takes it."""
        return [self.scenario, *(word for one in self.overrides for word in ("--set", one))]


def figures() -> dict[str, Figure]:
    """All of them, by name."""
    held = tomllib.loads((DOCS / "figures.toml").read_text())
    return {name: Figure(one["scenario"], one.get("set", [])) for name, one in held.items()}


def main() -> None:
    """See the module."""
    truckee = os.environ.get("TRUCKEE", "target/release/truckee")

    def run(*words: str) -> None:
        subprocess.run([truckee, *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)

    for name, figure in figures().items():
        to = f"docs/figures/{name}.svg"
        run("run", *figure.words(), "--figure", to)
        print(to)
    with tempfile.TemporaryDirectory() as folder:
        run("study", "run", "wireless-download", "--out", folder)
        to = "docs/figures/wireless-download.svg"
        (ROOT / to).write_bytes((Path(folder) / "wireless-download/download.svg").read_bytes())
        print(to)


if __name__ == "__main__":
    main()
