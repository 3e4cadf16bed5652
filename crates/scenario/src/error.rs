//! The crate's one error type: what is wrong with a scenario, where, and what would be right.
//! An [`Error`] carries its own excerpt of the source, so that it can be printed after the source is gone.
//! Not for: deciding what is wrong; that is the decoders' work.

use std::fmt;

/// Excerpts longer than this many characters are cut to a window around the marked text.
const EXCERPT_CHARS: usize = 100;

/// One thing that is wrong with a scenario.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Error {
    /// What is wrong, naming the offending text.
    pub message: String,
    /// Where; `None` if the whole file is meant (it cannot be opened, say).
    pub place: Option<Box<Spot>>,
    /// What was expected there.
    pub expected: Option<String>,
    /// How to mend it: the nearest valid name, or the text to write.
    pub help: Option<String>,
}

/// A place in a scenario file or in an override, with the text around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    /// `file:line:column`, or the override as it was given (`--set flow.sender=renoo`).
    pub origin: String,
    /// Line number from 1; `None` in an override.
    pub line: Option<usize>,
    /// Column from 1, in characters, of the offending text.
    pub column: usize,
    /// The line's text, cut if it is very long.
    excerpt: String,
    /// Characters before the marker within the excerpt.
    indent: usize,
    /// Length of the marker, at least 1.
    width: usize,
}

impl Spot {
    /// The place `start..end` (byte offsets) in the text of the file called `name`. Offsets outside the text or inside
    /// a character are moved to the nearest character before.
    pub(crate) fn in_file(name: &str, text: &str, start: usize, end: usize) -> Self {
        let start = floor_boundary(text, start);
        let end = floor_boundary(text, end.max(start));
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let line = text[..line_start].matches('\n').count() + 1;
        let column = text[line_start..start].chars().count() + 1;
        let marked = text[start..end.min(line_end)].trim_end().chars().count().max(1);
        let line_text = text[line_start..line_end].trim_end_matches('\r');
        let (excerpt, indent, width) = cut(line_text, column - 1, marked);
        Self { origin: format!("{name}:{line}:{column}"), line: Some(line), column, excerpt, indent, width }
    }

    /// The place `start..end` (byte offsets) in the override `path=value`.
    pub(crate) fn in_override(path: &str, value: &str, start: usize, end: usize) -> Self {
        let text = format!("{path}={value}");
        let start = floor_boundary(&text, start);
        let end = floor_boundary(&text, end.max(start));
        let column = text[..start].chars().count() + 1;
        let marked = text[start..end].chars().count().max(1);
        let (excerpt, indent, width) = cut(&text, column - 1, marked);
        Self { origin: format!("--set {excerpt}"), line: None, column, excerpt, indent, width }
    }

    /// The place `start..end` (byte offsets) in what an option of the command was given.
    pub(crate) fn in_argument(option: &str, text: &str, start: usize, end: usize) -> Self {
        let start = floor_boundary(text, start);
        let end = floor_boundary(text, end.max(start));
        let column = text[..start].chars().count() + 1;
        let (excerpt, indent, width) = cut(text, column - 1, text[start..end].chars().count().max(1));
        Self { origin: option.to_owned(), line: None, column, excerpt, indent, width }
    }
}

