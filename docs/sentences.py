"""Numbers in sentences, held by stored results.

A number that was measured is written between marks, which no reader sees:

    it keeps <!--= mean('noise', 'goodput_bps', '0.3', 'bbr') / 1e6 :.2f -->8.48<!--/--> Mbit/s

Between `=` and `:` stands an expression (Jinja's), behind `:` a format (Python's). What it may name:

- `mean(RESULT, METRIC, VALUE…)`: the mean in a stored sweep (docs/results/RESULT.json) at the point whose values begin with
  these.
- `row(STUDY, CHECK, CELL)`: a row of a study's stored result, as the JSON has it; `CELL`, a part of the cell's name, may be
  left out where the check has one row.
- `against(RESULT, METRIC)`: the second engine of a stored comparison (`truckee compare`) against the first, of its first flow:
  `ratio`, or the difference of a share in percentage points, with the ends of its interval where a format is all that is asked;
  `first` and `second`, the engines' means.
- `counts(STUDY)`, `studies`: how many rows came out how; how many studies there are in this tree.
- `found(RESULT)`: what a stored result says, as it stands: `found('bench').rows[0].segments`.

What a command printed whole (`text` in results.toml) stands between marks on lines of their own:

    <!-- printed: validation -->
    <!-- printed: end -->

and in a block of code where the mark says `<!-- printed: NAME as text -->`.

docs/generate.py puts in what the expression or the command says; with --check, a page that says anything else is a failure.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import results
from jinja2 import TemplateError
from jinja2.sandbox import SandboxedEnvironment

MARK = re.compile(r"<!--= (?P<expression>[^\n]+?) :(?P<format>[^\s:]*) -->(?P<text>[^\n]*?)<!--/-->")
PRINTED = re.compile(
    r"(?<=^<!-- printed: )(?P<name>(?!end)\S+)(?P<code> as text)? -->\n.*?(?=^<!-- printed: end -->)",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Against:
    """One engine against another."""

    ratio: float | None
    low: float | None
    high: float | None
    first: float | None
    second: float | None

    def __format__(self, form: str) -> str:
        if self.ratio is None or self.low is None or self.high is None:
            raise ValueError("nothing that can be compared: one has no interval")
        return f"{self.ratio:{form}} ({self.low:{form}} … {self.high:{form}})"


class Held:
    """The stored results, as what expressions may name."""

    def __init__(self, studies: dict[str, Any], numbers: dict[str, Any], count: int) -> None:
        self._studies, self._numbers = studies, numbers
        environment = SandboxedEnvironment()
        environment.globals.clear()
        self._compile: Callable[[str], Callable[..., Any]] = environment.compile_expression
        self._names = {
            "mean": lambda *point: self._cell(*point)["mean"],
            "row": self._row,
            "against": self._against,
            "counts": lambda study: self._study(study)["counts"],
            "found": self._found,
            "studies": count,
        }

    @classmethod
    def here(cls) -> "Held":
        """Those of this tree."""
        return cls(results.stored(results.STUDIES), results.stored(results.NUMBERS), len(results.study_files()))

    def _found(self, name: str) -> Any:
        if name not in self._numbers:
            raise LookupError(f'no stored result "{name}": docs/results.py numbers {name}')
        return self._numbers[name]["report"]

    def _study(self, name: str) -> Any:
        if name not in self._studies:
            raise LookupError(f'no stored result of the study "{name}": docs/results.py studies {name}')
        return self._studies[name]["report"]

    def _cell(self, name: str, metric: str, *values: str) -> Any:
        rows = self._found(name)["rows"]
        hit = [r for r in rows if r["metric"] == metric and r["point"][: len(values)] == list(values)]
        return _only(hit, f'{metric} at {", ".join(values)} in "{name}"')

    def _against(self, name: str, metric: str) -> Against:
        rows = [row for row in self._found(name)["flows"][0]["metrics"] if row["metric"] == metric]
        row = _only(rows, f'{metric} in "{name}"')
        size, middle = (100, "difference") if row["share"] else (1, "ratio")
        against, means = row["against"][0], [value["mean"] for value in row["values"][:2]]

        def scaled(x: float | None) -> float | None:
            return None if x is None else size * x

        low, high = against["interval"] or (None, None)
        return Against(scaled(against[middle]), scaled(low), scaled(high), *map(scaled, means))

    def _row(self, study: str, check: str, cell: str = "") -> Any:
        rows = [r for r in self._study(study)["rows"] if r["check"] == check and cell in r["cell"]]
        return _only(rows, f'"{check}" at "{cell}" in {study}')

    def says(self, expression: str, form: str) -> str:
        """The number in words; raises LookupError, TypeError or ValueError that names what is missing."""
        try:
            value = self._compile(expression)(**self._names)
        except TemplateError as error:
            raise ValueError(f"{expression}: {error}") from error
        if not isinstance(value, (int, float, Against)):
            raise TypeError(f"{expression}: a number was expected, not {value!r}")
        return format(value, form).replace("-", "−")

    def filled(self, name: str, page: str) -> str:
        """A page with the numbers that the results have; `name` is the page's, for messages."""

        def put(match: re.Match[str]) -> str:
            line = page.count("\n", 0, match.start()) + 1
            try:
                text = self.says(match["expression"], match["format"])
            except (LookupError, ValueError, ArithmeticError, TypeError) as error:
                raise SystemExit(f"{name}:{line}: {error}") from error
            return f"<!--= {match['expression']} :{match['format']} -->{text}<!--/-->"

        def told(match: re.Match[str]) -> str:
            line = page.count("\n", 0, match.start()) + 1
            try:
                text = self._found(match["name"])
            except LookupError as error:
                raise SystemExit(f"{name}:{line}: {error}") from error
            if not isinstance(text, str):
                raise SystemExit(f'{name}:{line}: "{match["name"]}" is not what a command printed')
            shown = f"```text\n{text}\n```" if match["code"] else text
            return f"{match['name']}{match['code'] or ''} -->\n\n{shown}\n\n"

        ended = {match.start() for match in PRINTED.finditer(page)}
        for mark in re.finditer(r"(?<=^<!-- printed: )(?!end\b)", page, re.MULTILINE):
            if mark.start() not in ended:
                line = page.count("\n", 0, mark.start()) + 1
                raise SystemExit(f"{name}:{line}: what is printed here has no end: <!-- printed: end --> is missing")
        whole = PRINTED.sub(told, MARK.sub(put, page))
        for at in re.finditer(r"<!--=", page):
            if not MARK.match(page, at.start()):
                line = page.count("\n", 0, at.start()) + 1
                raise SystemExit(f"{name}:{line}: a mark is <!--= EXPRESSION :FORMAT -->number<!--/-->, on one line")
        return whole


def _only(rows: list[Any], what: str) -> Any:
    if len(rows) != 1:
        raise LookupError(f"{what}: {len(rows)} rows, where one was expected")
    return rows[0]
