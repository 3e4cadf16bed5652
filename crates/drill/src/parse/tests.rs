use super::*;
use crate::script::{Argument, Call, Packet, TcpOption, bits};
use proptest::prelude::*;

fn refused(text: &str) -> (usize, String) {
    match script("t.pkt", text) {
        Err(Error::Script { line, why, .. }) => (line, why),
        other => unreachable!("{text:?} was taken: {other:?}"),
    }
}

const WHOLE: &str = r#"
--tolerance_usecs=10000
// Settings of the stack.
`sysctl -q net.ipv4.tcp_timestamps=0
 sysctl -q net.ipv4.tcp_rmem="4096 87380 6291456"`

    0   socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0   setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
   +0   bind(3, {sa_family = AF_INET, sin_port = htons(8080)}, ...) = 0
   +0   listen(3, 1) = 0
   +0   fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0
   +0   accept(3, ..., ...) = -1 EAGAIN (Resource temporarily unavailable)
   /* The handshake. */
   +0   < S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>
   +0   > S. 0:0(0) ack 1 <...>
  +.1~+.2 > [ect0] P. 1:1001(1000) ack 1 <nop,nop,TS val 5 ecr 100>
    *   > . 1:1(0) ack 1 win 500 <nop,nop,sack 1001:2001 3001:4001>
   +0...0.3 read(3, ..., 1000) = 500
   0.9 %{ assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd
          print tcpi_unacked }%
"#;

#[test]
fn a_whole_script_is_read() {
    let read = script("t.pkt", WHOLE).unwrap();
    assert_eq!(read.tolerance, Span::ms(10));
    let settings: Vec<(&str, &str)> = read.settings.iter().map(|s| (&*s.name, &*s.value)).collect();
    assert_eq!(settings, [("tcp_timestamps", "0"), ("tcp_rmem", "4096 87380 6291456")]);
    assert_eq!(read.settings[1].line, 5);
    assert_eq!(read.events.len(), 12);
    assert_eq!((read.events[0].line, read.events[0].when), (7, When::At(Span::ZERO)));
    let What::Call(Call { error, result, .. }) = &read.events[5].what else { unreachable!("a call") };
    assert_eq!((error.as_deref(), *result), (Some("EAGAIN"), Some(-1)));
    let What::Call(Call { arguments, .. }) = &read.events[4].what else { unreachable!("a call") };
    let flags = ["O_RDWR", "O_NONBLOCK"].map(|word| Argument::Word(word.to_owned()));
    assert_eq!(arguments[2], Argument::Bits(flags.to_vec()));
    let What::Comes(syn) = &read.events[6].what else { unreachable!("a SYN") };
    assert_eq!(syn.options().len(), 6);
    let What::Sent(answer) = &read.events[7].what else { unreachable!("its answer") };
    assert_eq!((answer.flags, &answer.options), (bits::SYN | bits::ACK, &None));
    assert_eq!(read.events[8].when, When::AfterBetween(Span::ms(100), Span::ms(200)));
    let What::Sent(Packet { options: Some(options), window, .. }) = &read.events[9].what else {
        unreachable!("an ACK")
    };
    assert_eq!((options[2].clone(), *window), (TcpOption::Sack(vec![(1001, 2001), (3001, 4001)]), Some(500)));
    let What::Call(Call { until, .. }) = &read.events[10].what else { unreachable!("a call that waits") };
    assert_eq!(*until, Some(Span::ms(300)));
    let What::Assert(statements) = &read.events[11].what else { unreachable!("two statements") };
    assert_eq!(statements.len(), 2);
}

#[test]
fn options_of_a_script_say_how_it_is_run() {
    let read = script("t.pkt", "--offload=on\n--lateness_usecs=900\n+0 < S 0:0(0)").unwrap();
    assert_eq!((read.offload, read.lateness), (true, Span::us(900)));
    let read = script("t.pkt", "+0 < S 0:0(0)").unwrap();
    assert_eq!((read.offload, read.lateness), (false, Span::ms(4)));
}

#[test]
fn what_is_written_reads_as_it_was() {
    for text in [
        "S 0:0(0) win 1000 <mss 1000,sackOK,TS val 1 ecr 0,nop,wscale 7>",
        ". 1:1(0) ack 5 win 4 <nop,nop,sack 1:2>",
        "[ce] FP. 1:11(10) ack 7 win 0",
        "- 0:0(0) win 0",
        "SEWA 0:0(0) win 0",
        ".A 1:1(0) ack 1 win 0 <ECN e1b 1 ceb 0 e0b 16777215,nop>",
    ] {
        let read = script("t.pkt", &format!("+0 < {text}")).unwrap();
        let What::Comes(packet) = &read.events[0].what else { unreachable!("it comes") };
        assert_eq!(packet.to_string(), text);
    }
}

