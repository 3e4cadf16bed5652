//! What the writer of a capture notes of a packet's fate, as a comment that other tools show too.
//!
//! `truckee: dropped by queue at LINK`, `… by channel …`, `… by outage …`. A queue is congestion, the others are noise.

use truckee_tcp::Cause;

/// What every such comment begins with.
const MARK: &str = "truckee: dropped by ";

/// The comment of a packet that was dropped; `by`: `queue`, `channel`, `outage`, `collision`, `reach` or `route`.
pub fn comment(by: &str, link: &str) -> String {
    format!("{MARK}{by} at {link}")
}

/// The cause that a comment speaks of; none if it speaks of none.
pub fn cause_of(comment: &str) -> Option<Cause> {
    let by = comment.strip_prefix(MARK)?.split(' ').next()?;
    match by {
        "queue" => Some(Cause::Congestion),
        "channel" | "outage" | "collision" | "reach" | "route" => Some(Cause::Wireless),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_says_what_it_was_made_of() {
        for (by, cause) in [
            ("queue", Some(Cause::Congestion)),
            ("channel", Some(Cause::Wireless)),
            ("outage", Some(Cause::Wireless)),
            ("collision", Some(Cause::Wireless)),
            ("reach", Some(Cause::Wireless)),
            ("route", Some(Cause::Wireless)),
            ("gremlins", None),
        ] {
            assert_eq!(cause_of(&comment(by, "a-b")), cause, "{by}");
        }
        assert_eq!(cause_of("a comment"), None);
    }
}
