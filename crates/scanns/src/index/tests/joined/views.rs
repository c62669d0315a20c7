//! A view answers as an index that has only what the view shows.

use super::*;
use crate::search::{NearHits, SearchThreads};
use crate::segment::{DocBits, Segment, VisibleDocs};

/// Marks whole explanations.
const EXPLAINED: &str = "explained in full: ";

/// The names of the fields that random views may take for metadata.
const FIELDS: [&str; 7] = ["text", "title", "size", "price", "when", "owner", "path"];

/// Who may see what of documents, by number.
struct Rights {
    entries: Vec<bool>,
    contents: Vec<bool>,
    metadata: Vec<&'static str>,
}

impl Rights {
    fn new(random: &mut Rng, count: usize) -> Self {
        let share = |random: &mut Rng| [0.0, 0.02, 0.3, 0.5, 0.9, 1.0][random.usize(..6)];
        let (entries, contents) = (share(random), share(random));
        let of_entries: Vec<bool> = (0..count).map(|_| random.f64() < entries).collect();
        let of_contents = match random.u32(..3) {
            0 => of_entries.clone(),
            _ => (0..count).map(|_| random.f64() < contents).collect(),
        };
        let metadata = FIELDS.into_iter().filter(|_| random.bool()).collect();
        Rights { entries: of_entries, contents: of_contents, metadata }
    }

    /// What an index of the visible documents has of a document.
    fn shown(&self, schema: &Schema, document: &Document, number: usize) -> Option<Document> {
        let is_metadata = |field| self.metadata.contains(&schema.entry(field).unwrap().name.as_str());
        self.entries[number].then(|| {
            let mut shown = Document::new(document.key());
            for (field, value) in document.values() {
                if self.contents[number] || is_metadata(*field) {
                    shown = shown.with(*field, value.clone());
                }
            }
            shown
        })
    }

    /// The view of a snapshot.
    fn of(&self, snapshot: &Snapshot) -> Snapshot {
        let of_segment = |segment: &Segment| {
            let documents = segment.stats().max_doc;
            let mut docs =
                VisibleDocs { entries: DocBits::none(documents), contents: DocBits::none(documents) };
            for doc in 0..documents {
                let key = String::from_utf8(segment.key(doc).unwrap()).unwrap();
                let number: usize = key[1..].parse().unwrap();
                if self.entries[number] {
                    docs.entries.insert(doc);
                }
                if self.contents[number] {
                    docs.contents.insert(doc);
                }
            }
            docs
        };
        let visible: Vec<VisibleDocs> = snapshot.leaves().iter().map(of_segment).collect();
        snapshot.seen_with(&visible, &|name| self.metadata.contains(&name)).unwrap()
    }
}

/// A view, and an index of what it shows.
struct Seen {
    view: Snapshot,
    alone: Snapshot,
    /// The view of the same documents in several indexes.
    parts: Vec<Snapshot>,
}

fn seen(random: &mut Rng) -> Seen {
    let schema = schema();
    let count = [0, 1, 5, 60, 300][random.usize(..5)];
    let text = schema.field("text").unwrap();
    let documents: Vec<Document> = (0..count)
        .map(|number| {
            let document = document(&schema, random, number);
            // Longer than norms can tell.
            if random.u32(..4) == 0 { document.text(text, words(random, 150)) } else { document }
        })
        .collect();
    let deleted: Vec<usize> = (0..count).filter(|_| random.u32(..8) == 0).collect();
    let rights = Rights::new(random, count);
    let is_live = |number: &usize| !deleted.contains(number);
    let shown: Vec<Document> = (0..count)
        .filter(is_live)
        .filter_map(|number| rights.shown(&schema, &documents[number], number))
        .collect();
    let alone = indexed(&schema, &shown, &segments(shown.len(), random), &[]);
    let view = rights.of(&indexed(&schema, &documents, &segments(count, random), &deleted));
    let mut cuts: Vec<usize> = (1..random.usize(1..=4)).map(|_| random.usize(..=count)).collect();
    cuts.extend([0, count]);
    cuts.sort_unstable();
    let part = |pair: &[usize]| {
        let range = pair[0]..pair[1];
        let deleted: Vec<usize> = deleted.iter().copied().filter(|number| range.contains(number)).collect();
        let ends = segments(range.len(), random);
        rights.of(&indexed(&schema, &documents[range], &ends, &deleted))
    };
    let parts = cuts.windows(2).map(part).collect();
    Seen { view, alone, parts }
}

