//! The child process that extracts text: it confines itself, then serves one file after another on its
//! standard input.
//!
//! ```no_run
//! # use scanns_extract::child::{Written, confine, serve};
//! confine(Written::Nothing);
//! serve(|request, answer| {
//!     answer.format("text");
//!     answer.push_text(&String::from_utf8_lossy(request.name));
//! })?;
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! `serve.rs` has the loop, `answer.rs` what a parser fills, `confine.rs` what the process gives up, with the
//! paths in `paths.rs` and the system calls in `calls.rs`; `watch.rs` ends the process when the engine has
//! gone.

mod answer;
mod calls;
mod confine;
mod paths;
mod serve;
mod watch;

pub use answer::Answer;
pub use confine::{Confinement, Written, confine};
#[cfg(feature = "tables")]
pub(crate) use serve::limit_memory;
pub use serve::{ExtractRequest, serve};
