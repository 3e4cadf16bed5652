#!/usr/bin/env python3
"""CoDel, FQ-CoDel, PIE and RED beside ns-3's: the same bottleneck and load, the wait in the queue, what is dropped or marked, and
the goodput.

20 Mbit/s and 44 ms of propagation both ways, 1000 packets of room; loads are one or ten bulk senders, or packets of a Poisson
process above the rate, which heed nothing. Each program is run for 40 s, of which the first ten do not count, ours with OUR_SEEDS
seeds and ns-3 with as many as it takes, up to MOST. The claim, of each figure: the 97.5 % interval of the ratio of the means, ours
over theirs, lies within the bound in BOUNDS (agrees) or outside (differs); it is undecided otherwise. queues/ has the scenario file
and ns-3's program (ns3.cc), which is told the same numbers.

  validation/queues.py                                        everything
  validation/queues.py --queues 'pie; red' --loads '10 TCP'   a part
  validation/queues.py --json rows.json                       every run
  validation/queues.py --earlier rows.json                    judged again, nothing run

Not for: what a queue has to do by its RFC, which are tests (crates/channel/src/queue/tests.rs).
"""

import argparse
import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import commands
import verdicts
from programs import NS3, OURS, simulators

HERE = Path(__file__).resolve().parent / "queues"
NS3_MODULES = ("core", "network", "internet", "point-to-point", "applications", "traffic-control")
OUR_SEEDS, MOST, BATCH = 20, 10, 5
# Deciding runs begin here; lower seeds are for trying out.
FIRST_SEED = 1001
LIMIT = 600.0
# How far the ratio of the means may be from one.
BOUNDS = {"wait_ms": 0.1, "hit": 0.1, "goodput_mbps": 0.02}
TITLES = {"wait_ms": "wait, ms", "hit": "dropped or marked, %", "goodput_mbps": "goodput, Mbit/s"}
# By title: the kind, and RED's thresholds in packets.
QUEUES: dict[str, tuple[str, tuple[int, int] | None]] = {
    "codel": ("codel", None),
    "fq-codel": ("fq-codel", None),
    "pie": ("pie", None),
    "red": ("red", (10, 30)),
    # A variation that tells why RED differs, added when it did: a queue that does not run empty.
    "red, 40 to 120": ("red", (40, 120)),
}
BULK = 'sender = "sack", limited_transmit = true'


@dataclass(frozen=True)
class Load:
    """What fills the queue: our settings, and ns-3's."""

    ours: str
    ns3: tuple[str, ...]
    ecn: bool = False


LOADS = {
    "1 TCP": Load(f'flow=[{{ from = "s1", to = "d1", {BULK} }}]', ("--load=tcp", "--n=1")),
    "10 TCP": Load(
        f'flow=[{{ from = "s*", to = "d*", count = 10, start_every = "100ms", {BULK} }}]', ("--load=tcp", "--n=10")
    ),
    "10 TCP, ECN": Load(
        f'flow=[{{ from = "s*", to = "d*", count = 10, start_every = "100ms", ecn = true, {BULK} }}]',
        ("--load=tcp", "--n=10"),
        ecn=True,
    ),
    "Poisson, 22 Mbit/s": Load(
        'traffic=[{ from = "s1", to = "d1", kind = "poisson", rate = "22Mbit/s" }]', ("--load=poisson", "--offered=22")
    ),
}

Figures = dict[str, float]


class Programs:
    """Ours, and ns-3 from the distribution (bench/peers/install.sh)."""

    def __init__(self, truckee: Path | None, seconds: float) -> None:
        self._truckee = truckee
        self._ns3 = ""
        self._seconds = seconds
        self._binary = ""

    def get_ready(self) -> None:
        """Builds what is due, so that nothing is built in the middle."""
        self._binary = simulators.program(self._truckee)
        self._ns3 = simulators.ns3_program(HERE / "ns3.cc", NS3_MODULES)

    def run(self, program: str, queue: str, load: Load, seed: int) -> Figures:
        """What one run comes to."""
        return (self._ours if program == OURS else self._theirs)(queue, load, seed)

    def _ours(self, queue: str, load: Load, seed: int) -> Figures:
        kind, thresholds = QUEUES[queue]
        keys = f'kind = "{kind}", size = "1000packets", ecn = {str(load.ecn).lower()}'
        if thresholds:
            keys += f', min = "{thresholds[0]}packets", max = "{thresholds[1]}packets"'
        settings = [f"topology.queue={{ {keys} }}", load.ours, f"duration={self._seconds}s"]
        words = [word for setting in settings for word in ("--set", setting)]
        command = [self._binary, "run", str(HERE / "path.toml"), "--seed", str(seed), "--format", "json", *words]
        outcome = json.loads(commands.said(command, LIMIT))
        link = next(link for link in outcome["links"] if link["name"] == "r1-r2")
        # Of a packet of 1500 bytes 28 are headers of IP and UDP.
        payload = sum(traffic["delivered_bps"] for traffic in outcome["traffic"]) * 1472 / 1500
        return {
            "wait_ms": link["mean_wait_s"] * 1e3,
            "hit": (link["queue_drops"] + link["ecn_marks"]) / (link["packets"] + link["queue_drops"]),
            "goodput_mbps": (sum(flow["goodput_bps"] for flow in outcome["flows"]) + payload) / 1e6,
        }

    def _theirs(self, queue: str, load: Load, seed: int) -> Figures:
        kind, thresholds = QUEUES[queue]
        words = [f"--{key}={value}" for key, value in zip(("min", "max"), thresholds or (), strict=False)]
        words += [f"--queue={kind}", *load.ns3, f"--ecn={int(load.ecn)}", f"--dur={self._seconds}", f"--seed={seed}"]
        said = commands.said([self._ns3, *words], LIMIT)
        found = re.search(r"^RESULT (.*)$", said, re.MULTILINE)
        if found is None:
            raise commands.CommandError(f"ns-3 said no RESULT: {said[-200:]}")
        return {key: float(value) for key, value in (word.split("=") for word in found[1].split())}


