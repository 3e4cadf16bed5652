"""What a capture file says of the TCP connections in it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, Literal

from truckee import _native
from truckee.tables import html_table

CONNECTIONS = 1000
"""So many connections are told one by one unless told otherwise."""


class Capture:
    """A capture that has been read."""

    def __init__(self, path: str, result: dict[str, Any], limit: int) -> None:
        self._path = path
        self._limit = limit
        self.result = result
        """As `truckee read --format json` has it (docs/reference/capture.md)."""

    @property
    def connections(self) -> list[dict[str, Any]]:
        """The connections, in order of their first packets."""
        every: list[dict[str, Any]] = self.result["connections"]
        return every

    def replay(
        self,
        names: Sequence[str],
        *,
        connection: int | None = None,
        way: Literal["to-server", "to-client"] | None = None,
    ) -> dict[str, Any]:
        """What these estimators, predictors and detectors would have said over a connection, by its number, or over the
        largest; the way that more of its data goes, unless `way` says which. As `truckee read --replay --format json`."""
        to_server = None if way is None else way == "to-server"
        told: dict[str, Any] = json.loads(_native.replay(self._path, list(names), self._limit, connection, to_server))
        return told

    def __repr__(self) -> str:
        return f"<Capture {self._path} of {len(self.connections)} connections>"

    def _repr_html_(self) -> str:
        columns = ["number", "client", "server", "lasted_s"]
        return html_table(columns, self.connections[:20], len(self.connections))


def read(path: str | os.PathLike[str], *, connections: int = CONNECTIONS) -> Capture:
    """Reads a capture: pcap or pcapng, plain or packed with gzip or zstd. Of more connections than `connections` the
    smallest are summed up."""
    name = os.fspath(path)
    return Capture(name, json.loads(_native.read(name, connections)), connections)
