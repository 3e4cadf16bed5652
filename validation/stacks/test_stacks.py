"""Tests of the harness: python3 -m unittest discover -s validation/stacks. No stack is started here."""

import dataclasses
import os
import subprocess
import sys
import tempfile
import time
import tomllib
import unittest
from collections import Counter
from pathlib import Path
from typing import ClassVar

import client
import expected
import identify
import kinds
import lab
import lateness
import results
import tables
from expected import Case, ExpectedError

PER_ACK = Case("slirp", "reno", "per-ack", "here", initial_bytes=2900, mss=1440)
LIMITED = Case("lwip", "abc", "bytes", "here", initial_bytes=4380, limit=2)


class Cases(unittest.TestCase):
    def refusal(self, text: str) -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "expected.toml"
            path.write_text(text)
            with self.assertRaises(ExpectedError) as refused:
                expected.load(path)
        return str(refused.exception)

    def test_every_stack_with_every_control_has_one_case_with_its_source(self):
        cases = expected.load()
        names = [case.name for case in cases]
        plain = [case.name for case in cases if not case.variant]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(sorted(plain), sorted(f"{k.name}/{c}" for k in kinds.KINDS.values() for c in k.controls))
        self.assertEqual({case.stack for case in cases if case.quick}, set(kinds.KINDS))
        for case in cases:
            self.assertRegex(case.source, r"\d.*: ", case.name)

    def test_what_cannot_be_is_refused_by_name(self):
        entry = '[[case]]\nstack = "lwip"\ncontrol = "{}"\ngrowth = "{}"\nsource = "x"\n{}\n'
        self.assertIn("there is no lwip/cubic", self.refusal(entry.format("cubic", "bytes", "")))
        self.assertIn("growth = 'fast'", self.refusal(entry.format("abc", "fast", "")))
        self.assertIn("one of them", self.refusal(entry.format("abc", "bytes", "")))
        self.assertIn("lwip/abc", self.refusal(entry.format("abc", "bytes", "windw = 3")))
        self.assertIn("lwip/abc", self.refusal(entry.format("abc", "bytes", "initial = { packets = 3 }")))


class Machines(unittest.TestCase):
    def test_user_mode_linux_is_left_out_where_a_processor_has_more_state_than_it_knows(self) -> None:
        kinds.fits("flags : fpu avx512f xsavec\n")
        with self.assertRaises(kinds.Unfit) as left_out:
            kinds.fits("flags : fpu avx512f amx_tile xsavec\n")
        self.assertIn("AMX", str(left_out.exception))


class Rounds(unittest.TestCase):
    def test_per_ack_gains_a_segment_for_each_part(self):
        self.assertEqual(PER_ACK.first_round(1440), 2 * 1440)
        halves = [720, 1440, 2160, 2880]
        self.assertEqual(PER_ACK.second_round([1440, 1440], halves, 1440), (2 + 4) * 1440)

    def test_counting_bytes_gains_the_same_however_they_come_up_to_the_limit(self):
        three = [1460, 1460, 1460]
        self.assertEqual(LIMITED.second_round(three, [1460, 2920, 4380], 1460), 6 * 1460)
        self.assertEqual(LIMITED.second_round(three, [730, 1460, 2190, 2920, 3650, 4380], 1460), 6 * 1460)
        self.assertEqual(LIMITED.second_round(three, [4380], 1460), 5 * 1460)

    def test_only_acks_that_complete_a_segment_count_for_hybla(self):
        hybla = Case("uml", "hybla", "completing", "here", initial_segments=2, limit=3)
        self.assertEqual(hybla.second_round([1000, 1000], [500, 1000, 1500, 2000], 1000), (2 + 6) * 1000)
        self.assertEqual(hybla.second_round([1000, 1000], [2000], 1000), (2 + 3) * 1000)

    def test_what_is_in_the_air_takes_its_part_of_the_window(self):
        ten = Case("gvisor", "reno", "bytes", "here", initial_segments=10)
        self.assertEqual(ten.second_round([1000] * 10, [1000, 2000, 3000], 1000), 6 * 1000)

    def test_windows_in_bytes_are_used_up_or_left_at_whole_segments(self):
        self.assertEqual(dataclasses.replace(PER_ACK, whole=False).first_round(1440), 2900)


