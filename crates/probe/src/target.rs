//! Whom to probe: a URL, its addresses, and where a redirect may lead. Not for: asking the server (see [`super::fetch`]).

use super::fault::Fault;
use crate::Error;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::str::FromStr;
use std::sync::mpsc;
use std::time::Duration;
use url::{Host, Url};

/// No URL is longer, bytes: the request is to fit into a few small segments.
const LONGEST: usize = 2000;
/// So long a name may take to resolve.
const PATIENCE: Duration = Duration::from_secs(10);

/// Which of IP's versions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Family {
    /// As the system prefers.
    #[default]
    Any,
    /// IPv4.
    Four,
    /// IPv6.
    Six,
}

/// Whether an address is of this machine or of a network of its own: no stranger has it.
pub fn is_near(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(four) => four.is_loopback() || four.is_private() || four.is_link_local(),
        IpAddr::V6(six) => six.is_loopback() || six.is_unique_local() || six.is_unicast_link_local(),
    }
}

/// A URL to ask for, `http` or `https`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    url: Url,
}

impl FromStr for Target {
    type Err = Error;

    /// Reads a URL; without a scheme it is `http`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let refused = |why: String| Error::Refused { place: format!("URL \"{text}\""), why };
        let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let url = Url::parse(&whole).map_err(|e| refused(e.to_string()))?;
        Self::of(url).map_err(refused)
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.url.fmt(f)
    }
}

impl Target {
    fn of(mut url: Url) -> Result<Self, String> {
        url.set_fragment(None);
        match url.scheme() {
            "http" | "https" => {}
            other => return Err(format!("expected http or https, not {other}")),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("a user's name or password is not sent".into());
        }
        if url.as_str().len() > LONGEST {
            return Err(format!("at most {LONGEST} bytes"));
        }
        if url.port() == Some(0) {
            return Err("nobody listens at port 0".into());
        }
        Ok(Self { url })
    }

    /// Whether it is `https`.
    pub fn tls(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// The name or the address, without brackets.
    pub fn host(&self) -> String {
        match self.url.host() {
            Some(Host::Ipv6(six)) => six.to_string(),
            Some(other) => other.to_string(),
            None => String::new(),
        }
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or(80)
    }

    /// The header `Host`.
    pub fn host_header(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// Path and query.
    pub fn path(&self) -> String {
        let query = self.url.query().map(|q| format!("?{q}")).unwrap_or_default();
        format!("{}{query}", self.url.path())
    }

    /// The address to probe: the first of this family, in the system's order.
    pub fn resolve(&self, family: Family) -> Result<SocketAddr, Fault> {
        self.addresses(family).map(|all| all[0])
    }

    /// Its addresses of this family, in the system's order: one at least.
    pub fn addresses(&self, family: Family) -> Result<Vec<SocketAddr>, Fault> {
        let (host, port) = (self.host(), self.port());
        let fault = |why: String| Fault::Unresolved { host: host.clone(), why };
        let (tell, told) = mpsc::channel();
        let asked = (host.clone(), port);
        // The resolver takes as long as it likes: it is left behind, and ends with the process.
        std::thread::spawn(move || tell.send(asked.to_socket_addrs().map(Iterator::collect::<Vec<_>>)));
        let found = match told.recv_timeout(PATIENCE) {
            Ok(found) => found.map_err(|e| fault(e.to_string()))?,
            Err(_) => return Err(fault(format!("no answer in {} s", PATIENCE.as_secs()))),
        };
        let wanted = |a: &&SocketAddr| match family {
            Family::Any => true,
            Family::Four => a.is_ipv4(),
            Family::Six => a.is_ipv6(),
        };
        let found: Vec<_> = found.iter().filter(wanted).copied().collect();
        if found.is_empty() { Err(fault("it has no address of this family".into())) } else { Ok(found) }
    }

    /// Where a redirect leads: to the same host, with or without `www.` before its name. Every other host must be given
    /// by the user.
    pub fn follow(&self, location: &str) -> Result<Self, Fault> {
        let to = self.url.join(location).map_err(|e| Fault::NoHttp(format!("Location: {e}")))?;
        let shown: String = to.as_str().chars().take(200).collect();
        let bare = |url: &Url| {
            let host = url.host_str().unwrap_or_default();
            host.strip_prefix("www.").unwrap_or(host).to_owned()
        };
        if bare(&to) != bare(&self.url) {
            return Err(Fault::Elsewhere(shown));
        }
        Self::of(to).map_err(|why| Fault::NoHttp(format!("Location {shown}: {why}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(text: &str) -> Target {
        text.parse().unwrap()
    }

    #[test]
    fn only_addresses_that_no_stranger_has_are_near() {
        for near in ["127.0.0.1", "10.1.2.3", "192.168.1.1", "172.31.0.1", "::1", "fd77::1", "fe80::1"] {
            assert!(is_near(near.parse().unwrap()), "{near}");
        }
        for far in ["192.0.2.1", "172.32.0.1", "2001:db8::1", "8.8.8.8"] {
            assert!(!is_near(far.parse().unwrap()), "{far}");
        }
    }

    #[test]
    fn urls_are_read_and_what_is_none_refused() {
        let cases = [
            ("example.org", false, "example.org", 80, "/", "example.org"),
            ("https://example.org/a%20b?c#d", true, "example.org", 443, "/a%20b?c", "example.org"),
            ("192.0.2.1:8080/x", false, "192.0.2.1", 8080, "/x", "192.0.2.1:8080"),
            ("http://[2001:db8::1]:81", false, "2001:db8::1", 81, "/", "[2001:db8::1]:81"),
        ];
        for (text, tls, host, port, path, header) in cases {
            let t = target(text);
            assert_eq!((t.tls(), t.host(), t.port()), (tls, host.to_owned(), port), "{text}");
            assert_eq!((t.path(), t.host_header()), (path.to_owned(), header.to_owned()), "{text}");
        }
        let long = format!("example.org/{}", "x".repeat(LONGEST));
        for wrong in
            ["", "ftp://example.org", "http://", "http://u:p@example.org", "a b", "h:99999", "h:0", &long]
        {
            assert!(wrong.parse::<Target>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_line_break_cannot_get_into_a_request() {
        let t = target("http://example.org/a\r\nHost: other/b");
        assert!(!t.path().contains(['\r', '\n']) && !t.host_header().contains(['\r', '\n']), "{t}");
    }

    #[test]
    fn a_redirect_stays_with_its_host() {
        let from = target("http://example.org/a/b");
        let cases = [
            ("c", "http://example.org/a/c"),
            ("/d?e", "http://example.org/d?e"),
            ("https://www.example.org/", "https://www.example.org/"),
            ("//EXAMPLE.org:8443/", "http://example.org:8443/"),
        ];
        for (location, to) in cases {
            assert_eq!(from.follow(location).unwrap().to_string(), to, "{location}");
        }
        for other in ["http://example.net/", "https://sub.example.org/", "//127.0.0.1/"] {
            assert!(matches!(from.follow(other), Err(Fault::Elsewhere(_))), "{other}");
        }
        assert!(matches!(from.follow("ftp://example.org/"), Err(Fault::NoHttp(_))));
    }

    #[test]
    fn an_address_resolves_to_itself_and_not_to_another_family() {
        let four = target("http://127.0.0.1:81");
        assert_eq!(four.resolve(Family::Any), Ok("127.0.0.1:81".parse().unwrap()));
        assert!(matches!(four.resolve(Family::Six), Err(Fault::Unresolved { .. })));
        assert_eq!(target("http://[::1]").resolve(Family::Six), Ok("[::1]:80".parse().unwrap()));
    }
}
