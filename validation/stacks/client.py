"""A TCP client made by hand: it asks for a file, keeps quiet for a round, acknowledges as told, and sees what comes.

It shares nothing with `truckee probe`: no kernel TCP, no BPF, no emulator. What it sees of a stack is the second opinion
that the probe's verdict is held against. IPv4 only, one connection at a time, no timestamps, no SACK.
"""

import itertools
import os
import select
import socket
import struct
import time
from dataclasses import dataclass

import linux

ADDRESS = "198.51.100.2"  # TEST-NET-2 (RFC 5737)
DEVICE = "client0"
MSS = 1460
WINDOW, SCALE = 65_535, 4
# For what a server does before it has an answer, which says nothing of its windows, s.
PATIENCE_S = 5.0
FIN, SYN, RST, PSH, ACK = 0x01, 0x02, 0x04, 0x08, 0x10


class Silent(Exception):
    """The stack has sent nothing where it could have, or has ended the connection: where."""


@dataclass(frozen=True)
class Segment:
    """What came: flags, the number relative to the first byte of data, payload bytes."""

    flags: int
    number: int
    size: int


@dataclass(frozen=True)
class Rounds:
    """Two rounds of one connection: payload sizes of new segments before any ACK, the numbers acknowledged, sizes after."""

    first: list[int]
    acks: list[int]
    second: list[int]


class Client:
    """A connection through a TUN device of the namespace that this process is in."""

    def __init__(self, device: linux.Device, port: int, rtt_s: float) -> None:
        self._fd = device.fd
        self._port = port
        self._rtt_s = rtt_s
        self._sent = 0x1000
        # The numbers of what the other end has sent: the first byte's, and how many have come.
        self._base = 0

    def rounds(self, division: int, acknowledged: int, together: bool = False) -> Rounds:
        """Asks, and acknowledges the first segments: each in so many parts, or all of them together by one number."""
        try:
            self._open()
            self._send(PSH | ACK, 0, f"GET /file HTTP/1.1\r\nHost: {linux.STACK}\r\nConnection: close\r\n\r\n".encode())
            # A round trip after the data the ACKs go: long before any timer of the stack.
            first = self._collect(0, self._rtt_s, PATIENCE_S)
            if not first:
                raise Silent(f"the request was not answered within {PATIENCE_S:g} s")
            numbers = acks(first[:acknowledged], division, together)
            for ack in numbers:
                self._send(ACK, ack)
            # Before the stack probes for a lost tail, which it does after two round trips.
            return Rounds(first, numbers, self._collect(sum(first), self._rtt_s, 1.0))
        finally:
            self._send(RST | ACK, 0)

    def _open(self) -> None:
        self._send(SYN, 0)
        for segment in self._segments(PATIENCE_S):
            if segment.flags & (SYN | ACK) == SYN | ACK:
                self._sent += 1
                time.sleep(self._rtt_s)
                self._send(ACK, 0)
                return
        raise Silent(f"no SYN, ACK within {PATIENCE_S:g} s")

    def _collect(self, known: int, quiet_s: float, patience_s: float) -> list[int]:
        """The sizes of the new segments from that number on, until none has come for so long (the first: for the patience)."""
        sizes: list[int] = []
        for segment in self._segments(patience_s, quiet_s):
            if segment.flags & RST:
                raise Silent(f"reset after {known} bytes")
            if segment.size and segment.number == known:
                sizes.append(segment.size)
                known += segment.size
        return sizes

    def _segments(self, patience_s: float, quiet_s: float | None = None) -> "list[Segment]":
        """What comes: the first within the patience, the others (where quiet_s is given) without so long a pause."""
        came = []
        wait_s = patience_s
        while select.select([self._fd], [], [], wait_s)[0]:
            segment = self._read(os.read(self._fd, 65_536))
            if segment is None:
                continue
            came.append(segment)
            if quiet_s is None:
                break
            if segment.size:
                wait_s = quiet_s
        return came

    def _read(self, packet: bytes) -> Segment | None:
        """What is of this connection, or nothing."""
        if packet[0] >> 4 != 4 or packet[9] != socket.IPPROTO_TCP:
            return None
        tcp = packet[(packet[0] & 15) * 4 : struct.unpack("!H", packet[2:4])[0]]
        source, port, number, _, offset, flags = struct.unpack("!HHIIBB", tcp[:14])
        if (source, port) != (80, self._port):
            return None
        if flags & SYN:
            self._base = number + 1
        return Segment(flags, (number - self._base) % 2**32, len(tcp) - (offset >> 4) * 4)

    def _send(self, flags: int, acknowledged: int, payload: bytes = b"") -> None:
        # MSS, no operation, window scale.
        options = struct.pack("!BBHBBBB", 2, 4, MSS, 1, 3, 3, SCALE) if flags & SYN else b""
        number = (self._base + acknowledged) % 2**32 if flags & ACK else 0
        offset = (20 + len(options)) << 2

        tcp = (
            struct.pack("!HHIIBBHHH", self._port, 80, self._sent, number, offset, flags, WINDOW, 0, 0)
            + options
            + payload
        )
        ends = socket.inet_aton(ADDRESS) + socket.inet_aton(linux.STACK)
        check = checksum(ends + struct.pack("!BBH", 0, socket.IPPROTO_TCP, len(tcp)) + tcp)
        tcp = tcp[:16] + struct.pack("!H", check) + tcp[18:]
        ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0x4000, 64, socket.IPPROTO_TCP, 0) + ends
        os.write(self._fd, ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:] + tcp)
        self._sent += len(payload)


def acks(sizes: list[int], division: int, together: bool) -> list[int]:
    """The numbers that acknowledge segments of these sizes: each in so many parts, or all of them at once."""
    ends = list(itertools.accumulate(sizes))
    if together:
        return ends[-1:]
    parts = range(1, division + 1)
    return [end - size + size * part // division for end, size in zip(ends, sizes, strict=True) for part in parts]


def checksum(data: bytes) -> int:
    """RFC 1071."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
