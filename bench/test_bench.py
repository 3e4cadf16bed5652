"""Tests of the harness: python3 -m unittest discover -s bench. What the programs answer is not tested here."""

import sys
import tempfile
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from unittest import mock

import counted
import emulator
import machine
import many
import measure
import namespaces
import receivers
import report
import senders
import shaper
import simulators
import targets
import workloads
from figure import Figure
from measure import Cost
from results import Run
from simulators import COMPUTED_NS2, NS3, OURS, TUNED_NS2, Answer, Unavailable


class Live(unittest.TestCase):
    def test_what_cannot_be_measured_is_a_line_and_no_verdict(self):
        for part, parts in ((emulator, 5), (shaper, 3)):
            figures = part.measure(["/nonexistent/truckee"], 1)
            self.assertEqual(len(figures), parts)
            verdicts = targets.of_figures(part.NAME, figures)
            self.assertTrue(all(verdict.word == "not measured" for verdict in verdicts))
            self.assertTrue(all("cannot be measured" in verdict.measured for verdict in verdicts))
            self.assertTrue(all(verdict.target.startswith(f"{part.NAME}, ") for verdict in verdicts))

    def test_a_figure_that_was_measured_is_judged(self):
        figure = Figure("rate of 10Mbit/s", "within 1 %", "+2.000 %", False)
        self.assertEqual(targets.of_figures("path", [figure])[0].word, "NOT REACHED")

    def test_a_program_that_is_not_there_is_named_with_what_installs_it(self):
        with self.assertRaisesRegex(namespaces.LiveError, "no-such-program not found: `make bench` installs"):
            namespaces.need("sh", "no-such-program")

    def test_without_iperf_a_part_says_so(self):
        @contextmanager
        def nothing(*_: object) -> Iterator[tuple[str, str, None]]:
            yield "a", "b", None

        absent = mock.patch("shutil.which", return_value=None)
        with absent, mock.patch.object(emulator, "path", nothing), mock.patch.object(shaper, "_wire", nothing_of_two):
            for measured in (emulator._tcp, shaper._throughput):
                with self.assertRaisesRegex(namespaces.LiveError, "iperf3 not found"):
                    measured(["truckee"], 1)

    def test_how_the_machine_was_stands_beside_each_figure(self):
        with machine.watched() as seen:
            sum(range(1_000_000))
        self.assertTrue(seen.stolen is None or 0 <= seen.stolen <= 1)
        seen = machine.Seen(0.125, None)
        beside = machine.beside([Figure("a", "b", "7", True)], seen)
        self.assertEqual(beside[0].measured, "7 (waiting for a processor 12.5 %, stolen ?)")

    def test_the_tail_of_a_histogram_of_cyclictest(self):
        text = "# Histogram\n000000 000000\n000012 000900\n000020 000089\n000090 000011\n# Histogram Overflows: 00000\n"
        self.assertEqual(machine.tail(text), 90e-6)
        self.assertEqual(machine.tail("000012 000999\n# Histogram Overflows: 00001\n"), 12e-6)
        self.assertEqual(machine.tail("000012 000009\n# Histogram Overflows: 00001\n"), 20e-3)
        self.assertIsNone(machine.tail("cyclictest: no rights"))


@contextmanager
def nothing_of_two() -> Iterator[tuple[str, str]]:
    yield "a", "b"


