//! One panel: frame, grid, ticks, series.

use super::draw::{Drawn, Marked, Page, SOLID, Type};
use super::model::{Figure, Panel, Series};
use super::scale::{self, Scale};
use super::style::{self, FAINT, GREY, INK, Look};
use plotters::style::WHITE;
use plotters::style::text_anchor::{HPos, VPos};

/// Where a panel's frame is, pixels.
pub(super) struct Place {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Place {
    fn right(&self) -> f64 {
        self.left + self.width
    }

    fn bottom(&self) -> f64 {
        self.top + self.height
    }
}

pub(super) fn draw(
    page: &Page<'_, '_>,
    figure: &Figure,
    panel: &Panel,
    place: &Place,
    first_column: bool,
) -> Drawn {
    let (x, y) = scales(figure, panel, place);
    let tick = Type::plain(style::TICK, INK);
    for (value, label) in y.ticks(5) {
        let at = y.pixel(value);
        page.line(&[(place.left, at), (place.right(), at)], FAINT, 1, SOLID)?;
        page.text(&label, (place.left - 8.0, at), tick, HPos::Right, VPos::Center)?;
    }
    for (value, label) in x_ticks(figure, &x, place) {
        let at = x.pixel(value);
        if figure.x.categories.is_empty() {
            page.line(&[(at, place.top), (at, place.bottom())], FAINT, 1, SOLID)?;
        }
        page.text(&label, (at, place.bottom() + 8.0), tick, HPos::Center, VPos::Top)?;
    }
    page.line(
        &[(place.left, place.top), (place.left, place.bottom()), (place.right(), place.bottom())],
        GREY,
        1,
        SOLID,
    )?;
    page.text(
        &panel.title,
        (place.left, place.top - 8.0),
        Type::bold(style::LABEL, INK),
        HPos::Left,
        VPos::Bottom,
    )?;
    if first_column {
        let beside = (place.left - 66.0, place.top + place.height / 2.0);
        let upright = Type::plain(style::LABEL, INK).upright();
        page.text(&figure.y.label, beside, upright, HPos::Center, VPos::Center)?;
    }
    let labels = figure.labels();
    let look_of = |s: &Series| style::look(labels.iter().position(|l| *l == s.label).unwrap_or(0));
    for (k, series) in panel.series.iter().enumerate() {
        if figure.x.categories.is_empty() {
            line_of(page, series, &look_of(series), &x, &y)?;
        } else {
            bars_of(page, series, &look_of(series), (k, panel.series.len()), (&x, &y))?;
        }
    }
    Ok(())
}

/// The scales of a panel that stands at this place.
pub(super) fn scales(figure: &Figure, panel: &Panel, place: &Place) -> (Scale, Scale) {
    let across = (place.left, place.right());
    let x = if figure.x.categories.is_empty() {
        let xs = figure.panels.iter().flat_map(|p| &p.series).flat_map(|s| &s.points).map(|p| p.x);
        Scale::covering(xs, figure.x.log, false, across)
    } else {
        Scale::categories(figure.x.categories.len(), across)
    };
    // Else each panel has its own height: small multiples of a file's size would hide the small file.
    let seen: Vec<&Panel> = if figure.share_y { figure.panels.iter().collect() } else { vec![panel] };
    let all = || seen.iter().flat_map(|p| &p.series);
    let ends = all().flat_map(|s| &s.points).flat_map(|p| [p.y - p.half_width, p.y + p.half_width]);
    let references = all().flat_map(|s| &s.references).map(|r| r.1);
    let y = Scale::covering(ends.chain(references), figure.y.log, true, (place.bottom(), place.top));
    (x, y)
}

/// Ticks at the measured values themselves where they are few and apart, else round numbers.
fn x_ticks(figure: &Figure, x: &Scale, place: &Place) -> Vec<(f64, String)> {
    if figure.x.categories.is_empty() {
        let points = figure.panels.iter().flat_map(|p| &p.series).flat_map(|s| &s.points);
        let mut values: Vec<f64> = points.map(|p| p.x).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let apart = values.windows(2).all(|w| x.pixel(w[1]) - x.pixel(w[0]) > 45.0);
        if values.len() <= 8 && apart {
            let labels = scale::alike(&values);
            return values.into_iter().zip(labels).collect();
        }
        return x.ticks((place.width / 90.0) as usize);
    }
    figure.x.categories.iter().enumerate().map(|(k, name)| (k as f64, name.clone())).collect()
}

fn line_of(page: &Page<'_, '_>, series: &Series, look: &Look, x: &Scale, y: &Scale) -> Drawn {
    let places: Vec<_> = series.points.iter().map(|p| (x.pixel(p.x), y.pixel(p.y))).collect();
    if places.len() > 1 {
        page.line(&places, look.colour, 2, look.dash)?;
    }
    for (point, &(px, py)) in series.points.iter().zip(&places) {
        whisker(page, px, point.y, point.half_width, look, y)?;
        page.marker((px, py), look, Marked::Ours)?;
    }
    for &(at, value) in &series.references {
        // Beside ours, so that neither hides the other.
        page.marker((x.pixel(at) + 13.0, y.pixel(value)), look, Marked::Published)?;
    }
    Ok(())
}

fn bars_of(
    page: &Page<'_, '_>,
    series: &Series,
    look: &Look,
    (k, of): (usize, usize),
    (x, y): (&Scale, &Scale),
) -> Drawn {
    let slot = x.pixel(1.0) - x.pixel(0.0);
    let width = (0.8 * slot / of as f64).min(70.0);
    let left = |at: f64| x.pixel(at) + (k as f64 - of as f64 / 2.0) * width;
    for point in &series.points {
        let from = left(point.x);
        let middle = from + width / 2.0;
        if y.is_log() {
            // A bar's length from nowhere would say nothing.
            whisker(page, middle, point.y, point.half_width, look, y)?;
            page.marker((middle, y.pixel(point.y)), look, Marked::Ours)?;
        } else {
            let ground = y.pixel(0.0).min(y.bottom());
            page.bar((from + 1.0, y.pixel(point.y)), (from + width - 1.0, ground), look.colour)?;
            if of > 1 && width > 10.0 && ground - y.pixel(point.y) > 16.0 {
                page.marker((middle, ground - 8.0), &look.white(), Marked::Within)?;
            }
            whisker(page, middle, point.y, point.half_width, &Look { colour: INK, ..*look }, y)?;
        }
    }
    for &(at, value) in &series.references {
        // Beside the whisker; in ink on white: on its own bar the series' colour would not be seen.
        let place = (left(at) + 0.78 * width, y.pixel(value));
        page.marker(place, &Look { colour: WHITE, ..*look }, Marked::Behind)?;
        page.marker(place, &Look { colour: INK, ..*look }, Marked::Published)?;
    }
    Ok(())
}

fn whisker(page: &Page<'_, '_>, x: f64, mean: f64, half: f64, look: &Look, y: &Scale) -> Drawn {
    let (low, high) = (y.pixel(mean - half), y.pixel(mean + half));
    // Narrower than the marker, or below the end of a logarithmic axis: nothing to see.
    if !(low.is_finite() && high.is_finite()) || (low - high).abs() < 2.0 {
        return Ok(());
    }
    page.whisker(x, low, high, look.colour)
}
