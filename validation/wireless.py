#!/usr/bin/env python3
"""802.11 beside ns-2's and ns-3's: the same stations, radio and traffic, goodput within 5 %.

Each row is run over seeds until the 97.5 % interval of the ratio of the means, ours over theirs, lies within 5 % or outside, and
judged as those of run.py: wireless/reasons.toml names the differences that are known, with the ratio at which each was measured.
wireless/ has the scenario files, of which the peers (ns2.tcl, ns3.cc) are told the same numbers.

  validation/wireless.py                                  everything
  validation/wireless.py -s '4 hops' --peers ns3          some rows
  validation/wireless.py --json rows.json --markdown      every run, and the table as the book has it
  validation/wireless.py --earlier rows.json --markdown   judged again, nothing run

Not for: routing over such a medium (adhoc.py), or the medium's closed forms (crates/wireless).
"""

import argparse
import json
import os
import re
import sys
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import commands
import ns2_draw
import table
import verdicts
from plan import Reason
from programs import NS2, NS3, OURS, PEERS, simulators
from rows import Row
from verdicts import Verdict

HERE = Path(__file__).resolve().parent / "wireless"
NS3_MODULES = ("core", "network", "internet", "mobility", "wifi", "propagation", "applications", "traffic-control")
# Runs of ours; of a peer at least, at most, and at a time. Deciding runs begin at FIRST_SEED; lower seeds are for trying out.
OUR_SEEDS, LEAST, MOST, BATCH = 40, 5, 40, 5
FIRST_SEED = 1001
# Seconds for a run.
LIMIT = 300.0


@dataclass(frozen=True)
class SetUp:
    """Stations 200 m apart (`distance`), of which the first sends to the last, or, `hidden`, the first and the third to the
    second. `flow`: tcp or udp; `rate` of data in Mbit/s, as `standard` has it; `sense`: metres to which the medium is heard to be
    busy; `long_slots`: ours of 802.11g, of 20 µs."""

    title: str
    flow: str
    hops: int = 1
    standard: str = "b"
    rate: float = 2
    rts: bool = False
    hidden: bool = False
    sense: int = 550
    distance: int = 200
    window: int = 20
    long_slots: bool = False

    def peers(self) -> list[str]:
        """Who has this: ns-2 knows 802.11b alone."""
        return [NS2, NS3] if self.standard == "b" else [NS3]

    def ours(self) -> list[str]:
        """Our scenario file and what is set in it."""
        last = f"n{self.hops + 1}"
        settings = [f"medium.0.rate={self._rate()}", f"medium.0.rts_threshold={'0B' if self.rts else 'never'}"]
        if self.standard == "b":
            # ns-2 has one rate for all that is not data, and ns-3 answers at the highest basic rate up to that of data.
            settings.append(f'medium.0.basic_rates=["{self.rate:g}Mbit/s"]')
        offered = f"{1.5 * self.rate:g}Mbit/s"
        if self.hidden:
            settings += [f"traffic.{number}.rate={offered}" for number in (0, 1)]
        else:
            settings += [f"node.0.count={self.hops + 1}", f'node.0.step=["{self.distance}m", "0m"]']
            # What arrives from 250 and from 550 m.
            heard = "-64.375dBm" if self.sense == 250 else "-78.07dBm"
            settings += [f"medium.0.{key}={heard}" for key in ("carrier_sense", "ignored")]
            settings.append(
                f'flow=[{{ from = "n1", to = "{last}", rwnd = "{self.window}segments" }}]'
                if self.flow == "tcp"
                else f'traffic=[{{ from = "n1", to = "{last}", kind = "cbr", rate = "{offered}" }}]'
            )
        if self.standard != "b":
            settings.append(f"medium.0.standard=802.11{self.standard}")
        if self.long_slots:
            settings.append("medium.0.slot=long")
        if self.standard == "n":
            settings += ['medium.0.band="5GHz"', "medium.0.aggregation={ asks = true }"]
        return [str(HERE / ("hidden.toml" if self.hidden else "chain.toml")), *_options(settings)]

    def ns2(self) -> list[str]:
        """What ns2.tcl is told."""
        hops = "hidden" if self.hidden else self.hops
        words = {"flow": self.flow, "hops": hops, "rate": self.rate * 1e6, "rts": int(self.rts), "sense": self._sense()}
        return [f"{key}={value}" for key, value in (words | {"window": self.window}).items()]

    def ns3(self) -> list[str]:
        """What ns3.cc is told."""
        words: dict[str, object] = {
            "flow": self.flow,
            "hops": self.hops,
            "hidden": int(self.hidden),
            "rts": int(self.rts),
        }
        words |= {"standard": self.standard, "rate": f"{self.rate:g}", "sense": self._sense()}
        return [f"--{k}={v}" for k, v in (words | {"distance": self.distance, "window": self.window}).items()]

    def _sense(self) -> int:
        return 250 if self.hidden else self.sense

    def _rate(self) -> str:
        return "mcs7" if self.standard == "n" else f"{self.rate:g}Mbit/s"


