//! The M/D/1 queue and the queue of a bandwidth-delay product.

use crate::{near, outcome};

/// Waiting time of an M/D/1 queue in service times (Pollaczek–Khinchine).
fn m_d_1(load: f64) -> f64 {
    load / (2.0 * (1.0 - load))
}

#[test]
fn poisson_traffic_waits_as_in_m_d_1() {
    // A packet of 1500 B takes 1 ms. The higher the load, the longer the memory, the longer the run.
    for (load, seconds) in [(0.3, 1000), (0.5, 2000), (0.8, 8000)] {
        let result = outcome(&format!(
            r#"
            duration = "{seconds}s"
            warmup = "10s"
            [[link]]
            between = ["a", "b"]
            rate = "12Mbit/s"
            delay = "5ms"
            [[traffic]]
            from = "a"
            to = "b"
            kind = "poisson"
            rate = "{}Mbit/s"
            "#,
            12.0 * load
        ));
        let wait = m_d_1(load) * 1e-3;
        let (link, traffic) = (&result.links[0], &result.traffic[0]);
        near("mean wait", link.mean_wait_s, wait, 0.02);
        near("mean queue", link.mean_queue_packets, m_d_1(load) * load, 0.025);
        near("utilisation", link.utilisation, load, 0.01);
        near("delay", traffic.delay_s.mean.unwrap() - 6e-3, wait, 0.02);
        assert_eq!(traffic.drops.queue, 0);
    }
}

#[test]
fn segments_of_an_application_wait_as_in_m_d_1_where_windows_are_wide_open() {
    for (load, seconds) in [(0.3, 1000), (0.5, 2000), (0.8, 4000)] {
        // The same packets: 1460 B of payload with 40 B of headers.
        let result = outcome(&format!(
            r#"
            duration = "{seconds}s"
            warmup = "10s"
            [[link]]
            between = ["a", "b"]
            rate = "12Mbit/s"
            rate_back = "1Gbit/s"
            delay = "5ms"
            [[flow]]
            from = "a"
            to = "b"
            initial_window = "5000segments"
            app = {{ kind = "segments", arrivals = {{ kind = "poisson", rate = "{}Mbit/s" }} }}
            "#,
            12.0 * load * 1460.0 / 1500.0
        ));
        let (link, flow) = (&result.links[0], &result.flows[0]);
        near("mean wait", link.mean_wait_s, m_d_1(load) * 1e-3, if load < 0.6 { 0.02 } else { 0.03 });
        near("delay", flow.delay_s.mean.unwrap() - 6e-3, link.mean_wait_s, 0.002);
        near("goodput", flow.goodput_bps, 12e6 * load * 1460.0 / 1500.0, 0.01);
    }
}

#[test]
fn a_queue_of_the_bandwidth_delay_product_keeps_the_link_busy() {
    for sender in ["reno", "newreno", "sack"] {
        let result = outcome(&format!(
            r#"
            duration = "400s"
            warmup = "100s"
            [[link]]
            between = ["a", "b"]
            rate = "10Mbit/s"
            delay = "50ms"
            queue = {{ kind = "drop-tail", size = "bdp" }}
            [[flow]]
            from = "a"
            to = "b"
            sender = "{sender}"
            "#
        ));
        let utilisation = result.links[0].utilisation;
        assert!((0.99..=1.0).contains(&utilisation), "{sender}: {utilisation}");
        assert!(result.links[0].queue_drops > 0, "{sender} never filled the queue");
        near("goodput", result.flows[0].goodput_bps, 1e7 * 1460.0 / 1500.0, 0.01);
    }
}
