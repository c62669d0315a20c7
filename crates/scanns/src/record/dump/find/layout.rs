//! How the rows of a format are divided: the values before the first name, the names, the values after the
//! last name, and the end of a row.

use super::format::{FindDialect, FindField, FormatPart, parse_format};

/// A value and the text that follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RowSlot {
    pub(super) field: FindField,
    pub(super) after: Vec<u8>,
}

/// The parts of a row, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RowLayout {
    /// The text before the first value.
    pub(super) head: Vec<u8>,
    /// Values without free text, each with the text after it.
    pub(super) left: Vec<RowSlot>,
    /// From the first to the last name. The text after the last name belongs to it.
    pub(super) names: Vec<RowSlot>,
    /// The values after the last name. The text after the last value is the end of the row.
    pub(super) right: Vec<RowSlot>,
    /// The text that ends a row.
    pub(super) end: Vec<u8>,
    /// If NUL follows every name: the number of NUL bytes in a row.
    pub(super) nuls: Option<usize>,
}

impl RowLayout {
    /// The layout of a format string.
    ///
    /// # Errors
    /// What is wrong with the format, and what to write instead.
    pub(super) fn new(format: &str, dialect: FindDialect) -> Result<Self, String> {
        let mut head = Vec::new();
        let mut slots: Vec<RowSlot> = Vec::new();
        for part in parse_format(format, dialect)? {
            match part {
                FormatPart::Field(field) => slots.push(RowSlot { field, after: Vec::new() }),
                FormatPart::Text(text) => match slots.last_mut() {
                    Some(slot) => slot.after = text,
                    None => head = text,
                },
            }
        }
        check(&slots)?;
        let end = slots.last().map(|slot| slot.after.clone()).unwrap_or_default();
        let all_end =
            slots.iter().filter(|slot| slot.field.is_name()).all(|slot| slot.after.first() == Some(&0));
        let count = |text: &[u8]| memchr::memchr_iter(0, text).count();
        let nuls = count(&head) + slots.iter().map(|slot| count(&slot.after)).sum::<usize>();
        let first = slots.iter().position(|slot| slot.field.is_name()).unwrap_or(0);
        let last = slots.iter().rposition(|slot| slot.field.is_name()).unwrap_or(0);
        let right = slots.split_off(last + 1);
        let names = slots.split_off(first);
        Ok(RowLayout { head, left: slots, names, right, end, nuls: all_end.then_some(nuls) })
    }
}

fn check(slots: &[RowSlot]) -> Result<(), String> {
    let has = |field| slots.iter().any(|slot| slot.field == field);
    if !(has(FindField::Path) || has(FindField::Directory) && has(FindField::Name)) {
        return Err("the format has no path: write %p".into());
    }
    if slots.iter().rev().skip(1).any(|slot| slot.after.is_empty()) {
        return Err(r"two values stand side by side: write \t or \0 between them".into());
    }
    let is_end = |slot: &RowSlot| matches!(slot.after.last(), Some(b'\n' | 0));
    if slots.last().is_some_and(is_end) {
        Ok(())
    } else {
        Err(r"rows have no end: the format must end with \n or \0".into())
    }
}
