//! How tables look: a header, columns; text to the left, numbers to the right. No colour, no frame. Lines have 100
//! columns at most, or as many as COLUMNS in the environment says: words are wrapped, numbers never; what does not fit then
//! stands below.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, presets};
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
    write_within(out, columns, rows, width())
}

fn write_within(
    out: &mut dyn Write,
    columns: &[Column<'_>],
    rows: impl IntoIterator<Item = Vec<String>>,
    width: u16,
) -> io::Result<()> {
    let rows: Vec<Vec<String>> = rows.into_iter().collect();
    for (part, chosen) in parts(columns, &rows, usize::from(width)).into_iter().enumerate() {
        if part > 0 {
            writeln!(out)?;
        }
        let columns: Vec<Column<'_>> = chosen.iter().map(|&k| columns[k]).collect();
        let cells =
            |row: &Vec<String>| chosen.iter().map(|&k| row.get(k).cloned().unwrap_or_default()).collect();
        write_part(out, &columns, rows.iter().map(cells), width)?;
    }
    Ok(())
}

/// Words are not wrapped to less than this.
const NARROWEST: usize = 14;
/// Blanks between columns.
const GAP: usize = 2;

/// Which columns stand together: all, or as many as fit, and the others below with the first one beside them again.
fn parts(columns: &[Column<'_>], rows: &[Vec<String>], width: usize) -> Vec<Vec<usize>> {
    let least = |k: usize| {
        let texts = rows.iter().filter_map(|row| row.get(k)).map(String::as_str).chain([columns[k].header]);
        let whole = texts.map(|text| text.chars().count()).max().unwrap_or(0);
        if columns[k].right { whole } else { whole.min(NARROWEST) }
    };
    let mut parts: Vec<Vec<usize>> = vec![Vec::new()];
    let mut taken = 0;
    for k in 0..columns.len() {
        let own = least(k) + GAP;
        let part = parts.len() - 1;
        if taken + own > width + GAP && parts[part].len() > 1 {
            parts.push(vec![0]);
            taken = least(0) + GAP;
        }
        let part = parts.len() - 1;
        parts[part].push(k);
        taken += own;
    }
    parts
}

fn write_part(
    out: &mut dyn Write,
    columns: &[Column<'_>],
    rows: impl IntoIterator<Item = Vec<String>>,
    width: u16,
) -> io::Result<()> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    table.set_header(columns.iter().map(|c| c.header));
    table.add_rows(rows);
    for (k, column) in columns.iter().enumerate() {
        if let Some(rendered) = table.column_mut(k) {
            if column.right {
                rendered.set_constraint(ColumnConstraint::ContentWidth);
            }
            let alignment = if column.right { CellAlignment::Right } else { CellAlignment::Left };
            rendered.set_cell_alignment(alignment);
            rendered.set_padding((0, if k + 1 == columns.len() { 0 } else { GAP as u16 }));
        }
    }
    for line in table.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
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
        write_within(&mut text, &columns, rows, 80).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("12.5 ± 0.5 Mbit/s"), "{text}");
        let many: Vec<Column<'_>> =
            [words("name")].into_iter().chain(["ten digits"; 12].map(super::numbers)).collect();
        let row: Vec<String> = (0..13).map(|k| format!("cell {k}")).collect();
        let mut text = Vec::new();
        write_within(&mut text, &many, [row], 80).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= 80) && text.contains("\n\nname"), "{text}");
        assert_eq!((text.matches("cell 0").count(), text.matches("cell 12").count()), (2, 1), "{text}");
        let mut narrow = Vec::new();
        write_within(&mut narrow, &[words("a"), numbers("b")], [vec!["x".into(), "1".into()]], 100).unwrap();
        assert_eq!(String::from_utf8(narrow).unwrap(), "a  b\nx  1\n", "what fits is as wide as it need be");
    }
}
