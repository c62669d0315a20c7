//! What the bytes of a file are: text in UTF-8, text that has to be decompressed or converted first, a web
//! page, an archive, a document whose text an extractor finds, or something else.
//!
//! In: the first bytes of a file, and the file as a stream. Out: [`Content`], for encoded text with a
//! reader of its decoded bytes. Start to read at `examine.rs`. `magic.rs` knows the first bytes of formats,
//! `compression.rs` decompresses (`zstandard.rs` with dictionaries), `charset.rs` finds and converts
//! character encodings, `html/` finds the text of pages, `archive/` reads the members of archives,
//! `collection_kind.rs` knows files of many records, `document.rs` knows documents that extractors read
//! (`notebook_head.rs` notebooks), and `extract/` runs extractors in processes of their own. `language.rs`
//! finds out in which language a text is, and `source_language/` which one source code is in.
//! `table_format.rs` knows tables whose rows can be records.

mod archive;
mod charset;
mod collection_kind;
mod compression;
mod document;
mod examine;
mod extract;
mod fill;
pub(crate) mod html;
mod language;
mod magic;
mod notebook_head;
mod options;
mod source_language;
mod table_format;
#[cfg(test)]
pub(crate) mod test_tools;
#[cfg(test)]
mod tests;
mod zstandard;

#[cfg(any(test, feature = "internals"))]
pub(crate) use archive::Uncompress;
pub(crate) use archive::{ArchiveFormat, ArchiveLimits, ArchiveMember, MemberKind, walk, walk_zip};
pub(crate) use charset::BYTE_ORDER_MARK;
pub use collection_kind::{CollectionKind, is_message};
pub use examine::TextForm;
pub(crate) use examine::{
    Content, DecodedText, HEAD, MembersContent, MembersFormat, decompressed, examine, is_plain,
};
pub use extract::{
    CacheNotes, ExtractCache, ExtractCacheError, ExtractCacheOptions, ExtractFailure, ExtractLimits,
    Extracted, ExtractorCommand, Extractors, TableConverter, frame,
};
pub(crate) use extract::{TableStream, TakeRemark};
pub(crate) use fill::fill;
pub(crate) use language::{LanguageSample, language_of};
pub use notebook_head::is_notebook;
pub(crate) use options::SKETCH;
pub use options::{ContentOptions, Extraction, MAX_DOCUMENT};
pub(crate) use source_language::source_language;
pub use table_format::RowsFormat;