/// More answers than [`answers::all`].
fn more(snapshot: &Snapshot, threads: &SearchThreads, random: &mut Rng) -> Vec<String> {
    let searcher = snapshot.searcher().with_threads(threads);
    let query = answers::query(snapshot, random);
    let model = MODELS[random.usize(..MODELS.len())];
    let mut said = vec![format!("{query:?} by {model:?}")];
    let Ok(prepared) = searcher.prepare(&query) else { return said };
    let Ok(best) = prepared.top_k(model, 7) else { return said };
    let named = |hits: &[Hit]| -> Vec<(Vec<u8>, u32)> {
        hits.iter().map(|hit| (snapshot.key(hit).unwrap(), hit.score.to_bits())).collect()
    };
    said.push(format!("{:?}", named(&best)));
    let all: Vec<Hit> = prepared.hits(model).unwrap().map(|hit| hit.unwrap()).collect();
    said.push(format!("{:?} {}", named(&all), prepared.count().unwrap()));
    let near = NearHits { field: snapshot.schema().field("size").unwrap(), distance: 1, without: None };
    let collapsed = prepared.top_collapsed(model, &[], 4, near).unwrap();
    let kept = collapsed.hits.iter().map(|kept| (snapshot.key(&kept.hit.hit).unwrap(), kept.near));
    said.push(format!("{:?} {} {}", kept.collect::<Vec<_>>(), collapsed.seen, collapsed.is_all));
    let exhaustive = snapshot.searcher().exhaustive().count(&query).unwrap();
    said.push(format!("{exhaustive} {}", snapshot.info().documents));
    if snapshot.leaves().len() == 1 {
        for hit in &best {
            let explained = prepared.explain(model, hit).unwrap().unwrap();
            said.push(format!("{EXPLAINED}{explained}"));
        }
    }
    let fields: Vec<Field> = snapshot.schema().fields().map(|(field, _)| field).collect();
    for hit in &best {
        let values = snapshot.field_values(hit, &fields).unwrap();
        let document = snapshot.document(hit).unwrap();
        let stored = snapshot.values(hit).unwrap().unwrap_or_default();
        let positions = snapshot.positions(hit, b"t1").unwrap();
        said.push(format!("{values:?} {document:?} {stored:?} {positions:?}"));
    }
    said
}

#[test]
fn a_view_answers_as_an_index_of_what_it_shows() {
    let seed = std::env::var("SCANNS_SEED").map_or_else(|_| fastrand::u64(..), |seed| seed.parse().unwrap());
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    let rounds = if std::env::var_os("SCANNS_LONG").is_some() { 600 } else { 30 };
    let threads = SearchThreads::always(3, 4_096);
    let mut compared = 0;
    for round in 0..rounds {
        let Seen { view, alone, parts } = seen(&mut random);
        let joined = Snapshot::join(parts).unwrap();
        let (view, joined) = if random.u32(..8) == 0 { (joined, view) } else { (view, joined) };
        for _ in 0..20 {
            let question = random.u64(..);
            let asked = |snapshot: &Snapshot| {
                let mut said = answers::all(snapshot, &mut Rng::with_seed(question));
                said.extend(more(snapshot, &threads, &mut Rng::with_seed(question)));
                said
            };
            let is_alike = alone.leaves().len() == 1 && view.leaves().len() == 1;
            let (expected, found) = (asked(&alone), asked(&view));
            // What a pattern matches is explained by segment.
            let lines = |said: Vec<String>| -> Vec<String> {
                said.into_iter().filter(|line| is_alike || !line.starts_with(EXPLAINED)).collect()
            };
            let (expected, found) = (lines(expected), lines(found));
            for (expected, found) in expected.iter().zip(&found) {
                assert_eq!(found, expected, "seed {seed} round {round}, question {question}");
                compared += 1;
            }
            assert_eq!(found.len(), expected.len(), "seed {seed} round {round}, question {question}");
        }
        for _ in 0..3 {
            let question = random.u64(..);
            let expected = answers::all(&alone, &mut Rng::with_seed(question));
            assert_eq!(
                answers::all(&joined, &mut Rng::with_seed(question)),
                expected,
                "joined, seed {seed} round {round}, question {question}"
            );
            compared += expected.len();
        }
    }
    println!("{compared} answers are equal");
}

