//! Readers of collections of texts: TREC, SMART, mail and dumps of MediaWiki.
//!
//! Each has two parts: one finds where records end, and one makes the values of a record. `tags.rs` and
//! `entities.rs` read markup, `element_ends.rs` finds the ends of elements, and `latin1.rs` converts text.

mod element_ends;
mod entities;
mod latin1;
pub(super) mod mbox;
pub(super) mod mediawiki;
pub(super) mod smart;
#[cfg(test)]
mod stress;
mod tags;
#[cfg(test)]
mod test_support;
pub(super) mod trec;
