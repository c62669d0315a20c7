//! Names in records that the sample of an inferred schema did not have.

use super::records::{build_all, with};
use super::*;
use crate::record::Sources;
use crate::schema::{FieldEntry, FieldKind, Schema};
use crate::store::RamDirectory;

#[test]
fn names_that_a_sample_did_not_have_are_reported_as_lost() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    fs::write(path("a.jsonl"), "{\"id\": 1, \"text\": \"a b\", \"none\": null}\n".repeat(50)).unwrap();
    fs::write(path("b.jsonl"), "{\"id\": 2, \"none\": 3, \"remark\": \"precious\"}\n".repeat(50)).unwrap();
    let build = |directory: &RamDirectory, name: &str, schema: Option<&Schema>| {
        let mut options = with(&Schema::new(), &path(name), Records::Jsonl, 1);
        options.fields.schema = schema.map(|schema| (schema.clone(), Sources::of(schema)));
        build_all(directory, &options).records
    };
    let inferred = RamDirectory::new();
    let first = build(&inferred, "a.jsonl", None);
    assert!(first.unforeseen.is_empty() && !first.is_lossy(50), "{first:?}");
    let second = build(&inferred, "b.jsonl", None);
    assert_eq!(second.unforeseen, [("remark".into(), 50)], "the sample had a null of the other name");
    assert!(second.is_lossy(50) && second.is_lossy(4999) && !second.is_lossy(5000));
    let chosen = RamDirectory::new();
    let mut chosen_schema = Schema::new();
    chosen_schema.add(FieldEntry::new("id", FieldKind::Unsigned).column()).unwrap();
    chosen_schema.add(FieldEntry::new("text", FieldKind::Keyword)).unwrap();
    build(&chosen, "a.jsonl", Some(&chosen_schema));
    let second = build(&chosen, "b.jsonl", None);
    assert!(second.unknown.len() == 2 && second.unforeseen.is_empty() && !second.is_lossy(50));
}
