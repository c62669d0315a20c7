//! Where differences go: to standard output or a file, as text or as a table.

use std::fs::File;

use anyhow::{Context, Result};
use scanns::files::{Difference, Growth};

use super::sums;
#[cfg(feature = "arrow")]
use super::table::{DifferenceTable, write_sums};
use super::write::DifferenceWriter;
use crate::args::{DiffArgs, DiffFormatArg, DiffOutputArg};
use crate::export::target::Target;
use crate::output::Output;
use crate::report::path_text;

/// Takes differences or their sums.
pub struct DifferenceSink<'a> {
    args: &'a DiffArgs,
    /// The format as text; `None` for Parquet.
    format: Option<DiffFormatArg>,
    target: Target,
    rows: Option<DifferenceRows>,
}

/// Differences one by one.
enum DifferenceRows {
    Text(DifferenceWriter),
    #[cfg(feature = "arrow")]
    Table(Box<DifferenceTable<File>>),
}

impl<'a> DifferenceSink<'a> {
    /// Opens the output.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn open(args: &'a DiffArgs, format: DiffOutputArg) -> Result<Self> {
        let target = Target::open(&args.output, false, None)?;
        let mut sink = DifferenceSink { args, format: format.text(), target, rows: None };
        if !args.summary {
            sink.rows = Some(sink.begin().with_context(|| sink.failed())?);
        }
        Ok(sink)
    }

    fn begin(&self) -> Result<DifferenceRows> {
        #[cfg(feature = "arrow")]
        if self.format.is_none() {
            return Ok(DifferenceRows::Table(Box::new(DifferenceTable::new(self.file()?)?)));
        }
        let mut writer = DifferenceWriter::new(self.output()?, self.text(), self.args.null);
        writer.header()?;
        Ok(DifferenceRows::Text(writer))
    }

    /// Writes a difference.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn write(&mut self, difference: &Difference<'_>) -> Result<()> {
        match &mut self.rows {
            None => Ok(()),
            Some(DifferenceRows::Text(writer)) => Ok(writer.write(difference)?),
            #[cfg(feature = "arrow")]
            Some(DifferenceRows::Table(table)) => table.write(difference),
        }
    }

    /// Writes sums, if they are wanted, and completes the output.
    ///
    /// # Errors
    /// The output cannot be written; a file then keeps its old content.
    pub fn finish(mut self, growth: Option<&Growth>) -> Result<()> {
        let rows = self.rows.take();
        let written = match (rows, growth) {
            (Some(DifferenceRows::Text(writer)), _) => writer.finish().map_err(Into::into),
            #[cfg(feature = "arrow")]
            (Some(DifferenceRows::Table(table)), _) => table.finish(),
            (None, Some(growth)) => self.sums(growth),
            (None, None) => Ok(()),
        };
        written.with_context(|| self.failed())?;
        self.target.finish()
    }

    fn sums(&self, growth: &Growth) -> Result<()> {
        #[cfg(feature = "arrow")]
        if self.format.is_none() {
            return write_sums(self.file()?, growth);
        }
        let mut out = self.output()?;
        sums::write(&mut out, growth, self.text())?;
        Ok(out.finish()?)
    }

    /// Removes a file that is not complete.
    pub fn give_up(self) {
        self.target.give_up();
    }

    fn text(&self) -> DiffFormatArg {
        self.format.unwrap_or(DiffFormatArg::Lines)
    }

    fn file(&self) -> Result<File> {
        Ok(self.target.file.try_clone()?)
    }

    fn output(&self) -> Result<Output> {
        let is_stdout = self.args.output.as_os_str() == "-";
        Ok(if is_stdout { Output::stdout() } else { Output::file(self.file()?) })
    }

    fn failed(&self) -> String {
        format!("cannot write {}", path_text(&self.args.output))
    }
}
