//! The expression of `--filter`: comparisons, joined by `and`, `or`, `not` and parentheses.

use super::field::{Field, Of};
use truckee_capture::report::Connection;

/// Parentheses and `not` within each other at most: a command's argument must not end the program.
const DEEPEST: usize = 64;

/// What must hold of a connection.
#[derive(Debug, Clone)]
pub struct Filter(Node);

#[derive(Debug, Clone)]
enum Node {
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
    Number(fn(&Connection, f64) -> Option<f64>, Comparison, f64),
    Words(fn(&Connection) -> &str, Comparison, String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Less,
    AtMost,
    Equal,
    Unequal,
    AtLeast,
    More,
    Has,
}

/// Longer ones first: `<=` is no `<`.
const COMPARISONS: [(&str, Comparison); 8] = [
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("!=", Comparison::Unequal),
    ("==", Comparison::Equal),
    ("<", Comparison::Less),
    (">", Comparison::More),
    ("=", Comparison::Equal),
    ("~", Comparison::Has),
];

impl Filter {
    /// Reads an expression; the error says what was expected where.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut reader = Reader { tokens: tokens(text), at: 0 };
        let node = reader.any(0)?;
        match reader.next() {
            None => Ok(Self(node)),
            Some(rest) => Err(format!("expected `and`, `or` or the end, got `{rest}`")),
        }
    }

    /// Whether it holds; `origin`: when the capture began, seconds since 1970.
    pub fn holds(&self, c: &Connection, origin: f64) -> bool {
        self.0.holds(c, origin)
    }
}

impl Node {
    fn holds(&self, c: &Connection, origin: f64) -> bool {
        match self {
            Self::All(nodes) => nodes.iter().all(|node| node.holds(c, origin)),
            Self::Any(nodes) => nodes.iter().any(|node| node.holds(c, origin)),
            Self::Not(node) => !node.holds(c, origin),
            Self::Number(of, comparison, value) => of(c, origin).is_some_and(|x| comparison.of(x, *value)),
            Self::Words(of, comparison, value) => match comparison {
                Comparison::Has => of(c).contains(value.as_str()),
                Comparison::Unequal => of(c) != value,
                _ => of(c) == value,
            },
        }
    }
}

impl Comparison {
    fn of(self, x: f64, value: f64) -> bool {
        match self {
            Self::Less => x < value,
            Self::AtMost => x <= value,
            Self::Equal | Self::Has => x == value,
            Self::Unequal => x != value,
            Self::AtLeast => x >= value,
            Self::More => x > value,
        }
    }
}

/// Parentheses, comparisons, and what stands between them and white space.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let comparison = COMPARISONS.iter().map(|(sign, _)| *sign).find(|sign| rest.starts_with(sign));
        let ends = |c: char| c.is_whitespace() || "()<>=!~".contains(c);
        let len = match (comparison, first) {
            (Some(sign), _) => sign.len(),
            (None, '(' | ')' | '!') => first.len_utf8(),
            (None, _) => rest.find(ends).unwrap_or(rest.len()),
        };
        tokens.push(&rest[..len]);
        rest = rest[len..].trim_start();
    }
    tokens
}

