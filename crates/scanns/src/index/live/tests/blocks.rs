//! Blocks, which every snapshot, commit and power cut has as a whole or not at all.

use super::*;
use crate::index::snapshot::batch::{Batch, BatchField, BatchOptions};
use crate::schema::ValueRef;
use crate::store::{Directory, FaultDirectory};

/// The number of documents of a block whose key begins with `u`. It is replaced by others of the same size.
const REPLACED: usize = 5;

struct BlockFields {
    schema: Schema,
    text: Field,
    block: Field,
    number: Field,
}

fn block_fields() -> BlockFields {
    let mut schema = Schema::new();
    let text = schema.add(FieldEntry::text("text")).unwrap();
    let block = schema.add(FieldEntry::new("block", FieldKind::Keyword).column()).unwrap();
    let number = schema.add(FieldEntry::new("number", FieldKind::Unsigned).column()).unwrap();
    BlockFields { schema, text, block, number }
}

fn open(directory: Arc<dyn Directory>, fields: &BlockFields, lanes: usize) -> IndexWriter {
    let merge = MergePolicy { segments: 3, least_segments: 0, ..MergePolicy::default() };
    let options = WriterOptions { lanes, memory: 1 << 30, merge: Some(merge), ..WriterOptions::default() };
    IndexWriter::open_in(directory, Some(&fields.schema), options).unwrap()
}

/// A block: its name, its number and the number of documents.
type Block = (String, u64, usize);

/// The documents of a block. Each of them says the size of the block.
fn documents(fields: &BlockFields, block: &Block) -> Vec<Document> {
    let (name, number, size) = block;
    let document = |place: usize| {
        Document::new(format!("{name}/{place}"))
            .text(fields.text, format!("all size{size}"))
            .text(fields.block, name.as_str())
            .with(fields.number, Value::Unsigned(*number))
    };
    (0..*size).map(document).collect()
}

/// The blocks of a snapshot, each of which must be whole. The same block may be there several times.
fn whole_blocks(snapshot: &Snapshot, fields: &BlockFields, what: &str) -> Vec<Block> {
    let mut found: BTreeMap<(String, u64), BTreeMap<String, usize>> = BTreeMap::new();
    let read = [BatchField::Key, BatchField::Values(fields.block), BatchField::Values(fields.number)];
    let each = &mut |batch: &Batch| {
        for row in 0..batch.docs.len() {
            let of = |column: usize| batch.columns[column].values(row).next().unwrap();
            let text = |value| match value {
                ValueRef::Text(text) => String::from_utf8(text.to_vec()).unwrap(),
                other => panic!("{other:?}"),
            };
            let ValueRef::Unsigned(number) = of(2) else { panic!("a number is unsigned") };
            let keys = found.entry((text(of(1)), number)).or_default();
            *keys.entry(text(of(0))).or_default() += 1;
        }
        Ok(ControlFlow::Continue(()))
    };
    snapshot.for_each_batch(&Query::All, &read, &BatchOptions::default(), each).unwrap();
    let mut all = Vec::new();
    for ((name, number), keys) in found {
        let of_block = crate::query::ValueRange::one(fields.block, Value::Text(name.clone().into_bytes()));
        let size = keys.len();
        let times = keys.values().next().copied().unwrap_or(0);
        assert!(keys.values().all(|&count| count == times), "{what}: {name} {number} {keys:?}");
        let said = Query::term(fields.text, format!("size{size}"));
        let query = Query::all_of(vec![Query::Values(of_block), said]);
        let saying = snapshot.searcher().count(&query).unwrap();
        assert!(saying >= (times * size) as u64, "{what}: {name} {number} has a part: {keys:?}");
        all.extend(std::iter::repeat_n((name, number, size), times));
    }
    all
}

