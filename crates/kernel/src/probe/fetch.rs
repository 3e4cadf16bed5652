//! One ordinary request before any test: whether the server answers, with what, and whether there is enough of it to judge
//! by. Faults of a server show here, by the kernel's own TCP. Not for: anything about its TCP.

use super::fault::{Fault, Stop};
use super::http::{self, Head};
use super::line::{self, Bound, Manner};
use super::sockets;
use super::target::{Family, Target};
use super::tls::{Config, Tls};
use crate::Error;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

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
    /// The status.
    pub status: u16,
    /// Bytes read, the head included; at most about [`AMPLE`].
    pub bytes: u64,
    /// Whether that was all.
    pub ended: bool,
    /// The round-trip time of the connection's opening; 0: not known.
    pub rtt: Duration,
}

/// Asks for a URL, and goes along with redirects if it may.
pub fn fetch(
    target: &Target,
    family: Family,
    follow: bool,
    config: &Config,
    manner: &Manner,
    cancel: &AtomicBool,
) -> Result<Answer, Stop> {
    let mut target = target.clone();
    for _ in 0..=REDIRECTS {
        let address = target.resolve(family)?;
        let (head, rtt, bytes, ended) = ask(&target, address, config, manner, cancel)?;
        match head.redirects() {
            Some(to) if follow => target = target.follow(to)?,
            Some(to) => return Err(Fault::Redirected(to.chars().take(200).collect()).into()),
            None if (200..300).contains(&head.status) => {
                return Ok(Answer { target, address, status: head.status, bytes, ended, rtt });
            }
            None => return Err(Fault::Status(head.status).into()),
        }
    }
    Err(Fault::Redirects(REDIRECTS).into())
}

/// One request: the head of its answer, the round-trip time, the bytes that came, and whether they are all.
fn ask(
    target: &Target,
    address: SocketAddr,
    config: &Config,
    manner: &Manner,
    cancel: &AtomicBool,
) -> Result<(Head, Duration, u64, bool), Stop> {
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
        let socket = stream.try_clone().map_err(|e| Error::system("read an answer", e))?;
        let Some(n) = line::read(&mut stream, &socket, left, &mut buffer)? else { continue };
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
