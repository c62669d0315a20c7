//! Which of the values that people ask for the entries of a dump have.

use crate::source::Entry;

/// The names of the fields, by bit.
const FIELDS: [&str; 4] = ["type", "size", "mtime", "owner"];

/// The fields of which an entry had a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ToldFields(u8);

impl ToldFields {
    /// Takes an entry.
    #[inline]
    pub(super) fn add(&mut self, entry: &Entry<'_>) {
        if self.0 == (1 << FIELDS.len()) - 1 {
            return;
        }
        let has_owner = entry.uid.is_some() || entry.owner.is_some();
        let told = [entry.kind.is_some(), entry.size.is_some(), entry.mtime.is_some(), has_owner];
        for (bit, told) in told.into_iter().enumerate() {
            self.0 |= u8::from(told) << bit;
        }
    }

    pub(super) fn merge(&mut self, other: ToldFields) {
        self.0 |= other.0;
    }

    /// The fields of which no entry had a value.
    pub(super) fn lacking(self) -> Vec<&'static str> {
        let fields = FIELDS.into_iter().enumerate();
        fields.filter(|(bit, _)| self.0 >> bit & 1 == 0).map(|(_, name)| name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::EntryKind;

    #[test]
    fn a_field_is_lacking_if_no_entry_has_it() {
        let mut told = ToldFields::default();
        told.add(&Entry::default());
        assert_eq!(told.lacking(), FIELDS);
        told.add(&Entry { size: Some(0), ..Entry::default() });
        let mut other = ToldFields::default();
        other.add(&Entry { kind: Some(EntryKind::File), uid: Some(0), ..Entry::default() });
        told.merge(other);
        assert_eq!(told.lacking(), ["mtime"]);
        told.add(&Entry { mtime: Some(-1), ..Entry::default() });
        assert!(told.lacking().is_empty());
    }
}
