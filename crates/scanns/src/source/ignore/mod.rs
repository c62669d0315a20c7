//! Rules of `.gitignore` files, as git reads them.
//!
//! A walk starts with [`IgnoreRules::above`] and calls [`IgnoreRules::enter`] for every directory, with what
//! [`RuleFiles`] found in it; [`IgnoreRules::is_ignored`] then decides about each entry. The rules of a
//! directory never change and are shared by the directories below it, so threads need no locks.
//!
//! | file | what it has |
//! |---|---|
//! | `pattern.rs`, `byte_set.rs` | the text of one pattern |
//! | `glob.rs` | one pattern, matched as git's wildmatch does |
//! | `list.rs` | the patterns of one file |
//! | `rules.rs` | the files that apply in a directory, nearest first |
//! | `files.rs` | `.gitignore`, `.git` and `info/exclude` of a directory |
//! | `user.rs` | the user's own file, `core.excludesFile` of git |
//! | `faults.rs` | damaged patterns and files that could not be read |

mod byte_set;
mod faults;
mod files;
mod glob;
mod list;
mod pattern;
mod rules;
mod user;

pub use faults::{DamagedPattern, IgnoreFaults, UnreadRules};
pub(super) use files::{RuleFiles, RuleNames};
pub(super) use rules::IgnoreRules;
pub(super) use user::UserRules;

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;
