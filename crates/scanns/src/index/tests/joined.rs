//! Several indexes opened as one answer as a single index with the same documents.

use std::fmt::Write;
use std::time::Duration;

use super::*;
use crate::index::shards::{
    Shard, ShardAnswer, ShardHit, ShardOrder, ShardQuery, ShardSearch, ShardSet, ShardShow, ShardShown,
    ShardSnippets,
};
use crate::index::snapshot::batch::{BatchField, BatchOptions, BatchVisit};
use crate::query::ValueRange;
use crate::schema::{Document, FieldEntry, FieldKind, Schema, Value};
use crate::search::aggregate::{
    Aggregation, CalendarUnit, Facet, FacetRange, FacetTerms, GroupBy, TermsOrder,
};
use crate::search::tests::{MODELS, random_query};
use crate::search::{
    Budget, Hit, KeyOrder, KeyPage, Missing, MoreLikeThis, Rm3, SnippetOptions, SortBy, SortKey, SortedHit,
};
use crate::store::RamDirectory;

mod answers;
mod views;

/// Two searched texts, which random queries are about, and columns of all kinds.
fn schema() -> Schema {
    let mut schema = Schema::new();
    let words =
        FieldKind::Text { analyzer: Analyzer::parse("whitespace").unwrap(), postings: Postings::Positions };
    schema.add(FieldEntry::new("text", words.clone()).stored()).unwrap();
    schema.add(FieldEntry::new("title", words).stored()).unwrap();
    for (name, kind) in [
        ("size", FieldKind::Unsigned),
        ("price", FieldKind::Float),
        ("when", FieldKind::Date),
        ("owner", FieldKind::Keyword),
        ("path", FieldKind::Path),
    ] {
        schema.add(FieldEntry::new(name, kind).column()).unwrap();
    }
    schema
}

fn words(random: &mut Rng, most: usize) -> String {
    let word = |random: &mut Rng| match random.u32(..12) {
        0 => format!("t{}x", random.u32(..9)),
        1 => format!("u{}", random.u32(..200)),
        _ => format!("t{}", random.u32(..9) * random.u32(..3) / 2),
    };
    (0..random.usize(..=most)).map(|_| word(random)).collect::<Vec<_>>().join(" ")
}

fn document(schema: &Schema, random: &mut Rng, number: usize) -> Document {
    let field = |name: &str| schema.field(name).unwrap();
    let mut document = Document::new(format!("d{number:04}"));
    document = document.text(field("text"), words(random, 12)).text(field("title"), words(random, 4));
    for _ in 0..random.u32(..3) {
        document = document.with(field("size"), Value::Unsigned(random.u64(..40) * 10));
    }
    if random.u32(..4) > 0 {
        document = document.with(field("price"), Value::Float(random.f64() * 10.0 - 3.0));
    }
    if random.u32(..4) > 0 {
        document = document.with(field("when"), Value::Date(random.i64(-9..9) * 86_400_000_000_000 * 20));
    }
    for _ in 0..random.u32(..3) {
        document = document.text(field("owner"), format!("o{}", random.u32(..30)));
    }
    document.text(field("path"), format!("/{}/{}/f{number}", random.u32(..3), random.u32(..4)))
}

/// Where the segments of `count` documents end.
fn segments(count: usize, random: &mut Rng) -> Vec<usize> {
    let mut ends = Vec::new();
    while ends.last() != Some(&count) && count > 0 {
        let start = ends.last().copied().unwrap_or(0);
        ends.push(start + random.usize(1..=count - start));
    }
    ends
}

/// An index of these documents, in segments with these ends, without those that are deleted later.
fn indexed(schema: &Schema, documents: &[Document], ends: &[usize], deleted: &[usize]) -> Snapshot {
    let directory = Arc::new(RamDirectory::new());
    let options = WriterOptions { lanes: 1, merge: None, ..WriterOptions::default() };
    let writer = IndexWriter::open_in(directory.clone(), Some(schema), options).unwrap();
    let starts = std::iter::once(0).chain(ends.iter().copied());
    for (start, &end) in starts.zip(ends) {
        for document in &documents[start..end] {
            writer.add(document).unwrap();
        }
        writer.commit().unwrap();
    }
    for &number in deleted {
        writer.delete(format!("d{number:04}").as_bytes()).unwrap();
    }
    writer.commit().unwrap();
    Snapshot::open_in(&*directory).unwrap().unwrap()
}

/// The same documents in one index and in several.
struct Split {
    whole: Snapshot,
    parts: Vec<Snapshot>,
}

