//! The page, and the strokes everything is drawn with.

use super::style::{self, Look, Marker};
use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

pub(super) const WIDTH: f64 = 1000.0;
pub(super) const MARGIN: f64 = 24.0;

/// A page of this height, painted.
pub(super) fn page(height: f64, paint: &dyn Fn(&Page<'_, '_>) -> Drawn) -> Result<String, String> {
    let mut svg = String::new();
    {
        let area =
            SVGBackend::with_string(&mut svg, (WIDTH as u32, height.ceil() as u32)).into_drawing_area();
        Page { area: &area }.paint(paint)?;
    }
    Ok(svg)
}

/// Breaks text into lines that fit the page.
pub(super) fn wrap(text: &str, size: f64) -> Vec<String> {
    // Cautious: a font wider than the average must not run off the page.
    let most = ((WIDTH - 2.0 * MARGIN) / (size * style::CHARACTER)) as usize;
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last().map_or(0, |l| l.chars().count());
        if line > 0 && line + 1 + word.chars().count() > most {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

/// Strokes on the page, in pixels.
pub(super) struct Page<'a, 'b> {
    area: &'a Area<'b>,
}

/// A line without gaps.
pub(super) const SOLID: (i32, i32) = (1, 0);

/// What a marker stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marked {
    /// A measured mean: filled.
    Ours,
    /// A published value: hollow and larger.
    Published,
    /// What sets a bar apart in a grey print: filled and smaller.
    Within,
    /// The ground of a published value: filled and larger.
    Behind,
}

/// How text is set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Type {
    size: f64,
    colour: RGBColor,
    bold: bool,
    upright: bool,
}

impl Type {
    pub(super) fn plain(size: f64, colour: RGBColor) -> Self {
        Self { size, colour, bold: false, upright: false }
    }

    pub(super) fn bold(size: f64, colour: RGBColor) -> Self {
        Self { bold: true, ..Self::plain(size, colour) }
    }

    /// Read from below.
    pub(super) fn upright(self) -> Self {
        Self { upright: true, ..self }
    }
}

pub(super) type Drawn = Result<(), String>;

fn at((x, y): (f64, f64)) -> (i32, i32) {
    (x.round() as i32, y.round() as i32)
}

impl Page<'_, '_> {
    fn paint(&self, all: &dyn Fn(&Self) -> Drawn) -> Drawn {
        self.area.fill(&WHITE).map_err(|e| e.to_string())?;
        all(self)?;
        self.area.present().map_err(|e| e.to_string())
    }

    /// Text at a place, which its corner `h`, `v` is put on.
    pub(super) fn text(&self, text: &str, place: (f64, f64), type_: Type, h: HPos, v: VPos) -> Drawn {
        let weight = if type_.bold { FontStyle::Bold } else { FontStyle::Normal };
        let mut font = FontDesc::new(FontFamily::SansSerif, type_.size, weight);
        if type_.upright {
            font = font.transform(FontTransform::Rotate270);
        }
        let style = TextStyle::from(font).color(&type_.colour).pos(Pos::new(h, v));
        self.area.draw_text(text, &style, at(place)).map_err(|e| e.to_string())
    }

    /// A line through these places, dashed unless the gap is 0.
    pub(super) fn line(
        &self,
        places: &[(f64, f64)],
        colour: RGBColor,
        width: u32,
        dash: (i32, i32),
    ) -> Drawn {
        let style = colour.stroke_width(width);
        let places = places.iter().map(|&p| at(p));
        let drawn = if dash.1 == 0 {
            self.area.draw(&PathElement::new(places.collect::<Vec<_>>(), style))
        } else {
            self.area.draw(&DashedPathElement::new(places, dash.0, dash.1, style))
        };
        drawn.map_err(|e| e.to_string())
    }

    /// A box between two corners.
    pub(super) fn bar(&self, a: (f64, f64), b: (f64, f64), colour: RGBColor) -> Drawn {
        self.area.draw(&Rectangle::new([at(a), at(b)], colour.filled())).map_err(|e| e.to_string())
    }

    /// A mean with its interval: from `low` to `high`, with caps.
    pub(super) fn whisker(&self, x: f64, low: f64, high: f64, colour: RGBColor) -> Drawn {
        const CAP: f64 = 4.0;
        self.line(&[(x, low), (x, high)], colour, 2, SOLID)?;
        self.line(&[(x - CAP, low), (x + CAP, low)], colour, 2, SOLID)?;
        self.line(&[(x - CAP, high), (x + CAP, high)], colour, 2, SOLID)
    }

    /// A marker.
    pub(super) fn marker(&self, place: (f64, f64), look: &Look, marked: Marked) -> Drawn {
        let hollow = marked == Marked::Published;
        let r = match marked {
            Marked::Ours => 5.0,
            Marked::Within => 3.5,
            Marked::Published | Marked::Behind => 7.0,
        };
        let (x, y) = place;
        let corners: Vec<(f64, f64)> = match look.marker {
            Marker::Circle => {
                let circle = |style: ShapeStyle| self.area.draw(&Circle::new(at(place), r as i32, style));
                let style = if hollow { look.colour.stroke_width(2) } else { look.colour.filled() };
                return circle(style).map_err(|e| e.to_string());
            }
            Marker::Square => vec![(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)],
            Marker::Triangle => {
                vec![(x, y - 1.3 * r), (x + 1.2 * r, y + 0.9 * r), (x - 1.2 * r, y + 0.9 * r)]
            }
            Marker::Diamond => vec![(x, y - 1.4 * r), (x + 1.2 * r, y), (x, y + 1.4 * r), (x - 1.2 * r, y)],
            Marker::Inverted => {
                vec![(x, y + 1.3 * r), (x + 1.2 * r, y - 0.9 * r), (x - 1.2 * r, y - 0.9 * r)]
            }
        };
        if hollow {
            // No filling: published values near each other stay visible.
            let around: Vec<_> = corners.iter().chain(corners.first()).copied().collect();
            return self.line(&around, look.colour, 2, SOLID);
        }
        let pixels: Vec<_> = corners.iter().map(|&p| at(p)).collect();
        self.area.draw(&Polygon::new(pixels, look.colour.filled())).map_err(|e| e.to_string())
    }
}
