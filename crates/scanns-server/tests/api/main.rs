//! The HTTP API, called in process: answers are compared with those of the library.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test, outside of functions marked as one")]

mod conditions;
mod description;
mod errors;
mod guide;
mod limits;
mod searches;
mod streams;
mod support;
mod usage;
mod views;
