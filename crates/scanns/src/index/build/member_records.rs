//! Records of collections that are files among others, and messages: their text and values, and what is
//! unusual or malformed about them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::lane_report::LaneReport;
use super::report::{MalformedRecord, NotedRecords};
use crate::content::CollectionKind;
use crate::record::{MemberRecordReader, MemberValues, RecordCounts, RecordError};

/// Reads records, and counts the unusual ones.
#[derive(Default)]
pub(super) struct MemberRecords {
    reader: Option<MemberRecordReader>,
    notes: Vec<NotedRecords>,
    counts: RecordCounts,
    /// The paths of the examples in `counts`.
    places: Vec<PathBuf>,
    /// The bytes of all records.
    bytes: u64,
}

impl MemberRecords {
    /// Appends the text of a record, whose path ends with its number; returns false if it is not a document.
    ///
    /// # Errors
    /// The record cannot be read.
    pub(super) fn read(
        &mut self,
        kind: CollectionKind,
        record: &[u8],
        path: &Path,
        text: &mut Vec<u8>,
        values: &mut MemberValues,
    ) -> Result<bool, RecordError> {
        let known = self.reader.take().filter(|reader| reader.kind() == kind);
        let reader = self.reader.insert(known.unwrap_or_else(|| MemberRecordReader::new(kind)));
        self.bytes += record.len() as u64;
        let is_document = match reader.read(record, text, values) {
            Ok(is_document) => is_document,
            Err(error) => {
                if self.counts.add_malformed(self.places.len() as u64, error, record, record.len()) {
                    self.places.push(path.into());
                }
                return Err(error);
            }
        };
        for &note in reader.notes() {
            let (path, record) = place_of(path);
            match self.notes.iter_mut().find(|known| known.note == note) {
                Some(known) => {
                    known.count += 1;
                    // The parts of a collection come to the index threads in any order.
                    if (path, record) < (known.path.as_path(), known.record) {
                        (known.path, known.record) = (path.into(), record);
                    }
                }
                None => self.notes.push(NotedRecords { note, count: 1, path: path.into(), record }),
            }
        }
        Ok(is_document)
    }

    /// Adds what was unusual or malformed to the report of an index thread.
    pub(super) fn report(self, report: &mut LaneReport) {
        report.notes = self.notes;
        report.record_bytes = self.bytes;
        let place = |line: u64| usize::try_from(line).ok().and_then(|at| self.places.get(at));
        for example in self.counts.malformed_examples() {
            let Some((path, record)) = place(example.line).map(|path| place_of(path)) else { continue };
            let path = path.into();
            let (reason, text) = (example.error.to_string(), example.text.clone());
            report.malformed.push(MalformedRecord { path, line: record, record, reason, text });
        }
        report.counts = self.counts;
    }
}

/// The collection in which a record is, and the number of the record; of a message, the file and 1.
fn place_of(path: &Path) -> (&Path, u64) {
    let bytes = path.as_os_str().as_bytes();
    let at = memchr::memmem::rfind(bytes, b"!/").unwrap_or(bytes.len());
    let (file, number) = (bytes.get(..at).unwrap_or(bytes), bytes.get(at + 2..).unwrap_or_default());
    match std::str::from_utf8(number).ok().and_then(|number| number.parse().ok()) {
        Some(number) => (Path::new(OsStr::from_bytes(file)), number),
        None => (path, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::RecordNote;

    #[test]
    fn unusual_records_are_counted_with_the_place_of_the_first() {
        let mut records = MemberRecords::default();
        let mut read = |path: &str, record: &[u8]| {
            let (mut text, mut values) = (Vec::new(), MemberValues::default());
            records.read(CollectionKind::Warc, record, Path::new(path), &mut text, &mut values)
        };
        let info = b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n";
        assert_eq!(read("a.tar!/b.warc!/4", info), Ok(false));
        assert_eq!(read("a.tar!/b.warc!/1", info), Ok(false));
        let damaged = b"WARC/1.0\r\nWARC-Type: response\r\nno head";
        assert!(read("b.warc!/7", damaged).is_err());
        let mut report = LaneReport::default();
        records.report(&mut report);
        let notes = report.notes;
        assert_eq!((notes.len(), notes[0].count, notes[0].record), (1, 2, 1));
        let malformed = &report.malformed[0];
        assert_eq!((malformed.path.as_path(), malformed.line), (Path::new("b.warc"), 7));
        assert_eq!(report.counts.lost().count, 1);
        assert_eq!(report.record_bytes, (2 * info.len() + damaged.len()) as u64);
        assert_eq!(notes[0].path, Path::new("a.tar!/b.warc"));
        assert_eq!(notes[0].note, RecordNote::LeftOut("warcinfo"));
        let mail = Path::new("a.tar!/mail.eml");
        assert_eq!(place_of(mail), (mail, 1));
    }
}
