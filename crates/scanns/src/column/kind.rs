//! The kinds of values in a column, and the unsigned integers that have their order.

use crate::codec::{float_of, order_of};
use crate::schema::{FieldKind, Value, ValueRef};

/// The kind of the values in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// From 0 to 2⁶⁴ - 1.
    Unsigned,
    /// From -2⁶³ to 2⁶³ - 1.
    Signed,
    /// Doubles, in the total order of IEEE 754, but with one zero.
    Float,
    /// False and true.
    Boolean,
    /// Nanoseconds since 1970.
    Date,
    /// Strings with a dictionary; the integers are the numbers of its terms.
    Keyword,
    /// Paths; the integers are the numbers of directories in a dictionary, and the names are in a second
    /// column.
    Path,
    /// Texts, stored as they are.
    Text,
    /// Bytes, stored as they are.
    Bytes,
}

/// Flipping this bit maps signed integers to unsigned ones of the same order.
const SIGN: u64 = 1 << 63;

impl ColumnKind {
    const ALL: [(ColumnKind, u32); 9] = [
        (ColumnKind::Unsigned, 0),
        (ColumnKind::Signed, 1),
        (ColumnKind::Float, 2),
        (ColumnKind::Boolean, 3),
        (ColumnKind::Date, 4),
        (ColumnKind::Keyword, 5),
        (ColumnKind::Path, 6),
        (ColumnKind::Text, 7),
        (ColumnKind::Bytes, 8),
    ];

    /// Returns true if the index of a column has sums of its values.
    pub fn has_sums(self) -> bool {
        self == ColumnKind::Unsigned
    }

    /// Returns the kind of a field.
    pub fn of(kind: &FieldKind) -> Self {
        match kind {
            FieldKind::Unsigned => ColumnKind::Unsigned,
            FieldKind::Signed => ColumnKind::Signed,
            FieldKind::Float => ColumnKind::Float,
            FieldKind::Boolean => ColumnKind::Boolean,
            FieldKind::Date => ColumnKind::Date,
            FieldKind::Keyword => ColumnKind::Keyword,
            FieldKind::Path => ColumnKind::Path,
            FieldKind::Text { .. } => ColumnKind::Text,
            FieldKind::Bytes => ColumnKind::Bytes,
        }
    }

    /// Returns the number of the kind in files.
    pub fn code(self) -> u32 {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or(0, |(_, code)| *code)
    }

    /// Returns the kind with this number in files.
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == code).map(|(kind, _)| *kind)
    }

    /// Returns true if the values are represented by the integers of the column alone: numbers, booleans,
    /// dates.
    pub fn is_number(self) -> bool {
        !self.has_terms() && !self.is_strings()
    }

    /// Returns true if the column has a dictionary.
    pub fn has_terms(self) -> bool {
        matches!(self, ColumnKind::Keyword | ColumnKind::Path)
    }

    /// Returns true if the blocks contain strings instead of integers.
    pub fn is_strings(self) -> bool {
        matches!(self, ColumnKind::Text | ColumnKind::Bytes)
    }

    /// Returns true if the integers of a document are sorted. The integers of paths are not sorted, because
    /// each belongs to a name.
    pub fn is_sorted(self) -> bool {
        self != ColumnKind::Path
    }

    /// Returns true if the integers represent doubles.
    pub fn is_float(self) -> bool {
        self == ColumnKind::Float
    }

    /// Returns the integer that represents a value; `None` for a value of another kind.
    #[inline]
    pub fn order_of(self, value: ValueRef<'_>) -> Option<u64> {
        match (self, value) {
            (ColumnKind::Unsigned, ValueRef::Unsigned(number)) => Some(number),
            (ColumnKind::Signed, ValueRef::Signed(number)) | (ColumnKind::Date, ValueRef::Date(number)) => {
                Some(number.cast_unsigned() ^ SIGN)
            }
            // There is one zero: the addition makes a negative zero positive.
            (ColumnKind::Float, ValueRef::Float(number)) => Some(order_of(number + 0.0)),
            (ColumnKind::Boolean, ValueRef::Boolean(boolean)) => Some(boolean.into()),
            _ => None,
        }
    }

    /// Returns the value that an integer represents; the integer itself if values are not numbers.
    #[inline]
    pub fn value_of(self, order: u64) -> Value {
        match self {
            ColumnKind::Signed => Value::Signed((order ^ SIGN).cast_signed()),
            ColumnKind::Float => Value::Float(float_of(order)),
            ColumnKind::Boolean => Value::Boolean(order != 0),
            ColumnKind::Date => Value::Date((order ^ SIGN).cast_signed()),
            _ => Value::Unsigned(order),
        }
    }

    /// Returns the value as a double, for sums and means.
    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "sums of numbers beyond 2⁵³ are rounded")]
    pub fn number_of(self, order: u64) -> f64 {
        match self {
            ColumnKind::Signed | ColumnKind::Date => (order ^ SIGN).cast_signed() as f64,
            ColumnKind::Float => float_of(order),
            _ => order as f64,
        }
    }
}
