//! Snapshots of a writer, against a list that is changed the same way, against an index of the same
//! documents, and against a commit of the same state.

use std::ops::Bound;

use super::*;
use crate::index::Index;
use crate::query::ValueRange;
use crate::schema::Schema;
use crate::search::Hit;
use crate::store::{CallKind, Directory, FaultDirectory, FsDirectory};

struct Columns {
    schema: Schema,
    text: Field,
    tag: Field,
    size: Field,
}

fn columns() -> Columns {
    let mut schema = Schema::new();
    let text = schema.add(FieldEntry::text("text").positions().stored()).unwrap();
    let tag = schema.add(FieldEntry::new("tag", FieldKind::Keyword).column()).unwrap();
    let size = schema.add(FieldEntry::new("size", FieldKind::Unsigned).column()).unwrap();
    Columns { schema, text, tag, size }
}

#[derive(Clone, Debug, PartialEq)]
struct Row {
    key: String,
    text: String,
    tag: usize,
    size: Vec<u64>,
}

/// A directory and a writer on it, with the documents that they should have.
struct Model<'d> {
    columns: Columns,
    directory: &'d Arc<dyn Directory>,
    lanes: usize,
    merges: bool,
    /// By the order in which they were added.
    held: Vec<Row>,
    committed: Vec<Row>,
}

