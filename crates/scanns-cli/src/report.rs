//! The outcome of the program: exit codes, notes and errors, and arbitrary bytes in JSON.
//!
//! Only results go to standard output; notes, progress and errors go to standard error.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use anyhow::Result;
use scanns::Error;
use serde_json::{Map, Value};
use signal_hook::consts::SIGXFSZ;

use crate::missing_index;
use crate::program_messages::{self, for_programs};
use crate::quoting::{harmless, quoted};
use crate::units;

/// When the program began.
static BEGAN: OnceLock<Instant> = OnceLock::new();

/// Starts the clock, and makes a file that grows beyond a limit an error instead of the end of the program.
pub fn begin() {
    BEGAN.get_or_init(Instant::now);
    // If the signal cannot be caught, it ends the program as it would without this.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// Seconds since the program began.
pub fn seconds() -> f64 {
    BEGAN.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// How a verb ended, if not with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything was done.
    Done,
    /// Nothing matched.
    Nothing,
    /// The compared things differ.
    Different,
    /// Done, but some inputs failed and were listed.
    WithFailures,
    /// Something that was named is not there, for verbs that end as other tools do then.
    NotFound,
    /// The user asked to stop.
    Stopped,
}

/// Prints the error of a verb, if any, on standard error, and returns the exit code.
///
/// It is not an error if the reader of the output ends early, as `head` does.
pub fn exit_code(result: Result<Outcome>) -> ExitCode {
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Nothing | Outcome::Different | Outcome::WithFailures) => ExitCode::from(1),
        Ok(Outcome::NotFound) => ExitCode::from(2),
        Ok(Outcome::Stopped) => ExitCode::from(130),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let known = error.downcast_ref::<Error>();
            if for_programs() {
                program_messages::error(known, &format!("{}{}", causes(&error), limits(&error)));
                return ExitCode::from(2);
            }
            match known {
                Some(Error::Query { query, message, at }) => note(&query_fault(query, message, *at)),
                Some(known) => note(&format!("{}{}{}", causes(&error), advice(known), limits(&error))),
                None => note(&format!("{}{}", causes(&error), limits(&error))),
            }
            ExitCode::from(2)
        }
    }
}

/// An error and its causes. A cause that the message before it contains is not repeated.
fn causes(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    let mut last = text.clone();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !last.contains(&cause) {
            text = format!("{text}: {cause}");
            last = cause;
        }
    }
    text
}

/// The limits of the system that may have caused an error, to be appended to it.
fn limits(error: &anyhow::Error) -> String {
    let text = format!("{error:#}").to_lowercase();
    let is_about_memory = ["memory", "allocat"].iter().any(|word| text.contains(word));
    match scanns::tuning::address_space_limit() {
        Some(limit) if is_about_memory && !text.contains("ulimit -v") => {
            format!(" (at most {} of address space are allowed, see ulimit -v)", units::size(limit))
        }
        _ => file_limit(error),
    }
}

/// The limit on the size of files, to be appended to the error that it causes.
fn file_limit(error: &anyhow::Error) -> String {
    let is_too_large = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::FileTooLarge)
    };
    if !error.chain().any(is_too_large) {
        return String::new();
    }
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max file size"));
    match limit.and_then(|limit| limit.split_whitespace().next()?.parse().ok()) {
        Some(bytes) => format!(" (files may have at most {}, see ulimit -f)", units::size(bytes)),
        None => " (the file system does not allow larger files)".into(),
    }
}

/// An error of the library, with advice.
pub fn message(error: &Error) -> String {
    format!("{error}{}", advice(error))
}

/// What a user can do about an error, to be appended to its message.
fn advice(error: &Error) -> Cow<'static, str> {
    if let Error::NotAnIndex { path, .. } = error {
        return missing_index::advice(path).into();
    }
    let advice = match error {
        Error::Corrupt { .. } => " (scanns check --salvage keeps the intact segments)",
        Error::SourceChanged { .. } => {
            " (scanns index updates the index, --store content stores the text in it)"
        }
        Error::Io { action: "read" | "list", source, .. }
            if source.kind() == io::ErrorKind::PermissionDenied =>
        {
            " (ask its owner for permission to read it)"
        }
        Error::Io { action: "create" | "open" | "write" | "sync" | "rename", source, .. } => {
            match source.kind() {
                io::ErrorKind::PermissionDenied => " (change its permissions, or choose another place)",
                io::ErrorKind::ReadOnlyFilesystem => " (choose a place that can be written)",
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    " (free some space, and run the command again)"
                }
                io::ErrorKind::NotFound => " (if it was removed meanwhile, run the command again)",
                _ => "",
            }
        }
        Error::Dump { .. } => {
            " (--dump=FORMAT names the format, --dump-format its details; --dump-preview 3 shows what is \
             read, and scanns help dumps explains the formats)"
        }
        Error::OutOfMemory { .. } => " (fewer --threads and a smaller --memory need less)",
        Error::NotIndexed { what: "positions" } => " (scanns index --positions builds such an index)",
        Error::NotIndexed { what: "offsets" } => " (scanns index --offsets builds such an index)",
        Error::InvalidValue { what, .. } if what == "memory for reordering" => " (use a larger --memory)",
        _ => "",
    };
    advice.into()
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
        let text = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
        if for_programs() {
            program_messages::usage(text)
        } else {
            note(text)
        }
        return ExitCode::from(2);
    }
    // If the reader of the help has ended, there is nothing to report.
    let _ = answer.print();
    ExitCode::SUCCESS
}

/// Prints a line on standard error; a closed standard error is ignored.
pub fn note(text: &str) {
    if for_programs() {
        return program_messages::note(text);
    }
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
