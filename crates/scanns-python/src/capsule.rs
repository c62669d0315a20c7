//! Record batches in the capsules of Arrow's C interface, which pyarrow, pandas, Polars and DuckDB read.

use std::sync::{Mutex, PoisonError};

use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_schema::SchemaRef;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

use crate::errors::{exception, wrong};

/// Batches that come as they are asked for.
pub type BoxedReader = Box<dyn RecordBatchReader + Send>;

/// A stream of record batches, which can be read once.
#[pyclass(frozen, module = "scanns._native")]
pub struct ArrowStream {
    schema: SchemaRef,
    reader: Mutex<Option<BoxedReader>>,
}

impl ArrowStream {
    pub fn new(reader: BoxedReader) -> Self {
        ArrowStream { schema: reader.schema(), reader: Mutex::new(Some(reader)) }
    }
}

#[pymethods]
impl ArrowStream {
    /// The names of the columns.
    fn names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Consumers convert types themselves.
        drop(requested_schema);
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner).take();
        let reader = reader.ok_or_else(|| {
            exception("UnsupportedError", "this stream was read already: ask for a new one")
        })?;
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), c"arrow_array_stream")
    }
}

/// The record batches of an object that has Arrow's stream interface.
pub fn reader_of(object: &Bound<'_, PyAny>) -> PyResult<RecordBatchStreamReader> {
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast_into::<PyCapsule>()?;
    let stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name points to a stream, which is moved out and left as released.
    let reader = unsafe { RecordBatchStreamReader::from_raw(stream.as_ptr().cast()) };
    reader.map_err(|error| wrong("stream of Arrow", error, "record batches"))
}
