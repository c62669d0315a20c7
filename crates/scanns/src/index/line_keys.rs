//! Collects what the documents of a segment will be called.

use crate::read::LineNumber;
use crate::schema::Records;
use crate::segment::{KeyRun, Keys};

/// Documents from `first_doc` on are lines of one input, from `line` plus `later` on.
#[derive(Clone, Debug)]
struct Run {
    first_doc: u32,
    input: u32,
    path: u32,
    line: LineNumber,
    later: u64,
}

/// The keys of one segment in the making.
#[derive(Debug)]
pub(super) struct KeyCollector {
    paths: Vec<Vec<u8>>,
    bytes: usize,
    runs: Option<Vec<Run>>,
}

impl KeyCollector {
    pub(super) fn new(records: Records) -> Self {
        let runs = (records == Records::Lines).then(Vec::new);
        KeyCollector { paths: Vec::new(), bytes: 0, runs }
    }

    /// Bytes of memory taken.
    pub(super) fn bytes(&self) -> usize {
        // Encoding them for the flush takes as much again.
        2 * (self.bytes + self.runs.as_ref().map_or(0, Vec::len) * size_of::<Run>())
    }

    fn push_path(&mut self, path: &[u8]) -> u32 {
        self.paths.push(path.to_vec());
        self.bytes += path.len() + size_of::<Vec<u8>>() + 16;
        u32::try_from(self.paths.len() - 1).unwrap_or(u32::MAX)
    }

    /// The next document is the file `path`.
    pub(super) fn file(&mut self, path: &[u8]) {
        self.push_path(path);
    }

    /// The documents from `first_doc` on are the lines of `input` from `line` on.
    pub(super) fn lines(&mut self, first_doc: u32, input: u32, path: &[u8], line: LineNumber) {
        let last = self.runs.as_ref().and_then(|runs| runs.last());
        let path = match last {
            Some(run) if run.input == input => run.path,
            _ => self.push_path(path),
        };
        if let Some(runs) = &mut self.runs {
            runs.push(Run { first_doc, input, path, line, later: 0 });
        }
    }

    /// Gives out the keys of the documents below `max_doc`; the run at hand goes on with document 0.
    ///
    /// Waits until the lines before those runs have been counted.
    pub(super) fn take(&mut self, max_doc: u32) -> Keys {
        let mut keys = Keys { paths: std::mem::take(&mut self.paths), runs: None };
        self.bytes = 0;
        let Some(runs) = &mut self.runs else { return keys };
        let ended = std::mem::take(runs);
        if let Some(open) = ended.last() {
            let later = open.later + u64::from(max_doc.saturating_sub(open.first_doc));
            let path = keys.paths.get(open.path as usize).cloned().unwrap_or_default();
            self.bytes = path.len() + size_of::<Vec<u8>>() + 16;
            self.paths.push(path);
            runs.push(Run { first_doc: 0, path: 0, later, ..open.clone() });
        }
        let resolve = |run: &Run| KeyRun {
            first_doc: run.first_doc,
            path: run.path,
            first_line: run.line.resolve() + run.later,
        };
        // An input without lines has a run without documents.
        let ends = ended.iter().skip(1).map(|run| run.first_doc.min(max_doc)).chain([max_doc]);
        let filled = ended.iter().zip(ends).filter(|(run, end)| run.first_doc < *end);
        keys.runs = Some(filled.map(|(run, _)| resolve(run)).collect());
        keys
    }
}
