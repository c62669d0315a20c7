//! What the values of a column are, and the unsigned integers that have their order.

use crate::codec::{float_of, order_of};
use crate::schema::{FieldKind, Value, ValueRef};

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// From 0 to 2⁶⁴ - 1.
    Unsigned,
    /// From -2⁶³ to 2⁶³ - 1.
    Signed,
    /// Doubles, in the total order of IEEE 754.
    Float,
    /// False and true.
    Boolean,
    /// Nanoseconds since 1970.
    Date,
}

/// What makes the order of signed integers that of unsigned ones.
const SIGN: u64 = 1 << 63;

impl ColumnKind {
    const ALL: [(ColumnKind, u32); 5] = [
        (ColumnKind::Unsigned, 0),
        (ColumnKind::Signed, 1),
        (ColumnKind::Float, 2),
        (ColumnKind::Boolean, 3),
        (ColumnKind::Date, 4),
    ];

    /// That of a field; `None` where values are no numbers.
    pub fn of(kind: &FieldKind) -> Option<Self> {
        match kind {
            FieldKind::Unsigned => Some(ColumnKind::Unsigned),
            FieldKind::Signed => Some(ColumnKind::Signed),
            FieldKind::Float => Some(ColumnKind::Float),
            FieldKind::Boolean => Some(ColumnKind::Boolean),
            FieldKind::Date => Some(ColumnKind::Date),
            FieldKind::Text { .. } | FieldKind::Keyword | FieldKind::Bytes | FieldKind::Path => None,
        }
    }

    /// The number that stands for it in files.
    pub fn code(self) -> u32 {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or(0, |(_, code)| *code)
    }

    /// What a number in a file stands for.
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == code).map(|(kind, _)| *kind)
    }

    /// True if the integers stand for doubles.
    pub fn is_float(self) -> bool {
        self == ColumnKind::Float
    }

    /// The integer that stands for a value; `None` for one of another kind.
    #[inline]
    pub fn order_of(self, value: ValueRef<'_>) -> Option<u64> {
        match (self, value) {
            (ColumnKind::Unsigned, ValueRef::Unsigned(number)) => Some(number),
            (ColumnKind::Signed, ValueRef::Signed(number)) | (ColumnKind::Date, ValueRef::Date(number)) => {
                Some(number.cast_unsigned() ^ SIGN)
            }
            (ColumnKind::Float, ValueRef::Float(number)) => Some(order_of(number)),
            (ColumnKind::Boolean, ValueRef::Boolean(truth)) => Some(truth.into()),
            _ => None,
        }
    }

    /// The value that an integer stands for.
    #[inline]
    pub fn value_of(self, order: u64) -> Value {
        match self {
            ColumnKind::Unsigned => Value::Unsigned(order),
            ColumnKind::Signed => Value::Signed((order ^ SIGN).cast_signed()),
            ColumnKind::Float => Value::Float(float_of(order)),
            ColumnKind::Boolean => Value::Boolean(order != 0),
            ColumnKind::Date => Value::Date((order ^ SIGN).cast_signed()),
        }
    }

    /// The value as a double, as sums and means are made of.
    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "sums of numbers beyond 2⁵³ are rounded")]
    pub fn number_of(self, order: u64) -> f64 {
        match self {
            ColumnKind::Unsigned | ColumnKind::Boolean => order as f64,
            ColumnKind::Signed | ColumnKind::Date => (order ^ SIGN).cast_signed() as f64,
            ColumnKind::Float => float_of(order),
        }
    }
}
