"""What the path emulator keeps of what it promises: `truckee path` between two namespaces, beside the kernel's own tbf.

Five questions, each asked several times, medians shown: how many packets a second, how much of TCP, how exact the delay,
the loss, the rate. On a machine that others use, too, one of several answers may be off; the median tells. Needs root, `ip`,
`tc`, iperf3 and, to tell the machine's lateness from the emulator's, cyclictest. Not for: what the emulator decides, which the crate's tests hold against closed forms.
"""

import json
import math
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import machine
import namespaces
from figure import Figure
from namespaces import LiveError

# The part's name on the command line, beside those of the workloads.
NAME = "path"

FAST = ("--rate", "100Gbit/s", "--queue", "100000packets")
THERE = "10.77.0.2"
PORT = 9000
# Two-sided, 99 %.
SIGMAS = 2.576

DELAY = 0.05
# What it may add: in the middle, and at the 99th percentile above what the machine adds to any sleep, s.
MEDIAN, TAIL = 0.2e-3, 1e-3
LOSS, PACKETS = 0.01, 20_000
RATES = (10e6, 100e6)
SECONDS = 3
# Packets handed to the kernel at once, to spare the sender's time for the emulator.
TRAIN = 8


def measure(command: list[str], repetitions: int) -> list[Figure]:
    """All of them; `command` begins the command truckee."""
    figures: list[Figure] = []
    for part in (_packets, _tcp, _delay, _loss, _rate):
        try:
            with machine.watched() as seen:
                found = part(command, repetitions)
            figures += machine.beside(found, seen)
        except (LiveError, OSError, ValueError, KeyError, IndexError) as error:
            figures.append(Figure(part.__name__.strip("_"), "–", f"cannot be measured: {error}", None))
    return figures


class _Running:
    """A running `truckee path`."""

    def __init__(self, process: subprocess.Popen) -> None:
        self._process = process

    def report(self) -> dict:
        """Ends it; its report."""
        self._process.send_signal(2)
        out, err = self._process.communicate(timeout=20)
        if self._process.returncode != 0:
            raise LiveError(err.strip()[-300:])
        return json.loads(out)


@contextmanager
def path(command: list[str], *options: str) -> Iterator[tuple[str, str, _Running]]:
    """Two namespaces with the emulator between them."""
    with namespaces.pair() as (left, right):
        line = [*command, "path", "--between", f"ns:{left}", f"ns:{right}", *options, "--format", "json"]
        process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            for text in process.stderr or ():
                if text.startswith("forwarding"):
                    break
            else:
                raise LiveError("truckee path did not begin")
            yield left, right, _Running(process)
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            process.communicate()


