//! Random joins in random indexes.

use super::*;
use crate::index::snapshot::batch::{Batch, BatchField, BatchOptions};
use crate::search::aggregate::{Aggregated, Aggregation, Bucket, BucketKey, Facet, FacetTerms};
use crate::search::{KeyOrder, KeyPage};

/// The score of each document that matches, by its number.
type Answers = BTreeMap<u64, f32>;

/// A snapshot, and what a slow evaluation knows of its documents.
struct World<'w> {
    fields: &'w JoinFields,
    snapshot: Snapshot,
    /// By number.
    rows: BTreeMap<u64, Row>,
}

fn random_row(random: &mut Rng) -> Row {
    let mut words = || (0..random.usize(..3)).map(|_| format!("k{}", random.usize(..12))).collect();
    let words = [words(), words()];
    let mut sizes = || (0..random.usize(..3)).map(|_| random.u64(..9) << random.u32(..2).pow(5)).collect();
    let sizes = [sizes(), sizes()];
    let signed = (0..random.usize(..3)).map(|_| random.i64(-3..3)).collect();
    Row { key: format!("k{}", random.usize(..25)), words, sizes, signed }
}

fn document(fields: &JoinFields, number: u64, row: &Row, random: &mut Rng) -> Document {
    let text: Vec<String> = (0..random.usize(..12)).map(|_| format!("w{}", random.usize(..6))).collect();
    let mut document = Document::new(row.key.as_str())
        .text(fields.text, text.join(" "))
        .with(fields.number, Value::Unsigned(number));
    for (field, words) in fields.words.iter().zip(&row.words) {
        for word in words {
            document = document.text(*field, word.as_str());
        }
    }
    for (field, sizes) in fields.sizes.iter().zip(&row.sizes) {
        for &size in sizes {
            document = document.with(*field, Value::Unsigned(size));
        }
    }
    row.signed.iter().fold(document, |document, &value| document.with(fields.signed, Value::Signed(value)))
}

/// An index of several segments, with deleted documents.
fn random_world<'w>(fields: &'w JoinFields, random: &mut Rng) -> World<'w> {
    let directory = Arc::new(RamDirectory::new());
    let options = WriterOptions { lanes: 1, merge: None, memory: 512 << 20, ..WriterOptions::default() };
    let writer = IndexWriter::open_in(directory, Some(&fields.schema), options).unwrap();
    let mut rows = BTreeMap::new();
    for number in 0..random.u64(1..90) {
        let row = random_row(random);
        writer.add(&document(fields, number, &row, random)).unwrap();
        rows.insert(number, row);
        if random.usize(..20) == 0 {
            writer.commit().unwrap();
        }
        if random.usize(..15) == 0 {
            let key = format!("k{}", random.usize(..25));
            writer.delete(&key).unwrap();
            rows.retain(|_, row: &mut Row| row.key != key);
        }
    }
    writer.commit().unwrap();
    World { fields, snapshot: writer.snapshot().unwrap(), rows }
}

