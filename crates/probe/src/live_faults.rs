//! Servers with every fault there is, on the loopback: each is named, and none is taken for a finding.

use super::*;
use crate::identity::Identity;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use truckee_testing::PATIENCE;

/// Whether raw sockets can be opened here, as root may; skips the test if not.
fn able() -> bool {
    truckee_testing::root()
}

/// A server that does this with each connection; its port.
fn server(answer: impl Fn(TcpStream) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            thread::spawn(move || answer(stream));
        }
    });
    port
}

/// Reads a request, up to the empty line behind it.
fn asked(stream: &mut TcpStream) {
    let mut text = Vec::new();
    let mut byte = [0];
    while !text.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n > 0) {
        text.extend(byte);
    }
}

/// One that says this after each request, and closes.
fn says(text: &'static str) -> u16 {
    server(move |mut stream| {
        asked(&mut stream);
        let _ = stream.write_all(text.as_bytes());
    })
}

fn options() -> Options {
    Options {
        pause: Duration::ZERO,
        watch: Duration::from_millis(50),
        patience: Duration::from_secs(4),
        repeat: 1,
        ..Options::default()
    }
}

fn probe(url: &str, options: &Options) -> Report {
    let target = url.parse().unwrap();
    Prober::new(options).unwrap().probe(&target, &mut (), &Cancel::new()).unwrap()
}

fn fault(report: &Report) -> &Fault {
    match &report.conclusion {
        Conclusion::NotJudged(fault) => fault,
        Conclusion::Verdict(verdict) => panic!("judged: {verdict:#?}"),
    }
}

fn reset(stream: TcpStream) {
    socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
}

#[test]
fn every_fault_of_a_server_is_named() {
    if !able() {
        return;
    }
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let cases = [
        ("refused", nobody),
        (
            "stalled",
            server(|mut s| {
                asked(&mut s);
                thread::sleep(PATIENCE)
            }),
        ),
        (
            "reset",
            server(|mut s| {
                asked(&mut s);
                reset(s)
            }),
        ),
        ("closed", says("")),
        ("closed", says("HTTP/1.1 200 OK\r\nServer:")),
        (
            "slow",
            server(|mut s| {
                asked(&mut s);
                let _ = s.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
                while s.write_all(b"x").is_ok() {
                    thread::sleep(Duration::from_millis(300));
                }
            }),
        ),
        (
            "no-http",
            server(|mut s| {
                asked(&mut s);
                let _ = s.write_all(b"HTTP/1.1 200 OK\r\nX: ");
                while s.write_all(&[b'x'; 4096]).is_ok() {}
            }),
        ),
        ("no-http", says("220 mail.example.org ESMTP\r\n")),
        ("status", says("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")),
        ("redirected", says("HTTP/1.1 301 Moved\r\nLocation: /x\r\n\r\n")),
        ("short", says("HTTP/1.1 200 OK\r\n\r\nshort")),
    ];
    thread::scope(|scope| {
        for (name, port) in cases {
            scope.spawn(move || {
                let report = probe(&format!("http://127.0.0.1:{port}/"), &options());
                assert_eq!(fault(&report).name(), name, "{report:#?}");
            });
        }
    });
}

#[test]
fn a_reset_before_any_answer_is_none_in_an_answer() {
    if !able() {
        return;
    }
    let port = server(|mut s| {
        asked(&mut s);
        reset(s)
    });
    let report = probe(&format!("http://127.0.0.1:{port}/"), &options());
    assert_eq!(fault(&report), &Fault::Reset("after the request"), "{report:#?}");
}

#[test]
fn redirects_are_followed_only_to_the_same_host_and_not_for_ever() {
    if !able() {
        return;
    }
    let follow = Options { follow: true, ..options() };
    let cases = [
        ("redirects", says("HTTP/1.1 302 Found\r\nLocation: /again\r\n\r\n")),
        ("elsewhere", says("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.2/\r\n\r\n")),
        ("elsewhere", says("HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest\r\n\r\n")),
    ];
    for (name, port) in cases {
        let report = probe(&format!("http://127.0.0.1:{port}/"), &follow);
        assert_eq!(fault(&report).name(), name, "{report:#?}");
    }
}

#[test]
fn a_name_without_an_address_is_named() {
    if !able() {
        return;
    }
    let report = probe("http://nosuch.invalid/", &options());
    assert_eq!(fault(&report).name(), "unresolved", "{report:#?}");
}

