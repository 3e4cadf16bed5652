//! Quick-Start over routers that grant, lower and do not know it: completion times by hand.

use crate::{near, outcome};

/// When 100 segments of 1460 bytes over 10 Mbit/s and 50 ms each way are complete.
fn completion(start: &str, link: &str, more: &str) -> f64 {
    let result = outcome(&format!(
        r#"
        duration = "20s"
        stop_when_done = false
        [[link]]
        between = ["a", "r"]
        rate = "100Mbit/s"
        [[link]]
        between = ["r", "b"]
        rate = "10Mbit/s"
        delay = "50ms"
        {link}
        [[flow]]
        from = "a"
        to = "b"
        start = "1s"
        app = {{ kind = "file", size = "146kB" }}
        sender = {{ recovery = "sack", start = {start} }}
        handshake = true
        initial_window = "2segments"
        {more}
        "#
    ));
    result.flows[0].completion_s.unwrap()
}

const ASK: &str = r#"{ quick-start = { rate = "6Mbit/s" } }"#;

#[test]
fn what_all_routers_grant_is_used_in_the_first_round() {
    // The handshake, then 42 of 100 segments at 5.12 Mbit/s in one round, and slow start for the rest.
    let granted = completion(ASK, "", "");
    let ordinary = completion("\"slow-start\"", "", "");
    assert!(granted < ordinary - 0.25, "{granted} {ordinary}");
    near("a round trip for the handshake, two for the file", granted, 0.35, 0.1);
}

#[test]
fn one_router_that_does_not_know_it_leaves_the_ordinary_start() {
    let refused = completion(ASK, "quick_start = false", "");
    assert_eq!(refused, completion("\"slow-start\"", "", ""));
}

#[test]
fn a_busy_link_grants_less() {
    let traffic = "[[traffic]]\nfrom = \"r\"\nto = \"b\"\nkind = \"cbr\"\nrate = \"6Mbit/s\"\n";
    let (idle, busy) = (completion(ASK, "", ""), completion(ASK, "", traffic));
    let full = "[[traffic]]\nfrom = \"r\"\nto = \"b\"\nkind = \"cbr\"\nrate = \"10Mbit/s\"\n";
    assert!(busy > idle + 0.05, "{busy} {idle}");
    assert!(completion(ASK, "", full) > busy + 0.05);
}
