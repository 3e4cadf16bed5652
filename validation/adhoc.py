#!/usr/bin/env python3
"""AODV, OLSR and DSDV beside ns-2's and ns-3's: delivery, overhead and path length on the same movements and traffic.

Each program runs its protocols with the settings that it has by default, over 802.11b at 2 Mbit/s, two-ray ground, received
to 250 m and sensed to 550 m. Ours is `truckee run` on a scenario file that is written for each run. The claim,
figure by figure, of the difference to ours on the same movements and traffic: it agrees where the whole 95 % interval over seeds
is within the bound in BOUNDS, differs where it is outside, and is undecided otherwise. Not for: what a difference means, which docs/validation.md says.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, stdev

from programs import simulators

HERE = Path(__file__).resolve().parent / "adhoc"
NS3_LIBRARIES = ("core", "network", "internet", "mobility", "wifi", "aodv", "olsr", "dsdv", "propagation")
# Student's t at 97.5 %, by degrees of freedom.
T = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31, 9: 2.26}

OURS = "truckee"
# Ours with the settings of a peer's protocol, for what its defaults do: by protocol, what the scenario file says. Of
# ns-3's claimed before the run with seeds 1 to 5, after one with others: the means of what is delivered and of its hops are within
# BOUNDS of ns-3's, with both pauses.
AS_NS2, AS_NS3 = "truckee as ns-2", "truckee as ns-3"
SETTINGS = {
    AS_NS2: {"dsdv": '{ kind = "dsdv", link_layer = false, spreads_breaks = false }'},
    AS_NS3: {"dsdv": '{ kind = "dsdv", link_layer = false, settling_time = "0s" }'},
}
# ns-3's AODV, which says hello by default, without that: what of its overhead hellos are.
SILENT_NS3 = "ns-3 without hellos"
PROGRAMS = (OURS, *SETTINGS, "ns-2", "ns-3", SILENT_NS3)
# Seconds for a run: ns-2's DSDV hands packets that waited for a route to itself for ever where the route is gone again.
LIMIT = 600
# How far a mean may be from ours: absolutely, and as a share of ours.
BOUNDS = {
    "delivered": (0.05, 0.0),
    "routing packets per delivered": (0.0, 0.25),
    "routing bytes per delivered": (0.0, 0.25),
    "hops": (0.0, 0.1),
}


@dataclass(frozen=True)
class SetUp:
    """A network: metres, m/s, seconds, bytes."""

    nodes: int = 30
    width: int = 1000
    height: int = 1000
    speed: float = 20.0
    pause: float = 0.0
    duration: float = 300.0
    sources: int = 10
    rate: float = 4.0
    size: int = 512


@dataclass(frozen=True)
class Outcome:
    """Of one run: packets of data sent and delivered, hops of those delivered, packets and bytes of routing, each hop counted."""

    sent: int
    delivered: int
    hops: int
    routing: int
    bytes: int

    def figures(self) -> dict[str, float]:
        """What is compared."""
        delivered = max(self.delivered, 1)
        return {
            "delivered": self.delivered / max(self.sent, 1),
            "routing packets per delivered": self.routing / delivered,
            "routing bytes per delivered": self.bytes / delivered,
            "hops": self.hops / delivered,
        }


def movement(set_up: SetUp, seed: int) -> Iterator[str]:
    """A trace in setdest's format: random waypoint, speeds from 1 m/s, each node from a place drawn evenly."""
    draw = random.Random(f"movement {seed}")
    for node in range(set_up.nodes):
        x, y = draw.uniform(1, set_up.width - 1), draw.uniform(1, set_up.height - 1)
        for axis, value in (("X_", x), ("Y_", y), ("Z_", 0.0)):
            yield f"$node_({node}) set {axis} {value:.6f}"
        at = set_up.pause
        while at < set_up.duration:
            to_x, to_y = draw.uniform(1, set_up.width - 1), draw.uniform(1, set_up.height - 1)
            speed = draw.uniform(1, set_up.speed)
            yield f'$ns_ at {at:.6f} "$node_({node}) setdest {to_x:.6f} {to_y:.6f} {speed:.6f}"'
            at += ((to_x - x) ** 2 + (to_y - y) ** 2) ** 0.5 / speed + set_up.pause
            # Not before it is there, whatever the digits.
            at += 0.001
            x, y = to_x, to_y


