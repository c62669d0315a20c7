//! Writes the answers of the library as text, and tells what they lack.

use std::io::{self, BufWriter, Write};

use anyhow::Result;
use scanns::files::UnknownColumn;

use crate::quoting::quoted;
use crate::report;
use crate::units;

/// An output that keeps its first error.
struct KeptError<W: Write> {
    out: BufWriter<W>,
    failed: Option<io::Error>,
}

impl<W: Write> Write for KeptError<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes).map_err(|error| {
            let kind = error.kind();
            self.failed.get_or_insert(error);
            kind.into()
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Calls `answer` with an output to `out`. An error of the output is returned as one, so that a reader that
/// ends early can be told from other errors. What was written before another error is not lost.
pub fn write_answer<R>(
    out: impl Write,
    answer: impl FnOnce(&mut dyn Write) -> scanns::Result<R>,
) -> Result<R> {
    let mut out = KeptError { out: BufWriter::with_capacity(256 << 10, out), failed: None };
    let answered = answer(&mut out);
    let flushed = out.out.flush();
    if let Some(error) = out.failed {
        return Err(error.into());
    }
    let answered = answered?;
    flushed?;
    Ok(answered)
}

/// Tells which values the index does not know.
pub fn note_unknown(unknown: &[UnknownColumn]) {
    for column in unknown {
        let entries = units::counted(column.count, "entry");
        let (word, example) = (String::from_utf8_lossy(&column.word), quoted(&column.example));
        report::note(&format!("{word}: the index does not know this of {entries}; the first is {example}"));
    }
}
