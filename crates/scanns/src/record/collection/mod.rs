//! Collections: files whose records have fields that are known beforehand, such as web archives, TREC
//! collections, mail and dumps of wikis.
//!
//! `format.rs` names the formats, `fields.rs` has their fields, `ends.rs` finds where their records end,
//! and `reader.rs` reads one record: it makes values (`../made_record.rs`), since these are rarely places
//! in the bytes of the record. `members.rs` is about collections in an index of files. `cuts.rs` divides
//! large files. `note.rs` is about what was left out, and what is unusual.

mod cuts;
mod ends;
mod fields;
mod format;
mod members;
mod note;
mod reader;

pub use cuts::CollectionCuts;
pub use ends::CollectionEnds;
pub use fields::TextFieldOptions;
pub use format::CollectionFormat;
pub(crate) use format::contents_of_records;
pub use members::text_of_file;
pub(crate) use members::{COLLECTIONS, MemberRecordReader, MemberValues};
pub use note::{RecordNote, RecordNotes};
pub(super) use reader::CollectionReader;
