"""Tests of the driver of live measurements: python3 -m unittest discover -s validation. Nothing live is run here."""

import json
import tempfile
import unittest
from pathlib import Path
from typing import Any

import live
import live_page
from live import Kept, Truckee, Unusable
from live_page import Facts, Live, Results

FACTS = Facts("2026-11-22", "abc", "Linux 6.18", 2, quick=True, seeds=(4, 8), jobs=2)


def comparison(verdict: str, invalid: int = 0) -> dict[str, Any]:
    against = {"ratio": 0.98, "difference": -1.0, "interval": [0.95, 1.01]}
    share = {"ratio": None, "difference": 0.001, "interval": [-0.001, 0.003]}
    return {
        "seeds": [1, 2, 3, 4],
        "verdict": verdict,
        "live": {"runs": 4, "invalid": invalid, "replaced": 1, "unknown": 0},
        "flows": [
            {
                "metrics": [
                    {"metric": "goodput_bps", "share": False, "against": [against]},
                    {"metric": "retransmitted_share", "share": True, "against": [share]},
                ]
            }
        ],
        "tolerances": [
            {
                "tolerance": "goodput=1%",
                "subject": "download",
                "verdict": verdict,
                "interval": [-0.05, 0.01],
                "note": "",
            }
        ],
    }


def study(**counts: int) -> dict[str, Any]:
    row = {"check": "c", "cell": "a=1", "measured": 2.0, "interval": [1.0, 3.0], "demand": "> 2", "note": ""}
    return {
        "skipped": None,
        "complete": True,
        "counts": {"pass": 1, "differs": 0, "undecided": 0, "fail": 0} | counts,
        "rows": [row | {"verdict": "undecided"}] if counts.get("undecided") else [],
        "live": {"runs": 10, "invalid": 0, "replaced": 0, "unknown": 0},
    }


class Verdicts(unittest.TestCase):
    def test_what_is_broken_or_not_judged_fails_and_what_is_undecided_does_not(self) -> None:
        fine = Results({"a": comparison("holds"), "b": comparison("undecided")}, {"c": study(undecided=1)})
        self.assertEqual(fine.broken(), [])
        late = study() | {"not_judged": "the machine was too late"}
        broken = Results(
            {"a": comparison("broken"), "b": comparison("not-judged"), "c": None},
            {"d": study(fail=1), "e": late, "f": study() | {"skipped": "no BPF", "complete": False}, "g": None},
        )
        self.assertEqual(
            broken.broken(),
            [
                "a: broken",
                "b: not judged",
                "c: no answer",
                "d: fail",
                "e: not judged",
                "f: skipped: no BPF",
                "g: no answer",
            ],
        )

    def test_a_study_is_as_its_worst_check(self) -> None:
        self.assertEqual(live_page.study_verdict(study()), "pass")
        self.assertEqual(live_page.study_verdict(study(differs=1)), "differs")
        self.assertEqual(live_page.study_verdict(study(differs=1, undecided=1)), "undecided")
        simulated = study()
        del simulated["live"]
        self.assertEqual(live_page.study_verdict(simulated), "simulated only")


class Pages(unittest.TestCase):
    def test_the_page_has_verdicts_intervals_and_the_share_of_invalid_runs(self) -> None:
        page = live_page.page(Results({"newreno": comparison("undecided", 1)}, {"lp": study(undecided=1)}), FACTS)
        self.assertIn(
            "| `newreno` | 4 | 0.980 (0.950 … 1.010) | +0.10 (−0.10 … +0.30) | – | undecided | 2 of 5 (40.0 %) |", page
        )
        self.assertIn("| invalid of all that were made | 2 of 15 (13.3 %) |", page)
        self.assertIn("- `newreno`, download, `goodput=1%`: undecided: (−0.05 … 0.01)", page)
        self.assertIn("| [`lp`](studies/lp.md) | 1 | 0 | 1 | 0 | undecided | 0 of 10 (0.0 %) |", page)
        self.assertIn("- `lp`, c at a=1: undecided: 2 (1 … 3), demanded > 2", page)

    def test_what_is_broken_is_not_overlooked(self) -> None:
        page = live_page.page(Results({"a": comparison("broken"), "b": None}), FACTS)
        self.assertIn("| **broken** |", page)
        self.assertIn("| **no answer** |", page)
        self.assertNotIn("## Studies", page)

    def test_nothing_made_has_no_share(self) -> None:
        self.assertEqual(Live.of([None]).share(), "–")


