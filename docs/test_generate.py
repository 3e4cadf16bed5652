"""Tests of the book's generator: python3 -m unittest discover -s docs."""

import json
import re
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import house
from generate import DOCS, ROOT, commands, filled, studies_index, study_page


class Echo:
    """A command that says which line it was given, and how often."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, bool]] = []

    def shell(self, line: str, may_fail: bool = False) -> str:
        self.lines.append((line, may_fail))
        return f"done in {len(self.lines)}.5 ms, {line}"


class Pages(unittest.TestCase):
    def test_a_block_is_split_into_commands_and_what_stands_below(self) -> None:
        body = "$ truckee a \\\n    --b\nold\noutput\n$ cat c\n"
        self.assertEqual(list(commands(body)), [("truckee a \\\n    --b", "old\noutput"), ("cat c", "")])

    def test_output_is_replaced_and_the_rest_of_the_page_stays(self) -> None:
        page = "before\n\n```console\n$ truckee run x\nold\n```\n\nafter `$ truckee`\n"
        expected = "before\n\n```console\n$ truckee run x\ndone in 1.5 ms, truckee run x\n```\n\nafter `$ truckee`\n"
        self.assertEqual(filled(Echo(), page), expected)

    def test_a_page_that_differs_in_timings_only_is_left_alone(self) -> None:
        page = "```console\n$ truckee run x\ndone in 77 s, truckee run x\n```\n"
        self.assertEqual(filled(Echo(), page), page)

    def test_only_our_commands_are_run_and_only_marked_ones_may_fail(self) -> None:
        truckee = Echo()
        page = "```console\n$ git clone y\n```\n\n<!-- fails -->\n```console\n$ truckee runn\n```\n"
        self.assertIn("<!-- fails -->\n```console\n$ truckee runn\n", filled(truckee, page))
        self.assertEqual(truckee.lines, [("truckee runn", True)])

    def test_a_study_without_a_stored_result_keeps_its_line_of_the_index(self) -> None:
        def report(name: str, engine: str, passed: int) -> dict[str, Any]:
            counts = {"pass": passed, "differs": 0, "fail": 0}
            return {
                "id": name,
                "title": "t",
                "source": {"paper": "p", "place": "q"},
                "engines": [engine],
                "counts": counts,
            }

        before = studies_index([report("a", "sim", 1), report("c", "kernel", 2)])
        self.assertIn("| [`c`](c.md) | t | p, q | kernel | 2 | 0 | 0 |", before)
        after = studies_index([report("b", "sim", 4), report("a", "sim", 3)], before)
        self.assertIn("| sim | 3 | 0 | 0 |", after)
        self.assertIn("| kernel | 2 | 0 | 0 |", after)
        older = before.replace(" | 0 | – |", " |")
        self.assertNotEqual(older, before)
        for line in studies_index([report("b", "sim", 4)], older).splitlines()[4:-3]:
            self.assertEqual(line.count("|"), 10, line)
        places = [after.index(f"[`{name}`]") for name in "abc"]
        self.assertEqual(places, sorted(places), "by name")

    def test_a_study_s_page_tells_published_from_reference_and_shows_rival_cause_counts_and_date(self) -> None:
        other = {
            "name": "plain NewReno",
            "cell": "",
            "measured": 1.0,
            "interval": [0.9, 1.1],
            "n": 5,
            "verdict": "fail",
        }
        plain = {"check": "it gains", "cell": "rtt=1", "published": 2.0, "measured": 2.5, "interval": [2.5, 2.5]}
        row = {**plain, "unit": "s", "demand": "± 5 %", "rival": other, "verdict": "pass", "note": ""}
        rows = [
            {**row, "reference": {"value": 3.0, "source": "ns-2"}},
            {**row, "verdict": "differs", "note": "less", "cause": {**other, "name": "a clock", "verdict": "pass"}},
            {**row, "verdict": "differs", "note": "more", "cause": "unknown", "rival": None},
        ]
        report: dict[str, Any] = {
            "id": "x",
            "title": "t",
            "source": {"paper": "p", "place": "q"},
            "engines": ["sim"],
            "setup": "s",
        }
        report |= {
            "figures": [],
            "rows": rows,
            "calibrated": "the rate.",
            "counts": {"pass": 1, "differs": 2, "fail": 0},
        }
        found = {"command": "truckee study run x", "date": "2026-11-23T15:00:01Z", "commit": "c", "build": "b"}
        page = study_page({**found, "report": report})
        self.assertIn(
            "| it gains | pass | rtt=1 | 2 | 3 | 2.5 s | ± 5 % | plain NewReno: 1 (0.9 … 1.1) s, fails |", page
        )
        self.assertIn("| differs | rtt=1 | 2 | – | 2.5 s | ± 5 % | no rival named |", page)
        self.assertIn("**1 pass, 2 differ, 0 undecided, 0 fail**", page)
        self.assertIn("**Calibrated on what it is held against**: the rate.", page)
        self.assertIn("- **it gains**: reference: ns-2\n", page)
        self.assertIn("- **it gains** (differs): less; cause: a clock: 1 (0.9 … 1.1) s, passes\n", page)
        self.assertIn("- **it gains** (differs): more; cause unknown\n", page)
        self.assertIn("Run on 2026-11-23, of commit c", page)
        line = studies_index([{**report, "date": "2026-11-23"}])
        self.assertIn("| sim | 1, calibrated | 2 | 0 | 0 | 2026-11-23 |", line)

    def test_every_study_has_its_page_and_its_place_in_the_index(self) -> None:
        index = (DOCS / "studies" / "index.md").read_text()
        for study in sorted((ROOT / "studies").glob("*/*.toml")):
            with self.subTest(study.stem):
                self.assertTrue((DOCS / "studies" / f"{study.stem}.md").exists(), "run: make studies")
                self.assertIn(f"({study.stem}.md)", index)


def metadata(imports: dict[str, list[str]], **kinds: list[tuple[str, str]]) -> dict[str, Any]:
    """As `cargo metadata` says it of a workspace, in this order; of each kind: (who, whom)."""

    def package(name: str) -> dict[str, Any]:
        plain = [{"name": other, "kind": None, "optional": False} for other in [*imports[name], "serde"]]
        special = [
            {"name": b, "kind": None if kind == "optional" else kind, "optional": kind == "optional"}
            for kind, pairs in kinds.items()
            for a, b in pairs
            if a == name
        ]
        manifest = f"/w/{name}/Cargo.toml"
        return {
            "name": name,
            "description": f"is {name}",
            "manifest_path": manifest,
            "dependencies": plain + special,
        }

    return {"packages": [package(name) for name in imports]}


def made(imports: dict[str, list[str]], **kinds: list[tuple[str, str]]) -> dict[str, house.Crate]:
    """The crates of such a workspace, of 1234 lines each."""
    return house.crates(metadata(imports, **kinds), lambda _: 1234)


DIAMOND = {"top": ["left", "right", "leaf"], "left": ["leaf"], "right": ["leaf"], "leaf": []}


class House(unittest.TestCase):
    def test_a_crate_stands_above_all_that_it_imports_by_the_longest_way(self) -> None:
        self.assertEqual(
            house.layers(made({"a": ["b", "c"], "b": ["c"], "c": [], "d": []})), {"a": 2, "b": 1, "c": 0, "d": 0}
        )

    def test_an_arrow_that_others_imply_is_left_out(self) -> None:
        ways = [("left", "leaf"), ("right", "leaf"), ("top", "left"), ("top", "right")]
        self.assertEqual(house.arrows(made(DIAMOND)), ways)

    def test_what_tests_and_builds_import_and_what_is_not_ours_is_no_arrow(self) -> None:
        self.assertEqual(house.arrows(made({"a": [], "b": []}, dev=[("a", "b")], build=[("b", "a")])), [])
        self.assertEqual(house.arrows(made({"a": [], house.FOR_TESTS: []}, optional=[("a", house.FOR_TESTS)])), [])

    def test_what_a_feature_brings_is_imported(self) -> None:
        self.assertEqual(house.arrows(made({"a": [], "b": []}, optional=[("a", "b")])), [("a", "b")])

    def test_a_layer_of_many_stands_in_rows(self) -> None:
        crates = made({"top": list("abcdef"), **{name: [] for name in "abcdef"}})
        rows = house.arranged(crates)
        boxes = [{place for place in row if isinstance(place, str)} for row in rows]
        self.assertEqual(boxes, [set("abcd"), set("ef"), {"top"}])
        self.assertLess(house.width(rows), 5 * house.BOX)

    def test_neighbours_stand_so_that_arrows_do_not_cross(self) -> None:
        rows = house.arranged(made({"x": ["b"], "y": ["a"], "a": [], "b": []}))
        self.assertEqual([rows[0].index("b"), rows[0].index("a")], [rows[1].index("x"), rows[1].index("y")])

    def test_the_picture_does_not_depend_on_the_order_of_the_metadata(self) -> None:
        turned = dict(reversed([(name, others[::-1]) for name, others in DIAMOND.items()]))
        self.assertEqual(house.picture(made(DIAMOND)), house.picture(made(turned)))

    def test_an_arrow_over_a_layer_passes_beside_its_boxes(self) -> None:
        crates = made({"a": ["b", "d"], "b": ["c"], "c": [], "d": []})
        rows = house.arranged(crates)
        self.assertEqual(sorted(map(str, rows[1])), ["('a', 'd')", "b"])
        middles = house.middles(rows)
        self.assertGreater(abs(middles[1, "b"] - middles[1, ("a", "d")]), house.BOX / 2)

    def test_the_picture_is_sound_whatever_names_and_descriptions_hold(self) -> None:
        crate = house.Crate("a<b>", 'for & against "both"', 1, frozenset())
        drawn = ElementTree.fromstring(house.picture({"a<b>": crate}))
        texts = [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
        self.assertEqual(texts, ["a<b>", "under 1000 lines", 'for & against "both"'])

    def test_lines_are_told_by_one_figure(self) -> None:
        told = ["under 1000 lines", "about 1000 lines", "about 6000 lines", "about 10000 lines", "about 20000 lines"]
        self.assertEqual([house.about(n) for n in (999, 1499, 5500, 9600, 19_362)], told)

    def test_tests_are_no_source(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "src" / "a").mkdir(parents=True)
            (root / "bpf").mkdir()
            (root / "src" / "lib.rs").write_text("mod a;\n#[cfg(test)]\nmod b;\n")
            (root / "src" / "a.rs").write_text(
                '#[cfg(test)]\n#[path = "c.rs"]\nmod c;\n#[cfg(test)]\nmod d;\nfn f() {}\n'
                "#[cfg(test)]\nmod tests {\n}\n"
            )
            for test in ("b.rs", "c.rs", "a/d.rs"):
                (root / "src" / test).write_text("fn test() {}\n")
            (root / "bpf" / "x.bpf.c").write_text("int x;\n")
            self.assertEqual(house.lines_of_source(root), 3 + 6 + 1)

    def test_a_page_that_names_what_is_not_there_is_found_out(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "a.rs").write_text("fn here() {}\nlet gone = 1;\n")
            (root / "s").mkdir()
            (root / "s" / "b.c").write_text("int BPF_PROG(here)\n")
            page = "`s/b.c`: `here()`, `gone()`\n\n`here()`\n- `./a.rs`: `T::here()`\n- `./a.rs`: `gone()`, `s/c`\n"
            wrong = [
                "gone(): not in s/b.c",
                "here(): no path before it says where",
                "gone(): not in a.rs",
                "s/c: no such file",
            ]
            self.assertEqual(house.missing(page, root), wrong)

    def test_the_page_names_nothing_that_is_not_there(self) -> None:
        self.assertEqual(house.missing((DOCS / "architecture.md").read_text(), ROOT), [])

    def test_the_page_tells_the_arrows_that_are_there(self) -> None:
        command = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
        crates = house.crates(json.loads(done.stdout), lambda _: 0)
        drawn = set(house.arrows(crates))
        implied = {(name, other) for name, crate in crates.items() for other in crate.imports} - drawn
        page = (DOCS / "architecture.md").read_text().replace("`", "")
        picture = re.search(r"!\[([^\]]*)\]\(figures/architecture.svg\)\n\n([^\n]*)", page)
        assert picture is not None
        self.assertEqual((told(picture[1], "imports?"), told(picture[2], "also imports?")), (drawn, implied))


def told(text: str, verb: str) -> set[tuple[str, str]]:
    """Who imports whom by the words of a text."""
    names = r"\w+(?:(?:, | and )\w+)*"
    found = [[re.split(", | and ", part) for part in pair] for pair in re.findall(rf"({names}) {verb} ({names})", text)]
    return {(f"truckee-{a}", f"truckee-{b}") for who, whom in found for a in who for b in whom}


if __name__ == "__main__":
    unittest.main()
