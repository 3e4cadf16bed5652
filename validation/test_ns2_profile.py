"""Tests of the check of the profile `ns-2`: its draw, its rule and its bookkeeping. No program is run."""

import dataclasses
import json
import subprocess
import tempfile
import tomllib
import unittest
from pathlib import Path
from unittest import mock

import ns2_draw
import ns2_profile
from ns2_draw import Reason
from ns2_profile import DIFFERS, FAILED, PROFILE, UNDECIDED, WITHIN, Row
from plan import FOLDER, PlanError

CHECK = ns2_draw.load()
SET_UPS = CHECK.set_ups()
# The rule is tested with no reasons but its own.
BARE = dataclasses.replace(CHECK, reasons={})
IDENTITY = (PROFILE, "binary", "script")
MOST = 200


def row(number: int, ours: float = 1.0, verdict: str = WITHIN, profile: str = PROFILE) -> Row:
    """A set-up that came out with the ratio `ours`, where nothing scatters."""
    goodputs = [ours] * 8, [1.0] * 8
    ratio = ns2_profile.judged(BARE, *goodputs, MOST)[1]
    return Row(SET_UPS[number - 1], profile, "binary", "script", *goodputs, verdict, ratio)


class Draw(unittest.TestCase):
    def test_the_set_ups_are_the_same_each_time(self):
        self.assertEqual(ns2_draw.digest(SET_UPS), ns2_draw.digest(ns2_draw.load().set_ups()))
        # Another digest is another claim: no row measured before counts for it.
        self.assertEqual(
            ns2_draw.digest(SET_UPS),
            "7435d2c2c070535b6d966bd334e265f127a4aa2261336fa8d869d23ecfbe59e6",
        )

    def test_every_number_lies_in_its_range(self):
        self.assertEqual([set_up.number for set_up in SET_UPS], list(range(1, 201)))
        self.assertEqual({set_up.sender for set_up in SET_UPS}, set(CHECK.draw["senders"]))
        self.assertEqual({set_up.delayed for set_up in SET_UPS}, {False, True})
        for set_up in SET_UPS:
            with self.subTest(set_up):
                self.assertTrue(1e-5 <= set_up.loss <= 0.1)
                self.assertTrue(0.010 <= set_up.rtt <= 0.6)
                self.assertTrue(1e6 <= set_up.rate <= 10e6)
                product = set_up.rtt * CHECK.packets_per_second(set_up.rate)
                self.assertTrue(set_up.queue == 5 or 0.5 * product - 1 <= set_up.queue <= 2 * product + 1)
                self.assertTrue(60 <= set_up.duration <= 4000)
                self.assertLess(CHECK.packets_per_second(set_up.rate) * min(set_up.duration, 83), 1.01e5)
                self.assertGreater(CHECK.stack["window"], 2 * (product + set_up.queue))

    def test_both_programs_are_told_the_same_path(self):
        set_up = next(s for s in SET_UPS if s.delayed)
        file = tomllib.loads(CHECK.scenario(set_up, PROFILE))
        told = CHECK.workload(set_up, Path("x.toml")).parameters()
        topology, (flow,) = file["topology"], file["flow"]
        self.assertEqual(topology["rate"], f"{told['rate']:.12g}bit/s")
        self.assertEqual(topology["delay"], f"{told['delay']:.12g}s")
        self.assertEqual(topology["queue"]["size"], f"{told['q']}packets")
        self.assertEqual(topology["channel"]["per"], told["loss"])
        self.assertEqual(flow["min_rto"], f"{told['minrto']:.12g}s")
        self.assertEqual(flow["initial_ssthresh"], f"{told['ssthresh']}segments")
        self.assertEqual((flow["mss"], flow["limited_transmit"]), (told["mss"], bool(told["limited"])))

    def test_the_rival_differs_by_one_line(self):
        with_it = CHECK.scenario(SET_UPS[0], PROFILE).splitlines()
        self.assertEqual(with_it, ['profile = "ns-2"', *CHECK.scenario(SET_UPS[0], None).splitlines()])

    def test_seeds_of_ns2_are_no_multiples_of_each_other(self):
        seeds = [ns2_draw.ns2_seed(number) for number in range(1, MOST + 1)]
        self.assertEqual(len(set(seeds)), MOST)
        self.assertTrue(all(0 < seed < 2**31 for seed in seeds))
        self.assertGreater(min(seeds), MOST)

    def test_seeds_are_added_until_there_are_enough(self):
        self.assertEqual(CHECK.sizes(), [8, 12, 18, 27, 41, 62, 93, 140, 200])

    def test_a_reason_names_a_set_up_once_and_says_something(self):
        entry = '[[reason]]\nset_up = {}\nratio = 0.9\nbecause = "{}"\n'
        for reasons, said in (
            (entry.format(201, "x"), "1 to 200"),
            (entry.format(1, " "), "not an empty one"),
            (2 * entry.format(1, "x"), "one reason a set-up"),
            ("[[reason]]\nset_up = 1\n", "TypeError"),
        ):
            with tempfile.TemporaryDirectory() as folder, self.subTest(said):
                path = Path(folder) / "ns2_profile.toml"
                written = (FOLDER / "ns2_profile.toml").read_text().split("[[reason]]")[0].rstrip("# \n")
                path.write_text(f"{written}\n{reasons}")
                with self.assertRaisesRegex(PlanError, said):
                    ns2_draw.load(path)


