//! Rows are the values of the hits, from columns or from what is stored.

use super::*;
use crate::schema::FieldEntry;

#[test]
fn rows_have_the_values_of_columns_and_of_stored_fields_and_nothing_else() {
    let seed = 0x5eed_0640;
    let mut random = Rng::with_seed(seed);
    let mut schema = Schema::new();
    let kind = || FieldKind::Text {
        analyzer: Analyzer::parse("whitespace").unwrap(),
        postings: Postings::Frequencies,
    };
    let text = schema.add("text", kind(), false).unwrap();
    let size = schema.add_entry(FieldEntry::new("size", FieldKind::Unsigned).in_column()).unwrap();
    let note = schema.add("note", FieldKind::Keyword, true).unwrap();
    let body = schema.add_entry(FieldEntry::new("body", kind()).in_column()).unwrap();
    let directory = Arc::new(RamDirectory::new());
    let writer = IndexWriter::open_in(directory.clone(), Some(&schema), WriterOptions::default()).unwrap();
    let mut held = BTreeMap::new();
    for number in 0..2_000u64 {
        let key = format!("k{number:04}");
        let mut document = Document::new(key.as_str()).text(text, if number % 3 == 0 { "a b" } else { "b" });
        let mut row = vec![vec![], vec![], vec![]];
        for _ in 0..random.usize(..3) {
            let (number, word) = (random.u64(..100), format!("n{}", random.u32(..9)));
            document = document
                .with(size, Value::Unsigned(number))
                .text(note, word.as_str())
                .text(body, word.as_str());
            row[0].push(Value::Unsigned(number));
            row[1].push(Value::Text(word.clone().into()));
            row[2].push(Value::Text(word.into()));
        }
        row[0].sort_by_key(|value| if let Value::Unsigned(number) = value { *number } else { 0 });
        writer.add(&document).unwrap();
        held.insert(key, (number % 3 == 0, row));
        if number % 700 == 0 {
            writer.commit().unwrap();
        }
    }
    writer.delete(b"k0003").unwrap();
    held.remove("k0003");
    writer.commit().unwrap();
    let snapshot = Snapshot::open_in(&*directory).unwrap().unwrap();
    for (query, only) in [("a", true), ("*", false)] {
        let query = snapshot.parse(query, Operator::Or).unwrap();
        let mut found = BTreeMap::new();
        snapshot
            .for_each_row(&query, &[size, note, body], &mut |hit, row| {
                let key = String::from_utf8(snapshot.key(hit).unwrap()).unwrap();
                assert!(found.insert(key, row.to_vec()).is_none());
                Ok(ControlFlow::Continue(()))
            })
            .unwrap();
        let expected: BTreeMap<String, Vec<Vec<Value>>> = held
            .iter()
            .filter(|(_, (has, _))| *has || !only)
            .map(|(key, (_, row))| (key.clone(), row.clone()))
            .collect();
        assert_eq!(found, expected, "seed {seed:x}");
    }
    let mut seen = 0;
    snapshot
        .for_each_row(&Query::All, &[], &mut |_, _| {
            seen += 1;
            Ok(if seen == 300 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })
        .unwrap();
    assert_eq!(seen, 300);
    let refused = snapshot.for_each_row(&Query::All, &[text], &mut |_, _| Ok(ControlFlow::Continue(())));
    assert!(refused.unwrap_err().to_string().contains("'text' are not kept"));
}
