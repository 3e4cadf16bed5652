"""Tests of what holds 802.11 and the queues beside the peers'. What the programs answer is not tested here."""

import unittest

import queues
import verdicts
import wireless
from programs import NS2, NS3, OURS
from wireless import SetUp


class Wireless(unittest.TestCase):
    def test_no_row_is_there_twice_and_every_reason_has_its_row(self):
        rows = [(set_up.title, set_up.flow) for set_up in wireless.set_ups()]
        self.assertEqual(len(rows), len(set(rows)))
        peers = {(set_up.title, set_up.flow): set_up.peers() for set_up in wireless.set_ups()}
        for (title, flow, peer), reason in wireless.reasons().items():
            with self.subTest(title):
                self.assertIn(peer, peers[title, flow])
                self.assertTrue(reason.because.strip())

    def test_all_programs_are_told_the_same(self):
        chain = SetUp("x", "tcp", hops=4, rate=5.5, rts=True, sense=250, window=8)
        ours = chain.ours()
        for setting in (
            "medium.0.rate=5.5Mbit/s",
            "medium.0.rts_threshold=0B",
            "node.0.count=5",
            "medium.0.carrier_sense=-64.375dBm",
            'flow=[{ from = "n1", to = "n5", rwnd = "8segments" }]',
        ):
            self.assertIn(setting, ours)
        for word in ("flow=tcp", "hops=4", "rate=5500000.0", "rts=1", "sense=250", "window=8"):
            self.assertIn(word, chain.ns2())
        for word in ("--flow=tcp", "--hops=4", "--rate=5.5", "--rts=1", "--sense=250", "--window=8"):
            self.assertIn(word, chain.ns3())

    def test_a_hidden_pair_offers_the_same_load_at_every_rate(self):
        pair = SetUp("x", "udp", rate=11, hidden=True)
        self.assertIn("traffic.1.rate=16.5Mbit/s", pair.ours())
        self.assertIn("hops=hidden", pair.ns2())
        self.assertIn("--hidden=1", pair.ns3())

    def test_ns2_is_asked_for_802_11b_alone(self):
        self.assertEqual(SetUp("x", "udp", standard="n").peers(), [NS3])
        self.assertEqual(SetUp("x", "udp").peers(), [NS2, NS3])

    def test_a_difference_that_nobody_knows_fails(self):
        row = wireless.judged(SetUp("nowhere", "udp"), {OURS: [2.0, 2.0, 2.0], NS3: [1.0, 1.0, 1.0]})
        self.assertEqual(row.verdicts[NS3].word, verdicts.FAILS)


class Queues(unittest.TestCase):
    def test_a_figure_agrees_where_its_whole_interval_is_within_its_bound(self):
        for ratio, half, word in (
            (1.05, 0.04, "agrees"),
            (1.05, 0.06, "undecided"),
            (1.2, 0.05, "differs"),
            (0.8, 0.05, "differs"),
        ):
            with self.subTest(ratio=ratio, half=half):
                self.assertEqual(queues.verdict("wait_ms", verdicts.Estimate(ratio, half, 5)), word)
        self.assertEqual(queues.verdict("goodput_mbps", verdicts.Estimate(1.05, 0.01, 5)), "differs")

    def test_the_table_has_a_line_a_row_and_counts_what_came_out(self):
        figures = {"wait_ms": 10.0, "hit": 0.01, "goodput_mbps": 19.0}
        row = {"queue": "pie", "load": "1 TCP", OURS: [figures] * 3, NS3: [figures | {"hit": 0.02}] * 3}
        told = queues.table([row])
        self.assertIn("| pie | 1 TCP | 10 | 10 | 1.000 ± 0.000 | agrees | 1 | 2 | 0.500 ± 0.000 | differs | 19 |", told)
        self.assertIn("2 agrees, 1 differs, 0 undecided.", told)


if __name__ == "__main__":
    unittest.main()
