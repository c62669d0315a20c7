//! Hits of a query, with what can be asked about them.

use std::sync::Arc;

use arrow_array::types::{Float32Type, UInt64Type};
use arrow_array::{ArrayRef, PrimitiveArray, RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, DataType, Field as ArrowField, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use scanns::columns::{BatchColumn, ColumnKind};
use scanns::schema::{Field, Value, ValueRef};
use scanns::search::{Model, SnippetOptions};
use scanns::{Error, Hit, Query};
use scanns_arrow::{ColumnLayout, ConversionError, record_batch};

use crate::capsule::ArrowStream;
use crate::core::CoreRef;
use crate::errors::{exception, raise};
use crate::fields::{KEY, kept, layout_of, searched};
use crate::guard::{detached, searching};
use crate::json;
use crate::values::{object, optional, string};

/// A hit with its key, and the values that it was sorted by.
pub struct KeptHit {
    pub hit: Hit,
    pub key: Vec<u8>,
    pub sorted: Vec<Option<Value>>,
}

/// Hits of a query.
#[pyclass(frozen, module = "scanns._native")]
pub struct NativeHits {
    pub core: CoreRef,
    pub query: Arc<Query>,
    pub model: Model,
    /// The field of snippets.
    pub field: Field,
    pub hits: Vec<KeptHit>,
    /// For each hit the number of later ones that nearly repeat it; empty if hits were not collapsed.
    pub near: Vec<u64>,
    /// True if hits have scores, which an order by columns does not need.
    pub scored: bool,
    /// True if the time of the query ran out.
    pub partial: bool,
}

impl NativeHits {
    fn hit(&self, at: usize) -> PyResult<&KeptHit> {
        self.hits.get(at).ok_or_else(|| exception("UnsupportedError", "there is no such hit"))
    }

    /// The values of fields of all hits.
    fn columns(&self, names: &[String]) -> scanns::Result<(Vec<ColumnLayout>, Vec<BatchColumn>)> {
        let snapshot = &self.core.snapshot;
        let mut layouts =
            names.iter().map(|name| layout_of(snapshot, name)).collect::<scanns::Result<Vec<_>>>()?;
        let own = names.iter().filter(|name| *name != KEY).map(|name| kept(snapshot.schema(), name));
        let own = own.collect::<scanns::Result<Vec<Field>>>()?;
        let mut columns: Vec<_> = layouts.iter().map(|layout| BatchColumn::new(layout.kind)).collect();
        for hit in &self.hits {
            let mut values = match own.is_empty() {
                true => Vec::new().into_iter(),
                false => snapshot.field_values(&hit.hit, &own)?.into_iter(),
            };
            for (name, column) in names.iter().zip(&mut columns) {
                match name.as_str() {
                    KEY => column.push_row([ValueRef::Text(&hit.key)]),
                    _ => column.push_row(values.next().unwrap_or_default().iter().map(Value::as_ref)),
                }
            }
        }
        let is_text = |layout: &ColumnLayout| {
            matches!(layout.kind, ColumnKind::Text | ColumnKind::Keyword | ColumnKind::Path)
        };
        for (layout, column) in layouts.iter_mut().zip(&columns).filter(|(layout, _)| is_text(layout)) {
            layout.binary = column.distinct_strings().any(|text| std::str::from_utf8(text).is_err());
        }
        Ok((layouts, columns))
    }

    /// All hits as one record batch: rank, score and the values of fields.
    fn batch(&self, names: &[String], first: u64) -> Result<RecordBatch, ConversionFault> {
        let (layouts, columns) = self.columns(names)?;
        let ranks = (first..).take(self.hits.len());
        let ranks: ArrayRef = Arc::new(PrimitiveArray::<UInt64Type>::from_iter_values(ranks));
        let scores = self.hits.iter().map(|hit| hit.hit.score);
        let scores = scores.map(|score| self.scored.then_some(score));
        let scores: ArrayRef = Arc::new(scores.collect::<PrimitiveArray<Float32Type>>());
        let schema = scanns_arrow::schema_of(&layouts);
        let values = record_batch(&schema, &layouts, &columns)?;
        let mut fields = vec![
            Arc::new(ArrowField::new("rank", DataType::UInt64, false)),
            Arc::new(ArrowField::new("score", DataType::Float32, !self.scored)),
        ];
        fields.extend(schema.fields().iter().cloned());
        let all: SchemaRef = Arc::new(Schema::new(fields));
        let arrays = [ranks, scores].into_iter().chain(values.columns().iter().cloned()).collect();
        Ok(RecordBatch::try_new(all, arrays).map_err(ConversionError::Arrow)?)
    }
}

/// Why hits cannot be converted.
enum ConversionFault {
    Engine(scanns::Error),
    Conversion(ConversionError),
}

impl From<scanns::Error> for ConversionFault {
    fn from(error: scanns::Error) -> Self {
        ConversionFault::Engine(error)
    }
}

impl From<ConversionError> for ConversionFault {
    fn from(error: ConversionError) -> Self {
        ConversionFault::Conversion(error)
    }
}

#[pymethods]
impl NativeHits {
    fn __len__(&self) -> usize {
        self.hits.len()
    }

    #[getter]
    fn partial(&self) -> bool {
        self.partial
    }

    #[getter]
    fn scored(&self) -> bool {
        self.scored
    }

    /// The keys of all hits.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let keys = self.hits.iter().map(|hit| string(py, &hit.key)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, keys)
    }

    /// The scores of all hits.
    fn scores(&self) -> Vec<f32> {
        self.hits.iter().map(|hit| hit.hit.score).collect()
    }

    /// The number of near-duplicates of all hits.
    fn near(&self) -> Vec<u64> {
        self.near.clone()
    }

    /// The place of a hit: segment, document and bits of the score, from which the next page can go on.
    fn place(&self, at: usize) -> PyResult<(usize, u32, u32)> {
        let hit = self.hit(at)?.hit;
        Ok((hit.leaf, hit.doc, hit.score.to_bits()))
    }

    /// The values that a hit was sorted by.
    fn sorted<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Bound<'py, PyTuple>> {
        let sorted = &self.hit(at)?.sorted;
        let values = sorted.iter().map(|value| optional(py, value.as_ref()));
        PyTuple::new(py, values.collect::<PyResult<Vec<_>>>()?)
    }

    /// The values of fields of a hit: a list for each field.
    fn values<'py>(&self, py: Python<'py>, at: usize, names: Vec<String>) -> PyResult<Bound<'py, PyDict>> {
        let hit = self.hit(at)?;
        let fields = names.iter().map(|name| kept(self.core.snapshot.schema(), name));
        let fields = fields.collect::<scanns::Result<Vec<_>>>().map_err(|error| raise(&error))?;
        let found = detached(py, || self.core.snapshot.field_values(&hit.hit, &fields))?;
        let dict = PyDict::new(py);
        for (name, values) in names.iter().zip(&found) {
            let values = values.iter().map(|value| object(py, value.as_ref()));
            dict.set_item(name, PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)?)?;
        }
        Ok(dict)
    }

    /// The stored text of a hit.
    fn document<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let hit = self.hit(at)?;
        let text = detached(py, || self.core.snapshot.document(&hit.hit))?;
        Ok(text.map(|text| PyBytes::new(py, &text)))
    }

    /// How the score of a hit is computed, as JSON; `None` if the query does not match it.
    fn explain(&self, py: Python<'_>, at: usize) -> PyResult<Option<String>> {
        let hit = self.hit(at)?;
        let found = searching(py, None, |budget| {
            let searcher = self.core.searcher(Some(self.field), budget);
            let searcher = searcher.naming(|field| {
                self.core.snapshot.schema().entry(field).map_or_else(String::new, |entry| entry.name.clone())
            });
            searcher.explain(&self.query, self.model, &hit.hit)
        })?;
        Ok(found.answer.map(|found| json::explanation(&found).to_string()))
    }

    /// The best parts of the texts of all hits: for each hit a list of text, start and marks, or `None` if no
    /// text is stored, or the source has changed; and a message for each such source.
    #[pyo3(signature = (length, count, field = None))]
    fn snippets<'py>(
        &self,
        py: Python<'py>,
        length: usize,
        count: usize,
        field: Option<&str>,
    ) -> PyResult<(Bound<'py, PyList>, Vec<String>)> {
        let snapshot = &self.core.snapshot;
        let field = field.map_or(Ok(self.field), |name| searched(snapshot.schema(), name));
        let field = field.map_err(|error| raise(&error))?;
        let options = SnippetOptions { length, fragments: count, ..SnippetOptions::default() };
        let mut changed = Vec::new();
        let found = detached(py, || {
            let mut highlighter = snapshot.highlighter(field, &self.query, options)?;
            let one = |hit: &KeptHit| match snapshot.snippets(&hit.hit, field, &mut highlighter) {
                Err(error @ Error::SourceChanged { .. }) => {
                    changed.push(error.to_string());
                    Ok(None)
                }
                found => found,
            };
            self.hits.iter().map(one).collect::<scanns::Result<Vec<_>>>()
        })?;
        let all = PyList::empty(py);
        for snippets in found {
            let Some(snippets) = snippets else {
                all.append(py.None())?;
                continue;
            };
            let list = PyList::empty(py);
            for one in snippets {
                let marks: Vec<_> = one.marks.iter().map(|mark| (mark.start, mark.end)).collect();
                list.append((PyBytes::new(py, &one.text), one.start, marks, one.goes_on))?;
            }
            all.append(list)?;
        }
        Ok((all, changed))
    }

    /// All hits as one record batch with rank, from `first` on, score and fields.
    fn arrow(&self, py: Python<'_>, names: Vec<String>, first: u64) -> PyResult<ArrowStream> {
        let batch = py.detach(|| self.batch(&names, first)).map_err(|fault| match fault {
            ConversionFault::Engine(error) => raise(&error),
            ConversionFault::Conversion(error) => exception("UnsupportedError", &error.to_string()),
        })?;
        let schema = batch.schema();
        let batches: Vec<Result<RecordBatch, ArrowError>> = vec![Ok(batch)];
        Ok(ArrowStream::new(Box::new(RecordBatchIterator::new(batches, schema))))
    }
}