impl World<'_> {
    /// The same as a view that shows some documents, and the content of some of these.
    fn seen(&self, random: &mut Rng) -> Self {
        let (mut visible, mut rows) = (Vec::new(), BTreeMap::new());
        let searcher = self.snapshot.searcher();
        for (leaf, &documents) in self.snapshot.document_numbers().iter().enumerate() {
            let [mut entries, mut contents] = [(); 2].map(|()| DocBits::none(documents));
            for doc in 0..documents {
                if random.usize(..4) == 0 {
                    continue;
                }
                entries.insert(doc);
                let readable = random.usize(..4) > 0;
                if readable {
                    contents.insert(doc);
                }
                let number = searcher.column_in(leaf, self.fields.number).unwrap().first(doc).unwrap();
                let Some((number, row)) = number.and_then(|number| Some((number, self.rows.get(&number)?)))
                else {
                    continue;
                };
                let Row { key, words: [parent, _], .. } = row.clone();
                let metadata = Row { key, words: [parent, Vec::new()], ..Row::default() };
                rows.insert(number, if readable { row.clone() } else { metadata });
            }
            visible.push(VisibleDocs { entries, contents });
        }
        let is_metadata = |name: &str| ["number", "parent"].contains(&name);
        let snapshot = self.snapshot.seen_with(&visible, &is_metadata).unwrap();
        World { fields: self.fields, snapshot, rows }
    }

    /// The values of a document that a join compares.
    fn values(&self, number: u64, on: JoinOn) -> BTreeSet<String> {
        let row = &self.rows[&number];
        let fields = self.fields;
        match on {
            JoinOn::Key => BTreeSet::from([row.key.clone()]),
            JoinOn::Column(field) if field == fields.words[0] => row.words[0].iter().cloned().collect(),
            JoinOn::Column(field) if field == fields.words[1] => row.words[1].iter().cloned().collect(),
            JoinOn::Column(field) if field == fields.sizes[0] => {
                row.sizes[0].iter().map(u64::to_string).collect()
            }
            JoinOn::Column(field) if field == fields.sizes[1] => {
                row.sizes[1].iter().map(u64::to_string).collect()
            }
            JoinOn::Column(_) => row.signed.iter().map(i64::to_string).collect(),
        }
    }

    fn number_of(&self, searcher: &Searcher, leaf: usize, doc: u32) -> u64 {
        searcher.column_in(leaf, self.fields.number).unwrap().first(doc).unwrap().unwrap()
    }

    /// The hits of the engine.
    fn found(&self, searcher: &Searcher, query: &Query, model: Model) -> Answers {
        let mut answers = Answers::new();
        let each = |hit: Hit| {
            let before = answers.insert(self.number_of(searcher, hit.leaf, hit.doc), hit.score);
            assert_eq!(before, None);
            ControlFlow::Continue(())
        };
        searcher.for_each(query, model, each).unwrap();
        answers
    }

    /// The hits of a slow evaluation. Only queries without lists, joins and boosts are left to the engine.
    fn expected(&self, query: &Query, model: Model) -> Answers {
        let all = |queries: &[Query]| -> Vec<Answers> {
            queries.iter().map(|query| self.expected(query, model)).collect()
        };
        match query {
            Query::Boost(inner, factor) => {
                self.expected(inner, model).into_iter().map(|(doc, score)| (doc, score * factor)).collect()
            }
            Query::Join(join) => self.expected_join(join, model),
            Query::Bool(list) => {
                let [must, filter, should, must_not] =
                    [&list.must, &list.filter, &list.should, &list.must_not].map(|list| all(list));
                let mut found = Answers::new();
                for &doc in self.rows.keys() {
                    let has = |answers: &Answers| answers.contains_key(&doc);
                    let needs_some = must.is_empty() && filter.is_empty() && !should.is_empty();
                    let is_match = must.iter().chain(&filter).all(has)
                        && !must_not.iter().any(has)
                        && (!needs_some || should.iter().any(has));
                    if is_match {
                        let scores = must.iter().chain(&should).filter_map(|answers| answers.get(&doc));
                        found.insert(doc, scores.sum());
                    }
                }
                found
            }
            plain => self.found(&self.snapshot.searcher(), plain, model),
        }
    }

    fn expected_join(&self, join: &JoinQuery, model: Model) -> Answers {
        let inside = self.expected(&join.query, model);
        let mut found = Answers::new();
        for &doc in self.rows.keys() {
            let wanted = self.values(doc, join.to);
            let mut scores: Vec<f64> = Vec::new();
            for (&other, &score) in &inside {
                let common = self.values(other, join.from).intersection(&wanted).count();
                scores.extend(std::iter::repeat_n(f64::from(score), common));
            }
            if scores.is_empty() {
                continue;
            }
            let sum: f64 = scores.iter().sum();
            let score = match join.score {
                JoinScore::None => 1.0,
                JoinScore::Max => scores.iter().copied().fold(f64::MIN, f64::max),
                JoinScore::Min => scores.iter().copied().fold(f64::MAX, f64::min),
                JoinScore::Sum => sum,
                JoinScore::Mean => sum / scores.len() as f64,
            };
            #[expect(clippy::cast_possible_truncation, reason = "scores are small")]
            found.insert(doc, score as f32);
        }
        found
    }

    fn random_join(&self, random: &mut Rng, depth: usize) -> Query {
        let fields = self.fields;
        let texts = [JoinOn::Key, JoinOn::Column(fields.words[0]), JoinOn::Column(fields.words[1])];
        let sizes = fields.sizes.map(JoinOn::Column);
        let mut pair = |of: &[JoinOn]| (of[random.usize(..of.len())], of[random.usize(..of.len())]);
        let (words, numbers) = (pair(&texts), pair(&sizes));
        let (from, to) = match random.usize(..6) {
            0..4 => words,
            4 => numbers,
            _ => (JoinOn::Column(fields.signed), JoinOn::Column(fields.signed)),
        };
        let score = SCORES[random.usize(..5)];
        join(from, to, self.random_query(random, depth + 1), score)
    }

    fn random_query(&self, random: &mut Rng, depth: usize) -> Query {
        let term = |random: &mut Rng| Query::term(self.fields.text, format!("w{}", random.usize(..6)));
        match random.usize(..12) {
            0..4 if depth < 4 => self.random_join(random, depth),
            4..6 if depth < 3 => {
                let mut list = |most: usize| -> Vec<Query> {
                    (0..random.usize(..most)).map(|_| self.random_query(random, depth + 1)).collect()
                };
                let (must, filter, should, must_not) = (list(3), list(2), list(3), list(2));
                if must.len() + filter.len() + should.len() == 0 {
                    return Query::All;
                }
                Query::Bool(BoolQuery { must, filter, should, must_not, at_least: 0 })
            }
            6 if depth < 4 => self.random_query(random, depth + 1).boosted(2.5),
            7 => Query::All,
            8 => Query::Values(ValueRange::one(self.fields.sizes[0], Value::Unsigned(random.u64(..4)))),
            9 => Query::any_of(vec![term(random), term(random)]),
            _ => term(random),
        }
    }

    fn check(&self, query: &Query, model: Model, what: &str) {
        let searcher = self.snapshot.searcher();
        let (found, expected) = (self.found(&searcher, query, model), self.expected(query, model));
        let numbers = |answers: &Answers| answers.keys().copied().collect::<Vec<_>>();
        assert_eq!(numbers(&found), numbers(&expected), "{what}");
        for (number, score) in &expected {
            let (own, most) = (found[number], score.abs().max(1e-3) * 1e-4);
            assert!((own - score).abs() <= most, "{what}: document {number} has {own}, not {score}");
        }
        assert_eq!(searcher.count(query).unwrap(), found.len() as u64, "{what}");
        let best = searcher.top_k(query, model, found.len() + 1).unwrap();
        let of_best = best.iter().map(|hit| (self.number_of(&searcher, hit.leaf, hit.doc), hit.score));
        assert_eq!(of_best.collect::<Answers>(), found, "{what}");
        assert!(best.is_sorted_by(|a, b| a.score >= b.score), "{what}");
        let few = searcher.top_k(query, model, 3).unwrap();
        assert_eq!(few, best[..3.min(best.len())], "{what}");
        let mut in_windows = Vec::new();
        let each = |leaf, start: u32, bits: &MatchBits| {
            assert_eq!(start % MATCH_WINDOW, 0);
            in_windows.extend(docs_of(start, bits).map(|doc| self.number_of(&searcher, leaf, doc)));
            ControlFlow::Continue(())
        };
        searcher.for_each_window(query, each).unwrap();
        in_windows.sort_unstable();
        assert_eq!(in_windows, numbers(&found), "{what}");
        let threads = SearchThreads::always(3, 1);
        let shared = self.snapshot.searcher().with_threads(&threads);
        assert_eq!(self.found(&shared, query, model), found, "{what}");
        assert_eq!(shared.top_k(query, model, 3).unwrap(), few, "{what}");
        assert_eq!(shared.count(query).unwrap(), found.len() as u64, "{what}");
        for hit in few {
            let explained = searcher.explain(query, model, &hit).unwrap().unwrap();
            assert_eq!(explained.value, hit.score, "{what}: {explained}");
        }
        self.check_others(query, model, &found, what);
    }

    /// Facets, exports and orders by key.
    fn check_others(&self, query: &Query, model: Model, found: &Answers, what: &str) {
        let searcher = self.snapshot.searcher();
        let tag = self.fields.words[1];
        let terms = FacetTerms { limit: 100, ..FacetTerms::new(tag) };
        let facet = Aggregation::Facet(Facet::Terms(terms), Vec::new());
        let Aggregated::Buckets(buckets) = searcher.aggregate(query, &[facet]).unwrap().remove(0) else {
            panic!("a facet has buckets");
        };
        let count = |bucket: Bucket| match bucket.key {
            BucketKey::Value(Value::Text(text)) => (String::from_utf8(text).unwrap(), bucket.count),
            other => panic!("{other:?}"),
        };
        let mut expected = BTreeMap::<String, u64>::new();
        for tag in found.keys().flat_map(|&number| self.values(number, JoinOn::Column(tag))) {
            *expected.entry(tag).or_default() += 1;
        }
        assert_eq!(buckets.buckets.into_iter().map(count).collect::<BTreeMap<_, _>>(), expected, "{what}");
        let mut rows = 0;
        let each = &mut |batch: &Batch| {
            rows += batch.docs.len();
            Ok(ControlFlow::Continue(()))
        };
        self.snapshot.for_each_batch(query, &[BatchField::Key], &BatchOptions::default(), each).unwrap();
        assert_eq!(rows, found.len(), "{what}");
        let page = KeyPage { order: KeyOrder::Ascending, limit: 1_000, after: None };
        let by_key = searcher.top_by_key(query, model, page, |_| ()).unwrap();
        let keys = by_key.into_iter().map(|hit| String::from_utf8(hit.key).unwrap()).collect::<Vec<_>>();
        let mut expected: Vec<_> = found.keys().map(|number| self.rows[number].key.clone()).collect();
        expected.sort();
        assert_eq!(keys, expected, "{what}");
    }
}