#[test]
fn blocks_are_what_a_list_of_blocks_would_hold() {
    for lanes in [1, 3] {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = Rng::with_seed(seed);
        let fields = block_fields();
        let directory = Arc::new(RamDirectory::new());
        let writer = open(directory.clone(), &fields, lanes);
        let mut held: Vec<Block> = Vec::new();
        for round in 0..300 {
            let what = format!("seed {seed} round {round}");
            let block = (format!("b{}", random.usize(..12)), round, random.usize(1..6));
            match random.usize(..14) {
                0..3 => {
                    writer.add_block(&documents(&fields, &block)).unwrap();
                    held.push(block);
                }
                3..6 => {
                    // Only documents with the same keys are replaced, so blocks of one name get one size.
                    let block = (format!("u{}", random.usize(..4)), round, REPLACED);
                    writer.update_block(&documents(&fields, &block)).unwrap();
                    held.retain(|other| other.0 != block.0);
                    held.push(block);
                }
                6 => {
                    let mut broken = documents(&fields, &block);
                    broken.push(Document::new("x").with(fields.number, "many"));
                    assert!(writer.add_block(&broken).is_err() && writer.update_block(&broken).is_err());
                }
                7 => {
                    let name = Query::term(fields.block, block.0.as_str());
                    writer.delete_matching(&name).unwrap();
                    held.retain(|other| other.0 != block.0);
                }
                12..14 => {
                    let name = Query::term(fields.block, block.0.as_str());
                    if random.u8(..4) == 0 {
                        let broken = [Document::new("x").with(fields.number, "many")];
                        assert!(writer.replace_matching(&name, &broken).is_err());
                        continue;
                    }
                    // A block of no documents only deletes.
                    let block = (block.0, round, random.usize(..4));
                    writer.replace_matching(&name, &documents(&fields, &block)).unwrap();
                    held.retain(|other| other.0 != block.0);
                    held.extend((block.2 > 0).then_some(block));
                }
                8 => write_lane(&writer, random.usize(..lanes)),
                9 => drop(writer.prepare().unwrap()),
                _ => {
                    let snapshot = if random.bool() {
                        writer.snapshot().unwrap()
                    } else {
                        writer.commit().unwrap();
                        Snapshot::open_in(&*directory).unwrap().unwrap()
                    };
                    held.sort();
                    assert_eq!(whole_blocks(&snapshot, &fields, &what), held, "{what}");
                }
            }
        }
        assert_eq!(writer.merge_failure(), None);
        assert_eq!(writer.add_block(&[]).unwrap(), writer.update_block(&[]).unwrap() - 1);
    }
}

/// Adds, replaces and deletes blocks.
fn change(writer: &IndexWriter, fields: &BlockFields, thread: usize, seed: u64) {
    let mut random = Rng::with_seed(seed + thread as u64);
    for turn in 0..400 {
        let number = (thread * 1000 + turn) as u64;
        match random.usize(..10) {
            0..4 => {
                let block = (format!("b{thread}-{}", random.usize(..9)), number, random.usize(1..9));
                writer.add_block(&documents(fields, &block)).unwrap();
            }
            4..8 => {
                let block = (format!("u{}", random.usize(..3)), number, REPLACED);
                writer.update_block(&documents(fields, &block)).unwrap();
            }
            8 if turn % 2 == 0 => {
                // Of another number of documents each time, in place of those of this name.
                let block = (format!("v{}", random.usize(..3)), number, random.usize(1..9));
                let name = Query::term(fields.block, block.0.as_str());
                writer.replace_matching(&name, &documents(fields, &block)).unwrap();
            }
            8 => {
                let name = format!("b{}-{}", random.usize(..4), random.usize(..9));
                writer.delete_matching(&Query::term(fields.block, name)).unwrap();
            }
            _ => write_lane(writer, random.usize(..2)),
        }
    }
}

#[test]
fn every_snapshot_and_commit_has_whole_blocks_whatever_threads_do_meanwhile() {
    let seed = fastrand::u64(..1 << 60);
    println!("seed {seed}");
    let fields = block_fields();
    let directory = Arc::new(RamDirectory::new());
    let writer = open(directory.clone(), &fields, 2);
    for block in 0..3 {
        writer.add_block(&documents(&fields, &(format!("u{block}"), 0, REPLACED))).unwrap();
        writer.add_block(&documents(&fields, &(format!("v{block}"), 0, 2))).unwrap();
    }
    let over = AtomicBool::new(false);
    let must_be_whole = |snapshot: &Snapshot, what: &str| {
        let blocks = whole_blocks(snapshot, &fields, what);
        // Each of these is replaced, but never missing, and never there twice.
        let replaced = blocks.iter().filter(|block| block.0.starts_with(['u', 'v']));
        let names: Vec<&str> = replaced.map(|block| block.0.as_str()).collect();
        assert_eq!(names, ["u0", "u1", "u2", "v0", "v1", "v2"], "{what}");
    };
    std::thread::scope(|scope| {
        let (writer, fields, over) = (&writer, &fields, &over);
        let threads: Vec<_> =
            (0..4).map(|thread| scope.spawn(move || change(writer, fields, thread, seed))).collect();
        let committer = scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                writer.commit().unwrap();
                must_be_whole(&Snapshot::open_in(&*directory).unwrap().unwrap(), "a commit");
            }
        });
        let reader = scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                must_be_whole(&writer.snapshot().unwrap(), "a snapshot");
            }
        });
        let ends: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
        over.store(true, Ordering::Relaxed);
        committer.join().unwrap();
        reader.join().unwrap();
        ends.into_iter().for_each(|end| end.unwrap());
    });
    writer.commit().unwrap();
    must_be_whole(&Snapshot::open_in(&*directory).unwrap().unwrap(), "the end");
    assert_eq!(writer.merge_failure(), None);
}

