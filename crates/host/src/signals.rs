//! The signal that a command's start may have left ignored. Not for: what is done about those that come.

use std::fs;

/// The signal's number (POSIX).
const HANGUP: u32 = 1;

/// Whether whoever started this process has had the end of its terminal ignored, as nohup does: what it would end goes on.
/// Where that can't be known, no. SIGINT is another matter: a script's shell has it ignored by all that runs beside the
/// script, and whoever sends it to one of these means it.
pub fn hangup_is_ignored() -> bool {
    is_ignored(&fs::read_to_string("/proc/self/status").unwrap_or_default())
}

fn is_ignored(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or_default();
    u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask >> (HANGUP - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bit_of_the_mask_is_hangups() {
        let status =
            |mask: &str| format!("SigBlk:\t0000000000000003\nSigIgn:\t{mask}\nSigCgt:\t00000000000001f1\n");
        assert!(is_ignored(&status("0000000000001001")));
        for none in ["0000000000001002", "", "zz"] {
            assert!(!is_ignored(&status(none)), "{none:?}");
        }
        assert!(!is_ignored(""));
    }
}
