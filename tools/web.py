#!/usr/bin/env python3
"""Holds what a browser runs to the pinned digests: every scenario of crates/net/tests/determinism, in Node and in Chromium.

  tools/web.py target/wasm32-unknown-unknown/web/truckee_web.wasm

What native builds make of them, crates/net/tests/determinism.rs tests.
"""

import argparse
import base64
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Error as BrowserError
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
PINNED = ROOT / "crates/net/tests/determinism"
ENGINE = ROOT / "crates/web/page/engine.js"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# Of WebAssembly in base64 and scenarios their digests, an instance for each as a run of the command has a process.
DIGESTS = """async ([wasm, scenarios]) => {
  const module = await WebAssembly.compile(Uint8Array.from(atob(wasm), (one) => one.charCodeAt(0)));
  const digests = [];
  for (const scenario of scenarios) {
    const engine = new Engine(module);
    const run = await engine.run(scenario);
    digests.push(engine.ask({ do: "result", run }).digest);
  }
  return digests;
}"""


def pinned() -> list[tuple[str, dict[str, Any]]]:
    """Each digest that is pinned, and the scenario with its seed."""
    rows = [line.split() for line in (PINNED / "digests.txt").read_text().splitlines()]
    texts = {name: (PINNED / f"{name}.toml").read_text() for _, name, _ in rows}
    return [(digest, {"name": name, "text": texts[name], "seed": int(seed)}) for digest, name, seed in rows]


def in_node(given: list[Any]) -> list[str]:
    """The digests that Node gives."""
    script = f"const {{ Engine }} = require({json.dumps(str(ENGINE))});\n"
    script += f"({DIGESTS})(JSON.parse(require('fs').readFileSync(0))).then((all) => console.log(JSON.stringify(all)));"
    done = subprocess.run(
        ["node", "-e", script], input=json.dumps(given), check=True, stdout=subprocess.PIPE, text=True
    )
    return list(json.loads(done.stdout))


def in_chromium(given: list[Any]) -> list[str]:
    """The digests that Chromium gives."""
    found = [path for name in BROWSERS if (path := shutil.which(name))]
    if not found:
        raise OSError(f"there is none of {', '.join(BROWSERS)}: tools/prepare.sh browser installs one")
    with sync_playwright() as playwright:
        # Chromium's own sandbox does not start as root in a container; the page is ours.
        browser = playwright.chromium.launch(executable_path=found[0], args=["--no-sandbox"])
        page = browser.new_page()
        page.add_script_tag(content=ENGINE.read_text())
        digests: list[str] = page.evaluate(DIGESTS, given)
        browser.close()
        return digests


def main() -> int:
    """Exit code: 0 all are the pinned ones, 1 one is not or could not be had."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wasm", type=Path, metavar="WASM", help="what a browser runs")
    expected = pinned()
    bad = 0
    try:
        wasm = base64.b64encode(parser.parse_args().wasm.read_bytes()).decode()
        given = [wasm, [scenario for _, scenario in expected]]
        for place, digests in (("Node", in_node(given)), ("Chromium", in_chromium(given))):
            for (digest, scenario), found in zip(expected, digests, strict=True):
                if found != digest:
                    print(f"DIFFERENT in {place}: {scenario['name']}, seed {scenario['seed']}: {found}, not {digest}")
                    bad += 1
    except (OSError, subprocess.CalledProcessError, BrowserError, ValueError) as error:
        print(f"web: {error}", file=sys.stderr)
        return 1
    print(f"{len(expected)} pinned digests held against those of Node and of Chromium: {bad} differ")
    return 1 if bad or not expected else 0


if __name__ == "__main__":
    sys.exit(main())
