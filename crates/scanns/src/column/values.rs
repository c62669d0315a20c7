//! The values of documents as they were added.

use super::dictionary::DictionaryReader;
use super::kind::ColumnKind;
use super::read::{Column, ColumnBlock, ColumnCursor, Damaged};
use crate::codec::StringBlock;
use crate::error::Result;
use crate::schema::Value;

impl Column {
    /// Appends the values of a document: numbers and keywords in ascending order, others in the order in
    /// which they were added.
    pub fn values_of(&self, doc: u32, out: &mut Vec<Value>) -> Result<()> {
        if self.kind().is_strings() {
            let is_text = self.kind() == ColumnKind::Text;
            return self.strings_of(doc, |string| {
                out.push(if is_text { Value::Text(string) } else { Value::Bytes(string) });
            });
        }
        let mut orders = Vec::new();
        self.get(doc, &mut orders)?;
        let Some(terms) = self.terms() else {
            out.extend(orders.iter().map(|&order| self.kind().value_of(order)));
            return Ok(());
        };
        let mut names = Vec::new();
        if let Some(column) = self.names() {
            column.strings_of(doc, |name| names.push(name))?;
        }
        put_paths(terms, &orders, names, out)
    }

    /// Appends the values of each of `docs` to its row, as [`Column::values_of`] does.
    ///
    /// If the documents are in order, each block and each term of a dictionary is read once: this takes less
    /// time than one call for each document.
    pub fn values_of_each(&self, docs: &[u32], rows: &mut [Vec<Value>]) -> Result<()> {
        let mut cursor = ColumnCursor::new(self);
        let mut orders = Vec::new();
        match self.terms() {
            None if self.kind().is_number() => {
                for (&doc, row) in docs.iter().zip(rows) {
                    orders.clear();
                    cursor.get(doc, &mut orders)?;
                    row.extend(orders.iter().map(|&order| self.kind().value_of(order)));
                }
                Ok(())
            }
            Some(terms) if self.names().is_none() => {
                let mut wanted = Vec::with_capacity(docs.len());
                for (&doc, row) in docs.iter().zip(0usize..) {
                    orders.clear();
                    cursor.get(doc, &mut orders)?;
                    let number = |&order: &u64| (u32::try_from(order).unwrap_or(u32::MAX), row);
                    wanted.extend(orders.iter().map(number));
                }
                // Sorted by term, so that each row gets its terms in order.
                wanted.sort_unstable();
                let mut numbers: Vec<u32> = wanted.iter().map(|(number, _)| *number).collect();
                numbers.dedup();
                let mut wanted = wanted.into_iter().peekable();
                terms.terms_of(&numbers, |number, term| {
                    while let Some((_, row)) = wanted.next_if(|(next, _)| *next == number) {
                        if let Some(row) = rows.get_mut(row) {
                            row.push(Value::Text(term.to_vec()));
                        }
                    }
                    Ok(())
                })
            }
            None => {
                let (is_text, mut cursor) = (self.kind() == ColumnKind::Text, StringCursor::new(self));
                docs.iter().zip(rows).try_for_each(|(&doc, row)| {
                    cursor.each(doc, |string| {
                        row.push(if is_text { Value::Text(string) } else { Value::Bytes(string) });
                    })
                })
            }
            Some(terms) => {
                let mut names = self.names().map(StringCursor::new);
                for (&doc, row) in docs.iter().zip(rows) {
                    orders.clear();
                    cursor.get(doc, &mut orders)?;
                    let mut of_doc = Vec::new();
                    if let Some(names) = &mut names {
                        names.each(doc, |name| of_doc.push(name))?;
                    }
                    put_paths(terms, &orders, of_doc, row)?;
                }
                Ok(())
            }
        }
    }

    /// Calls `visit` with each string of a document.
    pub fn strings_of(&self, doc: u32, visit: impl FnMut(Vec<u8>)) -> Result<()> {
        StringCursor::new(self).each(doc, visit)
    }
}

/// Appends terms, each with its name if there are names.
fn put_paths(
    terms: &DictionaryReader,
    orders: &[u64],
    names: Vec<Vec<u8>>,
    out: &mut Vec<Value>,
) -> Result<()> {
    let mut names = names.into_iter();
    for &order in orders {
        let mut text = Vec::new();
        terms.term(u32::try_from(order).unwrap_or(u32::MAX), &mut text)?;
        text.extend(names.next().unwrap_or_default());
        out.push(Value::Text(text));
    }
    Ok(())
}

/// Reads strings of documents that are requested in about ascending order. Each block is unpacked once.
#[derive(Debug)]
pub struct StringCursor<'a> {
    column: &'a Column,
    open: Option<OpenStrings<'a>>,
}

/// The current block of a [`StringCursor`].
#[derive(Debug)]
struct OpenStrings<'a> {
    number: u32,
    block: ColumnBlock<'a>,
    /// `None` if no document of the block has a string.
    strings: Option<StringBlock<'a>>,
    unpacked: Vec<u8>,
}

impl<'a> StringCursor<'a> {
    /// A cursor without a current block.
    pub fn new(column: &'a Column) -> Self {
        StringCursor { column, open: None }
    }

    /// Calls `visit` with each string of a document.
    pub fn each(&mut self, doc: u32, mut visit: impl FnMut(Vec<u8>)) -> Result<()> {
        self.append(doc, &mut Vec::new(), |string| visit(std::mem::take(string)))
    }

    /// Appends each string of a document to `out`, and calls `ended` with `out` after each.
    pub fn append(&mut self, doc: u32, out: &mut Vec<u8>, mut ended: impl FnMut(&mut Vec<u8>)) -> Result<()> {
        if !self.open.as_ref().is_some_and(|open| open.block.documents().contains(&doc)) {
            let number = self.column.block_of(doc)?;
            let block = self.column.block(number)?;
            let (mut strings, mut unpacked) = (None, Vec::new());
            if block.entry.values > 0 {
                let opened = StringBlock::open(block.text()).filter(|all| all.len() == block.entry.values);
                let opened = opened.filter(|all| all.unpack(&mut unpacked).is_some());
                strings = Some(opened.ok_or_else(|| self.column.damaged(number))?);
            }
            self.open = Some(OpenStrings { number, block, strings, unpacked });
        }
        let Some(OpenStrings { number, block, strings: Some(strings), unpacked }) = &self.open else {
            return Ok(());
        };
        let mut read = || -> std::result::Result<(), Damaged> {
            let Some(rank) = block.rank(doc) else { return Ok(()) };
            for place in block.values_of(rank)? {
                strings.get_from(unpacked, place, out).ok_or(Damaged)?;
                ended(out);
            }
            Ok(())
        };
        read().map_err(|Damaged| self.column.damaged(*number))
    }
}
