//! `%{ … }%`: what needs no Python of packetdrill's.

use super::ground::{Fault, explained, integer, line_of};
use crate::script::{Expression, Operator, Statement};
use pest::Parser;
use pest::iterators::Pair;
use pest::pratt_parser::{Assoc, Op, PrattParser};
use std::sync::LazyLock;

/// The rules of `assertion.pest`: not those of the script around, where `//` begins a comment.
mod grammar {
    #![allow(missing_docs)]

    #[derive(pest_derive::Parser)]
    #[grammar = "parse/assertion.pest"]
    pub struct Grammar;
}

use grammar::{Grammar, Rule};

/// Python's order of precedence.
static PRATT: LazyLock<PrattParser<Rule>> = LazyLock::new(|| {
    let left = |rule| Op::infix(rule, Assoc::Left);
    PrattParser::new()
        .op(left(Rule::or))
        .op(left(Rule::and))
        .op(Op::prefix(Rule::not))
        .op(left(Rule::equal)
            | left(Rule::unequal)
            | left(Rule::at_most)
            | left(Rule::at_least)
            | left(Rule::below)
            | left(Rule::above))
        .op(left(Rule::plus) | left(Rule::less))
        .op(left(Rule::times) | left(Rule::divided) | left(Rule::modulo))
        .op(Op::prefix(Rule::minus))
});

/// The statements between the braces.
pub fn statements(pair: Pair<'_, super::ground::Rule>) -> Result<Vec<Statement>, Fault> {
    let Some(inside) = pair.into_inner().next() else { return Ok(Vec::new()) };
    let (before, text) = (line_of(&inside) - 1, inside.as_str());
    let later = |(line, why): Fault| (before + line, why);
    let mut read =
        Grammar::parse(Rule::statements, text).map_err(|error| later(explained(error, text, called)))?;
    let all = read.next().into_iter().flat_map(Pair::into_inner);
    all.filter_map(|statement| statement.into_inner().next())
        .map(statement)
        .collect::<Result<_, _>>()
        .map_err(later)
}

fn called(rule: Rule) -> &'static str {
    match rule {
        Rule::EOI => "\"}%\"",
        Rule::statement | Rule::assert | Rule::print => "\"assert …\" or \"print …\"",
        Rule::expression | Rule::name | Rule::not | Rule::minus | Rule::integer => "an expression",
        Rule::infix => "an operator",
        _ => "",
    }
}

fn statement(pair: Pair<'_, Rule>) -> Result<Statement, Fault> {
    let rule = pair.as_rule();
    let mut parts = pair.into_inner().map(expression).collect::<Result<Vec<_>, _>>()?;
    Ok(match rule {
        Rule::assert => {
            let message = (parts.len() > 1).then(|| parts.remove(1));
            Statement::Assert(parts.remove(0), message)
        }
        _ => Statement::Print(parts),
    })
}

fn expression(pair: Pair<'_, Rule>) -> Result<Expression, Fault> {
    if pair.as_rule() == Rule::text {
        return Ok(text(pair));
    }
    PRATT
        .map_primary(|primary| match primary.as_rule() {
            Rule::integer => {
                integer(&primary, i64::MIN + 1, i64::MAX, "a whole number").map(Expression::Number)
            }
            Rule::text => Ok(text(primary)),
            Rule::expression => expression(primary),
            _ => Ok(Expression::Name(primary.as_str().to_owned())),
        })
        .map_prefix(|operator, operand| {
            let operand = Box::new(operand?);
            Ok(match operator.as_rule() {
                Rule::not => Expression::Not(operand),
                _ => Expression::Minus(operand),
            })
        })
        .map_infix(|left, operator, right| {
            Ok(Expression::Of(Box::new(left?), operator_of(&operator), Box::new(right?)))
        })
        .parse(pair.into_inner().map(|part| match part.as_rule() {
            Rule::infix => part.clone().into_inner().next().unwrap_or(part),
            _ => part,
        }))
}

fn text(pair: Pair<'_, Rule>) -> Expression {
    Expression::Text(pair.into_inner().next().map_or("", |inside| inside.as_str()).to_owned())
}

fn operator_of(pair: &Pair<'_, Rule>) -> Operator {
    match pair.as_rule() {
        Rule::or => Operator::Or,
        Rule::and => Operator::And,
        Rule::equal => Operator::Equal,
        Rule::unequal => Operator::Unequal,
        Rule::at_most => Operator::AtMost,
        Rule::at_least => Operator::AtLeast,
        Rule::below => Operator::Below,
        Rule::above => Operator::Above,
        Rule::plus => Operator::Plus,
        Rule::less => Operator::Less,
        Rule::times => Operator::Times,
        Rule::divided => Operator::Divided,
        _ => Operator::Modulo,
    }
}