#[test]
fn shards_that_are_views_answer_as_an_index_of_what_they_show() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    let rounds = if std::env::var_os("SCANNS_LONG").is_some() { 300 } else { 20 };
    for round in 0..rounds {
        let Seen { view, alone, parts } = seen(&mut random);
        let shards: Vec<Shard> = parts.into_iter().map(Shard::new).collect();
        let described: Vec<Vec<u8>> = shards.iter().map(|shard| shard.describe().unwrap()).collect();
        let set = ShardSet::new(&described).unwrap();
        assert_eq!(set.documents(), alone.info().documents, "seed {seed} round {round}");
        let questions: Vec<ShardQuery> =
            (0..10).filter_map(|_| answers::question(&alone, &mut random)).collect();
        let found = run(set.search(questions.clone()).unwrap(), &shards).unwrap();
        for (question, found) in questions.iter().zip(found) {
            let expected = answers::expected(&alone, question);
            let what = format!("seed {seed} round {round} {question:?}");
            assert_eq!(answers::shown(&found), expected, "{what}");
            assert_eq!(answers::expected(&view, question), expected, "{what}");
        }
    }
}

/// Three documents, of which the view shows `a` and, without its content, `b`.
fn small() -> (Snapshot, Snapshot) {
    let schema = schema();
    let field = |name: &str| schema.field(name).unwrap();
    let documents: Vec<Document> =
        [("d0000", "red apple"), ("d0001", "secret plan"), ("d0002", "hidden gem")]
            .into_iter()
            .zip(1..)
            .map(|((key, words), size)| {
                let document = Document::new(key).text(field("text"), words).text(field("owner"), "ann");
                document.with(field("size"), Value::Unsigned(size))
            })
            .collect();
    let whole = indexed(&schema, &documents, &[3], &[]);
    let rights = Rights {
        entries: vec![true, true, false],
        contents: vec![true, false, true],
        metadata: vec!["size"],
    };
    let view = rights.of(&whole);
    (whole, view)
}

