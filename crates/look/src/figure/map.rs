//! A map: ratios in a table, coloured by how far they are from 1. Rows are what is chosen, columns under what conditions,
//! panels stand one below the other. A ratio whose interval holds 1 is grey: it may be nothing.

use super::draw::{self, Drawn, MARGIN, Page, SOLID, Type, WIDTH, wrap};
use super::style::{self, COLOURS, FAINT, GREY, INK};
use crate::Error;
use plotters::style::RGBColor;
use plotters::style::text_anchor::{HPos, VPos};
use serde::{Deserialize, Serialize};
#[cfg(feature = "pages")]
use std::path::Path;
#[cfg(feature = "pages")]
use truckee_lab::disk;

const ROW: f64 = 23.0;
/// Of one line of column names.
const HEADER: f64 = 19.0;
const PANEL_TITLE: f64 = 34.0;
/// A ratio of 4 or of 1/4 has the full colour.
const FULL: f64 = 4.0;

/// A map of ratios.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Map {
    /// What it shows.
    pub title: String,
    /// Where the published values are from.
    pub source: String,
    /// What a number is.
    pub says: String,
    /// What was chosen; wrapped.
    pub notes: Vec<String>,
    /// Names of the columns: of each the values of the axes that make it, the slowest first.
    pub columns: Vec<Vec<String>>,
    /// Names of the rows.
    pub rows: Vec<String>,
    /// The tables.
    pub panels: Vec<MapPanel>,
}

/// One table.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct MapPanel {
    /// What sets it apart; may be empty.
    pub title: String,
    /// What is known of it.
    pub cells: Vec<MapCell>,
}

/// One ratio.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MapCell {
    /// Number of the row.
    pub row: usize,
    /// Number of the column.
    pub column: usize,
    /// The ratio, above 0.
    pub value: f64,
    /// Its confidence interval.
    pub interval: (f64, f64),
}

impl Map {
    /// The map as SVG text. Errors: there is nothing to draw, or a ratio that is none.
    pub fn svg(&self) -> Result<String, Error> {
        let fail = |reason: &str| Error::Figure { title: self.title.clone(), reason: reason.to_owned() };
        let mut cells = self.panels.iter().flat_map(|p| &p.cells).peekable();
        if cells.peek().is_none() {
            return Err(fail("there is nothing to draw"));
        }
        if !cells.all(|cell| cell.value.is_finite() && cell.value > 0.0) {
            return Err(fail("a ratio is not finite, or not above 0"));
        }
        let title = wrap(&self.title, style::TITLE);
        let head = MARGIN + title.len() as f64 * (style::TITLE + 5.0) + style::LABEL + 12.0;
        let foot: Vec<String> = std::iter::once("Grey: the 97.5 % interval holds 1.".to_owned())
            .chain(Some(format!("Source: {}", self.source)).filter(|_| !self.source.is_empty()))
            .chain(self.notes.iter().cloned())
            .flat_map(|note| wrap(&note, style::NOTE))
            .collect();
        let table = self.headers() as f64 * HEADER + self.rows.len() as f64 * ROW;
        let tables = self.panels.len() as f64 * (PANEL_TITLE + table);
        let height = head + tables + 16.0 + foot.len() as f64 * (style::NOTE + 5.0) + MARGIN * 0.6;
        let paint = |page: &Page<'_, '_>| {
            for (k, line) in title.iter().enumerate() {
                let y = MARGIN + k as f64 * (style::TITLE + 5.0);
                page.text(line, (MARGIN, y), Type::bold(style::TITLE, INK), HPos::Left, VPos::Top)?;
            }
            let says = (MARGIN, head - style::LABEL - 8.0);
            page.text(&self.says, says, Type::plain(style::LABEL, INK), HPos::Left, VPos::Top)?;
            for (k, panel) in self.panels.iter().enumerate() {
                self.draw(page, panel, head + k as f64 * (PANEL_TITLE + table))?;
            }
            for (k, line) in foot.iter().enumerate() {
                let y = head + tables + 16.0 + k as f64 * (style::NOTE + 5.0);
                page.text(line, (MARGIN, y), Type::plain(style::NOTE, GREY), HPos::Left, VPos::Top)?;
            }
            Ok(())
        };
        draw::page(height, &paint).map_err(|e| fail(&e))
    }

