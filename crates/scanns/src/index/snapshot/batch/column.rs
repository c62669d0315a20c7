//! The values of one field for the rows of a batch, in a few vectors.

use std::ops::Range;

use crate::codec::{ByteReader, float_of, put_varint};
use crate::column::{ColumnKind, Gathered};
use crate::schema::ValueRef;

/// Flipping this bit maps unsigned integers to signed ones of the same order.
const SIGN: u64 = 1 << 63;

/// The values of one field for the rows of a batch.
#[derive(Clone, Debug)]
pub struct BatchColumn {
    kind: ColumnKind,
    /// For numbers, integers with the same order; for all other kinds, the numbers of their strings.
    pub(crate) numbers: Gathered,
    pub(crate) strings: StringList,
}

/// Strings in one piece of memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct StringList {
    pub(crate) bytes: Vec<u8>,
    /// The end of each string.
    pub(crate) ends: Vec<usize>,
}

impl StringList {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Adds a string and returns its number.
    pub(crate) fn push(&mut self, string: &[u8]) -> u64 {
        self.bytes.extend_from_slice(string);
        self.end()
    }

    /// Replaces each string by a part of it.
    pub(crate) fn cut(&mut self, part: impl Fn(&[u8]) -> Range<usize>) {
        let (mut start, mut kept) = (0, 0);
        for end in &mut self.ends {
            let own = part(self.bytes.get(start..*end).unwrap_or_default());
            let own = (start + own.start).min(*end)..(start + own.end).min(*end);
            let long = own.len();
            self.bytes.copy_within(own, kept);
            start = std::mem::replace(end, kept + long);
            kept += long;
        }
        self.bytes.truncate(kept);
    }

    /// Ends a string whose bytes were added to `bytes`, and returns its number.
    pub(crate) fn end(&mut self) -> u64 {
        self.ends.push(self.bytes.len());
        self.ends.len() as u64 - 1
    }

    #[inline]
    pub(crate) fn get(&self, number: u64) -> &[u8] {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        let end = self.ends.get(number).copied().unwrap_or(0);
        let start = number.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.bytes.get(start..end).unwrap_or_default()
    }
}

impl BatchColumn {
    /// Creates a column without rows.
    pub fn new(kind: ColumnKind) -> Self {
        BatchColumn { kind, numbers: Gathered::default(), strings: StringList::default() }
    }

    /// Returns the kind of the values.
    pub fn kind(&self) -> ColumnKind {
        self.kind
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.numbers.rows()
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.numbers.values().len()
    }

    /// Returns true if there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the size of the values in bytes.
    pub fn bytes(&self) -> usize {
        8 * self.len() + self.strings.bytes.len()
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        self.numbers.clear();
        self.strings.clear();
    }

    /// Returns the end of the values of each row; `None` if each row has exactly one value.
    pub fn ends(&self) -> Option<&[u32]> {
        self.numbers.ends()
    }

    /// Returns the range of the values of a row, for [`BatchColumn::value`].
    #[inline]
    pub fn of_row(&self, row: usize) -> Range<usize> {
        self.numbers.of_row(row)
    }

    /// Returns the values of a row.
    #[inline]
    pub fn values(&self, row: usize) -> impl ExactSizeIterator<Item = ValueRef<'_>> {
        self.of_row(row).map(|place| self.value(place))
    }

    /// Returns the first value of a row as an unsigned integer: of numbers, one with the order of the values;
    /// of strings, the number for [`BatchColumn::numbered`].
    #[inline]
    pub(crate) fn first(&self, row: usize) -> Option<u64> {
        let own = self.of_row(row);
        self.orders().get(own.start).copied().filter(|_| !own.is_empty())
    }

    /// Returns the first date of a row of a column of dates.
    #[inline]
    pub(crate) fn first_date(&self, row: usize) -> Option<i64> {
        self.first(row).map(|order| (order ^ SIGN).cast_signed())
    }

    /// Returns the string with a number. Rows with the same number have the same string.
    #[inline]
    pub(crate) fn numbered(&self, number: u64) -> &[u8] {
        self.strings.get(number)
    }

    /// Returns all values as unsigned integers. For numbers, the integers have the order of the values.
    #[inline]
    pub fn orders(&self) -> &[u64] {
        self.numbers.values()
    }

    /// Returns all values of a column of signed numbers or dates.
    pub fn signed(&self) -> impl ExactSizeIterator<Item = i64> {
        self.orders().iter().map(|&order| (order ^ SIGN).cast_signed())
    }

    /// Returns all values of a column of floats.
    pub fn floats(&self) -> impl ExactSizeIterator<Item = f64> {
        self.orders().iter().map(|&order| float_of(order))
    }

    /// Returns the value at `place`, or an empty value beyond the last.
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

    /// Returns the bytes of the value at `place` if it is a string, otherwise an empty slice.
    #[inline]
    pub fn string(&self, place: usize) -> &[u8] {
        match self.value(place) {
            ValueRef::Text(bytes) | ValueRef::Bytes(bytes) => bytes,
            _ => &[],
        }
    }

    /// Returns all distinct strings, in the order of their numbers.
    pub fn distinct_strings(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.strings.ends.len() as u64).map(|number| self.strings.get(number))
    }

    /// Adds a row with these values. Values of another kind are ignored.
    pub fn push_row<'v>(&mut self, values: impl IntoIterator<Item = ValueRef<'v>>) {
        let BatchColumn { kind, numbers, strings } = self;
        numbers.push(values.into_iter().filter_map(|value| match value {
            ValueRef::Text(bytes) | ValueRef::Bytes(bytes) => {
                (!kind.is_number()).then(|| strings.push(bytes))
            }
            number => kind.order_of(number),
        }));
    }

    /// Appends the values of a row in the format that [`BatchColumn::take_row`] reads.
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

    /// Reads a row from the front of `bytes`, adds it, and advances `bytes` past it. Returns `None` if
    /// `bytes` does not begin with a row.
    pub fn take_row(&mut self, bytes: &mut &[u8]) -> Option<()> {
        let BatchColumn { kind, numbers, strings } = self;
        let mut reader = ByteReader::new(bytes);
        let count = reader.varint()?;
        let mut whole = true;
        numbers.push((0..count).map_while(|_| {
            let value = if kind.is_number() {
                reader.u64()
            } else {
                let len = reader.varint().and_then(|len| usize::try_from(len).ok());
                len.and_then(|len| reader.take(len)).map(|string| strings.push(string))
            };
            whole &= value.is_some();
            value
        }));
        *bytes = reader.remaining();
        whole.then_some(())
    }
}
