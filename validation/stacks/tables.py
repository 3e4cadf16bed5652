#!/usr/bin/env python3
"""The tables 4.3 to 4.12 and the figures 4.2 to 4.13 of the Split ACK thesis, of stacks that nobody here wrote: what comes of
each, five times, when three segments are acknowledged whole and in parts, beside what came in 2011.

  validation/stacks/tables.py                        the stacks of STACKS, and this machine's own
  validation/stacks/tables.py --only lwip,uml/cubic

As the thesis did it: the first three ACKs go, every other one is withheld, and for three seconds more all that comes is counted.
What comes before the pause in test A must be what the stack's source says (expected.toml), to the byte in the middle repetition.

Needs root. Exit code: 0 all could be counted and is as expected, 1 something is not or could not be run, 2 bad usage.
"""

import argparse
import itertools
import json
import os
import signal
import statistics
import sys
import tomllib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import expected
import lab
import linux
from expected import Case
from run import TRUCKEE

THESIS = Path(__file__).with_name("thesis.toml")
STACKS = ("smoltcp/reno", "lwip/abc", "gvisor/reno", "gvisor/cubic", "slirp/reno", "uml/reno", "uml/cubic", "uml/bbr")
# This machine's own Linux, which has the rule and the window of the other one.
OWN, LIKE = "linux/cubic", "uml/cubic"
# The thesis' tests, and that after which it gave up Linux 2.6.9 (section 4.4.1).
TESTS = ("A", "B", "C", "D", "E", "200")
TIMES = 5
COUNTS = ("data_packets", "retransmitted", "data_bytes")


@dataclass
class Result:
    """What came of a case: the tests as JSON has them, what is wrong, why there are none if so."""

    case: Case
    name: str
    tests: list[dict[str, Any]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    skipped: str | None = None

    def of(self, test: str, count: str) -> list[int]:
        """That count in each repetition of a test."""
        return [int(seen[count]) for seen in self.tests if seen["test"] == test]

    def wrong(self) -> list[str]:
        """What is not as it has to be."""
        if self.skipped or self.faults:
            return self.faults
        short = [test for test in TESTS if len(self.of(test, "data_packets")) < TIMES]
        if short:
            return [f"fewer than {TIMES} repetitions of {', '.join(short)}"]
        mss = int(statistics.median(self.of("A", "mss")))
        due = dict(zip(("window_bytes", "second_bytes"), self.due(mss), strict=True))
        seen = {count: statistics.median(self.of("A", count)) for count in due}
        return [f"{count} {seen[count]:g}, expected {due[count]}" for count in due if seen[count] != due[count]]

    def due(self, mss: int) -> tuple[int, int]:
        """Bytes of the first window, and what three whole ACKs bring, by the stack's source."""
        first = rest = self.case.first_round(mss)
        sizes: list[int] = []
        while rest > 0:
            sizes.append(min(mss, rest))
            rest -= sizes[-1]
        # Of a smaller window the third segment is one of those that the first two ACKs have brought.
        sizes += [mss] * (3 - len(sizes))
        acks = list(itertools.accumulate(sizes))[:3]
        return first, self.case.second_round(sizes, acks, mss) + sum(sizes) - first


def main() -> int:
    """See the module."""
    arguments = _arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        linux.private_namespaces()
    except linux.Refused as error:
        _say(str(error))
        return 1
    cases = {case.name: case for case in expected.load()}
    missing = lab.prepare({name.split("/")[0] for name in arguments.names}, _say)

    def run(name: str) -> Result:
        case = cases[LIKE if name == OWN else name]
        if why := missing.get(name.split("/")[0]):
            return Result(case, name, faults=[why]) if os.environ.get("CI") else Result(case, name, skipped=why)
        return _run(case, name, arguments.truckee)

    with ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(run, arguments.names))
    print(table(results, tomllib.loads(THESIS.read_text())["server"]))
    if arguments.figure:
        draw([result for result in results if result.tests], arguments.figure)
    if arguments.json:
        seen = [{"case": r.name, "wrong": r.wrong(), "skipped": r.skipped, "tests": r.tests} for r in results]
        arguments.json.write_text(json.dumps(seen, indent=1) + "\n")
    return 1 if any(result.wrong() for result in results) else 0


def table(results: list[Result], thesis: list[dict[str, Any]]) -> str:
    """What came without division, those of 2011 above those of today; what division did; and what is wrong."""
    lines = ["| test A | table | data packets | retransmits | total | kilobytes |", "|---|---|--:|--:|--:|--:|"]
    lines += [_then(server) for server in thesis]
    seen = [result for result in results if result.tests]
    lines += [_now(result) for result in seen]
    heads = " | ".join(f"{test}" for test in TESTS)
    for count, what in zip(COUNTS, ("data packets", "retransmits", "kilobytes"), strict=True):
        lines += ["", f"| {what} | {heads} |", "|---|" + "--:|" * len(TESTS)]
        for result in seen:
            cells = [_spread(result.of(test, count), 1024 if count == "data_bytes" else 1) for test in TESTS]
            lines.append(f"| {result.name} | " + " | ".join(cells) + " |")
    lines.append("")
    lines += [f"{result.name}: {wrong}" for result in results for wrong in result.wrong()]
    lines += [f"{result.name} is left out: {result.skipped}" for result in results if result.skipped]
    return "\n".join(lines).rstrip()


