use super::*;
use crate::write::Writer;
use truckee_tcp::{Span, Time};

/// What a reader makes of these bytes: the packets, and how it ended.
/// Time, kind of link, bytes on the wire, bytes there.
type Frame = (Time, u16, u32, Vec<u8>);

fn frames(bytes: &[u8]) -> (Vec<Frame>, Result<(), String>, u64) {
    let mut reader = match Reader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return (Vec::new(), Err(error.to_string()), 0),
    };
    let mut all = Vec::new();
    let end = loop {
        match reader.next_frame() {
            Ok(Some(f)) => all.push((f.time, f.link.0, f.wire_len, f.data.to_vec())),
            Ok(None) => break Ok(()),
            Err(error) => break Err(error.to_string()),
        }
    };
    let skipped = reader.skipped().0;
    (all, end, skipped)
}

/// A capture with a packet of so many bytes, of which 4 were captured.
fn legacy(magic: u32, big: bool, extra: usize) -> Vec<u8> {
    let word = |x: u32| if big { x.to_be_bytes() } else { x.to_le_bytes() };
    let half = |x: u16| if big { x.to_be_bytes() } else { x.to_le_bytes() };
    let mut file = word(magic).to_vec();
    file.extend(half(2));
    file.extend(half(4));
    [0, 0, 65535, 1].into_iter().for_each(|x| file.extend(word(x)));
    [10, 7, 4, 1500].into_iter().for_each(|x| file.extend(word(x)));
    file.extend(vec![0; extra]);
    file.extend([1, 2, 3, 4]);
    file
}

#[test]
fn every_kind_of_classic_file_is_read() {
    for (magic, big, extra, nanos) in [
        (0xa1b2_c3d4, false, 0, 7000),
        (0xa1b2_c3d4, true, 0, 7000),
        (0xa1b2_3c4d, false, 0, 7),
        (0xa1b2_3c4d, true, 0, 7),
        (0xa1b2_cd34, false, 8, 7000),
    ] {
        let (frames, end, _) = frames(&legacy(magic, big, extra));
        assert_eq!(frames, [(Time::s(10) + Span::ns(nanos), 1, 1500, vec![1, 2, 3, 4])], "{magic:x} {big}");
        assert_eq!(end, Ok(()));
    }
}

/// A pcapng block in the byte order asked for.
fn block(kind: u32, body: &[u8], big: bool) -> Vec<u8> {
    let word = |x: u32| if big { x.to_be_bytes() } else { x.to_le_bytes() };
    let mut body = body.to_vec();
    body.resize(body.len().next_multiple_of(4), 0);
    let len = word(12 + body.len() as u32);
    [&word(kind)[..], &len, &body, &len].concat()
}

fn section(big: bool) -> Vec<u8> {
    let word = |x: u32| if big { x.to_be_bytes() } else { x.to_le_bytes() };
    let half = |x: u16| if big { x.to_be_bytes() } else { x.to_le_bytes() };
    let body = [&word(0x1a2b_3c4d)[..], &half(1), &half(0), &[0xff; 8]].concat();
    block(0x0a0d_0d0a, &body, big)
}

/// An interface of that link type, with options as (code, value).
fn interface(link: u16, options: &[(u16, &[u8])], big: bool) -> Vec<u8> {
    let half = |x: u16| if big { x.to_be_bytes() } else { x.to_le_bytes() };
    let mut body = [&half(link)[..], &[0, 0], &[0; 4]].concat();
    for (code, value) in options {
        body.extend(half(*code));
        body.extend(half(value.len() as u16));
        body.extend(*value);
        body.resize(body.len().next_multiple_of(4), 0);
    }
    block(1, &body, big)
}

fn enhanced(interface: u32, units: u64, data: &[u8], big: bool) -> Vec<u8> {
    let word = |x: u32| if big { x.to_be_bytes() } else { x.to_le_bytes() };
    let head = [interface, (units >> 32) as u32, units as u32, data.len() as u32, 99];
    let mut body: Vec<u8> = head.into_iter().flat_map(word).collect();
    body.extend(data);
    block(6, &body, big)
}

#[test]
fn sections_of_either_byte_order_follow_each_other_with_clocks_of_their_own() {
    let seconds = |n: i64, big| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    let mut file = Vec::new();
    for big in [false, true] {
        file.extend(section(big));
        file.extend(interface(1, &[], big));
        file.extend(interface(101, &[(9, &[9]), (14, &seconds(5, big))], big));
        file.extend(enhanced(1, 7, b"abcde", big));
        file.extend(enhanced(0, 7, b"", big));
    }
    let (frames, end, skipped) = frames(&file);
    let one = [(Time::ns(5_000_000_007), 101, 99, b"abcde".to_vec()), (Time::us(7), 1, 99, Vec::new())];
    assert_eq!(frames, [one.clone(), one].concat());
    assert_eq!((end, skipped), (Ok(()), 0));
}

#[test]
fn packets_without_a_time_have_that_of_the_one_before() {
    let simple = block(3, &[&6u32.to_le_bytes()[..], b"simple"].concat(), false);
    let obsolete = {
        let mut body = vec![0, 0, 0, 0];
        [0u32, 9, 3, 60].into_iter().for_each(|x| body.extend(x.to_le_bytes()));
        body.extend(b"old");
        block(2, &body, false)
    };
    let file =
        [section(false), interface(1, &[], false), enhanced(0, 8, b"a", false), simple, obsolete].concat();
    let (frames, end, _) = frames(&file);
    assert_eq!(
        frames[1..],
        [(Time::us(8), 1, 6, b"simple".to_vec()), (Time::us(9), 1, 60, b"old".to_vec())],
        "{end:?}"
    );
}

