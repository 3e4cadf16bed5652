"""Tests of drilled.py, and that each rule which scripts are to hold has one: python3 -m pytest docs/test_drilled.py."""

import drilled
import pytest

# What issue and RFCs name: a document, and what the places of its scripts have to have among them.
WANTED = {
    "RFC 5681": ["section 2", "section 3.1", "equation 3", "equation 4", "section 3.2", "section 4.1", "section 4.2"],
    "RFC 6582": ["section 3.2, step 1", "section 3.2, step 3", "section 3.2, step 5", "section 4"],
    "RFC 6675": [
        "section 2",
        "IsLost",
        "NextSeg, rule 1",
        "NextSeg, rule 2",
        "NextSeg, rule 4",
        "section 5",
        "RecoveryPoint",
    ],
    "RFC 3042": ["section 2"],
    "RFC 3465": ["section 2.1", "L = 2", "section 2.3"],
    "RFC 6298": [
        *(f"rule{'s' if rule == '2.1' else ''} {rule}" for rule in ("2.1", "2.2", "2.3", "2.4", "2.5")),
        *(f"rule {rule}" for rule in ("5.1", "5.2", "5.3", "5.4", "5.5", "5.7")),
        "Karn",
    ],
    "RFC 3168": [f"section 6.1.{part}" for part in ("1", "1.1", "2", "3", "4", "5")],
    "RFC 8985": [
        "section 6.2, step 4",
        "section 6.2, step 5",
        "section 6.3",
        *(f"section 7.{part}" for part in ("2", "3", "4", "4.2")),
    ],
    "RFC 9937": ["section 6.1", "section 6.2", "section 6.3"],
    "RFC 5682": ["step 1", "step 2b", "step 3a", "step 3b"],
    "RFC 2883": ["section 4.1", "section 4.2", "section 4.3", "rule 1"],
    "RFC 3708": ["section 3"],
    "RFC 3522": ["section 3.2"],
    "RFC 4015": ["section 3.2"],
    "RFC 2861": ["section 3.2"],
    "RFC 7661": ["section 4.3"],
    "RFC 6928": [""],
    "RFC 9406": [""],
    "RFC 2018": ["section 3", "section 4"],
    "RFC 9768": [f"section 3.{part}" for part in ("1.1", "1.3", "1.4.1", "2.1", "2.2", "2.2.1", "2.2.5.1", "2.3")],
    "Linux": [
        "tcp_cwnd_validate",
        "tcp_cwnd_application_limited",
        "tcp_is_cwnd_limited",
        "tcp_cwnd_restart",
        "tcp_cwnd_reduction",
        "tcp_fastretrans_alert",
        "tcp_enter_loss",
        "tcp_process_loss",
        "tcp_rtt_estimator",
        "TCP_RTO_MIN",
        "tcp_slow_start",
        "hystart_update",
        "TCP_ATO_MIN",
        "TCP_MAX_QUICKACKS",
        "tcp_enter_quickack_mode",
        "tcp_event_data_sent",
        "tcp_event_data_recv",
        "tcp_delack_timer_handler",
        "tcp_send_delayed_ack",
        "tcp_update_pacing_rate",
        "tcp_update_skb_after_send",
        "tcp_tso_autosize",
        "tcp_cwnd_test",
        "tcp_tso_should_defer",
        "tcp_select_initial_window",
        "tcp_rcv_space_adjust",
        "bbr_init_pacing_rate_from_rtt",
        "bbr_set_cwnd",
        "bbr_check_full_bw_reached",
        "bbr_check_drain",
        "bbr_update_min_rtt",
        "bbr_save_cwnd",
        "bbr_ssthresh",
    ],
}


@pytest.mark.parametrize("document", WANTED)
def test_each_rule_has_a_script(document: str) -> None:
    parts = [place.part for script in drilled.scripts() for place in script.places() if place.document == document]
    assert parts, document
    missing = [wanted for wanted in WANTED[document] if not any(wanted in part for part in parts)]
    assert missing == []


def test_each_script_says_its_rule_and_where_it_stands() -> None:
    found = drilled.scripts()
    assert all(script.rule for script in found)
    nowhere = [script.name for script in found if not script.places()]
    assert nowhere == []


def test_a_bracket_is_split_where_it_names_another_document() -> None:
    script = drilled.Script("a/b", "This (RFC 6298, rule 5.4; Linux, f: g), and that (section 3.2) and (the like).")
    assert script.places() == [
        drilled.Place("RFC 6298", "rule 5.4"),
        drilled.Place("Linux", "f"),
        drilled.Place("Linux", "section 3.2"),
    ]
    script = drilled.Script("a/b", "This (Linux 6.18, f_g: h; i_j, k, and the like; RFC 6298).")
    assert script.places() == [
        drilled.Place("Linux", "f_g"),
        drilled.Place("Linux", "i_j"),
        drilled.Place("RFC 6298", ""),
    ]


def test_first_lines_end_where_the_script_begins() -> None:
    assert drilled.rule("// One\n// two.\n`sysctl`\n// three\n") == "One two."
