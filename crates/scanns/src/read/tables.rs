//! Tables of Parquet and Arrow whose rows are records.
//!
//! Their formats are read from the end of a file, by the parsers of others. So a process of its own gets the
//! whole file, and its rows come back as lines of JSON, see `content/extract/table_stream.rs`.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::content::{DecodedText, RowsFormat, TableConverter, TableStream, TakeRemark};
use crate::schema::{Records, Store};

/// What to do with tables of Parquet and Arrow.
#[derive(Clone, Debug, Default)]
pub enum TableReading {
    /// They are read as other files are.
    #[default]
    AsBytes,
    /// They cannot be read; the reason.
    Refuse(&'static str),
    /// Their rows are read as JSON Lines, where records are JSON.
    Convert(Arc<TableConverter>),
}

impl TableReading {
    /// The same in an index with these records and stored texts.
    pub(crate) fn in_index(&self, records: Records, store: Store) -> Self {
        match self {
            _ if records != Records::Jsonl => TableReading::AsBytes,
            TableReading::Convert(_) if store == Store::Reference => TableReading::Refuse(
                "it is a table, whose rows cannot be read from their file again: give --store content or \
                 --store none instead of --store reference",
            ),
            _ => self.clone(),
        }
    }

    /// True for a table that is not read as its bytes. `head` are the first bytes of its file.
    pub(crate) fn is_table(&self, head: &[u8]) -> bool {
        self.format_of(head).is_some()
    }

    /// The format of a table that is not read as its bytes. `head` are the first bytes of its file.
    pub(super) fn format_of(&self, head: &[u8]) -> Option<RowsFormat> {
        RowsFormat::of(head).filter(|_| !matches!(self, TableReading::AsBytes))
    }

    /// Starts to read the rows of a table in an open file.
    ///
    /// # Errors
    /// Tables are not read, or the process that reads them cannot be started.
    pub(crate) fn open(
        &self,
        format: RowsFormat,
        file: impl AsFd,
        cancel: Arc<AtomicBool>,
        take_remark: TakeRemark,
    ) -> io::Result<DecodedText<'static>> {
        let converter = match self {
            TableReading::Convert(converter) => converter,
            TableReading::Refuse(why) => return Err(io::Error::other(*why)),
            TableReading::AsBytes => return Err(io::Error::other("it is a table")),
        };
        // A duplicate would share the position and flags such as O_DIRECT.
        let again = File::open(format!("/proc/self/fd/{}", file.as_fd().as_raw_fd()));
        let again = again
            .map_err(|error| io::Error::new(error.kind(), format!("cannot open the table again: {error}")))?;
        Ok(DecodedText::of_rows(format, TableStream::start(converter, again, cancel, take_remark)?))
    }

    /// Refuses a table that is not the whole content of a file. `place` says what it is in.
    ///
    /// # Errors
    /// `format` is set, and tables are not read as their bytes.
    pub(crate) fn refuse(&self, format: Option<RowsFormat>, place: &str) -> io::Result<()> {
        match format.filter(|_| !matches!(self, TableReading::AsBytes)) {
            Some(format) => Err(io::Error::other(format!(
                "a table of {} is read from its end, so it cannot be {place}: save it as a file first",
                format.name()
            ))),
            None => Ok(()),
        }
    }
}
