//! The page for people: its files, which are a part of the program, and its HTML.
//!
//! `files.rs` answers requests for the files below `assets/`. `template.rs` fills what the server knows into
//! the HTML, so that the first answer has results without a script.

mod files;
mod template;

pub(crate) use files::assets;
pub(crate) use template::{attribute, escaped, filled_page};