/// A text cut to what fits into a message, control characters made visible.
pub(crate) fn short(text: &str) -> String {
    const SHOWN: usize = 60;
    let visible = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    let mut shown: String = text.chars().take(SHOWN).map(visible).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Cuts a line to a window that shows the marked characters; returns it with the marker's new place and length.
fn cut(line: &str, column: usize, width: usize) -> (String, usize, usize) {
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let length = line.chars().count();
    if length <= EXCERPT_CHARS {
        return (
            line.chars().map(clean).collect(),
            column,
            width.min((length + 1).saturating_sub(column)).max(1),
        );
    }
    let from = column.saturating_sub(EXCERPT_CHARS / 2).min(length - EXCERPT_CHARS);
    let window: String = line.chars().skip(from).take(EXCERPT_CHARS).map(clean).collect();
    let (head, tail) =
        (if from > 0 { "…" } else { "" }, if from + EXCERPT_CHARS < length { "…" } else { "" });
    let indent = column - from + head.chars().count();
    (
        format!("{head}{window}{tail}"),
        indent,
        width.min(EXCERPT_CHARS + 1 - (column - from).min(EXCERPT_CHARS)).max(1),
    )
}

/// `{}` begins with `error:`; `{:#}` does not, for a message in which something stands before it.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if f.alternate() { "" } else { "error: " })?;
        f.write_str(&self.message)?;
        let gutter = self.place.as_ref().and_then(|p| p.line).map_or(1, |line| line.to_string().len());
        if let Some(place) = &self.place {
            let number = place.line.map_or_else(|| " ".to_owned(), |line| line.to_string());
            write!(f, "\n{:gutter$}--> {}", "", place.origin)?;
            write!(f, "\n{:gutter$} |", "")?;
            write!(f, "\n{number} | {}", place.excerpt)?;
            write!(f, "\n{:gutter$} | {:indent$}{}", "", "", "^".repeat(place.width), indent = place.indent)?;
            if let Some(expected) = &self.expected {
                write!(f, " expected {expected}")?;
            }
        } else if let Some(expected) = &self.expected {
            write!(f, "\n{:gutter$} = expected {expected}", "")?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n{:gutter$} = help: {help}", "")?;
        }
        Ok(())
    }
}

/// Everything that was found wrong in one go, in the order of the file; never empty when returned as an error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Errors {
    /// The problems; at most [`Errors::MAX`] are collected.
    pub list: Vec<Error>,
}

impl Errors {
    /// No more problems than this are collected: a file with more has one mistake made often.
    pub const MAX: usize = 100;
}

impl From<Error> for Errors {
    fn from(error: Error) -> Self {
        Self { list: vec![error] }
    }
}

/// As [`Error`]: `{:#}` leaves out the first one's `error:`.
impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.list.iter().enumerate() {
            match (i, f.alternate()) {
                (0, true) => write!(f, "{error:#}")?,
                (0, false) => write!(f, "{error}")?,
                _ => write!(f, "\n\n{error}")?,
            }
        }
        if self.list.len() >= Self::MAX {
            write!(f, "\n\nnote: only the first {} problems are shown", Self::MAX)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_counted_in_characters_not_bytes() {
        let text = "a = 1\nname = \"größe\" # x\n";
        let start = text.find("# x").unwrap();
        let spot = Spot::in_file("f.toml", text, start, start + 1);
        assert_eq!((spot.line, spot.column), (Some(2), 16));
        assert_eq!(spot.origin, "f.toml:2:16");
    }

    #[test]
    fn offsets_inside_a_character_or_past_the_end_do_not_panic() {
        let text = "ü\nü";
        for start in 0..10 {
            for end in 0..10 {
                let _ = Spot::in_file("f", text, start, end);
            }
        }
    }

    #[test]
    fn a_very_long_line_is_cut_around_the_marked_text() {
        let text = format!("x = [{}BAD{}]", "1, ".repeat(5000), ", 2".repeat(5000));
        let start = text.find("BAD").unwrap();
        let error = Error {
            message: "bad".into(),
            place: Some(Box::new(Spot::in_file("f", &text, start, start + 3))),
            expected: None,
            help: None,
        };
        let shown = error.to_string();
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines[3].chars().count() < 120);
        let at = lines[4].find('^').unwrap();
        let under: String = lines[3].chars().skip(at).take(3).collect();
        assert_eq!(under, "BAD");
    }

    #[test]
    fn an_override_marks_the_part_that_is_meant() {
        let spot = Spot::in_override("flow.sender", "renoo", 12, 17);
        assert_eq!(spot.origin, "--set flow.sender=renoo");
        assert_eq!(spot.column, 13);
    }
}
