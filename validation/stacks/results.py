"""What was seen of a stack, held against what was expected, as faults and as a table.

Pure: starts nothing.
"""

from dataclasses import dataclass, field

from expected import Case
from lab import Test


@dataclass
class Result:
    """One case: the tests by hand, what the probe says of each URL, what is not as expected, why it was left out if so."""

    case: Case
    by_hand: list[Test] = field(default_factory=list)
    servers: list[Test] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    skipped: str | None = None

    def as_json(self) -> dict[str, object]:
        """For --json."""
        return {
            "case": self.case.name,
            "by_hand": self.by_hand,
            "servers": self.servers,
            "faults": self.faults,
            "skipped": self.skipped,
        }


def judged(case: Case, by_hand: list[Test], servers: list[Test] | None) -> Result:
    """The tests by hand, and the probe's verdicts if it was asked, against the case."""
    faults = [f"by hand, {_name(test)}: {fault}" for test in by_hand if (fault := _fault(case, test))]
    faults += [] if by_hand else ["by hand: there was no test"]
    faults += [f"probe, {server['url']}: {fault}" for server in servers or [] if (fault := _misjudged(case, server))]
    faults += ["probe: nothing was judged"] if servers == [] else []
    return Result(case, by_hand, servers or [], faults)


def line(result: Result) -> str:
    """A result while it is the newest."""
    return f"{result.case.name}: {'; '.join(result.faults) or result.skipped or 'as expected'}"


def table(results: list[Result], markdown: bool) -> str:
    """One line a case, and below them what is not as expected."""
    tests = [_name(test) for test in max((result.by_hand for result in results), key=len, default=[])]
    lines = [["stack", "first window", *tests, "by its source", "the probe says", ""]]
    lines += [_cells(result, len(tests)) for result in results]
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    text = [_lay(line, widths, markdown) for line in lines]
    if markdown:
        text.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    notes = [f"{result.case.name}: {note}" for result in results for note in [*result.faults, result.skipped] if note]
    return "\n\n".join("\n".join(part) for part in (text, notes, [count(results)]) if part)


def count(results: list[Result]) -> str:
    """The closing line."""
    failed, skipped = (sum(bool(getattr(result, kind)) for result in results) for kind in ("faults", "skipped"))
    passed = len(results) - failed - skipped
    return f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else "")


def _fault(case: Case, test: Test) -> str | None:
    """What is wrong with a test, if anything."""
    if "reason" in test:
        return str(test["reason"])
    first, acks, second = sizes(test, "first"), sizes(test, "acks"), sizes(test, "second")
    if case.growth == "none":
        whole = sum(first) > case.size and not second
        return None if whole else f"{sum(first)} bytes before and {sum(second)} after an ACK, expected all before"
    mss = max(first)
    if case.mss is not None and mss != case.mss:
        return f"segments of {mss} bytes, expected {case.mss}"
    if sum(first) != case.first_round(mss):
        return f"a first window of {sum(first)} bytes, expected {case.first_round(mss)}"
    if sum(second) != case.second_round(first, acks, mss):
        return f"a second round of {sum(second)} bytes, expected {case.second_round(first, acks, mss)}"
    return None


def _misjudged(case: Case, server: Test) -> str | None:
    """What is wrong with the probe's verdict on a server, if anything."""
    verdict = server.get("verdict")
    if not isinstance(verdict, dict):
        return None if case.verdict is None else f"{said(server)} ({why(server)}), expected {words(case.verdict)}"
    if case.verdict is None:
        return f"{said(server)}, expected none, as there is no window to judge"
    if (verdict["reaction"], verdict["limit"]) != case.verdict:
        return f"{said(server)}, expected {words(case.verdict)}"
    mss, window = verdict["mss"], verdict["initial_window_bytes"]
    if case.mss is not None and mss != case.mss:
        return f"segments of {mss} bytes, expected {case.mss}"
    if window != case.first_round(mss):
        return f"an initial window of {window} bytes, expected {case.first_round(mss)}"
    return None


def said(server: Test) -> str:
    """The probe's verdict in a few words."""
    verdict = server.get("verdict")
    if isinstance(verdict, dict):
        return words((verdict["reaction"], verdict["limit"]))
    return "not judged"


def why(server: Test) -> str:
    """The probe's evidence or its reason to judge nothing, and what went wrong in single tests."""
    faults = server.get("faults")
    singles = faults if isinstance(faults, list) else []
    tests = [f"{fault['test']} of repetition {fault['repetition']}: {fault['fault']['words']}" for fault in singles]
    match server:
        case {"not_judged": {"words": str(reason)}}:
            return "; ".join([reason, *tests])
        case {"verdict": {"evidence": [*evidence]}}:
            return "; ".join([*map(str, evidence), *tests])
    return "no reason"


def words(verdict: tuple[str, int | None]) -> str:
    """The probe's word, and the limit if it has one."""
    reaction, limit = verdict
    return reaction if limit is None else f"{reaction}, L = {limit}"


def sizes(test: Test, key: str) -> list[int]:
    """A list of a test's."""
    value = test[key]
    assert isinstance(value, list)
    return value


def _name(test: Test) -> str:
    return "one ACK" if test["together"] else f"{test['division']} each"


def _cells(result: Result, tests: int) -> list[str]:
    case, seen = result.case, [test for test in result.by_hand if "reason" not in test]
    mss = max(sizes(seen[0], "first")) if seen else 0
    first = _segments(sizes(seen[0], "first"), mss) if seen else ""
    rounds = [_segments(sizes(test, "second"), mss) if test in seen else "" for test in result.by_hand]
    verdict = "FAILS" if result.faults else "left out" if result.skipped else "as expected"
    probe = "; ".join(dict.fromkeys(said(server) for server in result.servers))
    return [case.name, first, *rounds, *[""] * (tests - len(rounds)), growth(case), probe, verdict]


def growth(case: Case) -> str:
    """The rule in words."""
    match case.growth:
        case "per-ack":
            return "one segment an ACK"
        case "bytes":
            return f"bytes, at most {case.limit} MSS an ACK" if case.limit else "bytes"
        case "completing":
            return f"{case.limit} segments an ACK that completes one"
        case _:
            return "no window"


def _segments(seen: list[int], mss: int) -> str:
    """All bytes in full segments, and those left over."""
    full, rest = divmod(sum(seen), mss)
    return f"{full} + {rest} B" if rest else f"{full}"


def _lay(cells: list[str], widths: list[int], markdown: bool) -> str:
    padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
    return "| " + " | ".join(padded) + " |" if markdown else "  ".join(padded).rstrip()
