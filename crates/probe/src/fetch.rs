//! One ordinary request before any test: whether the server answers, with what, and whether there is enough of it to judge
//! by. Faults of a server show here, by the kernel's own TCP. Not for: anything about its TCP.

use super::Options;
use super::fault::Fault;
use super::http::{self, Head};
use super::line::{self, Bound, Manner};
use super::sockets;
use super::stop::Stop;
use super::target::Target;
use super::tls::{Config, Tls};
use crate::Error;
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};
use truckee_scenario::Cancel;

/// So much is read, and no more is needed, bytes: a window of 10 segments that grows by an ACK each of 36, twice over.
pub const AMPLE: u64 = 160 << 10;
/// A server may send on so often.
const REDIRECTS: usize = 5;

/// What a server answers.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Whom to test, after redirects.
    pub target: Target,
    /// The address of that.
    pub address: SocketAddr,
    /// All addresses that it was found by.
    pub hosts: Vec<SocketAddr>,
    /// The status; none: it is no answer in HTTP.
    pub status: Option<u16>,
    /// Bytes read, the head included; at most about [`AMPLE`].
    pub bytes: u64,
    /// Whether that was all.
    pub ended: bool,
    /// The round-trip time of the connection's opening; 0: not known.
    pub rtt: Duration,
}

/// What came of one request: the head of its answer, the round-trip time, the bytes that came, and whether they are all.
type Asked = (Head, Duration, u64, bool);

/// Asks for a URL, and goes along with redirects if it may.
pub fn fetch(target: &Target, o: &Options, config: &Config, cancel: &Cancel) -> Result<Answer, Stop> {
    walk(
        target,
        o,
        &mut |target| target.resolve(o.family),
        &mut || line::pause(o.pause, cancel),
        &mut |target, address| ask(target, address, config, &Manner::new(o.mss, o.patience), cancel),
    )
}

/// The way to an answer. A host is resolved once, so that what was found to be no stranger's is what is asked; and a
/// redirect is one more connection, before which there is the same pause as before any.
fn walk(
    target: &Target,
    o: &Options,
    resolve: &mut dyn FnMut(&Target) -> Result<SocketAddr, Fault>,
    pause: &mut dyn FnMut() -> Result<(), Error>,
    ask: &mut dyn FnMut(&Target, SocketAddr) -> Result<Asked, Stop>,
) -> Result<Answer, Stop> {
    let mut find = |target: &Target| {
        let address = resolve(target)?;
        o.spare(address.ip()).map(|()| address)
    };
    let (mut target, mut address) = (target.clone(), find(target)?);
    for hop in 0..=REDIRECTS {
        if hop > 0 {
            pause()?;
        }
        let (head, rtt, bytes, ended) = ask(&target, address)?;
        match head.redirects() {
            Some(to) if o.follow => {
                let next = target.follow(to)?;
                let known = next.host() == target.host();
                address = if known { SocketAddr::new(address.ip(), next.port()) } else { find(&next)? };
                target = next;
            }
            Some(to) => return Err(Fault::Redirected(to.chars().take(200).collect()).into()),
            None if (200..300).contains(&head.status) => {
                let (hosts, status) = (vec![address], Some(head.status));
                return Ok(Answer { target, address, hosts, status, bytes, ended, rtt });
            }
            None => return Err(Fault::Status(head.status).into()),
        }
    }
    Err(Fault::Redirects(REDIRECTS).into())
}

/// One request.
fn ask(
    target: &Target,
    address: SocketAddr,
    config: &Config,
    manner: &Manner,
    cancel: &Cancel,
) -> Result<Asked, Stop> {
    let mut stream = Bound::new(address, manner)?.connect(manner)?;
    let rtt = sockets::known(&stream).map_err(|e| Error::system("ask for a round-trip time", e))?.rtt;
    let mut tls = None;
    if target.tls() {
        tls = Some(line::secure(&mut stream, target, config, manner, cancel)?);
    }
    send(&mut stream, tls.as_mut(), &http::request(target))?;
    let began = Instant::now();
    let until = began + manner.patience;
    let seconds = manner.patience.as_secs();
    let (mut head, mut text, mut bytes) = (None, Vec::new(), 0);
    let mut buffer = vec![0; 16 << 10];
    while bytes < AMPLE {
        let Some(left) = line::slice(until, cancel)? else {
            return Err(match bytes {
                0 => Fault::Stalled { seconds, after: "after the request" },
                _ => Fault::Slow { bytes, seconds },
            }
            .into());
        };
        let Some(n) = line::read(&mut stream, left, &mut buffer, bytes > 0)? else { continue };
        if n == 0 {
            return match head {
                Some(head) => Ok((head, rtt, bytes, true)),
                None if bytes == 0 => Err(Fault::Closed("without an answer").into()),
                None => Err(Fault::Closed("within the head of its answer").into()),
            };
        }
        bytes += n as u64;
        if head.is_none() {
            match &mut tls {
                Some(tls) => text.extend(tls.open(&buffer[..n])?),
                None => text.extend(&buffer[..n]),
            }
            head = Head::read(&text)?;
        }
        if let Some(head) = &head {
            // Of an answer that is none there is no need to see more; one may end without the connection's end.
            let whole = head.length.is_some_and(|length| bytes >= length);
            if whole || !(200..300).contains(&head.status) {
                return Ok((head.clone(), rtt, bytes, whole));
            }
        }
    }
    head.map(|head| (head, rtt, bytes, false))
        .ok_or_else(|| Fault::NoHttp("its head does not end".into()).into())
}

