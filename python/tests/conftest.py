"""What all tests of the package share: the package as it is installed, and the command beside it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# The same cases each time, so that a change is judged by what it changes.
settings.register_profile("same", derandomize=True, database=None, deadline=None)
settings.load_profile("same")

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"

SHORT = {
    "duration": "10s",
    "topology": {
        "kind": "single-link",
        "rate": "5Mbit/s",
        "delay": "30ms",
        "queue": {"size": "30packets"},
        "channel": {"kind": "bernoulli", "per": 0.005},
    },
    "flow": [{"from": "src", "to": "dst", "sender": "newreno"}],
}
"""Ten seconds over a link that loses, as a mapping."""


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Python's own answer to Ctrl-C, also where a shell in the background has had it ignored for all that it starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def command() -> Callable[..., subprocess.CompletedProcess[str]]:
    """The command `truckee` that was installed with the package."""
    program = Path(sys.executable).with_name("truckee")

    def call(*words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([program, *words], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)

    return call