def draw(results: list[Result], file: Path) -> None:
    """What division does to each, as the thesis' figures 4.6 to 4.13 have it; stacks of which as much comes share a line."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.fonttype"] = "none"
    matplotlib.rcParams["svg.hashsalt"] = "truckee"
    import matplotlib.pyplot as plt

    drawn, panels = plt.subplots(1, len(COUNTS), figsize=(9.5, 3.6), layout="constrained")
    words = {"data_packets": "data packets", "retransmitted": "retransmits", "data_bytes": "kilobytes"}
    for panel, count in zip(panels, COUNTS, strict=True):
        same: dict[tuple[float, ...], list[str]] = {}
        for result in results:
            unit = 1024 if count == "data_bytes" else 1
            means = tuple(statistics.mean(result.of(test, count)) / unit for test in TESTS if result.of(test, count))
            if len(means) == len(TESTS):
                same.setdefault(means, []).append(result.name)
        for means, names in same.items():
            panel.plot(TESTS, means, marker="o", markersize=3, linewidth=1, label="\n".join(names))
        panel.set_title(words[count], fontsize=9)
        panel.tick_params(labelsize=8)
        panel.spines[["top", "right"]].set_visible(False)
        panel.legend(fontsize=6, frameon=False)
        if count == "data_packets":
            panel.set_yscale("log")
        else:
            panel.set_ylim(0, 1.5 * panel.get_ylim()[1])
    drawn.supxlabel("test", fontsize=9)
    drawn.savefig(file, metadata={"Date": None})
    plt.close(drawn)


def _then(server: dict[str, Any]) -> str:
    """A server of 2011."""

    def values(key: str) -> list[float]:
        return [row[key] for row in server["rows"] if key in row for _ in range(row["times"])]

    data, again, kilobytes = values("data"), values("again"), values("kilobytes")
    total = [a + b for a, b in zip(data, again, strict=True)]
    cells = [_spread(data), _spread(again), _spread(total), _spread(kilobytes) if kilobytes else ""]
    divided = server.get("divided")
    name = f"{server['name']} (test C: {divided['data']} and {divided['again']})" if divided else server["name"]
    return f"| {name} | {server['table']} | " + " | ".join(cells) + " |"


def _now(result: Result) -> str:
    """A stack of today."""
    data, again, size = (result.of("A", count) for count in COUNTS)
    total = [a + b for a, b in zip(data, again, strict=True)]
    cells = [_spread(data), _spread(again), _spread(total), _spread(size, 1024)]
    return f"| {result.name} | | " + " | ".join(cells) + " |"


def _spread(values: Iterable[float], unit: float = 1) -> str:
    """The mean, and in parentheses least and most where they differ."""
    all_ = [value / unit for value in values]
    if not all_:
        return ""

    def word(value: float) -> str:
        return f"{value:.1f}".removesuffix(".0")

    mean = word(statistics.mean(all_))
    return mean if word(min(all_)) == word(max(all_)) else f"{mean} ({word(min(all_))}–{word(max(all_))})"


def _run(case: Case, name: str, truckee: Path) -> Result:
    """One case, in namespaces of its own."""
    result = Result(case, name)
    ends = lab.ends(name)
    stack, control = name.split("/")
    try:
        with lab.served(truckee, ends, case.rtt_ms, (stack, control), case.size) as url:
            seen = lab.tables(truckee, ends[0], url, TESTS, TIMES)
        result.tests = seen["tests"]  # type: ignore[assignment]
        if not result.tests:
            result.faults.append(f"nothing was counted: {seen.get('not_judged')}")
    except (lab.Failed, linux.Refused) as error:
        result.faults.append(str(error))
    _say(f"{name}: {'; '.join(result.wrong()) or 'counted'}")
    return result


def _say(message: str) -> None:
    print(f"==> {message}", file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="NAME,…", help="these stacks (lwip) or cases (uml/cubic)")
    parser.add_argument("--truckee", type=Path, default=TRUCKEE, help=f"the program [default: {TRUCKEE}]")
    parser.add_argument(
        "--jobs", type=int, default=5, help="so many at a time; most of the time they wait [default: 5]"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="all that was counted, too")
    parser.add_argument("--figure", type=Path, metavar="FILE", help="a figure of what division does (SVG)")
    arguments = parser.parse_args()
    names = [*STACKS, OWN]
    known = {part for name in names for part in (name, name.split("/")[0])}
    only = set(arguments.only.split(",")) if arguments.only else known
    if unknown := only - known:
        parser.error(f"there is no {', '.join(sorted(unknown))}, only {', '.join(sorted(known))}")
    arguments.names = [name for name in names if {name, name.split("/")[0]} & only]
    if not arguments.truckee.exists():
        parser.error(f"there is no {arguments.truckee}: make release, or --truckee")
    if arguments.jobs < 1:
        parser.error(f"--jobs {arguments.jobs}: at least 1")
    if os.geteuid() != 0:
        parser.error("this needs root, for namespaces and TUN devices")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
