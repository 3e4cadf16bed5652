"""Tests of outcomes.py: .venv/bin/pytest tools."""

import json
import tempfile
import unittest
from pathlib import Path
from typing import Any

import outcomes


def run(network: int, member: str, digest: str = "d0", **outcome: Any) -> dict[str, Any]:
    return {"digest": digest, "member": member, "network": network, "outcome": outcome}


class Outcomes(unittest.TestCase):
    def compare(self, before: list[dict[str, Any]], after: list[dict[str, Any]], *ignored: str) -> outcomes.Comparison:
        with tempfile.TemporaryDirectory() as folder:
            one, other = Path(folder) / "before", Path(folder) / "after"
            for path, runs in ((one, before), (other, after)):
                path.write_text("".join(json.dumps(run) + "\n" for run in runs))
            return outcomes.compare(one, other, set(ignored))

    def test_the_same_in_another_order_is_equal(self) -> None:
        one, other = run(0, "sender tahoe", events=3), run(1, "sender tahoe", events=4)
        result = self.compare([one, other], [other, one])
        self.assertTrue(result.alike)
        self.assertEqual(list(outcomes.report(result, 10)), ["2 runs equal, 0 differ"])

    def test_nothing_compared_is_not_equal(self) -> None:
        self.assertFalse(self.compare([], []).alike)

    def test_the_largest_relative_difference_comes_first(self) -> None:
        before = [
            run(0, "a", flows=[{"sent": 100, "goodput": 1e6}]),
            run(1, "a", flows=[{"sent": 100, "goodput": 1e6}]),
        ]
        after = [
            run(0, "a", flows=[{"sent": 101, "goodput": 1e6}]),
            run(1, "a", flows=[{"sent": 99, "goodput": 8e5}]),
        ]
        result = self.compare(before, after)
        self.assertEqual([one.key for one in result.differing], [(1, "a"), (0, "a")])
        first = result.differing[0]
        self.assertEqual([one.field for one in first.differences], ["flows[0].goodput", "flows[0].sent"])
        self.assertAlmostEqual(first.size, 0.2)
        lines = list(outcomes.report(result, 1))
        self.assertIn("... and 1 runs more", lines)
        self.assertIn("     2 runs differ in flows.sent, by up to 1 %", lines)

    def test_what_was_none_or_is_new_counts_as_infinite(self) -> None:
        result = self.compare([run(0, "a", end=None, sent=1)], [run(0, "a", end=1.5, sent=1, more={})])
        self.assertEqual([one.field for one in result.differing[0].differences], ["end", "more"])
        self.assertEqual(result.differing[0].size, float("inf"))

    def test_digests_and_fields_can_be_left_out(self) -> None:
        before, after = [run(0, "a", "d0", events=3, links=[1])], [run(0, "a", "d1", events=2, links=[2])]
        self.assertEqual(len(self.compare(before, after).differing[0].differences), 3)
        self.assertEqual(len(self.compare(before, after, "digest").differing[0].differences), 2)
        self.assertTrue(self.compare(before, after, "digest", "events", "links").alike)

    def test_a_run_in_one_file_only_is_named(self) -> None:
        result = self.compare([run(0, "a"), run(0, "b")], [run(0, "a"), run(0, "c")])
        self.assertEqual((result.equal, result.only_before, result.only_after), (1, [(0, "b")], [(0, "c")]))
        self.assertFalse(result.alike)
        self.assertIn("1 runs are in the file before only: b", list(outcomes.report(result, 10)))


if __name__ == "__main__":
    unittest.main()
