//! What a script says: packets, calls, assertions and settings, each with its line and its time.

use std::fmt;
use truckee_tcp::Span;

/// A script, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// What messages call it.
    pub name: String,
    /// Its text.
    pub text: String,
    /// How far from its time a packet may leave.
    pub tolerance: Span,
    /// How late the machine may be at most for a run in real time to say anything.
    pub lateness: Span,
    /// Whether the stack hands over more than one segment at once, which are cut on their way to the device.
    pub offload: bool,
    /// What its shell lines ask of the stack before the first event.
    pub settings: Vec<Setting>,
    /// What happens, in order.
    pub events: Vec<Event>,
}

impl Script {
    /// A line of it, as written.
    pub fn line(&self, number: usize) -> &str {
        self.text.lines().nth(number.saturating_sub(1)).unwrap_or("").trim()
    }
}

/// `sysctl net.ipv4.NAME=VALUE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Line of the script.
    pub line: usize,
    /// Its name under `net.ipv4.`.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Line of the script, from 1.
    pub line: usize,
    /// Its time.
    pub when: When,
    /// What happens.
    pub what: What,
}

/// The time of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Any.
    Any,
    /// After the beginning of the script.
    At(Span),
    /// After the event before.
    After(Span),
    /// Between two times after the beginning.
    AtBetween(Span, Span),
    /// Between two times after the event before.
    AfterBetween(Span, Span),
}

/// What happens.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// The stack is to send this.
    Sent(Packet),
    /// This comes to the stack.
    Comes(Packet),
    /// The application calls.
    Call(Call),
    /// Something holds.
    Assert(Vec<Statement>),
}

/// ECN bits of a packet's IP header (RFC 3168, section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ecn {
    /// Not-ECT.
    Not,
    /// ECT(0).
    Ect0,
    /// ECT(1).
    Ect1,
    /// Either ECT; only in what is expected.
    Ect,
    /// CE.
    Ce,
}

/// Bits of a TCP header's flags, as on the wire (RFC 9293, section 3.1).
pub mod bits {
    /// FIN.
    pub const FIN: u16 = 1;
    /// SYN.
    pub const SYN: u16 = 2;
    /// RST.
    pub const RST: u16 = 4;
    /// PSH.
    pub const PSH: u16 = 8;
    /// ACK.
    pub const ACK: u16 = 16;
    /// URG.
    pub const URG: u16 = 32;
    /// ECE.
    pub const ECE: u16 = 64;
    /// CWR.
    pub const CWR: u16 = 128;
    /// AE (RFC 9768, section 3.1).
    pub const AE: u16 = 256;
    /// The letters of a script, in the order in which they are written.
    pub const LETTERS: [(char, u16); 9] = [
        ('S', SYN),
        ('F', FIN),
        ('R', RST),
        ('P', PSH),
        ('.', ACK),
        ('U', URG),
        ('E', ECE),
        ('W', CWR),
        ('A', AE),
    ];
}

/// A TCP segment. Numbers are those on the wire, less the first of its direction where the stack drew that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// ECN bits; `None`: not looked at.
    pub ecn: Option<Ecn>,
    /// [`bits`].
    pub flags: u16,
    /// Sequence number of its first byte.
    pub seq: u32,
    /// Payload, bytes.
    pub len: u32,
    /// Acknowledgement number; `None` without ACK.
    pub ack: Option<u32>,
    /// Window, not scaled; `None`: not looked at.
    pub window: Option<u16>,
    /// Options in their order; `None`: not looked at.
    pub options: Option<Vec<TcpOption>>,
}

impl Packet {
    /// Whether a flag is set.
    pub fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// Its options, none where they are not looked at.
    pub fn options(&self) -> &[TcpOption] {
        self.options.as_deref().unwrap_or_default()
    }
}

/// A TCP option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TcpOption {
    /// Maximum segment size (RFC 9293, section 3.7.1).
    Mss(u16),
    /// SACK permitted (RFC 2018, section 2).
    SackOk,
    /// Padding.
    Nop,
    /// End of the list.
    Eol,
    /// Window scale (RFC 7323, section 2).
    Scale(u8),
    /// Timestamps (RFC 7323, section 3).
    Timestamp {
        /// The sender's.
        val: u32,
        /// The echo.
        ecr: u32,
    },
    /// SACK blocks (RFC 2018, section 3).
    Sack(Vec<(u32, u32)>),
    /// Bytes that came under each of the three codepoints, in the order in which they are told, less what has no room (RFC 9768,
    /// section 3.2.3).
    AccEcn(Vec<(Counted, u32)>),
    /// One that has no word in a script.
    Other(u8),
}

