//! One immutable segment: what an index thread wrote when its memory was full, as one file in one pass.
//!
//! `flush.rs` drains an inverter into a file, `merge/` joins several files, `reader.rs` opens one, `deletes.rs` says which
//! of its documents were deleted since, `updates.rs` which values of columns were changed, `positions.rs` where in them terms stand, `check.rs` proves that all of it is whole. The file is an envelope of the sections
//! below. `terms/` is the largest: terms and postings side by side, since one sequential write cannot fill two
//! sections at once, and since a query wants both from the same place. `keys/` says what a document is called, `stored/` what is
//! kept of its text, `columns/` its typed values.

mod check;
mod columns;
mod deletes;
mod flush;
mod keys;
mod merge;
mod positions;
mod reader;
mod stats;
mod stored;
mod terms;
#[cfg(test)]
mod tests;
mod updates;

pub use check::CheckLevel;
pub use deletes::deletes_file_name;
pub use flush::{FLUSH_BYTES, FlushBuffers, Flushed, flush};
pub use keys::{KeyRun, Keys, KnownPaths};
pub use merge::{GoOn, MergeWork, Merged, Order, Reordering, merge};
pub use reader::Segment;
pub use stats::{FieldStats, SegmentStats};
pub use stored::{Collector, Reference, StoredFigures, TermInDocument};
pub use terms::{TermInfo, TermPositions, TermsIter, TermsWalk};
pub use updates::{Changes, Updates, updates_file_name};

use crate::schema::Field;
use crate::store::FileKind;
use merge::Renumbering;

/// Format of the files; a change of any section counts it up.
pub const SEGMENT: FileKind = FileKind { magic: *b"SCANNSEG", format: 1 };

/// The section of a field: those of field 0 have the number `kind`, those of others one of their own.
///
/// Terms, the sparse index over them, norms and what says of positions are there for every field that is searched.
const fn of_field(kind: u32, field: Field) -> u32 {
    kind | (field.number() as u32) << 8
}

/// Section of term groups: see `terms/mod.rs`.
const TERMS: u32 = 1;
/// Section of the sparse index over them.
const SPARSE: u32 = 2;
/// Section of norms: one byte per document.
const NORMS: u32 = 3;
/// Sections of document keys: see `keys/mod.rs`.
const KEYS: u32 = 4;
const PATHS: u32 = 6;
const PLACES: u32 = 7;
const HASHES: u32 = 8;
const STAMPS: u32 = 9;
const ORDER: u32 = 10;
/// Section of figures: see `stats.rs`.
const STATS: u32 = 5;

/// True if a file of that name is a segment.
pub fn is_file_name(name: &str) -> bool {
    name.strip_suffix(".seg")
        .is_some_and(|id| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// True if a file of that name belongs to a segment: holds it, its deletes, or its changed values.
pub fn is_of_segment(name: &str) -> bool {
    let beside = name.strip_suffix(".del").or(name.strip_suffix(".upd"));
    let parts = beside.and_then(|name| name.split_once('-'));
    is_file_name(name)
        || parts.is_some_and(|(id, generation)| {
            id.len() == 32
                && id.bytes().all(|byte| byte.is_ascii_hexdigit())
                && generation.len() >= 10
                && generation.bytes().all(|byte| byte.is_ascii_digit())
        })
}

/// Name of the file of the segment with this identity.
pub fn file_name(id: u128) -> String {
    format!("{id:032x}.seg")
}
