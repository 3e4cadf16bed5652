"""What traces.py draws, and what it makes of answers."""

import argparse
import tomllib
from typing import Any

import drawn
import pytest
import traces


def answer(invalid: bool = False, same: bool = True, in_time: bool = True, prefix: int = 10) -> Any:
    """One as `truckee compare --trace --format json` gives it."""
    parted = None if same and in_time else {"other": not same, "cause": {"kind": "heard"}}
    flow = {"same": same, "in_time": in_time, "prefix": prefix, "sent": [10, 11], "first": parted}
    return {"runs": [{"invalid": ["late"] if invalid else [], "flows": [flow]}]}


def test_a_scenario_is_the_same_whenever_it_is_drawn_and_others_are_others() -> None:
    assert traces.scenario(1, 5) == traces.scenario(1, 5)
    assert len({traces.scenario(seed, n) for seed in (1, 2) for n in range(50)}) == 100


def test_what_is_drawn_is_scripted_and_within_its_bounds() -> None:
    deeds: set[str] = set()
    for number in range(1, 101):
        read = tomllib.loads(traces.scenario(traces.SEED, number))
        link, flow = read["link"][0], read["flow"][0]
        assert 1 <= float(link["rate"].removesuffix("Mbit/s")) <= 20
        assert 5 <= int(link["delay"].removesuffix("ms")) <= 100
        assert flow["sender"] in traces.SENDERS
        for way, counts, first in (("channel", "data", 1), ("channel_back", "all", 2)):
            for effect in link[way]:
                if effect["kind"] == "none":
                    continue
                assert effect["kind"] == "scripted"
                assert effect["counts"] == counts
                assert effect["packets"] == sorted(set(effect["packets"]))
                assert effect["packets"][0] >= first
                deeds.add(f"{way} {effect.get('does', 'lose')}")
        if flow["app"]["kind"] == "segments":
            assert flow["app"]["count"] == len(flow["app"]["arrivals"]["times_ms"])
    assert len(deeds) == 6, "each deed on each way"


def test_invalid_runs_count_for_nothing_and_too_many_of_them_judge_nothing() -> None:
    answers = {n: answer() for n in range(1, 10)} | {10: answer(same=False, prefix=4), 11: answer(invalid=True)}
    told = traces.tell(answers)
    assert (told.runs, told.invalid, len(told.agreed), told.same) == (11, 1, 9, 9)
    assert told.judged
    assert told.share == traces.LEAST
    assert told.rest == [(10, 4, 11, "heard")]
    assert not traces.tell(answers | {12: answer(invalid=True)}).judged


def test_the_same_segments_at_other_times_do_not_agree() -> None:
    told = traces.tell({1: answer(in_time=False)})
    assert (len(told.agreed), told.same, told.causes) == (0, 1, {"times: heard": 1})
    assert any("10 of 11 segments" in line for line in traces.say(told))


def test_where_the_kernel_differs_from_itself_the_simulator_is_not_asked() -> None:
    told = traces.tell({1: answer(), 2: answer(same=False), 3: answer(in_time=False), 4: answer(invalid=True)})
    itself = traces.tell({1: answer(), 2: answer(), 3: answer(same=False), 4: answer()})
    first, second = traces.say_itself(told, itself)
    assert "3 of 4, 75.0 %" in first
    assert "1 of 2, 50.0 %" in second


def test_the_interval_holds_the_share_and_narrows() -> None:
    low, high = traces.interval(90, 100)
    assert low < 0.9 < high
    assert traces.interval(900, 1000)[0] > low
    assert traces.interval(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize("word", ["0", "-1", "x", "1.5", ""])
def test_a_number_that_counts_nothing_is_refused_with_what_is_expected(word: str) -> None:
    """Of scenarios, of one, and of runs at once."""
    with pytest.raises(argparse.ArgumentTypeError, match=f"from 1 on, found '{word}'"):
        drawn.counted(word)