#[test]
fn what_a_view_hides_does_not_exist() {
    let (whole, view) = small();
    let [text, size, owner] = ["text", "size", "owner"].map(|name| view.schema().field(name).unwrap());
    assert_eq!((view.info().documents, view.info().deleted), (2, 0));
    assert!(view.hit("d0002").unwrap().is_none(), "a hidden key is as unknown as one that never was");
    assert!(view.hit("d0009").unwrap().is_none());
    let hidden = whole.hit("d0002").unwrap().unwrap();
    assert!(matches!(view.key(&hidden), Err(Error::UnknownHit { .. })));
    assert_eq!(view.document(&hidden).unwrap(), None);
    assert_eq!(view.values(&hidden).unwrap(), None);
    assert_eq!(view.field_values(&hidden, &[size]).unwrap(), [vec![]]);
    assert!(view.positions(&hidden, b"gem").unwrap().is_empty());
    assert!(view.like(&hidden, text, &MoreLikeThis::default()).is_err());
    let searcher = view.searcher();
    let by_size = [SortKey::ascending(SortBy::Field(size))];
    assert!(matches!(searcher.sorted_hit(&by_size, hidden), Err(Error::UnknownHit { .. })));
    assert!(searcher.explain(&Query::All, Model::Classic, &hidden).unwrap().is_none());
    let unread = whole.hit("d0001").unwrap().unwrap();
    assert_eq!(view.key(&unread).unwrap(), b"d0001");
    assert_eq!(view.document(&unread).unwrap(), None);
    assert_eq!(
        view.field_values(&unread, &[size, owner, text]).unwrap(),
        [vec![Value::Unsigned(2)], vec![], vec![]]
    );
    assert!(view.positions(&unread, b"plan").unwrap().is_empty());
    for word in ["gem", "plan", "hidd*", "plam~", "owner:bob", "size:3", "/ge./", "\"secret plan\""] {
        let query = view.parse(word, Operator::Or).unwrap();
        assert_eq!(searcher.count(&query).unwrap(), 0, "{word}");
        assert_eq!(searcher.top_k(&query, Model::Classic, 9).unwrap(), [], "{word}");
    }
    assert_eq!(searcher.count(&view.parse("owner:ann", Operator::Or).unwrap()).unwrap(), 1);
    assert_eq!(searcher.count(&view.parse("size:>0", Operator::Or).unwrap()).unwrap(), 2);
    assert_eq!(view.doc_freq(text, b"plan").unwrap(), 0);
    assert_eq!(view.terms(b"", 9).unwrap(), [(b"apple".to_vec(), 1), (b"red".to_vec(), 1)]);
    let suggested = searcher.suggest(&Query::term(text, "hiddem"), 0, 3).unwrap();
    assert!(suggested.iter().all(|one| one.near.is_empty()), "{suggested:?}");
}

#[test]
fn what_cannot_be_told_of_a_view_is_refused() {
    let (whole, view) = small();
    let refused = |error: Error| matches!(error, Error::NotInView { .. });
    assert!(refused(view.columns().unwrap_err()));
    assert!(refused(view.stored_figures().unwrap_err()));
    assert!(refused(view.coverage().unwrap_err()));
    let size = view.schema().field("size").unwrap();
    assert!(refused(view.searcher().column(0, size).unwrap_err()));
    assert!(whole.searcher().column(0, size).unwrap().is_some());
    let said = view.columns().unwrap_err().to_string();
    assert!(said.contains("without a view"), "{said}");
    let docs = VisibleDocs::whole(DocBits::all(2));
    assert!(whole.seen_by(std::slice::from_ref(&docs)).unwrap_err().to_string().contains('3'));
    assert!(whole.seen_by(&[]).is_err());
    let said = Snapshot::join(vec![view, whole]).unwrap_err().to_string();
    assert!(said.contains("view"), "{said}");
}

#[test]
fn views_differ_in_their_fingerprints_and_a_view_of_a_view_shows_what_both_show() {
    let (whole, view) = small();
    let of = |docs: &[u32]| {
        let mut bits = DocBits::none(3);
        docs.iter().for_each(|&doc| bits.insert(doc));
        VisibleDocs::whole(bits)
    };
    let first = whole.seen_by(&[of(&[0])]).unwrap();
    let prints = [whole.fingerprint(), view.fingerprint(), first.fingerprint()];
    assert!(prints[0] != prints[1] && prints[1] != prints[2] && prints[0] != prints[2]);
    assert_eq!(first.fingerprint(), whole.seen_by(&[of(&[0])]).unwrap().fingerprint());
    let both = view.seen_by(&[of(&[1, 2])]).unwrap();
    assert_eq!(both.info().documents, 1);
    let text = both.schema().field("text").unwrap();
    assert_eq!(both.searcher().count(&Query::term(text, "secret")).unwrap(), 0, "its content stays hidden");
    assert_ne!(both.fingerprint(), whole.seen_by(&[of(&[1, 2])]).unwrap().fingerprint());
    let all = whole.seen_by(&[of(&[0, 1, 2])]).unwrap();
    assert_eq!(all.searcher().count(&Query::All).unwrap(), 3);
}
