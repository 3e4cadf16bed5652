//! Where everything of a figure stands: title, legend, panels, foot.

use super::draw::{MARGIN, Type, WIDTH, page, wrap};
use super::model::Figure;
use super::style::{self, GREY, INK};
use super::{direct, legend, panel};
use plotters::style::text_anchor::{HPos, VPos};

/// Left of a panel, for its numbers and the axis label.
const LEFT: f64 = 74.0;
/// Below a panel, for its numbers.
const BELOW: f64 = 34.0;
/// Below all panels, for the name of their common horizontal axis.
const AXIS_LABEL: f64 = 24.0;
const GAP: f64 = 18.0;

pub(super) fn svg(figure: &Figure) -> Result<String, String> {
    let columns = match figure.panels.len() {
        1 => 1,
        2 | 4 => 2,
        _ => 3,
    };
    let rows = figure.panels.len().div_ceil(columns);
    let panel_width =
        (WIDTH - 2.0 * MARGIN - columns as f64 * LEFT - (columns - 1) as f64 * GAP) / columns as f64;
    let panel_height = (panel_width * if columns == 3 { 0.9 } else { 0.62 }).min(480.0);
    let names = direct::Names::new(figure, panel_height);
    let panel_width = panel_width - names.as_ref().map_or(0.0, |n| n.width);
    let title_lines = wrap(&figure.title, style::TITLE);
    let legend = match names {
        Some(_) => legend::Layout::none(),
        None => legend::Layout::new(figure, MARGIN, WIDTH - MARGIN),
    };
    let foot: Vec<String> = std::iter::once(format!("Source: {}", figure.source))
        .filter(|_| !figure.source.is_empty())
        .chain(figure.notes.iter().cloned())
        .flat_map(|note| wrap(&note, style::NOTE))
        .collect();

    let head = MARGIN + title_lines.len() as f64 * (style::TITLE + 5.0) + 6.0;
    let panels_top = head + legend.height + 10.0;
    let panel_title = if figure.panels.iter().any(|p| !p.title.is_empty()) { 26.0 } else { 8.0 };
    let row_height = panel_title + panel_height + BELOW;
    let foot_top = panels_top + rows as f64 * row_height + AXIS_LABEL + 14.0;
    let height = foot_top + foot.len() as f64 * (style::NOTE + 5.0) + MARGIN * 0.6;

    page(height, &|page| {
        for (k, line) in title_lines.iter().enumerate() {
            let y = MARGIN + k as f64 * (style::TITLE + 5.0);
            page.text(line, (MARGIN, y), Type::bold(style::TITLE, INK), HPos::Left, VPos::Top)?;
        }
        legend.draw(page, figure, head)?;
        for (k, one) in figure.panels.iter().enumerate() {
            let (row, column) = (k / columns, k % columns);
            let left = MARGIN + LEFT + column as f64 * (panel_width + LEFT + GAP);
            let top = panels_top + row as f64 * row_height + panel_title;
            let place = panel::Place { left, top, width: panel_width, height: panel_height };
            panel::draw(page, figure, one, &place, column == 0)?;
            if let Some(names) = &names {
                names.draw(page, figure, &place)?;
            }
        }
        let right = WIDTH - MARGIN - names.as_ref().map_or(0.0, |n| n.width);
        let below = ((MARGIN + LEFT + right) / 2.0, foot_top - 14.0 - AXIS_LABEL);
        let label = Type::plain(style::LABEL, INK);
        page.text(&figure.x.label, below, label, HPos::Center, VPos::Top)?;
        for (k, line) in foot.iter().enumerate() {
            let y = foot_top + k as f64 * (style::NOTE + 5.0);
            page.text(line, (MARGIN, y), Type::plain(style::NOTE, GREY), HPos::Left, VPos::Top)?;
        }
        Ok(())
    })
}
