//! A page as HTML: the template, the styles, the scripts and the numbers in one text.

use super::embed::Embedded;
use super::model::Page;
use crate::Error;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, context};

/// The name of the page within its directory.
pub const NAME: &str = "report.html";

/// The scripts that figures and tables need, in the order in which they are run; the first one is uPlot, see
/// `vendor/uplot/LICENSE`. `report.decode()` reads what [`of_run`](super::of_run) says, `report.show()` draws a figure.
pub const SCRIPTS: [&str; 11] = [
    include_str!("vendor/uplot/uPlot.iife.min.js"),
    include_str!("page/data.js"),
    include_str!("page/look.js"),
    include_str!("page/reduce.js"),
    include_str!("page/marks.js"),
    include_str!("page/chart.js"),
    include_str!("page/controls.js"),
    include_str!("page/export.js"),
    include_str!("page/table.js"),
    include_str!("page/grid.js"),
    include_str!("page/map.js"),
];
/// What brings a page to life that is written as a whole.
const START: &str = include_str!("page/start.js");
/// How pages look.
pub const STYLES: [&str; 2] = [include_str!("vendor/uplot/uPlot.min.css"), include_str!("page/page.css")];
const TEMPLATE: &str = include_str!("page/page.html");

/// The page's text.
pub(super) fn html(page: &Page) -> Result<String, Error> {
    let fail = |e: &dyn std::fmt::Display| Error::Internal(format!("cannot write the page: {e}"));
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    let blocks = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(blocks.map_err(|e| fail(&e))?);
    environment.add_template("page.html", TEMPLATE).map_err(|e| fail(&e))?;
    let template = environment.get_template("page.html").map_err(|e| fail(&e))?;
    let data = Embedded::new(page).json().map_err(|e| fail(&e))?;
    template
        .render(context! {
            page => Serde(page),
            data,
            scripts => [&SCRIPTS[..], &[START]].concat(),
            styles => STYLES.concat(),
            version => env!("CARGO_PKG_VERSION"),
        })
        .map_err(|e| fail(&e))
}
