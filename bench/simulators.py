"""The programs that are compared: how each is got ready, how it is started on a workload, and how its answer is read.

Not for: measuring them (measure.py) or judging them (targets.py). A peer is one entry in `peers()`.
"""

import functools
import hashlib
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from workloads import Workload

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / "bench" / "peers"
CACHE = ROOT / "bench" / "out"

OURS = "truckee"
TUNED_NS2 = "ns2"
COMPUTED_NS2 = "ns2-computed"
NS3 = "ns3"

_NS3_LIBRARIES = ("core", "network", "internet", "point-to-point", "applications", "stats", "bridge", "traffic-control")


class Unavailable(Exception):
    """A program that cannot be run here; says what is missing."""


@dataclass(frozen=True)
class Answer:
    """What a run came to: MSS-sized segments that reached the application in order (where senders or receivers are
    compared, segments sent), and Mbit/s delivered over the whole run."""

    segments: float
    goodput_mbps: float
    # Data segments and ACKs sent, where receivers are compared.
    packets: float = 0.0


@dataclass(frozen=True)
class Simulator:
    """One program. `command` may build it first and raises Unavailable where that is impossible."""

    name: str
    about: str
    command: Callable[[Workload, int], list[str]]
    read: Callable[[str, Workload], Answer]
    # Workloads it is spared, with the reason.
    spared: dict[str, str] = field(default_factory=dict)
    # Timed repetitions are limited to so many: some peers take minutes over what others do in a second.
    most_repetitions: int | None = None
    # Whether a lossy workload's further seeds are run: not by the slow, nor by a second form of a
    # program, whose goodput the first one gives.
    further_seeds: bool = True


def ours(binary: Path | None) -> Simulator:
    """Truckee itself: `binary`, or a release build of this tree."""
    about = f"built before: {binary}" if binary else "this tree, cargo build --release"
    return Simulator(OURS, about, _truckee(binary), _read_json)


def ours_sending(binary: Path | None, name: str, settings: tuple[str, ...]) -> Simulator:
    """Truckee with another sender or receiver than the workload's, set by `settings`; it answers with what was sent."""
    return Simulator(name, " ".join(settings), _truckee(binary, settings), _read_json_sent, further_seeds=False)


def peers() -> list[Simulator]:
    """Every peer that is known by name."""
    hosts = {"flows-30000": "takes minutes, most of them before it starts"}
    slower_forms = hosts | {
        "W6x10": "tens of seconds for nothing new",
        "flows-1000": "computes its routes for a minute before it starts",
    }
    slow = ("W1-3000s", "W3-600s", "W4", "W5", "W6", "W6x10", "flows-1000", "flows-30000")
    minutes = {name: "takes minutes" for name in slow}
    return [
        Simulator(
            TUNED_NS2,
            "ns-2 2.35 tuned: Splay scheduler, minimal headers, routes entered by hand",
            _ns2("sched=Splay", "hdrs=min", "routes=manual"),
            _read_result,
            spared=hosts,
        ),
        Simulator(
            COMPUTED_NS2,
            "ns-2 tuned but for the routes, which it computes itself",
            _ns2("sched=Splay", "hdrs=min", "routes=computed"),
            _read_result,
            spared=slower_forms,
            further_seeds=False,
        ),
        Simulator(
            "ns2-defaults",
            "ns-2 as it comes: Calendar scheduler, all headers, routes computed",
            _ns2("sched=Calendar", "hdrs=all", "routes=computed"),
            _read_result,
            spared=slower_forms,
            further_seeds=False,
        ),
        Simulator(
            NS3,
            "ns-3 of the distribution's packages, PriorityQueueScheduler",
            _ns3,
            _read_result,
            spared=minutes,
            most_repetitions=2,
            further_seeds=False,
        ),
    ]


def foreign(definition: str) -> Simulator:
    """A peer given on the command line as `name=/path/program {args}`: {args} becomes key=value words."""
    name, _, template = definition.partition("=")
    if not name or "{args}" not in template:
        raise ValueError(f"--peer {definition!r}: expected 'name=/path/program {{args}}'")

    def command(workload: Workload, seed: int) -> list[str]:
        return shlex.split(template.replace("{args}", " ".join(_words(workload, seed))))

    return Simulator(name, template, command, _read_result)