fn split(random: &mut Rng) -> Split {
    let schema = schema();
    let count = [0, 1, 5, 60, 300][random.usize(..5)];
    let documents: Vec<Document> = (0..count).map(|number| document(&schema, random, number)).collect();
    let mut cuts: Vec<usize> = (1..random.usize(1..=20)).map(|_| random.usize(..=count)).collect();
    cuts.extend([0, count]);
    cuts.sort_unstable();
    let ends = segments(count, random);
    let of_parts: Vec<Vec<usize>> = cuts.windows(2).map(|pair| segments(pair[1] - pair[0], random)).collect();
    // Deleted documents count as long as their segment is there, so no segment loses all of its documents.
    let of_part = |(pair, ends): (&[usize], &Vec<usize>)| {
        let start = pair[0];
        ends.iter().map(move |end| start + end - 1).collect::<Vec<_>>()
    };
    let kept = cuts.windows(2).zip(&of_parts).flat_map(of_part).chain(ends.iter().map(|end| end - 1));
    let kept: Vec<usize> = kept.collect();
    let deleted: Vec<usize> =
        (0..count).filter(|number| random.u32(..8) == 0 && !kept.contains(number)).collect();
    let whole = indexed(&schema, &documents, &ends, &deleted);
    let part = |(pair, ends): (&[usize], &Vec<usize>)| {
        let range = pair[0]..pair[1];
        let deleted: Vec<usize> = deleted.iter().copied().filter(|number| range.contains(number)).collect();
        indexed(&schema, &documents[range], ends, &deleted)
    };
    let parts = cuts.windows(2).zip(&of_parts).map(part).collect();
    Split { whole, parts }
}

#[test]
fn several_indexes_answer_as_one() {
    let seed = fastrand::u64(..);
    let mut random = Rng::with_seed(seed);
    let rounds = if std::env::var_os("SCANNS_LONG").is_some() { 400 } else { 25 };
    for round in 0..rounds {
        let Split { whole, parts } = split(&mut random);
        let count = parts.len();
        let joined = Snapshot::join(parts).unwrap();
        assert_eq!(joined.indexes(), count);
        assert_eq!(answers::columns(&joined), answers::columns(&whole), "seed {seed} round {round}");
        for _ in 0..40 {
            let question = random.u64(..);
            let asked = |snapshot: &Snapshot| answers::all(snapshot, &mut Rng::with_seed(question));
            let (expected, found) = (asked(&whole), asked(&joined));
            for (expected, found) in expected.iter().zip(&found) {
                assert_eq!(found, expected, "seed {seed} round {round} {count} parts, question {question}");
            }
            assert_eq!(found.len(), expected.len());
        }
    }
}

#[test]
fn indexes_with_other_fields_are_joined_by_the_names_of_fields() {
    let make = |names: &[&str], documents: &[(&str, &[(&str, &str)])]| {
        let mut schema = Schema::new();
        for name in names {
            let entry = match *name {
                "owner" => FieldEntry::new(name, FieldKind::Keyword).column(),
                _ => FieldEntry::text(name).stored(),
            };
            schema.add(entry).unwrap();
        }
        let documents: Vec<Document> = documents
            .iter()
            .map(|(key, values)| {
                values.iter().fold(Document::new(*key), |document, (name, value)| {
                    document.text(schema.field(name).unwrap(), *value)
                })
            })
            .collect();
        indexed(&schema, &documents, &[documents.len()], &[])
    };
    let files = make(&["text", "owner"], &[("a", &[("text", "red apple"), ("owner", "ann")])]);
    let mail = make(
        &["owner", "body", "subject"],
        &[
            ("b", &[("body", "red cherry"), ("subject", "fruit"), ("owner", "bob")]),
            ("c", &[("body", "lime")]),
        ],
    );
    let joined = Snapshot::join(vec![files, mail]).unwrap();
    let found = |query: &str| {
        let query = joined.parse(query, Operator::Or).unwrap();
        let hits = joined.searcher().top_k(&query, Model::Classic, 10).unwrap();
        let mut keys: Vec<String> =
            hits.iter().map(|hit| String::from_utf8(joined.key(hit).unwrap()).unwrap()).collect();
        keys.sort();
        keys.join(" ")
    };
    assert_eq!(found("red"), "a b", "words search the texts of both");
    assert_eq!(
        (found("body:red"), found("text:red"), found("subject:*")),
        ("b".into(), "a".into(), "b".into())
    );
    assert_eq!(
        (found("owner:ann"), found("lime"), found("red owner:bob")),
        ("a".into(), "c".into(), "b".into())
    );
    let fields: Vec<Field> =
        ["text", "body", "owner"].map(|name| joined.schema().field(name).unwrap()).to_vec();
    let hit = joined.hit("b").unwrap().unwrap();
    let values = joined.field_values(&hit, &fields).unwrap();
    assert_eq!(values, [vec![], vec!["red cherry".into()], vec!["bob".into()]]);
    let query = joined.parse("red", Operator::Or).unwrap();
    let mut highlighter = joined.highlighter(fields[0], &query, SnippetOptions::default()).unwrap();
    let snippets = joined.snippets(&hit, fields[0], &mut highlighter).unwrap().unwrap();
    assert_eq!(snippets[0].marked(b"[", b"]"), b"[red] cherry", "the default field of its own index");
}