#[test]
fn each_fault_is_named_with_its_line_and_what_is_expected() {
    for (text, line, part) in [
        ("", 1, "no event"),
        ("# no script", 1, "expected an event"),
        ("\n\n+0 > Q 0:0(0)", 3, "expected"),
        ("+0 < S 0:10(0)", 1, "end at 0"),
        ("+0 < . 0:0(0)", 1, "go together"),
        ("+0 < S 0:0(0) ack 1", 1, "go together"),
        ("+0 > SS 0:0(0)", 1, "twice"),
        ("+0 < S 0:0(0) win 70000", 1, "0 to 65535"),
        ("+0 < S 0:0(0) <...>", 1, "have to be said"),
        ("+0 < [ect01] S 0:0(0)", 1, "say which"),
        (
            "+0 < . 1:1(0) ack 1 <nop,nop,nop,nop,nop,nop,nop,nop,nop,nop,sack 1:2 3:4 5:6 7:8>",
            1,
            "44 bytes of options",
        ),
        ("+0 < S 0:0(0) <mss 1000,nop,mss 1460>", 1, "\"mss 1460\" is there twice"),
        ("+0 > . 1:1(0) ack 1 <TS val 1 ecr 1,TS val 2 ecr 1>", 1, "twice"),
        ("+0 < S 0:0(0) <mss 70000>", 1, "a segment size"),
        ("+0 < S 0:0(0) <wscale 256>", 1, "a window scale"),
        ("+0 < [blue] S 0:0(0)", 1, "expected"),
        ("+0 < . 1:0(4294967295) ack 1", 1, "65,495"),
        ("+0 < S 0:0(0) /* not ended", 1, "expected"),
        ("+0 socket(..., SOCK_STREAM, IPPROTO_TCP = 3", 1, "expected"),
        ("+0 write(4, ..., 1000) = 99999999999", 1, "a call's result"),
        ("+0 %{ assert 1 == 1", 1, "expected"),
        ("`../common/defaults.sh`\n+0 < S 0:0(0)", 1, "no shell is run"),
        ("`sysctl -q net.ipv4.tcp_sack`\n+0 < S 0:0(0)", 1, "NAME=VALUE"),
        ("+0 < S 0:0(0) <mss>", 1, "a whole number"),
        ("+0 < S 0:99999(99999)", 1, "65,495"),
        ("+0 < S 4294967296:4294967296(0)", 1, "a sequence number"),
        ("+0 frobnicate(3) = 0", 1, "there is no call \"frobnicate\""),
        ("+0 write(3, 1000) = 1000", 1, "2 arguments; expected 3"),
        ("+0 write(3, ..., 1000)", 1, "expected"),
        ("+0 write(3, ..., 1000) = 5 EAGAIN", 1, "not -1"),
        ("+.3...0.1 read(3, ..., 1) = 1", 1, "before it begins"),
        ("+.2~+.1 > . 1:1(0) ack 1", 1, "earlier time first"),
        ("+.1~+.2 < . 1:1(0) ack 1", 1, "at a time"),
        ("99999999 < S 0:0(0)", 1, "a day"),
        ("+0 > . 1:1(0) ack 1 <...>\n+0 < . 1:1(0) ack 1 <nop,nop,TS val 9 ecr 850>", 2, "\"ecr 850\""),
        (
            "+0 < . 1:1(0) ack 1 <nop,nop,TS val 9 ecr 7>\n+0 > . 1:1(0) ack 1 <nop,nop,TS val 7 ecr 9>",
            1,
            "\"ecr 7\"",
        ),
        ("--colour=red\n+0 < S 0:0(0)", 1, "--colour"),
        ("--tolerance_usecs=fast\n+0 < S 0:0(0)", 1, "microseconds"),
        ("--ip_version=ipv6\n+0 < S 0:0(0)", 1, "ipv4"),
        ("--offload=some\n+0 < S 0:0(0)", 1, "\"on\" or \"off\""),
        ("--lateness_usecs=0\n+0 < S 0:0(0)", 1, "--lateness_usecs=0"),
        ("+0 > . 1:1(0) ack 1 <ECN e1b 1 e0b 1>", 1, "expected the first of"),
        ("+0 > . 1:1(0) ack 1 <ECN e0b 1 ceb 0 e1b 1 e0b 1>", 1, "expected the first of"),
        ("+0 > . 1:1(0) ack 1 <ECN e0b 16777216>", 1, "bytes as in the option"),
        ("+0 > . 1:1(0) ack 1 <ECN e2b 1>", 1, "what is counted"),
        ("`rm -rf /`\n+0 < S 0:0(0)", 1, "no shell is run"),
        ("`sysctl -q kernel.panic=1`\n+0 < S 0:0(0)", 1, "no shell is run"),
        ("`sysctl net.ipv4.../../kernel/panic=1`\n+0 < S 0:0(0)", 1, "no shell is run"),
        ("+0 < S 0:0(0)\n+0 `sysctl net.ipv4.tcp_sack=0`", 2, "after the first event"),
        ("+0 %{ import os }%", 1, "expected"),
        ("+0 %{ assert 1 == }%", 1, "an expression"),
        ("+0 %{ assert 99999999999999999999 }%", 1, "a whole number"),
        ("+0 < . 0:0(0) ack 1 urg 1", 1, "urgent"),
    ] {
        let (at, why) = refused(text);
        assert!(at == line && why.contains(part), "{text:?}: {at}: {why}");
    }
    assert!(refused(&" ".repeat(MOST_BYTES + 1)).1.contains("at most"));
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in ".{0,200}") {
        let _ = script("t.pkt", &text);
    }

    #[test]
    fn no_change_of_a_script_makes_it_panic(at in 0..WHOLE.len(), with in ".{0,3}", drop in 0..20usize) {
        let chars: Vec<char> = WHOLE.chars().collect();
        let text: String = chars[..at].iter().copied().chain(with.chars()).chain(chars[(at + drop).min(chars.len())..].iter().copied()).collect();
        let _ = script("t.pkt", &text);
    }
}