class Runs(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.program = self.folder / "truckee"
        self.write_program(json.dumps(comparison("broken")), 1)

    def write_program(self, answer: str, status: int) -> None:
        """A program that notes each call, answers so and ends with this status."""
        calls = self.folder / "calls"
        self.program.write_text(f"#!/bin/sh\necho \"$*\" >> {calls}\ncat <<'E'\n{answer}\nE\nexit {status}\n")
        self.program.chmod(0o755)

    def calls(self) -> list[str]:
        return (self.folder / "calls").read_text().splitlines()

    def test_what_is_finished_is_not_made_again_whatever_came_of_it(self) -> None:
        kept, how = Kept.of(self.folder, self.program, quick=True), live.form(quick=True, jobs=2)
        for _ in range(2):
            results = live.run(Truckee(self.program), kept, (["newreno"], []), how)
            self.assertEqual(results.broken(), ["newreno: broken"])
        self.assertEqual(len(self.calls()), 1)
        self.assertIn("--runs 4 --at-most 8 --jobs 2 --tolerance goodput=", self.calls()[0])
        self.assertTrue(self.calls()[0].endswith("--format json"))

    def test_another_program_s_results_are_not_taken_for_this_one_s(self) -> None:
        before = Kept.of(self.folder, self.program, quick=False)
        self.write_program("{}", 0)
        after = Kept.of(self.folder, self.program, quick=False)
        self.assertNotEqual(before, after)
        self.assertNotEqual(after, Kept.of(self.folder, self.program, quick=True))

    def test_a_study_that_was_stopped_is_gone_on_with(self) -> None:
        kept, how = Kept.of(self.folder, self.program, quick=True), live.form(quick=True, jobs=2)
        self.write_program(json.dumps([study() | {"complete": False}]), 1)
        for _ in range(2):
            results = live.run(Truckee(self.program), kept, ([], ["lp-web"]), how)
        self.assertEqual((results.broken(), len(self.calls())), (["lp-web: not complete"], 2))
        self.assertIn("study run lp-web --quick --jobs 2 --out", self.calls()[0])

    def test_a_program_without_an_answer_is_named(self) -> None:
        for answer, status in [("", 0), ("{}", 2)]:
            self.write_program(answer, status)
            with self.assertRaises(Unusable):
                Truckee(self.program).ask("compare")


class Files(unittest.TestCase):
    def test_every_scenario_states_its_tolerances(self) -> None:
        self.assertEqual(len(live.scenarios()), 14)
        for name in live.scenarios():
            text = (live.SCENARIOS / f"{name}.toml").read_text()
            self.assertIn("goodput=", live.tolerances(text), name)
        self.assertEqual(live.tolerances("# a\n# tolerance: b=1%, c=2\n# tolerance: d=3\nx = 1\n"), "b=1%,c=2,d=3")

    def test_live_studies_are_found_by_their_engines(self) -> None:
        self.assertTrue(live.is_live('engine = "probe"'))
        self.assertTrue(live.is_live('[[sweep]]\nengines = ["sim", "kernel"]'))
        self.assertFalse(live.is_live('[[sweep]]\nname = "main"'))
        self.assertIn("lp-testbed", live.live_studies())
        self.assertNotIn("lp-rtt", live.live_studies())


if __name__ == "__main__":
    unittest.main()
