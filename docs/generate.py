#!/usr/bin/env python3
"""Fills the book with what Truckee itself says, so that no page can rot.

- In every page, what stands below `$ truckee …` in a console block is replaced by what the command prints now.
- The list of names and the list of metrics are written whole.
- The studies' pages are drawn from the results that are stored beside them (results.py runs them), and numbers in
  sentences are put in from stored results, too: see `sentences.py`.
- The list of rules that scripts hold stacks to is written from the scripts (drilled.py).
- The picture of the house is drawn from `cargo metadata` (house.py).
- With `--check` nothing is written: a page that is not what the command says is a failure.

Runs in a folder of its own that holds the examples, as a reader's would. A command that fails ends it, unless the block
follows `<!-- fails -->`. Not for: the figures of algorithms, which figures.py draws.
"""

import argparse
import difflib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import drilled
import house
import peers
import results
from sentences import Held

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
BLOCK = re.compile(r"(?P<fails><!-- fails -->\n)?```console\n(?P<body>.*?)```\n", re.DOTALL)
TIMING = re.compile(r"\b(in|wall_s\":) [\d.]+( s| ms| µs)?(?=[,\s;])")


class Shell(Protocol):
    """What runs the lines of a page."""

    def shell(self, line: str, may_fail: bool = False) -> str:
        """What is printed for this line."""


class Truckee:
    """The command, in a folder with the examples."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self._folder = folder
        commands = folder / "bin"
        commands.mkdir()
        (commands / "truckee").symlink_to(binary)
        for shared in ("examples", "docs", "bench"):
            (folder / shared).symlink_to(ROOT / shared)
        self._environment = os.environ | {"PATH": f"{commands}:{os.environ['PATH']}", "COLUMNS": "100", "NO_COLOR": "1"}

    def shell(self, line: str, may_fail: bool = False) -> str:
        """What a shell prints for this line."""
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", line],
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode != 0 and not may_fail:
            raise SystemExit(f"$ {line}\n{done.stdout}ended with status {done.returncode}")
        return "\n".join(text.rstrip() for text in done.stdout.splitlines())

    def json(self, line: str) -> Any:
        """The command's JSON. A study whose check fails is a result too."""
        done = subprocess.run(
            ["bash", "-c", f"truckee {line} --format json"],
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            check=False,
        )
        return json.loads(done.stdout)


def filled(truckee: Shell, page: str) -> str:
    """The page with the output of its commands."""

    def block(match: re.Match[str]) -> str:
        lines: list[str] = []
        for command, old in commands(match["body"]):
            lines.append(f"$ {command}")
            if command.split()[0] in ("truckee", "cat", "printf"):
                new = truckee.shell(command, may_fail=match["fails"] is not None)
                old = old if TIMING.sub("", old) == TIMING.sub("", new) else new
            lines += [old] if old else []
        return f"{match['fails'] or ''}```console\n" + "\n".join(lines) + "\n```\n"

    return BLOCK.sub(block, page)


