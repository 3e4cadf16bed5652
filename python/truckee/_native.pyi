"""
What the package stands on.
"""

from _typeshed import SupportsGetItem
from os import PathLike
from pathlib import Path
from typing import Any, SupportsFloat, SupportsIndex, final

__all__ = ["Ack", "Air", "Arrival", "Column", "Departure", "Document", "Loss", "Run", "Steps", "Sweep", "Table", "Window", "acknowledge", "builds", "command", "compare", "detect", "estimate", "judge", "read", "replay", "report", "run", "run_task", "studies", "study", "sweep"]

@final
class Ack:
    """
    An ACK as it reaches a sender.
    """
    @property
    def ack(self, /) -> int:
        """
        Acknowledgement number, bytes.
        """
    @property
    def delivered(self, /) -> int:
        """
        Bytes that it shows to have been delivered.
        """
    @property
    def duplicate(self, /) -> bool:
        """
        Whether it is a duplicate.
        """
    @property
    def ecn_echo(self, /) -> bool:
        """
        Whether it echoes congestion.
        """
    @property
    def ecn_marked(self, /) -> int:
        """
        Packets that came marked since the ACK before, as accurate ECN counts them (RFC 9768).
        """
    @property
    def highest(self, /) -> int:
        """
        One after the highest sequence number sent so far.
        """
    @property
    def newly_acked(self, /) -> int:
        """
        Bytes that it newly acknowledges cumulatively; 0 for a duplicate.
        """
    @property
    def newly_sacked(self, /) -> int:
        """
        Bytes that its SACK blocks report for the first time.
        """
    @property
    def now(self, /) -> float:
        """
        When, s.
        """
    @property
    def rtt(self, /) -> float | None:
        """
        Round-trip time from the newest segment it covers, s; `None` if that would be ambiguous.
        """
    @property
    def sent(self, /) -> float | None:
        """
        When the newest segment was sent that it shows to have arrived, s.
        """

@final
class Air:
    """
    What is in the air after an ACK.
    """
    @property
    def delivered(self, /) -> int:
        """
        Bytes known to have been delivered.
        """
    @property
    def delivery_rate(self, /) -> float | None:
        """
        The delivery rate that the ACK shows, bit/s; `None`: none that could be trusted.
        """
    @property
    def in_flight(self, /) -> int:
        """
        Bytes in the air.
        """
    @property
    def lost(self, /) -> int:
        """
        Bytes taken to be lost so far.
        """
    @property
    def newly_lost(self, /) -> int:
        """
        Bytes of them that this ACK has shown to be lost.
        """
    @property
    def repairing(self, /) -> bool:
        """
        Whether a loss is being repaired.
        """

@final
class Arrival:
    """
    A data segment as it reaches the receiver.
    """
    @property
    def bytes(self, /) -> int:
        """
        Payload, bytes.
        """
    @property
    def end(self, /) -> int:
        """
        The sequence number after its last byte.
        """
    @property
    def in_order(self, /) -> bool:
        """
        Whether it carried the next byte expected.
        """
    @property
    def now(self, /) -> float:
        """
        When, s.
        """
    @property
    def rcv_nxt(self, /) -> int:
        """
        Next sequence number expected, after it.
        """
    @property
    def rtt(self, /) -> float | None:
        """
        The receiver's own sample of the round-trip time, s.
        """
    @property
    def unacked(self, /) -> int:
        """
        Bytes in order that no ACK has covered yet.
        """
    @property
    def urgent(self, /) -> bool:
        """
        Whether an ACK is due at once.
        """

@final
class Column:
    """
    A column of a table.
    """
    @property
    def __array_interface__(self, /) -> Any:
        """
        Where NumPy finds the numbers: <https://numpy.org/doc/stable/reference/arrays.interface.html>, version 3.
        """
    def __len__(self, /) -> int: ...
    @property
    def is_numeric(self, /) -> bool:
        """
        Whether it is of numbers, which NumPy can look at where they are.
        """
    @property
    def null_count(self, /) -> int:
        """
        How many rows have no value. In a column of real numbers NaN stands there.
        """
    def value(self, /, row: SupportsIndex) -> Any:
        """
        What a row says; `None` where it says nothing.
        """
    def values(self, /) -> list[Any]:
        """
        What all rows say.
        """

