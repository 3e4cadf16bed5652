//! What statements come to, over the values of `tcp_info`. Numbers are Python's as far as 64 bits go.

use crate::script::{Expression, Operator, Statement};
use crate::target::Info;

/// Constants that scripts use beside `tcp_info` (linux/tcp.h and net/tcp_states.h of the interface for programs).
const CONSTANTS: [(&str, i64); 16] = [
    ("TCP_CA_Open", 0),
    ("TCP_CA_Disorder", 1),
    ("TCP_CA_CWR", 2),
    ("TCP_CA_Recovery", 3),
    ("TCP_CA_Loss", 4),
    ("TCP_ESTABLISHED", 1),
    ("TCP_SYN_SENT", 2),
    ("TCP_SYN_RECV", 3),
    ("TCP_FIN_WAIT1", 4),
    ("TCP_FIN_WAIT2", 5),
    ("TCP_TIME_WAIT", 6),
    ("TCP_CLOSE", 7),
    ("TCP_CLOSE_WAIT", 8),
    ("TCP_LAST_ACK", 9),
    ("TCP_LISTEN", 10),
    ("TCP_INFINITE_SSTHRESH", 0x7fff_ffff),
];

/// What a statement came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It holds.
    Holds,
    /// It does not; why.
    Fails(String),
    /// It shows this.
    Shows(String),
    /// It cannot be worked out; why.
    Refused(String),
}

/// Works a statement out.
pub fn outcome(statement: &Statement, info: &Info) -> Outcome {
    match statement {
        Statement::Assert(expression, message) => match number(expression, info) {
            Err(why) => Outcome::Refused(why),
            Ok(0) => {
                let said =
                    message.as_ref().map_or(String::new(), |message| format!(": {}", shown(message, info)));
                Outcome::Fails(format!("{} does not hold{said}", explained(expression, info)))
            }
            Ok(_) => Outcome::Holds,
        },
        Statement::Print(parts) => {
            Outcome::Shows(parts.iter().map(|part| shown(part, info)).collect::<Vec<_>>().join(" "))
        }
    }
}

fn shown(expression: &Expression, info: &Info) -> String {
    match expression {
        Expression::Text(text) => text.clone(),
        other => number(other, info).map_or_else(|why| why, |n| n.to_string()),
    }
}

fn value(name: &str, info: &Info) -> Result<i64, String> {
    let constant = CONSTANTS.iter().find(|(known, _)| *known == name).map(|&(_, value)| value);
    info.get(name).copied().or(constant).ok_or_else(|| {
        let known: Vec<&str> = info.keys().copied().collect();
        format!("this stack does not tell {name:?}; it tells {}", known.join(", "))
    })
}

fn number(expression: &Expression, info: &Info) -> Result<i64, String> {
    Ok(match expression {
        Expression::Number(n) => *n,
        Expression::Text(text) => return Err(format!("{text:?} is no number")),
        Expression::Name(name) => value(name, info)?,
        Expression::Not(operand) => i64::from(number(operand, info)? == 0),
        Expression::Minus(operand) => number(operand, info)?.checked_neg().ok_or(TOO_LARGE)?,
        Expression::Of(left, Operator::And, right) => match number(left, info)? {
            0 => 0,
            _ => number(right, info)?,
        },
        Expression::Of(left, Operator::Or, right) => match number(left, info)? {
            0 => number(right, info)?,
            left => left,
        },
        Expression::Of(left, operator, right) => apply(number(left, info)?, *operator, number(right, info)?)?,
    })
}

const TOO_LARGE: &str = "a number beyond 64 bits";

