//! What is left of a part that is not what was written: those of its records that still are.
//!
//! A part says of each record by a sum what it was ([`Checks`]); records stand in groups, so that a group of which a column
//! cannot be read costs no other one. What cannot be told from what was written is lost, and named; nothing of it is read.

use super::batches::{group, groups};
use super::parquet_rows::{CHECK, Checks, Kept, Place, checks_of, metrics_among, records};
use crate::Address;
use bytes::Bytes;
use std::fmt;

/// What a file of this kind ends with; what says where everything is stands before it, twice.
const END: &[u8] = b"PAR1";
/// So many places are looked at where that may be.
const ENDS: usize = 2;
/// So many lost records are named one by one.
const NAMED: usize = 8;

/// What is left of a part.
#[derive(Debug)]
pub(super) struct Salvaged {
    /// The metrics of its records.
    pub(super) metrics: Vec<String>,
    /// The records that are what was written.
    pub(super) kept: Vec<Kept>,
    /// The others.
    pub(super) lost: Vec<Lost>,
}

/// A record that cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lost {
    /// Its number in its part, from 1 on.
    pub(super) number: usize,
    /// Its cell; `None`: it is not known any more.
    pub(super) address: Option<Address>,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address {
            Some(address) => write!(f, "record {} (cell {address})", self.number),
            None => write!(f, "record {} (of a cell that is not known any more)", self.number),
        }
    }
}

/// Those that are lost, in words.
pub(super) fn named(lost: &[Lost]) -> String {
    let first: Vec<String> = lost.iter().take(NAMED).map(Lost::to_string).collect();
    match lost.len().saturating_sub(NAMED) {
        0 => first.join(", "),
        more => format!("{} and {} more", first.join(", "), crate::human::many(more, "record")),
    }
}

/// What is left of a part of these bytes; `None`: no record can be told from another one, and all of it is lost.
pub(super) fn salvage(bytes: &Bytes) -> Option<Salvaged> {
    let ends = (0..bytes.len().saturating_sub(END.len())).rev().filter(|&at| bytes[at..].starts_with(END));
    let without = ends.take(ENDS).map(|at| bytes.slice(..at + END.len()));
    let mut best: Option<Salvaged> = None;
    for bytes in std::iter::once(bytes.clone()).chain(without) {
        let left = salvaged(&bytes);
        let kept = |left: &Option<Salvaged>| left.as_ref().map(|left| left.kept.len());
        if kept(&left) > kept(&best) {
            best = left;
        }
        if best.as_ref().is_some_and(|best| best.lost.is_empty()) {
            break;
        }
    }
    best
}

/// The same by what stands at the end of these bytes.
fn salvaged(bytes: &Bytes) -> Option<Salvaged> {
    let (columns, groups) = groups(bytes).ok()?;
    let metrics = metrics_among(columns.iter().map(String::as_str));
    let checks = Checks::new(&metrics);
    let (mut kept, mut lost) = (Vec::new(), Vec::new());
    let mut before = 0;
    for (number, rows) in groups.into_iter().enumerate() {
        let found = whole(bytes, number, &metrics, &checks).or_else(|| names(bytes, number));
        let found = found.unwrap_or_else(|| vec![Err(None); rows]);
        for (k, one) in found.into_iter().enumerate() {
            match one {
                Ok(one) => kept.push(one),
                Err(address) => lost.push(Lost { number: before + k + 1, address }),
            }
        }
        before += rows;
    }
    let any = !kept.is_empty() || lost.iter().any(|one| one.address.is_some());
    any.then_some(Salvaged { metrics, kept, lost })
}

/// A record, or what is known of the cell of a lost one.
type Found = Result<Kept, Option<Address>>;

/// The records of a group, where all its columns can be read.
fn whole(bytes: &Bytes, number: usize, metrics: &[String], checks: &Checks) -> Option<Vec<Found>> {
    let batch = group(bytes, number, |_| true)?;
    let sums = checks_of(&batch)?;
    let mut found = Vec::new();
    let read = records(&batch, metrics, &mut |k, of, record| {
        let Some((Place::Key(key), seed)) = of else { return found.push(Err(None)) };
        let (sum, one) = (sums.value(k), Kept { key, seed, record });
        found.push(match checks.hold(&one, sum) {
            true => Ok(one),
            false => Err(Checks::name_holds(&key, seed, sum).then(|| key.cell(seed))),
        });
    });
    read.is_ok_and(|has_all| has_all).then_some(found)
}

