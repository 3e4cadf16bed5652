"""The README's comparison with the peers, drawn from the stored results of `make bench` (docs/results/bench.json)."""

import re
from typing import Any

BLOCK = re.compile(r"(?<=<!-- bench:begin -->\n).*?(?=<!-- bench:end -->)", re.DOTALL)
TITLES = {
    "W1": "W1: 10 Mbit/s, 300 s",
    "W2": "W2: the same, 0.1 % loss",
    "W3": "W3: 100 flows, 100 Mbit/s",
    "W4": "W4: 1 Gbit/s, 10⁻⁵ loss",
    "W6": "W6: 1 Gbit/s, full window",
    "W6x10": "W6×10: 10 Gbit/s, 83,333 segments",
    "flows-1000": "1,000 flows, 1 Gbit/s",
}
PREDICTORS = ["newreno-lp", "newreno-lp(ncpld)", "newreno-lp(spike)", "newreno-lp(flip-flop)"]
ESTIMATORS = ["westwood-1", "westwood-2", "westwood-3", "tibet"]
SENDING = ["W1-1500s", "W2-1500s"]

Row = dict[str, Any]


class Bench:
    """What a bench measured, by table, workload and program."""

    def __init__(self, report: dict[str, Any]) -> None:
        self._report = report

    def row(self, workload: str, program: str, table: str = "rows") -> Row | None:
        """One row, if it was measured."""
        hit = [r for r in self._report[table] if (r["workload"], r["program"]) == (workload, program)]
        return hit[0] if hit else None

    def of(self, workload: str, program: str, key: str, table: str = "rows") -> float:
        """One value of one row."""
        row = self.row(workload, program, table)
        if row is None:
            raise SystemExit(f"docs/results/bench.json has no {program} on {workload} in {table}: bench/run.py, whole")
        return float(row[key])

    def faster(self, workload: str, program: str) -> float:
        """How many times as many segments a second as this program."""
        return self.of(workload, "truckee", "segments_per_s") / self.of(workload, program, "segments_per_s")

    def dearer(self, flows: str, one: str) -> float:
        """What a segment costs with many flows, over what it costs with one, by CPU time."""
        key = "segments_per_cpu_s"
        return self.of(one, "truckee", key) / self.of(flows, "truckee", key)

    def longer(self, flows: str, one: str) -> float:
        """Instructions a segment with many flows, over those with one, of the loop alone."""
        counted = {r["workload"]: r for r in self._report["counted"] if r["sender"] == "newreno"}
        if flows not in counted or one not in counted:
            raise SystemExit(f"docs/results/bench.json counts no {flows} or no {one}: bench/run.py, whole")
        key = "loop_instructions_per_segment"
        return float(counted[flows][key]) / float(counted[one][key])

    def packet_time(self, workload: str, receiver: str) -> float:
        """CPU seconds a packet, ACKs among them."""
        row = self.row(workload, receiver, "receivers")
        if row is None:
            raise SystemExit(f"docs/results/bench.json has no receiver {receiver} on {workload}: bench/run.py, whole")
        return 1 / (float(row["segments_per_cpu_s"]) * float(row["packets_per_segment"]))


def block(found: dict[str, Any]) -> str:
    """Table and sentences, between the README's marks."""
    bench = Bench(found["report"])
    cpus = found["report"]["conditions"]["cpus"]
    told = (
        "Segments per second of wall time, whole processes, medians of five (ns-3: two) on one"
        f" {cpus}-core machine in one sitting ({found['date'][:10]}); Truckee as `make fast`"
        " builds it, ns-2 2.35 with its fastest scheduler and minimal headers (in brackets: with its routes entered by hand besides), ns-3.37 as Debian builds it."
    )
    table = [
        "| workload | Truckee | ns-2 | ns-3 | goodput, Truckee / ns-2 (Mbit/s) | memory, Truckee / ns-2 (MiB) |",
        "|---|--:|--:|--:|--:|--:|",
        *(_line(bench, workload, title) for workload, title in TITLES.items()),
    ]
    return "\n".join([told, "", *table, "", _sentences(bench), ""])


