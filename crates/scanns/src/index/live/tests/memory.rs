//! The memory cap, with few and many fields.

use super::*;

/// The minimum memory with which a writer opens for this number of lanes.
fn least_memory(schema: &Schema, lanes: usize) -> u64 {
    let opens = |mib: &u64| {
        let options = WriterOptions { memory: mib << 20, lanes, merge: None, ..WriterOptions::default() };
        IndexWriter::open_in(Arc::new(RamDirectory::new()), Some(schema), options).is_ok()
    };
    (50..4000).find(opens).unwrap() << 20
}

#[test]
fn many_fields_in_little_memory_neither_break_the_cap_nor_make_a_segment_of_every_document() {
    let mut schema = Schema::new();
    let kind = FieldKind::Text { analyzer: Analyzer::Standard, postings: Postings::Positions };
    let fields: Vec<Field> = (0..20)
        .map(|field| schema.add(crate::schema::FieldEntry::new(&format!("f{field}"), kind.clone())).unwrap())
        .collect();
    let memory = least_memory(&schema, 3);
    let options = WriterOptions { memory, lanes: 3, merge: None, ..WriterOptions::default() };
    let directory = Arc::new(RamDirectory::new());
    let writer = IndexWriter::open_in(directory.clone(), Some(&schema), options).unwrap();
    let add = |thread: usize, count: usize| {
        for number in 0..count {
            let mut document = Document::new(format!("{thread}-{number}"));
            for &field in &fields {
                document = document.text(field, format!("all {thread} of{number} {}", number % 7));
            }
            writer.update(&document).unwrap();
            let parts = writer.core.lanes.iter().filter_map(|lane| lane.try_lock().ok());
            let taken: usize = parts.map(|buffer| buffer.resident()).sum();
            assert!((taken as u64) < memory / 2, "{taken} bytes in lanes of {memory}");
        }
    };
    for round in 0..2 {
        std::thread::scope(|scope| {
            (0..4).for_each(|thread| drop(scope.spawn(move || add(thread, 3000))));
        });
        writer.commit().unwrap();
        let snapshot = Snapshot::open_in(&*directory).unwrap().unwrap();
        assert_eq!(snapshot.info().documents, 12_000);
        let segments = snapshot.segments().len();
        assert!(segments < 300 * (round + 1), "{segments} segments");
        // One more document after a large commit adds one segment.
        (0..50).for_each(|number| add(9, number % 2 + 1));
        writer.delete(b"9-0").unwrap();
        writer.delete(b"9-1").unwrap();
        writer.commit().unwrap();
        let now = Snapshot::open_in(&*directory).unwrap().unwrap();
        assert_eq!(now.info().documents, 12_000);
        assert!(now.segments().len() <= segments + 3, "{} segments", now.segments().len());
    }
}

#[test]
fn an_empty_buffer_of_many_fields_takes_less_than_the_least_share() {
    for count in [1, 2, 8, 64] {
        let mut schema = Schema::new();
        for field in 0..count {
            let kind = FieldKind::Text { analyzer: Analyzer::Standard, postings: Postings::Positions };
            schema.add(crate::schema::FieldEntry::new(&format!("f{field}"), kind)).unwrap();
        }
        let mut buffer =
            lane_buffer::LaneBuffer::new(&schema, &crate::schema::Stored::default(), 1 << 30).unwrap();
        let mut document = Document::new("k");
        for (field, _) in schema.fields() {
            document = document.text(field, "one two three");
        }
        buffer.add(&document, 1).unwrap();
        let least = (8 << 20).max(count * (2 << 20));
        assert!(buffer.resident() < least, "{count} fields: {} of {least}", buffer.resident());
    }
}
