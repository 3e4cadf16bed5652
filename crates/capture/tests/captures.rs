//! Captures made by others, which are asked for by name, where a machine has them: `cargo test -p truckee-capture --
//! --ignored`, with `TRUCKEE_DATA` naming their folder, or `../shared/data` from the project's root. What they show of the
//! formats, the tests in `src/file` show of files of our own making.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use std::path::PathBuf;
use truckee_capture::file::Reader;
use truckee_capture::{Capture, Limits, read, source};

fn folder() -> PathBuf {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let data = std::env::var_os("TRUCKEE_DATA").map_or(beside, PathBuf::from).join("captures");
    assert!(data.is_dir(), "there are no captures at {} (set TRUCKEE_DATA)", data.display());
    data
}

fn captured(path: &std::path::Path) -> Capture {
    read(source::open(path).unwrap(), Limits::default(), None, |_| true)
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
#[ignore = "wants captures made by others"]
fn what_each_capture_of_the_tcpdump_tests_holds() {
    let folder = folder();
    // Packets, of TCP, payload to the server and to the client, the largest segment.
    for (name, packets, tcp, up, down, largest) in [
        ("bigtcp-ipv4.pcap", 1, 1, 80_000, 0, 80_000),
        ("bigtcp-ipv6.pcap", 1, 1, 79_968, 0, 79_968),
        ("dns_tcp.pcap", 11, 11, 58, 226, 226),
        ("ipv4_tcp_http_xml.pcap", 1, 1, 605, 0, 605),
        ("ipv4_tcp_http_xml_tso.pcap", 1, 1, 1976, 0, 1976),
        ("mptcp-v1.pcap", 20, 20, 10_268, 10_268, 7100),
        ("tcp-handshake-nano.pcap", 3, 3, 0, 0, 0),
        ("tcp_rst_data.pcap", 1, 1, 0, 0, 0),
        ("tcp_rst_data-trunc.pcap", 1, 1, 0, 0, 0),
    ] {
        let capture = captured(&folder.join(name));
        let [c] = capture.connections.as_slice() else { panic!("{name}: {:?}", capture.connections) };
        let found =
            (capture.packets, capture.tcp_packets, c.to_server.unique_bytes, c.to_client.unique_bytes);
        assert_eq!(found, (packets, tcp, up, down), "{name}");
        let most = c.to_server.largest_segment.max(c.to_client.largest_segment);
        assert_eq!(most, largest, "{name}");
    }
    let nano = captured(&folder.join("tcp-handshake-nano.pcap"));
    let handshake = nano.connections[0].handshake;
    assert!(handshake.to_server_s.is_some_and(|s| (0.1..0.2).contains(&s)), "{handshake:?}");
}

#[test]
#[ignore = "wants captures made by others"]
fn headers_made_to_do_harm_do_none() {
    let folder = folder();
    for name in [
        "heapoverflow-tcp_print.pcap",
        "tcp_header_heapoverflow.pcap",
        "tcp_eight_lowest_weight_flags_set.pcap",
    ] {
        assert_eq!(captured(&folder.join(name)).packets, 1, "{name}");
    }
}

#[test]
#[ignore = "wants captures made by others"]
fn every_file_of_the_pcapng_tests_reads_alike_in_both_byte_orders() {
    let folder = folder();
    let mut files = 0;
    for entry in std::fs::read_dir(folder.join("pcapng-be")).unwrap() {
        let big = entry.unwrap().path();
        let little = folder.join("pcapng-le").join(big.file_name().unwrap());
        let frames = |path: &PathBuf| {
            let mut reader = Reader::new(source::open(path).unwrap()).unwrap();
            let mut frames = Vec::new();
            while let Some(f) = reader.next_frame().unwrap_or_else(|e| panic!("{}: {e}", path.display())) {
                frames.push((f.time, f.link, f.wire_len, f.data.to_vec()));
            }
            (frames, reader.skipped().0)
        };
        assert_eq!(frames(&big), frames(&little), "{}", big.display());
        files += 1;
    }
    assert!(files > 20, "{files}");
}
