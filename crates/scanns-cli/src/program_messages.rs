//! Messages for programs: if `SCANNS_MESSAGES` is `json`, standard error has one JSON object per line.
//!
//! `{"note": "…"}` is a note, `{"progress": {…}}` the state of a build, five times a second, and `{"error":
//! {"kind": "Locked", "message": "…"}}` the reason why nothing was done. The kind is a variant of
//! `scanns::Error`, `Usage` for wrong arguments, or `Other`. The Python package reads these lines.

use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use scanns::Error;
use scanns::index::Progress;
use serde_json::{Value, json};

/// The time between two reports of progress.
const PAUSE: Duration = Duration::from_millis(200);

/// True if messages are for a program.
pub fn for_programs() -> bool {
    static ASKED: OnceLock<bool> = OnceLock::new();
    *ASKED.get_or_init(|| std::env::var_os("SCANNS_MESSAGES").is_some_and(|form| form == "json"))
}

/// Writes a line; a closed standard error is ignored.
fn line(object: &Value) {
    let _ = writeln!(io::stderr(), "{object}");
}

pub fn note(text: &str) {
    line(&json!({ "note": text }));
}

pub fn usage(text: &str) {
    line(&json!({ "error": { "kind": "Usage", "message": text } }));
}

/// Writes an error with the name of its kind, and what is known about its place.
pub fn error(known: Option<&Error>, message: &str) {
    let kind = known.map_or_else(|| "Other".to_owned(), kind);
    let mut error = json!({ "kind": kind, "message": message });
    if let (Some(Error::Query { at, .. }), Some(object)) = (known, error.as_object_mut()) {
        object.insert("at".into(), (*at).into());
    }
    line(&json!({ "error": error }));
}

/// The name of the variant, with which its debug form begins.
fn kind(error: &Error) -> String {
    format!("{error:?}").chars().take_while(|letter| letter.is_alphanumeric()).collect()
}

/// Writes the progress until `finished` is closed.
pub fn progress(state: &Progress, finished: &Receiver<()>) {
    while finished.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
        line(&json!({ "progress": {
            "phase": format!("{:?}", state.phase()).to_lowercase(),
            "bytes": state.bytes(),
            "total_bytes": state.total_bytes(),
            "files": state.files(),
            "total_files": state.total_files(),
            "documents": state.documents(),
            "failures": state.failures(),
            "segments": state.segments(),
        } }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_an_error_is_the_name_of_its_variant() {
        assert_eq!(kind(&Error::Cancelled), "Cancelled");
        assert_eq!(kind(&Error::corrupt("x", "y")), "Corrupt");
        assert_eq!(kind(&Error::Locked { path: "a b".into(), here: false }), "Locked");
    }
}
