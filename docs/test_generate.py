"""Tests of the book's generator: python3 -m unittest discover -s docs."""

import unittest
from typing import Any

from generate import DOCS, ROOT, commands, filled, studies_index


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

    def test_a_study_that_cannot_run_here_keeps_its_line_of_the_index(self) -> None:
        def report(name: str, engine: str, passed: int, skipped: str | None = None) -> dict[str, Any]:
            counts = {"pass": passed, "differs": 0, "fail": 0}
            source = {"paper": "p", "place": "q"}
            return {
                "id": name,
                "title": "t",
                "source": source,
                "engines": [engine],
                "counts": counts,
                "skipped": skipped,
            }

        before = studies_index([report("a", "sim", 1), report("b", "kernel", 2)])
        self.assertIn("| [`b`](b.md) | t | p, q | kernel | 2 | 0 | 0 |", before)
        after = studies_index(
            [report("a", "sim", 3), report("b", "kernel", 0, "no BPF"), report("c", "kernel", 0, "no")], before
        )
        self.assertIn("| sim | 3 | 0 | 0 |", after)
        self.assertIn("| kernel | 2 | 0 | 0 |", after)
        self.assertNotIn("[`c`]", after)

    def test_every_study_has_its_page_and_its_place_in_the_index(self) -> None:
        index = (DOCS / "studies" / "index.md").read_text()
        for study in sorted((ROOT / "studies").glob("*/*.toml")):
            with self.subTest(study.stem):
                self.assertTrue((DOCS / "studies" / f"{study.stem}.md").exists(), "run: make studies")
                self.assertIn(f"({study.stem}.md)", index)


if __name__ == "__main__":
    unittest.main()