impl Model<'_> {
    fn open(&self) -> IndexWriter {
        let policy = MergePolicy { segments: 3, least_segments: 0, ..MergePolicy::default() };
        let merge = self.merges.then_some(policy);
        let options = WriterOptions { lanes: self.lanes, memory: 1 << 30, merge, ..WriterOptions::default() };
        IndexWriter::open_in(self.directory.clone(), Some(&self.columns.schema), options).unwrap()
    }

    fn document(&self, row: &Row) -> Document {
        let document = Document::new(row.key.as_str())
            .text(self.columns.text, row.text.as_str())
            .text(self.columns.tag, format!("t{}", row.tag));
        row.size
            .iter()
            .fold(document, |document, &size| document.with(self.columns.size, Value::Unsigned(size)))
    }

    fn random_row(&self, key: String, random: &mut Rng) -> Row {
        let words = (0..random.usize(1..9)).map(|_| format!("w{}", random.usize(..12)));
        let text = words.collect::<Vec<_>>().join(" ");
        let size = (0..random.usize(..3)).map(|_| random.u64(..100)).collect();
        Row { key, text, tag: random.usize(..5), size }
    }

    /// One operation of a writer, and the same on the list.
    fn change(&mut self, writer: &IndexWriter, random: &mut Rng) {
        let key = format!("k{}", random.usize(..40));
        let size = self.columns.size;
        let sizes: Vec<u64> = (0..random.usize(..3)).map(|_| random.u64(..100)).collect();
        let values: Vec<Value> = sizes.iter().copied().map(Value::Unsigned).collect();
        let from = |least: u64| {
            let low = Bound::Included(Value::Unsigned(least));
            Query::Values(ValueRange { field: size, low, high: Bound::Unbounded })
        };
        match random.usize(..30) {
            0..12 => {
                let row = self.random_row(key, random);
                writer.update(&self.document(&row)).unwrap();
                self.held.retain(|other| other.key != row.key);
                self.held.push(row);
            }
            12..18 => {
                let row = self.random_row(key, random);
                writer.add(&self.document(&row)).unwrap();
                self.held.push(row);
            }
            18..21 => {
                writer.delete(key.as_bytes()).unwrap();
                self.held.retain(|row| row.key != key);
            }
            21 => {
                let word = format!("w{}", random.usize(..12));
                writer.delete_matching(&Query::term(self.columns.text, word.as_str())).unwrap();
                self.held.retain(|row| !row.text.split(' ').any(|other| other == word));
            }
            22 => {
                writer.delete_matching(&from(97)).unwrap();
                self.held.retain(|row| row.size.iter().all(|&size| size < 97));
            }
            23..27 => {
                writer.set(key.as_bytes(), size, &values).unwrap();
                self.held.iter_mut().filter(|row| row.key == key).for_each(|row| row.size = sizes.clone());
            }
            27 => {
                writer.set_matching(&from(80), size, &values).unwrap();
                let large = |row: &&mut Row| row.size.iter().any(|&size| size >= 80);
                self.held.iter_mut().filter(large).for_each(|row| row.size = sizes.clone());
            }
            _ => {
                let tag = random.usize(..5);
                let query = Query::term(self.columns.tag, format!("t{tag}"));
                writer.set_matching(&query, size, &values).unwrap();
                self.held.iter_mut().filter(|row| row.tag == tag).for_each(|row| row.size = sizes.clone());
            }
        }
    }

    fn values(&self, snapshot: &Snapshot, hit: &Hit) -> String {
        let Columns { text, tag, size, .. } = self.columns;
        let values = snapshot.field_values(hit, &[text, tag, size]).unwrap();
        format!("{} {values:?}", snapshot.key(hit).unwrap().escape_ascii())
    }

    /// All answers, with the places of documents and the figures of segments.
    fn answers(&self, snapshot: &Snapshot) -> Vec<String> {
        let searcher = snapshot.searcher();
        let mut answers = vec![format!("{:?}", snapshot.segments())];
        for text in ["w1", "w2 w3", "\"w4 w5\"", "tag:t1", "size:>50", "w6 size:<20 -tag:t2", "*"] {
            let query = snapshot.parse(text, Operator::Or).unwrap();
            answers.push(format!("{text}: {}", searcher.count(&query).unwrap()));
            let hits = searcher.top_k(&query, crate::search::Model::Classic, 1000).unwrap();
            if let [first, rest @ ..] = &hits[..] {
                let page = searcher.top_k_after(&query, crate::search::Model::Classic, 1000, *first);
                assert_eq!(page.unwrap(), rest);
            }
            for hit in hits {
                answers.push(format!("{hit:?} {}", self.values(snapshot, &hit)));
            }
        }
        answers
    }

    /// The answers that do not depend on how documents are divided; with scores if no document was deleted,
    /// which still counts in statistics.
    fn content(&self, snapshot: &Snapshot, with_scores: bool) -> Vec<String> {
        let searcher = snapshot.searcher();
        let mut content = vec![snapshot.info().documents.to_string()];
        for text in ["w1", "w2 w3", "\"w4 w5\"", "tag:t1", "size:>50", "w6 size:<20 -tag:t2", "*"] {
            let query = snapshot.parse(text, Operator::Or).unwrap();
            let hits = searcher.top_k(&query, crate::search::Model::Classic, 1000).unwrap();
            let mut found: Vec<String> = hits
                .iter()
                .map(|hit| {
                    let score = if with_scores { hit.score } else { 0.0 };
                    format!("{} {score}", self.values(snapshot, hit))
                })
                .collect();
            found.sort();
            content.push(format!("{text}: {} of {}", hits.len(), searcher.count(&query).unwrap()));
            content.append(&mut found);
        }
        content
    }

    /// An index of these documents alone.
    fn afresh(&self, rows: &[Row]) -> Snapshot {
        let directory: Arc<dyn Directory> = Arc::new(RamDirectory::new());
        let options = WriterOptions { lanes: 1, memory: 1 << 30, merge: None, ..WriterOptions::default() };
        let writer = IndexWriter::open_in(directory.clone(), Some(&self.columns.schema), options).unwrap();
        for row in rows {
            writer.add(&self.document(row)).unwrap();
        }
        writer.commit().unwrap();
        Snapshot::open_in(&*directory).unwrap().unwrap()
    }

    fn must_show(&self, snapshot: &Snapshot, rows: &[Row], what: &str) {
        let with_scores = snapshot.info().deleted == 0;
        let afresh = self.afresh(rows);
        assert_eq!(self.content(snapshot, with_scores), self.content(&afresh, with_scores), "{what}");
    }

    /// Readers and other processes see the newest commit, and nothing else.
    fn must_be_committed(&self, directory: &dyn Directory, what: &str) {
        match Snapshot::open_in(directory).unwrap() {
            Some(snapshot) => self.must_show(&snapshot, &self.committed, what),
            None => assert!(self.committed.is_empty(), "{what}"),
        }
    }
}

