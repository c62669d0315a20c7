//! Values of documents as Python objects, and back.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDateTime, PyDelta, PyInt, PyString, PyTzInfo};
use scanns::schema::{FieldEntry, FieldKind, Value, ValueRef, parse_date};

use crate::errors::{exception, wrong};

const DAY_SECONDS: i64 = 86_400;
const SECOND: i64 = 1_000_000_000;

/// Bytes as a string; those that are not UTF-8 are escaped as the names of files are in Python.
pub fn string<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(PyString::new(py, text).into_any()),
        Err(_) => PyBytes::new(py, bytes).call_method1("decode", ("utf-8", "surrogateescape")),
    }
}

/// A value as Python has it: dates are `datetime` in UTC, without the digits below microseconds.
pub fn object<'py>(py: Python<'py>, value: ValueRef<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        ValueRef::Text(text) => string(py, text)?,
        ValueRef::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
        ValueRef::Unsigned(number) => number.into_pyobject(py)?.into_any(),
        ValueRef::Signed(number) => number.into_pyobject(py)?.into_any(),
        ValueRef::Float(number) => number.into_pyobject(py)?.into_any(),
        ValueRef::Boolean(truth) => PyBool::new(py, truth).to_owned().into_any(),
        ValueRef::Date(moment) => date(py, moment)?,
    })
}

/// A `datetime` in UTC.
fn date(py: Python<'_>, moment: i64) -> PyResult<Bound<'_, PyAny>> {
    let utc = PyTzInfo::utc(py)?.to_owned();
    let epoch = PyDateTime::new(py, 1970, 1, 1, 0, 0, 0, 0, Some(&utc))?;
    let (seconds, rest) = (moment.div_euclid(SECOND), moment.rem_euclid(SECOND));
    let (days, seconds) = (seconds.div_euclid(DAY_SECONDS), seconds.rem_euclid(DAY_SECONDS));
    let small = |number: i64| i32::try_from(number).unwrap_or(0);
    epoch.add(PyDelta::new(py, small(days), small(seconds), small(rest / 1000), true)?)
}

/// An optional value.
pub fn optional<'py>(py: Python<'py>, value: Option<&Value>) -> PyResult<Option<Bound<'py, PyAny>>> {
    value.map(|value| object(py, value.as_ref())).transpose()
}

/// The bytes of a string, of bytes or of a path.
pub fn bytes_of(object: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(text) = object.cast::<PyString>() {
        return match text.to_str() {
            Ok(text) => Ok(text.as_bytes().to_vec()),
            Err(_) => text.call_method1("encode", ("utf-8", "surrogateescape"))?.extract(),
        };
    }
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    let path = object.call_method0("__fspath__").map_err(|_| not_a(object, "a string, bytes or a path"))?;
    bytes_of(&path)
}

fn not_a(object: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    let kind = object.get_type().name().map_or_else(|_| "object".into(), |name| name.to_string());
    exception("InvalidValueError", &format!("a value of type {kind}: expected {expected}"))
}

/// The value of a field.
pub fn value_of(object: &Bound<'_, PyAny>, entry: &FieldEntry) -> PyResult<Value> {
    let expected = |what: &str| {
        let kind = object.get_type().name().map_or_else(|_| "object".into(), |name| name.to_string());
        let message = format!("field '{}' holds {what}, not {kind}", entry.name);
        exception("InvalidValueError", &message)
    };
    Ok(match entry.kind {
        FieldKind::Text { .. } | FieldKind::Keyword | FieldKind::Path => {
            Value::Text(bytes_of(object).map_err(|_| expected("strings, bytes or paths"))?)
        }
        FieldKind::Bytes => Value::Bytes(bytes_of(object).map_err(|_| expected("bytes"))?),
        FieldKind::Unsigned => {
            Value::Unsigned(object.extract().map_err(|_| expected("whole numbers from 0 to 2**64 - 1"))?)
        }
        FieldKind::Signed => {
            Value::Signed(object.extract().map_err(|_| expected("whole numbers from -2**63 to 2**63 - 1"))?)
        }
        FieldKind::Float => Value::Float(object.extract().map_err(|_| expected("numbers"))?),
        FieldKind::Boolean => {
            let truth = object.extract::<bool>().or_else(|_| {
                // Booleans of NumPy are of a type of their own.
                object.call_method0("__bool__")?.extract()
            });
            Value::Boolean(truth.map_err(|_| expected("booleans"))?)
        }
        FieldKind::Date => Value::Date(moment_of(object).map_err(|_| {
            expected("dates: datetime, date, numpy.datetime64, text in RFC 3339, or nanoseconds since 1970")
        })?),
    })
}

/// A date in nanoseconds since 1970; without a time zone it is in UTC.
fn moment_of(object: &Bound<'_, PyAny>) -> PyResult<i64> {
    let wrong = || wrong("date", object.to_string(), "a date in the years 1677 to 2262");
    if object.is_instance_of::<PyInt>() {
        return object.extract();
    }
    if let Ok(text) = object.cast::<PyString>() {
        return parse_date(text.to_str()?.as_bytes()).ok_or_else(wrong);
    }
    // Of pandas, with nanoseconds.
    if let Ok(nanoseconds) = object.getattr("value").and_then(|value| value.extract::<i64>()) {
        return Ok(nanoseconds);
    }
    if object.hasattr("astype")? {
        let nanoseconds =
            object.call_method1("astype", ("datetime64[ns]",))?.call_method1("astype", ("int64",))?;
        return nanoseconds.call_method0("__int__")?.extract();
    }
    let part = |name: &str| object.getattr(name)?.extract::<i64>();
    let days = days_before(part("year")?, part("month")?, part("day")?);
    let Ok(hour) = part("hour") else { return nanoseconds(days * DAY_SECONDS, 0).ok_or_else(wrong) };
    let mut seconds = days * DAY_SECONDS + hour * 3600 + part("minute")? * 60 + part("second")?;
    let offset = object.call_method0("utcoffset")?;
    if !offset.is_none() {
        seconds -= offset.getattr("days")?.extract::<i64>()? * DAY_SECONDS;
        seconds -= offset.getattr("seconds")?.extract::<i64>()?;
    }
    nanoseconds(seconds, part("microsecond")? * 1000).ok_or_else(wrong)
}

fn nanoseconds(seconds: i64, rest: i64) -> Option<i64> {
    seconds.checked_mul(SECOND)?.checked_add(rest)
}

/// The days from 1970 to a day of the Gregorian calendar. Years begin in March, so that a leap day is the
/// last of its year.
fn days_before(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}