def _line(bench: Bench, workload: str, title: str) -> str:
    rate = {p: _rate(bench.row(workload, p)) for p in ("truckee", "ns2", "ns2-computed", "ns3")}
    by_hand = f"({rate['ns2']})"
    ns2 = f"{rate['ns2-computed']} {by_hand}" if rate["ns2-computed"] != "–" else by_hand
    goodput = " / ".join(_goodput(bench.row(workload, p)) for p in ("truckee", "ns2"))
    memory = " / ".join(f"{bench.of(workload, p, 'peak_mib'):.1f}" for p in ("truckee", "ns2"))
    return f"| {title} | {rate['truckee']} | {ns2} | {rate['ns3']} | {goodput} | {memory} |"


def _rate(row: Row | None) -> str:
    if row is None:
        return "–"
    rate = row["segments_per_s"]
    return f"{rate / 1e6:#.3g} M" if rate >= 1e6 else f"{rate / 1e3:.0f} k"


def _goodput(row: Row | None) -> str:
    if row is None:
        return "–"
    error = row["goodput_standard_error_mbps"]
    return f"{row['goodput_mbps']:.3f}" + (f" ± {error:.3f}" if error else "")


def _sentences(bench: Bench) -> str:
    fast = bench.of("W6x10", "truckee", "simulated_s") / bench.of("W6x10", "truckee", "wall_s")

    def over(workload: str, sender: str) -> float:
        key = "segments_per_cpu_s"
        return bench.of(workload, "newreno", key, "senders") / bench.of(workload, sender, key, "senders")

    # Flip-Flop halves its rate on W1, and what a run costs besides falls on half as many segments: said apart.
    apart = ("W1-1500s", "newreno-lp(flip-flop)")
    costs = [over(w, s) for w in SENDING for s in PREDICTORS + ESTIMATORS if (w, s) != apart]
    divided = [bench.packet_time(w, "division, n = 12") / bench.packet_time(w, "every") for w in SENDING]

    def held(workload: str, receiver: str) -> float:
        key = "segments_per_cpu_s"
        return bench.of(workload, "delayed", key, "receivers") / bench.of(workload, receiver, key, "receivers")

    holding = [held(w, r) for w in SENDING for r in ("accumulated", "accumulated-full")]
    return (
        f"10 Gbit/s over 100 ms runs {fast:.1f} times faster than real time. "
        f"One flow (W1) runs {bench.faster('W1', 'ns2'):.1f} times as fast as on ns-2 whose routes are entered by hand, where"
        " we want 7. "
        f"A hundred flows run {bench.faster('W3', 'ns2-computed'):.1f} times as fast as on ns-2, and"
        f" {bench.faster('W3', 'ns2'):.1f} times where its routes are entered by hand, where we want 14. "
        f"A segment costs {bench.dearer('flows-1000', 'W6'):.2f} times as much with a thousand flows as with one, where we"
        f" want less than 1.5, and with thirty thousand {bench.dearer('flows-30000', 'W6x10'):.2f} times, where we want"
        f" 2.5; in instructions {bench.longer('flows-1000', 'W6'):.2f} and {bench.longer('flows-30000', 'W6x10'):.2f}"
        " times. "
        f"With a predictor or an estimator in charge a segment costs {100 * (min(costs) - 1):.0f} to"
        f" {100 * (max(costs) - 1):.0f} % more than NewReno's, and with Flip-Flop on W1, where it halves the rate,"
        f" {100 * (over(*apart) - 1):.0f} %. "
        f"A divided ACK costs {min(divided):.2f} to {max(divided):.2f} of an ordinary packet's time (division by 12),"
        f" and accumulated ACKs cost {min(holding):.2f} to {max(holding):.2f} of a delayed receiver's time"
        " for a segment."
    )


def drawn(page: str, results: dict[str, Any]) -> str:
    """A page with the block that stored results have, if it has one."""
    if not BLOCK.search(page):
        return page
    if "bench" not in results:
        raise SystemExit('no stored result "bench": docs/results.py numbers bench')
    return BLOCK.sub(lambda _: block(results["bench"]), page)
