//! `bpf/layout.h` held against what this crate reads and writes: a program in C fills its structures in by the names of
//! their fields, or says what it finds under these names.

use super::arrival::Record;
use super::flow::Connection;
use super::program::{Marks, setup};
use super::release::{FRAME_AT, deadline_of};
use super::{Counts, Scope, manner};
use std::path::Path;
use truckee_tcp::ack::Manner;
use truckee_tcp::{Span, Time};

fn native(program: &str, input: &[u8]) -> Vec<u8> {
    let program = format!("#include \"layout.h\"\nint main(void)\n{{\n{program}\n}}\n");
    truckee_testing::native(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/bpf")), &program, &[], input)
}

/// What a structure that is read has under these names.
fn found(structure: &str, fields: &[&str], bytes: &[u8]) -> Vec<u64> {
    let says: String =
        fields.iter().map(|field| format!("printf(\"%llu\\n\", (unsigned long long)s.{field});\n")).collect();
    let read = "if (fread(&s, sizeof(s), 1, stdin) != 1 || getchar() != EOF) return 1;";
    let text = native(&format!("struct {structure} s;\n{read}\n{says}"), bytes);
    String::from_utf8(text).unwrap().lines().map(|line| line.parse().unwrap()).collect()
}

/// Such a structure as C has it, with these values under these names.
fn made(structure: &str, fields: &[(&str, u64)]) -> Vec<u8> {
    let fills: String = fields.iter().map(|(field, value)| format!("s.{field} = {value}ULL;\n")).collect();
    native(&format!("struct {structure} s = {{ 0 }};\n{fills}\nfwrite(&s, sizeof(s), 1, stdout);"), &[])
}

#[test]
fn an_arrival_is_read_as_it_is_told() {
    let bytes = made(
        "arrival",
        &[
            ("t", 1 << 40),
            ("connection_id", 2),
            ("connection.local[0]", 3),
            ("connection.remote[3]", 4),
            ("connection.local_port", 5),
            ("connection.remote_port", 6),
            ("end", 7),
            ("bytes", 8),
            ("segments", 9),
            ("unacked", 10),
            ("window", 11),
            ("rtt_us", 12),
            ("policy", 13),
            ("in_order", 1),
        ],
    );
    let read = Record::read(&bytes).unwrap();
    let expected = Record {
        t: Time::ns(1 << 40),
        id: 2,
        connection: read.connection,
        end: 7,
        bytes: 8,
        segments: 9,
        unacked: 10,
        window: 11,
        rtt_us: 12,
        policy: 13,
        in_order: true,
        urgent: false,
    };
    assert_eq!((read, read.ports()), (expected, (6, 5)));
    assert!(Record::read(&made("arrival", &[("urgent", 1)])).unwrap().urgent);
    assert_eq!(Record::read(&bytes[1..]), None, "it is no longer than that");
}

#[test]
fn a_deadline_and_a_held_frame_are_read_as_they_are_told() {
    let deadline = made("deadline", &[("at", 77), ("connection.local_port", 5), ("device", 3)]);
    assert_eq!(deadline.len(), super::release::DEADLINE.next_multiple_of(8));
    assert_eq!(deadline_of(&deadline), Time::ns(77));
    let port = u16::from_ne_bytes([deadline[8 + 32], deadline[8 + 33]]);
    assert_eq!((Connection::read(&deadline[8..]).is_some(), port), (true, 5));
    let frame = made("frame", &[("at", 77), ("device", 3), ("length", 4), ("l2", 5), ("bytes[0]", 6)]);
    let number = |at: usize| u32::from_ne_bytes(frame[at..at + 4].try_into().unwrap());
    assert_eq!(
        (deadline_of(&frame), number(8), number(12), number(16), frame[FRAME_AT]),
        (Time::ns(77), 3, 4, 5, 6)
    );
}

#[test]
fn counts_are_read_as_they_are_kept() {
    let whole = [
        "seen",
        "sent",
        "divided",
        "pieces",
        "held",
        "released",
        "late",
        "duplicates",
        "others",
        "unheld",
        "bytes",
        "flows",
        "unheard",
        "mode[AS_IS]",
        "mode[DIVIDED]",
        "mode[DELAYED]",
        "mode[ACCUMULATED]",
    ];
    let fields: Vec<(&str, u64)> = whole.into_iter().zip((1..).map(|n| n * 1_000_000_000)).collect();
    let record = made("counts", &fields);
    assert_eq!(record.len(), 8 * whole.len());
    let mut c = Counts::default();
    c.add(&record).unwrap();
    let read = [
        c.seen,
        c.sent,
        c.divided,
        c.pieces,
        c.held,
        c.released,
        c.overtaken,
        c.duplicates,
        c.others,
        c.unheld,
        c.bytes,
        c.flows,
        c.unheard,
    ];
    assert_eq!(read.map(|n| n / 1_000_000_000), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
    let t = c.time_s;
    assert_eq!([t.as_is, t.divided, t.delayed, t.accumulated], [14.0, 15.0, 16.0, 17.0]);
}

#[test]
fn a_manner_and_the_set_up_are_told_as_they_are_read() {
    let manner = Manner {
        covers: 2,
        wait: Span::ns(3),
        parts: 4,
        first: Some(5),
        cuts_holes: true,
        minds_window: true,
    };
    let before = Manner { covers: 7, parts: 8, ..manner };
    let told = manner::of_connection(&manner, 6, &before);
    let fields = [
        "wait",
        "covers",
        "parts",
        "first",
        "cuts_holes",
        "minds_window",
        "aligned",
        "since",
        "covers_before",
        "parts_before",
        "grain_us",
    ];
    assert_eq!(found("manner", &fields, &told), [3, 2, 4, 5, 1, 1, 0, 6, 7, 8, 0]);
    let accumulated = super::Policy::of(&truckee_tcp::Spec::named("accumulated")).unwrap();
    let fields = ["adapts == IN_PASSING", "grain_us", "aligned"];
    assert_eq!(found("manner", &fields, &manner::of(&accumulated))[1..], [1000, 0]);

    let told = setup(&Scope::Ports(Vec::new()), Marks { copy: 1, release: 2 }).unwrap();
    let fields = ["cgroup", "level", "copy_mark", "release_mark", "by_port"];
    assert_eq!(found("setup", &fields, &told), [0, 0, 1, 2, 1]);
}
