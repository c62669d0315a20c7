//! The numbers of the sections of a column.

/// Section of the blocks of a column.
pub const BLOCKS: u32 = 64;
/// Section of the index over the blocks.
pub const INDEX: u32 = 65;
/// Section of the terms of a column of keywords, or of the directories of a column of paths: see
/// `dictionary/`.
pub const TERMS: u32 = 66;
/// Section of the index over the terms.
pub const TERMS_INDEX: u32 = 67;
/// Section of the names of a column of paths, in the form of the blocks of a column of strings.
pub const NAMES: u32 = 68;
/// Section of the index over the names.
pub const NAMES_INDEX: u32 = 69;
