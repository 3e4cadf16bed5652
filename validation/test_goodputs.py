"""What goodputs.py draws, and how it judges."""

import tomllib
from typing import Any

import goodputs
import pytest


def answer(low: float, high: float, late: bool = False) -> Any:
    """One as `truckee compare --format json` gives it."""
    against = {"ratio": (low + high) / 2, "interval": [low, high]}
    given: dict[str, Any] = {"flows": [{"metrics": [{"metric": "goodput_bps", "against": [against]}]}]}
    return given | ({"not_judged": "the machine was too late"} if late else {})


def test_what_is_drawn_lies_within_its_bounds_and_is_drawn_again_alike() -> None:
    senders = set()
    for number in range(1, goodputs.COUNT + 1):
        text = goodputs.scenario(goodputs.SEED, number)
        assert text == goodputs.scenario(goodputs.SEED, number)
        read = tomllib.loads(text)
        link = read["link"][0]
        assert 1 <= float(link["rate"].removesuffix("Mbit/s")) <= 100
        assert 10 <= 2 * float(link["delay"].removesuffix("ms")) <= 300.1
        assert 0.2 <= float(link["queue"]["size"].removesuffix("bdp")) <= 4
        assert 0 <= link["channel"]["per"] <= 0.03
        senders.add(read["flow"][0]["sender"])
    assert senders == set(goodputs.SENDERS)


@pytest.mark.parametrize(
    ("low", "high", "near", "far"),
    [
        (0.98, 1.02, "within", "within"),
        (0.95, 0.99, "undecided", "within"),
        (0.95, 0.96, "beyond", "within"),
        (0.90, 0.93, "beyond", "beyond"),
        (0.90, 1.10, "undecided", "undecided"),
    ],
)
def test_an_interval_is_within_a_bound_beyond_it_or_neither(low: float, high: float, near: str, far: str) -> None:
    judged = [goodputs.verdict(answer(low, high), bound) for bound in (goodputs.NEAR, goodputs.FAR)]
    assert judged == [near, far]


def test_what_the_machine_spoilt_is_not_judged() -> None:
    assert goodputs.verdict(answer(0.99, 1.01, late=True), goodputs.NEAR) == "not judged"


def test_the_claim_holds_is_broken_or_neither() -> None:
    good = {n: answer(0.99, 1.01) for n in range(1, 10)}
    assert goodputs.decided(good | {10: answer(0.95, 0.96)}, 10) == "holds"
    assert goodputs.decided(good | {10: answer(0.90, 0.93)}, 10) == "broken"
    assert goodputs.decided(good | {9: answer(0.95, 0.96), 10: answer(0.95, 0.96)}, 10) == "broken"
    assert goodputs.decided(good, 10) == "undecided", "one is missing"


def test_the_last_round_is_of_what_the_claim_hangs_on() -> None:
    within, near, far = answer(0.99, 1.01), answer(0.95, 0.99), answer(0.90, 1.10)
    assert goodputs.undecided({}, 3, last=True) == [1, 2, 3]
    few = dict.fromkeys(range(1, 9), within) | {9: near, 10: far}
    assert goodputs.undecided(few, 10, last=True) == [9, 10], "eight of ten are too few"
    enough = dict.fromkeys(range(1, 19), within) | {19: near, 20: far}
    assert goodputs.undecided(enough, 20, last=False) == [19, 20]
    assert goodputs.undecided(enough, 20, last=True) == [20], "what is within 6 % may be undecided within 3"
    assert goodputs.undecided(dict.fromkeys(range(1, 20), within), 20, last=True) == [20], "one is missing"


def test_slow_links_are_run_several_at_once() -> None:
    text = 'rate = "{}Mbit/s"\n'.format
    assert [goodputs.at_once(text(rate)) for rate in ("1.00", "8.00", "15.00", "99.00")] == [8, 5, 2, 2]
    least, most = goodputs.hours([text("1.00"), text("99.00")])
    assert least == pytest.approx((20 + 40) / 3600 / goodputs.BESIDE)
    assert most == pytest.approx(20 * (2 + 8 + 32 + 8 + 32 + 128) / 3600 / goodputs.BESIDE)
