"""The picture of the rooms and the arrows between them: what docs/architecture.md shows, made from `cargo metadata`.

A box is a crate of the workspace, with its description and about how many lines of source it has; an arrow leads from a
crate to one that it imports. What an arrow implies, as the way over another crate does, is left out, and what only tests
import. The same metadata give the same picture, byte for byte.

Also here: what the page names, a path or a function, and the tree does not have. Not for: writing the picture, which
docs/generate.py does.
"""

import json
import re
import subprocess
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

# All in px of a picture that is 800 wide, as a page shows it, or as wide as its widest row, and then shown smaller.
WIDTH, MARGIN = 800, 8
BOX, HEIGHT, GAP, FALL = 248, 92, 16, 52
# Where an arrow passes a layer.
PASS = 20
# Between the ends of two arrows at one box.
APART = 30
# Boxes in a row: where a layer has more, the others stand above them.
MOST = 4
# What only tests import, with a feature or without.
FOR_TESTS = "truckee-testing"
# Characters of a description's line, at 12 px of whatever font without serifs there is.
LINE = 34

HEAD = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">
<title>The crates of Truckee, and which imports which</title>
<style>
text {{ font: 12px sans-serif; fill: #1c2328; }}
.name {{ font: bold 14px monospace; }}
.lines {{ font-size: 11px; fill: #55636b; text-anchor: end; }}
rect {{ fill: #f3f6f8; stroke: #607d8b; }}
path {{ fill: none; stroke: #78909c; stroke-width: 1.5; }}
#tip path {{ fill: #78909c; stroke: none; }}
@media (prefers-color-scheme: dark) {{
text {{ fill: #e8edf0; }}
.lines {{ fill: #aab8bf; }}
rect {{ fill: #2b3338; stroke: #90a4ae; }}
}}
</style>
<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto"><path d="M0,0 L8,4 L0,8 z"/></marker>
"""


@dataclass(frozen=True)
class Crate:
    """A room: its name, what it is for, how large it is, and whom it imports."""

    name: str
    purpose: str
    lines: int
    imports: frozenset[str]


def crates(metadata: Mapping[str, Any], size: Callable[[Path], int]) -> dict[str, Crate]:
    """The workspace by names, as `cargo metadata --no-deps` has it; `size`: the lines of source in a crate's folder."""
    packages = sorted(metadata["packages"], key=lambda package: str(package["name"]))
    names = {package["name"] for package in packages}

    def crate(package: Mapping[str, Any]) -> Crate:
        # Without a kind it is an import; the other kinds are for tests and for building.
        plain = {one["name"] for one in package["dependencies"] if one["kind"] is None}
        imports = plain & names - {FOR_TESTS}
        folder = Path(package["manifest_path"]).parent
        return Crate(package["name"], package["description"] or "", size(folder), frozenset(imports))

    return {package["name"]: crate(package) for package in packages}


def lines_of_source(folder: Path) -> int:
    """Lines of a crate's source, Rust and what the kernel runs, without its tests."""
    texts = {path: path.read_text() for path in sorted(folder.rglob("*.rs")) if path.is_relative_to(folder / "src")}
    tests: set[Path] = set()
    for path, text in texts.items():
        inside = path.parent if path.name in ("lib.rs", "main.rs", "mod.rs") else path.with_suffix("")
        for name in re.findall(
            r"#\[cfg\((?:test|any\(test, [^\n]*\))\)\]\n(?:#\[[^\n]*\n)*\s*(?:pub\S* )?mod (\w+);", text
        ):
            named = re.search(rf'#\[path = "([^"]+)"\]\n\s*(?:pub\S* )?mod {name};', text)
            tests.add(path.parent / named[1] if named else inside / f"{name}.rs")
    # Tests come last in a file.
    kept = (text.partition("#[cfg(test)]\nmod tests {")[0] for path, text in texts.items() if path not in tests)
    bpf = (path.read_text() for path in sorted(folder.glob("bpf/*.[ch]")))
    return sum(text.count("\n") for text in (*kept, *bpf))


def about(lines: int) -> str:
    """One figure of it: it shows how large a crate is, and few changes of a crate change it."""
    if lines < 1000:
        return "under 1000 lines"
    unit = 10 ** (len(str(lines)) - 1)
    return f"about {(lines + unit // 2) // unit * unit} lines"


def arrows(house: Mapping[str, Crate]) -> list[tuple[str, str]]:
    """Who imports whom, without what follows from the rest."""
    reached: dict[str, set[str]] = {}
    for name in TopologicalSorter({name: sorted(crate.imports) for name, crate in house.items()}).static_order():
        reached[name] = set(house[name].imports).union(*(reached[other] for other in house[name].imports))
    return [
        (name, other)
        for name, crate in sorted(house.items())
        for other in sorted(crate.imports)
        if not any(other in reached[between] for between in crate.imports)
    ]


def layers(house: Mapping[str, Crate]) -> dict[str, int]:
    """How far each crate is from those that import nothing, by the longest way, in rows that are not too long."""
    layer: dict[str, int] = {}
    for name in TopologicalSorter({name: sorted(crate.imports) for name, crate in house.items()}).static_order():
        layer[name] = max((layer[other] + 1 for other in house[name].imports), default=0)
    rows = [sorted(name for name in layer if layer[name] == k) for k in range(max(layer.values(), default=-1) + 1)]
    short = [row[k : k + MOST] for row in rows for k in range(0, len(row), MOST)]
    return {name: k for k, row in enumerate(short) for name in row}


# What stands in a layer: a crate, or an arrow that passes.
Place = str | tuple[str, str]
Rows = list[list[Place]]


def stations(arrow: tuple[str, str], layer: Mapping[str, int]) -> list[tuple[int, Place]]:
    """An arrow's way down, layer by layer."""
    importer, imported = arrow
    between: list[tuple[int, Place]] = [(k, arrow) for k in range(layer[importer] - 1, layer[imported], -1)]
    return [(layer[importer], importer), *between, (layer[imported], imported)]


def middles(rows: Rows) -> dict[tuple[int, Place], float]:
    """Where each place of each layer has its middle."""
    found: dict[tuple[int, Place], float] = {}
    for k, row in enumerate(rows):
        left = (width(rows) - extent(row)) / 2
        for place in row:
            found[k, place] = left + room(place) / 2
            left += room(place) + GAP
    return found


def room(place: Place) -> int:
    """How wide a place is."""
    return BOX if isinstance(place, str) else PASS


def extent(row: list[Place]) -> int:
    """How wide a row is."""
    return sum(room(place) for place in row) + GAP * (len(row) - 1)


def width(rows: Rows) -> int:
    """How wide the picture is."""
    return max([WIDTH, *(extent(row) + 2 * MARGIN for row in rows)])


def arranged(house: Mapping[str, Crate]) -> Rows:
    """Every layer from left to right: neighbours change places as long as that takes crossings or length away."""
    layer, ways = layers(house), arrows(house)
    rows: Rows = [[] for _ in range(max(layer.values(), default=-1) + 1)]
    for name in sorted(house):
        rows[layer[name]].append(name)
    for arrow in ways:
        for k, place in stations(arrow, layer)[1:-1]:
            rows[k].append(place)
    hops = [hop for arrow in ways for hop in pairwise(stations(arrow, layer))]

    def cost() -> tuple[int, float]:
        x = middles(rows)
        spans = [(a[0], x[a], x[b]) for a, b in hops]
        crossings = sum(k == m and (a - c) * (b - d) < 0 for n, (k, a, b) in enumerate(spans) for m, c, d in spans[:n])
        return crossings, sum((a - b) ** 2 for _, a, b in spans)

    least = cost()
    better = True
    while better:
        better = False
        for row in rows:
            for k in range(len(row) - 1):
                row[k], row[k + 1] = row[k + 1], row[k]
                if (now := cost()) < least:
                    least, better = now, True
                else:
                    row[k], row[k + 1] = row[k + 1], row[k]
    return rows


def picture(house: Mapping[str, Crate]) -> str:
    """The picture as SVG, readable on white and on black."""
    layer, rows = layers(house), arranged(house)
    x = middles(rows)
    top = [MARGIN + (len(rows) - 1 - k) * (HEIGHT + FALL) for k in range(len(rows))]
    parts = [HEAD.format(width=width(rows), height=2 * MARGIN + len(rows) * (HEIGHT + FALL) - FALL)]
    ways = [stations(arrow, layer) for arrow in arrows(house)]
    for way in ways:
        points = [(x[at], top[at[0]]) for at in way]
        leaves, comes = points[0][0], points[-1][0]
        # Arrows at one box stand side by side, in the order of where they lead.
        leaves += APART * beside(x[way[1]], [x[other[1]] for other in ways if other[0] == way[0]])
        comes += APART * beside(x[way[-2]], [x[other[-2]] for other in ways if other[-1] == way[-1]])
        line = f"M{leaves:g},{points[0][1] + HEIGHT}"
        before = (leaves, points[0][1] + HEIGHT)
        for at, y in [*points[1:-1], (comes, points[-1][1])]:
            bend = y - FALL / 2
            line += f" C{before[0]:g},{bend:g} {at:g},{bend:g} {at:g},{y}"
            before = (at, y + HEIGHT)
            if y != points[-1][1]:
                line += f" V{before[1]}"
        parts.append(f'<path d="{line}" marker-end="url(#tip)"/>\n')
    for name, crate in sorted(house.items()):
        parts += box(crate, x[layer[name], name] - BOX / 2, top[layer[name]])
    return "".join(parts) + "</svg>\n"


def beside(one: float, all_of_them: list[float]) -> float:
    """How far to the right of the middle `one` stands among all of them, in steps."""
    return sorted(all_of_them).index(one) - (len(all_of_them) - 1) / 2


def box(crate: Crate, left: float, top: float) -> Iterator[str]:
    """A crate's box with what is written in it."""
    yield f'<rect x="{left:g}" y="{top:g}" width="{BOX}" height="{HEIGHT}" rx="5"/>\n'
    yield f'<text class="name" x="{left + 12:g}" y="{top + 22:g}">{escape(crate.name.removeprefix("truckee-"))}</text>\n'
    yield f'<text class="lines" x="{left + BOX - 10:g}" y="{top + 22:g}">{about(crate.lines)}</text>\n'
    for k, line in enumerate(textwrap.wrap(crate.purpose, LINE, max_lines=3, placeholder=" …")):
        yield f'<text x="{left + 12:g}" y="{top + 44 + 17 * k:g}">{escape(line)}</text>\n'


def drawn(root: Path) -> str:
    """The picture of the workspace in this folder."""
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
    done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, text=True, check=True)
    return picture(crates(json.loads(done.stdout), lines_of_source))


def missing(page: str, root: Path) -> list[str]:
    """What a page names and the tree does not have.

    Between backticks, what has a slash is a path in the tree, and `name()` a function of the path named last before it in
    the same paragraph or point of a list.
    """
    wrong = []
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", re.sub(r"```.*?```", "", page, flags=re.DOTALL)):
        path: Path | None = None
        for name in re.findall(r"`([^`]+)`", paragraph):
            if "/" in name:
                path = root / name
                if not path.exists():
                    wrong.append(f"{name}: no such file")
            elif call := re.fullmatch(r"(?:\w+::)?(\w+)\(\)", name):
                if path is None:
                    wrong.append(f"{name}: no path before it says where")
                elif path.is_file() and not defines(path, call[1]):
                    wrong.append(f"{name}: not in {path.relative_to(root)}")
    return wrong


def defines(path: Path, function: str) -> bool:
    """Whether a file has this function; of C, whether it has the name, which macros may define."""
    before = r"\bfn " if path.suffix == ".rs" else r"\b"
    return re.search(rf"{before}{function}\b", path.read_text()) is not None