def commands(body: str) -> Iterator[tuple[str, str]]:
    """The commands of a block, each with what stands below it. A line that ends with a backslash goes on."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        match = re.match(r"((?:[^\n]*\\\n)*[^\n]*)\n?(.*)", part, re.DOTALL)
        if match:
            yield match[1], match[2].rstrip("\n")


def variants_page(truckee: Truckee) -> str:
    """Everything that has a name, by sort."""
    lines = [
        "# Everything that has a name",
        "",
        (
            "What a scenario can name, as `truckee variants` lists it; `truckee variants NAME` shows one with its parameters"
            " and their defaults. [Metrics](metrics.md) have a page of their own."
        ),
    ]
    group = ""
    for entry in truckee.json("variants"):
        if entry["group"] == "metrics":
            continue
        if entry["group"] != group:
            group = entry["group"]
            lines += [
                "",
                f"## {group[0].upper()}{group[1:]}",
                "",
                "| name | what it does | rule | source |",
                "|---|---|---|---|",
            ]
        cells = [entry[key].replace("|", "\\|") for key in ("summary", "formula", "source")]
        lines.append(f"| `{entry['name']}` | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def metrics_table(truckee: Truckee) -> str:
    """The metrics, by what they belong to."""
    lines: list[str] = []
    of = ""
    for entry in truckee.json("variants"):
        if entry["group"] != "metrics":
            continue
        if entry["parameters"]["of"] != of:
            of = entry["parameters"]["of"]
            lines += ["", f"## Of a {of}", "", "| metric | unit | what it says |", "|---|---|---|"]
        lines.append(f"| `{entry['name']}` | {entry['parameters']['unit'] or '–'} | {entry['summary']} |")
    return "\n".join(lines[1:]) + "\n"


def study_page(found: dict[str, Any]) -> str:
    """A study, from its stored result: claim, set-up, verdicts, figures."""
    report = found["report"]
    lines = [f"# {report['title']}", "", f"Published: {report['source']['paper']}, {report['source']['place']}."]
    if report["engines"] not in ([], ["sim"]):
        lines += ["", f"Runs on: {', '.join(f'`{engine}`' for engine in report['engines'])}."]
    lines += ["", report["setup"].strip(), ""]
    for name in report["figures"]:
        lines += [f"![{report['title']}](../figures/studies/{name})", ""]
    if live := report.get("live"):
        late = f"{live['runs']} live runs, {live['invalid']} of them invalid; {live['replaced']} invalid ones were replaced."
        lines += [late, ""]
    if why := report.get("not_judged"):
        lines += [f"**Not judged**: {why}.", ""]
    lines += [f"**{counted(report)}**", ""]
    if what := report.get("calibrated"):
        lines += [f"**Calibrated on what it is held against**: {what.strip()}", ""]
    lines += ["| check | verdict | at | published | reference | measured | demand | rival, which must fail |"]
    lines += ["|---|---|---|--:|--:|--:|---|---|"]
    for row in report["rows"]:
        cells = [
            row["check"],
            verdict(row["verdict"]),  # where it is seen without scrolling
            row["cell"],
            number(row["published"]),
            number((row.get("reference") or {}).get("value")),
            measured(row, row["unit"]),
            row["demand"],
            rival(row),
        ]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    notes = {f"- {note}": None for row in report["rows"] for note in remarks(row)}
    lines += ["", *notes]
    lines += ["", f"Run on {found['date'][:10]}, of commit {found['commit']} ({found['build']}). Run it yourself:", ""]
    lines += ["```", found["command"], "```", ""]
    return "\n".join(lines)


def counted(report: dict[str, Any]) -> str:
    """How many of its rows came out how."""
    counts = {"undecided": 0, **report["counts"]}
    words = {"pass": "pass", "differs": "differ", "undecided": "undecided", "fail": "fail"}
    return ", ".join(f"{counts[key]} {word}" for key, word in words.items())


def measured(what: dict[str, Any], unit: str) -> str:
    """Mean and interval of a row, or of the same under other circumstances, in the row's unit."""
    if what["measured"] is None:
        return "–"
    text = number(what["measured"])
    if what["interval"] and what["interval"][0] != what["interval"][1]:
        text += f" ({number(what['interval'][0])} … {number(what['interval'][1])})"
    return f"{text} {unit}".strip()


def varied(what: dict[str, Any], unit: str) -> str:
    """The same check under other circumstances: what is different, what is measured, how it comes out."""
    word = {"pass": "passes", "fail": "fails", "undecided": "undecided", "skipped": "not run"}[what["verdict"]]
    return f"{what['name']}: {measured(what, unit)}, {word}"


def rival(row: dict[str, Any]) -> str:
    """What the simplest wrong thing gets here."""
    return varied(row["rival"], row["unit"]) if row.get("rival") else "no rival named"


def remarks(row: dict[str, Any]) -> Iterator[str]:
    """Where its reference is from; what is seen where it differs, and why; what else there is to say."""
    if reference := row.get("reference"):
        yield f"**{row['check']}**: reference: {reference['source']}"
    said = [row["note"]] if row["note"] else []
    if cause := row.get("cause"):
        said.append("cause unknown" if cause == "unknown" else f"cause: {varied(cause, row['unit'])}")
    if said:
        yield f"**{row['check']}** ({row['verdict']}): {'; '.join(said)}"


def number(x: float | None) -> str:
    """Four significant figures."""
    return "–" if x is None else f"{x:.4g}"


def verdict(word: str) -> str:
    """What is no verdict must not be overlooked, nor a failure."""
    return {"fail": "**fails**", "undecided": "**undecided**"}.get(word, word)


def index_line(report: dict[str, Any]) -> str:
    """A study's line of the index."""
    counts, source = report["counts"], report["source"]
    calibrated = ", calibrated" if report.get("calibrated") else ""
    return (
        f"| [`{report['id']}`]({report['id']}.md) | {report['title']} | {source['paper']}, {source['place']} "
        f"| {', '.join(report['engines']) or '–'} | {counts['pass']}{calibrated} | {counts['differs']} | {counts['fail']} "
        f"| {counts.get('undecided', 0)} | {report.get('date') or '–'} |"
    )