class Judging(unittest.TestCase):
    def fault(self, case: Case, **changes: object) -> list[str]:
        seen = {"division": 1, "together": False, "first": [1460] * 3, "acks": [1460, 2920, 4380], "second": [1460] * 6}
        return results.judged(case, [seen | changes], None).faults

    def test_counts_must_be_right_to_the_byte(self):
        self.assertEqual(self.fault(LIMITED), [])
        self.assertIn("expected 8760", self.fault(LIMITED, second=[1460] * 5)[0])
        self.assertIn("expected 4380", self.fault(LIMITED, first=[1460] * 4)[0])
        self.assertIn("expected 1440", self.fault(PER_ACK)[0])

    def test_silence_is_a_fault_and_no_test_is_one(self):
        reason = {"division": 2, "together": False, "reason": "reset after 0 bytes"}
        self.assertEqual(results.judged(LIMITED, [reason], None).faults, ["by hand, 2 each: reset after 0 bytes"])
        self.assertTrue(results.judged(LIMITED, [], None).faults)

    def test_no_window_means_all_before_the_first_ack(self):
        none = Case("smoltcp", "none", "none", "here")
        self.assertEqual(self.fault(none, first=[1460] * 420, second=[]), [])
        self.assertTrue(self.fault(none, first=[1460] * 420))
        self.assertTrue(self.fault(none, second=[]))

    def test_the_closing_line_counts_what_was_left_out_apart(self):
        seen = [results.Result(LIMITED), results.Result(PER_ACK, faults=["x"]), results.Result(PER_ACK, skipped="y")]
        self.assertEqual(results.count(seen), "1 passed, 1 failed, 1 skipped")
        self.assertEqual(results.count(seen[:1]), "1 passed, 0 failed")


class Verdicts(unittest.TestCase):
    SEEN: ClassVar = {"division": 1, "together": False, "first": [1460] * 3, "acks": [4380], "second": [1460] * 5}
    VERDICT: ClassVar = {"reaction": "counts-bytes", "limit": 2, "mss": 1460, "initial_window_bytes": 4380}

    def fault(self, case: Case, server: dict[str, object]) -> str:
        faults = results.judged(case, [self.SEEN], [{"url": "http://here"} | server]).faults
        return "; ".join(fault for fault in faults if fault.startswith("probe"))

    def test_the_word_the_limit_and_the_window_must_be_right(self):
        self.assertEqual(self.fault(LIMITED, {"verdict": self.VERDICT}), "")
        for change in ({"reaction": "per-ack"}, {"limit": 1}, {"limit": None}, {"initial_window_bytes": 2920}):
            self.assertIn("expected", self.fault(LIMITED, {"verdict": self.VERDICT | change}), change)

    def test_no_verdict_is_right_only_where_there_is_no_window(self):
        none = Case("smoltcp", "none", "none", "here")
        self.assertEqual(self.fault(none, {"not_judged": {}}), "")
        lost = {"name": "lost", "words": "the path lost packets"}
        single = {"test": "B", "repetition": 2, "fault": {"name": "refused", "words": "the connection is refused"}}
        said = self.fault(LIMITED, {"not_judged": lost, "faults": [single]})
        self.assertIn("not judged (the path lost packets; B of repetition 2: the connection is refused)", said)
        self.assertIn("expected counts-bytes, L = 2", said)
        self.assertIn("expected none", self.fault(none, {"verdict": self.VERDICT}))

    def test_a_probe_that_has_judged_nothing_is_a_fault(self):
        self.assertIn("probe: nothing was judged", results.judged(LIMITED, [self.SEEN], []).faults)


class Identities(unittest.TestCase):
    def test_every_stack_has_its_identities_with_their_source(self):
        cases = identify.load()
        names = [case.name for case in cases]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual({case.stack for case in cases}, set(kinds.KINDS) | {lab.OWN})
        for case in cases:
            self.assertRegex(case.source, r": |as for", case.name)

    def test_a_case_holds_if_nine_in_ten_of_its_answers_are_right_to_each_question(self):
        case = identify.Case("uml", "reno", "here", "sack", "newreno")
        result = identify.Result(case)
        server = {"identity": {"recovery": {"is": "sack"}, "recovery_without_sack": None, "control": {"is": None}}}
        self.assertEqual(identify.heard(server), {"recovery": "sack", "control": identify.CANNOT})
        self.assertEqual(identify.heard({}), {})
        result.said["recovery"].update({"sack": 9, "newreno": 1})
        result.said["control"].update({"reno": 8, "vegas": 2})
        self.assertEqual(result.wrong(), ["control: 8 of 10 said reno"])
        known = dataclasses.replace(case, differs={"control": "reno"}, is_="vegas", cause="it is so")
        result.case = known
        self.assertEqual(result.wrong(), ["control: 8 of 10 said reno"])
        result.said["control"].update({"reno": 20})
        self.assertEqual(result.wrong(), [])
        self.assertIn("uml/reno differs: control is reno, since it is so", identify.table([result]))
        result.case, result.said["control"] = case, Counter({"reno": 8, "vegas": 2})
        text = identify.table([result])
        self.assertIn("| uml/reno | reno | 8 | 2 |", text)
        self.assertIn("85.0 % of the answers are right", text)


