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
    if snapshot.is_view() {
        // The user may not see the paths.
        let lacks = !missing(&Snapshot::open(index)?, asked)?.is_empty();
        if lacks {
            let index = path_text(index);
            report::note(&format!("entries may be missing; scanns info {index} --completeness tells more"));
        }
        return Ok(lacks);
    }
    let missing = missing(snapshot, asked)?;
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