def verdict(name: str, found: verdicts.Estimate) -> str:
    """Whether a figure agrees."""
    if verdicts.within(found, BOUNDS[name]):
        return "agrees"
    return "differs" if verdicts.beyond(found, BOUNDS[name]) else "undecided"


def ratio(name: str, row: dict) -> verdicts.Estimate:
    """Of a figure's means, ours over theirs."""
    ours, theirs = ([figures[name] for figures in row[program]] for program in (OURS, NS3))
    return verdicts.ratio(ours, theirs)


def sample(programs: Programs, queue: str, load: str, first: int, most: int, pool: ThreadPoolExecutor) -> dict:
    """Runs one row until each of its figures is decided."""

    def runs(program: str, begin: int, end: int) -> list[Figures]:
        seeds = range(first + begin, first + end)
        return list(pool.map(lambda seed: programs.run(program, queue, LOADS[load], seed), seeds))

    row: dict = {"queue": queue, "load": load, OURS: runs(OURS, 0, OUR_SEEDS), NS3: []}
    while len(row[NS3]) < most:
        row[NS3] += runs(NS3, len(row[NS3]), min(most, len(row[NS3]) + BATCH))
        if all(verdict(name, ratio(name, row)) != "undecided" for name in BOUNDS):
            break
    return row


def table(rows: list[dict]) -> str:
    """In Markdown: a line a queue and load, the programs' means and the verdict on each figure."""
    header = ["queue", "load"]
    for name in BOUNDS:
        header += [TITLES[name], "ns-3", "ratio", "verdict"]
    lines = [header, ["---"] * len(header)]
    words: list[str] = []
    for row in rows:
        cells = [row["queue"], row["load"]]
        for name in BOUNDS:
            found = ratio(name, row)
            words.append(verdict(name, found))
            for program in (OURS, NS3):
                mean = sum(figures[name] for figures in row[program]) / len(row[program])
                cells.append(f"{mean * (100 if name == 'hit' else 1):.3g}")
            cells += [f"{found.mean:.3f} ± {found.half:.3f}", words[-1]]
        lines.append(cells)
    count = ", ".join(f"{words.count(word)} {word}" for word in ("agrees", "differs", "undecided"))
    bounds = ", ".join(f"{TITLES[name]}: {bound:.0%}" for name, bound in BOUNDS.items())
    laid = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{laid}\n\nBounds: {bounds}; ± half the width of the ratio's 97.5 % interval.\n\n{count}."


def main() -> int:
    """Prints the table; exit code 2 for bad usage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queues", default="; ".join(QUEUES), help="separated by semicolons")
    parser.add_argument("--loads", help=f"separated by semicolons, of: {'; '.join(LOADS)}")
    parser.add_argument("--most", type=int, default=MOST, help=f"seeds of ns-3 at most ({MOST})")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--duration", type=float, default=40.0, help="seconds (40)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="runs at a time (default: a CPU each)")
    parser.add_argument("--truckee", type=Path, help="a program built before, in place of a release build of this tree")
    parser.add_argument("--json", type=Path, metavar="FILE", help="every run")
    parser.add_argument("--earlier", type=Path, metavar="FILE", help="rows of this --json are judged, not run")
    arguments = parser.parse_args()
    loads = arguments.loads.split("; ") if arguments.loads else list(LOADS)
    if odd := [name for name in loads if name not in LOADS]:
        parser.error(f"no load {', '.join(odd)}")
    if odd := [name for name in arguments.queues.split("; ") if name not in QUEUES]:
        parser.error(f"no queue {', '.join(odd)}")
    rows: list[dict] = json.loads(arguments.earlier.read_text()) if arguments.earlier else []
    kept = {(row["queue"], row["load"]) for row in rows}
    cases = [(q, n) for q in arguments.queues.split("; ") for n in loads if (q, n) not in kept]
    programs = Programs(arguments.truckee, arguments.duration)
    if cases:
        programs.get_ready()
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for queue, name in cases:
            rows.append(sample(programs, queue, name, arguments.first_seed, arguments.most, pool))
            print(f"{queue}, {name}: done", file=sys.stderr)
            if arguments.json:
                arguments.json.write_text(json.dumps(rows, indent=1) + "\n")
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
