#!/usr/bin/env python3
"""Starts one foreign TCP stack in an existing network namespace, with a web server on it, and ends it again.

  validation/stacks/up.py smoltcp server                      reno, the first of its congestion controls
  validation/stacks/up.py uml server --control westwood
  validation/stacks/up.py --list

The stack is 10.78.0.2, and all but slirp are fd78::2, behind a TUN or TAP device of the namespace, which is .1 and ::1
there and forwards. Once requests are answered, "ready http://10.78.0.2/file http://[fd78::2]/file" is printed. SIGINT,
SIGTERM and the end of the parent end it, and the namespace is then as it was. What a stack needs is built first (cargo,
cc, go) or named (a Debian package). Needs root.

Exit code: 0 ended as asked, 1 the stack could not be started or has died, 2 bad usage.
"""

import argparse
import os
import signal
import subprocess
import sys

import kinds
import linux

PATIENCE_S = 30.0
# The stack and all that it starts end with this program, however this program ends: a namespace of processes ends with
# its first one.
WITH_US = ["setpriv", "--pdeathsig", "KILL", "--", "unshare", "--pid", "--fork", "--kill-child=KILL", "--"]


class Ended(Exception):
    """A signal asked for the end."""


def main() -> int:
    """See the module."""
    arguments = _arguments()
    linux.die_with_parent(signal.SIGTERM)
    linux.adopt()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end)
    try:
        kind = kinds.KINDS[arguments.stack]
        kind.prepare(_say)
        linux.enter(arguments.namespace)
        linux.is_free(kinds.DEVICE)
        return _serve(kind, arguments.namespace, arguments.control, arguments.size)
    except Ended:
        return 0
    except (kinds.Missing, linux.Refused) as error:
        _say(str(error))
        return 1


def _serve(kind: kinds.Kind, namespace: str, control: str, size: int) -> int:
    """With the process in the namespace: makes the device, starts the stack, waits for either's end."""
    with linux.forwarding(), kind.device() as device:
        command = kind.command(namespace, device, control, size)
        _say(f"starting {kind.name} with {control}")
        process = subprocess.Popen(
            WITH_US + command.words,
            pass_fds=command.fds,
            env=os.environ | command.environment,
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
            start_new_session=True,  # the terminal's Ctrl-C is for this program alone
        )
        try:
            kind.started(device)
            urls = [f"http://{address}/file" for address in kind.addresses()]
            for url in urls:
                if not linux.answers(url, size, PATIENCE_S, lambda: process.poll() is None):
                    _say(f"{url} was not answered with {size} bytes within {PATIENCE_S:g} s")
                    return 1
            print("ready", *urls, flush=True)
            process.wait()
        finally:
            process.kill()
            linux.bury_all()
    _say(f"{kind.name} ended by itself, with {process.returncode}")
    return 1


def _end(_number: int, _frame: object) -> None:
    raise Ended


def _say(message: str) -> None:
    print(f"==> {message}", file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stack", choices=kinds.KINDS, help="which stack")
    parser.add_argument("namespace", help="the name of a network namespace, as of ip netns")
    parser.add_argument("--control", help="its congestion control [default: the stack's first]")
    parser.add_argument("--size", type=_size, default=600_000, help="bytes of the file it serves [default: 600000]")
    parser.add_argument("--list", action=_List, help="the stacks and their congestion controls, and no more")
    arguments = parser.parse_args()
    controls = kinds.KINDS[arguments.stack].controls
    arguments.control = arguments.control or controls[0]
    if arguments.control not in controls:
        parser.error(f"{arguments.stack} has no congestion control {arguments.control!r}, only {', '.join(controls)}")
    if os.geteuid() != 0:
        parser.error("this needs root, for the TUN device and its addresses")
    if not linux.path_of(arguments.namespace).exists():
        parser.error(
            f"there is no network namespace {arguments.namespace!r}; this makes it: ip netns add {arguments.namespace}"
        )
    return arguments


class _List(argparse.Action):
    """--list, which needs none of the other arguments."""

    def __init__(self, option_strings: list[str], dest: str, help: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        for kind in kinds.KINDS.values():
            print(f"{kind.name:10} {', '.join(kind.controls)}")
        parser.exit()


def _size(text: str) -> int:
    size = int(text)
    if not 1 <= size <= 100_000_000:
        raise argparse.ArgumentTypeError(f"{size} is not a number of bytes from 1 to 100000000")
    return size


if __name__ == "__main__":
    sys.exit(main())
