//! Failures as the exceptions of `scanns/errors.py`, with the messages of the engine.

use pyo3::prelude::*;
use pyo3::types::PyModule;
use scanns::Error;

/// The class of the exception for an error of the engine.
fn class_of(error: &Error) -> &'static str {
    match error {
        Error::NotAnIndex { .. } => "NotAnIndexError",
        Error::NewerFormat { .. } | Error::OlderFormat { .. } => "FormatError",
        Error::Corrupt { .. } | Error::DamagedPlan { .. } => "DamagedError",
        Error::Locked { .. } => "LockedError",
        Error::SourceChanged { .. } => "SourceChangedError",
        Error::WriterFailed { .. } => "WriterFailedError",
        Error::Query { .. } | Error::QueryJson { .. } | Error::Expression { .. } | Error::Facet { .. } => {
            "QueryError"
        }
        Error::UnknownField { .. } | Error::InvalidField { .. } => "FieldError",
        Error::UnknownName { .. } | Error::InvalidValue { .. } | Error::InvalidAnalyzer { .. } => {
            "InvalidValueError"
        }
        Error::Conflict { .. } => "ConflictError",
        Error::Dump { .. } | Error::Changes { .. } | Error::NoInput { .. } => "InputError",
        Error::Unsupported { .. } | Error::NotIndexed { .. } | Error::UnknownHit { .. } => "UnsupportedError",
        Error::Io { .. } | Error::System { .. } | Error::OutOfMemory { .. } | Error::TooMany { .. } => {
            "ResourceError"
        }
        Error::Shard { .. } | Error::ShardAnswer { .. } => "ShardError",
        Error::Cancelled => "CancelledError",
        _ => "InternalError",
    }
}

/// Makes the exception of a class of `scanns/errors.py`.
pub fn exception(class: &str, message: &str) -> PyErr {
    Python::attach(|py| {
        let make = || PyModule::import(py, "scanns.errors")?.getattr(class)?.call1((message,));
        make().map_or_else(|error| error, PyErr::from_value)
    })
}

/// Makes the exception of an error of the engine.
pub fn raise(error: &Error) -> PyErr {
    let made = exception(class_of(error), &error.to_string());
    let place = match error {
        Error::Query { at, .. } => Some(*at),
        _ => None,
    };
    if let Some(place) = place {
        // Without the attribute the message still says where.
        let _ = Python::attach(|py| made.value(py).setattr("at", place));
    }
    made
}

/// A wrong argument.
pub fn wrong(what: &str, found: impl ToString, expected: &str) -> PyErr {
    raise(&Error::invalid(what, found, expected))
}