def traffic(set_up: SetUp, seed: int) -> list[tuple[int, int, float]]:
    """From, to, and when it starts."""
    draw = random.Random(f"traffic {seed}")
    nodes = draw.sample(range(set_up.nodes), 2 * set_up.sources)
    return [(nodes[2 * i], nodes[2 * i + 1], round(10 + draw.uniform(0, 10), 3)) for i in range(set_up.sources)]


def scenario(routing: str, set_up: SetUp, seed: int, sources: str) -> str:
    """A set-up as a scenario file of ours, beside the movements, with a value of the key `routing`; packets of `sources` are
    told with headers of UDP and IP."""
    lines = [
        f"seed = {seed}",
        f'duration = "{set_up.duration:g}s"',
        "[[node]]",
        'name = "n*"',
        f"count = {set_up.nodes}",
        'move = { kind = "setdest", file = "movement.tcl" }',
        "[[medium]]",
        'standard = "802.11b"',
        'rate = "2Mbit/s"',
        'basic_rates = ["1Mbit/s"]',
        'frequency = "914MHz"',
        'power = "24.5dBm"',
        'propagation = { kind = "two-ray" }',
        'receive_threshold = "-64.375dBm"',
        'carrier_sense = "-78.07dBm"',
        f"routing = {routing}",
    ]
    packet = set_up.size + 28
    for line in sources.splitlines():
        start, to, begins = line.split()
        lines += [
            "[[traffic]]",
            f'from = "n{int(start) + 1}"',
            f'to = "n{int(to) + 1}"',
            'kind = "cbr"',
            f'rate = "{set_up.rate * packet * 8:g}bit/s"',
            f'packet = "{packet}B"',
            f'start = "{begins}s"',
        ]
    return "\n".join(lines) + "\n"


class Programs:
    """Ours, and ns-2 and ns-3 from the distribution (bench/peers/install.sh)."""

    def __init__(self) -> None:
        self._ours = ""
        self._ns3 = ""

    def build_ours(self) -> None:
        """Our program."""
        self._ours = simulators.program(None)

    def ours(self, protocol: str, set_up: SetUp, seed: int, folder: Path) -> Outcome:
        """One run of ours with its defaults."""
        return self._run(f'"{protocol}"', set_up, seed, folder)

    def as_peer(self, name: str) -> "Program":
        """One run of ours with the settings of a peer's protocol."""
        return lambda protocol, *of: self._run(SETTINGS[name][protocol], *of)

    def _run(self, routing: str, set_up: SetUp, seed: int, folder: Path) -> Outcome:
        file = folder / "adhoc.toml"
        file.write_text(scenario(routing, set_up, seed, (folder / "traffic.txt").read_text()))
        command = [self._ours, "run", str(file), "--format", "json"]
        said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, timeout=LIMIT).stdout)
        protocol = said["media"][0]["routing"]
        return Outcome(
            sent=sum(source["packets_sent"] for source in said["traffic"]),
            delivered=sum(source["packets_delivered"] for source in said["traffic"]),
            hops=round(protocol["crossed"] * protocol["mean_hops"]),
            routing=protocol["packets"],
            bytes=protocol["bytes"],
        )

    def build_ns3(self) -> None:
        """ns-3's program."""
        self._ns3 = simulators.ns3_program(HERE / "ns3.cc", NS3_LIBRARIES)

    def ns2(self, protocol: str, set_up: SetUp, seed: int, folder: Path) -> Outcome:
        """One run of ns-2."""
        words = {
            "protocol": protocol.upper(),
            "nodes": set_up.nodes,
            "width": set_up.width,
            "height": set_up.height,
            "dur": set_up.duration,
            "rate": set_up.rate,
            "size": set_up.size,
            "movement": folder / "movement.tcl",
            "traffic": folder / "traffic.txt",
            "trace": folder / "ns2.tr",
            "seed": seed,
        }
        command = ["ns", str(HERE / "ns2.tcl"), *(f"{key}={value}" for key, value in words.items())]
        quiet = subprocess.DEVNULL
        subprocess.run(command, check=True, stdout=quiet, stderr=quiet, timeout=LIMIT)
        with (folder / "ns2.tr").open() as trace:
            return read_ns2(trace, protocol)

    def ns3(self, protocol: str, set_up: SetUp, seed: int, folder: Path) -> Outcome:
        """One run of ns-3."""
        return self._run_ns3(protocol, set_up, seed, folder)

    def silent_ns3(self, protocol: str, set_up: SetUp, seed: int, folder: Path) -> Outcome:
        """One run of ns-3 without hellos."""
        return self._run_ns3(protocol, set_up, seed, folder, hello=False)

    def _run_ns3(self, protocol: str, set_up: SetUp, seed: int, folder: Path, *, hello: bool = True) -> Outcome:
        words = {
            "protocol": protocol,
            "nodes": set_up.nodes,
            "dur": set_up.duration,
            "rate": set_up.rate,
            "size": set_up.size,
            "movement": folder / "movement.tcl",
            "traffic": folder / "traffic.txt",
            "seed": seed,
            "hello": int(hello),
        }
        command = [self._ns3, *(f"--{key}={value}" for key, value in words.items())]
        return run_and_read(command)