    /// Writes the SVG to `path`.
    #[cfg(feature = "pages")]
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let svg = self.svg()?;
        Ok(disk::write(path, svg.as_bytes())?)
    }

    /// Lines of column names.
    fn headers(&self) -> usize {
        self.columns.iter().map(Vec::len).max().unwrap_or(0)
    }

    fn draw(&self, page: &Page<'_, '_>, panel: &MapPanel, top: f64) -> Drawn {
        let longest = self.rows.iter().map(|row| row.chars().count()).max().unwrap_or(0);
        let left = MARGIN + longest as f64 * style::TICK * style::CHARACTER + 14.0;
        let width = (WIDTH - MARGIN - left) / self.columns.len().max(1) as f64;
        let title = (MARGIN, top + PANEL_TITLE - 8.0);
        page.text(&panel.title, title, Type::bold(style::LABEL, INK), HPos::Left, VPos::Bottom)?;
        let tick = Type::plain(style::NOTE, INK);
        let first = top + PANEL_TITLE + self.headers() as f64 * HEADER;
        for (k, names) in self.columns.iter().enumerate() {
            let middle = left + (k as f64 + 0.5) * width;
            for (line, name) in names.iter().enumerate() {
                // A name that holds for several columns stands over the first of them.
                let repeated = k > 0 && self.columns[k - 1].get(..=line) == names.get(..=line);
                if !repeated {
                    let y = top + PANEL_TITLE + (line as f64 + 0.5) * HEADER;
                    page.text(name, (middle, y), tick, HPos::Center, VPos::Center)?;
                }
            }
        }
        for (k, name) in self.rows.iter().enumerate() {
            let y = first + (k as f64 + 0.5) * ROW;
            page.text(name, (left - 8.0, y), Type::plain(style::TICK, INK), HPos::Right, VPos::Center)?;
        }
        for cell in &panel.cells {
            let (x, y) = (left + cell.column as f64 * width, first + cell.row as f64 * ROW);
            let significant = cell.interval.0 > 1.0 || cell.interval.1 < 1.0;
            let colour = if significant { tint(cell.value) } else { FAINT };
            page.bar((x + 1.0, y + 1.0), (x + width - 1.0, y + ROW - 1.0), colour)?;
            let ink = Type::plain(style::NOTE, if significant { INK } else { GREY });
            let middle = (x + width / 2.0, y + ROW / 2.0);
            page.text(&shown(cell, width), middle, ink, HPos::Center, VPos::Center)?;
        }
        page.line(&[(left, first), (WIDTH - MARGIN, first)], GREY, 1, SOLID)
    }
}

/// The ratio, with half its interval where there is room and it is not nothing.
fn shown(cell: &MapCell, width: f64) -> String {
    let number = |x: f64| if x < 9.95 { format!("{x:.2}") } else { format!("{x:.0}") };
    let half = (cell.interval.1 - cell.interval.0) / 2.0;
    let short = number(cell.value);
    if half < 0.005 {
        return short;
    }
    let long = number(half);
    let tight = long.strip_prefix('0').unwrap_or(&long);
    let room = ((width - 8.0) / (style::NOTE * style::CHARACTER)) as usize;
    let forms = [format!("{short} ± {long}"), format!("{short} ±{tight}"), format!("{short}±{tight}")];
    forms.into_iter().find(|form| form.chars().count() <= room).unwrap_or(short)
}

/// Below 1 towards blue, above towards vermilion; by the logarithm.
fn tint(ratio: f64) -> RGBColor {
    let full = if ratio < 1.0 { COLOURS[0] } else { COLOURS[1] };
    let share = 0.12 + 0.68 * (ratio.ln().abs() / FULL.ln()).min(1.0);
    let mix = |colour: u8| (255.0 + (f64::from(colour) - 255.0) * share).round() as u8;
    RGBColor(mix(full.0), mix(full.1), mix(full.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Map {
        let cell = |row, column, value: f64, half: f64| MapCell {
            row,
            column,
            value,
            interval: (value - half, value + half),
        };
        let names = |a: &str, b: &str| vec![a.to_owned(), b.to_owned()];
        Map {
            title: "Which <ACKs>".into(),
            says: "time over delayed".into(),
            columns: vec![names("20 ms", "0 %"), names("20 ms", "1 %"), names("100 ms", "0 %")],
            rows: vec!["every".into(), "division 4".into()],
            panels: vec![MapPanel {
                title: "rfc2581".into(),
                cells: vec![cell(0, 0, 0.5, 0.03), cell(1, 2, 2.25, 0.0), cell(1, 0, 1.01, 0.2)],
            }],
            ..Map::default()
        }
    }

    #[test]
    fn a_map_says_what_it_was_told_and_a_common_name_once() {
        let svg = example().svg().unwrap();
        for text in
            ["Which &lt;ACKs&gt;", "0.50 ± 0.03", "2.25", "division 4", "rfc2581", "time over delayed"]
        {
            assert!(svg.contains(text), "{text}");
        }
        assert_eq!(svg.matches("20 ms").count(), 1);
        assert_eq!(svg.matches("0 %").count(), 2, "of either round trip");
    }

    #[test]
    fn colours_go_by_the_logarithm_and_doubt_is_grey() {
        let sum = |c: RGBColor| u32::from(c.0) + u32::from(c.1) + u32::from(c.2);
        assert!(sum(tint(0.25)) < sum(tint(0.5)) && sum(tint(0.5)) < sum(tint(0.9)));
        assert!(tint(0.5).2 > tint(0.5).0, "blue");
        assert!(tint(2.0).0 > tint(2.0).2, "vermilion");
        assert_eq!((tint(100.0), tint(1e-3)), (tint(4.0), tint(0.25)));
        let faint = "#E4E4E4";
        assert_eq!(example().svg().unwrap().matches(faint).count(), 1, "one of the three may be nothing");
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        let mut empty = example();
        empty.panels[0].cells.clear();
        assert!(empty.svg().unwrap_err().to_string().contains("nothing to draw"));
        let mut wrong = example();
        wrong.panels[0].cells[0].value = 0.0;
        assert!(wrong.svg().is_err());
    }
}
