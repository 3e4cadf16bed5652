#!/usr/bin/env python3
"""Sees what the stack in a namespace (up.py) does in two rounds, with the client made by hand: JSON on stdout.

  validation/stacks/by_hand.py server

For each test: in how many parts each of the first three segments was acknowledged (or all three by one ACK), and the
payload sizes of the first round and of the second. A test that has come to nothing has its reason instead.

What a test shows is final, unless during it the machine stood still, or the stack waited for a core, for longer than the
test bears, which is measured beside it and not seen by its outcome: then it says nothing, and is replaced by another, some
times at most. `late` says how often.
"""

import argparse
import itertools
import json
import sys
from collections.abc import Iterator

import client
import linux
from lateness import Watch

DIVISIONS = (1, 2, 4, 8, 12)
ACKNOWLEDGED = 3
# So much of a round trip may the machine stand still within a test: well before the stack's timers, and within the quiet
# that ends a round.
BEARABLE = 0.6
# Tests that were replaced, at most.
MOST_LATE = 30


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("namespace")
    parser.add_argument("--rtt", metavar="MS", type=float, default=280, help="the round trip, ms [default: 280]")
    parser.add_argument(
        "--stack", metavar="PID", type=int, help="of up.py, to see for how long the stack waits for a core"
    )
    parser.add_argument("--most-rtt", metavar="MS", type=float, help="the longest that says anything, ms")
    arguments = parser.parse_args()
    rtt_s = arguments.rtt / 1000
    bearable_s = arguments.most_rtt / 1000 - rtt_s if arguments.most_rtt else BEARABLE * rtt_s
    try:
        linux.enter(arguments.namespace)
        with linux.device(client.DEVICE, addressed=False) as device:
            linux.run("ip", "route", "add", f"{client.ADDRESS}/32", "dev", device.name)
            json.dump(list(_tests(device, arguments.stack, rtt_s, bearable_s)), sys.stdout)
    except (linux.Refused, OSError) as error:
        print(f"==> {error}", file=sys.stderr)
        return 1
    return 0


def _tests(device: linux.Device, stack: int | None, rtt_s: float, bearable_s: float) -> Iterator[dict[str, object]]:
    """Undivided, divided, and one ACK for all."""
    ports = itertools.count(40_000)
    late = 0
    for division, together in [(division, False) for division in DIVISIONS] + [(1, True)]:
        while True:
            with Watch(stack) as watch:
                seen = _run(client.Client(device, next(ports), rtt_s), division, together)
            if watch.late_s <= bearable_s:
                break
            late += 1
            if late > MOST_LATE:
                seen = {
                    "reason": f"the machine or the stack was late by {1000 * watch.late_s:.0f} ms, and in {late} tests too late"
                }
                break
        yield {"division": division, "together": together, "late": late} | seen


def _run(connection: client.Client, division: int, together: bool) -> dict[str, object]:
    try:
        seen = connection.rounds(division, ACKNOWLEDGED, together)
    except client.Silent as silent:
        return {"reason": str(silent)}
    return {"first": seen.first, "acks": seen.acks, "second": seen.second}


if __name__ == "__main__":
    sys.exit(main())
