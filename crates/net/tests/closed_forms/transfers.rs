//! The time of a lossless transfer, to the nanosecond.
//!
//! One link of 8 Mbit/s: a full packet takes 1.5 ms, a bare header 40 µs, all in whole nanoseconds. A round trip is long
//! against a window's transmission, so that rounds stay apart: each begins with the first ACK of the one before, and
//! within it the link is busy without a gap, since each ACK releases more than one segment.

use crate::{near, outcome};

const MS: u64 = 1_000_000;
const PACKET: u64 = 1_500_000;
const HEADER: u64 = 40_000;

/// The completion of a file, ns.
fn completion(settings: &str, delay_ms: u64) -> u64 {
    let text = format!(
        r#"
        duration = "1000s"
        [[link]]
        between = ["a", "b"]
        rate = "8Mbit/s"
        delay = "{delay_ms}ms"
        [[flow]]
        from = "a"
        to = "b"
        {settings}
        "#
    );
    let flow = &outcome(&text).flows[0];
    assert_eq!((flow.retransmitted_segments, flow.timeouts), (0, 0));
    (flow.completion_s.unwrap() * 1e9).round() as u64
}

/// SYN and SYN-ACK; then rounds of IW, 2·IW, 4·IW … segments, of which the last one carries FIN; then its ACK.
fn with_every_ack(segments: u64, initial_window: u64, delay: u64) -> u64 {
    let handshake = 2 * (HEADER + delay);
    let round_trip = PACKET + delay + HEADER + delay;
    let (mut left, mut window, mut begin) = (segments, initial_window, handshake);
    while left > window {
        left -= window;
        window *= 2;
        begin += round_trip;
    }
    begin + left * PACKET + delay + HEADER + delay
}

#[test]
fn a_small_file_takes_its_rounds_to_the_nanosecond() {
    for sender in ["tahoe", "reno", "newreno", "sack"] {
        for initial_window in [1, 2, 10] {
            for segments in [1, 2, 3, 10, 11, 31, 50] {
                let settings = format!(
                    r#"
                    sender = "{sender}"
                    initial_window = "{initial_window}segments"
                    app = {{ kind = "file", size = "{segments}segments" }}
                    "#
                );
                assert_eq!(
                    completion(&settings, 50),
                    with_every_ack(segments, initial_window, 50 * MS),
                    "{sender}, IW {initial_window}, {segments} segments"
                );
            }
        }
    }
}

#[test]
fn the_last_segment_costs_what_it_holds() {
    let size = 10 * 1460 + 460;
    let settings = format!(r#"app = {{ kind = "file", size = "{size}B" }}"#);
    // 500 bytes on the wire in place of 1500.
    let expected = with_every_ack(11, 2, 50 * MS) - 1_000_000;
    assert_eq!(completion(&settings, 50), expected);
}

#[test]
fn delayed_acks_take_the_times_worked_out_by_hand() {
    let delay = 50 * MS;
    let handshake = 2 * (HEADER + delay);
    let back = delay + HEADER + delay;
    let expected = [
        // FIN is acknowledged at once.
        (1, 1, handshake + PACKET + back),
        // The first segment waits for its timer; its ACK releases two.
        (1, 3, handshake + PACKET + 200 * MS + back + 2 * PACKET + back),
        (2, 2, handshake + 2 * PACKET + back),
        // One ACK for two segments opens the window to three.
        (2, 5, handshake + 2 * PACKET + back + 3 * PACKET + back),
        (10, 10, handshake + 10 * PACKET + back),
        // The second round begins with the ACK of the first two segments and has five.
        (10, 15, handshake + 2 * PACKET + back + 5 * PACKET + back),
    ];
    for (initial_window, segments, expected) in expected {
        let settings = format!(
            r#"
            receiver = "delayed"
            initial_window = "{initial_window}segments"
            app = {{ kind = "file", size = "{segments}segments" }}
            "#
        );
        assert_eq!(completion(&settings, 50), expected, "IW {initial_window}, {segments} segments");
    }
}

#[test]
fn slow_start_reaches_83000_segments_in_17_16_and_15_rounds() {
    for (initial_window, rounds) in [(1, 17), (2, 16), (3, 15)] {
        let text = format!(
            r#"
            duration = "4s"
            [[link]]
            between = ["a", "b"]
            rate = "1000Gbit/s"
            delay = "50ms"
            [[flow]]
            from = "a"
            to = "b"
            rwnd = "200MB"
            initial_ssthresh = "83000segments"
            initial_window = "{initial_window}segments"
            app = {{ kind = "file", size = "140000segments" }}
            "#
        );
        let flow = &outcome(&text).flows[0];
        assert_eq!(flow.slow_start_rounds, Some(rounds), "IW {initial_window}");
        near("slow start, s", flow.slow_start_s.unwrap(), rounds as f64 * 0.1, 0.02);
    }
}

/// Twenty files of 30 segments each, over a path of 400 ms, for which slow start is all there is.
fn archive(connections: &str) -> u64 {
    let app = format!(
        r#"app = {{ kind = "files", size = "30segments", count = 20, connections = "{connections}" }}"#
    );
    completion(&app, 200)
}

#[test]
fn an_archive_over_separate_connections_takes_one_file_s_time_for_each() {
    // A connection's SYN leaves behind the ACK of the FIN before it.
    assert_eq!(archive("separate"), 20 * with_every_ack(30, 2, 200 * MS) + 19 * HEADER);
}

#[test]
fn an_archive_over_parallel_connections_takes_one_file_s_time_for_each_batch() {
    // Files of a batch share the link, which the closed form leaves out.
    for lanes in [2, 5] {
        let batches = 20 / lanes;
        let expected = batches * with_every_ack(30, 2, 200 * MS);
        near("parallel", archive(&format!("parallel:{lanes}")) as f64, expected as f64, 0.1);
    }
}

#[test]
fn an_archive_over_one_connection_takes_the_time_of_one_large_file() {
    // The window outgrows the path in the eighth round; until then 2 + 4 + … + 256 segments have gone. The rest goes at
    // the link's rate.
    let expected = with_every_ack(600, 2, 200 * MS);
    near("persistent", archive("one") as f64, expected as f64, 0.1);
    assert!(archive("one") < archive("parallel:5") && archive("parallel:5") < archive("separate"));
}

#[test]
fn a_flow_stopped_between_two_files_ends_with_its_connection() {
    let app = |connections: &str| {
        format!(
            r#"
            stop = "5s"
            app = {{ kind = "files", size = "1segments", count = 3, connections = "{connections}", pause = "10s" }}
            "#
        )
    };
    // Nothing is open that would have to be closed; or a FIN goes out, and its ACK comes back.
    assert_eq!(completion(&app("separate"), 50), 5000 * MS);
    assert_eq!(completion(&app("one"), 50), 5000 * MS + 2 * (HEADER + 50 * MS));
}
