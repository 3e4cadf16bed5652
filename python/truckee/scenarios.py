"""The question: a scenario, from a file, a text or a mapping."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, Union

from truckee._native import Document
from truckee.errors import QuestionError

Value: TypeAlias = Any
"""What a key may be given: text, a number, a switch, a sequence or a mapping of these. Text is read as the command's `--set`
reads it: a quantity with its unit, a name, or TOML."""


class Scenario:
    """A scenario: what network, which flows, for how long. It never changes; `replace` makes another one.

    >>> two_hops = Scenario.load("examples/wireless.toml")
    >>> sack = two_hops.replace({"flow.sender": "sack", "seed": 7})

    The keys are those of the scenario file (docs/reference/scenario.md). What is wrong is told when the scenario is used,
    or by `check`, all at once.
    """

    __slots__ = ("document",)

    def __init__(self, keys: Mapping[str, Value], *, name: str = "scenario.toml") -> None:
        """Of a mapping as a scenario file has it; `name` stands for it in messages and results."""
        self.document = Document(name, Document.written(_json(keys)))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Scenario:
        """Of a file. Files that it names are relative to its folder."""
        return cls.of(Document.read(os.fspath(path)))

    @classmethod
    def parse(cls, text: str, *, name: str = "scenario.toml") -> Scenario:
        """Of a text, which is TOML."""
        return cls.of(Document(name, text))

    @classmethod
    def of(cls, document: Document) -> Scenario:
        """Of a document of the extension module."""
        made = cls.__new__(cls)
        made.document = document
        return made

    @property
    def name(self) -> str:
        """What it is called: the file's path as it was given."""
        return self.document.name

    @property
    def text(self) -> str:
        """Its text, without what was replaced."""
        return self.document.text

    @property
    def overrides(self) -> list[tuple[str, str]]:
        """What was replaced, in order: paths and values."""
        return self.document.overrides

    def replace(self, changes: Mapping[str, Value]) -> Scenario:
        """Another scenario with these values, as `--set` has them: `{"flow.sender": "sack", "link.0.rate": "2Mbit/s"}`."""
        return self.of(self.document.with_set([(path, written(value)) for path, value in changes.items()]))

    def check(self) -> None:
        """Raises `ScenarioError` if anything is wrong with it."""
        self.document.check()

    def explain(self) -> str:
        """All of it with every default filled in, as TOML."""
        return self.document.explain()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scenario):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[str, str, tuple[tuple[str, str], ...]]:
        return self.name, self.text, tuple(self.overrides)

    def __reduce__(self) -> tuple[object, ...]:
        return _again, self._key()

    def __repr__(self) -> str:
        changed = "".join(f", {path}={value}" for path, value in self.overrides)
        return f"<Scenario {self.name}{changed}>"

    def _repr_html_(self) -> str:
        changed = "".join(f"<li><code>{html.escape(f'{path} = {value}')}</code></li>" for path, value in self.overrides)
        replaced = f"<p>with</p><ul>{changed}</ul>" if changed else ""
        return f"<p><b>{html.escape(self.name)}</b></p><pre>{html.escape(self.text)}</pre>{replaced}"


Source: TypeAlias = Union[Scenario, str, "os.PathLike[str]", Mapping[str, Value]]
"""What a scenario is taken from: one, a file's path, or a mapping."""


def scenario(source: Source, changes: Mapping[str, Value] | None = None, seed: int | None = None) -> Scenario:
    """The scenario of `source`, with these changes."""
    if isinstance(source, Scenario):
        made = source
    elif isinstance(source, (str, os.PathLike)):
        made = Scenario.load(source)
    else:
        made = Scenario(source)
    every = dict(changes or {})
    if seed is not None:
        every["seed"] = seed
    return made.replace(every) if every else made


def _again(name: str, text: str, overrides: Sequence[tuple[str, str]]) -> Scenario:
    return Scenario.of(Document(name, text).with_set(list(overrides)))


def written(value: Value) -> str:
    """A value as the command's `--set` has it."""
    return value if isinstance(value, str) else Document.written_value(_json(value))


def _json(value: object) -> str:
    try:
        return json.dumps(value, allow_nan=False, default=_plain)
    except (TypeError, ValueError) as wrong:
        raise QuestionError(f"{value!r} cannot be written into a scenario: {wrong}") from None


def _plain(value: Any) -> Any:
    """Mappings and sequences that are none of Python's own, and numbers of NumPy."""
    if isinstance(value, (Mapping, Sequence)):
        kind: Any = dict if isinstance(value, Mapping) else list
        return kind(value)
    if callable(item := getattr(value, "item", None)):
        return item()
    raise TypeError(f"a {type(value).__name__} is no text, number, switch, sequence or mapping")
