//! What WebAssembly exports: bytes in, bytes out. `input` makes room for a question and says where, `answer` answers it and
//! says how long the answer is, `output` where it is. After a panic the instance is of no use but for `last_words`.

// A function that JavaScript finds by its name is one that any other code could define, too: the attribute that keeps the
// name counts as unsafe. Nothing else here is.
#![allow(unsafe_code)]

use crate::Session;
use std::cell::RefCell;
use std::sync::{Mutex, Once, PoisonError};

thread_local! {
    static SESSION: RefCell<Session> = RefCell::default();
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// What the panic that ended this instance said.
static LAST_WORDS: Mutex<String> = Mutex::new(String::new());

/// Has panics leave their message: in WebAssembly they end all else at once.
fn keep_last_words() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|panic| {
            *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string();
        }));
    });
}

fn put(bytes: Vec<u8>) -> usize {
    OUTPUT.with_borrow_mut(|output| {
        *output = bytes;
        output.len()
    })
}

// SAFETY: no other code of this module has a function of these names.
/// Room for a question of so many bytes.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    keep_last_words();
    INPUT.with_borrow_mut(|input| {
        input.clear();
        input.resize(length, 0);
        input.as_mut_ptr()
    })
}

/// Answers what was put in; how many bytes the answer has.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> usize {
    let question = INPUT.take();
    put(SESSION.with_borrow_mut(|session| session.answer(&question)).into_bytes())
}

/// Where the answer is, until the next one.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    OUTPUT.with_borrow(|output| output.as_ptr())
}

/// Has the message of the panic that ended this instance for an answer.
#[unsafe(no_mangle)]
pub extern "C" fn last_words() -> usize {
    put(LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner).clone().into_bytes())
}
