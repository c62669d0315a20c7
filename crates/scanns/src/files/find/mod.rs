//! GNU find's language over entries that are known already: an expression in, the answer for each entry out.
//!
//! [`parse`] reads the arguments into an expression, a [`FindWalk`] evaluates it for the entries of each
//! start point and writes through a [`FindSink`]; [`FindFacts`] answers what an entry alone does not tell.
//! The behaviour is that of GNU findutils 4.9 with `-P` in the C locale. Read `expression.rs` first.

mod age;
mod bracket;
mod clock;
mod columns;
mod date;
mod dialect;
mod directive;
mod error;
mod evaluate;
mod expression;
mod facts;
mod format;
mod glob;
mod kinds;
mod layout;
mod list;
mod number;
mod owned;
mod parse;
mod permission;
mod primary;
mod primary_action;
mod primary_test;
mod regex;
mod regex_bracket;
mod regex_read;
mod regex_token;
mod requirements;
mod subject;
#[cfg(test)]
mod tests;
mod unknown;
mod walk;

pub use date::{Setting, timestamp};
pub use directive::mode_text;
pub use evaluate::FindSink;
pub use expression::{FindCommand, FindOutput};
pub use facts::{FindFacts, FindType, FoundTarget, OwnerIdentity, ReferenceEntry};
pub use format::PrintLayout;
pub use glob::Glob;
pub use kinds::KindSet;
pub use parse::parse;
pub use requirements::{NamePart, Requirements, Span};
pub use unknown::{DEVICE_NUMBERS, UnknownColumn, lack};
pub use walk::{FindWalk, FoundEntry, Next};