class Workloads(unittest.TestCase):
    def test_peers_are_told_what_the_scenario_says(self):
        known = workloads.load_all()
        w2, w3 = known["W2"].parameters(), known["W3"].parameters()
        self.assertEqual((w2["rate"], w2["delay"], w2["loss"], w2["q"]), (10e6, 0.05, 1e-3, 84))
        self.assertEqual((w3["n"], w3["gap"], w3["window"], w3["ssthresh"]), (100, 0.01, 200, 8))

    def test_receive_windows_never_limit_a_single_flow(self):
        for workload in workloads.load_all().values():
            if workload.flows == 1:
                bdp = int(workload.rate * 2 * workload.delay / 8 / 1500)
                self.assertEqual(workload.window, 4 * (bdp + workload.queue), workload.name)

    def test_longer_runs_override_the_file_for_us_and_the_number_for_peers(self):
        long = workloads.load_all()["W1-3000s"]
        self.assertEqual(long.parameters()["dur"], 3000)
        self.assertEqual(simulators.ours(Path("/truckee")).command(long, 7)[-2:], ["--set", "duration=3000s"])

    def test_what_peers_cannot_be_told_is_refused(self):
        text = (workloads.FOLDER / "w1.toml").read_text()
        for old, new in (("drop-tail", "red"), ('"10Mbit/s"', "10"), ("newreno", "sack"), ("84packets", "1bdp")):
            with self.subTest(new=new), tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "w1.toml"
                path.write_text(text.replace(old, new))
                with self.assertRaises(workloads.WorkloadError):
                    workloads.load(path)


class Measure(unittest.TestCase):
    def test_cost_and_output_of_a_process_are_seen(self):
        finished = measure.run([sys.executable, "-c", "x = bytearray(50 << 20); print(len(x))"], limit=60)
        self.assertEqual((finished.code, finished.stdout.strip()), (0, str(50 << 20)))
        self.assertGreater(finished.cost.peak_kib, 50 << 10)
        self.assertGreater(finished.cost.wall, 0)

    def test_a_run_beyond_its_limit_is_killed(self):
        finished = measure.run(["sleep", "60"], limit=0.2)
        self.assertNotEqual(finished.code, 0)
        self.assertLess(finished.cost.wall, 30)


class Senders(unittest.TestCase):
    def command(self, name):
        (sender,) = [sender for sender in senders.senders(judged_only=False) if sender.name == name]
        workload = senders.long_workloads(workloads.load_all())[1]
        return sender.simulator(Path("/truckee")).command(workload, 3)

    def test_each_runs_the_long_workload_with_its_own_sender(self):
        command = self.command("newreno-lp(ncpld)")
        self.assertEqual(command[2:5], [str(workloads.FOLDER / "w2.toml"), "--seed", "3"])
        self.assertEqual(command[-4:], ["--set", "duration=1500s", "--set", 'flow.sender="newreno-lp(ncpld)"'])

    def test_watchers_leave_the_sender_alone(self):
        setting = self.command("newreno, all eight watch")[-1]
        self.assertIn('predictors = ["vegas", "ncpld", "spike", "flip-flop"]', setting)
        self.assertIn('estimators = ["westwood-1", "westwood-2", "westwood-3", "tibet"]', setting)
        self.assertNotIn("sender", setting)

    def test_the_quick_form_has_all_that_is_judged(self):
        names = [sender.name for sender in senders.senders(judged_only=True)]
        self.assertEqual(names, [senders.BASE, *senders.PREDICTORS, *senders.ESTIMATORS])

    def test_what_was_sent_counts_not_what_arrived(self):
        output = (
            '{"flows": [{"segments_sent": 7, "acks_sent": 4, "bytes_delivered": 2920},'
            ' {"segments_sent": 5, "acks_sent": 1, "bytes_delivered": 0}]}'
        )
        workload = workloads.load_all()["W1"]
        sender = senders.senders(judged_only=True)[0]
        answer = sender.simulator(Path("/truckee")).read(output, workload)
        self.assertEqual((answer.segments, answer.packets), (12, 17))
        self.assertEqual(simulators.ours(Path("/truckee")).read(output, workload).segments, 2)


