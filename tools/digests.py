#!/usr/bin/env python3
"""Holds Truckee to its word: same scenario, same seed, same digest, however it is built. Of each example, a debug build of
the command and a release build of the simulator must give the same.

The pinned digests, and one thread against several, are tests: crates/net/tests/determinism.rs.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def output(words: list[str]) -> str:
    """What a command prints; its own errors go where ours go."""
    return subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def of_release(examples: list[str]) -> dict[str, str]:
    """The digests that a release build gives, by file."""
    run = ["cargo", "run", "--release", "--locked", "--quiet", "-p", "truckee-digest", "--", *examples]
    pairs = (line.split(maxsplit=1) for line in output(run).splitlines())
    return {file: digest for digest, file in pairs}


def differing(one: dict[str, str], other: dict[str, str]) -> list[str]:
    """What is not the same, or not there, in words."""
    files = sorted(one.keys() | other.keys())
    pairs = [(file, one.get(file, ""), other.get(file, "")) for file in files]
    return [f"{file}: {a or 'none'} and {b or 'none'}" for file, a, b in pairs if a != b or not a]


def main() -> int:
    """Exit code: 0 all are the same, 1 one is not or could not be had."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--truckee", type=Path, default=Path("target/debug/truckee"), help="a debug build")
    debug: Path = parser.parse_args().truckee
    examples = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "examples").glob("*.toml"))
    try:
        one = {file: json.loads(output([str(debug), "run", file, "--format", "json"]))["digest"] for file in examples}
        bad = differing(one, of_release(examples))
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        print(f"digests: {error}", file=sys.stderr)
        return 1
    for what in bad:
        print(f"DIFFERENT: {what}")
    print(f"{len(examples)} examples, debug and release: {len(bad)} differ")
    return 1 if bad or not examples else 0


if __name__ == "__main__":
    sys.exit(main())
