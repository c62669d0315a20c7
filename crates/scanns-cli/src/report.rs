//! The outcome of the program: exit codes, notes and errors, and arbitrary bytes in JSON.
//!
//! Only results go to standard output; notes, progress and errors go to standard error.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use scanns::Error;
use serde_json::{Map, Value};

use crate::quoting::{harmless, quoted};

/// How a verb ended, if not with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything was done.
    Done,
    /// Nothing matched.
    Nothing,
    /// Done, but some inputs failed and were listed.
    WithFailures,
    /// The user asked to stop.
    Stopped,
}

/// Prints the error of a verb, if any, on standard error, and returns the exit code.
///
/// It is not an error if the reader of the output ends early, as `head` does.
pub fn exit_code(result: Result<Outcome>) -> ExitCode {
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Nothing | Outcome::WithFailures) => ExitCode::from(1),
        Ok(Outcome::Stopped) => ExitCode::from(130),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            match error.downcast_ref::<Error>() {
                Some(Error::Query { query, message, at }) => note(&query_fault(query, message, *at)),
                Some(known) => note(&format!("{error:#}{}", advice(known))),
                None => note(&format!("{error:#}")),
            }
            ExitCode::from(2)
        }
    }
}

/// An error of the library, with advice.
pub fn message(error: &Error) -> String {
    format!("{error}{}", advice(error))
}

/// What a user can do about an error, to be appended to its message.
fn advice(error: &Error) -> &'static str {
    match error {
        Error::NotAnIndex { .. } => " (scanns index builds an index)",
        Error::Corrupt { .. } => " (scanns check --salvage keeps the intact segments)",
        Error::SourceChanged { .. } => {
            " (scanns index updates the index, --store content stores the text in it)"
        }
        Error::NotIndexed { what: "positions" } => " (scanns index --positions builds such an index)",
        Error::NotIndexed { what: "offsets" } => " (scanns index --offsets builds such an index)",
        Error::InvalidValue { what, .. } if what == "memory for reordering" => " (use a larger --memory)",
        _ => "",
    }
}

/// The error of a query, with a mark under the character `at`, counted from 1.
fn query_fault(query: &str, message: &str, at: usize) -> String {
    // Control characters could move the cursor, and with it the mark.
    let plain: String = query.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
    format!("query: {message}\n  {plain}\n  {}^", " ".repeat(at.saturating_sub(1)))
}

/// Prints clap's answer to a command line: help on standard output, or an error.
pub fn usage(answer: &clap::Error) -> ExitCode {
    if answer.use_stderr() {
        let text = answer.render().to_string();
        note(text.strip_prefix("error: ").unwrap_or(&text).trim_end());
        return ExitCode::from(2);
    }
    // If the reader of the help has ended, there is nothing to report.
    let _ = answer.print();
    ExitCode::SUCCESS
}

/// Prints a line on standard error; a closed standard error is ignored.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr(), "scanns: {}", harmless(text));
}

/// True if standard output was closed. The same code from the disk of an index is another type of error.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// A path on one line, quoted if necessary.
pub fn path_text(path: &Path) -> String {
    quoted(path.as_os_str().as_encoded_bytes()).into_owned()
}

/// Puts `bytes` into `object` as the string `name`, in which invalid UTF-8 is replaced; if there is any, all
/// bytes are added in hexadecimal as `name_bytes`.
pub fn put_bytes(object: &mut Map<String, Value>, name: &str, bytes: &[u8]) {
    object.insert(name.into(), String::from_utf8_lossy(bytes).into());
    if std::str::from_utf8(bytes).is_err() {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        object.insert(format!("{name}_bytes"), hex.into());
    }
}

/// A 32-bit float as the shortest number that parses to the same float.
pub fn short_float(number: f32) -> Value {
    number.to_string().parse::<f64>().map_or(Value::Null, Value::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_are_given_in_full() {
        let mut object = Map::new();
        put_bytes(&mut object, "key", b"plain");
        put_bytes(&mut object, "term", b"\xffa");
        assert_eq!(Value::from(object).to_string(), r#"{"key":"plain","term":"�a","term_bytes":"ff61"}"#);
    }

    #[test]
    fn floats_are_short_and_read_back() {
        for number in [0.1f32, 1.0 / 3.0, 12.345_679, 1e-20, f32::MAX] {
            let text = short_float(number).to_string();
            assert!(text.len() <= 13, "{text}");
            assert_eq!(text.parse::<f32>(), Ok(number));
        }
        assert_eq!(short_float(f32::INFINITY), Value::Null);
    }
}
