#!/usr/bin/env python3
"""Holds every dependency against deny.toml: licence, ban, source. Offline, from `cargo metadata`, and for what is kept in
the repository itself from its vendored.toml, which also says what its files must be.

Reads the same file as cargo-deny, which does more but takes minutes to build. Not for: security advisories, which need
a database from the network.
"""

import hashlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
VENDORED = ROOT / "crates/lab/src/report/vendor/vendored.toml"
CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index"


def allowed(expression: str, allow: set[str]) -> bool:
    """Whether an SPDX expression can be satisfied by the allowed licences; `/` is the old way to write OR."""
    tokens = re.findall(r"\(|\)|[^()\s]+", expression.replace("/", " OR "))
    value, rest = _either(tokens, allow)
    if rest:
        raise ValueError(f"cannot read the licence {expression!r}")
    return value


def _either(tokens: list[str], allow: set[str]) -> tuple[bool, list[str]]:
    value, rest = _both(tokens, allow)
    while rest[:1] == ["OR"]:
        right, rest = _both(rest[1:], allow)
        value = value or right
    return value, rest


def _both(tokens: list[str], allow: set[str]) -> tuple[bool, list[str]]:
    value, rest = _one(tokens, allow)
    while rest[:1] == ["AND"]:
        right, rest = _one(rest[1:], allow)
        value = value and right
    return value, rest


def _one(tokens: list[str], allow: set[str]) -> tuple[bool, list[str]]:
    if tokens[:1] == ["("]:
        value, rest = _either(tokens[1:], allow)
        return value, rest[1:]
    if tokens[1:2] == ["WITH"]:
        return " ".join(tokens[:3]) in allow, tokens[3:]
    return tokens[0] in allow, tokens[1:]


def problems(package: dict[str, Any], allow: set[str], banned: set[str]) -> list[str]:
    """What is wrong with a package of `cargo metadata`."""
    found = []
    if package["name"] in banned:
        found.append("is banned")
    if package["source"] not in (None, CRATES_IO):
        found.append(f"comes from {package['source']}")
    if not package["license"]:
        found.append("names no licence")
    elif not allowed(package["license"], allow):
        found.append(f"is licensed {package['license']}")
    return found


def vendored_problems(library: dict[str, Any], folder: Path, allow: set[str]) -> list[str]:
    """What is wrong with a library of vendored.toml, whose files are in this folder."""
    found = []
    if not allowed(library["license"], allow):
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
    policy = tomllib.loads((ROOT / "deny.toml").read_text())
    command = ["cargo", "metadata", "--format-version=1", "--locked"]
    metadata = subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    packages = json.loads(metadata.stdout)["packages"]
    allow, banned = set(policy["licenses"]["allow"]), set(policy["bans"]["deny"])
    bad = [(p, what) for p in packages for what in problems(p, allow, banned)]
    libraries = tomllib.loads(VENDORED.read_text())["library"]
    bad += [(one, what) for one in libraries for what in vendored_problems(one, VENDORED.parent, allow)]
    for package, what in bad:
        print(f"{package['name']} {package['version']} {what}", file=sys.stderr)
    print(f"{len(packages) + len(libraries)} packages held against deny.toml, {len(bad)} problems")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
