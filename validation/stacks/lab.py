"""What a case is run in: two namespaces, our emulated path between them, the stack behind one of them.

Each part is there for as long as its context is. Everything is named in a /run/netns of our own (linux.py).
"""

import json
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import kinds
import linux

HERE = Path(__file__).resolve().parent
RATE = "100Mbit/s"
CLIENT, SERVER = "10.77.0.1", "10.77.0.2"
CLIENT6, SERVER6 = "fd77::1", "fd77::2"
# To a stack of our own on our own machine, the probe need not be as patient as it is with strangers.
PROBE = ["--pause", "200ms"]
REPETITIONS = 3
# This machine's own TCP, among the stacks.
OWN = "linux"


# A test or a server, as JSON has it.
Test = dict[str, object]


class Failed(Exception):
    """A part could not be started: which, and what it has said."""


@contextmanager
def namespace(name: str) -> Iterator[str]:
    """A network namespace with its loopback up."""
    linux.run("ip", "netns", "add", name)
    try:
        linux.run("ip", "-n", name, "link", "set", "lo", "up")
        yield name
    finally:
        linux.run("ip", "netns", "del", name)


@dataclass(frozen=True)
class Stack:
    """One that is ready: the URLs of its file, and the process that it is below."""

    urls: list[str]
    pid: int


@contextmanager
def stack(name: str, control: str, size: int, server: str) -> Iterator[Stack]:
    """The stack, ready."""
    words = [str(HERE / "up.py"), name, server, "--control", control, "--size", str(size)]
    with started(words, "ready ") as up:
        yield Stack(up.line.split()[1:], up.pid)


@contextmanager
def own(control: str, size: int, server: str, secure: bool = False) -> Iterator[str]:
    """This machine's own TCP with a web server at the path's end, ready: the URL of its file."""
    words = ["ip", "netns", "exec", server, str(HERE / "own.py"), control, str(size), *(["--secure"] if secure else [])]
    with started(words, "ready"):
        yield f"http{'s' if secure else ''}://{SERVER}/file"


def ends(name: str) -> tuple[str, str]:
    """What the namespaces of a case are called, the client's and the server's."""
    plain = name.replace("/", "-")
    return f"{plain}-client", f"{plain}-server"


@contextmanager
def served(
    truckee: Path, between: tuple[str, str], rtt_ms: int, which: tuple[str, str], size: int, secure: bool = False
) -> Iterator[str]:
    """A stack, or this machine's own, with a congestion control, behind a path between two namespaces of these names: its URL."""
    client, server = between
    with ExitStack() as parts:
        parts.enter_context(namespace(client))
        parts.enter_context(namespace(server))
        urls = [] if which[0] == OWN else parts.enter_context(stack(*which, size, server)).urls
        parts.enter_context(path(truckee, client, server, rtt_ms))
        yield urls[0] if urls else parts.enter_context(own(which[1], size, server, secure))


def prepare(names: set[str], say: kinds.Say) -> dict[str, str]:
    """Builds these stacks; those that cannot be had here, with the reasons."""
    missing = {}
    for name in sorted(names - {OWN}):
        try:
            kinds.KINDS[name].prepare(say)
        except (kinds.Missing, kinds.Unfit) as error:
            missing[name] = str(error)
    return missing


@contextmanager
def path(truckee: Path, client: str, server: str, rtt_ms: int) -> Iterator[None]:
    """Our emulator between the two, and the client's route over it to the stack."""
    ends = ["--between", f"ns:{client}", f"ns:{server}", "--address", f"{CLIENT}/24", f"{SERVER}/24"]
    ends += ["--address", f"{CLIENT6}/64", f"{SERVER6}/64"] if linux.has_ipv6() else []
    with started([str(truckee), "path", *ends, "--delay", f"{rtt_ms // 2}ms", "--rate", RATE], None):
        linux.until(lambda: CLIENT in linux.run("ip", "-n", client, "-4", "address"), f"an emulated path to {server}")
        linux.run("ip", "-n", client, "route", "add", linux.STACK, "via", SERVER)
        if linux.has_ipv6():
            linux.run("ip", "-n", client, "route", "add", linux.STACK6, "via", SERVER6)
        yield


def by_hand(server: str, stack: int, rtt_ms: int, most_rtt_ms: int | None) -> list[Test]:
    """What the client made by hand sees of the stack behind that namespace, which is below that process."""
    words = [str(HERE / "by_hand.py"), server, "--stack", str(stack), "--rtt", str(rtt_ms)]
    words += ["--most-rtt", str(most_rtt_ms)] if most_rtt_ms else []
    tests = _json(words, (0,), 120.0)
    assert isinstance(tests, list)
    return tests


def probe(truckee: Path, client: str, url: str) -> Test:
    """The probe's report on a URL, seen from that namespace. It is told the URL and no more."""
    how = ["--repeat", str(REPETITIONS), "--watch", "1s"]
    return _probed(truckee, client, url, how, 60.0 + 60.0 * REPETITIONS)


def identify(truckee: Path, client: str, url: str, limit_s: float) -> Test:
    """What it says of which TCP is there, by one repetition."""
    how = ["--identify", "--repeat", "1", "--watch", "1s", *(["--insecure"] if url.startswith("https") else [])]
    return _probed(truckee, client, url, how, limit_s)


def tables(truckee: Path, client: str, url: str, tests: Sequence[str], times: int) -> Test:
    """What is counted in these tests, watched for as long as the thesis did."""
    how = ["--tests", ",".join(tests), "--repeat", str(times), "--watch", "3s"]
    return _probed(truckee, client, url, how, 60.0 + 15.0 * times * len(tests))


def _probed(truckee: Path, client: str, url: str, how: list[str], limit_s: float) -> Test:
    words = ["ip", "netns", "exec", client, str(truckee), "probe", url, "--format", "json", *PROBE, *how]
    # 1: the server could not be judged, which may be right.
    answer = _json(words, (0, 1), limit_s)
    servers = answer.get("servers", []) if isinstance(answer, dict) else []
    if len(servers) != 1:
        raise Failed(f"truckee probe has not answered for {url}, but: {answer!r:.200}")
    server: Test = servers[0]
    return server


def _json(words: list[str], good: tuple[int, ...], limit_s: float) -> object:
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=limit_s
        )
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{' '.join(words)} has not ended within {limit_s:g} s") from error
    try:
        if done.returncode in good:
            return json.loads(done.stdout)
    except json.JSONDecodeError as error:
        raise Failed(f"{' '.join(words)} has not written JSON: {error}; {done.stderr.strip()}") from error
    raise Failed(f"{' '.join(words)} ended with {done.returncode}: {done.stderr.strip()}")


@dataclass(frozen=True)
class Started:
    """A program in the background: the line by which it said that it is ready, and its process."""

    line: str
    pid: int


@contextmanager
def started(words: list[str], ready: str | None) -> Iterator[Started]:
    """A program in the background, once it has written a line that begins so; it is ended by SIGINT, and with us."""
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", "--", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if ready else log,
            stderr=log,
            text=True,
        )
        try:
            line = process.stdout.readline().strip() if process.stdout else ""
            if ready and not line.startswith(ready):
                raise Failed(f"{' '.join(words)}: {_tail(log)}")
            yield Started(line, process.pid)
            if process.poll() is not None:
                raise Failed(f"{' '.join(words)} has ended by itself: {_tail(log)}")
        finally:
            process.terminate()
            process.wait()


def _tail(log: IO[str]) -> str:
    log.seek(0)
    return "\n".join(log.read().splitlines()[-5:])