#[test]
fn faults_of_tls_are_named() {
    if !able() {
        return;
    }
    let plain = server(|mut s| {
        let _ = s.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        thread::sleep(PATIENCE);
    });
    let closes = server(drop);
    // A record of which a byte comes now and then is no handshake that goes on.
    let dribbles = server(|mut s| {
        let _ = s.write_all(&[22, 3, 3, 0x40, 0]);
        while s.write_all(&[0]).is_ok() {
            thread::sleep(Duration::from_millis(20));
        }
    });
    let stalls = server(|_stream| thread::sleep(PATIENCE));
    let unknown = tls_server(64 << 10);
    let cases =
        [("tls", plain), ("closed", closes), ("stalled", dribbles), ("stalled", stalls), ("tls", unknown)];
    for (name, port) in cases {
        let report = probe(&format!("https://127.0.0.1:{port}/"), &options());
        // A server that closes with our hello unread resets.
        let found = fault(&report).name();
        assert!(found == name || (name == "closed" && found == "reset"), "{name}: {report:#?}");
    }
}

/// A server of HTTPS with a certificate of its own, and an answer of so many bytes.
fn tls_server(bytes: usize) -> u16 {
    let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let config = Arc::new(config);
    server(move |mut stream| {
        let mut tls = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut line = rustls::Stream::new(&mut tls, &mut stream);
        let mut text = [0; 1024];
        if line.read(&mut text).is_ok() {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {bytes}\r\n\r\n");
            let _ = line.write_all(head.as_bytes());
            let _ = line.write_all(&vec![0; bytes]);
            let _ = line.flush();
        }
        thread::sleep(PATIENCE);
    })
}

#[test]
fn a_server_of_tls_is_probed_and_its_status_read() {
    if !able() {
        return;
    }
    let port = tls_server(400_000);
    // Small segments: the loopback's own would hold the whole answer.
    let options = Options { trust: Trust::Anyone, mss: Some(1000), tests: vec![Test::A], ..options() };
    let report = probe(&format!("https://127.0.0.1:{port}/"), &options);
    let [test] = &report.tests[..] else { panic!("{report:#?}") };
    assert_eq!((test.status, test.acks), (Some(200), 3), "{report:#?}");
    // Its records do not fill its segments.
    assert!((3..=6).contains(&test.acked_segments), "{report:#?}");
    assert!(test.handshake_segments > 0 && test.window_segments > 0, "{report:#?}");
    assert!((900..=1000).contains(&test.mss), "{report:#?}");
}

#[test]
fn a_server_that_never_ends_is_tested_and_left() {
    if !able() {
        return;
    }
    let port = server(|mut s| {
        asked(&mut s);
        let _ = s.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while s.write_all(&[0; 16 << 10]).is_ok() {}
    });
    let options = Options { mss: Some(1000), tests: vec![Test::A, Test::E], ..options() };
    let report = probe(&format!("http://127.0.0.1:{port}/"), &options);
    assert_eq!(report.tests.len(), 2, "{report:#?}");
    assert!(report.tests.iter().all(|t| !t.ended && t.missing_bytes == 0), "{report:#?}");
    assert_eq!((report.tests[0].acks, report.tests[1].acks), (3, 36));
}

#[test]
fn a_server_that_fails_only_when_tested_is_not_judged() {
    if !able() {
        return;
    }
    let count = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let port = server(move |mut s| {
        asked(&mut s);
        if count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0 {
            let _ = s.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            let _ = s.write_all(&[0; 400_000]);
        } else {
            let _ = s.write_all(b"HTTP/1.1 503 Busy\r\n\r\n");
            let _ = s.write_all(&[0; 400_000]);
        }
    });
    let options = Options { mss: Some(1000), ..options() };
    let report = probe(&format!("http://127.0.0.1:{port}/"), &options);
    assert_eq!(fault(&report), &Fault::Status(503), "{report:#?}");
    assert!(report.tests.is_empty() && report.faults.len() == 2, "{report:#?}");
}

/// Each part says why it found nothing; where the machine stood still in the middle of it, it says that in its place.
fn says_why(identity: &Identity, why: &str) {
    for said in [&identity.recovery.evidence[0], &identity.control.evidence[0]] {
        assert!(said.contains(why) || said.contains("stood still"), "{why}: {identity:#?}");
    }
}

