//! Readers of lists of changes: the bytes of a list in, paths out at which a scan should look.
//!
//! A list only says where to look: what is there now is found out by looking. So it does no harm if a list is
//! old or says too much; only what it does not say is missed. `formats.rs` has the table of formats;
//! `zfs_diff.rs`, `lustre.rs` and `watch_json.rs` read rows, `change.rs` has what they say, `fid_paths.rs`
//! asks `lfs` for paths, and `reader.rs` puts the paths of many rows together. All readers are total:
//! whatever the bytes are, they return paths and counts of bad rows (`tally.rs`), or an error.

mod change;
mod fid_paths;
mod formats;
mod lustre;
mod reader;
mod tally;
#[cfg(test)]
mod tests;
mod watch_json;
mod zfs_diff;

pub use formats::{CHANGE_FORMATS, ChangeFormat};
pub use reader::{ChangeReader, ListFault};
pub use tally::ChangesTally;