/// Takes a snapshot and compares it with the list, and often with a commit.
fn compare(
    model: &mut Model<'_>,
    writer: &IndexWriter,
    random: &mut Rng,
    crash: &dyn Fn(u64) -> Arc<dyn Directory>,
    what: &str,
) -> Snapshot {
    let snapshot = writer.snapshot().unwrap();
    model.must_show(&snapshot, &model.held, what);
    let again = writer.snapshot().unwrap();
    assert!(model.merges || again.fingerprint() == snapshot.fingerprint(), "{what}");
    model.must_be_committed(&**model.directory, what);
    model.must_be_committed(&*crash(random.u64(..)), what);
    if random.bool() {
        writer.commit().unwrap();
        model.committed = model.held.clone();
        model.must_be_committed(&*crash(random.u64(..)), what);
        let committed = Snapshot::open_in(&**model.directory).unwrap().unwrap();
        if !model.merges {
            assert_eq!(model.answers(&snapshot), model.answers(&committed), "{what}");
        }
    }
    snapshot
}

/// Random operations, and a snapshot now and then. `crash` makes a copy of the directory, as after a crash.
fn interleave(
    seed: u64,
    directory: &Arc<dyn Directory>,
    merges: bool,
    crash: &dyn Fn(u64) -> Arc<dyn Directory>,
) {
    let mut random = Rng::with_seed(seed);
    let lanes = random.usize(1..4);
    let columns = columns();
    let mut model = Model { columns, directory, lanes, merges, held: Vec::new(), committed: Vec::new() };
    let mut writer = model.open();
    let mut earlier: Vec<(Snapshot, Vec<String>)> = Vec::new();
    for round in 0..260 {
        let what = format!("seed {seed:x} round {round}, {lanes} lanes");
        match random.usize(..40) {
            0..24 => model.change(&writer, &mut random),
            24..27 => write_lane(&writer, random.usize(..lanes)),
            27..33 => {
                let snapshot = compare(&mut model, &writer, &mut random, crash, &what);
                earlier.push((snapshot.clone(), model.answers(&snapshot)));
            }
            33 => {
                let prepared = writer.prepare().unwrap();
                let at_that_time = model.held.clone();
                model.change(&writer, &mut random);
                model.must_show(&writer.snapshot().unwrap(), &model.held, &what);
                if random.bool() {
                    prepared.commit().unwrap();
                    model.committed = at_that_time;
                }
                model.must_show(&writer.snapshot().unwrap(), &model.held, &what);
                model.must_be_committed(&**directory, &what);
            }
            34 => {
                writer.roll_back();
                model.must_be_committed(&**directory, &what);
                writer = model.open();
                model.held = model.committed.clone();
                model.must_show(&writer.snapshot().unwrap(), &model.held, &what);
            }
            35 => writer.merge().unwrap(),
            36 => {
                let at = random.usize(..=earlier.len());
                for (snapshot, answers) in earlier.get(at.saturating_sub(1)..at).unwrap_or_default() {
                    assert_eq!(model.answers(snapshot), *answers, "{what}");
                }
            }
            _ => {
                writer.commit().unwrap();
                model.committed = model.held.clone();
                model.must_be_committed(&**directory, &what);
            }
        }
    }
    assert_eq!(writer.merge_failure(), None, "seed {seed:x}");
    drop(writer);
    for (snapshot, answers) in earlier {
        assert_eq!(model.answers(&snapshot), answers, "seed {seed:x}");
    }
    drop(model.open());
    let report =
        check_in(&**directory, CheckLevel::Cross, &Progress::new(), &AtomicBool::new(false)).unwrap();
    assert!(report.is_whole() && report.leftovers.is_empty(), "seed {seed:x}: {report:?}");
}

#[test]
fn a_snapshot_of_a_writer_shows_what_a_commit_would() {
    for merges in [false, true] {
        let ram = RamDirectory::new();
        let shared: Arc<dyn Directory> = Arc::new(ram.clone());
        interleave(0x5eed_0711, &shared, merges, &|_| Arc::new(copied(&ram)));
        let fault = FaultDirectory::new();
        let shared: Arc<dyn Directory> = Arc::new(fault.clone());
        // Bytes that were not synced may be lost.
        interleave(0x5eed_0712, &shared, merges, &|seed| Arc::new(fault.after_power_cut(seed)));
        let (place, copies) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for leases in [false, true] {
            let path = place.path().join(format!("{leases}"));
            std::fs::create_dir(&path).unwrap();
            let shared: Arc<dyn Directory> = Arc::new(FsDirectory::new(&path).with_leases(leases));
            let copy = |seed: u64| -> Arc<dyn Directory> {
                let copy = copies.path().join(seed.to_string());
                std::fs::create_dir(&copy).unwrap();
                for file in std::fs::read_dir(&path).unwrap().map(|file| file.unwrap()) {
                    // A merge may remove a file meanwhile.
                    let _ = std::fs::copy(file.path(), copy.join(file.file_name()));
                }
                Arc::new(FsDirectory::new(copy))
            };
            interleave(0x5eed_0713 + u64::from(leases), &shared, merges, &copy);
        }
    }
}

