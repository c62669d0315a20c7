//! Tables as dumps: their formats by name, how to tell them, and tables that programs open.
//!
//! CSV, TSV and JSON lines are read here. Parquet and Arrow need large libraries: a program that has them
//! passes a [`TableFormat`], and reads rows with the map that it gets.

use std::fs::File;
use std::io::{self, BufRead, Read};

use super::known::{DumpReader, KnownDump};
use super::mapped::{
    ColumnMap, CsvTable, MapView, MappedCsv, MappedJson, TableColumn, TableMap, object_key_map,
};
use super::{DumpTally, ReadDump, Visit};

/// The names of the formats of tables.
pub const TABLE_FORMATS: [&str; 6] = ["csv", "tsv", "jsonl", "parquet", "arrow", "s3-inventory"];

/// The fields that must be filled before a table is taken for a dump without being asked.
const CERTAIN_FIELDS: usize = 3;

/// A dump that is a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableDump {
    /// One of csv, tsv, jsonl, and the tables that the program adds; `None` if the start of the dump tells.
    pub format: Option<&'static str>,
    /// Which columns fill which fields, as far as the user says it.
    pub map: ColumnMap,
    /// How rows of CSV are written.
    pub csv: CsvTable,
}

/// A format of tables that a program can open.
#[derive(Clone, Copy, Debug)]
pub struct TableFormat {
    /// One of csv, tsv, jsonl, and the tables that the program adds.
    pub name: &'static str,
    /// Opens a table.
    pub open: OpenTable,
}

/// Opens a table.
pub type OpenTable = for<'a> fn(TableInput<'a>) -> io::Result<Box<dyn ReadTable + 'a>>;

/// The bytes of a table.
pub enum TableInput<'a> {
    /// A file in which the reader can seek.
    File(File),
    /// A stream, or a file that is decompressed.
    Stream(Box<dyn Read + Send + 'a>),
}

/// Reads a table that a program has opened.
pub trait ReadTable: Send {
    /// The columns and some of their first values.
    ///
    /// # Errors
    /// The first rows cannot be read.
    fn columns(&mut self) -> io::Result<Vec<TableColumn>>;

    /// Calls `visit` for the entry of every row, from the first to the last one. Rows are counted from 0.
    ///
    /// # Errors
    /// The table cannot be read any further.
    fn read(&mut self, map: &TableMap, tally: &mut DumpTally, visit: &mut Visit<'_>) -> io::Result<()>;
}

/// A table that a program has opened, with its map.
pub(crate) struct OpenedTable<'a> {
    pub(crate) table: Box<dyn ReadTable + 'a>,
    pub(crate) map: TableMap,
}

impl ReadDump for OpenedTable<'_> {
    fn read(&mut self, _: &mut dyn BufRead, tally: &mut DumpTally, visit: &mut Visit<'_>) -> io::Result<()> {
        self.table.read(&self.map, tally, visit)
    }
}

impl TableDump {
    /// The table with the name of a format and details: the delimiter of CSV.
    ///
    /// # Errors
    /// What to write instead.
    pub(super) fn named(name: &'static str, details: Option<&str>) -> Result<Self, String> {
        let delimiter = match (name, details) {
            ("tsv", None) => Some(b'\t'),
            (_, None) => None,
            ("csv", Some("tab" | "\\t")) => Some(b'\t'),
            ("csv", Some(text)) => match text.as_bytes() {
                [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Some(*byte),
                _ => return Err("the details of csv are its delimiter: one character, or tab".into()),
            },
            (_, Some(details)) => {
                return Err(format!("this format has no details such as '{details}': leave them out"));
            }
        };
        Ok(TableDump {
            format: Some(name),
            csv: CsvTable { delimiter, ..CsvTable::default() },
            ..Self::default()
        })
    }

    /// A reader for a table that begins with `start`.
    ///
    /// # Errors
    /// What is wrong with the table or the map.
    pub(super) fn open(&self, start: &[u8]) -> Result<KnownDump, String> {
        let format = match self.format {
            Some(format) => format,
            None => look(start),
        };
        let wanted = match format {
            "s3-inventory" => object_key_map().with(self.map.clone()),
            _ => self.map.clone(),
        };
        let (reader, view) = match format {
            "parquet" | "arrow" => (DumpReader::Table(format, wanted), None),
            "jsonl" => {
                let (reader, view) = MappedJson::new(start, &wanted)?;
                (DumpReader::Rows(std::sync::Arc::new(reader)), Some(view))
            }
            "s3-inventory" if self.csv.names.is_none() => {
                let table = CsvTable { no_header: true, objects: true, ..self.csv.clone() };
                csv(start, &table, &self.map)?
            }
            _ => csv(start, &self.csv, &wanted)?,
        };
        Ok(KnownDump { format, reader, remarks: &[], view })
    }

    /// A reader for a dump that begins with `start`, if it is certainly a table of an entry a row.
    pub(super) fn detect(start: &[u8]) -> Option<KnownDump> {
        let known = TableDump::default().open(start).ok()?;
        let is_certain = known.view.as_ref().is_none_or(|view| view.fields.len() >= CERTAIN_FIELDS);
        is_certain.then_some(known)
    }
}

fn csv(start: &[u8], table: &CsvTable, map: &ColumnMap) -> Result<(DumpReader, Option<MapView>), String> {
    let (reader, view) = MappedCsv::new(start, table, map)?;
    Ok((DumpReader::Rows(std::sync::Arc::new(reader)), Some(view)))
}

/// The format of a table that begins like this.
fn look(start: &[u8]) -> &'static str {
    let first = start.iter().find(|byte| !byte.is_ascii_whitespace());
    let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    match first {
        _ if start.starts_with(b"PAR1") => "parquet",
        _ if start.starts_with(b"ARROW1") => "arrow",
        Some(b'{') => "jsonl",
        _ if line.contains(&b'\t') && !line.contains(&b',') => "tsv",
        _ => "csv",
    }
}
