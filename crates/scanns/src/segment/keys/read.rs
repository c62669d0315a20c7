//! Finds the key of a document, and the documents of a key.

use std::ops::Range;

use super::format::{HASH, HEAD, KeyKind, KeyRun, RUN, WHOLE_FILE, hash, width_of};
use super::paths::{PathStore, StoredPathCursor};
use super::places::DocumentPlaces;
use super::stamps::Stamps;
use crate::codec::ByteReader;
use crate::column::Column;
use crate::error::{Error, Result};
use crate::schema::Field;
use crate::segment::layout::{HASHES, KEYS, ORDER};
use crate::source::Stamp;
use crate::store::{Envelope, Section};

/// Line numbers are below this.
const MOST_LINES: u64 = 1 << 62;

/// The sections of keys of one segment.
#[derive(Clone, Copy)]
pub(in crate::segment) struct KeyReader<'a> {
    keys: &'a Section,
    paths: PathStore<'a>,
    hashes: &'a Section,
    /// The file of the segment.
    file: &'a Envelope,
    pub(super) max_doc: u32,
    by_run: bool,
    /// The place of each document among the runs, if it differs from the number of the document.
    pub(super) order: Option<DocumentPlaces<'a>>,
    /// Number of paths.
    count: u32,
    /// Number of runs.
    runs: usize,
}

impl<'a> KeyReader<'a> {
    /// The keys of a segment of `max_doc` documents, which was written with these `columns`.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the sizes of the sections contradict each other.
    pub(in crate::segment) fn open(
        file: &'a Envelope,
        columns: &'a [(Field, Column)],
        max_doc: u32,
    ) -> Result<Self> {
        let (keys, hashes) = (file.section(KEYS)?, file.section(HASHES)?);
        let wrong = || keys.corrupt("the sizes of its parts contradict each other");
        let mut head = ByteReader::new(keys.get(0..HEAD)?);
        let kind = head.u32().and_then(KeyKind::of);
        let (Some(kind), Some(count), Some(field)) = (kind, head.u32(), head.u64()) else {
            return Err(wrong());
        };
        let paths = match kind {
            KeyKind::Column => PathStore::in_column(keys, columns, field)?,
            _ => PathStore::coded(file, count)?,
        };
        let runs = keys.len() - HEAD;
        let by_run = matches!(kind, KeyKind::Runs | KeyKind::Places);
        let order = match kind {
            KeyKind::Places => Some(DocumentPlaces::open(file.section(ORDER)?, max_doc)?),
            _ => None,
        };
        let fits = runs.is_multiple_of(RUN)
            && hashes.len() == count as usize * (HASH + width_of(count as usize))
            && if by_run { runs / RUN <= max_doc as usize } else { runs == 0 && count == max_doc };
        let runs = runs / RUN;
        let reader = KeyReader { keys, paths, hashes, file, max_doc, by_run, order, count, runs };
        if fits { Ok(reader) } else { Err(wrong()) }
    }

    /// Number of paths.
    pub(in crate::segment) fn paths(&self) -> u32 {
        self.count
    }

    /// Returns true if documents are lines, or were in one of the segments that this one was merged from.
    pub(in crate::segment) fn by_run(&self) -> bool {
        self.by_run
    }

    pub(super) fn damaged(&self, what: impl std::fmt::Display) -> Error {
        self.keys.corrupt(format!("there is no {what}"))
    }

    fn no_key(&self, doc: u32) -> Error {
        self.damaged(format_args!("key for document {doc}"))
    }

    /// The key of a document.
    pub(in crate::segment) fn key(&self, doc: u32) -> Result<Vec<u8>> {
        let (mut key, line) = self.line(doc)?;
        if let Some(line) = line {
            key.push(b':');
            key.extend_from_slice(line.to_string().as_bytes());
        }
        Ok(key)
    }

    /// The path of the file of a document, and its line if the document is a line.
    pub(in crate::segment) fn line(&self, doc: u32) -> Result<(Vec<u8>, Option<u64>)> {
        if !self.by_run {
            return Ok((self.path(doc)?, None));
        }
        let place = self.place(doc)?;
        let run = self.run(self.run_of(place)?.ok_or_else(|| self.no_key(doc))?)?;
        let line = (run.first_line != WHOLE_FILE).then(|| run.first_line + u64::from(place - run.first_doc));
        Ok((self.path(run.path)?, line))
    }

