"""Tests of the harness: python3 -m unittest discover -s validation. What the programs answer is not tested here."""

import dataclasses
import math
import tempfile
import unittest
from pathlib import Path

import plan
import theory
import verdicts
from plan import PlanError, Reason
from programs import NS2, NS3, OURS, Programs
from rows import judged
from table import table

REASON = Reason("short", "sack", NS3, ratio=1.2, absolute=0.05, because="theirs is slower")


class Plans(unittest.TestCase):
    def setUp(self):
        self.known = plan.load()

    def refusal(self, reasons: str) -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "reasons.toml"
            path.write_text(reasons)
            with self.assertRaises(PlanError) as refused:
                plan.load(reasons=path)
        return str(refused.exception)

    def test_every_variant_is_held_against_someone_somewhere(self):
        self.assertEqual({variant for _, variant in self.known.rows}, set(self.known.variants))
        for variant in self.known.variants.values():
            self.assertTrue(variant.peers, variant.name)

    def test_all_programs_are_told_the_same_path_and_their_own_variant(self):
        programs = Programs(Path("/truckee"), limit=1.0)
        newreno = self.known.variants["newreno"]
        workload = newreno.on(self.known.scenarios["noise-1e-3"])
        ours = programs.command(OURS, workload, newreno.ours, seed=7)
        self.assertIn("flow.sender=newreno", ours)
        self.assertIn("flow.limited_transmit=false", ours)
        self.assertEqual((workload.parameters()["limited"], workload.parameters()["loss"]), (0, 1e-3))

    def test_a_reason_names_a_row_once_and_says_something(self):
        entry = (
            '[[reason]]\nscenario = "{}"\nvariant = "sack"\npeer = "ns3"\nratio = 1.2\nabsolute = 0.1\nbecause = "{}"\n'
        )
        self.assertIn("no row", self.refusal(entry.format("nowhere", "x")))
        self.assertIn("not an empty one", self.refusal(entry.format("short", " ")))
        self.assertIn("one reason a row", self.refusal(2 * entry.format("short", "x")))
        self.assertIn("reasons.toml", self.refusal('[[reason]]\nscenario = "short"\n'))


class Verdicts(unittest.TestCase):
    def word(self, ours, theirs, reason=None):
        return verdicts.judge(verdicts.ratio(ours, theirs), reason).word

    def test_the_whole_interval_must_lie_within_five_per_cent(self):
        self.assertEqual(self.word([10.0, 10.0], [10.4, 10.4]), verdicts.AGREES)
        self.assertEqual(self.word([10.0, 10.0], [10.6, 10.6]), verdicts.FAILS)
        self.assertEqual(self.word([10.0, 10.0], [9.0, 11.0]), verdicts.FAILS, "undecided")

    def test_a_single_run_decides_nothing(self):
        self.assertEqual(self.word([10.0], [10.0, 10.0]), verdicts.FAILS)

    def test_a_known_difference_must_be_there_and_as_it_was(self):
        self.assertEqual(self.word([12.0, 12.0], [10.0, 10.0], REASON), verdicts.DIFFERS)
        self.assertEqual(self.word([13.0, 13.0], [10.0, 10.0], REASON), verdicts.FAILS, "has moved")
        self.assertEqual(self.word([10.0, 10.0], [10.0, 10.0], REASON), verdicts.FAILS, "is gone")

    def test_a_reason_of_another_row_excuses_nothing(self):
        known = dataclasses.replace(plan.load(), reasons={("short", "sack", NS3): REASON})
        goodputs = {OURS: [12.0, 12.0], NS2: [10.0, 10.0], NS3: [10.0, 10.0]}
        row = judged(known, "short", "sack", goodputs, {})
        self.assertEqual((row.verdicts[NS2].word, row.verdicts[NS3].word), (verdicts.FAILS, verdicts.DIFFERS))
        self.assertIn("theirs is slower", table([row], [NS2, NS3], markdown=False))

    def test_a_program_that_could_not_be_run_fails_its_row(self):
        row = judged(plan.load(), "short", "sack", {OURS: [1.0, 1.0]}, {NS2: "ended with 2"})
        self.assertEqual(row.verdicts[NS2].word, verdicts.FAILS)
        self.assertIn("ended with 2", row.verdicts[NS2].why)

    def test_quantiles_are_those_of_the_tables(self):
        for level, freedom, value in ((0.975, 1e9, 2.2414), (0.95, 10, 2.2281), (0.975, 7, 2.8412), (0.99, 5, 4.0321)):
            self.assertAlmostEqual(verdicts.student(level, freedom), value, delta=0.01 * value)

    def test_the_interval_of_a_ratio_adds_the_relative_errors(self):
        noisy, sure = [9.0, 11.0] * 50, [5.0] * 100
        ratio = verdicts.ratio(noisy, sure)
        self.assertAlmostEqual(ratio.mean, 2.0)
        self.assertAlmostEqual(ratio.half / ratio.mean, verdicts.estimate(noisy).half / 10.0, places=6)


class Theory(unittest.TestCase):
    def test_evenly_spaced_losses_give_the_closed_forms(self):
        for rule, closed in ((theory.standard, math.sqrt(1.5 / 1e-3)), (theory.highspeed, 0.12 / 1e-4**0.835)):
            p = 1e-3 if rule is theory.standard else 1e-4
            mean = theory.mean_window(rule, p, losses=200, independent=False)
            self.assertAlmostEqual(mean, closed, delta=0.01 * closed)

    def test_independent_losses_move_the_standard_window_to_1_31(self):
        mean = theory.mean_window(theory.standard, 1e-3, losses=20_000)
        self.assertAlmostEqual(mean * math.sqrt(1e-3), 1.31, delta=0.02)

    def test_cubic_follows_reno_where_losses_are_many(self):
        mean = theory.mean_window(theory.cubic(0.1), 1e-2, losses=200, independent=False)
        self.assertAlmostEqual(mean, math.sqrt(1.5 / 1e-2), delta=0.05 * mean)


if __name__ == "__main__":
    unittest.main()
