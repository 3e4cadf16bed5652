"""Tests of the harness: python3 -m unittest discover -s bench. What the programs answer is not tested here."""

import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

import measure
import simulators
import targets
import workloads
from measure import Cost
from results import Run, Table
from simulators import COMPUTED_NS2, NS3, OURS, TUNED_NS2, Answer


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


class Targets(unittest.TestCase):
    def setUp(self):
        self.known = workloads.load_all()
        self.table = Table()

    def add(self, workload, program, wall, segments=1e6, goodput=10.0, peak_mib=8, seeds=1):
        row = self.table.row(self.known[workload], program)
        run = Run(1, Cost(wall, wall, 0.0, peak_mib << 10), Answer(segments, goodput))
        row.timed.append(run)
        row.further.extend(replace(run, seed=seed) for seed in range(2, seeds + 1))

    def verdict(self, beginning):
        (found,) = [verdict for verdict in targets.judge(self.table) if verdict.target.startswith(beginning)]
        return found.reached

    def test_nothing_measured_is_neither_reached_nor_missed(self):
        self.assertEqual({verdict.reached for verdict in targets.judge(self.table)}, {None})

    def test_speed_is_held_against_the_right_peer(self):
        self.add("W3", OURS, wall=1.0)
        self.add("W3", COMPUTED_NS2, wall=11.0)
        self.add("W3", TUNED_NS2, wall=9.0)
        self.add("W3", NS3, wall=99.0)
        self.assertIs(self.verdict("W3: segments/s at least 10 × ns-2 (Splay"), True)
        self.assertIs(self.verdict("W3: segments/s at least 10 × ns-2 with"), False)
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
        self.assertIs(self.verdict("cost per segment"), True)
        self.assertIs(self.verdict("flows-1000: peak memory"), False)


if __name__ == "__main__":
    unittest.main()
