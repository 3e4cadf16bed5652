//! How tables look: a header, columns; text to the left, numbers to the right. No colour, no frame. Lines have 100
//! columns at most, or as many as COLUMNS in the environment says: words are wrapped, numbers never; what does not fit then
//! stands below.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};
use std::io::{self, Write};

/// A column: its header and on which side its values stand.
#[derive(Debug, Clone, Copy)]
pub struct Column<'a> {
    header: &'a str,
    right: bool,
}

/// A column of words.
pub fn words(header: &str) -> Column<'_> {
    Column { header, right: false }
}

/// A column of numbers.
pub fn numbers(header: &str) -> Column<'_> {
    Column { header, right: true }
}

/// Columns of a line, unless COLUMNS says otherwise.
const WIDTH: u16 = 100;

/// How many columns a line may have.
pub fn width() -> u16 {
    let told = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    told.filter(|n| (40..=1000).contains(n)).unwrap_or(WIDTH)
}

/// Writes a table.
pub fn write(
    out: &mut dyn Write,
    columns: &[Column<'_>],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> io::Result<()> {
    write_within(out, columns, &[(None, rows.into_iter().collect())], width())
}

/// Writes a table whose rows stand under titles, a line each.
pub fn write_titled(
    out: &mut dyn Write,
    columns: &[Column<'_>],
    groups: impl IntoIterator<Item = (String, Vec<Vec<String>>)>,
) -> io::Result<()> {
    let groups: Vec<Group> = groups.into_iter().map(|(title, rows)| (Some(title), rows)).collect();
    write_within(out, columns, &groups, width())
}

/// Rows, and what stands above them.
type Group = (Option<String>, Vec<Vec<String>>);

/// Blanks between columns.
const GAP: usize = 2;

fn write_within(out: &mut dyn Write, columns: &[Column<'_>], groups: &[Group], width: u16) -> io::Result<()> {
    let spans: Vec<Span> =
        columns.iter().enumerate().map(|(k, column)| Span::of(column, k, groups)).collect();
    // What stands under titles is set in.
    let indent = if groups.iter().any(|(title, _)| title.is_some()) { GAP } else { 0 };
    let width = usize::from(width) - indent;
    for (part, chosen) in parts(&spans, width).into_iter().enumerate() {
        if part > 0 {
            writeln!(out)?;
        }
        let spans: Vec<Span> = chosen.iter().map(|&k| spans[k]).collect();
        let chosen = Part {
            columns: chosen.iter().map(|&k| (k, columns[k])).collect(),
            widths: widths(&spans, width),
            indent,
        };
        chosen.header(out)?;
        for (title, rows) in groups {
            if let Some(title) = title {
                writeln!(out, "{title}")?;
            }
            chosen.rows(out, rows)?;
        }
    }
    Ok(())
}

/// How wide a column may be.
#[derive(Clone, Copy)]
struct Span {
    /// Without cutting a word; of numbers, without wrapping.
    least: usize,
    /// Without wrapping.
    whole: usize,
}

impl Span {
    fn of(column: &Column<'_>, k: usize, groups: &[Group]) -> Self {
        let cells = || {
            let rows = groups.iter().flat_map(|(_, rows)| rows).filter_map(move |row| row.get(k));
            rows.map(String::as_str).chain([column.header])
        };
        let whole = cells().map(|text| text.chars().count()).max().unwrap_or(0);
        let word = |text: &str| text.split(' ').map(|word| word.chars().count()).max().unwrap_or(0);
        let least = if column.right { whole } else { cells().map(word).max().unwrap_or(0) };
        Self { least, whole }
    }
}

/// Which columns stand together: all, or as many as fit, and the others below with the first one beside them again.
fn parts(spans: &[Span], width: usize) -> Vec<Vec<usize>> {
    let mut parts: Vec<Vec<usize>> = vec![Vec::new()];
    let mut taken = 0;
    for (k, span) in spans.iter().enumerate() {
        let own = span.least + GAP;
        let part = parts.len() - 1;
        if taken + own > width + GAP && parts[part].len() > 1 {
            parts.push(vec![0]);
            taken = spans[0].least + GAP;
        }
        let part = parts.len() - 1;
        parts[part].push(k);
        taken += own;
    }
    parts
}

/// The widths of columns that stand together: whole, or what is left by taking from the widest that can be wrapped.
fn widths(spans: &[Span], width: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = spans.iter().map(|span| span.whole).collect();
    let room = width.saturating_sub(GAP * spans.len().saturating_sub(1));
    while widths.iter().sum::<usize>() > room {
        let narrower = (0..spans.len()).filter(|&k| widths[k] > spans[k].least);
        match narrower.max_by_key(|&k| widths[k]) {
            Some(widest) => widths[widest] -= 1,
            None => break,
        }
    }
    widths
}

/// Columns that stand together, by their numbers, and how wide each is.
struct Part<'a> {
    columns: Vec<(usize, Column<'a>)>,
    widths: Vec<usize>,
    /// Blanks before the first.
    indent: usize,
}

impl Part<'_> {
    fn header(&self, out: &mut dyn Write) -> io::Result<()> {
        self.lines(out, [self.columns.iter().map(|(_, column)| column.header.to_owned()).collect()])
    }

    fn rows(&self, out: &mut dyn Write, rows: &[Vec<String>]) -> io::Result<()> {
        let cells = |row: &Vec<String>| {
            self.columns.iter().map(|&(k, _)| row.get(k).cloned().unwrap_or_default()).collect()
        };
        self.lines(out, rows.iter().map(cells))
    }

    fn lines(&self, out: &mut dyn Write, rows: impl IntoIterator<Item = Vec<String>>) -> io::Result<()> {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(u16::MAX);
        table.add_rows(rows);
        for (k, ((_, column), &width)) in self.columns.iter().zip(&self.widths).enumerate() {
            if let Some(rendered) = table.column_mut(k) {
                let before = if k == 0 { self.indent } else { 0 };
                let behind = if k + 1 == self.columns.len() { 0 } else { GAP };
                let all = Width::Fixed((before + width + behind) as u16);
                rendered.set_constraint(ColumnConstraint::Absolute(all));
                let alignment = if column.right { CellAlignment::Right } else { CellAlignment::Left };
                rendered.set_cell_alignment(alignment);
                rendered.set_padding((before as u16, behind as u16));
            }
        }
        for line in table.lines() {
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_no_wider_than_told_and_keeps_its_numbers_whole() {
        let columns = [words("check"), numbers("measured"), words("demand")];
        let rows = [
            vec![
                "a check with a name that says at length what is held against what".repeat(2),
                "12.5 ± 0.5 Mbit/s".into(),
                "± 5 %".into(),
            ],
            vec!["short".into(), "1".into(), "rises on the whole, no step back".into()],
        ];
        let mut text = Vec::new();
        write_within(&mut text, &columns, &[(None, rows.to_vec())], 80).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("12.5 ± 0.5 Mbit/s"), "{text}");
        let many: Vec<Column<'_>> =
            [words("name")].into_iter().chain(["ten digits"; 12].map(super::numbers)).collect();
        let row: Vec<String> = (0..13).map(|k| format!("cell {k}")).collect();
        let mut text = Vec::new();
        write_within(&mut text, &many, &[(None, vec![row])], 80).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= 80) && text.contains("\n\nname"), "{text}");
        assert_eq!((text.matches("cell 0").count(), text.matches("cell 12").count()), (2, 1), "{text}");
        let mut narrow = Vec::new();
        write_within(
            &mut narrow,
            &[words("a"), numbers("b")],
            &[(None, vec![vec!["x".into(), "1".into()]])],
            100,
        )
        .unwrap();
        assert_eq!(String::from_utf8(narrow).unwrap(), "a  b\nx  1\n", "what fits is as wide as it need be");
    }

    #[test]
    fn no_word_is_cut_and_rows_stand_in_their_columns_under_their_titles() {
        let columns = [words("flow.download.sender"), words("at"), numbers("mean")];
        let row =
            |sender: &str, at: &str| vec![sender.to_owned(), at.to_owned(), "3.26 ± 0.37 Mbit/s".to_owned()];
        let groups = [
            (
                Some("a title that is longer than all of the columns are together".to_owned()),
                vec![row("cubic", "per=1e-2, rate=10Mbit/s")],
            ),
            (Some("another".to_owned()), vec![row("bbr", "per=1e-2, rate=2Mbit/s")]),
        ];
        let mut text = Vec::new();
        write_within(&mut text, &columns, &groups, 58).unwrap();
        let text = String::from_utf8(text).unwrap();
        let expected = [
            "  flow.download.sender  at                            mean",
            "a title that is longer than all of the columns are together",
            "  cubic                 per=1e-2,       3.26 ± 0.37 Mbit/s",
            "                        rate=10Mbit/s",
            "another",
            "  bbr                   per=1e-2,       3.26 ± 0.37 Mbit/s",
            "                        rate=2Mbit/s",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }
}
