"""Tests of stored results and of the numbers that sentences take from them."""

import json
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any

import peers
import results
from sentences import Held

ROW = {"check": "it gains", "cell": "rtt=20ms", "measured": 1.25}
STUDY = {"report": {"rows": [ROW, {**ROW, "cell": "rtt=90ms"}], "counts": {"pass": 2}}}
SWEEP = {"report": {"rows": [{"metric": "goodput_bps", "point": ["0.3", "bbr"], "mean": 8.484e6, "half_width": 2e5}]}}


def compared(metric: str, share: bool, middle: float, interval: list[float] | None) -> dict[str, Any]:
    against = {"ratio": None if share else middle, "difference": middle, "interval": interval}
    return {"metric": metric, "share": share, "against": [against], "values": [{"mean": 0.5}, {"mean": 0.25}]}


COMPARED = {
    "report": {
        "flows": [
            {
                "metrics": [
                    compared("goodput_bps", False, 0.964, [0.947, 0.98]),
                    compared("accuracy.wireless", True, -0.05, [-0.07, 0.02]),
                    compared("timeouts", False, 1.0, None),
                ]
            }
        ]
    }
}


def page(expression: str, form: str = ".2f", text: str = "old") -> str:
    return f"It has <!--= {expression} :{form} -->{text}<!--/--> of it."


class Sentences(unittest.TestCase):
    def setUp(self) -> None:
        self.held = Held({"s": STUDY}, {"n": SWEEP, "c": COMPARED}, 65)

    def filled(self, expression: str, form: str = ".2f") -> str:
        return self.held.filled("p.md", page(expression, form))

    def test_a_number_is_put_in_and_a_page_that_has_it_stays(self) -> None:
        expression = "mean('n', 'goodput_bps', '0.3', 'bbr') / 1e6"
        once = self.filled(expression)
        self.assertEqual(once, page(expression, text="8.48"))
        self.assertEqual(self.held.filled("p.md", once), once)

    def test_rows_counts_and_signs(self) -> None:
        self.assertIn("-->1.25<", self.filled("row('s', 'it gains', '90ms').measured"))
        self.assertIn("-->2<", self.filled("counts('s').pass", ".0f"))
        self.assertIn("-->65<", self.filled("studies", ".0f"))
        self.assertIn("-->−25<", self.filled("-100 * (row('s', 'it gains', '20ms').measured - 1)", "+.0f"))

    def test_one_engine_against_another_has_its_interval_and_a_share_is_in_points(self) -> None:
        self.assertIn("-->0.96 (0.95 … 0.98)<", self.filled("against('c', 'goodput_bps')"))
        self.assertIn("-->−5 (−7 … +2)<", self.filled("against('c', 'accuracy.wireless')", "+.0f"))
        self.assertIn("-->25<", self.filled("against('c', 'accuracy.wireless').second", ".0f"))
        self.assertIn("-->0.95<", self.filled("against('c', 'goodput_bps').low"))

    def test_what_is_missing_ambiguous_or_no_number_is_said_with_its_place(self) -> None:
        for expression, says in [
            ("mean('m', 'goodput_bps')", 'p.md:1: .*no stored result "m"'),
            ("against('c', 'rtt_s.mean')", "p.md:1: .*0 rows, where one was expected"),
            ("against('c', 'timeouts')", "p.md:1: .*nothing that can be compared"),
            ("row('t', 'it gains').measured", 'p.md:1: .*no stored result of the study "t"'),
            ("row('s', 'it gains').measured", "p.md:1: .*2 rows, where one was expected"),
            ("row('s', 'it gains', '20ms').check", "p.md:1: .*a number was expected"),
            ("row('s', 'it gains', '20ms').nothing", "p.md:1: .*a number was expected"),
            ("1 / 0", "p.md:1: "),
            ("1 +", "p.md:1: "),
        ]:
            with self.subTest(expression), self.assertRaisesRegex(SystemExit, says):
                self.filled(expression)

    def test_what_a_command_printed_stands_whole_between_its_marks(self) -> None:
        held = Held({}, {"t": {"report": "a  b\n1  2"}, "n": SWEEP}, 65)
        once = held.filled("p.md", "x\n<!-- printed: t as text -->\nold\n<!-- printed: end -->\ny\n")
        self.assertEqual(
            once, "x\n<!-- printed: t as text -->\n\n```text\na  b\n1  2\n```\n\n<!-- printed: end -->\ny\n"
        )
        self.assertEqual(held.filled("p.md", once), once)
        with self.assertRaisesRegex(SystemExit, "p.md:2: .*no end"):
            held.filled("p.md", "x\n<!-- printed: t as text -->\ny\n")
        for name, says in [("u", 'p.md:2: .*no stored result "u"'), ("n", 'p.md:2: "n" is not what a command printed')]:
            with self.subTest(name), self.assertRaisesRegex(SystemExit, says):
                held.filled("p.md", f"x\n<!-- printed: {name} -->\n<!-- printed: end -->\n")

    def test_a_mark_that_is_none_is_not_passed_over(self) -> None:
        for broken in ("<!--= studies -->65<!--/-->", "<!--= studies :.0f -->65", "<!--=studies :.0f -->65<!--/-->"):
            with self.subTest(broken), self.assertRaisesRegex(SystemExit, "p.md:2: a mark is"):
                self.held.filled("p.md", f"\n{broken}\n")

    def test_an_expression_reaches_nothing_but_what_it_may_name(self) -> None:
        for expression in ("found.__globals__", "''.__class__.__mro__", "range(3)|length"):
            with self.subTest(expression), self.assertRaises(SystemExit):
                self.filled(expression)


