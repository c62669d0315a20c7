//! The numbers of a segment's sections, and the names of its files.

use crate::schema::Field;
use crate::store::FileKind;

/// Kind and format version of segment files. Changing the format of any section raises the version.
pub const SEGMENT: FileKind = FileKind { magic: *b"SCANNSEG", format: 5, oldest: 2 };

/// Section of the term groups, one per searched field: see `terms/mod.rs`.
pub(super) const TERMS: u32 = 1;
/// Section of the sparse index over the term groups, one per searched field.
pub(super) const SPARSE: u32 = 2;
/// Section of the norms, one byte per document, one per searched field.
pub(super) const NORMS: u32 = 3;
/// Section of the runs of document keys: see `keys/mod.rs` for this one and the others of keys.
pub(super) const KEYS: u32 = 4;
/// Section of the figures: see `stats.rs`.
pub(super) const STATS: u32 = 5;
/// Section of the front-coded paths.
pub(super) const PATHS: u32 = 6;
/// Section of the offsets of the blocks of paths.
pub(super) const PLACES: u32 = 7;
/// Section of the hashes of the paths.
pub(super) const HASHES: u32 = 8;
/// Sections of the sizes of the files of the paths.
pub(super) const STAMP_SIZES: StampSections = StampSections { blocks: 9, index: 11 };
/// Sections of the times when they were modified last.
pub(super) const STAMP_TIMES: StampSections = StampSections { blocks: 12, index: 13 };
/// Section of the places of documents among the runs.
pub(super) const ORDER: u32 = 10;

/// Sections of the stored text of documents.
pub(super) const TEXT: BlockSections = BlockSections { blocks: 32, index: 33, what: "stored documents" };
/// Sections of the document vectors.
pub(super) const VECTORS: BlockSections = BlockSections { blocks: 34, index: 35, what: "document vectors" };
/// Section of the spans of documents in their files: see `stored/spans.rs`.
pub(super) const SPANS: u32 = 36;
/// Section of the offsets of the blocks of spans.
pub(super) const SPAN_PLACES: u32 = 37;

/// The two sections of a column of stamps.
#[derive(Clone, Copy, Debug)]
pub(super) struct StampSections {
    pub(super) blocks: u32,
    pub(super) index: u32,
}

/// The two sections of a block store.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockSections {
    pub(super) blocks: u32,
    pub(super) index: u32,
    /// What the blocks hold, for error messages.
    pub(super) what: &'static str,
}

/// The number of section `kind` of a field; for field 0 it equals `kind`.
pub(super) const fn of_field(kind: u32, field: Field) -> u32 {
    kind | (field.number() as u32) << 8
}

/// Returns true if a file with this name is a segment.
pub fn is_file_name(name: &str) -> bool {
    name.strip_suffix(".seg").is_some_and(is_id)
}

/// Returns true if a file with this name belongs to a segment: it holds the segment, its deletes, or its
/// updates.
pub fn is_of_segment(name: &str) -> bool {
    let beside = name.strip_suffix(".del").or(name.strip_suffix(".upd"));
    is_file_name(name)
        || beside.and_then(|name| name.split_once('-')).is_some_and(|(id, generation)| {
            let digits = generation.bytes().all(|byte| byte.is_ascii_digit());
            is_id(id) && generation.len() >= 10 && digits
        })
}

fn is_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Name of the file of segment `id`.
pub fn file_name(id: u128) -> String {
    format!("{id:032x}.seg")
}

/// Name of the file with the deletes of segment `id` that commit `generation` published.
pub fn deletes_file_name(id: u128, generation: u64) -> String {
    format!("{id:032x}-{generation:010}.del")
}

/// Name of the file with the updates of segment `id` that commit `generation` published.
pub fn updates_file_name(id: u128, generation: u64) -> String {
    format!("{id:032x}-{generation:010}.upd")
}