@final
class Departure:
    """
    A data segment as it leaves the sender.
    """
    @property
    def bytes(self, /) -> int:
        """
        Payload, bytes.
        """
    @property
    def in_flight(self, /) -> int:
        """
        Bytes in the air before it.
        """
    @property
    def more(self, /) -> bool:
        """
        Whether the application has more to send behind it.
        """
    @property
    def now(self, /) -> float:
        """
        When, s.
        """
    @property
    def retransmission(self, /) -> bool:
        """
        Whether it was sent before.
        """
    @property
    def seq(self, /) -> int:
        """
        Its first sequence number.
        """

@final
class Document:
    """
    A scenario as it is written: text, and what is set in it.
    """
    def __new__(cls, /, name: str, text: str) -> Document:
        """
        Of a text; `name` stands for it in messages, and files that it names are relative to that name's folder.
        """
    def check(self, /) -> None:
        """
        Refuses what is wrong with it, all at once.
        """
    def explain(self, /) -> str:
        """
        All of it with every default filled in, as TOML.
        """
    @property
    def name(self, /) -> str:
        """
        What it is called.
        """
    @property
    def overrides(self, /) -> list[tuple[str, str]]:
        """
        What was set, in order.
        """
    @staticmethod
    def read(path: str | PathLike[str]) -> Document:
        """
        Of a file.
        """
    @property
    def text(self, /) -> str:
        """
        The text, without what was set.
        """
    def with_set(self, /, set: SupportsGetItem[int, tuple[str, str]]) -> Document:
        """
        The same with these paths and values set, in order, as `--set` does.
        """
    @staticmethod
    def written(json: str) -> str:
        """
        The text of a table that is given as JSON.
        """
    @staticmethod
    def written_value(json: str) -> str:
        """
        A value that is given as JSON, as a scenario has it in a line.
        """

@final
class Loss:
    """
    A loss event.
    """
    @property
    def kind(self, /) -> str:
        """
        How: `dup-acks`, `timeout` or `ecn`.
        """
    @property
    def now(self, /) -> float:
        """
        When it was noticed, s.
        """
    @property
    def seq(self, /) -> int:
        """
        Sequence number of the segment taken to be lost.
        """

@final
class Run:
    """
    A run that has been made.
    """
    @property
    def digest(self, /) -> str:
        """
        Digest of the run's history; empty of a live one.
        """
    def events(self, /, kind: str | None = None, flow: str | None = None) -> Table:
        """
        What happened when, of a kind or all of it, of a flow or of all.
        """
    def figure(self, /) -> str:
        """
        Windows and losses over time, as SVG.
        """
    @property
    def flow_names(self, /) -> list[str]:
        """
        Names of the flows, in order.
        """
    def flows(self, /) -> Table:
        """
        One row a flow.
        """
    def frames(self, /) -> Table:
        """
        One row for each frame on the air.
        """
    @property
    def has_series(self, /) -> bool:
        """
        Whether it was recorded what happened when.
        """
    def hops(self, /) -> Table:
        """
        One row wherever a flow's data first comes to a radio medium, or goes on by another station than before.
        """
    def json(self, /) -> str:
        """
        The outcome, as the command writes it.
        """
    def metric(self, /, name: str) -> float | None:
        """
        A metric of it; `None` where it has none.
        """
    def observers(self, /) -> Table:
        """
        One row for each who watched a flow.
        """
    def places(self, /) -> Table:
        """
        One row wherever a station of a radio medium begins, turns, sets off or ends.
        """
    def queues(self, /) -> Table:
        """
        One row for each change of a queue's length.
        """
    def write(self, /, dir: str | PathLike[str]) -> list[Path]:
        """
        Writes what the command's `--out` writes. Returns the files.
        """
    def write_pcapng(self, /, path: str | PathLike[str]) -> None:
        """
        Writes the packets of the flows as pcapng.
        """

