//! How the kernel engine sets its stacks: `kernel = "today"`, or a table.

use super::reader::Reader;
use crate::document::tree::Kind;
use crate::model::{Era, KernelStack};

const ERAS: [&str; 2] = ["papers", "today"];

/// Reads the top level's `kernel`.
pub(super) fn read(top: &Reader<'_>) -> KernelStack {
    let Some(value) = top.get("kernel") else { return KernelStack::default() };
    let era = |word| if word == ERAS[1] { Era::Today } else { Era::Papers };
    if let Kind::Text(_) = value.kind {
        return KernelStack {
            era: top.word(value, &ERAS).map_or(Era::Papers, era),
            ..KernelStack::default()
        };
    }
    let Some(reader) = Reader::of(top.diag, value, "a kernel's stack") else { return KernelStack::default() };
    let flag = |key| reader.get(key).and_then(|value| top.diag.flag(value));
    let kernel = KernelStack {
        era: reader.get("stack").and_then(|value| reader.word(value, &ERAS)).map_or(Era::Papers, era),
        sack: flag("sack"),
        dsack: flag("dsack"),
        rack: flag("rack"),
        tail_loss_probe: flag("tail_loss_probe"),
        f_rto: flag("f_rto"),
    };
    reader.finish();
    kernel
}