#[test]
fn an_index_is_opened_once_and_what_cannot_be_joined_is_said() {
    let place = tempfile::tempdir().unwrap();
    let paths = ["a.scanns", "b.scanns"].map(|name| place.path().join(name));
    for (path, stored) in paths.iter().zip([false, true]) {
        let mut schema = Schema::new();
        let text = FieldEntry::text("text");
        schema.add(if stored { text.stored() } else { text }).unwrap();
        Index::create(path, &schema).unwrap();
    }
    let message = |paths: &[&Path]| Snapshot::open_all(paths).unwrap_err().to_string();
    let (a, b) = (paths[0].as_path(), paths[1].as_path());
    let again = place.path().join("./a.scanns");
    assert!(message(&[a, &again]).contains("is the same index"), "{}", message(&[a, &again]));
    let said = message(&[a, b]);
    assert!(said.contains("a.scanns") && said.contains("b.scanns") && said.contains("stored"), "{said}");
    assert!(message(&[]).contains("at least one"), "{}", message(&[]));
    assert!(message(&[a, place.path()]).contains("not a scanns index"));
}

/// Sends every message of a search to all shards.
fn run(mut search: ShardSearch, shards: &[Shard]) -> crate::error::Result<Vec<ShardAnswer>> {
    while let Some(message) = search.next()? {
        let answer = |(number, shard): (usize, &Shard)| {
            shard.answer(number, &message, None, None).map_err(|error| error.to_string())
        };
        search.take(shards.iter().enumerate().map(answer).collect())?;
    }
    search.finish()
}

#[test]
fn several_shards_answer_messages_as_one_index() {
    let seed = fastrand::u64(..);
    let mut random = Rng::with_seed(seed);
    let rounds = if std::env::var_os("SCANNS_LONG").is_some() { 400 } else { 25 };
    let mut compared = 0;
    for round in 0..rounds {
        let Split { whole, parts } = split(&mut random);
        let shards: Vec<Shard> = parts.into_iter().map(Shard::new).collect();
        let described: Vec<Vec<u8>> = shards.iter().map(|shard| shard.describe().unwrap()).collect();
        let set = ShardSet::new(&described).unwrap();
        assert_eq!((set.documents(), set.schema()), (whole.info().documents, whole.schema()));
        for _ in 0..10 {
            let questions: Vec<ShardQuery> =
                (0..random.usize(1..6)).filter_map(|_| answers::question(&whole, &mut random)).collect();
            let found = run(set.search(questions.clone()).unwrap(), &shards).unwrap();
            assert_eq!(found.len(), questions.len());
            for (question, found) in questions.iter().zip(found) {
                let expected = answers::expected(&whole, question);
                let what = format!("seed {seed} round {round} {} shards {question:?}", shards.len());
                assert_eq!(answers::shown(&found), expected, "{what}");
                compared += 1;
            }
        }
    }
    println!("{compared} searches are equal");
}

#[test]
fn a_shard_that_is_missing_or_has_changed_is_said() {
    let mut random = Rng::with_seed(11);
    let schema = schema();
    let documents: Vec<Document> = (0..40).map(|number| document(&schema, &mut random, number)).collect();
    let shard = |range: std::ops::Range<usize>| {
        let count = range.len();
        Shard::new(indexed(&schema, &documents[range], &[count / 2, count], &[]))
    };
    let mut shards: Vec<Shard> = vec![shard(0..15), shard(15..40)];
    let described: Vec<Vec<u8>> = shards.iter().map(|shard| shard.describe().unwrap()).collect();
    let set = ShardSet::new(&described).unwrap();
    let search = || set.search(vec![ShardQuery { count: true, ..ShardQuery::new(Query::All, 50) }]).unwrap();
    let with_one = |mut search: ShardSearch, lost_in: usize| {
        let mut round = 0;
        while let Some(message) = search.next()? {
            let first = shards[0].answer(0, &message, None, None).map_err(|error| error.to_string());
            let second = match round >= lost_in {
                true => Err("the machine is off".to_owned()),
                false => shards[1].answer(1, &message, None, None).map_err(|error| error.to_string()),
            };
            search.take(vec![first, second])?;
            round += 1;
        }
        search.finish()
    };
    for lost_in in [0, 1] {
        let said = with_one(search(), lost_in).unwrap_err().to_string();
        assert!(said.contains("shard 1") && said.contains("the machine is off"), "{said}");
        let found = with_one(search().allow_missing(), lost_in).unwrap();
        assert_eq!((found[0].count, found[0].hits.len()), (Some(15), 15));
        assert_eq!(
            (found[0].missing[0].shard, found[0].missing[0].reason.as_str()),
            (1, "the machine is off")
        );
    }
    shards[1] = shard(15..39);
    let said = run(search(), &shards).unwrap_err().to_string();
    assert!(said.contains("shard 1") && said.contains("has changed"), "{said}");
}

