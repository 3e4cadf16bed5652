#!/usr/bin/env python3
"""CoDel, FQ-CoDel, PIE and RED beside ns-3's: the same bottleneck and load, the wait in the queue, what is dropped or marked, and
the goodput.

20 Mbit/s and 44 ms of propagation both ways, 1000 packets of room; loads are one or ten bulk senders, or packets of a Poisson
process above the rate, which heed nothing. Each program is run with SEEDS seeds of its own for 60 s, of which the first ten do not
count. The claim, of each figure: the 97.5 % interval of the ratio of the means, ours over theirs, lies within the bound in BOUNDS
(agrees) or outside (differs); it is undecided otherwise. queues/ has the scenario file and ns-3's program (ns3.cc), which is told the
same numbers.

  validation/queues.py                                  everything
  validation/queues.py --queues codel --loads poisson   a part
  validation/queues.py --json rows.json                 every run
  validation/queues.py --earlier rows.json              judged again, nothing run

Not for: what a queue has to do by its RFC, which are tests (crates/channel/src/queue/tests.rs).
"""

import argparse
import functools
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import verdicts
from programs import NS3, OURS, simulators

HERE = Path(__file__).resolve().parent / "queues"
NS3_LIBRARIES = ["core", "network", "internet", "point-to-point", "applications", "traffic-control"]
SEEDS = 10
# Deciding runs begin here; lower seeds are for trying out.
FIRST_SEED = 1001
LIMIT = 600.0
# How far the ratio of the means may be from one.
BOUNDS = {"wait_ms": 0.1, "hit": 0.1, "goodput_mbps": 0.02}
TITLES = {"wait_ms": "wait, ms", "hit": "dropped or marked, %", "goodput_mbps": "goodput, Mbit/s"}
QUEUES = ("codel", "fq-codel", "pie", "red")
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

    def __init__(self, truckee: Path | None, target: Path, seconds: float) -> None:
        self._truckee = truckee
        self._ns3 = target / "validation" / "queues-ns3"
        self._seconds = seconds

    def get_ready(self) -> None:
        """Builds what is due, so that nothing is built in the middle."""
        self._binary()
        source = HERE / "ns3.cc"
        if not (self._ns3.exists() and self._ns3.stat().st_mtime > source.stat().st_mtime):
            self._ns3.parent.mkdir(parents=True, exist_ok=True)
            libraries = [f"-lns3-{name}" for name in NS3_LIBRARIES]
            subprocess.run(["g++", "-O2", "-std=c++17", str(source), "-o", str(self._ns3), *libraries], check=True)

    def run(self, program: str, queue: str, load: Load, seed: int) -> Figures:
        """What one run comes to."""
        return (self._ours if program == OURS else self._theirs)(queue, load, seed)

    def _ours(self, queue: str, load: Load, seed: int) -> Figures:
        keys = f'kind = "{queue}", size = "1000packets", ecn = {str(load.ecn).lower()}'
        if queue == "red":
            keys += ', min = "10packets", max = "30packets"'
        settings = [f"topology.queue={{ {keys} }}", load.ours, f"duration={self._seconds}s"]
        words = [word for setting in settings for word in ("--set", setting)]
        command = [self._binary(), "run", str(HERE / "path.toml"), "--seed", str(seed), "--format", "json", *words]
        said = json.loads(_run(command))
        link = next(link for link in said["links"] if link["name"] == "r1-r2")
        # Of a packet of 1500 bytes 28 are headers of IP and UDP.
        payload = sum(traffic["delivered_bps"] for traffic in said["traffic"]) * 1472 / 1500
        return {
            "wait_ms": link["mean_wait_s"] * 1e3,
            "hit": (link["queue_drops"] + link["ecn_marks"]) / (link["packets"] + link["queue_drops"]),
            "goodput_mbps": (sum(flow["goodput_bps"] for flow in said["flows"]) + payload) / 1e6,
        }

    def _theirs(self, queue: str, load: Load, seed: int) -> Figures:
        words = [f"--queue={queue}", *load.ns3, f"--ecn={int(load.ecn)}", f"--dur={self._seconds}", f"--seed={seed}"]
        said = _run([str(self._ns3), *words])
        found = re.search(r"^RESULT (.*)$", said, re.MULTILINE)
        if found is None:
            raise ValueError(f"ns-3 said no RESULT: {said[-200:]}")
        return {key: float(value) for key, value in (word.split("=") for word in found[1].split())}

    @functools.cache  # noqa: B019: one object lives as long as the program
    def _binary(self) -> str:
        return simulators.program(self._truckee)


def _run(command: list[str]) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT, check=False)
    if done.returncode != 0:
        raise ValueError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-300:]}")
    return done.stdout


def verdict(name: str, ratio: verdicts.Estimate) -> str:
    """Whether a figure agrees."""
    if verdicts.within(ratio, BOUNDS[name]):
        return "agrees"
    return "differs" if verdicts.beyond(ratio, BOUNDS[name]) else "undecided"


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
            scale = 100 if name == "hit" else 1
            both = [[figures[name] * scale for figures in row[program]] for program in (OURS, NS3)]
            ratio = verdicts.ratio(*both)
            words.append(verdict(name, ratio))
            cells += [f"{sum(values) / len(values):.3g}" for values in both]
            cells += [f"{ratio.mean:.3f} ± {ratio.half:.3f}", words[-1]]
        lines.append(cells)
    count = ", ".join(f"{words.count(word)} {word}" for word in ("agrees", "differs", "undecided"))
    bounds = ", ".join(f"{TITLES[name]}: {bound:.0%}" for name, bound in BOUNDS.items())
    laid = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{laid}\n\nBounds: {bounds}; ± half the width of the ratio's 97.5 % interval.\n\n{count}."


def main() -> int:
    """Prints the table; exit code 2 for bad usage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queues", default=",".join(QUEUES))
    parser.add_argument("--loads", help=f"separated by semicolons, of: {'; '.join(LOADS)}")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--duration", type=float, default=60.0, help="seconds (60)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="runs at a time (default: a CPU each)")
    parser.add_argument("--truckee", type=Path, help="a program built before, in place of a release build of this tree")
    parser.add_argument("--json", type=Path, metavar="FILE", help="every run")
    parser.add_argument("--earlier", type=Path, metavar="FILE", help="rows of this --json are judged, not run")
    arguments = parser.parse_args()
    loads = arguments.loads.split("; ") if arguments.loads else list(LOADS)
    if odd := [name for name in loads if name not in LOADS]:
        parser.error(f"no load {', '.join(odd)}")
    if odd := [name for name in arguments.queues.split(",") if name not in QUEUES]:
        parser.error(f"no queue {', '.join(odd)}")
    rows: list[dict] = json.loads(arguments.earlier.read_text()) if arguments.earlier else []
    kept = {(row["queue"], row["load"]) for row in rows}
    cases = [(q, n) for q in arguments.queues.split(",") for n in loads if (q, n) not in kept]
    target = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent.parent / "target"))
    programs = Programs(arguments.truckee, target, arguments.duration)
    if cases:
        programs.get_ready()
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for queue, name in cases:
            seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
            row: dict = {"queue": queue, "load": name}
            for program in (OURS, NS3):
                waiting = [pool.submit(programs.run, program, queue, LOADS[name], seed) for seed in seeds]
                row[program] = [one.result() for one in waiting]
            rows.append(row)
            print(f"{queue}, {name}: done", file=sys.stderr)
            if arguments.json:
                arguments.json.write_text(json.dumps(rows, indent=1) + "\n")
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