class Verdicts(unittest.TestCase):
    def word(self, ours: list[float], theirs: list[float], most: int = MOST) -> str:
        return ns2_profile.judged(BARE, ours, theirs, most)[0]

    def test_the_whole_interval_must_lie_within_three_per_cent(self):
        sure = [1.0] * 8
        self.assertEqual(self.word([1.0299] * 8, sure), WITHIN)
        self.assertEqual(self.word([0.9701] * 8, sure), WITHIN)
        self.assertEqual(self.word([1.0301] * 8, sure), DIFFERS)
        self.assertEqual(self.word([0.9699] * 8, sure), DIFFERS)

    def test_what_straddles_the_bound_is_undecided_once_the_seeds_are_used(self):
        wide = [0.9, 1.1] * 4
        self.assertEqual(self.word(wide, wide), "")
        self.assertEqual(self.word(wide, wide, most=8), UNDECIDED)

    def test_the_interval_is_that_of_95_per_cent(self):
        ours = [0.99, 1.01] * 50
        half = ns2_profile.judged(BARE, ours, [1.0] * 100, MOST)[1].half
        # t(0.975; 99) = 1.984, s = 0.01005, n = 100
        self.assertAlmostEqual(half, 1.984 * 0.01005 / 10, places=5)

    def test_190_of_200_pass_and_189_do_not(self):
        for within, passes in ((190, True), (189, False)):
            rows = [row(n) if n <= within else row(n, 1.1, DIFFERS) for n in range(1, 201)]
            self.assertEqual(ns2_profile.passes(BARE, rows), passes)

    def test_only_within_counts_as_agreeing(self):
        for word in (DIFFERS, UNDECIDED, FAILED):
            rows = [row(n) if n <= 189 else row(n, verdict=word) for n in range(1, 201)]
            self.assertFalse(ns2_profile.passes(BARE, rows), word)

    def test_a_quick_run_leaves_undecided_ones_out(self):
        rows = [row(1), row(2, verdict=UNDECIDED)]
        self.assertTrue(ns2_profile.passes(BARE, rows, quick=True))
        self.assertFalse(ns2_profile.passes(BARE, rows))
        self.assertFalse(ns2_profile.passes(BARE, [row(1), row(2, 1.1, DIFFERS)], quick=True))


class Reports(unittest.TestCase):
    def test_a_set_up_that_is_not_within_is_listed_with_its_cause(self):
        known = dataclasses.replace(CHECK, reasons={2: Reason(2, 1.1, "it counts twice"), 3: Reason(3, 1.1, "unknown")})
        rows = [row(1), *(row(n, 1.1, DIFFERS) for n in (2, 3, 4))]
        said = ns2_profile.report(known, rows, PROFILE)
        self.assertIn("cause: it counts twice (measured at 1.1)", said)
        self.assertEqual(said.count("cause unknown"), 2)
        self.assertIn("ratio  1.100 ± 0.000  differs", said)
        self.assertIn("1 within, 3 differs", said)
        self.assertIn("FAILS", said)
        self.assertIn("4 of 200 set-ups were run", said)

    def test_a_reason_that_no_longer_holds_is_named(self):
        known = dataclasses.replace(CHECK, reasons={1: Reason(1, 0.9, "x"), 2: Reason(2, 0.9, "y")})
        said = ns2_profile.report(known, [row(1), row(2, 1.2, DIFFERS)], PROFILE)
        self.assertIn("a reason is given, but they are within: 1", said)
        self.assertIn("measured at 0.9, which it no longer is", said)

    def test_the_rival_is_named_and_has_no_causes(self):
        said = ns2_profile.report(BARE, [row(1, 1.1, DIFFERS, "rfc")], "rfc")
        self.assertIn("profile rfc:", said)
        self.assertNotIn("cause", said)