fn copied(directory: &RamDirectory) -> RamDirectory {
    FaultDirectory::with_files(directory).unwrap().after_power_cut(0)
}

#[test]
fn snapshots_have_what_any_thread_added_before_and_no_thread_is_seen_halfway() {
    let directory: Arc<dyn Directory> = Arc::new(FaultDirectory::new());
    let columns = columns();
    let model =
        Model { columns, directory: &directory, lanes: 2, merges: true, held: vec![], committed: vec![] };
    let writer = model.open();
    let over = AtomicBool::new(false);
    let returned: [std::sync::atomic::AtomicU64; 3] = Default::default();
    let row = |key: String, number: u64| Row { key, text: "w1".into(), tag: 0, size: vec![number] };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3)
            .map(|thread| {
                let (writer, returned, model, row) = (&writer, &returned[thread], &model, &row);
                scope.spawn(move || {
                    for number in 1..=700 {
                        writer.add(&model.document(&row(format!("{thread}-{number}"), number))).unwrap();
                        writer.update(&model.document(&row(format!("last{thread}"), number))).unwrap();
                        if number > 5 {
                            writer.delete(format!("{thread}-{}", number - 5)).unwrap();
                        }
                        returned.store(number, Ordering::Release);
                    }
                })
            })
            .collect();
        let (writer, over) = (&writer, &over);
        let committer = scope.spawn(move || {
            while !over.load(Ordering::Relaxed) {
                writer.commit().unwrap();
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
        });
        let mut turn = 0;
        while turn < 40 || !threads.iter().all(|thread| thread.is_finished()) {
            turn += 1;
            let before: Vec<u64> = returned.iter().map(|number| number.load(Ordering::Acquire)).collect();
            let snapshot = writer.snapshot().unwrap();
            for (thread, before) in before.into_iter().enumerate() {
                must_be_a_prefix(&model, &snapshot, thread, before);
            }
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        over.store(true, Ordering::Relaxed);
        committer.join().unwrap();
    });
    assert_eq!(writer.snapshot().unwrap().info().documents, 3 * 6);
    assert_eq!(writer.merge_failure(), None);
}

