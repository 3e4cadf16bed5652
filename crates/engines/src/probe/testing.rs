//! What the tests of several crates stand on: tests of servers that are made up.

use truckee_kernel::probe::{Observation, Test};

/// A test in which so many packets came, ten of them in the first window.
pub fn observation(test: Test, repetition: u32, packets: u32) -> Observation {
    Observation {
        test,
        repetition,
        rtt_s: 0.04,
        status: Some(200),
        mss: 1448,
        window_segments: 10,
        window_bytes: 14_480,
        handshake_segments: 0,
        rounds: vec![10],
        acks: 3,
        acked_segments: 3,
        acked_bytes: 4344,
        second_segments: packets - 10,
        second_bytes: 1448 * u64::from(packets - 10),
        second_largest: 1448,
        late_segments: 0,
        retransmitted: 2,
        early_retransmissions: 0,
        began: "2026-11-24T00:00:00Z".into(),
        withheld: packets - 1,
        data_bytes: 1448 * u64::from(packets),
        first_retransmission_s: Some(0.3),
        data_packets: packets,
        ended: false,
        missing_bytes: 0,
        ttl: 64,
        application_limited: false,
    }
}