@final
class Steps:
    """
    Some runs of one scenario side by side, each with a seed of its own, and the flows of it that are steered.
    """
    def __new__(cls, /, document: Document, flows: SupportsGetItem[int, str], paces: bool, every: SupportsFloat | SupportsIndex | None, delay: SupportsFloat | SupportsIndex, number: SupportsIndex) -> Steps:
        """
        So many runs of a scenario, whose flows of these names are steered, all of them if none is named: by pacing rates
        or by windows, for so many seconds a step, or for a round-trip time. A wait in queues as long as the smallest
        round-trip time takes `delay` from what a step is worth.
        """
    def begin(self, /, number: SupportsIndex, seed: SupportsIndex) -> bytearray:
        """
        Begins a run anew with a seed, and returns what its agents see.
        """
    def end(self, /, number: SupportsIndex) -> Run:
        """
        What has come of a run by now, which ends it.
        """
    @property
    def flows(self, /) -> list[str]:
        """
        The flows that are steered, by name.
        """
    def losses(self, /, number: SupportsIndex) -> list[tuple[int, int]]:
        """
        What the path has lost of each agent's data by now: to full queues, and to everything else.
        """
    def now(self, /, number: SupportsIndex) -> float:
        """
        Simulated seconds of a run.
        """
    def paths(self, /, number: SupportsIndex) -> list[tuple[float, float, float, float]]:
        """
        What is known of each agent's path beforehand: what it carries, bit/s with headers and without; its round-trip time,
        s; its maximum segment size, bytes.
        """
    def readings(self, /, number: SupportsIndex) -> list[list[float]]:
        """
        What each agent's flow has done in the last step: its seconds; acknowledged and sent, bit/s; the share that was sent
        again; mean and smallest round-trip time, s; window and flight, bytes; timeouts.
        """
    def step(self, /, settings: SupportsGetItem[int, SupportsFloat | SupportsIndex]) -> tuple[bytearray, list[float], list[bool]]:
        """
        Has all runs that are not over go on by a step, with these settings for their agents, run by run: segments, or bit/s
        with headers. Returns what all agents see, what that is worth to each, and which runs are over.
        """
    def timed_out(self, /, number: SupportsIndex) -> bool:
        """
        Whether a run has come to the end of its scenario's duration.
        """

@final
class Sweep:
    """
    A sweep that was made.
    """
    @property
    def complete(self, /) -> bool:
        """
        Whether all runs were made.
        """
    @property
    def file(self, /) -> Path | None:
        """
        The table of all runs on disk.
        """
    @property
    def imprecise(self, /) -> list[str]:
        """
        Points, in words, that did not reach the precision that was asked for.
        """
    def json(self, /) -> str:
        """
        The summary as the command writes it.
        """
    def runs(self, /) -> Table:
        """
        One row a run.
        """
    def summary(self, /) -> Table:
        """
        One row for each point and metric, with means and intervals.
        """

@final
class Table:
    """
    A table of named columns.
    """
    def __arrow_c_schema__(self, /) -> "object":
        """
        The same of its columns' names and types.
        """
    def __arrow_c_stream__(self, /, requested_schema: Any | None = None) -> "object":
        """
        What Arrow's libraries take it by, without a copy: <https://arrow.apache.org/docs/format/CDataInterface>.
        """
    def __len__(self, /) -> int:
        """
        How many rows there are.
        """
    def column(self, /, name: str) -> Column:
        """
        A column by its name.
        """
    @property
    def column_names(self, /) -> list[str]:
        """
        Names of the columns, in order.
        """

@final
class Window:
    """
    The sender's window. `cwnd` and `ssthresh` can be set, in bytes, where the method is to set them.
    """
    @property
    def cwnd(self, /) -> float:
        """
        Congestion window, bytes.
        """
    @cwnd.setter
    def cwnd(self, /, bytes: SupportsFloat | SupportsIndex) -> None: ...
    @property
    def flight(self, /) -> int:
        """
        Bytes sent and not yet acknowledged, before the event at hand.
        """
    @property
    def half_flight(self, /) -> float:
        """
        Half the flight, two segments at least (RFC 5681, equation 4), bytes.
        """
    @property
    def in_slow_start(self, /) -> bool:
        """
        Whether the window opens by slow start.
        """
    @property
    def mss(self, /) -> float:
        """
        Maximum segment size, bytes.
        """
    @property
    def rtt_min(self, /) -> float | None:
        """
        Smallest round-trip time seen, s; `None` before it is known.
        """
    @property
    def rwnd(self, /) -> int:
        """
        The receiver's advertised window, bytes.
        """
    @property
    def srtt(self, /) -> float | None:
        """
        Smoothed round-trip time, s; `None` before it is known.
        """
    @property
    def ssthresh(self, /) -> float:
        """
        Slow-start threshold, bytes.
        """
    @ssthresh.setter
    def ssthresh(self, /, bytes: SupportsFloat | SupportsIndex) -> None: ...

def acknowledge(policy: str, t_s: bytes, bytes: bytes, rtt_s: bytes | None, until_s: SupportsFloat | SupportsIndex) -> Table:
    """
    The ACKs with which a policy answers segments in order: the columns `t_s` and `acked_bytes`. Its timers go off up to
    `until_s`.
    """

