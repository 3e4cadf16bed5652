"""Has the built book carry the laboratory, and its figures lead there. mkdocs calls this (hooks in mkdocs.yml).

The laboratory needs the command and, unless it is built into that, what `make web` builds. Where one of them is missing the
book is built without: no figure leads anywhere, and links to the laboratory are plain words. Pages link to it as
`[words](lab:lesson=slow-start)`; what may stand behind `lab:`, `crates/web/page/lab.js` says.

TRUCKEE is the command, ENGINE what it runs in the page.
"""

import json
import logging
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from figures import ROOT, figures

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PAGE = "lab.html"
KNOWN = re.compile(r'<script type="application/json" id="known">(.*?)</script>', re.DOTALL)
# A picture in a paragraph of its own, and what its file is called.
PICTURE = re.compile(r'<p><img (?:[^>"]|"[^"]*")*?src="[^"]*figures/(?P<name>[\w./-]+)\.svg"(?:[^>"]|"[^"]*")*></p>')
LINK = re.compile(r'<a href="lab:(?P<wanted>[^"]*)">(?P<words>.*?)</a>', re.DOTALL)
log = logging.getLogger("mkdocs.hooks.laboratory")


@dataclass
class Laboratory:
    """The page, and what it opens with."""

    html: str
    # What follows its address, by the name of a figure.
    links: dict[str, str]
    # The scenarios of its gallery and its lessons, by name.
    scenarios: set[str] = field(default_factory=set)
    lessons: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        known = KNOWN.search(self.html)
        held = json.loads(known[1]) if known else {}
        self.scenarios = {one["name"] for one in held.get("examples", [])}
        self.lessons = {one["id"] for one in held.get("lessons", [])}

    def of_figure(self, name: str) -> str | None:
        """What follows the page's address for the scenario of this figure; none where it is not simulated."""
        if not name.startswith("studies/"):
            return self.links.get(name)
        # A study's figures are called by it, and by what they show.
        parts = name.removeprefix("studies/").split("-")
        wanted = ("-".join(parts[:k]) + ".toml" for k in range(len(parts), 0, -1))
        found = next((one for one in wanted if one in self.scenarios), None)
        return f"open={found}" if found else None

    def has(self, wanted: str) -> bool:
        """Whether a link of a page leads somewhere."""
        what, _, name = wanted.partition("=")
        return wanted == "" or name in {"lesson": self.lessons, "open": self.scenarios}.get(what, set())


def filled(html: str, lab: Laboratory | None, to: str) -> str:
    """A page with links to the laboratory, which is at `to`, below its figures and where it names them itself."""

    def below(match: re.Match[str]) -> str:
        link = lab.of_figure(match["name"]) if lab else None
        if link is None:
            return match[0]
        says = "Change it: opens the laboratory with this scenario"
        return f'{match[0]}\n<p class="change"><a href="{to}#{link}" target="_blank" title="{says}">change it</a></p>'

    def named(match: re.Match[str]) -> str:
        if lab is None:
            return match["words"]
        if not lab.has(match["wanted"]):
            log.warning("the laboratory has no %s, to which a page links", match["wanted"])
        end = f"#{match['wanted']}" if match["wanted"] else ""
        return f'<a href="{to}{end}" target="_blank">{match["words"]}</a>'

    return LINK.sub(named, PICTURE.sub(below, html))


def command() -> str | None:
    """The command, if it has been built."""
    given = os.environ.get("TRUCKEE")
    candidates = [ROOT / given] if given else [TARGET / "release/truckee", TARGET / "debug/truckee"]
    return next((str(one) for one in candidates if one.exists()), None)


def made() -> Laboratory | None:
    """The laboratory with the links of all figures; none where it cannot be made here."""
    truckee = command()
    if truckee is None:
        log.info("the book is built without the laboratory: there is no truckee (make release)")
        return None

    def said(words: list[str]) -> str:
        return subprocess.run([truckee, "lab", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout

    engine = ROOT / os.environ.get("ENGINE", TARGET / "wasm32-unknown-unknown/web/truckee_web.wasm")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / PAGE
        try:
            said(["--out", str(page), *(["--engine", str(engine)] if engine.exists() else [])])
        except subprocess.CalledProcessError as error:
            log.info("the book is built without the laboratory: %s", error.stderr.strip())
            return None
        html = page.read_text()
    drawn = figures()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        links = pool.map(lambda one: said([*one.words(), "--link"]).strip(), drawn.values())
        return Laboratory(html, dict(zip(drawn, links, strict=True)))


class Held:
    """The laboratory of the build that is going on."""

    lab: Laboratory | None = None


def on_pre_build(config: Any) -> None:
    """Makes it before any page is."""
    del config
    Held.lab = made()


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Fills in a page's links."""
    del config, files
    # The page lies as deep as its address has parts.
    return filled(html, Held.lab, "../" * page.url.count("/") + PAGE)


def on_post_build(config: Any) -> None:
    """Puts it beside the pages."""
    to = Path(config["site_dir"]) / PAGE
    if Held.lab:
        to.write_text(Held.lab.html)
