//! A file of URLs to probe: one a line, `#` before a remark.

use crate::error::Error;
use std::path::Path;
use truckee_kernel::probe::Target;

/// No list is longer: a campaign of more would take weeks.
const MOST: usize = 10_000;

/// Reads a list. A line that is no URL is refused with its place.
pub fn read(file: &Path) -> Result<Vec<Target>, Error> {
    let place = file.display();
    let text =
        std::fs::read_to_string(file).map_err(|e| Error::Usage(format!("cannot read {place}: {e}")))?;
    parse(&text, &place.to_string())
}

fn parse(text: &str, place: &str) -> Result<Vec<Target>, Error> {
    let mut targets = Vec::new();
    for (number, line) in text.lines().enumerate() {
        // A remark begins a line or stands behind white space: a URL may hold the sign.
        let line = line.split_once(" #").map_or(line, |(url, _)| url).trim();
        if !line.is_empty() && !line.starts_with('#') {
            let target =
                line.parse().map_err(|e| Error::Usage(format!("{place}, line {}: {e}", number + 1)))?;
            targets.push(target);
        }
    }
    match targets.len() {
        0 => Err(Error::Usage(format!("{place}: there is no URL in it"))),
        n if n > MOST => Err(Error::Usage(format!("{place}: {n} URLs, and at most {MOST} are probed"))),
        _ => Ok(targets),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_urls_remarks_and_errors_with_their_place() {
        let targets =
            parse("# ours\n\nexample.org # the first\n https://[2001:db8::1]:8443/x\n", "l").unwrap();
        let urls: Vec<String> = targets.iter().map(Target::to_string).collect();
        assert_eq!(urls, ["http://example.org/", "https://[2001:db8::1]:8443/x"]);
        let message = parse("example.org\nftp://x\n", "ours.txt").unwrap_err().to_string();
        assert!(message.starts_with("ours.txt, line 2: ") && message.contains("ftp"), "{message}");
        assert!(parse("# nothing\n", "l").is_err());
    }
}