fn send(stream: &mut TcpStream, tls: Option<&mut Tls>, request: &[u8]) -> Result<(), Stop> {
    use std::io::Write;
    let records = match tls {
        Some(tls) => tls.seal(request)?,
        None => request.to_vec(),
    };
    // A server that has closed by now shows so when it is read.
    let _ = stream.write_all(&records);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// A server that sends on to each of these in turn, and then answers.
    fn sends_on(to: &'static [&'static str]) -> impl FnMut(&Target, SocketAddr) -> Result<Asked, Stop> {
        let mut left = to.iter();
        move |_, _| {
            let location = left.next().map(|to| (*to).to_owned());
            let status = if location.is_some() { 302 } else { 200 };
            Ok((Head { status, location, length: None }, Duration::ZERO, AMPLE, true))
        }
    }

    /// Whom a walk asks, in order, with `-` for each pause; and how it ends.
    fn walked(o: &Options, to: &'static [&'static str], names: &[(&str, &str)]) -> (Vec<String>, String) {
        let seen = RefCell::new(Vec::new());
        let mut answers = sends_on(to);
        let mut asked_for = Vec::new();
        let ended = walk(
            &names[0].0.parse().unwrap(),
            o,
            &mut |target| {
                // A name that is asked for again has moved.
                let again = asked_for.iter().filter(|host| **host == target.host()).count();
                asked_for.push(target.host());
                let found = names.iter().filter(|(name, _)| *name == target.host()).nth(again);
                Ok(SocketAddr::new(found.unwrap().1.parse().unwrap(), target.port()))
            },
            &mut || {
                seen.borrow_mut().push("-".to_owned());
                Ok(())
            },
            &mut |target, address| {
                seen.borrow_mut().push(address.to_string());
                answers(target, address)
            },
        );
        let ended = match ended {
            Ok(answer) => answer.target.to_string(),
            Err(Stop::Fault(fault)) => fault.name().to_owned(),
            Err(Stop::Error(error)) => error.to_string(),
        };
        (seen.into_inner(), ended)
    }

    fn options(pause: Duration) -> Options {
        Options { follow: true, pause, ..Options::default() }
    }

    #[test]
    fn a_redirect_is_followed_after_a_pause_and_to_the_address_that_is_known() {
        let names = [("a.example", "10.0.0.1"), ("a.example", "192.0.2.1")];
        let (seen, ended) = walked(&options(Duration::ZERO), &["/b", "//a.example:81/c"], &names);
        assert_eq!(seen, ["10.0.0.1:80", "-", "10.0.0.1:80", "-", "10.0.0.1:81"]);
        assert_eq!(ended, "http://a.example:81/c");
    }

    #[test]
    fn a_stranger_is_not_asked_at_a_shorter_pause_wherever_it_appears() {
        let names = [("a.example", "10.0.0.1"), ("www.a.example", "192.0.2.1")];
        let (seen, ended) = walked(&options(Duration::from_secs(1)), &["//www.a.example/"], &names);
        assert_eq!((seen, ended.as_str()), (vec!["10.0.0.1:80".to_owned()], "stranger"));
        let (seen, ended) = walked(&options(Duration::from_secs(3)), &["//www.a.example/"], &names);
        assert_eq!(seen, ["10.0.0.1:80", "-", "192.0.2.1:80"]);
        assert_eq!(ended, "http://www.a.example/");
        let (seen, ended) = walked(&options(Duration::ZERO), &[], &[("b.example", "192.0.2.1")]);
        assert_eq!((seen.len(), ended.as_str()), (0, "stranger"));
    }
}