def set_ups() -> Iterator[SetUp]:
    """All of them: 30 s each, after the peers' routes and addresses are found; queues of 50 packets, UDP at one and a half times
    the rate of data."""
    for rate in (2, 11):
        for flow in ("tcp", "udp"):
            yield SetUp(f"1 hop, 802.11b, {rate} Mbit/s", flow, rate=rate)
    yield SetUp("1 hop, 802.11b, 2 Mbit/s, RTS", "udp", rts=True)
    for flow in ("tcp", "udp"):
        yield SetUp("1 hop, 802.11a, 54 Mbit/s", flow, standard="a", rate=54, distance=10)
        # A window that never keeps an aggregate waiting, and no queue that it would overflow.
        yield SetUp("1 hop, 802.11n, MCS 7", flow, standard="n", rate=65, distance=10, window=200)
    for rate in (6, 54):
        for flow in ("tcp", "udp"):
            yield SetUp(f"1 hop, 802.11g, {rate} Mbit/s", flow, standard="g", rate=rate, distance=10)
            # A variation: ns-3's ad hoc stations of 802.11g have slots of 20 µs, ours of 9 µs unless they are told.
            title = f"1 hop, 802.11g, {rate} Mbit/s, long slots"
            yield SetUp(title, flow, standard="g", rate=rate, distance=10, long_slots=True)
    yield SetUp("hidden pair, 2 Mbit/s", "udp", hidden=True)
    yield SetUp("hidden pair, 2 Mbit/s, RTS", "udp", hidden=True, rts=True)
    for hops in range(2, 8):
        yield SetUp(f"{hops} hops, 2 Mbit/s", "tcp", hops=hops, window=8)
    for hops in (2, 4, 7):
        yield SetUp(f"{hops} hops, 2 Mbit/s", "udp", hops=hops)
    # Variations that tell why ns-2 differs: frames of CCK, which no spreading helps against another as strong; and nothing that is
    # sensed and cannot be read.
    yield SetUp("hidden pair, 11 Mbit/s", "udp", rate=11, hidden=True)
    for hops in (3, 4, 5, 7):
        yield SetUp(f"{hops} hops, 2 Mbit/s, sensed to 250 m", "tcp", hops=hops, sense=250, window=8)
        yield SetUp(f"{hops} hops, 11 Mbit/s, sensed to 250 m", "tcp", hops=hops, rate=11, sense=250, window=8)
        yield SetUp(f"{hops} hops, 11 Mbit/s", "tcp", hops=hops, rate=11, window=8)


class Programs:
    """Ours, and ns-2 and ns-3 from the distribution (bench/peers/install.sh)."""

    def __init__(self, truckee: Path | None, seconds: float) -> None:
        self._truckee = truckee
        self._ns3 = ""
        self._seconds = seconds
        self._ours = ""

    def get_ready(self, peers: list[str]) -> None:
        """Builds what is due, so that nothing is built in the middle."""
        self._ours = simulators.program(self._truckee)
        if NS3 in peers:
            self._ns3 = simulators.ns3_program(HERE / "ns3.cc", NS3_MODULES)

    def goodput(self, program: str, set_up: SetUp, seed: int) -> float:
        """Payload that reached the receivers in one run, Mbit/s."""
        if program == OURS:
            words = ["--seed", str(seed), "--format", "json", *_options([f"duration={self._seconds}s"])]
            command = [self._ours, "run", *set_up.ours(), *words]
            outcome = json.loads(commands.said(command, LIMIT))
            # Of a packet of 1500 bytes 28 are headers of IP and UDP.
            packets = sum(traffic["packets_delivered"] for traffic in outcome["traffic"])
            delivered = sum(flow["bytes_delivered"] for flow in outcome["flows"]) + 1472 * packets
            return delivered * 8 / self._seconds / 1e6
        if program == NS2:
            words = [f"seed={ns2_draw.ns2_seed(seed)}", f"dur={self._seconds}"]
            said = commands.said(["ns", str(HERE / "ns2.tcl"), *set_up.ns2(), *words], LIMIT)
        else:
            words = [f"--seed={seed}", f"--dur={self._seconds}"]
            said = commands.said([self._ns3, *set_up.ns3(), *words], LIMIT)
        found = re.search(r"^RESULT goodput_mbps=(-?[\d.]+)", said, re.MULTILINE)
        if found is None or float(found[1]) <= 0:
            raise commands.CommandError(f"{program} gave no goodput: {said[-200:]}")
        return float(found[1])


