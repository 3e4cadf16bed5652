//! The line protocol that a program's stack is asked by: a call a line, and its answer a line (docs/howto/drill.md).

use super::place::{HERE, PORT, THERE};
use crate::script::{Argument, Call};
use crate::target::{Answer, Info, Refusal};

/// What a program says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// It is there: its first line.
    Ready,
    /// A call has come to this, or, unasked, the one that waited has.
    Came(Answer),
    /// What waited has come to this.
    Returned(Answer),
    /// It has no such call, option, setting or statement.
    Refused(Refusal),
    /// What `info` asks for.
    Info(Vec<(String, i64)>),
}

/// A call as a line. File descriptors are the script's; a new one is named by it, too.
pub fn line(call: &Call) -> Result<String, Refusal> {
    let name = call.name.as_str();
    let new = |or: i64| call.result.filter(|&fd| fd >= 0).unwrap_or(or);
    if name == "socket" {
        return Ok(format!("socket {}", new(3)));
    }
    let Some(&Argument::Number(fd)) = call.arguments.first() else {
        return Err(format!("{name}: the first argument is no file descriptor"));
    };
    let number = |at: usize, what: &str| match call.arguments.get(at) {
        Some(&Argument::Number(n)) if n >= 0 => Ok(n),
        _ => Err(format!("{name}: expected {what}")),
    };
    Ok(match name {
        "bind" => format!("bind {fd} {HERE} {PORT}"),
        "listen" => format!("listen {fd} {}", number(1, "a number of connections that may wait")?),
        "accept" => format!("accept {fd} {}", new(fd + 1)),
        "connect" => format!("connect {fd} {THERE} {PORT}"),
        "read" | "recv" => format!("read {fd} {}", number(2, "a number of bytes")?),
        "write" | "send" => format!("write {fd} {}", number(2, "a number of bytes")?),
        "close" => format!("close {fd}"),
        "shutdown" => match word(call, 1).as_str() {
            "SHUT_RD" => format!("shutdown {fd} read"),
            "SHUT_WR" => format!("shutdown {fd} write"),
            "SHUT_RDWR" => format!("shutdown {fd} both"),
            _ => return Err("shutdown: expected SHUT_RD, SHUT_WR or SHUT_RDWR".to_owned()),
        },
        "fcntl" => match (word(call, 1).as_str(), word(call, 2).contains("O_NONBLOCK")) {
            ("F_GETFL", _) => format!("fcntl {fd} get"),
            ("F_SETFL", false) => format!("fcntl {fd} waits"),
            ("F_SETFL", true) => format!("fcntl {fd} returns"),
            _ => return Err("fcntl: expected F_GETFL or F_SETFL".to_owned()),
        },
        "setsockopt" => format!("setsockopt {fd} {} {}", word(call, 2), value(call.arguments.get(3))?),
        _ => return Err(format!("a program's stack is not asked for {name}")),
    })
}

fn word(call: &Call, at: usize) -> String {
    call.arguments.get(at).map(Argument::words).unwrap_or_default().join("|")
}

fn value(argument: Option<&Argument>) -> Result<String, Refusal> {
    let list = match argument {
        Some(Argument::List(list)) => list.first(),
        other => other,
    };
    match list {
        Some(Argument::Number(n)) => Ok(n.to_string()),
        Some(Argument::Text(text)) if !text.is_empty() && !text.contains(char::is_whitespace) => {
            Ok(text.clone())
        }
        _ => Err("setsockopt: expected a number or a word as the option's value".to_owned()),
    }
}

/// A line that a program has written; `None`: it means nothing.
pub fn said(line: &str) -> Option<Said> {
    let mut words = line.split_whitespace();
    let first = words.next()?;
    Some(match first {
        "ready" if words.next().is_none() => Said::Ready,
        "waits" if words.next().is_none() => Said::Came(Answer::Waits),
        "returned" => Said::Returned(answer(words.next()?, words)?),
        "refused" => Said::Refused(words.collect::<Vec<_>>().join(" ")),
        "info" => Said::Info(words.map(pair).collect::<Option<Vec<_>>>()?),
        number => Said::Came(answer(number, words)?),
    })
}

