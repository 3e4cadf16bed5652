#!/usr/bin/env python3
"""Holds what is kept in this repository of others against its vendored.toml: the files are those that were taken over, and
their licences are among those that deny.toml allows. What Cargo fetches, cargo-deny looks at.
"""

import hashlib
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
VENDORED = [ROOT / "crates/look/src/report/vendor/vendored.toml", ROOT / "crates/web/page/vendor/vendored.toml"]


def libraries() -> list[tuple[dict[str, Any], Path]]:
    """What is kept, each with the folder that its files are in."""
    return [(one, file.parent) for file in VENDORED for one in tomllib.loads(file.read_text())["library"]]


def problems(library: dict[str, Any], folder: Path, allow: set[str]) -> list[str]:
    """What is wrong with a library of vendored.toml, whose files are in this folder."""
    found = []
    if library["license"] not in allow:
        found.append(f"is licensed {library['license']}")
    if library["licence_file"] not in library["sha256"]:
        found.append("has no licence beside it")
    for name, digest in library["sha256"].items():
        path = folder / name
        if not path.is_file():
            found.append(f"lacks {name}")
        elif hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            found.append(f"has another {name} than was taken over")
    return found


def main() -> int:
    """Exit code: 0 all is well, 1 something is not."""
    allow = set(tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]["allow"])
    kept = libraries()
    bad = [(one, what) for one, folder in kept for what in problems(one, folder, allow)]
    for library, what in bad:
        print(f"{library['name']} {library['version']} {what}", file=sys.stderr)
    print(f"{len(kept)} libraries held against vendored.toml, {len(bad)} problems")
    return 1 if bad or not kept else 0


if __name__ == "__main__":
    sys.exit(main())