class Stored(unittest.TestCase):
    def test_a_damaged_result_is_named(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "x.json"
            for text, says in [("{", "no JSON"), ("[]", "lacks: no object"), ('{"date": 1}', "lacks: build, command")]:
                file.write_text(text)
                with self.subTest(text), self.assertRaisesRegex(SystemExit, f"x.json: .*{says}"):
                    results.stored(Path(folder))

    def test_what_is_stored_is_read_again(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            results.store(Path(folder) / "n.json", "truckee sweep x", {"rows": []}, {"commit": "c", "build": "b"})
            found = results.stored(Path(folder))["n"]
            self.assertEqual(
                (found["command"], found["commit"], found["report"]), ("truckee sweep x", "c", {"rows": []})
            )
            self.assertRegex(found["date"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")

    def test_single_runs_are_left_out_and_packets_a_segment_kept(self) -> None:
        runs: list[dict[str, Any]] = [{"packets": 30, "segments": 10}, {"packets": 50, "segments": 10}]
        kept = results.without_runs({"rows": [{"workload": "W1", "runs": runs}]})
        self.assertEqual(kept, {"rows": [{"workload": "W1", "packets_per_segment": 4.0}]})

    def test_a_live_answer_counts_its_runs_and_is_none_where_the_machine_was_late(self) -> None:
        report = {"live": {"runs": 10, "invalid": 0}, "flows": []}
        self.assertEqual(results.without_runs(report), report)
        self.assertIsNone(results.late(report))
        self.assertIsNone(results.late("a table"))
        self.assertRegex(str(results.late({"live": {"runs": 10, "invalid": 2}})), "2 of 10 live runs")

    def test_every_stored_result_is_one_that_a_command_makes(self) -> None:
        known = results.commands()
        for name, found in results.stored(results.NUMBERS).items():
            with self.subTest(name):
                self.assertEqual(found["command"], known[name]["command"])
        self.assertEqual(known.keys(), results.stored(results.NUMBERS).keys(), "docs/results.py numbers NAME")
        self.assertLessEqual(results.stored(results.STUDIES).keys(), results.study_files().keys())

    def test_what_asks_for_a_kernel_or_a_probe_is_live(self) -> None:
        live = {name for name, file in results.study_files().items() if results.is_live(file)}
        self.assertLess({"taba-live", "taba-rounds-live", "split-probe", "lp-handoff"}, live)
        self.assertFalse(live & {"taba-rounds", "lp-goodput", "split-archive"})
        alone = {name for name, file in results.study_files().items() if results.bears_nothing_else(file)}
        self.assertEqual(alone, {"accum-kernel"})

    def test_live_studies_wait_until_there_is_room_for_their_runs(self) -> None:
        self.assertEqual(results.at_once(results.study_files()["split-probe"]), 1)
        places, order = results.Places(16), []
        held, free = threading.Event(), threading.Event()

        def large() -> None:
            with places.taken(40):  # more than there are: all of them
                order.append("large")

        def small() -> None:
            with places.taken(3):
                order.append("small")
                held.set()
                free.wait(60)

        with places.taken(13):
            threads = [threading.Thread(target=one) for one in (small, large)]
            threads[0].start()
            self.assertTrue(held.wait(60))
            threads[1].start()
        self.assertEqual(order, ["small"])
        free.set()
        for thread in threads:
            thread.join(60)
        self.assertEqual((order, places.free), (["small", "large"], 16))

    def test_a_bench_that_lacks_a_row_is_said(self) -> None:
        found = results.stored(results.NUMBERS)["bench"]
        rows = [row for row in found["report"]["rows"] if row["workload"] != "W3"]
        with self.assertRaisesRegex(SystemExit, "W3"):
            peers.block({**found, "report": {**found["report"], "rows": rows}})
        self.assertEqual(peers.drawn("no block", {}), "no block")
        self.assertIsInstance(json.dumps(found), str)


if __name__ == "__main__":
    unittest.main()
