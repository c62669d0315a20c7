//! The writer of an index for Python.
//!
//! Documents are converted by the calling thread, and indexed by another one meanwhile, without the
//! interpreter.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use scanns::schema::{Compression, Document, Store};
use scanns::writer::{IndexWriter, StoredOptions, WriterOptions};
use scanns::{Error, Query, Snapshot};

use crate::arrow_documents::{self, RowFault};
use crate::capsule::reader_of;
use crate::documents::{DocumentShape, at_document, key_bytes, values_of};
use crate::errors::{exception, raise, wrong};
use crate::fields::schema_of;
use crate::guard::{Opener, detached, waiting};
use crate::pending::PendingChanges;
use crate::snapshot::NativeSnapshot;

/// Documents that are handed over together.
const TOGETHER: usize = 256;

/// Groups of documents that may wait to be indexed.
const AHEAD: usize = 8;

/// Options of a writer.
#[derive(FromPyObject)]
pub struct WriterRequest {
    /// A list of fields in JSON; `None` for those of the index.
    schema: Option<String>,
    memory: Option<u64>,
    lanes: usize,
    store: Option<String>,
    compression: Option<String>,
    vectors: Option<bool>,
    /// The name of the entry of documents that is their key.
    key: String,
}

/// A document that was refused: its number, and why.
type Refused = (u64, Error);

/// A writer of an index.
#[pyclass(frozen, module = "scanns._native")]
pub struct NativeWriter {
    /// `None` once it is closed.
    writer: Mutex<Option<Arc<IndexWriter>>>,
    pending: PendingChanges,
    shape: DocumentShape,
    path: PathBuf,
    opener: Opener,
}

impl NativeWriter {
    fn writer(&self) -> PyResult<Arc<IndexWriter>> {
        self.opener.must_be_current("a writer", "open a writer in that process, after this one is closed")?;
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.clone().ok_or_else(|| exception("UnsupportedError", "the writer is closed: open another one"))
    }

    fn committed(&self) -> scanns::Result<Snapshot> {
        Snapshot::open(&self.path)
    }

    /// The documents of a block, from dictionaries.
    fn block_of(&self, documents: &Bound<'_, PyAny>) -> PyResult<Vec<Document>> {
        let mut made = Vec::new();
        for (number, document) in (0..).zip(documents.try_iter()?) {
            made.push(self.shape.document(&document?, number)?);
        }
        Ok(made)
    }

    /// A query in the language of the command, over the fields of the index.
    fn query(&self, text: &str, is_json: bool) -> scanns::Result<Query> {
        let snapshot = self.committed()?;
        let operator = scanns::query::Operator::Or;
        match is_json {
            true => snapshot.parse_json_in(&[], text, operator),
            false => snapshot.parse(text, operator),
        }
    }

    /// Indexes the documents that `make` sends, on another thread. Returns their number.
    fn index(
        &self,
        py: Python<'_>,
        replace: bool,
        make: impl FnOnce(&SyncSender<Vec<Document>>) -> PyResult<()>,
    ) -> PyResult<u64> {
        let writer = self.writer()?;
        let (sender, receiver) = sync_channel::<Vec<Document>>(AHEAD);
        let pending = &self.pending;
        let (made, done) = std::thread::scope(|scope| {
            let work = move || -> Result<u64, Refused> {
                let mut number = 0;
                for document in receiver.into_iter().flatten() {
                    pending.add(&writer, &document, replace).map_err(|error| (number, error))?;
                    number += 1;
                }
                Ok(number)
            };
            let worker = scope.spawn(work);
            let made = make(&sender);
            drop(sender);
            (made, py.detach(|| worker.join()))
        });
        let done = done.map_err(|payload| raise(&Error::panicked("an index thread", &*payload)))?;
        // An error of indexing comes first, since it ends the making of documents.
        let number = done.map_err(|(number, error)| refused(number, &error))?;
        made?;
        Ok(number)
    }
}