def _options(settings: list[str]) -> list[str]:
    return [word for setting in settings for word in ("--set", setting)]


def reasons() -> dict[tuple[str, str, str], Reason]:
    """The differences that are known, by set-up, flow and peer."""
    known = [Reason(**entry) for entry in tomllib.loads((HERE / "reasons.toml").read_text()).get("reason", [])]
    return {(reason.scenario, reason.variant, reason.peer): reason for reason in known}


def judged(set_up: SetUp, goodputs: dict[str, list[float]]) -> Row:
    """The row that these runs make."""
    known = reasons()
    found: dict[str, Verdict] = {}
    for peer in (peer for peer in PEERS if peer in goodputs):
        ratio = verdicts.ratio(goodputs[OURS], goodputs[peer])
        found[peer] = verdicts.judge(ratio, known.get((set_up.title, set_up.flow, peer)))
    return Row(set_up.title, set_up.flow, goodputs, found, {})


def sample(programs: Programs, set_up: SetUp, peers: list[str], first: int, most: int, pool: ThreadPoolExecutor) -> Row:
    """Runs one row until it is decided."""

    def runs(program: str, begin: int, end: int) -> list[float]:
        seeds = range(first + begin, first + end)
        return list(pool.map(lambda seed: programs.goodput(program, set_up, seed), seeds))

    goodputs = {OURS: runs(OURS, 0, OUR_SEEDS)}
    for peer in (peer for peer in set_up.peers() if peer in peers):
        values = runs(peer, 0, LEAST)
        while len(values) < most and not verdicts.decided(verdicts.ratio(goodputs[OURS], values)):
            values += runs(peer, len(values), min(most, len(values) + BATCH))
        goodputs[peer] = values
    return judged(set_up, goodputs)


def main() -> int:
    """Exit code: 0 every row agrees or differs for a known reason, 1 one fails, 2 bad usage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-s", "--set-ups", default="", help="a part of the title of those that are run")
    parser.add_argument("--peers", default=f"{NS2},{NS3}")
    parser.add_argument("--most", type=int, default=MOST, help=f"seeds of a peer at most ({MOST})")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--duration", type=float, default=30.0, help="seconds (30)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="runs at a time (default: a CPU each)")
    parser.add_argument("--truckee", type=Path, help="a program built before, in place of a release build of this tree")
    parser.add_argument("--markdown", action="store_true", help="the table in Markdown")
    parser.add_argument("--json", type=Path, metavar="FILE", help="every run")
    parser.add_argument("--earlier", type=Path, metavar="FILE", help="rows of this --json are judged, not run")
    arguments = parser.parse_args()
    peers = arguments.peers.split(",")
    chosen = [set_up for set_up in set_ups() if arguments.set_ups in set_up.title]
    earlier = json.loads(arguments.earlier.read_text()) if arguments.earlier else []
    kept = {(row["scenario"], row["variant"]): row["goodputs"] for row in earlier}
    programs = Programs(arguments.truckee, arguments.duration)
    if any((set_up.title, set_up.flow) not in kept for set_up in chosen):
        programs.get_ready(peers)
    rows: list[Row] = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for set_up in chosen:
            if goodputs := kept.get((set_up.title, set_up.flow)):
                rows.append(judged(set_up, goodputs))
            else:
                rows.append(sample(programs, set_up, peers, arguments.first_seed, arguments.most, pool))
            print(table.line(rows[-1]), file=sys.stderr)
            if arguments.json:
                arguments.json.write_text(json.dumps([row.as_json() for row in rows], indent=1) + "\n")
    print(table.table(rows, peers, arguments.markdown))
    return 1 if any(v.word == verdicts.FAILS for row in rows for v in row.verdicts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
