//! The output of the program: exit codes, errors, and keys and terms of arbitrary bytes.
//!
//! Only results go to standard output; notes, progress and errors go to standard error.

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use scanns::Error;
use serde_json::{Map, Value};

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
    let _ = writeln!(io::stderr(), "scanns: {text}");
}

/// True if standard output was closed. The same code from the disk of an index is another type of error.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Buffered standard output that knows whether it is a terminal.
#[derive(Debug)]
pub struct Output {
    out: BufWriter<StdoutLock<'static>>,
    terminal: bool,
}

impl Output {
    /// Standard output.
    pub fn stdout() -> Self {
        let out = io::stdout().lock();
        Output { terminal: out.is_terminal(), out: BufWriter::with_capacity(64 << 10, out) }
    }

    /// True if standard output is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Writes arbitrary bytes: unchanged to a program, and escaped to a terminal, which they could otherwise
    /// control.
    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.terminal { self.out.write_all(escaped(bytes).as_bytes()) } else { self.out.write_all(bytes) }
    }

    /// Writes `value` as one line.
    pub fn json(&mut self, value: &Value) -> io::Result<()> {
        writeln!(self.out, "{value}")
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Text that shows every byte and cannot control a terminal: printable characters are unchanged, all others
/// become `\xHH` or `\u{…}`.
pub fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' | '\n' | '\r' | '\t' => text.extend(c.escape_default()),
                c if c.is_ascii_control() => text.push_str(&format!("\\x{:02x}", u32::from(c))),
                c if c.is_control() || reorders(c) => text.extend(c.escape_unicode()),
                c => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

/// True for characters that move or reorder others: line and paragraph separators, bidi controls.
fn reorders(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A path, escaped for people.
pub fn path_text(path: &Path) -> String {
    escaped(path.as_os_str().as_encoded_bytes())
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
    fn escaped_text_holds_nothing_that_controls_a_terminal() {
        assert_eq!(escaped(b"a/b c.txt"), "a/b c.txt");
        assert_eq!(escaped("grün/日本".as_bytes()), "grün/日本");
        assert_eq!(escaped(b"a\nb\\\x1b[31m\xff\xc3"), "a\\nb\\\\\\x1b[31m\\xff\\xc3");
        assert_eq!(escaped("\u{202e}txt\u{9b}".as_bytes()), "\\u{202e}txt\\u{9b}");
        for byte in 0..=255u8 {
            assert!(escaped(&[byte]).chars().all(|c| !c.is_control()), "byte {byte}");
        }
    }

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