def program(binary: Path | None) -> str:
    """The command truckee: `binary`, or that of a release build of this tree."""
    return str(binary.resolve()) if binary else _cargo_build()


def _truckee(binary: Path | None, settings: tuple[str, ...] = ()) -> Callable[[Workload, int], list[str]]:
    def command(workload: Workload, seed: int) -> list[str]:
        words = [word for setting in (*workload.overrides, *settings) for word in ("--set", setting)]
        return [program(binary), "run", str(workload.scenario), "--seed", str(seed), "--format", "json", *words]

    return command


def _words(workload: Workload, seed: int, dashes: str = "") -> list[str]:
    parameters = workload.parameters() | {"seed": seed}
    return [f"{dashes}{key}={value:.12g}" for key, value in parameters.items()]


def _ns2(*how: str) -> Callable[[Workload, int], list[str]]:
    def command(workload: Workload, seed: int) -> list[str]:
        if shutil.which("ns") is None:
            raise Unavailable("there is no command ns; bench/peers/install.sh installs it")
        return ["ns", str(PEERS / "ns2.tcl"), *_words(workload, seed), *how]

    return command


def _ns3(workload: Workload, seed: int) -> list[str]:
    return [ns3_program(PEERS / "ns3.cc", _NS3_LIBRARIES), *_words(workload, seed, "--")]


@functools.cache
def ns3_program(source: Path, libraries: tuple[str, ...]) -> str:
    """Compiles a program of ns-3's unless that was done for the same sources, the same options and the same libraries."""
    compiler = shutil.which("g++")
    if compiler is None:
        raise Unavailable("there is no g++; bench/peers/install.sh installs it")
    core = subprocess.run(
        [compiler, "-print-file-name=libns3-core.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    if not Path(core).is_absolute():
        raise Unavailable("the libraries of ns-3 are missing; bench/peers/install.sh installs them")
    options = ["-O3", "-std=c++17", str(source), *(f"-lns3-{name}" for name in libraries)]
    headers = "".join(header.read_text() for header in sorted(PEERS.glob("*.h")))
    identity = source.read_text() + headers + repr(options) + str(Path(core).resolve())
    program = CACHE / f"ns3-{hashlib.sha256(identity.encode()).hexdigest()[:16]}"
    if not program.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        half_done = program.with_suffix(".part")
        built = subprocess.run([compiler, *options, "-o", str(half_done)], capture_output=True, text=True, check=False)
        if built.returncode != 0:
            raise Unavailable(f"{source.name} does not compile: {_last_line(built.stderr)}")
        half_done.rename(program)
    return str(program)


@functools.cache
def _cargo_build() -> str:
    """Builds the command in release; returns the executable's path as cargo reports it."""
    try:
        built = subprocess.run(
            ["cargo", "build", "--release", "-p", "truckee-cli", "--message-format=json-render-diagnostics"],
            cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    except FileNotFoundError:
        raise Unavailable("there is no cargo, and no --truckee was given") from None
    if built.returncode != 0:
        raise Unavailable("cargo build --release -p truckee-cli failed")
    for message in map(json.loads, filter(lambda line: line.startswith("{"), built.stdout.splitlines())):
        if message.get("executable") and message["target"]["name"] == OURS:
            return message["executable"]
    raise Unavailable("cargo built no executable named truckee")


def _read_json(output: str, workload: Workload) -> Answer:
    outcome = json.loads(output)
    delivered = sum(flow["bytes_delivered"] for flow in outcome["flows"])
    return Answer(delivered / workload.mss, delivered * 8 / workload.duration / 1e6)


def _read_json_sent(output: str, workload: Workload) -> Answer:
    flows = json.loads(output)["flows"]
    sent, acks = (sum(flow[key] for flow in flows) for key in ("segments_sent", "acks_sent"))
    return Answer(sent, _read_json(output, workload).goodput_mbps, sent + acks)


def _read_result(output: str, _: Workload) -> Answer:
    match = re.search(r"^RESULT segments=(\d+) goodput_mbps=([\d.]+)", output, re.MULTILINE)
    if match is None:
        raise ValueError(f"no RESULT line: {_last_line(output)}")
    return Answer(float(match[1]), float(match[2]))


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][:200] if lines else "(nothing)"