/// What a field of the AccECN option counts (RFC 9768, section 3.2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Bytes that came as ECT(0).
    E0b,
    /// As ECT(1).
    E1b,
    /// As CE.
    Ceb,
}

impl Counted {
    /// The orders of the option's two kinds.
    pub const ORDERS: [(u8, [Self; 3]); 2] =
        [(172, [Self::E0b, Self::Ceb, Self::E1b]), (174, [Self::E1b, Self::Ceb, Self::E0b])];

    /// Its word in a script.
    pub fn word(self) -> &'static str {
        match self {
            Self::E0b => "e0b",
            Self::E1b => "e1b",
            Self::Ceb => "ceb",
        }
    }
}

impl fmt::Display for TcpOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mss(bytes) => write!(f, "mss {bytes}"),
            Self::SackOk => f.write_str("sackOK"),
            Self::Nop => f.write_str("nop"),
            Self::Eol => f.write_str("eol"),
            Self::Scale(shift) => write!(f, "wscale {shift}"),
            Self::Timestamp { val, ecr } => write!(f, "TS val {val} ecr {ecr}"),
            Self::Sack(blocks) => {
                f.write_str("sack")?;
                blocks.iter().try_for_each(|(from, to)| write!(f, " {from}:{to}"))
            }
            Self::AccEcn(fields) => {
                f.write_str("ECN")?;
                fields.iter().try_for_each(|(counted, bytes)| write!(f, " {} {bytes}", counted.word()))
            }
            Self::Other(kind) => write!(f, "option of kind {kind}"),
        }
    }
}

/// As a script writes it, without direction and time.
impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ecn {
            Some(Ecn::Ect0) => f.write_str("[ect0] ")?,
            Some(Ecn::Ect1) => f.write_str("[ect1] ")?,
            Some(Ecn::Ect) => f.write_str("[ect01] ")?,
            Some(Ecn::Ce) => f.write_str("[ce] ")?,
            Some(Ecn::Not) | None => {}
        }
        if self.flags == 0 {
            f.write_str("-")?;
        }
        for (letter, _) in bits::LETTERS.into_iter().filter(|&(_, bit)| self.has(bit)) {
            write!(f, "{letter}")?;
        }
        write!(f, " {}:{}({})", self.seq, self.seq.wrapping_add(self.len), self.len)?;
        if let Some(ack) = self.ack {
            write!(f, " ack {ack}")?;
        }
        if let Some(window) = self.window {
            write!(f, " win {window}")?;
        }
        match &self.options {
            None => f.write_str(" <...>"),
            Some(options) if options.is_empty() => Ok(()),
            Some(options) => {
                let words: Vec<String> = options.iter().map(ToString::to_string).collect();
                write!(f, " <{}>", words.join(","))
            }
        }
    }
}

/// A call of the application.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// When it returns, after the beginning or after the event before, as its begin is; `None`: at once.
    pub until: Option<Span>,
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub arguments: Vec<Argument>,
    /// What it returns; `None`: whatever.
    pub result: Option<i64>,
    /// The error's name if that is -1.
    pub error: Option<String>,
}

/// An argument of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument {
    /// `...`: whatever does.
    Open,
    /// A number, or a constant by name.
    Word(String),
    /// A number.
    Number(i64),
    /// Several constants or numbers joined by `|`.
    Bits(Vec<Argument>),
    /// A text.
    Text(String),
    /// `[…]`.
    List(Vec<Argument>),
    /// `{…}`, not looked into.
    Structure(String),
}

impl Argument {
    /// The constants that it is of, by name.
    pub fn words(&self) -> Vec<&str> {
        match self {
            Self::Word(word) => vec![word],
            Self::Bits(parts) => parts.iter().flat_map(Self::words).collect(),
            _ => Vec::new(),
        }
    }
}

/// A statement of `%{ … }%`.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// It must hold.
    Assert(Expression, Option<Expression>),
    /// It is shown.
    Print(Vec<Expression>),
}

/// An expression over the names of `tcp_info`.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
    /// `tcpi_…`, or a constant.
    Name(String),
    /// `not x`.
    Not(Box<Expression>),
    /// `-x`.
    Minus(Box<Expression>),
    /// Two operands.
    Of(Box<Expression>, Operator, Box<Expression>),
}

/// An operator between two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// Short-circuit or.
    Or,
    /// Short-circuit and.
    And,
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `<=`
    AtMost,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `>`
    Above,
    /// `+`
    Plus,
    /// `-`
    Less,
    /// `*`
    Times,
    /// Whole division, rounded down as in Python.
    Divided,
    /// Remainder, of the divisor's sign as in Python.
    Modulo,
}