/// What a snapshot has of a thread is what it had after one of its operations, not before round `before`.
fn must_be_a_prefix(model: &Model<'_>, snapshot: &Snapshot, thread: usize, before: u64) {
    let sizes = |key: &str| {
        let hit = snapshot.hit(key).unwrap();
        hit.map(|hit| snapshot.field_values(&hit, &[model.columns.size]).unwrap())
    };
    let last = match sizes(&format!("last{thread}")).as_deref() {
        None => 0,
        Some([values]) => match values[..] {
            [Value::Unsigned(last)] => last,
            ref other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    assert!(last >= before, "{last} of {before}");
    let has = |number: u64| number > 0 && sizes(&format!("{thread}-{number}")).is_some();
    assert!((last.saturating_sub(4).max(1)..=last).all(has), "thread {thread} before {last}");
    assert!(!has(last + 2) && !has(last.saturating_sub(6)), "thread {thread} after {last}");
}

#[test]
fn a_snapshot_syncs_nothing_and_the_next_commit_writes_no_segment_again() {
    let fault = FaultDirectory::new();
    let directory: Arc<dyn Directory> = Arc::new(fault.clone());
    let columns = columns();
    let mut model =
        Model { columns, directory: &directory, lanes: 1, merges: false, held: vec![], committed: vec![] };
    let writer = model.open();
    assert_eq!(writer.snapshot().unwrap().info().documents, 0, "an empty writer");
    assert_eq!(writer.snapshot().unwrap().info().generation, 0);
    let mut random = Rng::with_seed(0x5eed_0721);
    let count = |kind: CallKind, from: u64| {
        let from = usize::try_from(from).unwrap();
        fault.calls()[from..].iter().filter(|call| call.kind == kind).count()
    };
    for _ in 0..5 {
        (0..9).for_each(|_| model.change(&writer, &mut random));
        let row = model.random_row("new".into(), &mut random);
        writer.add(&model.document(&row)).unwrap();
        model.held.push(row);
        let start = fault.call_count();
        model.must_show(&writer.snapshot().unwrap(), &model.held, "a snapshot");
        assert_eq!((count(CallKind::Finish, start), count(CallKind::Sync, start)), (0, 0));
        assert_eq!((count(CallKind::Create, start), count(CallKind::Open, start)), (1, 1));
        let start = fault.call_count();
        writer.snapshot().unwrap();
        assert_eq!(fault.call_count(), start, "nothing has changed");
    }
    let start = fault.call_count();
    writer.commit().unwrap();
    let calls = fault.calls();
    let created = calls[usize::try_from(start).unwrap()..].iter();
    let segments = created.filter(|call| call.kind == CallKind::Create && call.name.ends_with(".seg"));
    assert_eq!(segments.count(), 0);
    let snapshot = writer.snapshot().unwrap();
    let committed = Snapshot::open_in(&fault).unwrap().unwrap();
    assert_eq!(snapshot.fingerprint(), committed.fingerprint(), "of the commit");
    writer.note(b"at", Some(b"5"));
    let noted = writer.snapshot().unwrap();
    assert_eq!(noted.notes().get(b"at".as_slice()).map(Vec::as_slice), Some(b"5".as_slice()));
    assert_ne!(noted.fingerprint(), committed.fingerprint());
}

#[test]
fn a_refreshed_snapshot_opens_only_what_is_new() {
    let fault = FaultDirectory::new();
    let directory: Arc<dyn Directory> = Arc::new(fault.clone());
    for merges in [false, true] {
        let seed = 0x5eed_0731 + u64::from(merges);
        let mut random = Rng::with_seed(seed);
        let columns = columns();
        let mut model =
            Model { columns, directory: &directory, lanes: 1, merges, held: vec![], committed: vec![] };
        let index = Index::in_directory(directory.clone());
        let writer = model.open();
        writer.delete_matching(&Query::All).unwrap();
        writer.commit().unwrap();
        let mut snapshot = index.snapshot().unwrap();
        for round in 0..40 {
            let what = format!("seed {seed:x} round {round}");
            (0..random.usize(..12)).for_each(|_| model.change(&writer, &mut random));
            // The state of a writer shares segments, too, but its deletes and values are not the commit's.
            if random.usize(..4) == 0 {
                snapshot = writer.snapshot().unwrap();
            }
            writer.commit().unwrap();
            let known: BTreeSet<String> =
                snapshot.segments().iter().map(|segment| segment.id.clone()).collect();
            let start = usize::try_from(fault.call_count()).unwrap();
            let refreshed = index.refresh(&snapshot).unwrap();
            if !merges {
                let opened = fault.calls().split_off(start).into_iter();
                let opened = opened.filter(|call| call.kind == CallKind::Open && call.name.ends_with(".seg"));
                let new = refreshed.segments().iter().filter(|segment| !known.contains(&segment.id));
                assert_eq!(opened.count(), new.count(), "{what}");
            }
            let opened = index.snapshot().unwrap();
            assert_eq!(model.answers(&refreshed), model.answers(&opened), "{what}");
            assert_eq!(refreshed.fingerprint(), opened.fingerprint(), "{what}");
            model.must_show(&refreshed, &model.held, &what);
            snapshot = index.refresh(&refreshed).unwrap();
            assert_eq!(snapshot.fingerprint(), refreshed.fingerprint(), "{what}");
        }
    }
}

#[test]
fn many_snapshots_between_commits_leave_few_files() {
    let place = tempfile::tempdir().unwrap();
    let directory: Arc<dyn Directory> = Arc::new(FsDirectory::new(place.path()));
    let columns = columns();
    let model =
        Model { columns, directory: &directory, lanes: 1, merges: true, held: vec![], committed: vec![] };
    let writer = model.open();
    for number in 0..400 {
        let row = Row { key: format!("k{number}"), text: "w1".into(), tag: 0, size: vec![number] };
        writer.add(&model.document(&row)).unwrap();
        let snapshot = writer.snapshot().unwrap();
        assert_eq!(snapshot.info().documents, number + 1);
    }
    writer.merge().unwrap();
    let files = std::fs::read_dir(place.path()).unwrap().count();
    assert!(files < 40, "{files} files");
    assert_eq!(writer.merge_failure(), None);
    writer.commit().unwrap();
    assert_eq!(Snapshot::open_in(&*directory).unwrap().unwrap().info().documents, 400);
}
