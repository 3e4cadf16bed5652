"""How far something is, by tqdm."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from tqdm.auto import tqdm

from truckee.errors import MachineWarning


class Bar:
    """A bar of runs, in a terminal or a notebook. `show=None`: where somebody can see it."""

    def __init__(self, what: str, show: bool | None) -> None:
        if show is None:
            show = sys.stderr.isatty() or "ipykernel" in sys.modules
        self._bar: Any = tqdm(desc=what, unit="run", disable=not show, leave=False)

    def started(self, total: int, done: int) -> None:
        """There are so many cells, of which so many are done."""
        self._bar.total = total
        self._bar.n = done
        self._bar.refresh()

    def finished(self, cells: int) -> None:
        """So many more are done."""
        self._bar.update(cells)

    def live(self, engine: str, runs: int, at_once: int, at_most_s: float) -> None:
        """Runs in real time are to come, and take so long at most."""
        self._bar.set_postfix_str(f"{engine}: {runs} live runs, {at_once} at once, {at_most_s:.0f} s at most")

    def warned(self, message: str) -> None:
        """Somebody should read this."""
        warnings.warn(message, MachineWarning, stacklevel=4)

    def close(self) -> None:
        """It is over."""
        self._bar.close()
