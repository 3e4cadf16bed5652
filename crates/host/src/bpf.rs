//! What libbpf and the verifier say, put into errors; and what a program writes. Not for: loading anything.

use crate::Error;
use bytemuck::AnyBitPattern;
use libbpf_rs::{ErrorKind, PrintLevel};
use nix::unistd::Uid;
use std::cell::RefCell;
use std::sync::Once;

thread_local! {
    /// What libbpf has said to this thread since it was last asked.
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

fn hear(_: PrintLevel, text: String) {
    SAID.with_borrow_mut(|said| said.push_str(&text));
}

/// Has what libbpf says kept for messages, instead of printed.
pub fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        libbpf_rs::set_print(Some((PrintLevel::Warn, hear)));
    });
    SAID.with_borrow_mut(String::clear);
}

/// Lines of the verifier's report that come with an error.
const LAST_WORDS: usize = 8;

/// The error for what libbpf or the kernel has refused.
pub fn refused(doing: impl Into<String>, error: &libbpf_rs::Error) -> Error {
    let said = SAID.with_borrow_mut(std::mem::take);
    if error.kind() == ErrorKind::PermissionDenied && !Uid::effective().is_root() {
        return Error::Missing {
            what: format!("only root may {}", doing.into()),
            mend: "run it with sudo".to_owned(),
        };
    }
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(LAST_WORDS)..];
    let mut reason = error.to_string();
    for line in last {
        reason.push_str("\n  ");
        reason.push_str(line.trim_end());
    }
    Error::Bpf { doing: doing.into(), reason }
}

/// What a program has written as this structure, whose type the crate's build has made of the program's own; none: it is
/// shorter.
pub fn parse<T: AnyBitPattern>(bytes: &[u8]) -> Option<T> {
    bytes.get(..size_of::<T>()).map(bytemuck::pod_read_unaligned)
}
