"""Tests of drill.py: python3 -m pytest validation/stacks. No stack is started here."""

import tomllib
from typing import Any

import drill

SEEN = {"close/ours": None, "timeout/first": "line 9: expected > a; seen > b"}
LISTED: dict[str, Any] = {"passes": ["close/ours"], "fails": {"timeout/first": "it waits for 1 s"}, "varies": {}}


def test_what_is_as_it_is_listed_is_no_fault() -> None:
    assert drill.different(dict(SEEN), LISTED) == []


def test_what_passes_or_fails_otherwise_is_named() -> None:
    turned = {"close/ours": "line 1: no", "timeout/first": None}
    assert drill.different(turned, LISTED) == [
        "close/ours fails, and is not listed so: line 1: no",
        "timeout/first passes, and is not listed so",
    ]
    assert drill.different({"close/ours": None}, LISTED) == [
        "timeout/first is listed, and asks for what the stack does not do"
    ]


def test_what_varies_is_held_to_nothing() -> None:
    listed = {**LISTED, "varies": {"close/half": "unknown"}}
    for seen in (SEEN | {"close/half": None}, SEEN | {"close/half": "line 1: no"}, dict(SEEN)):
        assert drill.different(dict(seen), listed) == []


def test_what_is_written_is_read_and_says_why_as_before() -> None:
    entry = drill.entry(dict(SEEN), LISTED)
    assert tomllib.loads(drill.written({"smoltcp": entry})) == {"smoltcp": LISTED}


def test_the_list_names_scripts_and_says_why_each_fails() -> None:
    listed = tomllib.loads(drill.LISTED.read_text())
    assert set(listed) == set(drill.PROGRAMS)
    for entries in listed.values():
        for name in [*entries["passes"], *entries["fails"], *entries["varies"]]:
            assert (drill.SCRIPTS / f"{name}.pkt").exists(), name
        assert all(entries["fails"].values())


def test_a_script_that_asks_what_a_stack_does_not_tell_is_held_only_where_that_is_known_to_fail_before() -> None:
    floor, named = drill.SCRIPTS / "timeout" / "variance-floor.pkt", "timeout/variance-floor"
    assert not drill.can_end("smoltcp", floor, [])
    assert drill.can_end("smoltcp", floor, [named]) and drill.can_end("another", floor, [])
    assert drill.can_end("smoltcp", drill.SCRIPTS / "receiver" / "dsack.pkt", [])
    assert floor in drill.scripts() and drill.named(floor) == named
