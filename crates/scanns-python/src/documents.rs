//! Documents from Python's dictionaries.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySet, PyString, PyTuple};
use scanns::Error;
use scanns::schema::{Document, Field, FieldEntry, Schema};

use crate::errors::{exception, raise};
use crate::values::{bytes_of, value_of};

/// How dictionaries become documents.
pub struct DocumentShape {
    /// The name of the entry that is the key of a document.
    pub key: String,
    /// True if the key is also a field.
    pub key_is_field: bool,
    fields: Vec<(String, Field, FieldEntry)>,
}

impl DocumentShape {
    pub fn new(schema: &Schema, key: &str) -> Self {
        let fields = schema.fields().map(|(field, entry)| (entry.name.clone(), field, entry.clone()));
        DocumentShape { key: key.into(), key_is_field: schema.field(key).is_some(), fields: fields.collect() }
    }

    /// The field with a name.
    pub fn field(&self, name: &str) -> scanns::Result<(Field, &FieldEntry)> {
        let found = self.fields.iter().find(|(known, ..)| known == name);
        found.map(|(_, field, entry)| (*field, entry)).ok_or_else(|| Error::UnknownField {
            field: name.into(),
            known: self.fields.iter().map(|(known, ..)| known.clone()).collect(),
        })
    }

    /// The document of a dictionary. Its number, from 0, is for errors.
    pub fn document(&self, object: &Bound<'_, PyAny>, number: u64) -> PyResult<Document> {
        let made = self.plain(object);
        made.map_err(|error| at_document(error, number, object.py()))
    }

    fn plain(&self, object: &Bound<'_, PyAny>) -> PyResult<Document> {
        let Ok(dict) = object.cast::<PyDict>() else {
            let message = "a document is a dictionary with the names of fields and their values";
            return Err(exception("InvalidValueError", message));
        };
        let key = dict.get_item(&self.key)?.ok_or_else(|| {
            let message = format!("the document has no '{}', which is its key", self.key);
            exception("InvalidValueError", &message)
        })?;
        let mut document = Document::new(key_bytes(&key)?);
        for (name, value) in dict {
            let name = name.cast::<PyString>()?;
            let name = name.to_str()?;
            if value.is_none() || (name == self.key && !self.key_is_field) {
                continue;
            }
            let (field, entry) = self.field(name).map_err(|error| raise(&error))?;
            document = with_values(document, field, entry, &value)?;
        }
        Ok(document)
    }
}

/// The bytes of a key: a text, bytes, a path or a number.
pub fn key_bytes(key: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    match key.extract::<i128>() {
        Ok(number) => Ok(number.to_string().into_bytes()),
        Err(_) => bytes_of(key),
    }
}

/// Adds a value, or several ones of a list, a tuple or a set.
fn with_values(
    mut document: Document,
    field: Field,
    entry: &FieldEntry,
    value: &Bound<'_, PyAny>,
) -> PyResult<Document> {
    let is_several = value.is_instance_of::<PyList>()
        || value.is_instance_of::<PyTuple>()
        || value.is_instance_of::<PySet>();
    if !is_several {
        return Ok(document.with(field, value_of(value, entry)?));
    }
    for one in value.try_iter()? {
        document = document.with(field, value_of(&one?, entry)?);
    }
    Ok(document)
}

/// Several values of a field, for a change of a column.
pub fn values_of(value: &Bound<'_, PyAny>, entry: &FieldEntry) -> PyResult<Vec<scanns::schema::Value>> {
    if value.is_none() {
        return Ok(Vec::new());
    }
    match value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        true => value.try_iter()?.map(|one| value_of(&one?, entry)).collect(),
        false => Ok(vec![value_of(value, entry)?]),
    }
}

/// The same error, with the number of the document in front.
pub fn at_document(error: PyErr, number: u64, py: Python<'_>) -> PyErr {
    let class = error.get_type(py);
    let name = class.name().map_or_else(|_| String::new(), |name| name.to_string());
    let text = format!("document {number}: {}", error.value(py));
    if name.ends_with("Error") && class.module().is_ok_and(|module| module == "scanns.errors") {
        exception(&name, &text)
    } else {
        error
    }
}
