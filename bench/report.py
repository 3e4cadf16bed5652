"""Lays the results out: as text for a terminal, or as Markdown for the README and the book. Computes nothing new."""

import counted
import receivers
import senders
from results import Row, Table
from simulators import OURS
from targets import Verdict
from workloads import Workload

_HEADER = ["program", "wall s", "user s", "segments/s", "peak MiB", "goodput Mbit/s", "seeds", "we are", "by CPU"]
_SENDER_HEADER = ["sender", "CPU ns a segment sent", f"over {senders.BASE}", "segments sent", "goodput Mbit/s"]
_COUNTED_HEADER = [
    "workload",
    "simulated s",
    "segments",
    "instructions a segment",
    "loop alone",
    "misses a segment",
    "loop alone",
]
_COUNTED_SENDER_HEADER = [
    "sender",
    "segments sent",
    "instructions a segment sent",
    "loop alone",
    f"over {counted.BASE}",
]
_RECEIVER_HEADER = [
    "receiver",
    "ACKs a segment",
    "CPU ns a segment",
    f"over {receivers.DELAYED}",
    "CPU ns a packet",
    f"over {receivers.EVERY}",
    "goodput Mbit/s",
]


def workload_table(workload: Workload, table: Table, markdown: bool) -> str:
    """One workload: a line a program."""
    us = table.get(workload.name, OURS)
    lines = [_line(row, us) for row in table.of(workload.name)]
    if not lines:
        return ""
    return f"{_title(workload.title, markdown)}\n{_grid([_HEADER, *lines], markdown)}"


def senders_table(workload: Workload, sending: Table, markdown: bool) -> str:
    """What senders cost on one workload: a line a sender."""
    lines = [_sender_line(row, sending) for row in sending.of(workload.name)]
    if not lines:
        return ""
    return f"{_title(f'Senders on {workload.title}', markdown)}\n{_grid([_SENDER_HEADER, *lines], markdown)}"


def receivers_table(workload: Workload, receiving: Table, markdown: bool) -> str:
    """What receivers cost on one workload: a line a receiver."""
    lines = [_receiver_line(row, receiving) for row in receiving.of(workload.name)]
    if not lines:
        return ""
    return f"{_title(f'Receivers on {workload.title}', markdown)}\n{_grid([_RECEIVER_HEADER, *lines], markdown)}"


def counted_table(rows: list[counted.Row], markdown: bool) -> str:
    """What a delivered segment costs: a line a workload."""
    lines = [_counted_line(row) for row in rows if row.sender == counted.BASE]
    if not lines:
        return ""
    title = "Counted: per delivered segment; misses of a cache of 512 KiB."
    return f"{_title(title, markdown)}\n{_grid([_COUNTED_HEADER, *lines], markdown)}"


def counted_senders_table(rows: list[counted.Row], markdown: bool) -> str:
    """What a segment sent costs: a line a sender, where these are compared, then where the profile is."""
    tables = [
        _counted_senders(rows, counted.SENDERS_ON, counted.OTHERS, "senders", markdown),
        _counted_senders(rows, counted.UNLOST, (counted.PROFILE,), f"the profile {counted.PROFILE}", markdown),
    ]
    return "\n\n".join(table for table in tables if table)


def _counted_senders(rows: list[counted.Row], workload: str, others: tuple[str, ...], what: str, markdown: bool) -> str:
    senders = [counted.find(rows, workload, sender) for sender in (counted.BASE, *others)]
    lines = [_counted_sender_line(row, rows) for row in senders if row]
    if not lines:
        return ""
    title = f"Counted: {what} on {workload}, per segment sent."
    return f"{_title(title, markdown)}\n{_grid([_COUNTED_SENDER_HEADER, *lines], markdown)}"


def targets_table(verdicts: list[Verdict], markdown: bool) -> str:
    """Every target with what was measured."""
    lines = [[verdict.target, verdict.measured, verdict.word] for verdict in verdicts]
    return f"{_title('Targets', markdown)}\n{_grid([['target', 'measured', 'verdict'], *lines], markdown, texts=3)}"


def _line(row: Row, us: Row | None) -> list[str]:
    goodput = f"{row.goodput:.3f}"
    if row.goodput_error > 0:
        goodput += f" ± {row.goodput_error:.3f}"
    return [
        row.program,
        f"{row.wall:.3f}",
        f"{row.user:.3f}",
        f"{row.segments_per_second:,.0f}",
        f"{row.peak_mib:.1f}",
        goodput,
        str(row.seeds),
        *_ratios(row, us),
    ]


def _sender_line(row: Row, sending: Table) -> list[str]:
    ratio = senders.cost_ratio(sending, row.workload.name, row.program)
    return [
        row.program,
        f"{1e9 / row.segments_per_cpu_second:.0f}",
        f"{ratio:.2f} ×" if ratio is not None else "",
        f"{row.segments:,.0f}",
        f"{row.goodput:.3f}",
    ]


def _counted_line(row: counted.Row) -> list[str]:
    whole, loop = row.longer, row.loop
    return [
        row.workload,
        f"{row.seconds[0]:g} to {row.seconds[1]:g}",
        f"{whole.delivered:,.0f}",
        f"{whole.instructions / whole.delivered:,.0f}",
        f"{loop.instructions / loop.delivered:,.0f}",
        f"{whole.misses / whole.delivered:.2f}",
        # Their difference may be a hair below nothing.
        f"{max(0.0, loop.misses / loop.delivered):.2f}",
    ]


def _counted_sender_line(row: counted.Row, rows: list[counted.Row]) -> list[str]:
    ratio = counted.sender_ratio(rows, row.workload, row.sender)
    return [
        row.sender,
        f"{row.longer.sent:,.0f}",
        f"{row.longer.instructions / row.longer.sent:,.0f}",
        f"{row.loop.instructions / row.loop.sent:,.0f}",
        f"{ratio:.2f} ×" if ratio is not None else "",
    ]


def _receiver_line(row: Row, receiving: Table) -> list[str]:
    by_segment = receivers.segment_ratio(receiving, row.workload.name, row.program)
    by_packet = receivers.packet_ratio(receiving, row.workload.name, row.program)
    return [
        row.program,
        f"{row.packets / row.segments - 1:.2f}",
        f"{1e9 / row.segments_per_cpu_second:.0f}",
        f"{by_segment:.2f} ×" if by_segment is not None else "",
        f"{1e9 / row.packets_per_cpu_second:.0f}",
        f"{by_packet:.2f} ×" if by_packet is not None else "",
        f"{row.goodput:.3f}",
    ]


def _ratios(row: Row, us: Row | None) -> list[str]:
    """How many times as many segments we do, per second of wall time and of CPU time."""
    if us is None or row is us:
        return ["", ""]
    return [
        f"{us.segments_per_second / row.segments_per_second:.1f} ×",
        f"{us.segments_per_cpu_second / row.segments_per_cpu_second:.1f} ×",
    ]


def _title(text: str, markdown: bool) -> str:
    return f"**{text}**\n" if markdown else text


def _grid(lines: list[list[str]], markdown: bool, texts: int = 1) -> str:
    """Columns of even width; the first `texts` are flush left, the numbers behind them flush right."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]

    def lay(line: list[str]) -> list[str]:
        return [
            cell.ljust(width) if column < texts else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]

    if not markdown:
        return "\n".join("  ".join(lay(line)).rstrip() for line in lines)
    rule = ["-" * width if column < texts else "-" * (width - 1) + ":" for column, width in enumerate(widths)]
    return "\n".join(f"| {' | '.join(line)} |" for line in [lay(lines[0]), rule, *map(lay, lines[1:])])
