//! Hits of a search over several processes, with everything that was asked about them.

use std::sync::Arc;

use arrow_array::types::{Float32Type, UInt64Type};
use arrow_array::{ArrayRef, PrimitiveArray, RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, DataType, Field as ArrowField, Schema as ArrowSchema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use scanns::columns::{BatchColumn, ColumnKind};
use scanns::schema::{Schema, Value, ValueRef};
use scanns::shards::ShardHit;
use scanns_arrow::{ColumnLayout, ConversionError, record_batch, schema_of};

use crate::capsule::ArrowStream;
use crate::errors::{exception, raise};
use crate::fields::{KEY, layout_in};
use crate::values::{object, optional, string};

/// Hits of several shards.
#[pyclass(frozen, module = "scanns._native")]
pub struct NativeShardHits {
    /// The schema of all shards.
    pub schema: Schema,
    /// The fields whose values the hits have.
    pub fields: Vec<String>,
    /// The fields of which a document may have several values.
    pub several: Vec<String>,
    pub hits: Vec<ShardHit>,
}

impl NativeShardHits {
    fn hit(&self, at: usize) -> PyResult<&ShardHit> {
        self.hits.get(at).ok_or_else(|| exception("UnsupportedError", "there is no such hit"))
    }

    fn layouts(&self, names: &[String]) -> scanns::Result<Vec<ColumnLayout>> {
        let several = |name: &str| self.several.iter().any(|known| known == name);
        names.iter().map(|name| layout_in(&self.schema, name, |_| several(name))).collect()
    }

    fn batch(&self, layouts: Vec<ColumnLayout>, first: u64) -> Result<RecordBatch, ConversionError> {
        let mut layouts = layouts;
        let mut columns: Vec<_> = layouts.iter().map(|layout| BatchColumn::new(layout.kind)).collect();
        for hit in &self.hits {
            let mut values = hit.values.iter();
            for (layout, column) in layouts.iter().zip(&mut columns) {
                match layout.name.as_str() {
                    KEY => column.push_row([ValueRef::Text(&hit.key)]),
                    _ => column.push_row(values.next().into_iter().flatten().map(Value::as_ref)),
                }
            }
        }
        let is_text = |layout: &ColumnLayout| {
            matches!(layout.kind, ColumnKind::Text | ColumnKind::Keyword | ColumnKind::Path)
        };
        for (layout, column) in layouts.iter_mut().zip(&columns).filter(|(layout, _)| is_text(layout)) {
            layout.binary = column.distinct_strings().any(|text| std::str::from_utf8(text).is_err());
        }
        let ranks: ArrayRef =
            Arc::new(PrimitiveArray::<UInt64Type>::from_iter_values((first..).take(self.hits.len())));
        let scores: ArrayRef = Arc::new(PrimitiveArray::<Float32Type>::from_iter_values(self.scores()));
        let schema = schema_of(&layouts);
        let values = record_batch(&schema, &layouts, &columns)?;
        let mut fields = vec![
            Arc::new(ArrowField::new("rank", DataType::UInt64, false)),
            Arc::new(ArrowField::new("score", DataType::Float32, false)),
        ];
        fields.extend(schema.fields().iter().cloned());
        let all: SchemaRef = Arc::new(ArrowSchema::new(fields));
        let arrays = [ranks, scores].into_iter().chain(values.columns().iter().cloned()).collect();
        RecordBatch::try_new(all, arrays).map_err(ConversionError::Arrow)
    }
}

#[pymethods]
impl NativeShardHits {
    fn __len__(&self) -> usize {
        self.hits.len()
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

    /// The numbers of the shards of all hits.
    fn shards(&self) -> Vec<usize> {
        self.hits.iter().map(|hit| hit.shard).collect()
    }

    /// The values that a hit was sorted by.
    fn sorted<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Bound<'py, PyTuple>> {
        let values = self.hit(at)?.keys.iter().map(|value| optional(py, value.as_ref()));
        PyTuple::new(py, values.collect::<PyResult<Vec<_>>>()?)
    }

    /// The values of the requested fields of a hit: a list for each field.
    fn values<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, values) in self.fields.iter().zip(&self.hit(at)?.values) {
            let values = values.iter().map(|value| object(py, value.as_ref()));
            dict.set_item(name, PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)?)?;
        }
        Ok(dict)
    }

    /// The stored text of a hit, if it was requested.
    fn document<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Option<Bound<'py, PyBytes>>> {
        Ok(self.hit(at)?.shown.content.as_deref().map(|text| PyBytes::new(py, text)))
    }

    /// How the score of a hit was computed, if that was requested.
    fn explanation(&self, at: usize) -> PyResult<Option<&str>> {
        Ok(self.hit(at)?.shown.explanation.as_deref())
    }

    /// Why the text of a hit could not be read.
    fn problem(&self, at: usize) -> PyResult<Option<&str>> {
        Ok(self.hit(at)?.shown.problem.as_deref())
    }

    /// The best parts of the text of a hit: text, start and marks; `None` if there is no text.
    fn snippets<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Option<Bound<'py, PyList>>> {
        let Some(snippets) = &self.hit(at)?.shown.snippets else { return Ok(None) };
        let list = PyList::empty(py);
        for one in snippets {
            let marks: Vec<_> = one.marks.iter().map(|mark| (mark.start, mark.end)).collect();
            list.append((PyBytes::new(py, &one.text), one.start, marks))?;
        }
        Ok(Some(list))
    }

    /// All hits as one record batch with rank, from `first` on, score, key and fields.
    fn arrow(&self, py: Python<'_>, first: u64) -> PyResult<ArrowStream> {
        let names: Vec<String> = [KEY.to_owned()].into_iter().chain(self.fields.iter().cloned()).collect();
        let layouts = self.layouts(&names).map_err(|error| raise(&error))?;
        let batch = py.detach(|| self.batch(layouts, first));
        let batch = batch.map_err(|error| exception("UnsupportedError", &error.to_string()))?;
        let schema = batch.schema();
        let batches: Vec<Result<RecordBatch, ArrowError>> = vec![Ok(batch)];
        Ok(ArrowStream::new(Box::new(RecordBatchIterator::new(batches, schema))))
    }
}
