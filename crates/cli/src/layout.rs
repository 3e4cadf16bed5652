//! How tables look: a header, a rule, columns; text to the left, numbers to the right. No colour, no frame.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
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

/// Writes a table. Lines are as long as they need be: a terminal wraps them, a pipe gets them whole.
pub fn write(
    out: &mut dyn Write,
    columns: &[Column<'_>],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> io::Result<()> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(columns.iter().map(|c| c.header));
    table.add_rows(rows);
    for (k, column) in columns.iter().enumerate() {
        if let Some(rendered) = table.column_mut(k) {
            let alignment = if column.right { CellAlignment::Right } else { CellAlignment::Left };
            rendered.set_cell_alignment(alignment);
            rendered.set_padding((0, if k + 1 == columns.len() { 0 } else { 2 }));
        }
    }
    for line in table.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}