def studies_index(reports: list[dict[str, Any]], before: str = "") -> str:
    """All studies in one table. Of a study that has no stored result the line of the index `before` stays."""
    lines = [
        "# Studies",
        "",
        (
            "A study is a claim from the literature, run again: the scenario, the published values, what must hold, and a"
            " figure with both. `differs` means that the paper's value cannot be reached; the page has the variation that removes"
            " the difference, or says that the cause is unknown, and the value measured in its place is held to. It never counts as a"
            " pass. `undecided` is what holds both agreement and disagreement within its interval. Where a study is"
            " calibrated on what it is held against, its page says in what, and what then passes is a fit and no prediction. Each check has a rival beside it, the simplest thing that is wrong, which must fail"
            " it. Those on `kernel` run on a real TCP stack, those on `probe` probe one."
        ),
        "",
        "| study | what it is about | published in | runs on | pass | differ | fail | undecided | run on |",
        "|---|---|---|---|--:|--:|--:|--:|---|",
    ]

    def whole(line: str) -> str:
        """With a cell in every column: what an older form of the index did not have is not known."""
        cells = line.strip().strip("|").split(" | ")
        return "| " + " | ".join([*(cell.strip() for cell in cells), *["–"] * (9 - len(cells))]) + " |"

    found = re.finditer(r"^\| \[`([^`]+)`\].*$", before, re.MULTILINE)
    known = {match[1]: whole(match[0]) for match in found}
    lines += [line for _, line in sorted({**known, **{report["id"]: index_line(report) for report in reports}}.items())]
    lines += ["", "All of them: `truckee study run --all`. A new one: [Write a study](../howto/study.md).", ""]
    return "\n".join(lines)


class Pages:
    """Where pages go. With `check` none is written, only told apart."""

    def __init__(self, check: bool) -> None:
        self._check = check
        self.changed: list[str] = []

    def write(self, path: Path, text: str, source: str = "the command") -> None:
        """Writes a page that has changed, and says so; `source`: who says what it should be."""
        old = path.read_text() if path.exists() else ""
        if old == text:
            return
        name = str(path.relative_to(ROOT))
        self.changed.append(f"{name} is not what {source} says")
        if self._check:
            sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), text.splitlines(True), name, source))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            print(f"changed: {name}")


def write_studies(pages: Pages) -> None:
    """Draws the page of every study that has a stored result, and the index. Others stay as they are."""
    found = results.stored(results.STUDIES)
    for name, result in found.items():
        source = f"docs/studies/results/{name}.json"
        pages.write(DOCS / "studies" / f"{name}.md", study_page(result), source)
    index = DOCS / "studies" / "index.md"
    reports = [{**result["report"], "date": result["date"][:10]} for result in found.values()]
    pages.write(index, studies_index(reports, index.read_text() if index.exists() else ""), "the stored results")


def main() -> int:
    """Exit code: 0 all pages are as the command says, 1 one was not with `--check`, or the command is missing or failed."""
    parser = argparse.ArgumentParser(description="Writes what the command says into the book's pages.")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail where a page is not what it should be"
    )
    parser.add_argument("--pages", action="store_true", help="only what is drawn from stored results; runs nothing")
    arguments = parser.parse_args()
    pages = Pages(arguments.check)
    write_studies(pages)
    pages.write(DOCS / "reference" / "drill.md", drilled.page(), "tests/drill")
    held, numbers = Held.here(), results.stored(results.NUMBERS)
    for page in written():
        text = peers.drawn(page.read_text(), numbers)
        pages.write(page, held.filled(str(page.relative_to(ROOT)), text), "the stored results")
    if arguments.pages:
        return verdict_on(pages, arguments.check)
    binary = (ROOT / os.environ.get("TRUCKEE", "target/release/truckee")).resolve()
    if not binary.exists():
        print(f"{binary} is missing: make release", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        truckee = Truckee(binary, Path(folder))
        pages.write(DOCS / "reference" / "variants.md", variants_page(truckee))
        pages.write(DOCS / "reference" / "metrics-table.md", metrics_table(truckee))
        source = "the workspace (cargo metadata), for the picture in docs/architecture.md,"
        pages.write(DOCS / "figures" / "architecture.svg", house.drawn(ROOT), source)
        for page in written():
            pages.write(page, filled(truckee, page.read_text()))
    return verdict_on(pages, arguments.check)


def written() -> list[Path]:
    """The pages that people write."""
    return [ROOT / "README.md", *sorted(page for page in DOCS.rglob("*.md") if page.parent.name != "studies")]


def verdict_on(pages: Pages, check: bool) -> int:
    """1 where a page had to be told apart, and what mends it."""
    if check and pages.changed:
        print("\n".join([*pages.changed, "make book mends that"]), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
