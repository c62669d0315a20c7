//! The map of a table: which of its columns fill which fields, and how their values are written.

use super::conversion::Conversion;
use super::field::MapField;

/// What the values of a column are, as the table itself says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColumnType {
    /// Texts, or numbers in digits: the values tell.
    #[default]
    Text,
    /// Numbers.
    Number,
    /// Times.
    Moment,
    /// True or false.
    Flag,
}

/// A column of a table and some of its first values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableColumn {
    /// Its name.
    pub name: String,
    /// What its values are.
    pub kind: ColumnType,
    /// Some of its first values that are not null; numbers in decimal digits, times as nanoseconds since
    /// 1970.
    pub samples: Vec<Vec<u8>>,
}

/// A column that fills a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MapSlot {
    pub(super) field: MapField,
    /// The number of the column, from 0.
    pub(super) column: usize,
    pub(super) conversion: Conversion,
}

/// Which columns of a table fill which fields of entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableMap {
    /// The columns of the path first, in their order.
    pub(super) slots: Vec<MapSlot>,
    /// The names of all columns.
    pub(super) columns: Vec<String>,
    /// Objects whose path ends with a slash are directories, and all others are files.
    pub(super) objects: bool,
}

/// A map for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MapView {
    /// The fields that are filled, in the order of their importance.
    pub fields: Vec<MappedField>,
    /// The columns that are not used.
    pub unused: Vec<String>,
    /// Columns that seem to fill a field, and why they are not used.
    pub remarks: Vec<String>,
}

/// A field that a column fills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedField {
    /// The name of the field.
    pub field: &'static str,
    /// The names of its columns.
    pub column: String,
    /// How their values are written.
    pub conversion: String,
    /// The first value as it is read.
    pub first: Vec<u8>,
}

impl TableMap {
    /// The columns that are used, by their numbers from 0; `put` of a row takes the values in this order.
    pub fn used(&self) -> impl Iterator<Item = usize> {
        self.slots.iter().map(|slot| slot.column)
    }

    /// The name of a column.
    pub(super) fn column(&self, number: usize) -> &str {
        self.columns.get(number).map_or("", String::as_str)
    }
}
