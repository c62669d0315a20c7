//! A dump whose format is known, and its reader.

use std::sync::Arc;

use super::mapped::{ColumnMap, MapView};
use super::{ReadDump, ReadRows};

/// A reader of one dump.
pub enum DumpReader {
    /// For rows of which each stands for itself.
    Rows(Arc<dyn ReadRows>),
    /// For rows that depend on each other.
    Whole(Box<dyn ReadDump>),
    /// For a table that a program opens: the name of its format, and what the user says of its columns.
    Table(&'static str, ColumnMap),
}

/// A dump whose format is known.
pub struct KnownDump {
    /// The name of the format.
    pub format: &'static str,
    /// A reader of the dump.
    pub reader: DumpReader,
    /// What the user should know about dumps of this format.
    pub remarks: &'static [&'static str],
    /// The map of a table.
    pub view: Option<MapView>,
}
