//! Which build of the program wrote something: two of the same version may give other numbers.

use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// This program's version and build: `0.1.0 (3fa29c41d0be8877)`; the digits are of the bytes of its file, and `unknown`
/// where that cannot be read.
pub fn build() -> String {
    static DIGITS: OnceLock<String> = OnceLock::new();
    let digits = DIGITS.get_or_init(|| digits().unwrap_or_else(|_| "unknown".to_owned()));
    format!("{} ({digits})", env!("CARGO_PKG_VERSION"))
}

fn digits() -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut file = File::open(object()?)?;
    let mut block = vec![0; 1 << 16];
    loop {
        match file.read(&mut block)? {
            0 => break,
            n => hash.update(&block[..n]),
        }
    }
    Ok(hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

/// The file that this code runs from: the program, or the library that another program, such as Python, has loaded.
fn object() -> io::Result<PathBuf> {
    if !cfg!(target_os = "linux") {
        return std::env::current_exe();
    }
    // Also where the file has been replaced by another of its name meanwhile.
    let program = PathBuf::from("/proc/self/exe");
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    let mapped = mapped(&maps, digits as *const () as usize);
    Ok(match mapped {
        Some(library) if std::fs::read_link(&program)? != library => library.to_path_buf(),
        _ => program,
    })
}

/// The file that is mapped at an address, by what `/proc/PID/maps` says (proc_pid_maps(5)).
fn mapped(maps: &str, address: usize) -> Option<&Path> {
    maps.lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (from, to) = range.split_once('-')?;
        let bounds = usize::from_str_radix(from, 16).ok()?..usize::from_str_radix(to, 16).ok()?;
        let path = bounds.contains(&address).then(|| rest.find('/').map(|at| &rest[at..]))?;
        path.map(Path::new)
    })
}

/// What is to be said where `before` are the builds that wrote so far, the last one last, and `now` goes on; `None`: it is
/// the same one. None before are those of a program that did not say.
pub fn changed(before: &[String], now: &str) -> Option<String> {
    match before.last() {
        Some(last) if last == now => None,
        Some(last) => Some(format!("it was written by another build of truckee, {last}; this one is {now}")),
        None => Some(format!("it was written by an earlier build of truckee; this one is {now}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_has_its_version_and_the_digits_of_its_bytes() {
        let build = build();
        let digits = build.strip_prefix("0.1.0 (").and_then(|rest| rest.strip_suffix(')')).unwrap();
        assert!(digits.len() == 16 && digits.chars().all(|c| c.is_ascii_hexdigit()), "{build}");
    }

    #[test]
    fn the_file_that_is_mapped_at_an_address_is_found() {
        let maps = "55d0-55e0 r-xp 00000000 fe:00 12 /usr/bin/python3.11\n\
                    7f00-7f10 rw-p 00000000 00:00 0 \n\
                    7f20-7f30 r-xp 00002000 fe:00 13 /site packages/_native.so\n";
        assert_eq!(mapped(maps, 0x55d0), Some(Path::new("/usr/bin/python3.11")));
        assert_eq!(mapped(maps, 0x7f2f), Some(Path::new("/site packages/_native.so")));
        assert_eq!((mapped(maps, 0x7f08), mapped(maps, 0x7f30)), (None, None));
        assert_eq!(mapped("nonsense", 1), None);
    }

    #[test]
    fn another_build_than_the_last_one_is_said() {
        let before = ["0.1.0 (a)", "0.1.0 (b)"].map(str::to_owned);
        assert_eq!(changed(&before, "0.1.0 (b)"), None);
        let said = changed(&before, "0.1.0 (a)").unwrap();
        assert!(said.contains("another build of truckee, 0.1.0 (b); this one is 0.1.0 (a)"), "{said}");
        assert!(changed(&[], "0.1.0 (a)").unwrap().contains("an earlier build"));
    }
}
