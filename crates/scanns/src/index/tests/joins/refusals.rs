//! Joins that cannot be answered, and limits.

use super::*;
use crate::search::Budget;
use std::time::Duration;

/// An index of an article with a comment.
fn small(fields: &JoinFields) -> IndexWriter {
    let directory = Arc::new(RamDirectory::new());
    let options = WriterOptions { lanes: 1, merge: None, ..WriterOptions::default() };
    let writer = IndexWriter::open_in(directory, Some(&fields.schema), options).unwrap();
    let article =
        Document::new("a").text(fields.text, "ripe apples").with(fields.sizes[0], Value::Unsigned(1));
    let comment = Document::new("c").text(fields.text, "green").text(fields.words[0], "a");
    writer.add_block(&[article, comment]).unwrap();
    writer
}

#[test]
fn fields_that_cannot_be_joined_are_refused_with_a_remedy() {
    let mut fields = join_fields();
    let plain = fields.schema.add(FieldEntry::new("plain", FieldKind::Keyword)).unwrap();
    let date = fields.schema.add(FieldEntry::new("date", FieldKind::Date).column()).unwrap();
    let snapshot = small(&fields).snapshot().unwrap();
    let [parent, size, signed] = [fields.words[0], fields.sizes[0], fields.signed].map(JoinOn::Column);
    for (from, to, expected) in [
        (JoinOn::Column(Field::new(60).unwrap()), JoinOn::Key, "'60' of a join is not in the index"),
        (JoinOn::Column(plain), JoinOn::Key, "'plain' of a join is not a column; build the index with"),
        (JoinOn::Key, JoinOn::Column(fields.text), "'text' of a join has neither keywords nor whole numbers"),
        (JoinOn::Column(date), JoinOn::Column(date), "'date' of a join has neither"),
        (parent, size, "a join from 'parent', keywords, conflicts with 'size', unsigned numbers"),
        (JoinOn::Key, signed, "a join from the key, keywords, conflicts with 'balance', signed numbers"),
        (size, signed, "'balance', signed numbers; compare values of the same kind"),
    ] {
        let query = join(from, to, Query::All, JoinScore::None);
        let error = snapshot.searcher().count(&query).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    // Without a schema, the columns tell.
    let searcher = Searcher::new(snapshot.leaves().iter().map(|leaf| leaf as &dyn Leaf).collect());
    let error = searcher.count(&join(parent, size, Query::All, JoinScore::None)).unwrap_err().to_string();
    assert!(error.contains("a join of values of different kinds"), "{error}");
    assert_eq!(searcher.count(&join(parent, JoinOn::Key, Query::All, JoinScore::Max)).unwrap(), 1);
}

#[test]
fn json_names_the_side_of_a_join_that_is_wrong() {
    let mut fields = join_fields();
    fields.schema.add(FieldEntry::new("key", FieldKind::Keyword).column()).unwrap();
    let snapshot = small(&fields).snapshot().unwrap();
    let parse = |join: &str| {
        let json = format!(r#"{{"join": {join}}}"#);
        snapshot.parse_json_in(&[fields.text.into()], &json, Operator::Or)
    };
    let inside = r#""query": {"term": "green", "field": "text"}"#;
    for (sides, expected) in [
        (r#""from": "parents", "to": "key""#, "join.from: there is no column 'parents'"),
        (r#""from": "parent""#, "join: to is missing"),
        (r#""from": "parent", "to": "text""#, "join.to: there is no column 'text'"),
        (r#""from": "parent", "to": "size""#, "values of size are whole numbers that are not negative"),
        (
            r#""from": "parent", "to": "key", "score": "most""#,
            "join.score: write none, max, sum, mean or min",
        ),
        (r#""from": "parent", "to": "key", "on": 1"#, "unknown key"),
    ] {
        let error = parse(&format!("{{{sides}, {inside}}}")).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let query = parse(&format!(r#"{{"from": "parent", "to": "key", {inside}, "score": "sum"}}"#)).unwrap();
    assert!(matches!(&query, Query::Join(join) if join.to == JoinOn::Key && join.score == JoinScore::Sum));
    assert_eq!(snapshot.searcher().count(&query).unwrap(), 1);
    let named = parse(&format!(r#"{{"from": "parent", "to": {{"column": "key"}}, {inside}}}"#)).unwrap();
    assert!(matches!(&named, Query::Join(join) if matches!(join.to, JoinOn::Column(_))));
    assert_eq!(snapshot.searcher().count(&named).unwrap(), 0);
}

#[test]
fn joins_have_limits_of_memory_depth_and_time() {
    let fields = join_fields();
    let writer = small(&fields);
    for number in 0..200 {
        let parent = format!("parent-{number}");
        writer.add(&Document::new(format!("d{number}")).text(fields.words[0], parent)).unwrap();
    }
    let snapshot = writer.snapshot().unwrap();
    let parent = JoinOn::Column(fields.words[0]);
    for score in [JoinScore::None, JoinScore::Max] {
        let query = join(parent, JoinOn::Key, Query::All, score);
        let searcher = snapshot.searcher().with_join_memory(1_000);
        let error = searcher.top_k(&query, Model::default(), 3).unwrap_err();
        assert!(matches!(error, Error::TooMany { limit: 1_000, .. }), "{error}");
        assert!(error.to_string().contains("narrow the query inside the join"), "{error}");
        assert_eq!(snapshot.searcher().count(&query).unwrap(), 1);
        let none = Budget::of(Duration::ZERO);
        assert_eq!(snapshot.searcher().within(&none).count(&query).unwrap(), 0);
        assert!(none.ran_out());
    }
    let nested = |levels: usize| {
        let inside = Query::term(fields.text, b"green");
        (0..levels).fold(inside, |query, _| join(parent, parent, query, JoinScore::Max))
    };
    assert_eq!(snapshot.searcher().top_k(&nested(60), Model::default(), 3).unwrap().len(), 1);
    assert_eq!(snapshot.searcher().count(&nested(60)).unwrap(), 1);
    let error = snapshot.searcher().count(&nested(70)).unwrap_err().to_string();
    assert!(error.contains("levels of nested clauses"), "{error}");
}

#[test]
fn changes_by_a_join_and_models_that_know_none_are_refused() {
    let fields = join_fields();
    let writer = small(&fields);
    let query = join(JoinOn::Column(fields.words[0]), JoinOn::Key, Query::All, JoinScore::Sum);
    let nested = Query::all_of(vec![Query::All, query.clone()]);
    for query in [&query, &nested] {
        let error = writer.delete_matching(query).unwrap_err().to_string();
        assert!(error.contains("change them by key"), "{error}");
        let error = writer.set_matching(query, fields.sizes[0], &[]).unwrap_err().to_string();
        assert!(error.contains("change them by key"), "{error}");
    }
    let snapshot = writer.snapshot().unwrap();
    let error = snapshot.searcher().top_k(&query, Model::PNorm { p: 2.0 }, 1).unwrap_err().to_string();
    assert!(error.contains("p-norm for phrases, patterns, filters, joins"), "{error}");
    let hit = snapshot.searcher().top_k(&query, Model::default(), 1).unwrap()[0];
    let explained = snapshot.searcher().explain(&query, Model::default(), &hit).unwrap().unwrap();
    assert!(explained.to_string().contains("join from parent to key: sum"), "{explained}");
}
