//! What was left out of the records of collections, or is unusual about them.

/// What is unusual about a record, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecordNote {
    /// The record is not a document: what it is, such as `request`.
    LeftOut(&'static str),
    /// The record is a document although it differs from its format: how it does.
    Remark(&'static str),
}

/// Records by what is unusual about them. The number of different notes is limited by the program's text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordNotes(Vec<NoteCount>);

/// The records with the same note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NoteCount {
    note: RecordNote,
    count: u64,
    /// The number under which the first of them is reported.
    first: u64,
}

impl RecordNotes {
    /// Counts a record. Returns true if it is the first one with this note.
    pub(in crate::record) fn add(&mut self, note: RecordNote, line: u64) -> bool {
        match self.0.iter_mut().find(|known| known.note == note) {
            Some(known) => {
                known.count += 1;
                false
            }
            None => {
                self.0.push(NoteCount { note, count: 1, first: line });
                true
            }
        }
    }

    /// Adds the notes of another reader.
    pub(in crate::record) fn merge(&mut self, other: RecordNotes) {
        for new in other.0 {
            match self.0.iter_mut().find(|known| known.note == new.note) {
                Some(known) => known.count += new.count,
                None => self.0.push(new),
            }
        }
    }

    /// What is unusual, the number of records, and the number of the first of them.
    pub fn iter(&self) -> impl Iterator<Item = (RecordNote, u64, u64)> {
        self.0.iter().map(|noted| (noted.note, noted.count, noted.first))
    }
}
