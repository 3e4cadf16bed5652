//! Where `--figure` draws to. Not for: drawing.

use std::path::{Path, PathBuf};

/// A file that a figure can be drawn into: figures are SVG, whatever the name would have them be.
pub fn svg(text: &str) -> Result<PathBuf, String> {
    let path = Path::new(text);
    match path.extension() {
        Some(extension) if !extension.eq_ignore_ascii_case("svg") => {
            Err(format!("figures are drawn as SVG: write {}", path.with_extension("svg").display()))
        }
        _ => Ok(path.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_svg_and_called_so() {
        assert!(svg("a/b.svg").is_ok() && svg("B.SVG").is_ok() && svg("/dev/stdout").is_ok());
        assert_eq!(svg("a/b.png").unwrap_err(), "figures are drawn as SVG: write a/b.svg");
    }
}