#[test]
fn who_cannot_be_told_is_not_and_the_reason_is_said() {
    if !able() {
        return;
    }
    let options = Options { identify: true, tests: Vec::new(), ..options() };
    let cases = [
        ("too short", says("HTTP/1.1 200 OK\r\n\r\nshort")),
        ("too short", says(FEW.get_or_init(|| format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(9000))))),
        (
            "resets",
            server(|mut s| {
                asked(&mut s);
                reset(s)
            }),
        ),
    ];
    thread::scope(|scope| {
        for (why, port) in cases {
            let options = &options;
            scope.spawn(move || {
                let report = probe(&format!("http://127.0.0.1:{port}/"), options);
                assert!(matches!(fault(&report).name(), "unasked" | "reset"), "{report:#?}");
                let Some(identity) = &report.identity else { return };
                assert_eq!((identity.recovery.is, identity.control.is), (None, None), "{identity:#?}");
                says_why(identity, why);
            });
        }
    });
}

/// A server that answers the ordinary request, its first connection, as it should, and does this with all later ones once they
/// have asked.
fn later(bad: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> u16 {
    let count = std::sync::atomic::AtomicU32::new(0);
    server(move |mut stream| {
        asked(&mut stream);
        if count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 0 {
            return bad(&mut stream);
        }
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        let _ = stream.write_all(&[0; 400_000]);
    })
}

#[test]
fn a_server_that_turns_bad_when_it_is_to_be_told_is_not_and_the_reason_is_said() {
    if !able() {
        return;
    }
    let options = Options { identify: true, tests: Vec::new(), ..options() };
    let cases = [
        (
            "stalls",
            later(|s| {
                let _ = s.write_all(&[0; 9000]);
                thread::sleep(PATIENCE);
            }),
        ),
        ("stalls", later(|_| thread::sleep(PATIENCE))),
        (
            "resets",
            later(|s| {
                let _ = s.write_all(&[0; 9000]);
                // What has been written is to leave before the reset, which would take it along.
                thread::sleep(Duration::from_millis(300));
                socket2::SockRef::from(&*s).set_linger(Some(Duration::ZERO)).unwrap();
            }),
        ),
        ("too short", later(|s| drop(s.write_all(&[0; 9000])))),
        ("closes", later(|_| ())),
    ];
    thread::scope(|scope| {
        for (why, port) in cases {
            let options = &options;
            scope.spawn(move || {
                let report = probe(&format!("http://127.0.0.1:{port}/"), options);
                assert_eq!(fault(&report).name(), "unasked", "{report:#?}");
                let identity = report.identity.as_ref().unwrap_or_else(|| panic!("{why}: {report:#?}"));
                assert_eq!((identity.recovery.is, identity.control.is), (None, None), "{identity:#?}");
                says_why(identity, why);
            });
        }
    });
}

/// An answer of a few segments.
static FEW: std::sync::OnceLock<String> = std::sync::OnceLock::new();

#[test]
fn which_tcp_it_is_is_told_over_tls_as_well() {
    if !able() {
        return;
    }
    let port = tls_server(8_000_000);
    let options = Options { trust: Trust::Anyone, identify: true, tests: Vec::new(), repeat: 3, ..options() };
    let report = probe(&format!("https://127.0.0.1:{port}/"), &options);
    let identity = report.identity.as_ref().unwrap_or_else(|| panic!("{report:#?}"));
    assert_eq!(identity.recovery.is, Some(Recovery::Sack), "{report:#?}");
    // Its window's rounds show nothing where the machine stood still, and it says so.
    let late = identity.control.evidence.iter().any(|why| why.contains("stood still"));
    assert!(late || !identity.rounds.is_empty(), "{report:#?}");
    let fingerprint = identity.fingerprint.as_ref().unwrap();
    assert!(fingerprint.handshake_segments > 0 && fingerprint.first_ttl == 64, "{fingerprint:#?}");
}

#[test]
fn a_server_whose_certificate_nobody_knows_is_not_asked_which_tcp_it_is() {
    if !able() {
        return;
    }
    let options = Options { identify: true, tests: Vec::new(), ..options() };
    let report = probe(&format!("https://127.0.0.1:{}/", tls_server(400_000)), &options);
    assert_eq!((fault(&report).name(), report.identity.is_none()), ("tls", true), "{report:#?}");
}

#[test]
fn an_interrupted_probe_says_so_at_once() {
    if !able() {
        return;
    }
    let port = server(|_stream| thread::sleep(PATIENCE));
    let cancel = Cancel::new();
    cancel.cancel();
    let target = format!("http://127.0.0.1:{port}/").parse().unwrap();
    let stopped = Prober::new(&options()).unwrap().probe(&target, &mut (), &cancel);
    assert!(matches!(stopped, Err(Error::Interrupted)), "{stopped:?}");
}
