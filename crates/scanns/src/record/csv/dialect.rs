//! How the rows of CSV files are written: delimiter, quotes, and the names of the columns.

use super::delimiter::CsvDelimiter;

/// Whether a quote at the start of a value quotes the value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CsvQuotes {
    /// It does, as RFC 4180 says.
    #[default]
    Always,
    /// Quotes are ordinary characters.
    Never,
    /// Quotes are ordinary characters in files whose delimiter is the tab, as databases and `find` write
    /// them.
    ExceptWithTabs,
}

/// Where the names of the columns come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CsvNames {
    /// From the first row of each file.
    #[default]
    FirstRow,
    /// The first row is data: columns are named `column1`, `column2` and so on.
    Numbered,
    /// The first row is data, and these are the names.
    Given(Vec<String>),
}

/// How the rows of CSV files are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CsvDialect {
    /// The delimiter of all files; `None` if the first row of each file determines it.
    pub delimiter: Option<CsvDelimiter>,
    /// If `delimiter` is `None`, the delimiter of files whose first row contains it.
    pub likely: Option<CsvDelimiter>,
    /// Whether values are quoted.
    pub quotes: CsvQuotes,
    /// Where the names of the columns come from.
    pub names: CsvNames,
}

/// What a caller demands of a dialect; `None` for what a sample suggests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CsvOptions {
    /// The delimiter of all files.
    pub delimiter: Option<CsvDelimiter>,
    /// Whether values are quoted.
    pub quotes: Option<CsvQuotes>,
    /// Where the names of the columns come from.
    pub names: Option<CsvNames>,
}

impl CsvOptions {
    /// True if a dialect has everything that is demanded.
    pub fn agree_with(&self, dialect: &CsvDialect) -> bool {
        self.delimiter.is_none_or(|delimiter| Some(delimiter) == dialect.delimiter.or(dialect.likely))
            && self.quotes.is_none_or(|quotes| quotes == dialect.quotes)
            && self.names.as_ref().is_none_or(|names| *names == dialect.names)
    }
}

impl CsvDialect {
    /// The delimiter of the file that begins with this row.
    pub(super) fn delimiter_of(&self, first_row: &[u8]) -> CsvDelimiter {
        let likely = self.likely.filter(|likely| first_row.contains(&likely.byte()));
        self.delimiter.or(likely).unwrap_or_else(|| CsvDelimiter::guess(first_row))
    }

    /// Whether values are quoted in files with a delimiter.
    pub(super) fn has_quotes(&self, delimiter: CsvDelimiter) -> bool {
        match self.quotes {
            CsvQuotes::Always => true,
            CsvQuotes::Never => false,
            CsvQuotes::ExceptWithTabs => delimiter.byte() != b'\t',
        }
    }

    /// Whether the first row of a file may contain quoted values.
    pub(super) fn first_row_has_quotes(&self) -> bool {
        self.delimiter.or(self.likely).map_or(self.quotes != CsvQuotes::Never, |only| self.has_quotes(only))
    }
}