class Counted(unittest.TestCase):
    SAID = (
        "==7== Events    : Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw\n"
        "==7== Collected : 1000 300 200 60 40 30 3 20 100\n==7== I   refs:      1,000\n"
    )

    def test_instructions_and_all_misses_of_the_last_level_are_read(self):
        self.assertEqual(counted.read(self.SAID), (1000, 123))
        with self.assertRaises(ValueError):
            counted.read("==7== nothing of the kind")

    def test_caches_are_the_same_everywhere_and_the_run_is_ours(self):
        workload = workloads.load_all()["W1"].lasting(2.5)
        command = counted.command(Path("/truckee"), workload, "bbr")
        self.assertIn("--LL=524288,16,64", command)
        self.assertEqual(command[-4:], ["--set", "duration=2.5s", "--set", 'flow.sender="bbr"'])
        plain = counted.command(Path("/truckee"), workload, counted.BASE)
        self.assertEqual(plain[-2:], ["--set", "duration=2.5s"])

    def test_everything_counted_is_known_and_lasts_longer_the_second_time(self):
        known = workloads.load_all()
        for name, (shorter, longer) in counted.SECONDS.items():
            workload = counted.lasting(known, name, longer)
            self.assertIn(f"duration={longer:g}s", workload.overrides)
            self.assertLess(shorter, longer)
            # By then every flow has started.
            self.assertLessEqual(workload.gap * workload.flows, shorter)

    def test_the_profile_stands_for_a_sender_in_a_window_that_path_and_queue_hold(self):
        workload = counted.lasting(workloads.load_all(), counted.UNLOST, 20)
        command = counted.command(Path("/truckee"), workload, counted.PROFILE)
        self.assertEqual(command[-3:], ['flow.rwnd="150segments"', "--set", 'profile="linux"'])
        pipe = workload.rate * 2 * workload.delay / 8 / (workload.mss + 52)
        self.assertLess(150, pipe + workload.queue)

    def test_without_valgrind_it_is_left_out(self):
        with mock.patch("shutil.which", return_value=None), self.assertRaises(Unavailable):
            counted.count(Path("/truckee"), {}, print)


class Many(unittest.TestCase):
    def test_every_flow_has_a_pair_of_hosts_and_starts_before_the_end(self):
        for workload in many.dumbbells(workloads.load_all()):
            settings = simulators.ours(Path("/truckee")).command(workload, 1)
            self.assertIn(f"topology.n={workload.flows}", settings)
            self.assertIn(f"flow.count={workload.flows}", settings)
            self.assertLess(workload.flows * workload.gap, workload.duration)

    def test_a_program_built_before_has_no_benchmarks(self):
        with self.assertRaises(Unavailable):
            many.nothing(Path("/truckee"), 1.0)