    /// The path and the stamp of the file of a document, and whether the document is a line of it.
    pub(in crate::segment) fn file_of(&self, doc: u32) -> Result<(Vec<u8>, Stamp, bool)> {
        let index = if self.by_run { self.run_of(self.place(doc)?)? } else { None };
        let run = index.map(|index| self.run(index)).transpose()?;
        let path = run.map_or(doc, |run| run.path);
        let stamp = self.stamps()?.map_or_else(|| Ok(Stamp::default()), |stamps| stamps.get(path))?;
        Ok((self.path(path)?, stamp, run.is_some_and(|run| run.first_line != WHOLE_FILE)))
    }

    /// The place of a document among the runs.
    pub(super) fn place(&self, doc: u32) -> Result<u32> {
        self.order.map_or(Ok(doc), |order| order.get(doc))
    }

    /// Reads run `index`.
    fn run(&self, index: usize) -> Result<KeyRun> {
        let at = HEAD + index * RUN;
        let mut reader = ByteReader::new(self.keys.get(at..at + RUN)?);
        match (reader.u32(), reader.u32(), reader.u64()) {
            (Some(first_doc), Some(path), Some(first_line)) if first_line < MOST_LINES => {
                Ok(KeyRun { first_doc, path, first_line })
            }
            _ => Err(self.damaged(format_args!("run {index}"))),
        }
    }

    /// The last run that begins at or before `place`.
    fn run_of(&self, place: u32) -> Result<Option<usize>> {
        let (mut low, mut high) = (0, self.runs);
        while low < high {
            let middle = low.midpoint(high);
            if self.run(middle)?.first_doc <= place { low = middle + 1 } else { high = middle }
        }
        Ok(low.checked_sub(1))
    }