#[test]
fn a_power_cut_at_any_call_leaves_whole_blocks() {
    let seed = fastrand::u64(..1 << 60);
    println!("seed {seed}");
    let fields = block_fields();
    let directory = FaultDirectory::new();
    {
        let writer = open(Arc::new(directory.clone()), &fields, 2);
        let (writer, fields) = (&writer, &fields);
        std::thread::scope(|scope| {
            for thread in 0..2 {
                scope.spawn(move || {
                    let mut random = Rng::with_seed(seed + thread);
                    for turn in 0..40 {
                        let name = if random.bool() { "u0".to_owned() } else { format!("u{}", 1 + thread) };
                        let block = (name, thread * 1000 + turn, REPLACED);
                        writer.update_block(&documents(fields, &block)).unwrap();
                        match random.usize(..6) {
                            0 => write_lane(writer, random.usize(..2)),
                            1 => drop(writer.commit().unwrap()),
                            2 => drop(writer.snapshot().unwrap()),
                            _ => {}
                        }
                    }
                });
            }
        });
        writer.commit().unwrap();
    }
    let mut random = Rng::with_seed(seed);
    let mut commits = 0;
    for call in 0..=directory.call_count() {
        let what = format!("seed {seed}, power cut at call {call}");
        let left = directory.after_power_cut_at(call, random.u64(..));
        let Some(snapshot) = Snapshot::open_in(&left).unwrap() else { continue };
        let blocks = whole_blocks(&snapshot, &fields, &what);
        assert!(blocks.windows(2).all(|two| two[0].0 < two[1].0), "{what}: {blocks:?}");
        commits += u64::from(snapshot.info().documents > 0);
    }
    assert!(commits > 10, "{commits}");
}

#[test]
fn a_block_that_is_larger_than_a_lane_is_added_whole_and_a_document_that_does_not_fit_adds_none() {
    let fields = block_fields();
    let directory = Arc::new(RamDirectory::new());
    let options = WriterOptions { memory: 260 << 20, lanes: 1, merge: None, ..WriterOptions::default() };
    let writer = IndexWriter::open_in(directory, Some(&fields.schema), options).unwrap();
    let words =
        |from: u32, count: u32| -> String { (from..from + count).map(|word| format!("{word:x} ")).collect() };
    let large = |number: u32| {
        Document::new(format!("large-{number}")).text(fields.text, words(number * 150_000, 150_000))
    };
    let mut block: Vec<Document> = (0..12).map(large).collect();
    writer.add(&Document::new("large-3").text(fields.text, "kept")).unwrap();
    let huge = Document::new("huge").text(fields.text, words(0, 6_000_000));
    let parts = block.len();
    block.push(huge);
    let error = writer.update_block(&block).unwrap_err();
    assert!(error.to_string().contains("size of a document"), "{error}");
    let snapshot = writer.snapshot().unwrap();
    assert_eq!(snapshot.info().documents, 1);
    assert_eq!(snapshot.searcher().count(&Query::term(fields.text, b"kept")).unwrap(), 1);
    writer.commit().unwrap();
    writer.update_block(&block[..parts]).unwrap();
    let snapshot = writer.snapshot().unwrap();
    assert!(snapshot.segments().len() > 1, "the block has several segments");
    assert_eq!(snapshot.info().documents, parts as u64);
    assert_eq!(snapshot.searcher().count(&Query::term(fields.text, b"kept")).unwrap(), 0);
}