def run_and_read(command: list[str]) -> Outcome:
    """What a program says in words of key=value."""
    said = subprocess.run(command, check=True, capture_output=True, text=True, timeout=LIMIT).stdout
    values = dict(word.split("=") for word in said.split())
    return Outcome(
        sent=int(values["sent"]),
        delivered=int(values["delivered"]),
        hops=int(values["forwarded"]),
        routing=int(values["routing"]),
        bytes=int(values["bytes"]),
    )


def read_ns2(trace: Iterator[str] | list[str], protocol: str) -> Outcome:
    """What a trace of ns-2 (old wireless format, AGT and RTR) comes to."""
    own = {"aodv": "AODV", "dsdv": "message"}[protocol]
    sent = delivered = hops = routing = size = 0
    for line in trace:
        words = line.split()
        if len(words) < 8 or words[0] not in "srf":
            continue
        what, layer, kind = words[0], words[3], words[6]
        if layer == "AGT" and kind == "cbr":
            sent += what == "s"
            if what == "r":
                delivered += 1
                # … [src dst ttl next hop] [number] forwards optimal; the last hop is not counted as a forward.
                hops += int(words[-2])
        elif layer == "RTR" and kind == own and what in "sf":
            routing += 1
            size += int(words[7])
    return Outcome(sent, delivered, hops, routing, size)


Program = Callable[[str, SetUp, int, Path], Outcome]


def one(program: Program, protocol: str, set_up: SetUp, seed: int) -> Outcome:
    """One run on the movements and the traffic of a seed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "movement.tcl").write_text("\n".join(movement(set_up, seed)) + "\n")
        lines = (f"{a} {b} {start}" for a, b, start in traffic(set_up, seed))
        (folder / "traffic.txt").write_text("\n".join(lines) + "\n")
        return program(protocol, set_up, seed, folder)


def half_width(values: list[float]) -> float:
    """Of the mean's 95 % interval."""
    return T.get(len(values) - 1, 2.0) * stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("inf")


def verdict(name: str, ours: list[float], theirs: list[float]) -> str:
    """Whether a figure agrees with ours, seed by seed."""
    absolute, share = BOUNDS[name]
    bound = absolute + share * mean(ours)
    differences = [b - a for a, b in zip(ours, theirs, strict=True)]
    middle, half = abs(mean(differences)), half_width(differences)
    if middle + half <= bound:
        return "agrees"
    return "differs" if middle - half > bound else "undecided"


