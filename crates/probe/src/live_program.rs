//! Programs of one's own under the probe, on the loopback: what they ask is what the server hears, once a connection, and none
//! of them is left.

use super::*;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use truckee_testing::{PATIENCE, until};

/// A server that greets, if it does, hears lines, and answers each with the line that belongs to it, or, where none does any
/// more, with much, and closes; its port, and what it has heard in each connection.
fn server(greeting: &'static str, answers: &'static [&'static str]) -> (u16, Arc<Mutex<Vec<Vec<String>>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let all = Arc::clone(&heard);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let all = Arc::clone(&all);
            thread::spawn(move || all.lock().unwrap().push(talk(stream, greeting, answers)));
        }
    });
    (port, heard)
}

fn talk(mut stream: TcpStream, greeting: &str, answers: &[&str]) -> Vec<String> {
    let mut lines = BufReader::new(stream.try_clone().unwrap());
    let _ = stream.write_all(greeting.as_bytes());
    let mut heard = Vec::new();
    for answer in answers.iter().copied().map(Some).chain([None]) {
        let mut line = String::new();
        if !matches!(lines.read_line(&mut line), Ok(1..)) {
            return heard;
        }
        heard.push(line.trim_end().to_owned());
        let _ = match answer {
            Some(answer) => stream.write_all(answer.as_bytes()),
            None => stream.write_all(&vec![b'x'; 400_000]),
        };
    }
    // What the prober ends is ended by it.
    let _ = stream.set_read_timeout(Some(PATIENCE));
    let _ = lines.read_to_end(&mut Vec::new());
    heard
}

fn options(script: &str, turn: u32) -> Options {
    Options {
        pause: Duration::ZERO,
        watch: Duration::from_millis(50),
        patience: Duration::from_secs(20),
        repeat: 1,
        tests: vec![Test::A, Test::C],
        program: Some(Program { command: ["bash", "-c", script].map(Into::into).to_vec(), turn }),
        ..Options::default()
    }
}

fn probe(port: u16, options: &Options) -> Report {
    let target = format!("http://127.0.0.1:{port}/").parse().unwrap();
    Prober::new(options).unwrap().probe(&target, &mut (), &Cancel::new()).unwrap()
}

/// The processes that a file names, a line each.
fn processes(file: &Path) -> Vec<u32> {
    fs::read_to_string(file).unwrap_or_default().lines().map(|line| line.parse().unwrap()).collect()
}

fn runs(process: u32) -> bool {
    // One that has ended and is not waited for yet has no memory any more.
    fs::read_to_string(format!("/proc/{process}/statm")).is_ok_and(|text| !text.starts_with("0 "))
}

#[test]
fn what_a_program_asks_is_what_the_server_hears_and_the_program_is_gone_then() {
    if !truckee_testing::root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("processes");
    let (port, heard) = server("", &[]);
    let script = format!(
        "echo $$ >> {}; exec 3<>/dev/tcp/127.0.0.1/{port}; echo mine >&3; cat <&3 >/dev/null; sleep 1000",
        file.display()
    );
    let report = probe(port, &options(&script, 1));
    assert_eq!(report.tests.len(), 2, "{report:#?}");
    assert_eq!(report.program.as_deref(), Some(&*format!("bash -c {script}")));
    for test in &report.tests {
        assert!(test.data_packets > 0 && test.acks > 0 && test.ttl == 64, "{test:#?}");
        assert_eq!((test.status, test.handshake_segments), (None, 0), "{test:#?}");
    }
    assert_eq!((report.status, report.hops), (None, Some(0)));
    let programs = processes(&file);
    assert_eq!(programs.len(), 3, "an ordinary one, and one a test");
    programs.iter().for_each(|process| until("the program's end", || !runs(*process)));
    until("the connections' ends", || heard.lock().unwrap().len() == 3);
    assert!(heard.lock().unwrap().iter().all(|lines| lines == &["mine"]), "{heard:?}");
}

#[test]
fn what_is_said_before_the_programs_turn_goes_as_usual() {
    if !truckee_testing::root() {
        return;
    }
    let (port, heard) = server("220 here\n", &["250 well\n"]);
    let script = format!(
        "exec 3<>/dev/tcp/127.0.0.1/{port}; read -r a <&3; echo HELO >&3; read -r a <&3; echo SEND >&3; cat <&3 >/dev/null"
    );
    let report = probe(port, &options(&script, 2));
    assert_eq!(report.tests.len(), 2, "{report:#?}");
    for test in &report.tests {
        assert!(test.data_packets > 0 && test.handshake_segments >= 2, "{test:#?}");
    }
    until("the connections' ends", || heard.lock().unwrap().len() == 3);
    assert!(heard.lock().unwrap().iter().all(|lines| lines == &["HELO", "SEND"]), "{heard:?}");
}

#[test]
fn a_program_has_one_connection_to_the_server_and_others_as_it_likes() {
    if !truckee_testing::root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("refused");
    let ((port, heard), (other, aside)) = (server("", &[]), server("", &["aside\n"]));
    let script = format!(
        "exec 4<>/dev/tcp/127.0.0.1/{other}; echo first >&4; read -r a <&4; [ $a = aside ] || exit 9
         exec 3<>/dev/tcp/127.0.0.1/{port}; (exec 5<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null || echo 1 >> {}
         echo mine >&3; cat <&3 >/dev/null",
        file.display()
    );
    let report = probe(port, &options(&script, 1));
    assert_eq!(report.tests.len(), 2, "{report:#?}");
    assert_eq!(processes(&file), [1, 1, 1]);
    until("the connections' ends", || heard.lock().unwrap().len() == 3 && aside.lock().unwrap().len() == 3);
    assert!(aside.lock().unwrap().iter().all(|lines| lines == &["first"]), "{aside:?}");
}

#[test]
fn a_program_that_does_not_ask_is_named_with_how_it_ended() {
    if !truckee_testing::root() {
        return;
    }
    let (port, heard) = server("", &[]);
    let long = "x".repeat(9000);
    for (script, patience, says) in [
        ("exit 7".to_owned(), 20, "it ended (exit status: 7) without a connection to 127.0.0.1:"),
        ("sleep 1000".to_owned(), 1, "it made no connection to 127.0.0.1:"),
        (format!("exec 3<>/dev/tcp/127.0.0.1/{port}; sleep 1000"), 1, "it has not said its part 1 in 1 s"),
        (format!("exec 3<>/dev/tcp/127.0.0.1/{port}; exec 3>&-; sleep 1000"), 20, "it ended its connection"),
        (format!("exec 3<>/dev/tcp/127.0.0.1/{port}; echo {long} >&3; sleep 1000"), 20, "longer than 8192"),
    ] {
        let options = Options { patience: Duration::from_secs(patience), ..options(&script, 1) };
        let report = probe(port, &options);
        let Conclusion::NotJudged(fault) = &report.conclusion else { panic!("{report:#?}") };
        assert_eq!(fault.name(), "program", "{script}");
        assert!(fault.to_string().contains(says), "{script}: {fault}");
    }
    assert!(heard.lock().unwrap().iter().all(Vec::is_empty), "{heard:?}");
    let nowhere = Options {
        program: Some(Program { command: vec!["/nowhere/at-all".into()], turn: 1 }),
        ..options("", 1)
    };
    let target = format!("http://127.0.0.1:{port}/").parse().unwrap();
    let failed = Prober::new(&nowhere).unwrap().probe(&target, &mut (), &Cancel::new());
    assert!(matches!(failed, Err(Error::NotRun { status: 127, .. })), "{failed:?}");
}
