#!/usr/bin/env python3
"""Sees what the stack in a namespace (up.py) does in two rounds, with the client made by hand: JSON on stdout.

  validation/stacks/by_hand.py server

For each test: in how many parts each of the first three segments was acknowledged (or all three by one ACK), and the
payload sizes of the first round and of the second. A test that has come to nothing has its reason instead.
"""

import argparse
import itertools
import json
import sys
from collections.abc import Iterator

import client
import linux

DIVISIONS = (1, 2, 4, 8, 12)
ACKNOWLEDGED = 3
RTT_S = 0.05
# A busy machine delays packets, and a timer of the stack that goes off meanwhile changes its window. So a run counts when
# another agrees with it.
MOST_RUNS = 6


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("namespace")
    try:
        linux.enter(parser.parse_args().namespace)
        with linux.device(client.DEVICE, addressed=False) as device:
            linux.run("ip", "route", "add", f"{client.ADDRESS}/32", "dev", device.name)
            json.dump(list(_tests(device)), sys.stdout)
    except (linux.Refused, OSError) as error:
        print(f"==> {error}", file=sys.stderr)
        return 1
    return 0


def _tests(device: linux.Device) -> Iterator[dict[str, object]]:
    """Undivided, divided, and one ACK for all."""
    ports = itertools.count(40_000)
    for division, together in [(division, False) for division in DIVISIONS] + [(1, True)]:
        seen: list[dict[str, object]] = []
        while len(seen) < MOST_RUNS and not _twice(seen):
            seen.append(_run(client.Client(device, next(ports), RTT_S), division, together))
        yield {"division": division, "together": together} | (
            _twice(seen) or {"reason": f"no two of {MOST_RUNS} runs agree"}
        )


def _run(connection: client.Client, division: int, together: bool) -> dict[str, object]:
    try:
        seen = connection.rounds(division, ACKNOWLEDGED, together)
    except client.Silent as silent:
        return {"reason": str(silent)}
    return {"first": seen.first, "acks": seen.acks, "second": seen.second}


def _twice(seen: list[dict[str, object]]) -> dict[str, object] | None:
    """A run of which there is another with as many bytes in both rounds (or with the same reason)."""
    for one, other in itertools.combinations(seen, 2):
        if _bytes(one) == _bytes(other):
            return one
    return None


def _bytes(run: dict[str, object]) -> object:
    rounds = [run.get(key) for key in ("first", "second")]
    return run.get("reason") or [sum(seen) for seen in rounds if isinstance(seen, list)]


if __name__ == "__main__":
    sys.exit(main())
