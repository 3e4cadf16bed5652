//! Segments.

use super::ground::{Fault, Rule, integer, line_of};
use crate::script::{Counted, Ecn, Packet, TcpOption, What, bits};
use pest::iterators::Pair;

const MOST_U32: i64 = u32::MAX as i64;
const MOST_U24: i64 = (1 << 24) - 1;
/// Bytes of options that a TCP header has room for (RFC 9293, section 3.1).
const MOST_OPTIONS: usize = 40;

/// A segment that is sent or comes.
pub fn packet(pair: Pair<'_, Rule>) -> Result<What, Fault> {
    let line = line_of(&pair);
    let mut sent = false;
    let mut packet =
        Packet { ecn: None, flags: 0, seq: 0, len: 0, ack: None, window: None, options: Some(Vec::new()) };
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::direction => sent = part.as_str() == ">",
            Rule::ecn => packet.ecn = Some(ecn(part.as_str())),
            Rule::flags => packet.flags = flags(&part)?,
            Rule::sequence => (packet.seq, packet.len) = sequence(part)?,
            Rule::ack => packet.ack = Some(one(part, MOST_U32, "an acknowledgement number")? as u32),
            Rule::window => packet.window = Some(one(part, 65_535, "a window as in the header")? as u16),
            Rule::urgent => return Err((line, "\"urg\": urgent data is not spoken of here".into())),
            Rule::options => packet.options = options(part)?,
            _ => {}
        }
    }
    if packet.has(bits::ACK) != packet.ack.is_some() {
        let why = "the flag \".\" and \"ack N\" go together: one is there without the other";
        return Err((line, why.into()));
    }
    if !sent {
        if packet.options.is_none() {
            return Err((line, "\"<...>\" of a segment that comes; its options have to be said".into()));
        }
        if packet.ecn == Some(Ecn::Ect) {
            return Err((line, "\"[ect01]\" of a segment that comes; say which".into()));
        }
        packet.window.get_or_insert(0);
    }
    if let Some(twice) = twice(packet.options()) {
        return Err((line, format!("the option \"{twice}\" is there twice; a segment says one thing")));
    }
    let bytes: usize = packet.options().iter().map(wire_bytes).sum();
    if bytes > MOST_OPTIONS {
        return Err((line, format!("{bytes} bytes of options; a header has room for {MOST_OPTIONS}")));
    }
    Ok(if sent { What::Sent(packet) } else { What::Comes(packet) })
}

/// An option of a kind that is there already, padding apart.
fn twice(options: &[TcpOption]) -> Option<&TcpOption> {
    let same =
        |one: &TcpOption, other: &TcpOption| std::mem::discriminant(one) == std::mem::discriminant(other);
    let told = |option: &TcpOption| !matches!(option, TcpOption::Nop | TcpOption::Eol);
    options
        .iter()
        .enumerate()
        .find(|(n, option)| told(option) && options[..*n].iter().any(|before| same(before, option)))
        .map(|(_, option)| option)
}

fn wire_bytes(option: &TcpOption) -> usize {
    match option {
        TcpOption::Nop | TcpOption::Eol => 1,
        TcpOption::SackOk | TcpOption::Other(_) => 2,
        TcpOption::Scale(_) => 3,
        TcpOption::Mss(_) => 4,
        TcpOption::Timestamp { .. } => 10,
        TcpOption::Sack(blocks) => 2 + 8 * blocks.len(),
        TcpOption::AccEcn(fields) => 2 + 3 * fields.len(),
    }
}

fn ecn(text: &str) -> Ecn {
    match text.trim_matches(|c: char| c == '[' || c == ']' || c.is_whitespace()) {
        "ect0" => Ecn::Ect0,
        "ect1" => Ecn::Ect1,
        "ect01" => Ecn::Ect,
        "ce" => Ecn::Ce,
        _ => Ecn::Not,
    }
}

fn flags(pair: &Pair<'_, Rule>) -> Result<u16, Fault> {
    let mut flags = 0;
    for letter in pair.as_str().chars() {
        let bit = bits::LETTERS.iter().find(|&&(known, _)| known == letter).map_or(0, |&(_, bit)| bit);
        if flags & bit != 0 {
            return Err((line_of(pair), format!("flags {}: {letter} is there twice", pair.as_str())));
        }
        flags |= bit;
    }
    Ok(flags)
}