    /// All runs in document order, each with its documents. In a segment without runs, or whose documents are
    /// not in the order of the runs, each document is a separate run.
    pub(in crate::segment) fn runs(&self) -> Result<KeyRuns<'a>> {
        if !self.by_run {
            return Ok(KeyRuns::Files(0..self.max_doc));
        }
        match self.order {
            Some(order) => Ok(KeyRuns::Placed {
                keys: *self,
                order,
                runs: self.runs_by_place().map(|run| run.map(|(run, _)| run)).collect::<Result<_>>()?,
                docs: 0..self.max_doc,
            }),
            None => Ok(KeyRuns::InOrder(self.runs_by_place())),
        }
    }

    /// All runs in the order of their places, each with its places.
    pub(super) fn runs_by_place(&self) -> RunsByPlace<'a> {
        RunsByPlace { keys: *self, index: 0, next: None, from: 0 }
    }

    /// Calls `visit` with the path, the line ([`WHOLE_FILE`] for a file) and the number of every document, in
    /// the order of the runs.
    pub(super) fn each_by_place(&self, mut visit: impl FnMut(u32, u64, u32) -> Result<()>) -> Result<()> {
        let documents = self.order.map(|order| order.documents()).transpose()?;
        let runs = if documents.is_some() { KeyRuns::InOrder(self.runs_by_place()) } else { self.runs()? };
        for run in runs {
            let (run, places) = run?;
            for (line, place) in (run.first_line..).zip(places) {
                let line = if run.first_line == WHOLE_FILE { WHOLE_FILE } else { line };
                let doc = documents.as_ref().and_then(|documents| documents.get(place as usize));
                visit(run.path, line, doc.copied().unwrap_or(place))?;
            }
        }
        Ok(())
    }

    /// Reads path `number`.
    pub(in crate::segment) fn path(&self, number: u32) -> Result<Vec<u8>> {
        if number >= self.count {
            return Err(self.paths.missing(number));
        }
        self.paths.get(number)
    }

    /// Calls `visit` with every path and its number, in order.
    pub(in crate::segment) fn each_path(
        &self,
        mut visit: impl FnMut(u32, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut cursor = self.path_cursor();
        (0..self.count).try_for_each(|number| visit(number, cursor.path(number)?))
    }

    /// A cursor before the first path.
    pub(in crate::segment) fn path_cursor(&self) -> StoredPathCursor<'a> {
        self.paths.cursor()
    }

    /// The field of the column that has the paths; `None` if they have a section.
    pub(in crate::segment) fn path_field(&self) -> Option<Field> {
        self.paths.field()
    }

    /// Entry `index` of the hashes: a hash, and the number of its path.
    pub(in crate::segment) fn hash(&self, index: usize) -> Result<(u32, u32)> {
        let len = HASH + width_of(self.count as usize);
        let mut entry = ByteReader::new(self.hashes.get(index * len..index * len + len)?);
        let hash = entry.u32();
        let path = entry.remaining().iter().rev().fold(0u32, |path, &byte| path << 8 | u32::from(byte));
        match hash {
            Some(hash) if path < self.count => Ok((hash, path)),
            _ => Err(self.damaged(format_args!("path in entry {index} of the hashes"))),
        }
    }

    /// The numbers of `path`, ascending. Merged segments may have several.
    pub(in crate::segment) fn find_path(&self, path: &[u8]) -> Result<Vec<u32>> {
        let wanted = hash(path);
        let mut low = self.first_not_below(wanted)?;
        let mut found = Vec::new();
        while low < self.count as usize {
            let (hash, number) = self.hash(low)?;
            if hash != wanted {
                break;
            }
            if self.path(number)? == path {
                found.push(number);
            }
            low += 1;
        }
        Ok(found)
    }

    /// The index of the first entry of the hashes that is not below `wanted`. Hashes are spread evenly, so it
    /// is looked for near the place where it should be, in a few lines of memory.
    fn first_not_below(&self, wanted: u32) -> Result<usize> {
        let count = self.count as usize;
        let expected = (u64::from(wanted) * u64::from(self.count)) >> 32;
        let expected = usize::try_from(expected).unwrap_or(count).min(count);
        let reach = 2 * count.isqrt() + 1;
        let (mut low, mut high) = (expected.saturating_sub(reach), expected.saturating_add(reach).min(count));
        if low > 0 && self.hash(low - 1)?.0 >= wanted {
            low = 0;
        }
        if high < count && self.hash(high)?.0 < wanted {
            high = count;
        }
        while low < high {
            let middle = low.midpoint(high);
            if self.hash(middle)?.0 < wanted { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }

    /// Returns true if the paths have stamps; documents that programs added have none.
    pub(in crate::segment) fn has_stamps(&self) -> Result<bool> {
        Stamps::exist(self.file)
    }

    /// The stamps of the paths; `None` if they have none.
    pub(in crate::segment) fn stamps(&self) -> Result<Option<Stamps>> {
        Stamps::open(self.file, self.count)
    }

    /// The documents of the paths with these ascending numbers, as ranges in order.
    pub(in crate::segment) fn documents_of(&self, paths: &[u32]) -> Result<Vec<Range<u32>>> {
        if !self.by_run {
            return Ok(paths.iter().map(|&path| path..path + 1).collect());
        }
        let mut found = Vec::new();
        if !paths.is_empty() {
            for run in self.runs_by_place() {
                let (run, places) = run?;
                if paths.binary_search(&run.path).is_ok() {
                    found.push(places);
                }
            }
        }
        self.documents_at(found)
    }

    /// The documents of these lines, given as (path, line) in ascending order.
    pub(in crate::segment) fn lines(&self, wanted: &[(u32, u64)]) -> Result<Vec<Range<u32>>> {
        let mut found = Vec::new();
        if wanted.is_empty() || !self.by_run {
            return Ok(found);
        }
        for run in self.runs_by_place() {
            let (run, places) = run?;
            if run.first_line == WHOLE_FILE {
                continue;
            }
            let end = run.first_line + u64::from(places.end - places.start);
            let first = wanted.partition_point(|&line| line < (run.path, run.first_line));
            let lines = wanted.iter().skip(first).take_while(|&&line| line < (run.path, end));
            found.extend(lines.map(|&(_, line)| {
                let place = places.start + u32::try_from(line - run.first_line).unwrap_or(0);
                place..place + 1
            }));
        }
        self.documents_at(found)
    }

    /// The documents at these ascending places.
    fn documents_at(&self, places: Vec<Range<u32>>) -> Result<Vec<Range<u32>>> {
        match self.order {
            Some(order) => order.documents_at(&places),
            None => Ok(places),
        }
    }

    /// Verifies that all runs and stamps can be read, that each document has a different place, and that
    /// every path can be read and is found by its hash.
    pub(in crate::segment) fn check(&self) -> Result<()> {
        for run in self.runs()? {
            run?;
        }
        self.order.map_or(Ok(()), |order| order.documents().map(drop))?;
        if let Some(stamps) = self.stamps()? {
            (0..self.count).try_for_each(|path| stamps.get(path).map(drop))?;
        }
        let mut expected = Vec::with_capacity(self.count as usize);
        self.each_path(|number, path| {
            expected.push((hash(path), number));
            Ok(())
        })?;
        expected.sort_unstable();
        for (index, wanted) in expected.into_iter().enumerate() {
            if self.hash(index)? != wanted {
                let what = format!("entry {index} of the hashes of its paths is wrong");
                return Err(self.hashes.corrupt(what));
            }
        }
        Ok(())
    }
}

/// Runs in the order of their places; see [`KeyReader::runs_by_place`].
pub(in crate::segment) struct RunsByPlace<'a> {
    keys: KeyReader<'a>,
    /// Index of the next run.
    index: usize,
    /// The next run, if it has been read.
    next: Option<KeyRun>,
    /// The place at which the next run must begin.
    from: u32,
}