def _iperf(left: str, right: str, *options: str) -> dict:
    """One iperf3 from left to right."""
    namespaces.need("iperf3")
    server = subprocess.Popen(
        ["ip", "netns", "exec", right, "iperf3", "-s", "-1", "-J"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        time.sleep(0.5)
        line = ["ip", "netns", "exec", left, "iperf3", "-J", "-c", THERE, "-t", str(SECONDS), *options]
        done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
        return json.loads(done.stdout)["end"]
    finally:
        server.kill()
        server.wait()


def _packets(command: list[str], repetitions: int) -> list[Figure]:
    def once() -> float:
        with path(command, *FAST) as (left, right, running):
            # 8 bytes of UDP and 20 of IP make 64 of 36. Nobody reads them: that is not what is measured.
            outgoing, bound = namespaces.sender(left, segment=36), namespaces.receiver(right, PORT)
            data = bytes(36 * 60)
            begin = time.monotonic()
            while time.monotonic() < begin + SECONDS:
                with suppress(BlockingIOError):
                    outgoing.sendto(data, (THERE, PORT))
            took = time.monotonic() - begin
            bound.close()
            return running.report()["ports"][1]["written"] / took

    value = _median(once, repetitions)
    return [Figure("packets of 64 B forwarded", "at least 300,000/s", f"{value:,.0f}/s", value >= 300e3)]


def _tcp(command: list[str], repetitions: int) -> list[Figure]:
    def once() -> float:
        with path(command, *FAST) as (left, right, _):
            return _iperf(left, right)["sum_received"]["bits_per_second"]

    value = _median(once, repetitions)
    return [Figure("TCP goodput, one connection", "at least 1.5 Gbit/s", f"{value / 1e9:.2f} Gbit/s", value >= 1.5e9)]


def _delay(command: list[str], repetitions: int) -> list[Figure]:
    figures = []
    # What the machine adds to any sleep, before and after, counts against nobody.
    waking = [machine.lateness()]
    for busy in ((), ("--busy",)):
        medians, tails = [], []
        for _ in range(repetitions):
            late = sorted(_lateness(command, busy))
            medians.append(late[len(late) // 2])
            tails.append(late[int(len(late) * 0.99)])
        waking.append(machine.lateness())
        told = [late for late in waking if late is not None]
        own = statistics.median(told) if told else 0.0
        above = f" above the {1e3 * own:.3f} ms of cyclictest" if told else ""
        name = "delay of 50 ms, idle" + (", --busy" if busy else "")
        for what, values, limit, but in (("median", medians, MEDIAN, ""), ("p99", tails, TAIL + own, above)):
            value = statistics.median(values)
            target = f"within {1e3 * (MEDIAN if what == 'median' else TAIL):.1f} ms{but}"
            figures.append(Figure(f"{name}: {what}", target, f"{1e3 * value:+.3f} ms", abs(value) <= limit))
    return figures


def _lateness(command: list[str], busy: tuple[str, ...]) -> list[float]:
    """Of packets now and then, the time on the way beyond the delay asked for, s."""
    late = []
    with path(command, "--rate", "1Gbit/s", "--delay", "50ms", *busy) as (left, right, _):
        outgoing, incoming = namespaces.sender(left), namespaces.receiver(right, PORT)
        for k in range(300):
            sent = time.time()
            outgoing.sendto(b"%d" % k, (THERE, PORT))
            got = namespaces.receive(incoming)
            if got is not None:
                late.append(got[1] - sent - DELAY)
            time.sleep(0.001 * (k % 7))
    return late


def _loss(command: list[str], repetitions: int) -> list[Figure]:
    channel = f'{{ kind = "bernoulli", per = {LOSS} }}'
    expected, spread = LOSS * PACKETS, SIGMAS * math.sqrt(LOSS * (1 - LOSS) * PACKETS)
    offs, told = [], True
    for seed in range(1, repetitions + 1):
        options = ("--rate", "1Gbit/s", "--channel", channel, "--seed", str(seed))
        with path(command, *options) as (left, right, running):
            outgoing, incoming = namespaces.sender(left), namespaces.receiver(right, PORT)
            for k in range(PACKETS):
                outgoing.sendto(b"x", (THERE, PORT))
                if k % 50 == 0:
                    time.sleep(0.002)
            got = 0
            while namespaces.receive(incoming) is not None:
                got += 1
            told &= running.report()["links"][0]["channel_drops"] == PACKETS - got
        offs.append(PACKETS - got - expected)
    worst = max(offs, key=abs)
    text = f"{expected:.0f} ± {spread:.0f} of {PACKETS}, and the count right"
    measured = f"{expected + statistics.median(offs):.0f}, worst {expected + worst:.0f}" + (
        "" if told else "; MISCOUNTED"
    )
    reached = abs(statistics.median(offs)) <= spread and told
    return [Figure("loss of 1 %", text, measured, reached)]


def _rate(command: list[str], repetitions: int) -> list[Figure]:
    figures = []
    for rate in RATES:
        name = f"{rate / 1e6:.0f}Mbit/s"

        def ours(rate: float = rate, name: str = name) -> float:
            with path(command, "--rate", name, "--queue", "1000packets") as (left, right, _):
                return _paced(left, right, rate, 1500)

        def theirs(rate: float = rate, name: str = name) -> float:
            with namespaces.pair() as (left, right):
                namespaces.ip("-n", left, "link", "add", "v0", "type", "veth", "peer", "name", "v1", "netns", right)
                for namespace, device, host in ((left, "v0", 1), (right, "v1", 2)):
                    namespaces.ip("-n", namespace, "addr", "add", f"10.77.0.{host}/24", "dev", device)
                    namespaces.ip("-n", namespace, "link", "set", device, "up")
                # A bucket for a tick of 4 ms, as its manual wants it.
                bucket = str(max(1600, int(rate / 8 * 0.004)))
                shape = ["tbf", "rate", name.replace("/s", ""), "burst", bucket, "limit", "1514000"]
                namespaces.tc("-n", left, "qdisc", "add", "dev", "v0", "root", *shape)
                # It counts the Ethernet header.
                return _paced(left, right, rate, 1514)

        value = 100 * (_median(ours, repetitions) / rate - 1)
        try:
            beside = f" (tbf: {100 * (_median(theirs, repetitions) / rate - 1):+.3f} %)"
        except LiveError as error:
            beside = f" (tbf: {error})"
        figures.append(Figure(f"rate of {name}", "within 1 %", f"{value:+.3f} %{beside}", abs(value) <= 1))
    return figures


def _paced(left: str, right: str, rate: float, size: int) -> float:
    """The rate, bit/s in packets of `size`, of what comes out while half as much again goes in."""
    outgoing, incoming = namespaces.sender(left, segment=1472), namespaces.receiver(right, PORT)
    data = bytes(1472 * TRAIN)
    begin, sent = time.monotonic(), 0
    while (now := time.monotonic()) < begin + SECONDS:
        while sent < 1.5 * rate * (now - begin) / (8 * size):
            with suppress(BlockingIOError):
                outgoing.sendto(data, (THERE, PORT))
            sent += TRAIN
        time.sleep(0.0005)
    times = []
    while (got := namespaces.receive(incoming)) is not None:
        times.append(got[1])
    # The middle of it: neither the queue's filling nor its end.
    times = times[len(times) // 10 : -len(times) // 10]
    return 8 * size * (len(times) - 1) / (times[-1] - times[0])


def _median(once: Callable[[], float], repetitions: int) -> float:
    return statistics.median(once() for _ in range(repetitions))