fn sequence(pair: Pair<'_, Rule>) -> Result<(u32, u32), Fault> {
    let line = line_of(&pair);
    let mut numbers = [0; 3];
    for (number, part) in numbers.iter_mut().zip(pair.into_inner()) {
        *number = integer(&part, 0, MOST_U32, "a sequence number")?;
    }
    let [from, to, len] = numbers;
    if (from + len) & MOST_U32 != to {
        return Err((
            line,
            format!("{from}:{to}({len}): from {from}, {len} bytes end at {}", (from + len) & MOST_U32),
        ));
    }
    if len > 65_495 {
        return Err((line, format!("{len} bytes in one segment; an IPv4 packet has room for 65,495")));
    }
    Ok((from as u32, len as u32))
}

fn one(pair: Pair<'_, Rule>, most: i64, what: &str) -> Result<i64, Fault> {
    match pair.into_inner().next() {
        Some(number) => integer(&number, 0, most, what),
        None => Ok(0),
    }
}

/// `None`: not to be looked at.
fn options(pair: Pair<'_, Rule>) -> Result<Option<Vec<TcpOption>>, Fault> {
    if pair.as_str().contains("...") {
        return Ok(None);
    }
    let kinds = pair.into_inner().filter_map(|option| option.into_inner().next());
    kinds.map(option).collect::<Result<Vec<_>, _>>().map(Some)
}

fn option(pair: Pair<'_, Rule>) -> Result<TcpOption, Fault> {
    Ok(match pair.as_rule() {
        Rule::mss => TcpOption::Mss(one(pair, 65_535, "a segment size")? as u16),
        Rule::sack_ok => TcpOption::SackOk,
        Rule::eol => TcpOption::Eol,
        Rule::scale => TcpOption::Scale(one(pair, 255, "a window scale")? as u8),
        Rule::timestamp => {
            let mut numbers = pair.into_inner().map(|part| integer(&part, 0, MOST_U32, "a timestamp"));
            let mut next = || numbers.next().unwrap_or(Ok(0)).map(|n| n as u32);
            TcpOption::Timestamp { val: next()?, ecr: next()? }
        }
        Rule::accecn => accecn(pair)?,
        Rule::sack => TcpOption::Sack(pair.into_inner().map(block).collect::<Result<_, _>>()?),
        _ => TcpOption::Nop,
    })
}

/// One of the two kinds, whose fields follow one another in its order (RFC 9768, section 3.2.3).
fn accecn(pair: Pair<'_, Rule>) -> Result<TcpOption, Fault> {
    let line = line_of(&pair);
    let fields = pair.into_inner().map(counted).collect::<Result<Vec<_>, _>>()?;
    let told = fields.iter().map(|&(counted, _)| counted);
    if Counted::ORDERS.iter().any(|(_, order)| {
        order.len() >= fields.len() && told.clone().eq(order[..fields.len().min(3)].iter().copied())
    }) {
        return Ok(TcpOption::AccEcn(fields));
    }
    Err((
        line,
        "fields of \"ECN\" in this order; expected the first of e0b, ceb, e1b or of e1b, ceb, e0b".into(),
    ))
}

fn counted(pair: Pair<'_, Rule>) -> Result<(Counted, u32), Fault> {
    let mut parts = pair.into_inner();
    let counted = match parts.next().map(|word| word.as_str()) {
        Some("e0b") => Counted::E0b,
        Some("e1b") => Counted::E1b,
        _ => Counted::Ceb,
    };
    let bytes = parts.next().map_or(Ok(0), |part| integer(&part, 0, MOST_U24, "bytes as in the option"))?;
    Ok((counted, bytes as u32))
}

fn block(pair: Pair<'_, Rule>) -> Result<(u32, u32), Fault> {
    let mut numbers = pair.into_inner().map(|part| integer(&part, 0, MOST_U32, "a sequence number"));
    let mut next = || numbers.next().unwrap_or(Ok(0)).map(|n| n as u32);
    Ok((next()?, next()?))
}