#[test]
fn the_documents_of_all_shards_are_those_of_one_index() {
    let seed = fastrand::u64(..);
    let mut random = Rng::with_seed(seed);
    for round in 0..25 {
        let Split { whole, parts } = split(&mut random);
        let shards: Vec<Shard> = parts.into_iter().map(Shard::new).collect();
        let described: Vec<Vec<u8>> = shards.iter().map(|shard| shard.describe().unwrap()).collect();
        let set = ShardSet::new(&described).unwrap();
        for _ in 0..10 {
            let query = match random.u32(..3) {
                0 => whole.parse(["t1~2", "u1~1", "t3x~ -t2"][random.usize(..3)], Operator::Or).unwrap(),
                _ => answers::query(&whole, &mut random),
            };
            if whole.searcher().prepare(&query).is_err() {
                continue;
            }
            let options = BatchOptions { rows: random.usize(1..50), ..BatchOptions::default() };
            let expected = answers::rows(whole.schema(), |fields, visit| {
                whole.for_each_batch(&query, fields, &options, visit).unwrap();
            });
            let mut search = set.search(vec![ShardQuery::new(query.clone(), 0)]).unwrap();
            let first = search.next().unwrap().unwrap();
            let ask =
                |(number, shard): (usize, &Shard)| Ok(shard.answer(number, &first, None, None).unwrap());
            search.take(shards.iter().enumerate().map(ask).collect()).unwrap();
            let message = search.next().unwrap().unwrap();
            let mut found = Vec::new();
            for (number, shard) in shards.iter().enumerate() {
                found.extend(answers::rows(set.schema(), |fields, visit| {
                    shard.for_each_batch(number, &message, fields, &options, visit).unwrap();
                    shard.for_each_batch(number, &first, fields, &options, visit).unwrap_err();
                }));
            }
            assert_eq!(found, expected, "seed {seed} round {round} {query:?}");
        }
    }
}

#[test]
fn a_shard_that_has_no_time_for_terms_is_missing() {
    let mut random = Rng::with_seed(12);
    let schema = schema();
    let documents: Vec<Document> = (0..200).map(|number| document(&schema, &mut random, number)).collect();
    let shard = |range: std::ops::Range<usize>| {
        let count = range.len();
        Shard::new(indexed(&schema, &documents[range], &[count / 2, count], &[]))
    };
    let shards = [shard(0..80), shard(80..200)];
    let described: Vec<Vec<u8>> = shards.iter().map(|shard| shard.describe().unwrap()).collect();
    let set = ShardSet::new(&described).unwrap();
    let query = set.parse(&[], "t1 u1~1", Operator::Or).unwrap();
    let by = GroupBy {
        field: set.schema().field("owner").unwrap(),
        keys: Vec::new(),
        groups: 3,
        hits: 1,
        missing: true,
    };
    let asked = ShardQuery {
        count: true,
        aggregations: vec![Aggregation::Stats {
            field: set.schema().field("size").unwrap(),
            percentiles: vec![50.0],
        }],
        groups: Some(by),
        ..ShardQuery::new(query, 50)
    };
    let late = |late: &[usize], allow: bool| {
        let mut search = set.search(vec![asked.clone()])?;
        if allow {
            search = search.allow_missing();
        }
        let mut round = 0;
        while let Some(message) = search.next()? {
            let answer = |(number, shard): (usize, &Shard)| {
                let none = Budget::of(Duration::ZERO);
                none.cancel();
                let budget = (round == 0 && late.contains(&number)).then_some(&none);
                shard.answer(number, &message, budget, None).map_err(|error| error.to_string())
            };
            search.take(shards.iter().enumerate().map(answer).collect())?;
            round += 1;
        }
        search.finish().map(|mut answers| answers.remove(0))
    };
    let said = late(&[1], false).unwrap_err().to_string();
    assert!(said.contains("shard 1") && said.contains("time was up"), "{said}");
    let found = late(&[1], true).unwrap();
    let alone = ShardSet::new(&described[..1]).unwrap().search(vec![asked.clone()]).unwrap();
    let alone = run(alone, &shards[..1]).unwrap().remove(0);
    assert!(found.is_cut && !alone.is_cut && !alone.hits.is_empty());
    assert_eq!((found.missing[0].shard, found.missing.len()), (1, 1));
    assert_eq!((found.hits, found.count, found.groups), (alone.hits, alone.count, alone.groups));
    let nothing = late(&[0, 1], true).unwrap();
    assert!(nothing.is_cut && nothing.hits.is_empty() && nothing.missing.len() == 2);
    assert_eq!((nothing.count, nothing.aggregated.len()), (Some(0), 1));
}

