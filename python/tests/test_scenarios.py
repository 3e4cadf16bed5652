"""Scenarios: built, changed, refused."""

from __future__ import annotations

import pickle
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import EXAMPLES, SHORT
from hypothesis import given, settings
from hypothesis import strategies as st

import truckee
from truckee import Scenario

Command = Callable[..., subprocess.CompletedProcess[str]]
MISTYPED = 'duration = "1s"\n[[link]]\nbetween = ["a", "b"]\nrate = "1Mbit"\n[[flow]]\nfrom = "a"\nto = "b"\nsender = "renoo"\n'


def test_a_mapping_a_text_and_a_file_say_the_same(tmp_path: Path) -> None:
    built = Scenario(SHORT)
    file = tmp_path / "scenario.toml"
    file.write_text(built.text)
    digests = {truckee.run(source).digest for source in (built, file, str(file), SHORT, Scenario.parse(built.text))}
    assert len(digests) == 1


def test_replacing_makes_another_one_and_leaves_the_first() -> None:
    first = Scenario(SHORT)
    other = first.replace(
        {"flow.sender": "sack", "channel.per": 0.25, "seed": 7, "flow.app": {"kind": "file", "size": "1MB"}}
    )
    assert first.overrides == [] and len(other.overrides) == 4
    resolved = other.explain()
    assert "per = 0.25" in resolved and "seed = 7" in resolved and "size = " in resolved
    assert first != other and first == Scenario(SHORT) and hash(first) == hash(Scenario(SHORT))
    twice = other.replace({"flow.sender": "reno"}).replace({"flow.sender": "tahoe"})
    assert [pickle.loads(pickle.dumps(one)) for one in (other, twice)] == [other, twice]
    assert "--set" not in repr(other) and "flow.sender=sack" in repr(other)
    assert "channel.per = 0.25" in other._repr_html_()


def test_what_is_wrong_is_told_all_at_once_with_its_places(tmp_path: Path, command: Command) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(MISTYPED)
    with pytest.raises(truckee.ScenarioError) as caught:
        truckee.run(file)
    problems = caught.value.problems
    assert [(p.line, p.column) for p in problems] == [(4, 8), (8, 10)]
    assert problems[0].origin == f"{file}:4:8" and problems[1].help == 'did you mean "reno"?'
    said = command("run", file)
    assert (said.returncode, said.stderr) == (2, f"error: {caught.value}\n"), "as the command says it"
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.problems) == (str(caught.value), problems)
    assert isinstance(caught.value, ValueError)


def test_what_was_replaced_is_named_as_the_command_names_it(command: Command) -> None:
    file = EXAMPLES / "lossless.toml"
    for path, value in [("flow.sender", "renoo"), ("flow.sendr", "reno"), ("link.7.rate", "1Mbit/s")]:
        with pytest.raises(truckee.ScenarioError) as caught:
            truckee.run(file, set={path: value})
        assert command("run", file, "--set", f"{path}={value}").stderr == f"error: {caught.value}\n"


def test_what_is_no_scenario_at_all_is_refused(tmp_path: Path) -> None:
    with pytest.raises(truckee.ScenarioError, match="cannot read"):
        truckee.run(tmp_path / "not-there.toml")
    with pytest.raises(truckee.ScenarioError, match="is a folder"):
        truckee.run(tmp_path)
    for keys in ({"duration": None}, {"duration": float("nan")}, {"duration": object()}, {"duration": {1, 2}}):
        with pytest.raises(truckee.QuestionError):
            Scenario(keys)
    with pytest.raises(truckee.ScenarioError, match="without links"):
        Scenario({}).check()


@settings(max_examples=60)
@given(
    st.dictionaries(
        st.sampled_from(
            ["duration", "seed", "flow.sender", "channel.per", "link.0.rate", "flow.app", "x", "", "flow..y"]
        ),
        st.one_of(
            st.text(max_size=12),
            st.booleans(),
            st.integers(),
            st.floats(allow_nan=False, allow_infinity=False),
            st.lists(st.integers(), max_size=3),
            st.dictionaries(st.text(max_size=4), st.text(max_size=4), max_size=2),
        ),
        max_size=3,
    )
)
def test_whatever_is_replaced_there_is_a_scenario_or_an_error_of_ours(changes: dict[str, truckee.Value]) -> None:
    try:
        scenario = Scenario(SHORT).replace(changes)
        resolved = scenario.explain()
    except truckee.Error:
        return
    assert Scenario.parse(resolved).explain() == resolved


@settings(max_examples=40)
@given(
    st.recursive(
        st.one_of(
            st.text(max_size=8),
            st.booleans(),
            st.integers(-(2**63), 2**63 - 1),
            st.floats(allow_nan=False, allow_infinity=False),
        ),
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=6), inner, max_size=3)),
        max_leaves=8,
    )
)
def test_any_value_of_toml_can_be_written(value: truckee.Value) -> None:
    Scenario({"key": value})
    Scenario(SHORT).replace({"flow.app": value}) if not isinstance(value, str) else None