#[test]
fn joins_match_and_score_what_a_slow_evaluation_does() {
    let first = fastrand::u64(..1 << 60);
    let fields = join_fields();
    let models = [Model::default(), Model::Classic, Model::Dph];
    for seed in first..first + 60 {
        let mut random = Rng::with_seed(seed);
        let world = random_world(&fields, &mut random);
        let view = world.seen(&mut random);
        for round in 0..12 {
            let query = world.random_join(&mut random, 0);
            let model = models[random.usize(..3)];
            let what = format!("seed {seed} round {round}: {query:?}");
            world.check(&query, model, &what);
            view.check(&query, model, &format!("a view, {what}"));
        }
        for round in 0..6 {
            let query = world.random_query(&mut random, 0);
            let what = format!("seed {seed} query {round}: {query:?}");
            world.check(&query, Model::default(), &what);
            view.check(&query, Model::default(), &format!("a view, {what}"));
        }
    }
}

#[test]
fn joins_reach_over_indexes_that_are_opened_as_one() {
    let fields = join_fields();
    let of = |documents: Vec<Document>| {
        let options = WriterOptions { lanes: 1, merge: None, ..WriterOptions::default() };
        let directory = Arc::new(RamDirectory::new());
        let writer = IndexWriter::open_in(directory, Some(&fields.schema), options).unwrap();
        writer.add_block(&documents).unwrap();
        writer.commit().unwrap();
        writer.snapshot().unwrap()
    };
    let article = |key: &str| Document::new(key).text(fields.text, "article");
    let comment = |key: &str, of: &str| Document::new(key).text(fields.text, "so").text(fields.words[0], of);
    let articles = of(vec![article("a"), article("b"), article("c")]);
    let comments = of(vec![comment("1", "b"), comment("2", "b"), comment("3", "x")]);
    let parent = JoinOn::Column(fields.words[0]);
    let commented = join(parent, JoinOn::Key, Query::term(fields.text, b"so"), JoinScore::Sum);
    let of_articles = join(JoinOn::Key, parent, Query::term(fields.text, b"article"), JoinScore::Max);
    for snapshots in [vec![articles.clone(), comments.clone()], vec![comments, articles]] {
        let snapshot = Snapshot::join(snapshots).unwrap();
        let keys = |query: &Query| -> Vec<Vec<u8>> {
            let hits = snapshot.searcher().top_k(query, Model::default(), 9).unwrap();
            hits.iter().map(|hit| snapshot.key(hit).unwrap()).collect()
        };
        assert_eq!(keys(&commented), [b"b"]);
        assert_eq!(keys(&of_articles), [b"1", b"2"]);
    }
}