impl RunsByPlace<'_> {
    fn step(&mut self) -> Result<Option<(KeyRun, Range<u32>)>> {
        let keys = &self.keys;
        if self.index >= keys.runs {
            return if self.from == keys.max_doc { Ok(None) } else { Err(keys.no_key(self.from)) };
        }
        let run = self.next.take().map_or_else(|| keys.run(self.index), Ok)?;
        self.index += 1;
        self.next = if self.index < keys.runs { Some(keys.run(self.index)?) } else { None };
        let end = self.next.map_or(keys.max_doc, |next| next.first_doc);
        let one = run.first_line != WHOLE_FILE || end == run.first_doc.saturating_add(1);
        if run.first_doc != self.from || end <= run.first_doc || run.path >= keys.count || !one {
            return Err(keys.keys.corrupt(format!("run {} is out of place", self.index - 1)));
        }
        self.from = end;
        Ok(Some((run, run.first_doc..end)))
    }
}

impl Iterator for RunsByPlace<'_> {
    type Item = Result<(KeyRun, Range<u32>)>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.step();
        if step.is_err() {
            // Nothing follows an error.
            (self.index, self.from) = (self.keys.runs, self.keys.max_doc);
        }
        step.transpose()
    }
}

/// Runs in the order of the documents; see [`KeyReader::runs`].
pub(in crate::segment) enum KeyRuns<'a> {
    /// Each document is a file.
    Files(Range<u32>),
    /// Documents are in the order of the runs.
    InOrder(RunsByPlace<'a>),
    /// Documents have places among the runs.
    Placed { keys: KeyReader<'a>, order: DocumentPlaces<'a>, runs: Vec<KeyRun>, docs: Range<u32> },
}

impl Iterator for KeyRuns<'_> {
    type Item = Result<(KeyRun, Range<u32>)>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            KeyRuns::Files(docs) => docs
                .next()
                .map(|doc| Ok((KeyRun { first_doc: doc, path: doc, first_line: WHOLE_FILE }, doc..doc + 1))),
            KeyRuns::InOrder(runs) => runs.next(),
            KeyRuns::Placed { keys, order, runs, docs } => docs.next().map(|doc| {
                let place = order.get(doc)?;
                let index = runs.partition_point(|run| run.first_doc <= place).checked_sub(1);
                let run = index.and_then(|index| runs.get(index)).ok_or_else(|| keys.no_key(doc))?;
                let first_line = match run.first_line {
                    WHOLE_FILE => WHOLE_FILE,
                    first => first + u64::from(place - run.first_doc),
                };
                Ok((KeyRun { first_doc: doc, path: run.path, first_line }, doc..doc + 1))
            }),
        }
    }
}
