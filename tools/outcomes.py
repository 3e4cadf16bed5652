#!/usr/bin/env python3
"""Holds what every random network comes to before a change against what it comes to after it, run by run.

  TRUCKEE_OUTCOMES=before.jsonl cargo test --release -p truckee-net --test random_networks -- --ignored
  tools/outcomes.py before.jsonl after.jsonl
  tools/outcomes.py before.jsonl after.jsonl --ignore-digests   what is told, not how it came about
  tools/outcomes.py before.jsonl after.jsonl --ignore events    likewise without a field, wherever it stands

Runs that differ are listed with their fields, largest relative difference first; what is no number on both sides, or
on one side only, counts as infinite. Not for: saying which of the two is right.

Exit code: 0 all are equal, 1 one differs or is in one file only, 2 bad usage.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DIGEST = "digest"
MISSING = object()

# A run's name in both files: its network and what was put into it.
Key = tuple[int, str]


@dataclass(frozen=True)
class Difference:
    """A field that differs, by how much of the larger of the two values (0: a digest, which has no size)."""

    field: str
    before: Any
    after: Any
    size: float

    def line(self) -> str:
        """As shown."""
        size = "" if self.field == DIGEST else f"  ({share(self.size)})"
        return f"{self.field}: {json.dumps(self.before)} -> {json.dumps(self.after)}{size}"


@dataclass(frozen=True)
class Run:
    """A run that differs, with its fields, the largest difference first."""

    key: Key
    differences: list[Difference]

    @property
    def size(self) -> float:
        """The largest of its differences."""
        return max(difference.size for difference in self.differences)


@dataclass
class Comparison:
    """All of it."""

    equal: int
    differing: list[Run]
    only_before: list[Key]
    only_after: list[Key]

    @property
    def alike(self) -> bool:
        """Whether nothing differs, and there was something to compare."""
        return self.equal > 0 and not (self.differing or self.only_before or self.only_after)


def share(size: float) -> str:
    """A relative difference, in words."""
    return "not comparable" if size == float("inf") else f"{100 * size:.3g} %"


def fields(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every leaf with its path; an empty list or table is a leaf."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from fields(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value:
        for index, inner in enumerate(value):
            yield from fields(inner, f"{path}[{index}]")
    else:
        yield path, value


def without_numbers(path: str) -> str:
    """A path, whichever flow or link it is of."""
    return re.sub(r"\[\d+\]", "", path)


def size_of(before: Any, after: Any) -> float:
    """By how much two values differ, relative to the larger; infinite where they are not both numbers."""
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (before, after))
    if not numbers:
        return float("inf")
    return float(abs(after - before) / max(abs(before), abs(after)))


def shown(value: Any) -> Any:
    """The value, or that there is none."""
    return "(nothing)" if value is MISSING else value


def differences(before: dict[str, Any], after: dict[str, Any], ignored: set[str]) -> list[Difference]:
    """What differs between two runs, the largest first; `ignored` are names of fields, wherever they stand."""
    one, other = ({DIGEST: run.get(DIGEST), **dict(fields(run["outcome"]))} for run in (before, after))
    found = []
    for field in one | other:
        if ignored.intersection(without_numbers(field).split(".")):
            continue
        a, b = one.get(field, MISSING), other.get(field, MISSING)
        if a != b:
            size = 0.0 if field == DIGEST else size_of(a, b)
            found.append(Difference(field, shown(a), shown(b), size))
    return sorted(found, key=lambda difference: -difference.size)


def key_of(line: bytes) -> Key:
    """Whose line it is."""
    run = json.loads(line)
    return run["network"], run["member"]


def compare(before: Path, after: Path, ignored: set[str]) -> Comparison:
    """Reads both files, one line of each at a time: they may be large. Raises OSError, ValueError, KeyError."""
    places: dict[Key, int] = {}
    with after.open("rb") as file:
        place = 0
        for line in file:
            places[key_of(line)] = place
            place += len(line)
    result = Comparison(0, [], [], [])
    with before.open("rb") as file, after.open("rb") as other:
        for line in file:
            key = key_of(line)
            if key not in places:
                result.only_before.append(key)
                continue
            other.seek(places.pop(key))
            twin = other.readline()
            found = [] if line == twin else differences(json.loads(line), json.loads(twin), ignored)
            if found:
                result.differing.append(Run(key, found))
            else:
                result.equal += 1
    result.only_after = list(places)
    result.differing.sort(key=lambda run: -run.size)
    return result


def report(result: Comparison, most: int) -> Iterator[str]:
    """In lines: the `most` runs that differ most with as many of their fields, then every field in how many runs."""
    for run in result.differing[:most]:
        network, member = run.key
        yield f"network {network}, {member}: {len(run.differences)} fields, by up to {share(run.size)}"
        yield from (f"    {difference.line()}" for difference in run.differences[:most])
    if len(result.differing) > most:
        yield f"... and {len(result.differing) - most} runs more"
    largest: dict[str, tuple[int, float]] = {}
    for run in result.differing:
        # A field counts once a run, whichever flow or link it is of.
        sizes: dict[str, float] = {}
        for difference in run.differences:
            name = without_numbers(difference.field)
            sizes[name] = max(sizes.get(name, 0.0), difference.size)
        for name, size in sizes.items():
            runs, top = largest.get(name, (0, 0.0))
            largest[name] = (runs + 1, max(top, size))
    for name, (runs, top) in sorted(largest.items(), key=lambda item: -item[1][0]):
        yield f"{runs:6} runs differ in {name}" + ("" if name == DIGEST else f", by up to {share(top)}")
    for where, keys in (("before", result.only_before), ("after", result.only_after)):
        if keys:
            members = sorted({member for _, member in keys})
            names = ", ".join(members[:most]) + (", ..." if len(members) > most else "")
            yield f"{len(keys)} runs are in the file {where} only: {names}"
    yield f"{result.equal} runs equal, {len(result.differing)} differ"


def main() -> int:
    """Exit code: see above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--ignore-digests", action="store_true", help="compare only what the outcome tells")
    parser.add_argument("--ignore", action="append", default=[], metavar="FIELD", help="a field that may differ")
    parser.add_argument("--most", type=int, default=10, help="runs, and fields of each, that are shown (10)")
    arguments = parser.parse_args()
    ignored = set(arguments.ignore) | ({DIGEST} if arguments.ignore_digests else set())
    try:
        result = compare(arguments.before, arguments.after, ignored)
    except (OSError, ValueError, KeyError) as error:
        print(f"outcomes: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    print("\n".join(report(result, arguments.most)))
    return 0 if result.alike else 1


if __name__ == "__main__":
    sys.exit(main())
