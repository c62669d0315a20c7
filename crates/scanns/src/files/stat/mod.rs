//! Entries as GNU stat shows them in the C locale: its layout, its formats, and JSON.
//!
//! `format.rs` reads formats, `value.rs` writes their values, and `json.rs` writes objects. An index knows
//! the source of an entry and when it was seen, and perhaps its ACL and extended attributes (`origin.rs`),
//! which follow what stat would show.

mod format;
mod json;
mod origin;
mod run;
mod value;

pub use run::{StatLayout, StatOptions, StatReport, stat_entries};
