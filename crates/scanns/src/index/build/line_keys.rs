//! Collects the keys of the documents of a segment.

use crate::read::LineNumber;
use crate::schema::Records;
use crate::segment::{KeyRun, Keys};
use crate::source::{Input, Stamp};

/// Memory per path in addition to its bytes.
const PATH_BYTES: usize = size_of::<Vec<u8>>() + size_of::<Stamp>() + 16;

/// A run of documents that are lines of one input: document `first_doc` is line `line` plus `later`.
#[derive(Clone, Debug)]
struct LineRun {
    first_doc: u32,
    input: u32,
    path: u32,
    line: LineNumber,
    later: u64,
}

/// The keys of a segment that has not been written yet.
#[derive(Debug)]
pub(crate) struct KeyCollector {
    paths: Vec<Vec<u8>>,
    stamps: Vec<Stamp>,
    bytes: usize,
    runs: Option<Vec<LineRun>>,
}

impl KeyCollector {
    pub(crate) fn new(records: Records) -> Self {
        let runs = records.are_parts().then(Vec::new);
        KeyCollector { paths: Vec::new(), stamps: Vec::new(), bytes: 0, runs }
    }

    /// Bytes of memory in use.
    pub(crate) fn bytes(&self) -> usize {
        // Encoding the keys for the flush takes the same amount again.
        2 * (self.bytes + self.runs.as_ref().map_or(0, Vec::len) * size_of::<LineRun>())
    }

    fn push_path(&mut self, path: &[u8], stamp: Stamp) -> u32 {
        self.paths.push(path.to_vec());
        self.stamps.push(stamp);
        self.bytes += path.len() + PATH_BYTES;
        u32::try_from(self.paths.len() - 1).unwrap_or(u32::MAX)
    }

    /// Adds a document that is a file.
    pub(crate) fn file(&mut self, path: &[u8], stamp: Stamp) {
        self.push_path(path, stamp);
    }

    /// Adds documents from `first_doc` on that are the lines of a file from `line` on. `number` is the number
    /// of the input.
    pub(crate) fn lines(&mut self, first_doc: u32, number: u32, input: &Input, line: LineNumber) {
        let last = self.runs.as_ref().and_then(|runs| runs.last());
        let path = match last {
            Some(run) if run.input == number => run.path,
            _ => self.push_path(input.key(), input.stamp()),
        };
        if let Some(runs) = &mut self.runs {
            runs.push(LineRun { first_doc, input: number, path, line, later: 0 });
        }
    }

    /// Takes the keys of the documents below `max_doc`. The current run continues with document 0.
    ///
    /// Waits until readers have counted the lines before each run.
    pub(crate) fn take(&mut self, max_doc: u32) -> Keys {
        let (paths, stamps) = (std::mem::take(&mut self.paths), std::mem::take(&mut self.stamps));
        let mut keys = Keys { paths, stamps, ..Keys::default() };
        self.bytes = 0;
        let Some(runs) = &mut self.runs else { return keys };
        let ended = std::mem::take(runs);
        if let Some(open) = ended.last() {
            let later = open.later + u64::from(max_doc.saturating_sub(open.first_doc));
            let path = keys.paths.get(open.path as usize).cloned().unwrap_or_default();
            self.bytes = path.len() + PATH_BYTES;
            self.paths.push(path);
            self.stamps.push(keys.stamps.get(open.path as usize).copied().unwrap_or_default());
            runs.push(LineRun { first_doc: 0, path: 0, later, ..open.clone() });
        }
        let resolve = |run: &LineRun| KeyRun {
            first_doc: run.first_doc,
            path: run.path,
            first_line: run.line.resolve() + run.later,
        };
        // Omit runs without documents, which inputs without lines have.
        let ends = ended.iter().skip(1).map(|run| run.first_doc.min(max_doc)).chain([max_doc]);
        let filled = ended.iter().zip(ends).filter(|(run, end)| run.first_doc < *end);
        keys.runs = Some(filled.map(|(run, _)| resolve(run)).collect());
        keys
    }
}
