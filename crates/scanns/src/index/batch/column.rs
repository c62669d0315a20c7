//! The values of one field of some rows, in few pieces of memory.

use std::ops::Range;

use crate::codec::{ByteReader, float_of, put_varint};
use crate::column::{ColumnKind, Gathered};
use crate::schema::ValueRef;

/// What makes signed integers of unsigned ones of the same order.
const SIGN: u64 = 1 << 63;

/// See the module.
#[derive(Clone, Debug)]
pub struct BatchColumn {
    kind: ColumnKind,
    /// Of numbers the integers that have their order, of all others the numbers of their strings.
    pub(super) numbers: Gathered,
    pub(super) strings: Strings,
}

/// Strings one behind the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Strings {
    pub(super) bytes: Vec<u8>,
    /// Where each ends.
    pub(super) ends: Vec<usize>,
}

impl Strings {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Adds a string; gives back its number.
    pub(super) fn push(&mut self, string: &[u8]) -> u64 {
        self.bytes.extend_from_slice(string);
        self.end()
    }

    /// What was added to the bytes is a string; gives back its number.
    pub(super) fn end(&mut self) -> u64 {
        self.ends.push(self.bytes.len());
        self.ends.len() as u64 - 1
    }

    #[inline]
    pub(super) fn get(&self, number: u64) -> &[u8] {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        let end = self.ends.get(number).copied().unwrap_or(0);
        let start = number.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.bytes.get(start..end).unwrap_or_default()
    }
}

impl BatchColumn {
    /// Without rows.
    pub fn new(kind: ColumnKind) -> Self {
        BatchColumn { kind, numbers: Gathered::default(), strings: Strings::default() }
    }

    /// What its values are.
    pub fn kind(&self) -> ColumnKind {
        self.kind
    }

    /// Rows that it has.
    pub fn rows(&self) -> usize {
        self.numbers.rows()
    }

    /// Values that it has.
    pub fn len(&self) -> usize {
        self.numbers.values().len()
    }

    /// True if it has no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that its values take.
    pub fn bytes(&self) -> usize {
        8 * self.len() + self.strings.bytes.len()
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.numbers.clear();
        self.strings.clear();
    }

    /// Up to which value those of each row go; `None` if each has exactly one.
    pub fn ends(&self) -> Option<&[u32]> {
        self.numbers.ends()
    }

    /// Which values are those of a row.
    #[inline]
    pub fn of_row(&self, row: usize) -> Range<usize> {
        self.numbers.of_row(row)
    }

    /// The values of a row.
    #[inline]
    pub fn values(&self, row: usize) -> impl ExactSizeIterator<Item = ValueRef<'_>> {
        self.of_row(row).map(|place| self.value(place))
    }

    /// All values as unsigned integers, which have the order of the values if they are numbers.
    pub fn orders(&self) -> &[u64] {
        self.numbers.values()
    }

    /// All values, which are signed numbers or dates.
    pub fn signed(&self) -> impl ExactSizeIterator<Item = i64> {
        self.orders().iter().map(|&order| (order ^ SIGN).cast_signed())
    }

    /// All values, which are doubles.
    pub fn floats(&self) -> impl ExactSizeIterator<Item = f64> {
        self.orders().iter().map(|&order| float_of(order))
    }

    /// A value, or one of nothing behind the last.
    #[inline]
    pub fn value(&self, place: usize) -> ValueRef<'_> {
        let order = self.orders().get(place).copied().unwrap_or(0);
        match self.kind {
            ColumnKind::Unsigned => ValueRef::Unsigned(order),
            ColumnKind::Signed => ValueRef::Signed((order ^ SIGN).cast_signed()),
            ColumnKind::Float => ValueRef::Float(float_of(order)),
            ColumnKind::Boolean => ValueRef::Boolean(order != 0),
            ColumnKind::Date => ValueRef::Date((order ^ SIGN).cast_signed()),
            ColumnKind::Keyword | ColumnKind::Path | ColumnKind::Text => {
                ValueRef::Text(self.strings.get(order))
            }
            ColumnKind::Bytes => ValueRef::Bytes(self.strings.get(order)),
        }
    }

    /// The bytes of a value that is a string; nothing of others.
    #[inline]
    pub fn string(&self, place: usize) -> &[u8] {
        match self.value(place) {
            ValueRef::Text(bytes) | ValueRef::Bytes(bytes) => bytes,
            _ => &[],
        }
    }

    /// All strings, each once and in any order, one behind the other.
    pub fn distinct_strings(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.strings.ends.len() as u64).map(|number| self.strings.get(number))
    }

    /// Adds a row with these values; what is of another kind is left out.
    pub fn push_row<'v>(&mut self, values: impl IntoIterator<Item = ValueRef<'v>>) {
        let BatchColumn { kind, numbers, strings } = self;
        numbers.push(values.into_iter().filter_map(|value| match value {
            ValueRef::Text(bytes) | ValueRef::Bytes(bytes) => {
                (!kind.is_number()).then(|| strings.push(bytes))
            }
            number => kind.order_of(number),
        }));
    }

    /// Appends the values of a row, for [`BatchColumn::take_row`].
    pub fn put_row(&self, row: usize, out: &mut Vec<u8>) {
        let own = self.of_row(row);
        put_varint(out, own.len() as u64);
        for place in own {
            if self.kind.is_number() {
                out.extend(self.orders().get(place).copied().unwrap_or(0).to_le_bytes());
            } else {
                let string = self.string(place);
                put_varint(out, string.len() as u64);
                out.extend_from_slice(string);
            }
        }
    }

    /// Adds the row that `bytes` begin with, and takes it off them; `None` if they begin with none.
    pub fn take_row(&mut self, bytes: &mut &[u8]) -> Option<()> {
        let BatchColumn { kind, numbers, strings } = self;
        let mut reader = ByteReader::new(bytes);
        let count = reader.varint()?;
        let mut whole = true;
        numbers.push((0..count).map_while(|_| {
            let value = match kind.is_number() {
                true => reader.u64(),
                false => {
                    let len = reader.varint().and_then(|len| usize::try_from(len).ok());
                    len.and_then(|len| reader.take(len)).map(|string| strings.push(string))
                }
            };
            whole &= value.is_some();
            value
        }));
        *bytes = reader.remaining();
        whole.then_some(())
    }
}