#[test]
fn shards_with_other_fields_get_the_schema_of_all() {
    let make = |names: &[&str], key: &str, text: &str| {
        let mut schema = Schema::new();
        for name in names {
            schema.add(FieldEntry::text(name)).unwrap();
        }
        let field = schema.field("text").unwrap();
        let documents = [Document::new(key).text(field, text)];
        Shard::new(indexed(&schema, &documents, &[1], &[]))
    };
    let shards = vec![make(&["text"], "a", "red apple"), make(&["title", "text"], "b", "red cherry")];
    let described: Vec<Vec<u8>> = shards.iter().map(|shard| shard.describe().unwrap()).collect();
    let set = ShardSet::new(&described).unwrap();
    let query = set.parse(&[], "red", Operator::Or).unwrap();
    let search = || set.search(vec![ShardQuery::new(query.clone(), 5)]).unwrap();
    let said = run(search(), &shards).unwrap_err().to_string();
    assert!(said.contains("schema of all shards first"), "{said}");
    let message = set.schema_message().unwrap();
    let shards: Vec<Shard> = shards.into_iter().map(|shard| shard.with_schema(&message).unwrap()).collect();
    let found = run(search(), &shards).unwrap();
    let keys: Vec<&[u8]> = found[0].hits.iter().map(|hit| hit.key.as_slice()).collect();
    assert_eq!(keys, [b"a", b"b"]);
}

#[test]
fn hostile_messages_are_refused_or_answered() {
    let seed = fastrand::u64(..);
    let mut random = Rng::with_seed(seed);
    let Split { whole, parts } = split(&mut random);
    let shards: Vec<Shard> = parts.into_iter().map(Shard::new).collect();
    let described: Vec<Vec<u8>> = shards.iter().map(|shard| shard.describe().unwrap()).collect();
    let set = ShardSet::new(&described).unwrap();
    let (mut tried, mut taken) = (0, 0);
    while tried < 4000 {
        let questions: Vec<ShardQuery> =
            (0..3).filter_map(|_| answers::question(&whole, &mut random)).collect();
        let mut search = set.search(questions).unwrap();
        while let Some(message) = search.next().unwrap() {
            for _ in 0..40 {
                let hostile = mutated(&message, &mut random);
                let answer = shards[0].answer(0, &hostile, None, None);
                taken += usize::from(answer.is_ok());
                tried += 1;
            }
            let answers: Vec<Vec<u8>> = shards
                .iter()
                .enumerate()
                .map(|(number, shard)| shard.answer(number, &message, None, None).unwrap())
                .collect();
            let hostile = answers.iter().map(|answer| Ok(mutated(answer, &mut random))).collect();
            let mut other = set.search(Vec::new()).unwrap();
            let _ = other.take(hostile);
            search.take(answers.into_iter().map(Ok).collect()).unwrap();
        }
        search.finish().unwrap();
    }
    assert!(taken > 50, "seed {seed}: {taken} of {tried} messages could be read");
}

/// A message with some bytes changed, and a checksum that fits.
fn mutated(message: &[u8], random: &mut Rng) -> Vec<u8> {
    let mut bytes = message.to_vec();
    for _ in 0..random.usize(1..4) {
        let at = random.usize(14..bytes.len());
        bytes[at] = if random.bool() { bytes[at] ^ (1 << random.u32(..8)) } else { random.u8(..) };
    }
    let sum = xxhash_rust::xxh3::xxh3_64(&bytes[14..]);
    bytes[6..14].copy_from_slice(&sum.to_le_bytes());
    bytes
}
