//! The page for people: its files, which are a part of the program, and its HTML.
//!
//! `files.rs` answers requests for the files below `assets/`. `template.rs` fills what the server knows into
//! the HTML, so that the first answer has results without a script.

mod files;
mod template;

use axum::Router;
use axum::routing::get;

pub use files::assets;
pub use template::{escaped, html};

/// The page without results, and its files.
pub fn router() -> Router {
    assets().route("/", get(|| async { html(&[]) }))
}