struct Reader<'a> {
    tokens: Vec<&'a str>,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.tokens.get(self.at).copied()
    }

    fn next(&mut self) -> Option<&'a str> {
        let token = self.peek();
        self.at += 1;
        token
    }

    fn takes(&mut self, word: &str) -> bool {
        let found = self.peek() == Some(word);
        self.at += usize::from(found);
        found
    }

    fn any(&mut self, depth: usize) -> Result<Node, String> {
        let mut nodes = vec![self.all(depth)?];
        while self.takes("or") {
            nodes.push(self.all(depth)?);
        }
        Ok(Node::Any(nodes))
    }

    fn all(&mut self, depth: usize) -> Result<Node, String> {
        let mut nodes = vec![self.one(depth)?];
        while self.takes("and") {
            nodes.push(self.one(depth)?);
        }
        Ok(Node::All(nodes))
    }

    fn one(&mut self, depth: usize) -> Result<Node, String> {
        if depth == DEEPEST {
            return Err(format!("more than {DEEPEST} parentheses and `not` within each other"));
        }
        if self.takes("not") {
            return Ok(Node::Not(Box::new(self.one(depth + 1)?)));
        }
        if self.takes("(") {
            let node = self.any(depth + 1)?;
            return if self.takes(")") { Ok(node) } else { Err("a parenthesis is not closed".to_owned()) };
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Result<Node, String> {
        let name = self.next().ok_or("expected a comparison such as `bytes > 1MB`, got nothing")?;
        let field = Field::parse(name)?;
        let sign = self.next().unwrap_or_default();
        let Some((_, comparison)) = COMPARISONS.iter().find(|(known, _)| *known == sign) else {
            return Err(format!("after `{name}`: expected one of < <= = != >= > ~, got `{sign}`"));
        };
        let mut words = Vec::new();
        while let Some(word) = self.peek().filter(|word| !matches!(*word, "and" | "or" | "(" | ")")) {
            words.push(word);
            self.at += 1;
        }
        let value = words.join(" ");
        let wrong = |why: &str| format!("`{name} {sign} {value}`: {why}");
        match field.of {
            _ if words.is_empty() => Err(wrong("there is no value")),
            Of::Words(of) => match comparison {
                Comparison::Equal | Comparison::Unequal | Comparison::Has => {
                    Ok(Node::Words(of, *comparison, value))
                }
                _ => Err(wrong("words are compared by =, != or ~")),
            },
            Of::Number(..) if *comparison == Comparison::Has => {
                Err(wrong("~ is for words: client, server, state"))
            }
            Of::Number(scale, of) => {
                Ok(Node::Number(of, *comparison, scale.read(&value).map_err(|why| wrong(&why))?))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use truckee_capture::{Limits, source};

    /// Numbers of the connections of a real capture of which it holds.
    fn of(filter: &str) -> Vec<u64> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../capture/tests/data/lossy-sender.pcap.gz");
        let source = source::open(path.as_ref()).unwrap();
        let mut capture = truckee_capture::read(source, Limits::default(), None, |_| true).unwrap();
        let (filter, origin) = (Filter::parse(filter).unwrap(), capture.began_s);
        capture.choose(|c| filter.holds(c, origin));
        capture.connections.iter().map(|c| c.number).collect()
    }

    #[test]
    fn comparisons_are_joined_as_in_words() {
        assert_eq!(of("bytes > 100 kB and loss > 0.1%"), [2]);
        assert_eq!(of("bytes>100kB and loss>50%"), [] as [u64; 0]);
        assert_eq!(of("not bytes > 100kB or number = 2"), [1, 2]);
        assert_eq!(of("not (bytes > 100kB or number = 7)"), [1]);
        assert_eq!(of("server ~ :5201 and server != 10.77.0.9:5201"), [1, 2]);
        assert_eq!(of("rtt < 0s or rtt >= 0s"), [1, 2]);
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_what_was_expected() {
        for (text, part) in [
            ("", "got nothing"),
            ("bytes", "expected one of <"),
            ("bytes >", "no value"),
            ("bytes > 3", "has no unit; write \"3"),
            ("bites > 3B", "did you mean \"bytes\"?"),
            ("(bytes > 3B", "not closed"),
            ("bytes > 3B)", "got `)`"),
            ("bytes > 3B number = 1", "\"B number = 1\" is no unit"),
            ("state > open", "by =, != or ~"),
            ("rate ~ 3", "~ is for words"),
            ("bytes ! 3B", "got `!`"),
        ] {
            let said = Filter::parse(text).unwrap_err();
            assert!(said.contains(part), "{text}: {said}");
        }
        let deep = format!("{}bytes > 3B", "not ".repeat(100_000));
        assert!(Filter::parse(&deep).unwrap_err().contains("within each other"));
    }
}