/// `N`, or `-1 ENAME`.
fn answer<'a>(number: &str, mut rest: impl Iterator<Item = &'a str>) -> Option<Answer> {
    let value: i64 = number.parse().ok()?;
    let error = rest.next();
    let fits = match error {
        None => value >= 0,
        Some(name) => {
            value == -1
                && name.starts_with('E')
                && name.bytes().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
        }
    };
    (fits && rest.next().is_none()).then(|| Answer::Returned(value, error.map(str::to_owned)))
}

fn pair(text: &str) -> Option<(String, i64)> {
    let (name, value) = text.split_once('=')?;
    Some((name.to_owned(), value.parse().ok()?))
}

/// What a program tells of a connection, by the names that scripts know.
pub fn info(told: Vec<(String, i64)>) -> Result<Info, Refusal> {
    told.into_iter()
        .map(|(name, value)| match super::info::known(&name) {
            Some(known) => Ok((known, value)),
            None => Err(format!("the program tells {name:?}, which is no name of tcp_info")),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;
    use crate::script::What;

    fn asked(text: &str) -> Result<String, Refusal> {
        let script = parse::script("t.pkt", &format!("+0 {text}")).unwrap();
        let What::Call(call) = &script.events[0].what else { unreachable!("a call was written") };
        line(call)
    }

    #[test]
    fn a_call_is_a_line() {
        for (text, asked_for) in [
            ("socket(..., SOCK_STREAM, IPPROTO_TCP) = 3", "socket 3"),
            ("bind(3, ..., ...) = 0", "bind 3 192.168.0.1 8080"),
            ("listen(3, 1) = 0", "listen 3 1"),
            ("accept(3, ..., ...) = 4", "accept 3 4"),
            ("connect(3, ..., ...) = 0", "connect 3 192.168.0.2 8080"),
            ("write(4, ..., 1000) = 1000", "write 4 1000"),
            ("recv(4, ..., 1000, 0) = 1000", "read 4 1000"),
            ("shutdown(4, SHUT_WR) = 0", "shutdown 4 write"),
            ("fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0", "fcntl 3 returns"),
            ("fcntl(3, F_SETFL, O_RDWR) = 0", "fcntl 3 waits"),
            ("setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4) = 0", "setsockopt 4 TCP_NODELAY 1"),
            ("setsockopt(4, SOL_TCP, TCP_CONGESTION, \"reno\", 4) = 0", "setsockopt 4 TCP_CONGESTION reno"),
            ("close(4) = 0", "close 4"),
        ] {
            assert_eq!(asked(text).as_deref(), Ok(asked_for), "{text}");
        }
        for (text, part) in [
            ("write(4, ..., many) = 1", "a number of bytes"),
            ("shutdown(4, 7) = 0", "SHUT_WR"),
            ("setsockopt(4, SOL_TCP, TCP_CONGESTION, \"a b\", 4) = 0", "a word"),
        ] {
            assert!(asked(text).unwrap_err().contains(part), "{text}");
        }
    }

    #[test]
    fn what_a_program_says_is_an_answer_or_nothing() {
        let came = |value| Some(Said::Came(Answer::Returned(value, None)));
        for (line, what) in [
            ("ready", Some(Said::Ready)),
            ("0", came(0)),
            (" 1000 ", came(1000)),
            ("-1 EAGAIN", Some(Said::Came(Answer::failed("EAGAIN")))),
            ("waits", Some(Said::Came(Answer::Waits))),
            ("returned 4", Some(Said::Returned(Answer::Returned(4, None)))),
            ("returned -1 ECONNRESET", Some(Said::Returned(Answer::failed("ECONNRESET")))),
            ("refused no timestamps here", Some(Said::Refused("no timestamps here".to_owned()))),
            ("info tcpi_snd_cwnd=10", Some(Said::Info(vec![("tcpi_snd_cwnd".to_owned(), 10)]))),
        ] {
            assert_eq!(said(line), what, "{line:?}");
        }
        for line in [
            "",
            "   ",
            "-1",
            "-2",
            "7 EAGAIN",
            "-1 again",
            "-1 EAGAIN now",
            "waits a while",
            "ready now",
            "info x",
            "99999999999999999999",
        ] {
            assert_eq!(said(line), None, "{line:?}");
        }
    }

    #[test]
    fn what_is_told_of_a_connection_has_its_names() {
        let told = |name: &str| info(vec![(name.to_owned(), 7)]);
        assert_eq!(told("tcpi_snd_cwnd").unwrap().get("tcpi_snd_cwnd"), Some(&7));
        assert!(told("cwnd").unwrap_err().contains("no name of tcp_info"));
    }
}