def table(rows: list[dict[str, object]]) -> str:
    """A row for each program, protocol and set-up, means over seeds."""
    groups: dict[tuple[str, str, str], dict[object, dict[str, float]]] = {}
    for row in rows:
        outcome = row["outcome"]
        assert isinstance(outcome, dict)
        key = (str(row["set_up"]), str(row["protocol"]), str(row["program"]))
        groups.setdefault(key, {})[row["seed"]] = Outcome(**outcome).figures()
    lines = [
        "| set-up | protocol | program | " + " | ".join(BOUNDS) + " | runs |",
        "|" + "---|" * (len(BOUNDS) + 4),
    ]
    for (set_up, protocol, program), figures in groups.items():
        ours = groups.get((set_up, protocol, OURS))
        cells = []
        for name in BOUNDS:
            values = [figure[name] for figure in figures.values()]
            cell = f"{mean(values):.3g} ± {half_width(values):.2g}"
            if ours is not None and program != OURS:
                both = [seed for seed in figures if seed in ours]
                pair = [[group[seed][name] for seed in both] for group in (ours, figures)]
                cell += f", {verdict(name, *pair)}"
            cells.append(cell)
        lines.append(f"| {set_up} | {protocol} | {program} | {' | '.join(cells)} | {len(figures)} |")
    return "\n".join(lines)


def key_of(row: dict[str, object]) -> tuple[object, object, object, object]:
    """What a run is told from others by."""
    return row["set_up"], row["protocol"], row["program"], row["seed"]


def main() -> int:
    """Runs what is asked for, prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", default=",".join(PROGRAMS), help="comma-separated")
    parser.add_argument("--protocols", default="aodv,olsr,dsdv")
    parser.add_argument("--pauses", default="0,300", help="seconds, one set-up each")
    parser.add_argument("--duration", type=float, default=300.0, help="seconds")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", type=Path, help="where the runs are written")
    parser.add_argument("--earlier", type=Path, help="what --json has written before: its runs are not made again")
    arguments = parser.parse_args()
    all_of_them = Programs()
    known: dict[str, Program] = {
        OURS: all_of_them.ours,
        **{name: all_of_them.as_peer(name) for name in SETTINGS},
        "ns-2": all_of_them.ns2,
        "ns-3": all_of_them.ns3,
        SILENT_NS3: all_of_them.silent_ns3,
    }
    programs = arguments.programs.split(",")
    if any(name == OURS or name in SETTINGS for name in programs):
        all_of_them.build_ours()
    if "ns-3" in programs or SILENT_NS3 in programs:
        all_of_them.build_ns3()
    # ns-2 has no OLSR.
    cases = [
        (name, protocol, float(pause), seed)
        for pause in arguments.pauses.split(",")
        for protocol in arguments.protocols.split(",")
        for name in programs
        for seed in range(1, arguments.seeds + 1)
        if (name, protocol) != ("ns-2", "olsr")
        and (name not in SETTINGS or protocol in SETTINGS[name])
        and (name != SILENT_NS3 or protocol == "aodv")
    ]

    rows: list[dict[str, object]] = []
    if arguments.earlier and arguments.earlier.exists():
        rows = json.loads(arguments.earlier.read_text())
    made_before = {key_of(row) for row in rows}

    def run(case: tuple[str, str, float, int]) -> None:
        name, protocol, pause, seed = case
        set_up = SetUp(pause=pause, duration=arguments.duration)
        row: dict[str, object] = {"set_up": f"pause {pause:g} s", "protocol": protocol, "program": name, "seed": seed}
        if key_of(row) in made_before:
            return
        try:
            rows.append(row | {"outcome": asdict(one(known[name], protocol, set_up, seed))})
        except subprocess.TimeoutExpired:
            print(f"{name}, {protocol}, pause {pause:g} s, seed {seed}: no end within {LIMIT} s", file=sys.stderr)
        if arguments.json:
            arguments.json.write_text(json.dumps(rows, indent=1) + "\n")

    with ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(run, cases))
    # In the order in which they are asked for, whoever was done first.
    made = {key_of(row): row for row in rows}
    asked = [(f"pause {pause:g} s", protocol, name, seed) for name, protocol, pause, seed in cases]
    print(table([made[key] for key in asked if key in made]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
