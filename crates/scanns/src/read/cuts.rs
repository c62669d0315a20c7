//! Where text can be cut whose records may contain line feeds.
//!
//! Such text can be divided among lanes only if someone who knows the records looks at all of it first. The
//! implementation is to the right of this module, see `record/csv/cuts.rs`.

use std::fmt::Debug;
use std::sync::Arc;

/// Finds the places between the records of one text where it can be cut.
pub trait FindCuts: Debug + Send + Sync {
    /// The same for another text.
    fn of_next_text(&self) -> Box<dyn FindCuts>;

    /// The same for the rest of a text behind a cut.
    fn of_rest(&self, start: &PieceStart) -> Box<dyn FindCuts>;

    /// Takes the next bytes of the text. Returns the last place in them where the text can be cut, which is
    /// one where everything before it would be read in the same way if the text ended there.
    fn take(&mut self, bytes: &[u8]) -> Option<Cut>;
}

/// A place where text can be cut.
#[derive(Clone, Debug)]
pub struct Cut {
    /// The position in the bytes that were given last, more than 0.
    pub at: usize,
    /// How to read the text from there on.
    pub start: PieceStart,
}

/// What reading a text from a cut on depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PieceStart {
    /// The first record, if it says how to read the others.
    pub head: Arc<[u8]>,
    /// The number of records before the cut, without such a first record.
    pub records: u64,
    /// The number of lines before the cut.
    pub lines: u64,
    /// Bytes that the search for the end of a record may still read in vain.
    pub credit: usize,
}