/// The exception for a document that was refused.
fn refused(number: u64, error: &Error) -> PyErr {
    Python::attach(|py| at_document(raise(error), number, py))
}

/// Hands documents over; false if the other thread has ended because of an error.
fn hand_over(py: Python<'_>, sender: &SyncSender<Vec<Document>>, made: &mut Vec<Document>) -> bool {
    let group = std::mem::replace(made, Vec::with_capacity(TOGETHER));
    py.detach(|| sender.send(group)).is_ok()
}

#[pymethods]
impl NativeWriter {
    /// Opens an index for writing, or creates it.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, request: WriterRequest) -> PyResult<Self> {
        let schema = request.schema.as_deref().map(schema_of).transpose()?;
        let stored = StoredOptions {
            store: request.store.as_deref().map(Store::parse).transpose().map_err(|error| raise(&error))?,
            compression: request
                .compression
                .as_deref()
                .map(Compression::parse)
                .transpose()
                .map_err(|error| raise(&error))?,
            vectors: request.vectors,
        };
        let defaults = WriterOptions::default();
        let memory = request.memory.unwrap_or(defaults.memory);
        let options = WriterOptions { memory, lanes: request.lanes, stored, ..defaults };
        let writer = detached(py, || {
            let writer = IndexWriter::open(&path, schema.as_ref(), options)?;
            // A new index can be opened at once.
            if matches!(Snapshot::open(&path), Err(Error::NotAnIndex { .. })) {
                writer.prepare()?.commit()?;
            }
            Ok(writer)
        })?;
        let shape = DocumentShape::new(writer.schema(), &request.key);
        let has_older = Snapshot::open(&path).is_ok_and(|snapshot| snapshot.info().documents > 0);
        let (writer, pending) = (Mutex::new(Some(Arc::new(writer))), PendingChanges::new(has_older));
        Ok(NativeWriter { writer, pending, shape, path, opener: Opener::current() })
    }

    /// Adds documents from dictionaries. Returns their number. Those before a wrong one are added.
    fn add(&self, py: Python<'_>, documents: &Bound<'_, PyAny>, replace: bool) -> PyResult<u64> {
        self.index(py, replace, |sender| {
            let mut made = Vec::with_capacity(TOGETHER);
            let mut fault = None;
            for (number, document) in (0..).zip(documents.try_iter()?) {
                match document.and_then(|document| self.shape.document(&document, number)) {
                    Ok(document) => made.push(document),
                    Err(error) => {
                        fault = Some(error);
                        break;
                    }
                }
                if made.len() == TOGETHER {
                    if !hand_over(py, sender, &mut made) {
                        return Ok(());
                    }
                    py.check_signals()?;
                }
            }
            hand_over(py, sender, &mut made);
            fault.map_or(Ok(()), Err)
        })
    }

    /// Adds documents from dictionaries that become visible together, or none if one is wrong. Returns their
    /// number.
    fn add_block(&self, py: Python<'_>, documents: &Bound<'_, PyAny>, replace: bool) -> PyResult<u64> {
        let (writer, made) = (self.writer()?, self.block_of(documents)?);
        detached(py, || self.pending.add_block(&writer, &made, replace))?;
        Ok(made.len() as u64)
    }

    /// Adds documents that become visible together, or none if one is wrong, and deletes those that a query
    /// matches. Returns their number.
    fn replace_matching(
        &self,
        py: Python<'_>,
        documents: &Bound<'_, PyAny>,
        query: &str,
        is_json: bool,
    ) -> PyResult<u64> {
        let (writer, made) = (self.writer()?, self.block_of(documents)?);
        detached(py, || self.pending.replace_matching(&writer, &self.query(query, is_json)?, &made))?;
        Ok(made.len() as u64)
    }

    /// Adds the rows of record batches. Returns their number. Those before a wrong one are added.
    fn add_arrow(&self, py: Python<'_>, batches: &Bound<'_, PyAny>, replace: bool) -> PyResult<u64> {
        let reader = reader_of(batches)?;
        self.index(py, replace, |sender| {
            let mut first = 0;
            for batch in reader {
                let batch = batch.map_err(|error| wrong("stream of Arrow", error, "record batches"))?;
                let mut at = 0;
                while at < batch.num_rows() {
                    let part = batch.slice(at, TOGETHER.min(batch.num_rows() - at));
                    let begin = first + at as u64;
                    let (mut made, fault) = py.detach(|| arrow_documents::before_fault(&self.shape, &part));
                    at += part.num_rows();
                    let number = begin + made.len() as u64;
                    let went = hand_over(py, sender, &mut made);
                    match fault {
                        Some(RowFault::Table(error)) => return Err(raise(&error)),
                        Some(RowFault::Row(error)) => return Err(refused(number, &error)),
                        None if !went => return Ok(()),
                        None => py.check_signals()?,
                    }
                }
                first += batch.num_rows() as u64;
            }
            Ok(())
        })
    }

    /// Deletes the documents with a key. Returns their number.
    fn delete(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<u64> {
        let (writer, key) = (self.writer()?, key_bytes(key)?);
        detached(py, || self.pending.change(|| self.committed(), &key, true, || writer.delete(&key)))
    }

    /// Deletes the documents that match a query. Returns the number of those that are committed.
    fn delete_matching(&self, py: Python<'_>, query: &str, is_json: bool) -> PyResult<u64> {
        let writer = self.writer()?;
        detached(py, || {
            self.pending.delete_matching(|| self.committed(), &self.query(query, is_json)?, &writer)
        })
    }

    /// Sets the values of a column for the documents with a key. Returns their number.
    fn set(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        name: &str,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<u64> {
        let (writer, key) = (self.writer()?, key_bytes(key)?);
        let (field, entry) = self.shape.field(name).map_err(|error| raise(&error))?;
        let values = values_of(value, entry)?;
        let apply = || writer.set(&key, field, &values);
        detached(py, || self.pending.change(|| self.committed(), &key, false, apply))
    }

    /// Sets a note of the next commit; `None` removes it.
    fn note(&self, name: &str, value: Option<&[u8]>) -> PyResult<()> {
        self.writer()?.note(name.as_bytes(), value);
        self.pending.note();
        Ok(())
    }

    /// Makes everything durable. Returns the number of the commit.
    fn commit(&self, py: Python<'_>) -> PyResult<u64> {
        let writer = self.writer()?;
        waiting(py, &AtomicBool::new(false), || {
            let done = self.pending.before_commit();
            let commit = writer.commit()?;
            self.pending.after_commit(done);
            Ok(commit.generation)
        })
    }

    /// Opens the state of the writer, with what is not committed, for searches by this number of threads.
    fn snapshot(&self, py: Python<'_>, threads: usize) -> PyResult<NativeSnapshot> {
        let writer = self.writer()?;
        let snapshot = detached(py, || writer.snapshot())?;
        Ok(NativeSnapshot::of(snapshot, self.path.clone(), threads))
    }

    /// Merges segments until no more are due.
    fn merge(&self, py: Python<'_>) -> PyResult<()> {
        let writer = self.writer()?;
        waiting(py, &AtomicBool::new(false), || writer.merge())
    }

    /// Closes the writer; what was not committed is lost.
    fn close(&self, py: Python<'_>) {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        match self.opener.is_current() {
            true => py.detach(|| drop(writer)),
            // Closing would wait for threads of the process that opened it, and remove its files.
            false => std::mem::forget(writer),
        }
    }

    /// The numbers of documents and of other changes that are not committed.
    fn pending(&self) -> (u64, u64) {
        if !self.is_open() || !self.opener.is_current() {
            return (0, 0);
        }
        let counts = self.pending.counts();
        (counts.documents, counts.others)
    }

    /// True if the writer can be used.
    #[getter]
    fn is_open(&self) -> bool {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

impl Drop for NativeWriter {
    fn drop(&mut self) {
        let writer = self.writer.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if !self.opener.is_current() {
            std::mem::forget(writer);
        }
    }
}