fn apply(left: i64, operator: Operator, right: i64) -> Result<i64, String> {
    let holds = |truth: bool| Ok(i64::from(truth));
    match operator {
        Operator::Equal => return holds(left == right),
        Operator::Unequal => return holds(left != right),
        Operator::AtMost => return holds(left <= right),
        Operator::AtLeast => return holds(left >= right),
        Operator::Below => return holds(left < right),
        Operator::Above => return holds(left > right),
        Operator::Divided | Operator::Modulo if right == 0 => return Err("a division by 0".to_owned()),
        _ => {}
    }
    let exact = match operator {
        Operator::Plus => left.checked_add(right),
        Operator::Less => left.checked_sub(right),
        Operator::Times => left.checked_mul(right),
        // Python rounds down, and a remainder has the divisor's sign.
        Operator::Divided => left
            .checked_div_euclid(right)
            .map(|q| if right < 0 && left.rem_euclid(right) != 0 { q - 1 } else { q }),
        _ => left.checked_rem_euclid(right).map(|r| if right < 0 && r != 0 { r + right } else { r }),
    };
    exact.ok_or_else(|| TOO_LARGE.to_owned())
}

/// The expression with the values of its names.
fn explained(expression: &Expression, info: &Info) -> String {
    match expression {
        Expression::Number(n) => n.to_string(),
        Expression::Text(text) => format!("{text:?}"),
        Expression::Name(name) => match value(name, info) {
            Ok(value) => format!("{name} ({value})"),
            Err(_) => name.clone(),
        },
        Expression::Not(operand) => format!("not {}", explained(operand, info)),
        Expression::Minus(operand) => format!("-{}", explained(operand, info)),
        Expression::Of(left, operator, right) => {
            let sign = match operator {
                Operator::Or => "or",
                Operator::And => "and",
                Operator::Equal => "==",
                Operator::Unequal => "!=",
                Operator::AtMost => "<=",
                Operator::AtLeast => ">=",
                Operator::Below => "<",
                Operator::Above => ">",
                Operator::Plus => "+",
                Operator::Less => "-",
                Operator::Times => "*",
                Operator::Divided => "//",
                Operator::Modulo => "%",
            };
            format!("{} {sign} {}", explained(left, info), explained(right, info))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;
    use crate::script::What;

    fn worked_out(text: &str) -> Outcome {
        let script = parse::script("t.pkt", &format!("+0 %{{ {text} }}%")).unwrap();
        let What::Assert(statements) = &script.events[0].what else {
            unreachable!("an assertion was written")
        };
        outcome(&statements[0], &Info::from([("tcpi_snd_cwnd", 10), ("tcpi_ca_state", 3)]))
    }

    #[test]
    fn precedence_and_whole_numbers_are_pythons() {
        for holds in [
            "assert 1 + 2 * 3 == 7",
            "assert (1 + 2) * 3 == 9",
            "assert -7 // 2 == -4 and -7 % 2 == 1",
            "assert 7 // -2 == -4 and 7 % -2 == -1",
            "assert not 1 == 2",
            "assert tcpi_snd_cwnd == 10 and tcpi_ca_state == TCP_CA_Recovery",
            "assert tcpi_snd_cwnd == 11 or tcpi_snd_cwnd >= 10, tcpi_snd_cwnd",
            "assert (tcpi_snd_cwnd < 11)",
            "assert 0x10 == 16",
        ] {
            assert_eq!(worked_out(holds), Outcome::Holds, "{holds}");
        }
    }

    #[test]
    fn what_fails_is_shown_with_its_values() {
        let Outcome::Fails(why) = worked_out("assert tcpi_snd_cwnd == 5, \"after a loss\"") else {
            unreachable!("10 is not 5")
        };
        assert_eq!(why, "tcpi_snd_cwnd (10) == 5 does not hold: after a loss");
    }

    #[test]
    fn what_cannot_be_worked_out_is_named() {
        for (text, part) in [
            ("assert tcpi_nonsense == 1", "does not tell \"tcpi_nonsense\""),
            ("assert 1 // 0", "division by 0"),
            ("assert 9223372036854775807 + 1 > 0", "64 bits"),
            ("assert \"a\" == 1", "no number"),
        ] {
            let Outcome::Refused(why) = worked_out(text) else { unreachable!("{text} has no value") };
            assert!(why.contains(part), "{why}");
        }
        assert_eq!(worked_out("print \"cwnd\", tcpi_snd_cwnd"), Outcome::Shows("cwnd 10".to_owned()));
    }
}
