"""Pages to look at, made by the command itself, and a browser to look with.

TRUCKEE is the command, ARTEFACTS the directory that keeps the pages and their screenshots.
"""

import os
import shutil
import subprocess
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
TRUCKEE = os.environ.get("TRUCKEE", str(ROOT / "target/release/truckee"))
ARTEFACTS = Path(os.environ.get("ARTEFACTS", ROOT / "target/report"))
# How long something that has to come is waited for; no bound on how long anything may take.
PATIENCE_MS = 120_000
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# A run with more than a hundred thousand segments, and as many ACKs and changes of the queue.
LONG = """
duration = "130s"
[[link]]
between = ["a", "b"]
rate = "10Mbit/s"
delay = "10ms"
channel = { kind = "bernoulli", per = 0.0005 }
queue = { kind = "drop-tail", size = "50packets" }
[[flow]]
name = "bulk"
from = "a"
to = "b"
mss = 1400
receiver = "every"
"""
# Four stations, of which two stand between the others by turns.
AIR = """
duration = "45s"
[[node]]
name = "a"
at   = ["0m", "0m"]
[[node]]
name = "b"
at   = ["400m", "0m"]
[[node]]
name = "up"
at   = ["200m", "50m"]
move = { kind = "path", points = [["25s", "200m", "50m"], ["35s", "200m", "1000m"]] }
[[node]]
name = "down"
at   = ["200m", "-400m"]
move = { kind = "path", points = [["12s", "200m", "-400m"], ["20s", "200m", "-100m"]] }
[[medium]]
name = "air"
standard = "802.11b"
rate = "2Mbit/s"
frequency = "914MHz"
power = "24.5dBm"
propagation = { kind = "two-ray" }
receive_threshold = "-64.375dBm"
carrier_sense = "-78.07dBm"
routing = "aodv"
[[flow]]
name = "along"
from = "a"
to = "b"
"""


def truckee(*arguments: str) -> None:
    """Runs the command, and fails with what it said."""
    done = subprocess.run([TRUCKEE, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"truckee {' '.join(arguments)}: {done.stderr}")


def make_all(out: Path) -> dict[str, Path]:
    """One page of each kind, by its name."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    wireless = "examples/wireless.toml"
    truckee("run", wireless, "--set", "duration=120s", "--out", f"{out}/run")
    truckee("run", wireless, "--set", "duration=120s", "--set", "flow.0.sender=tibet", "--out", f"{out}/other")
    truckee("report", f"{out}/run", f"{out}/other", "--to", f"{out}/several.html")
    vary = ["--vary", "flow.sender=newreno,newreno-lp", "--vary", "channel.per_bad=0.1,0.3,0.5"]
    truckee("sweep", wireless, "--set", "duration=30s", *vary, "--runs", "3", "--out", f"{out}/sweep")
    truckee("study", "run", "wireless-download", "--quick", "--out", f"{out}/studies")
    truckee("report", f"{out}/studies")
    both = ["--engines", "sim,sim", "--runs", "2", "--set", "duration=30s"]
    truckee("compare", wireless, *both, "--out", f"{out}/compare")
    (out / "long.toml").write_text(LONG)
    truckee("run", f"{out}/long.toml", "--out", f"{out}/long")
    (out / "air.toml").write_text(AIR)
    truckee("run", f"{out}/air.toml", "--out", f"{out}/air")
    truckee("run", wireless, "--set", "duration=60s", "--pcapng", f"{out}/run.pcapng")
    truckee("read", f"{out}/run.pcapng", "--out", f"{out}/capture")
    made = {
        "run": out / "run/report.html",
        "several": out / "several.html",
        "sweep": out / "sweep/report.html",
        "study": out / "studies/wireless-download-quick/report.html",
        "studies": out / "studies/report.html",
        "compare": out / "compare/report.html",
        "long": out / "long/report.html",
        "air": out / "air/report.html",
        "capture": out / "capture/report.html",
        "connection": out / "capture/connection-1.html",
    }
    if live_is_possible():
        truckee("run", wireless, "--engine", "kernel", "--set", "duration=5s", "--out", f"{out}/live")
        made["live"] = out / "live/report.html"
    return made


def live_is_possible() -> bool:
    """Whether this machine can run on its own stack."""
    return subprocess.run([TRUCKEE, "doctor"], cwd=ROOT, capture_output=True, check=False).returncode == 0


def skip(why: str) -> None:
    """Leaves out the test that calls it, which is counted; where CI is set everything is there, and it fails."""
    if "CI" in os.environ:
        raise AssertionError(f"in CI no test may be skipped: {why}")
    raise unittest.SkipTest(why)


class Case(unittest.TestCase):
    """A test that opens pages."""

    made: ClassVar[dict[str, Path]] = {}
    browser: ClassVar[Browser]
    playwright: ClassVar[Any]

    @classmethod
    def setUpClass(cls) -> None:
        found = [path for name in BROWSERS if (path := shutil.which(name))]
        if not found:
            skip(f"there is none of {', '.join(BROWSERS)}: tools/prepare.sh browser installs one")
        if not Case.made:
            Case.made = make_all(ARTEFACTS)
            Case.playwright = sync_playwright().start()
            # Chromium's own sandbox does not start as root in a container; the pages are ours.
            chromium = Case.playwright.chromium
            Case.browser = chromium.launch(executable_path=found[0], args=["--no-sandbox"])
            unittest.addModuleCleanup(Case.close)

    @classmethod
    def close(cls) -> None:
        """Ends the browser."""
        Case.browser.close()
        Case.playwright.stop()
        Case.made = {}

    @contextmanager
    def page(self, name: str, width: int = 1280, **options: Any) -> Iterator[Page]:
        """The page of that name; afterwards, it must have said nothing on the console and asked for nothing."""
        context = self.browser.new_context(viewport={"width": width, "height": 900}, **options)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        said: list[str] = []
        asked: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        address = self.made[name].as_uri()
        page.goto(address)
        yield page
        self.assertEqual(said, [], name)
        self.assertEqual([url for url in asked if url != address and not url.startswith("blob:")], [], name)
        context.close()

    def show_all(self, page: Page) -> None:
        """Scrolls through, so that every figure is drawn, and back to the top."""
        figures = page.locator("figure.chart")
        for k in range(figures.count()):
            figures.nth(k).scroll_into_view_if_needed()
            # A map is drawn as SVG, all else on a canvas.
            figures.nth(k).locator("canvas, svg.map").wait_for()
        page.evaluate("window.scrollTo(0, 0)")
