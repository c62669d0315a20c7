//! What an answer may lack, because a scan was stopped, or could not read or left out something that it is
//! about: `scanns::files` knows the sentences, and the command writes them to standard error.

use std::path::Path;

use anyhow::Result;
use scanns::Snapshot;
pub use scanns::files::AskedPlaces;
use scanns::files::missing_entries;

use crate::quoting::quoted;
use crate::report::{self, Outcome, path_text};

/// Says on standard error what the answer may lack. Returns true if there is anything.
pub fn note_missing(snapshot: &Snapshot, index: &Path, asked: AskedPlaces<'_>) -> Result<bool> {
    let missing = if snapshot.is_view() {
        // A view does not say it, but who asks as somebody else may know.
        missing(&Snapshot::open(index)?, asked)?
    } else {
        missing(snapshot, asked)?
    };
    if let Some((last, others)) = missing.split_last() {
        others.iter().for_each(|text| report::note(text));
        report::note(&format!("{last}; scanns info {} --completeness tells more", path_text(index)));
    }
    Ok(!missing.is_empty())
}

/// What the answer may lack, in sentences without a full stop.
pub fn missing(snapshot: &Snapshot, asked: AskedPlaces<'_>) -> Result<Vec<String>> {
    Ok(missing_entries(snapshot, asked, &|path| quoted(path).into_owned())?)
}

impl Outcome {
    /// The outcome of an answer that may lack something.
    pub fn lacking(self, is_lacking: bool) -> Self {
        if is_lacking && self == Outcome::Done { Outcome::WithFailures } else { self }
    }
}