#[test]
fn blocks_that_make_no_sense_are_passed_over_and_counted() {
    let unknown_interface = enhanced(7, 1, b"x", false);
    let mut too_long = enhanced(0, 1, b"xyz", false);
    too_long[20] = 200; // more captured than the block has
    let mut other_end = enhanced(0, 1, b"xyz", false);
    let last = other_end.len() - 4;
    other_end[last] = 0; // two lengths that differ
    let strange_clock = interface(1, &[(9, &[77])], false);
    let good = enhanced(0, 3, b"good", false);
    let unknown = block(0x0bad, b"whatever", false);
    let parts = [
        section(false),
        interface(1, &[], false),
        unknown_interface,
        too_long,
        other_end,
        strange_clock,
        unknown,
        good,
    ];
    let (frames, end, skipped) = frames(&parts.concat());
    assert_eq!(frames, [(Time::us(3), 1, 99, b"good".to_vec())]);
    assert_eq!((end, skipped), (Ok(()), 4));
}

#[test]
fn what_can_be_read_up_to_a_fault_is_read_and_the_fault_is_named() {
    let good = [section(false), interface(1, &[], false), enhanced(0, 3, b"good", false)].concat();
    for (after, message) in [
        (block(6, &[0; 100], false)[..50].to_vec(), "amid the block that begins at byte 84"),
        (vec![6, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0], "byte 84: a block of 4 bytes, expected at least 12"),
        (
            vec![6, 0, 0, 0, 255, 255, 255, 127, 0, 0, 0, 0],
            "byte 84: a block of 2147483647 bytes, expected at most",
        ),
        (vec![10, 13, 13, 10, 28, 0, 0, 0, 1, 2, 3, 4], "without a mark of its byte order"),
    ] {
        let (frames, end, _) = frames(&[good.clone(), after].concat());
        assert_eq!(frames.len(), 1);
        let error = end.unwrap_err();
        assert!(error.contains(message), "{error}");
    }
    let mut file = legacy(0xa1b2_c3d4, false, 0);
    let (frames, end, _) = frames(&[file.clone(), vec![0; 20]].concat());
    assert_eq!((frames.len(), end.is_err()), (2, true), "an empty record, then half of a header");
    file.truncate(file.len() - 1);
    let (_, end, _) = super::tests::frames(&file);
    assert!(end.unwrap_err().contains("amid the packet record that begins at byte 24"));
    let mut huge = legacy(0xa1b2_c3d4, false, 0);
    huge[32..36].fill(0xff);
    let (_, end, _) = super::tests::frames(&huge);
    assert!(end.unwrap_err().contains("byte 24: a packet record of 4294967295 bytes, expected at most"));
}

#[test]
fn what_is_no_capture_is_described() {
    for (bytes, part) in [
        (&b""[..], "it is empty"),
        (b"hello", "begins with the bytes 68 65 6c 6c"),
        (b"\xfd7zXZ\0", "packed with xz"),
        (b"\xd4\xc3\xb2\xa1\x02", "amid the file header"),
    ] {
        let (_, end, _) = frames(bytes);
        let error = end.unwrap_err();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn what_is_written_is_read_again_with_its_comment() {
    let mut writer = Writer::new(Vec::new(), "sender").unwrap();
    writer.packet(Time::ns(1_234_567_890_123_456_789), b"abc", 1500, Some("truckee: a comment")).unwrap();
    writer.packet(Time::ns(1_234_567_890_123_456_790), &[7; 300], 300, None).unwrap();
    let file = writer.finish().unwrap();
    let mut reader = Reader::new(&file[..]).unwrap();
    let first = reader.next_frame().unwrap().unwrap();
    assert_eq!(
        (first.time, first.link, first.wire_len),
        (Time::ns(1_234_567_890_123_456_789), LinkType::RAW, 1500)
    );
    assert_eq!((first.data, first.comment), (&b"abc"[..], Some("truckee: a comment")));
    let second = reader.next_frame().unwrap().unwrap();
    assert_eq!((second.wire_len, second.data.len(), second.comment), (300, 128, None));
    assert_eq!(reader.next_frame().unwrap(), None);
    assert_eq!((reader.format(), reader.offset()), ("pcapng", file.len() as u64));
}

mod random {
    use super::*;
    use proptest::prelude::*;

    /// A capture, mangled.
    fn mangled() -> impl Strategy<Value = Vec<u8>> {
        let whole = prop_oneof![
            Just(legacy(0xa1b2_c3d4, false, 0)),
            Just(legacy(0xa1b2_3c4d, true, 0)),
            Just(
                [section(false), interface(1, &[(9, &[9])], false), enhanced(0, 3, b"good", false)].concat()
            ),
            Just([section(true), interface(1, &[], true), enhanced(0, 3, b"good", true)].concat()),
        ];
        let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6);
        (whole, changes, any::<prop::sample::Index>()).prop_map(|(mut file, changes, end)| {
            changes.into_iter().for_each(|(at, byte)| {
                let at = at.index(file.len());
                file[at] = byte;
            });
            file.truncate(1 + end.index(file.len()));
            file
        })
    }

    proptest! {
        #[test]
        fn whatever_a_file_holds_reading_it_ends(file in mangled()) {
            let (frames, _, _) = frames(&file);
            prop_assert!(frames.len() <= file.len() / 12 + 1);
        }
    }
}