def builds() -> tuple[str, str, str]:
    """
    The version, and what decides the records of the simulator and of the live engines.
    """

def command(words: SupportsGetItem[int, str]) -> int:
    """
    Does what the command `truckee` does with these words, the program's name first, and returns the exit status. For a
    process that is the command and nothing else.
    """

def compare(document: Document, engines: SupportsGetItem[int, str], count: SupportsIndex = 1, at_most: SupportsIndex | None = None, tolerances: SupportsGetItem[int, str] = ..., jobs: SupportsIndex | None = None, as_written: bool = False, as_late: bool = False, progress: Any | None = None) -> tuple[str, str]:
    """
    Holds engines side by side. Returns what is found as JSON, and drawn.
    """

def detect(detector: str, t_s: bytes, bytes: bytes, rtt_s: bytes) -> Table:
    """
    Whether a detector takes the sender to be in slow start, after each arrival: the column `slow_start`, 1 or 0.
    """

def estimate(estimator: str, t_s: bytes, bytes: bytes, rtt_s: bytes, cwnd_bytes: SupportsFloat | SupportsIndex) -> Table:
    """
    What an estimator says after each arrival: the column `bits_per_second`.
    """

def judge(predictor: str, t_s: bytes, rtt_s: bytes, cwnd_bytes: bytes, mss: SupportsIndex, losses_s: bytes) -> Table:
    """
    What a predictor takes each loss for: the column `wireless`, 1 or 0. It has heard the ACKs up to then.
    """

def read(path: str | PathLike[str], connections: SupportsIndex) -> str:
    """
    Reads a capture; of up to so many connections everything is told. Returns it as JSON.
    """

def replay(path: str | PathLike[str], names: SupportsGetItem[int, str], connections: SupportsIndex, number: SupportsIndex | None = None, to_server: bool | None = None) -> str:
    """
    What estimators, predictors and detectors of these names would have said over the connection of that number, or over the
    largest one, where its data goes to the server, to the client, or, if that is not said, the way that more of it goes. As
    JSON.
    """

def report(folders: SupportsGetItem[int, str | PathLike[str]], to: str | PathLike[str] | None = None) -> Path:
    """
    Writes one page of what these folders hold. Returns it.
    """

def run(document: Document, engine: str = "sim", series: bool = False, capture: str | None = None, algorithms: SupportsGetItem[int, tuple[str, str, Any, SupportsGetItem[int, tuple[str, str, SupportsFloat | SupportsIndex]], SupportsGetItem[int, str], str]] = ...) -> Run:
    """
    Runs a scenario once; `capture`: the end of the flows at which each of their packets is kept.
    """

def run_task(task: str, algorithms: SupportsGetItem[int, tuple[str, str, Any, SupportsGetItem[int, tuple[str, str, SupportsFloat | SupportsIndex]], SupportsGetItem[int, str], str]]) -> tuple[str, Any | None]:
    """
    Runs the cells of a task, given as JSON, one after the other. Returns the answers as JSON, and what an algorithm has
    raised.
    """

def studies() -> list[tuple[str, str, str, str]]:
    """
    The studies that come with the program: id, title, paper and place.
    """

def study(id: str, folder: str | PathLike[str], quick: bool = False, jobs: SupportsIndex | None = None, progress: Any | None = None) -> tuple[str, bool]:
    """
    Runs a study, by its id or the path of its file, with its runs and figures below `folder`. Returns its report as JSON,
    in which `holds` says whether it holds.
    """

def sweep(document: Document, vary: SupportsGetItem[int, str], metrics: SupportsGetItem[int, str], replications: tuple[SupportsIndex | None, SupportsGetItem[int, SupportsIndex] | None, SupportsFloat | SupportsIndex | None], engine: str = "sim", jobs: SupportsIndex | None = None, folder: str | PathLike[str] | None = None, limit: SupportsIndex | None = None, progress: Any | None = None, algorithms: SupportsGetItem[int, tuple[str, str, Any, SupportsGetItem[int, tuple[str, str, SupportsFloat | SupportsIndex]], SupportsGetItem[int, str], str]] = ..., crew: Any | None = None) -> Sweep:
    """
    Sweeps. `vary` are axes as the command's `--vary` has them; `limit` is the most cells that may be asked for; `crew` are
    those who run them, if not this process.
    """