#[test]
fn joins_between_many_documents_find_all_of_them() {
    let fields = join_fields();
    let directory = Arc::new(RamDirectory::new());
    let options = WriterOptions { lanes: 2, merge: None, memory: 1 << 30, ..WriterOptions::default() };
    let writer = IndexWriter::open_in(directory, Some(&fields.schema), options).unwrap();
    let (articles, comments) = (3_000u64, 12_000u64);
    let said = |comment: u64| if comment.is_multiple_of(7) { "apple" } else { "pear" };
    for number in 0..articles {
        let document = Document::new(format!("a{number}")).text(fields.text, "article");
        let document = document.with(fields.sizes[0], Value::Unsigned(number * 1_000_003));
        writer.add(&document.with(fields.number, Value::Unsigned(number))).unwrap();
        if number == articles / 2 {
            writer.commit().unwrap();
        }
    }
    for number in 0..comments {
        let parent = number % (articles + 500);
        let document = Document::new(format!("c{number}"))
            .text(fields.text, said(number))
            .text(fields.words[0], format!("a{parent}"))
            .with(fields.sizes[1], Value::Unsigned(parent * 1_000_003));
        writer.add(&document).unwrap();
    }
    writer.commit().unwrap();
    let snapshot = writer.snapshot().unwrap();
    let threads = SearchThreads::always(3, 4_096);
    let apple = Query::term(fields.text, b"apple");
    let with_apple: BTreeSet<u64> = (0..comments)
        .filter(|&number| said(number) == "apple")
        .map(|number| number % (articles + 500))
        .collect();
    let commented = with_apple.iter().filter(|&&article| article < articles).count() as u64;
    let of_commented =
        (0..comments).filter(|number| with_apple.contains(&(number % (articles + 500)))).count();
    let [parent, size, limit] = [fields.words[0], fields.sizes[0], fields.sizes[1]].map(JoinOn::Column);
    for searcher in [snapshot.searcher(), snapshot.searcher().with_threads(&threads)] {
        let count = |from, to, query: &Query| {
            let counts = SCORES.map(|score| {
                let query = join(from, to, query.clone(), score);
                let count = searcher.count(&query).unwrap();
                let hits = searcher.top_k(&query, Model::default(), 20_000).unwrap();
                assert_eq!(hits.len() as u64, count);
                count
            });
            assert!(counts.iter().all(|&count| count == counts[0]), "{counts:?}");
            counts[0]
        };
        assert_eq!(count(parent, JoinOn::Key, &apple), commented);
        assert_eq!(count(limit, size, &apple), commented);
        assert_eq!(count(parent, parent, &apple), of_commented as u64);
        assert_eq!(count(limit, limit, &apple), of_commented as u64);
        let article = Query::term(fields.text, b"article");
        let of_articles = (0..comments).filter(|number| number % (articles + 500) < articles).count() as u64;
        assert_eq!(count(JoinOn::Key, parent, &article), of_articles);
        assert_eq!(count(size, limit, &article), of_articles);
    }
}