/// The cells of a group's records, where only their names can be read.
fn names(bytes: &Bytes, number: usize) -> Option<Vec<Found>> {
    let batch = group(bytes, number, |name| ["key", "seed", CHECK].contains(&name))?;
    let sums = checks_of(&batch)?;
    let mut found = Vec::new();
    let read = records(&batch, &[], &mut |k, of, _| {
        found.push(Err(match of {
            Some((Place::Key(key), seed)) => {
                Checks::name_holds(&key, seed, sums.value(k)).then(|| key.cell(seed))
            }
            _ => None,
        }));
    });
    read.is_ok_and(|has_all| has_all).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::super::parquet_rows::encode;
    use super::*;
    use crate::cell::{Key, Record};
    use std::collections::BTreeSet;

    fn kept(seed: u64) -> Kept {
        let values = vec![Some(seed as f64 * 1.5), (!seed.is_multiple_of(3)).then_some(0.25), Some(7.0)];
        let record =
            Record { digest: format!("{:016x}", seed.wrapping_mul(0x9E37_79B9)), values, lateness: None };
        Kept { key: Key([(seed % 5) as u8; 16]), seed, record }
    }

    fn metrics() -> Vec<String> {
        ["goodput_bps", "jain", "flows"].map(str::to_owned).into()
    }

    #[test]
    fn whichever_byte_is_another_what_is_read_was_written_and_the_rest_is_named() {
        let all: Vec<Kept> = (0..40).map(kept).collect();
        let bytes = encode(&all, &metrics()).unwrap();
        let (mut one_lost, mut all_lost) = (0, 0);
        let ends = 2 * (8 + u32::from_le_bytes(bytes[bytes.len() - 8..][..4].try_into().unwrap()) as usize);
        for at in (0..bytes.len()).step_by(3) {
            let mut other = bytes.clone();
            other[at] ^= 0x55;
            let Some(left) = salvage(&other.into()) else {
                all_lost += 1;
                continue;
            };
            let numbers: BTreeSet<usize> = left.lost.iter().map(|lost| lost.number).collect();
            assert!(left.kept.iter().all(|one| all.contains(one)), "at {at}: half read");
            for lost in left.lost.iter().filter(|lost| lost.number <= all.len()) {
                let is = &all[lost.number - 1];
                assert!(lost.address.is_none_or(|a| a == is.key.cell(is.seed)), "at {at}: {lost}");
            }
            let whole = all.iter().enumerate().filter(|(k, _)| !numbers.contains(&(k + 1)));
            assert!(whole.map(|(_, one)| one).eq(&left.kept), "at {at}: not all that is left, in order");
            assert!(
                at < bytes.len() - ends || left.lost.is_empty(),
                "at {at}: what is there twice costs nothing"
            );
            one_lost += usize::from(left.lost.len() == 1);
        }
        assert!(3 * one_lost > bytes.len() / 10, "{one_lost} of {} cost a record", bytes.len());
        assert!(3 * all_lost < bytes.len() / 4, "{all_lost} of {} cost all", bytes.len());
    }

    #[test]
    fn a_group_that_cannot_be_read_costs_no_other_and_its_cells_are_known() {
        let all: Vec<Kept> = (0..3000).map(kept).collect();
        let bytes = encode(&all, &metrics()).unwrap();
        // Where the second group's goodput is, by what the file says itself.
        let at = {
            use parquet::file::reader::{FileReader, SerializedFileReader};
            let file = SerializedFileReader::new(Bytes::from(bytes.clone())).unwrap();
            let metadata = file.metadata();
            assert_eq!(metadata.num_row_groups(), 3);
            let column = metadata.row_group(1).column(3);
            assert_eq!(column.column_path().string(), "goodput_bps");
            usize::try_from(column.dictionary_page_offset().unwrap_or(column.data_page_offset())).unwrap()
        };
        let mut other = bytes;
        other[at..at + 24].fill(0xFF);
        let left = salvage(&other.into()).unwrap();
        assert_eq!((left.kept.len(), left.lost.len()), (3000 - 1024, 1024));
        assert!(left.lost.iter().all(|lost| lost.address.is_some()));
        let said = named(&left.lost);
        let address = kept(1024).key.cell(1024);
        assert!(said.starts_with(&format!("record 1025 (cell {address}), record 1026 ")), "{said}");
        assert!(said.ends_with(" and 1016 records more"), "{said}");
    }

    #[test]
    fn of_what_is_no_part_nothing_is_left() {
        assert!(salvage(&Bytes::from_static(b"PAR1")).is_none());
        assert!(salvage(&Bytes::new()).is_none());
    }
}
