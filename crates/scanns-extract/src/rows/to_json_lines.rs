//! Writes the rows of a table as JSON Lines: every row becomes one object on one line, in order.
//!
//! The lines depend on nothing but the bytes of the file: an index refers to records by their place in them.
//! A change of any form, such as the digits of a number, is a change of the format of indexes.
//!
//! Memory: a batch of decoded rows, [`FLUSH`] bytes of lines, and one line. The batches of Arrow files are as
//! large as their writer made them.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};

use arrow_array::{Array, RecordBatch, StructArray};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::ArrowError;
use parquet::errors::ParquetError;

use super::RowsFormat;
use super::error::RowsError;
use super::line::{LineBuffer, MOST_LINE};
use super::nested_cells::Members;
use super::parquet_batches::ParquetBatches;

/// Bytes of lines that are written at once.
const FLUSH: usize = 256 << 10;

/// The first message of an Arrow file begins here or after more zeros: arrow-rs aligns it to 64 bytes.
const FIRST_MESSAGE: [u64; 8] = [8, 16, 24, 32, 40, 48, 56, 64];

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowsWritten {
    /// Rows, each on a line.
    pub rows: u64,
    /// Bytes of all lines.
    pub bytes: u64,
    /// Numbers that were left out because JSON has no NaN and no infinity.
    pub not_finite: u64,
    /// Values of bytes that were left out because they are not UTF-8.
    pub not_text: u64,
}

/// Batches, or why the next one cannot be read.
type Batches = Box<dyn Iterator<Item = Result<RecordBatch, String>>>;

/// Writes all rows of a Parquet file, an Arrow file or an Arrow stream. The file is read from its start,
/// whatever its position is; it must be one in which one can seek.
///
/// # Errors
/// See [`RowsError`]. The rows before damage are written. A row of more than 256 MiB counts as damage.
pub fn write_rows(mut file: File, out: &mut impl Write) -> Result<RowsWritten, RowsError> {
    let mut head = Vec::new();
    file.rewind().map_err(RowsError::Input)?;
    (&mut file).take(12).read_to_end(&mut head).map_err(RowsError::Input)?;
    file.rewind().map_err(RowsError::Input)?;
    let format = RowsFormat::of(&head).ok_or(RowsError::NotATable)?;
    let mut writer = RowWriter { format, out, lines: LineBuffer::default(), written: RowsWritten::default() };
    let (batches, problem) = match format {
        RowsFormat::Parquet => (parquet(file)?, None),
        RowsFormat::ArrowFile => arrow_file(file)?,
        RowsFormat::ArrowStream => (arrow_stream(file)?, None),
    };
    for batch in batches {
        match batch {
            Ok(batch) => writer.batch(&batch)?,
            Err(reason) => return Err(writer.damaged(reason)),
        }
    }
    match problem {
        Some(reason) => Err(writer.damaged(reason)),
        None => {
            writer.flush()?;
            Ok(writer.written)
        }
    }
}

fn parquet(file: File) -> Result<Batches, RowsError> {
    let batches = ParquetBatches::open(file).map_err(|error| match error {
        ParquetError::NYI(reason) => RowsError::Unsupported { format: "Parquet", reason },
        error if error.to_string().contains("encrypted") => RowsError::Encrypted,
        error => damaged(RowsFormat::Parquet, 0, error.to_string()),
    })?;
    Ok(if batches.is_without_columns() { Box::new(std::iter::empty()) } else { Box::new(batches) })
}

/// An Arrow file by its footer. Without a footer, as after a crash of the writer, its messages are read one
/// after the other, and the problem of the footer is returned too.
fn arrow_file(file: File) -> Result<(Batches, Option<String>), RowsError> {
    let again = file.try_clone().map_err(RowsError::Input)?;
    let problem = match FileReader::try_new(BufReader::new(file), None) {
        Ok(reader) => return Ok((batches_of(reader), None)),
        Err(error) => error.to_string(),
    };
    let mut source = BufReader::new(again);
    for start in FIRST_MESSAGE {
        let mut mark = [0; 4];
        source.seek(SeekFrom::Start(start)).map_err(RowsError::Input)?;
        if source.read_exact(&mut mark).is_err() || mark == [0; 4] {
            continue;
        }
        source.seek(SeekFrom::Start(start)).map_err(RowsError::Input)?;
        if let Ok(reader) = StreamReader::try_new(source, None) {
            return Ok((batches_of(reader), Some(problem)));
        }
        break;
    }
    Err(damaged(RowsFormat::ArrowFile, 0, problem))
}

fn arrow_stream(file: File) -> Result<Batches, RowsError> {
    let reader = StreamReader::try_new(BufReader::new(file), None);
    Ok(batches_of(reader.map_err(|error| damaged(RowsFormat::ArrowStream, 0, error.to_string()))?))
}

fn batches_of(reader: impl Iterator<Item = Result<RecordBatch, ArrowError>> + 'static) -> Batches {
    Box::new(reader.map(|batch| batch.map_err(|error| error.to_string())))
}

fn damaged(format: RowsFormat, rows: u64, reason: String) -> RowsError {
    RowsError::Damaged { format: format.name(), rows, reason }
}

/// Writes the rows of batches.
struct RowWriter<'w, W> {
    format: RowsFormat,
    out: &'w mut W,
    lines: LineBuffer,
    written: RowsWritten,
}

impl<W: Write> RowWriter<'_, W> {
    fn batch(&mut self, batch: &RecordBatch) -> Result<(), RowsError> {
        if batch.num_columns() == 0 {
            return Ok(());
        }
        let rows = StructArray::from(batch.clone());
        let members = match Members::of(&rows, 1) {
            Ok(members) => members,
            Err(reason) => return Err(RowsError::Unsupported { format: self.format.name(), reason }),
        };
        for row in 0..rows.len() {
            members.write(row, &mut self.lines);
            if self.lines.is_too_long() {
                self.lines.drop_line();
                return Err(self.damaged(format!("a row has more than {} MiB", MOST_LINE >> 20)));
            }
            self.lines.end_line();
            self.written.rows += 1;
            if self.lines.bytes.len() >= FLUSH {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// An error of the table. The rows before it are written.
    fn damaged(&mut self, reason: String) -> RowsError {
        match self.flush() {
            Ok(()) => damaged(self.format, self.written.rows, reason),
            Err(error) => error,
        }
    }

    fn flush(&mut self) -> Result<(), RowsError> {
        self.out.write_all(&self.lines.bytes).map_err(RowsError::Output)?;
        self.written.bytes += self.lines.bytes.len() as u64;
        self.written.not_finite = self.lines.not_finite;
        self.written.not_text = self.lines.not_text;
        self.lines.clear();
        Ok(())
    }
}
