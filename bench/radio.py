"""How fast radio networks are simulated, beside ns-2 and ns-3: 20 saturated stations, a chain of five with TCP, and 30 nodes
that move, with AODV.

By CPU time of the whole process, medians of runs by turns. The first two are scenario files in workloads/radio, which
peers/radio.tcl and peers/radio.cc have alike; the third is that of validation/adhoc.py, with its programs. Not for: whether
the programs agree, which validation/ asks.
"""

import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import simulators
from figure import Figure
from measure import run
from simulators import Unavailable

sys.path.append(str(Path(__file__).resolve().parent.parent / "validation"))
import adhoc

# The part's name on the command line, beside those of the workloads.
NAME = "radio"
FOLDER = Path(__file__).parent / "workloads" / "radio"
# How many times as fast as each we have to be.
TARGETS = {"ns-2": 5, "ns-3": 50}
# Longest that a run may take, s.
LIMIT = 900.0
# ns-3 takes minutes over what the others do in a second.
MOST_OF_NS3 = 1
_NS3_LIBRARIES = ("core", "network", "internet", "mobility", "wifi", "aodv", "propagation", "applications")


@dataclass(frozen=True)
class Race:
    """The same network as each program is told of it."""

    what: str
    commands: dict[str, list[str]]


def measure(command: list[str], repetitions: int) -> list[Figure]:
    """How much CPU time each peer takes over ours; `command` begins the command truckee."""
    with tempfile.TemporaryDirectory() as folder:
        return [
            figure
            for race in _races(command, Path(folder))
            for figure in _judged(race.what, {name: _cost(race, name, repetitions) for name in race.commands})
        ]


def _races(command: list[str], folder: Path) -> list[Race]:
    static = {
        "20 saturated stations": ("saturated", 60),
        "chain of five, TCP": ("chain", 300),
    }
    races = [
        Race(
            what,
            {
                "ours": [*command, "run", str(FOLDER / f"{kind}.toml")],
                "ns-2": ["ns", str(simulators.PEERS / "radio.tcl"), f"kind={kind}", f"dur={seconds}"],
                "ns-3": [*_ns3(simulators.PEERS / "radio.cc"), f"--kind={kind}", f"--dur={seconds}"],
            },
        )
        for what, (kind, seconds) in static.items()
    ]
    return [*races, _moving(command, folder)]


def _moving(command: list[str], folder: Path) -> Race:
    set_up, seed = adhoc.SetUp(), 1
    sources = "".join(f"{a} {b} {start}\n" for a, b, start in adhoc.traffic(set_up, seed))
    movement, traffic, file = folder / "movement.tcl", folder / "traffic.txt", folder / "adhoc.toml"
    movement.write_text("\n".join(adhoc.movement(set_up, seed)) + "\n")
    traffic.write_text(sources)
    file.write_text(adhoc.scenario('"aodv"', set_up, seed, sources))
    files = {"movement": movement, "traffic": traffic}
    ns2 = {"protocol": "AODV", "width": set_up.width, "height": set_up.height, "trace": "/dev/null"} | files
    ns3 = {"protocol": "aodv"} | files
    return Race(
        "30 nodes that move, AODV",
        {
            "ours": [*command, "run", str(file)],
            "ns-2": ["ns", str(adhoc.HERE / "ns2.tcl"), *(f"{key}={value}" for key, value in ns2.items())],
            "ns-3": [*_ns3(adhoc.HERE / "ns3.cc"), *(f"--{key}={value}" for key, value in ns3.items())],
        },
    )


def _ns3(source: Path) -> list[str]:
    """The program, or nothing where it cannot be built, which shows when it is to be run."""
    try:
        return [simulators.ns3_program(source, adhoc.NS3_LIBRARIES if source.parent == adhoc.HERE else _NS3_LIBRARIES)]
    except Unavailable as error:
        print(f"{NAME}: ns-3 is left out: {error}", file=sys.stderr)
        return []


def _cost(race: Race, name: str, repetitions: int) -> float | str:
    """Median CPU time, s, or why there is none."""
    times = []
    for _ in range(min(repetitions, MOST_OF_NS3) if name == "ns-3" else repetitions):
        try:
            finished = run(race.commands[name], LIMIT)
        except OSError as error:
            return f"cannot be started: {error}"
        if finished.code != 0:
            return f"ended with {finished.code}"
        times.append(finished.cost.user + finished.cost.system)
    return statistics.median(times)


def _judged(what: str, costs: dict[str, float | str]) -> list[Figure]:
    ours, figures = costs["ours"], []
    for name, factor in TARGETS.items():
        target, theirs = f"at least {factor} × {name}", costs[name]
        if isinstance(ours, str) or isinstance(theirs, str):
            figures.append(Figure(what, target, f"ours {ours}, {name} {theirs}", None))
            continue
        ratio = theirs / ours
        measured = f"{ratio:.1f} × ({theirs:.2f} s over {ours:.3f} s)"
        figures.append(Figure(what, target, measured, ratio >= factor))
    return figures
