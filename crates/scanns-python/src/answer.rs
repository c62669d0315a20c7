//! Answers to aggregations as Python objects, with the names of the command's JSON.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use scanns::aggregate::{Aggregated, BucketKey, Buckets, Stats, Sum};

use crate::values::{object, optional};

/// All answers, in the order of the aggregations.
pub fn answers<'py>(py: Python<'py>, found: &[Aggregated]) -> PyResult<Bound<'py, PyList>> {
    let all = PyList::empty(py);
    for one in found {
        all.append(answer(py, one)?)?;
    }
    Ok(all)
}

fn answer<'py>(py: Python<'py>, found: &Aggregated) -> PyResult<Bound<'py, PyDict>> {
    match found {
        Aggregated::Buckets(found) => buckets(py, found),
        Aggregated::Stats(found) => stats(py, found),
        Aggregated::Distinct(found) => {
            let dict = PyDict::new(py);
            dict.set_item("values", found.values)?;
            dict.set_item("exact", found.exact)?;
            dict.set_item("missing", found.missing)?;
            Ok(dict)
        }
    }
}

fn buckets<'py>(py: Python<'py>, found: &Buckets) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("documents", found.documents)?;
    dict.set_item("missing", found.missing)?;
    dict.set_item("total", found.total)?;
    dict.set_item("others", found.others)?;
    let list = PyList::empty(py);
    for bucket in &found.buckets {
        let one = PyDict::new(py);
        match &bucket.key {
            BucketKey::Value(value) => one.set_item("value", object(py, value.as_ref())?)?,
            BucketKey::Range(range) => one.set_item("value", &range.label)?,
        }
        one.set_item("count", bucket.count)?;
        one.set_item("nested", answers(py, &bucket.nested)?)?;
        list.append(one)?;
    }
    dict.set_item("buckets", list)?;
    Ok(dict)
}

fn stats<'py>(py: Python<'py>, found: &Stats) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("documents", found.documents)?;
    dict.set_item("missing", found.missing)?;
    dict.set_item("values", found.values)?;
    dict.set_item("min", optional(py, found.min.as_ref())?)?;
    dict.set_item("max", optional(py, found.max.as_ref())?)?;
    match found.sum {
        None => dict.set_item("sum", py.None())?,
        Some(Sum::Whole(sum)) => dict.set_item("sum", sum)?,
        Some(Sum::Float(sum)) => dict.set_item("sum", sum)?,
    }
    dict.set_item("mean", found.mean)?;
    dict.set_item("deviation", found.deviation)?;
    let percentiles = PyDict::new(py);
    for (percent, value) in &found.percentiles {
        percentiles.set_item(percent, object(py, value.as_ref())?)?;
    }
    dict.set_item("percentiles", percentiles)?;
    Ok(dict)
}