class Tables(unittest.TestCase):
    CASE = Case("lwip", "abc", "bytes", "here", initial_bytes=4380, limit=2)

    def seen(self, second: int = 6 * 1460, times: int = 5) -> tables.Result:
        one = {"mss": 1460, "window_bytes": 4380, "second_bytes": second, "data_packets": 10, "data_bytes": 14600}
        tests = [one | {"test": test, "retransmitted": k % 2} for test in tables.TESTS for k in range(times)]
        return tables.Result(self.CASE, "lwip/abc", tests)

    def test_the_thesis_tables_are_there_with_five_repetitions_each_and_as_printed(self):
        servers = tomllib.loads(tables.THESIS.read_text())["server"]
        self.assertEqual([server["table"] for server in servers], [f"4.{k}" for k in range(3, 13)])
        for server in servers:
            self.assertEqual(sum(row["times"] for row in server["rows"]), tables.TIMES, server["name"])
        text = tables.table([self.seen()], servers)
        self.assertIn("| Microsoft, Windows 2003 SP3 | 4.9 | 24.6 (9–36) | 2 | 26.6 (11–38) | 33.6 (11–50) |", text)
        self.assertIn("| AOL (test C: 23 and 4) | 4.12 | 11 | 2 | 13 | |", text.replace("|  |", "| |"))
        self.assertIn("| lwip/abc | | 10 | 0.4 (0–1) | 10.4 (10–11) | 14.3 |", text)

    def test_what_is_not_as_the_source_says_or_was_not_counted_is_a_fault(self):
        self.assertEqual(self.seen().wrong(), [])
        self.assertIn("expected 8760", self.seen(second=5 * 1460).wrong()[0])
        self.assertIn("fewer than 5 repetitions of A", self.seen(times=4).wrong()[0])
        self.assertEqual(tables.Result(PER_ACK, "slirp/reno").due(1440), (2 * 1440, 6 * 1440))
        self.assertEqual(tables.Result(self.CASE, "lwip/abc", skipped="x").wrong(), [])

    def test_stacks_of_which_as_much_comes_share_a_line_of_the_figure(self):
        other = dataclasses.replace(self.seen(), name="other")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "figure.svg"
            tables.draw([self.seen(), other], file)
            text = file.read_text()
        self.assertEqual(text.count(">other<"), len(tables.COUNTS))
        self.assertIn("data packets", text)

    def test_every_stack_of_the_tables_has_a_case(self):
        names = {case.name for case in expected.load()}
        self.assertEqual(set(tables.STACKS) - names, set())
        self.assertIn(tables.LIKE, names)


class Lateness(unittest.TestCase):
    def test_no_machine_is_later_than_the_test_lasted(self):
        before = time.monotonic()
        with lateness.Watch() as watch:
            time.sleep(0.05)
        self.assertLess(watch.late_s, time.monotonic() - before)

    def test_a_stack_that_waits_for_a_core_is_late_although_the_machine_stands_not_still(self):
        core = {min(os.sched_getaffinity(0))}
        spin = [sys.executable, "-c", f"import os\nos.sched_setaffinity(0, {core})\nwhile True: pass"]
        busy = [subprocess.Popen(spin) for _ in range(2)]
        try:
            with lateness.Watch(os.getpid()) as watch:
                time.sleep(0.5)
        finally:
            for process in busy:
                process.kill()
                process.wait()
        # Two that want one core: of any time that both run, each waits for half.
        self.assertGreater(watch.late_s, 0.1)

    def test_only_a_rule_that_depends_on_the_round_trip_is_bound_to_one(self):
        bound = [case.name for case in expected.load() if case.most_rtt_ms]
        self.assertEqual(bound, ["uml/hybla"])
        self.assertFalse(any(case.quick for case in expected.load() if case.most_rtt_ms))


class Client(unittest.TestCase):
    def test_parts_end_where_the_segments_end(self):
        self.assertEqual(client.acks([1000, 500], 3, False), [333, 666, 1000, 1166, 1333, 1500])
        self.assertEqual(client.acks([1000, 500], 1, True), [1500])

    def test_the_checksum_is_that_of_rfc_1071(self):
        header = bytes.fromhex("45000073000040004011b861c0a80001c0a800c7")
        self.assertEqual(client.checksum(header), 0)
        self.assertEqual(client.checksum(header[:10] + b"\0\0" + header[12:]), 0xB861)
        self.assertEqual(client.checksum(b"\x01"), 0xFEFF)


if __name__ == "__main__":
    unittest.main()
