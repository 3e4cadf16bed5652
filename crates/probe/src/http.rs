//! As much of HTTP/1.1 as a probe speaks: a request, and the head of the answer. Not for: bodies, of which only the bytes
//! are counted.

use super::fault::Fault;
use super::target::Target;

/// No head is longer, bytes.
pub const LONGEST_HEAD: usize = 32 << 10;
const FIELDS: usize = 128;

/// The request for a URL, which asks the server to close after its answer, so that the answer's end is seen.
pub fn request(target: &Target) -> Vec<u8> {
    format!(
        "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: truckee-probe/{}\r\nAccept: */*\r\nConnection: close\r\n\r\n",
        target.path(),
        target.host_header(),
        env!("CARGO_PKG_VERSION")
    )
    .into_bytes()
}

/// The head of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Its status.
    pub status: u16,
    /// Where it sends to.
    pub location: Option<String>,
    /// The answer's bytes, head and body, where it says so.
    pub length: Option<u64>,
}

impl Head {
    /// Reads the head of what came; `None`: it is not all there yet.
    pub fn read(bytes: &[u8]) -> Result<Option<Self>, Fault> {
        let mut fields = [httparse::EMPTY_HEADER; FIELDS];
        let mut response = httparse::Response::new(&mut fields);
        match response.parse(bytes) {
            Ok(httparse::Status::Partial) if bytes.len() > LONGEST_HEAD => {
                Err(Fault::NoHttp(format!("its head is longer than {LONGEST_HEAD} bytes")))
            }
            Ok(httparse::Status::Partial) => Ok(None),
            Ok(httparse::Status::Complete(end)) => {
                let field = |name: &str| {
                    let found = response.headers.iter().find(|h| h.name.eq_ignore_ascii_case(name));
                    found.map(|h| String::from_utf8_lossy(h.value).into_owned())
                };
                let body = field("content-length").and_then(|text| text.trim().parse::<u64>().ok());
                Ok(Some(Self {
                    status: response.code.unwrap_or_default(),
                    location: field("location"),
                    length: body.map(|body| body.saturating_add(end as u64)),
                }))
            }
            Err(error) => Err(Fault::NoHttp(error.to_string())),
        }
    }

    /// Where it redirects to, if it does.
    pub fn redirects(&self) -> Option<&str> {
        self.location.as_deref().filter(|_| matches!(self.status, 301 | 302 | 303 | 307 | 308))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_when_it_is_whole() {
        let bytes = b"HTTP/1.1 301 Moved\r\nLOCATION: /x\r\nContent-Length: 4\r\n\r\nbody";
        assert_eq!(Head::read(&bytes[..30]), Ok(None));
        let head = Head::read(bytes).unwrap().unwrap();
        assert_eq!((head.status, head.redirects()), (301, Some("/x")));
        assert_eq!(head.length, Some(bytes.len() as u64));
        let head = Head::read(b"HTTP/1.0 200 OK\r\nLocation: /x\r\n\r\n").unwrap().unwrap();
        assert_eq!(head.redirects(), None);
    }

    #[test]
    fn what_is_no_answer_is_named() {
        let endless = [b"HTTP/1.1 200 OK\r\nX: ".to_vec(), vec![b'x'; LONGEST_HEAD + 1]].concat();
        for wrong in [&b"SSH-2.0-x\r\n\r\n"[..], b"\x15\x03\x01\x00\x02\x02\x46", &endless] {
            assert!(matches!(Head::read(wrong), Err(Fault::NoHttp(_))));
        }
    }

    #[test]
    fn a_request_says_who_asks_and_that_it_is_the_only_one() {
        let text = String::from_utf8(request(&"http://example.org:81/a?b".parse().unwrap())).unwrap();
        assert!(
            text.starts_with("GET /a?b HTTP/1.1\r\nHost: example.org:81\r\nUser-Agent: truckee-probe/"),
            "{text}"
        );
        assert!(text.ends_with("Connection: close\r\n\r\n"), "{text}");
    }
}