class Rows(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "rows.json"

    def kept(self, identity: tuple[str, str, str] = IDENTITY, most: int = MOST) -> list[int]:
        return sorted(ns2_profile.kept(BARE, self.file, identity, most))

    def test_finished_rows_are_kept(self):
        self.assertEqual(self.kept(), [])
        rows = [row(2), row(1, 1.1, DIFFERS)]
        ns2_profile.save(self.file, BARE, rows, IDENTITY)
        self.assertEqual(self.kept(), [1, 2])
        again = ns2_profile.kept(BARE, self.file, IDENTITY, MOST)
        self.assertEqual(again, {r.set_up.number: r for r in rows})
        self.assertEqual([path.name for path in self.file.parent.iterdir()], ["rows.json"])

    def test_rows_of_another_binary_profile_or_script_are_not(self):
        ns2_profile.save(self.file, BARE, [row(1)], IDENTITY)
        for at, other in enumerate(("rfc", "a newer build", "another script")):
            identity = (*IDENTITY[:at], other, *IDENTITY[at + 1 :])
            self.assertEqual(self.kept(identity), [])

    def test_rows_of_another_draw_are_not(self):
        moved = dataclasses.replace(row(1), set_up=dataclasses.replace(SET_UPS[0], rtt=0.5))
        ns2_profile.save(self.file, BARE, [moved], IDENTITY)
        self.assertEqual(self.kept(), [])

    def test_rows_that_failed_or_had_too_few_seeds_are_not(self):
        wide = [0.9, 1.1] * 4
        short = dataclasses.replace(row(1), ours=wide, ns2=wide, verdict=UNDECIDED)
        failed = dataclasses.replace(row(2), verdict=FAILED, failed="ended with 1", ratio=None)
        ns2_profile.save(self.file, BARE, [short, failed], IDENTITY)
        self.assertEqual(self.kept(), [])
        self.assertEqual(self.kept(most=8), [1], "as many as are asked for now")

    def test_the_file_says_which_profile_ran(self):
        ns2_profile.save(self.file, BARE, [row(1, profile="rfc")], ("rfc", "binary", "script"))
        written = json.loads(self.file.read_text())
        self.assertEqual((written["profile"], written["rows"][0]["profile"]), ("rfc", "rfc"))


class Main(unittest.TestCase):
    """The whole program, with programs that answer what they are told to."""

    def run_it(self, ours: float, *words: str) -> tuple[int, list[Row]]:
        def goodput(self, program, set_up, seed):
            return ours if program == ns2_profile.OURS else 1.0

        with tempfile.TemporaryDirectory() as folder:
            binary, file = Path(folder) / "truckee", Path(folder) / "rows.json"
            binary.write_text("#!/bin/sh\n")
            command = ["ns2_profile.py", "--truckee", str(binary), "--json", str(file), *words]
            with (
                mock.patch("sys.argv", command),
                mock.patch.object(ns2_profile.Runner, "get_ready"),
                mock.patch.object(ns2_profile.Runner, "_goodput", goodput),
                mock.patch("builtins.print"),
            ):
                return ns2_profile.main(), json.loads(file.read_text())["rows"]

    def test_agreement_is_0_and_disagreement_1(self):
        code, rows = self.run_it(1.02)
        self.assertEqual((code, len(rows)), (0, 200))
        self.assertEqual(self.run_it(1.05)[0], 1)
        self.assertEqual(self.run_it(1.05, "--rival", "rfc", "--set-ups", "3,17")[0], 1)

    def test_it_starts_as_a_program_of_its_own(self):
        said = subprocess.run([FOLDER / "ns2_profile.py", "--help"], capture_output=True, text=True, check=True)
        self.assertIn("--set-ups", said.stdout)

    def test_some_can_be_chosen(self):
        rows = self.run_it(1.0, "--set-ups", "3,17")[1]
        self.assertEqual([entry["set_up"]["number"] for entry in rows], [3, 17])
        self.assertEqual(len(self.run_it(1.0, "--quick")[1]), 10)

    def test_what_is_there_no_set_up_of_is_refused(self):
        for words in (("--set-ups", "0"), ("--set-ups", "201"), ("--set-ups", "x"), ("--rival", "ns-3")):
            with self.assertRaises(SystemExit) as refused, mock.patch("sys.stderr"):
                self.run_it(1.0, *words)
            self.assertEqual(refused.exception.code, 2)

    def test_a_program_that_cannot_be_run_is_2(self):
        with tempfile.TemporaryDirectory() as folder:
            command = ["ns2_profile.py", "--truckee", str(Path(folder) / "nothing")]
            with mock.patch("sys.argv", command), mock.patch("builtins.print"):
                self.assertEqual(ns2_profile.main(), 2)


if __name__ == "__main__":
    unittest.main()