class Targets(unittest.TestCase):
    def setUp(self):
        self.known = workloads.load_all()
        self.found = targets.Measured()
        self.table, self.sending, self.receiving = self.found.table, self.found.sending, self.found.receiving

    def add(self, workload, program, wall, segments=1e6, goodput=10.0, peak_mib=8, seeds=1):
        row = self.table.row(self.known[workload], program)
        run = Run(1, Cost(wall, wall, 0.0, peak_mib << 10), Answer(segments, goodput))
        row.timed.append(run)
        row.further.extend(replace(run, seed=seed) for seed in range(2, seeds + 1))

    def verdict(self, beginning):
        (found,) = [verdict for verdict in targets.judge(self.found) if verdict.target.startswith(beginning)]
        return found.reached

    def test_nothing_measured_is_neither_reached_nor_missed(self):
        self.assertEqual({verdict.reached for verdict in targets.judge(self.found)}, {None})

    def test_speed_is_held_against_the_right_peer(self):
        self.add("W3", OURS, wall=1.0)
        self.add("W3", COMPUTED_NS2, wall=11.0)
        self.add("W3", TUNED_NS2, wall=13.0)
        self.add("W3", NS3, wall=99.0)
        self.assertIs(self.verdict("W3: segments/s at least 10 × ns-2 (Splay"), True)
        self.assertIs(self.verdict("W3: segments/s at least 14 × ns-2 with"), False)
        self.assertIs(self.verdict("W3: segments/s at least 100 "), False)

    def test_goodput_may_be_off_either_way(self):
        self.add("W1", TUNED_NS2, wall=1.0, goodput=10.0)
        self.add("W1", OURS, wall=1.0, goodput=10.4)
        self.assertIs(self.verdict("W1: goodput"), False)
        self.add("W6", TUNED_NS2, wall=1.0, goodput=10.0)
        self.add("W6", OURS, wall=1.0, goodput=9.8)
        self.assertIs(self.verdict("W6: goodput"), True)

    def test_lossy_goodput_needs_twenty_seeds(self):
        self.add("W2", TUNED_NS2, wall=1.0, seeds=20)
        self.add("W2", OURS, wall=1.0, seeds=19)
        self.assertIsNone(self.verdict("W2: goodput"))
        self.add("W2", OURS, wall=1.0)
        self.assertIs(self.verdict("W2: goodput"), True)

    def test_cost_per_segment_counts_segments_not_runs(self):
        self.add("W6", OURS, wall=1.0, segments=1e6)
        self.add("flows-1000", OURS, wall=1.6, segments=1.2e6, peak_mib=65)
        self.assertIs(self.verdict("cost per segment from 1 flow (W6) "), True)
        self.assertIsNone(self.verdict("cost per segment from 1 flow (W6x10) "))
        self.assertIs(self.verdict("flows-1000: peak memory"), False)
        self.add("W6x10", OURS, wall=1.0)
        self.add("flows-30000", OURS, wall=3.0, segments=1.1e6)
        self.assertIs(self.verdict("cost per segment from 1 flow (W6x10) "), False)

    def count(self, workload, sender=counted.BASE, instructions=1500.0, misses=5.0):
        # What comes before the first event weighs much in the shorter run, and must not count.
        shorter = counted.Count(9e9, 9e6, 1e5, 2e5)
        longer = counted.Count(9e9 + instructions * 1e6, 9e6 + misses * 1e6, 1.1e6, 1.2e6)
        self.found.counts.append(counted.Row(workload, sender, (1, 2), shorter, longer))

    def test_instructions_and_misses_are_those_of_the_loop(self):
        self.count("W1", instructions=1600)
        self.count("flows-1000", instructions=2001, misses=6.9)
        self.assertIs(self.verdict("W1: at most"), True)
        self.assertIs(self.verdict("flows-1000: at most 2,000 instructions"), False)
        self.assertIs(self.verdict("flows-1000: at most 7 cache misses"), True)
        self.assertIsNone(self.verdict("W2: at most"))
        text = report.counted_table(self.found.counts, markdown=False)
        self.assertIn("2,001", text)
        self.assertIn("6.90", text)

    def test_many_flows_are_held_against_one_in_instructions_too(self):
        self.count("W6", instructions=1000)
        self.assertIsNone(self.verdict("instructions a segment from 1 flow (W6) "))
        self.count("flows-1000", instructions=1499)
        self.assertIs(self.verdict("instructions a segment from 1 flow (W6) "), True)
        self.count("W6x10", instructions=1000)
        self.count("flows-30000", instructions=2500)
        self.assertIs(self.verdict("instructions a segment from 1 flow (W6x10) "), False)

    def test_senders_are_counted_by_what_they_sent(self):
        self.assertEqual(report.counted_senders_table(self.found.counts, markdown=False), "")
        self.count("W1", "bbr", instructions=2000)
        self.assertIsNone(self.verdict("bbr: instructions"))
        self.count("W1", instructions=1500)
        self.count("W1", "vegas", instructions=1900)
        self.assertIs(self.verdict("bbr: instructions"), False)
        self.assertIs(self.verdict("vegas: instructions"), True)
        self.assertIn("1.33 ×", report.counted_senders_table(self.found.counts, markdown=True))

    def test_the_profile_is_held_against_newreno_where_nothing_is_lost(self):
        self.count("W1", instructions=1000)
        self.count(counted.UNLOST, instructions=1400)
        self.assertIsNone(self.verdict("linux: instructions a segment at most 1.5"))
        self.count(counted.UNLOST, counted.PROFILE, instructions=2030)
        self.assertIs(self.verdict("linux: instructions a segment at most 1.5"), True)
        self.assertIn("1.45 ×", report.counted_senders_table(self.found.counts, markdown=False))

    def hold(self, flows, peak_mib):
        (workload,) = [one for one in many.dumbbells(self.known) if one.flows == flows]
        run = Run(1, Cost(1.0, 1.0, 0.0, peak_mib << 10), Answer(1e6, 10.0))
        self.found.dumbbells.row(workload, OURS).timed.append(run)

    def test_memory_of_a_flow_is_a_slope(self):
        self.hold(many.FEWER, 100)
        self.assertIsNone(self.verdict("a flow in a dumbbell"))
        self.assertIsNone(self.verdict("100,000 flows"))
        self.hold(many.MORE, 150)
        self.assertIs(self.verdict("a flow in a dumbbell"), True)
        # They were tried, since the others were.
        self.assertIs(self.verdict("100,000 flows"), False)
        self.hold(many.MOST, 512)
        self.assertIs(self.verdict("100,000 flows"), True)

    def test_a_run_of_nothing_is_read_from_the_benchmarks(self):
        self.found.nothing = many.Nothing(
            many.read(
                "test run/nothing, read before ... bench: 3,881 ns/iter\ntest run/nothing ... bench: 22,318 ns/iter"
            )
        )
        self.assertIs(self.verdict("a run of nothing"), False)
        for output in ("", "test run/nothing, read before ... bench: 3,881 ns/iter"):
            with self.assertRaises(Unavailable):
                many.read(output)

    def send(self, workload, sender, user, segments=1e6):
        (long,) = [found for found in senders.long_workloads(self.known) if found.name.startswith(workload)]
        # Wall time is another's doing: only CPU time may count.
        run = Run(1, Cost(100.0 / user, user, 0.0, 8 << 10), Answer(segments, 10.0))
        self.sending.row(long, sender).timed.append(run)
        return long

    def test_a_sender_may_take_a_quarter_more_a_segment_on_every_workload(self):
        for workload in ("W1", "W2"):
            self.send(workload, senders.BASE, user=0.2)
        self.send("W1", "tibet", user=0.24)
        self.assertIsNone(self.verdict("tibet"))
        self.send("W2", "tibet", user=0.48, segments=2e6)
        self.assertIs(self.verdict("tibet"), True)
        self.send("W1", "westwood-3", user=0.20)
        self.send("W2", "westwood-3", user=0.26)
        self.assertIs(self.verdict("westwood-3"), False)

    def test_what_watches_is_shown_and_not_judged(self):
        self.send("W1", senders.BASE, user=0.2)
        long = self.send("W1", "newreno, all eight watch", user=0.4)
        self.assertIn("2.00 ×", report.senders_table(long, self.sending, markdown=False))
        self.assertEqual({verdict.reached for verdict in targets.judge(self.found)}, {None})

    def receive(self, receiver, user, segments, packets):
        for long in receivers.long_workloads(self.known):
            run = Run(1, Cost(user, user, 0.0, 8 << 10), Answer(segments, 10.0, packets))
            self.receiving.row(long, receiver).timed.append(run)
        return long

    def test_divided_acks_are_judged_by_packets_and_saved_ones_by_segments(self):
        self.receive("every", user=2.0, segments=1e6, packets=2e6)
        self.receive("delayed", user=1.5, segments=1e6, packets=1.5e6)
        self.receive("division, n = 12", user=13.0, segments=1e6, packets=13e6)
        self.receive("division, n = 4", user=6.0, segments=1e6, packets=5e6)
        self.receive("accumulated", user=1.5, segments=1e6, packets=1.1e6)
        long = self.receive("accumulated-full", user=1.6, segments=1e6, packets=1.1e6)
        self.assertIs(self.verdict("division, n = 12"), True)
        self.assertIs(self.verdict("division, n = 4"), False)
        self.assertIs(self.verdict("accumulated:"), True)
        self.assertIs(self.verdict("accumulated-full"), False)
        self.assertIn("12.00", report.receivers_table(long, self.receiving, markdown=False))

    def test_receivers_differ_in_nothing_but_the_policy(self):
        (twelve,) = [one for one in receivers.receivers(judged_only=True) if one.name == "division, n = 12"]
        command = twelve.simulator(Path("/truckee")).command(receivers.long_workloads(workloads.load_all())[0], 1)
        expected = [*receivers.COMMON, "flow.receiver={ division = { n = 12 } }"]
        self.assertEqual([command[-7], command[-5], command[-3], command[-1]], expected)


if __name__ == "__main__":
    unittest.main()
