#!/usr/bin/env python3
"""Has `truckee probe` judge foreign TCP stacks, without telling it which, and holds its verdicts against their sources.

Each stack is also seen by a client made by hand (client.py), whose counts must be what expected.toml says, to the byte.

  validation/stacks/run.py                      every stack with every congestion control
  validation/stacks/run.py --quick              a part of them
  validation/stacks/run.py --only lwip,uml/vegas
  validation/stacks/run.py --by-hand            without the probe, and without truckee

Needs root. Exit code: 0 all is as expected, 1 something is not or could not be run, 2 bad usage.
"""

import argparse
import functools
import json
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import expected
import kinds
import lab
import linux
import results
from expected import Case
from results import Result

TRUCKEE = kinds.BUILT.parent / "release" / "truckee"


def main() -> int:
    """See the module."""
    cases = expected.load()
    arguments = _arguments(cases)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        linux.private_namespaces()
    except linux.Refused as error:
        _say(str(error))
        return 1
    missing, unfit = _prepare({case.stack for case in arguments.cases})

    def run(case: Case) -> Result:
        if case.stack in unfit:
            return Result(case, skipped=unfit[case.stack])
        return _run(case, arguments.truckee, missing.get(case.stack))

    with ThreadPoolExecutor(arguments.jobs) as pool:
        seen = list(pool.map(run, arguments.cases))
    print(results.table(seen, arguments.markdown))
    if arguments.json:
        arguments.json.write_text(json.dumps([result.as_json() for result in seen], indent=1) + "\n")
    return 1 if any(result.faults for result in seen) else 0


def _prepare(names: set[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Builds the stacks; those for which something is missing, and those that no installation makes run on this machine, with the
    reasons. In CI the former is a fault, elsewhere it is left out; the latter is left out anywhere."""
    missing, unfit = {}, {}
    for name in sorted(names):
        try:
            kinds.KINDS[name].prepare(_say)
        except kinds.Missing as error:
            missing[name] = str(error)
        except kinds.Unfit as error:
            unfit[name] = str(error)
            _say(f"{name} is left out: {error}")
    return missing, unfit


def _run(case: Case, truckee: Path | None, missing: str | None) -> Result:
    """One case, in namespaces of its own."""
    if missing:
        return Result(case, faults=[missing]) if os.environ.get("CI") else Result(case, skipped=missing)
    client, server = lab.ends(case.name)
    try:
        with (
            lab.namespace(client),
            lab.namespace(server),
            lab.stack(case.stack, case.control, case.size, server) as stack,
        ):
            by_hand, servers = lab.by_hand(server, stack.pid, case.rtt_ms, case.most_rtt_ms), None
            if truckee:
                with lab.path(truckee, client, server, case.rtt_ms), ThreadPoolExecutor() as pool:
                    servers = list(pool.map(functools.partial(lab.probe, truckee, client), stack.urls))
        result = results.judged(case, by_hand, servers)
    except (lab.Failed, linux.Refused) as error:
        result = Result(case, faults=[str(error)])
    _say(results.line(result))
    return result


def _say(message: str) -> None:
    print(f"==> {message}", file=sys.stderr, flush=True)


def _arguments(cases: list[Case]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="NAME,…", help="these stacks (lwip) or cases (uml/vegas)")
    parser.add_argument("--quick", action="store_true", help="a part of them")
    parser.add_argument("--by-hand", action="store_true", help="without the probe")
    parser.add_argument("--truckee", type=Path, default=TRUCKEE, help=f"the program [default: {TRUCKEE}]")
    parser.add_argument(
        "--jobs", type=int, default=8, help="so many stacks at a time; most of the time they wait [default: 8]"
    )
    parser.add_argument("--markdown", action="store_true", help="the table as the book has it")
    parser.add_argument("--json", type=Path, metavar="FILE", help="all that was seen, too")
    arguments = parser.parse_args()
    names = {name for case in cases for name in (case.stack, case.name)}
    only = arguments.only.split(",") if arguments.only else list(names)
    if unknown := set(only) - names:
        parser.error(f"there is no {', '.join(sorted(unknown))}, only {', '.join(sorted(names))}")
    chosen = [case for case in cases if {case.stack, case.name} & set(only)]
    arguments.cases = [case for case in chosen if case.quick or not arguments.quick]
    if not arguments.cases:
        parser.error("nothing is left of --only with --quick")
    if arguments.by_hand:
        arguments.truckee = None
    elif not arguments.truckee.exists():
        parser.error(f"there is no {arguments.truckee}: make release, or --truckee, or --by-hand")
    if arguments.jobs < 1:
        parser.error(f"--jobs {arguments.jobs}: at least 1")
    if os.geteuid() != 0:
        parser.error("this needs root, for namespaces and TUN devices")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
