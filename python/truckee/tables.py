"""Tables of results: NumPy and Arrow look at them where they are."""

from __future__ import annotations

import html
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from truckee import _native

if TYPE_CHECKING:
    import numpy.typing as npt

SHOWN = 20
"""So many rows of a table are shown."""


class Table:
    """Named columns of one length.

    `table["t_s"]` is a NumPy array. Of numbers it is a view: nothing is copied, and nobody can write to it; a number that
    is missing is NaN. Text and switches are arrays of their own.

    Anything that speaks Arrow's C interface takes the whole table without a copy: `pyarrow.table(table)`,
    `polars.DataFrame(table)`, `duckdb.from_arrow(pyarrow.table(table))`, `pandas.DataFrame.from_arrow(table)`.
    """

    __slots__ = ("_native",)

    def __init__(self, native: _native.Table) -> None:
        self._native = native

    @property
    def column_names(self) -> list[str]:
        """Names of the columns, in order."""
        return self._native.column_names

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self._native)

    def __iter__(self) -> Iterator[str]:
        return iter(self.column_names)

    def __contains__(self, name: object) -> bool:
        return name in self.column_names

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        column = self._native.column(name)
        if column.is_numeric:
            return np.asarray(column)
        return np.array(column.values(), dtype=object if column.null_count else None)

    def rows(self, limit: int | None = None) -> list[dict[str, Any]]:
        """The rows, or the first `limit` of them, as dictionaries; `None` where nothing is said."""
        columns = {name: self._native.column(name) for name in self.column_names}
        count = len(self) if limit is None else min(limit, len(self))
        return [{name: column.value(row) for name, column in columns.items()} for row in range(count)]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The Arrow PyCapsule interface."""
        return self._native.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """The same for the schema alone."""
        return self._native.__arrow_c_schema__()

    def to_arrow(self) -> Any:
        """A `pyarrow.Table` over the same memory. It needs pyarrow."""
        return import_module("pyarrow").table(self)

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame`. It needs pandas and pyarrow."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """A `polars.DataFrame`. It needs polars."""
        return import_module("polars").DataFrame(self)

    def __repr__(self) -> str:
        return f"<Table of {len(self)} rows: {', '.join(self.column_names)}>"

    def html(self) -> str:
        """Its first rows as HTML."""
        return html_table(self.column_names, self.rows(SHOWN), len(self))

    def _repr_html_(self) -> str:
        return self.html()


def html_table(columns: list[str], rows: list[dict[str, Any]], total: int) -> str:
    """Rows as HTML; below it how many more there are."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(_shown(row[name]))}</td>" for name in columns) + "</tr>" for row in rows
    )
    more = f"<p>{total - len(rows)} rows more</p>" if total > len(rows) else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _shown(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
