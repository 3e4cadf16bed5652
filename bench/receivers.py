"""What ACK policies cost: Truckee alone, the same transfer acknowledged in one way or another.

The sender counts bytes, so that it sends much the same however it is acknowledged, and only the cost differs; the way back
has a queue without a limit, so that no queue's bookkeeping is counted as the policy's, and there is a handshake, which tells
receivers the round-trip time. A policy that sends many ACKs is held against the *packets* of the run, data segments and
ACKs together; one that saves them against the data segments. Not for: what the policies achieve, which the studies measure.
"""

from dataclasses import dataclass
from pathlib import Path

import simulators
from results import Table
from simulators import Simulator
from workloads import Workload

# The part's name on the command line, beside those of the workloads.
NAME = "receivers"

EVERY, DELAYED = "every", "delayed"
# Cut each ACK into parts: judged by the cost of a packet, over an ACK for every segment.
DIVISIONS = {n: f"division, n = {n}" for n in (2, 4, 12)}
# Save ACKs: judged by the cost of a segment, over delayed ACKs.
SAVING = ("accumulated", "accumulated-full")
OTHERS = ("taba", "requested")

COMMON = ('flow.sender="sack-abc"', "flow.handshake=true", 'topology.queue_back={ kind = "drop-tail" }')
WORKLOADS = ("W1", "W2")
SECONDS = 1500


@dataclass(frozen=True)
class Receiver:
    """One line of the table."""

    name: str
    setting: str

    def simulator(self, binary: Path | None) -> Simulator:
        """Truckee with this receiver: `binary`, or a release build of this tree."""
        return simulators.ours_sending(binary, self.name, (*COMMON, f"flow.receiver={self.setting}"))


def receivers(judged_only: bool) -> list[Receiver]:
    """The two that others are held against, those a target is about, then those that are shown for information."""
    divisions = [Receiver(name, f"{{ division = {{ n = {n} }} }}") for n, name in DIVISIONS.items()]
    plain = [Receiver(name, f'"{name}"') for name in (EVERY, DELAYED, *SAVING)]
    return [*plain, *divisions, *([] if judged_only else [Receiver(name, f'"{name}"') for name in OTHERS])]


def long_workloads(known: dict[str, Workload]) -> list[Workload]:
    """What they receive."""
    return [known[name].lasting(SECONDS) for name in WORKLOADS]


def segment_ratio(table: Table, workload: str, receiver: str) -> float | None:
    """CPU time per data segment over that with delayed ACKs, medians both; None where either was not measured."""
    base, row = table.get(workload, DELAYED), table.get(workload, receiver)
    return base.segments_per_cpu_second / row.segments_per_cpu_second if base and row else None


def packet_ratio(table: Table, workload: str, receiver: str) -> float | None:
    """CPU time per packet, data segment or ACK, over that with an ACK for every segment; None likewise."""
    base, row = table.get(workload, EVERY), table.get(workload, receiver)
    return base.packets_per_cpu_second / row.packets_per_cpu_second if base and row else None
