use super::positions::write;
use super::*;
use crate::codec::PositionCursor;
use crate::error::Error;
use crate::segment::layout::KEYS;

/// Key → frequency and positions.
type ByKey = BTreeMap<Vec<u8>, (u32, Vec<u32>)>;

/// Every posting by term and key of the document.
fn by_key(segment: &Segment) -> BTreeMap<Vec<u8>, ByKey> {
    let mut found = BTreeMap::new();
    let mut terms = segment.terms_from(b"").unwrap();
    while terms.step().unwrap() {
        let (term, info) = (terms.term().to_vec(), terms.info());
        let deltas = segment.deltas(&term, info, terms.positions());
        let mut positions = deltas.ok().map(PositionCursor::new);
        let mut list = segment.cursor(&term, info).unwrap();
        let mut documents = BTreeMap::new();
        while list.doc() != NO_MORE {
            let at = positions.as_mut().map(|cursor| cursor.positions_of_current(&mut list).to_vec());
            documents.insert(segment.key(list.doc()).unwrap(), (list.tf(), at.unwrap_or_default()));
            list.step();
        }
        found.insert(term, documents);
    }
    found
}

/// The documents with a key.
fn named(segment: &Segment, key: &[u8]) -> Vec<u32> {
    segment.documents_named([key]).unwrap().into_iter().flatten().collect()
}

/// Norms by key.
fn norms(segment: &Segment) -> BTreeMap<Vec<u8>, u8> {
    let key = |doc: u32| segment.key(doc).unwrap();
    (0..).zip(segment.norms().unwrap()).map(|(doc, &norm)| (key(doc), norm)).collect()
}

fn any_order(random: &mut Rng, sources: &[Segment]) -> Vec<u32> {
    let live: u64 = sources.iter().map(Segment::live_documents).sum();
    let mut order: Vec<u32> = (0..u32::try_from(live).unwrap()).collect();
    random.shuffle(&mut order);
    order
}

/// Merges in the order of the sources, and in the given order.
fn both(directory: &RamDirectory, sources: &[Segment], order: Vec<u32>, how: Reordering) -> [Segment; 2] {
    let Reordering { memory, threads } = how;
    let work = MergeWork { buffers: FlushBuffers { write: 4096, lists: 700 }, threads, piece: 3000 };
    let merge = |id: u128, order: Option<DocumentOrder>| {
        let (merged, unsynced) = merge(directory, id, sources, order, &work, &mut |_| Ok(())).unwrap();
        unsynced.sync().unwrap();
        let segment = Segment::open(directory, id, 0).unwrap();
        segment.check(CheckLevel::Cross, &mut |_| Ok(())).unwrap();
        assert_eq!(&merged.segment.stats, segment.stats());
        for (number, source) in sources.iter().enumerate() {
            for doc in 0..source.stats().max_doc {
                let new = merged.number(number, doc);
                assert_eq!(new.is_some(), source.is_live(doc));
                if let Some(new) = new {
                    assert_eq!(segment.key(new).unwrap(), source.key(doc).unwrap());
                }
            }
        }
        segment
    };
    [merge(100, None), merge(101, Some(DocumentOrder::new(order, memory)))]
}

#[test]
fn a_merge_in_any_order_has_the_content_of_a_merge_in_the_order_of_the_sources() {
    let seed = 0x5eed_2210;
    let mut random = Rng::with_seed(seed);
    for round in 0..12 {
        let directory = RamDirectory::new();
        let mut sources = Vec::new();
        let sizes = [[300, 0, 80, 500], [0, 0, 1, 0], [0, 0, 0, 0], [40, 1, 9, 700]][round % 4];
        for (id, docs) in (1..).zip(sizes) {
            write(&directory, id, &mut random, docs);
            let mut segment = Segment::open(&directory, id, 0).unwrap();
            let share = random.u32(..3);
            for doc in 0..docs {
                if random.u32(..4) < share {
                    segment.delete(doc);
                }
            }
            sources.push(segment);
        }
        let order = any_order(&mut random, &sources);
        // With little memory, terms are gathered in many passes.
        let memory = [100, 50_000, 1 << 30][random.usize(..3)];
        let [kept, reordered] =
            both(&directory, &sources, order, Reordering { memory, threads: random.usize(1..4) });
        assert!(by_key(&kept) == by_key(&reordered), "seed {seed:x} round {round}");
        assert_eq!(norms(&kept), norms(&reordered), "seed {seed:x} round {round}");
        assert_eq!(kept.stats().documents, reordered.stats().documents);
        assert_eq!(kept.field_stats().tokens, reordered.field_stats().tokens);
        for doc in 0..reordered.stats().max_doc {
            let key = reordered.key(doc).unwrap();
            assert_eq!(named(&reordered, &key), [doc]);
        }
    }
}

/// A segment of lines of several files, each with a unique word.
fn lines(random: &mut Rng, directory: &RamDirectory, id: u128) {
    let options = InvertOptions { budget: 1 << 26, pages: PageSize::Base, ..InvertOptions::default() };
    let mut inverter = Inverter::new(&options).unwrap();
    let (mut keys, mut runs) = (Keys::default(), Vec::new());
    for file in 0..random.u32(1..6) {
        let path = format!("/dir/{id}/{file}").into_bytes();
        let whole = random.u8(..4) == 0;
        for part in 0..if whole { 1 } else { random.u64(1..4) } {
            let first_line = if whole { 0 } else { 1 + part * 1000 };
            runs.push(KeyRun { first_doc: inverter.max_doc(), path: file, first_line });
            for line in 0..if whole { 1 } else { random.u64(1..200) } {
                inverter.token(format!("{id}-{file}-{}", first_line + line).as_bytes(), 0..1);
                inverter.token(format!("w{}", random.u8(..9)).as_bytes(), 0..1);
                if random.u8(..30) == 0 { inverter.void_document() } else { inverter.end_document() }
            }
        }
        keys.paths.push(path);
        keys.stamps.push(Stamp { bytes: file.into(), modified: 7 });
    }
    keys.runs = Some(runs);
    let buffers = FlushBuffers::default();
    write_segment(directory, id, &mut inverter, &keys, &buffers);
}

#[test]
fn lines_keep_their_keys_through_repeated_reordering_and_merges() {
    let seed = 0x5eed_2211;
    let mut random = Rng::with_seed(seed);
    for round in 0..20 {
        let what = format!("seed {seed:x} round {round}");
        let directory = RamDirectory::new();
        let mut sources: Vec<Segment> = Vec::new();
        for id in 1..=random.u32(1..4) {
            lines(&mut random, &directory, id.into());
            sources.push(Segment::open(&directory, id.into(), 0).unwrap());
        }
        for again in 0..3 {
            for source in &mut sources {
                for doc in 0..source.stats().max_doc {
                    if random.u8(..20) == 0 {
                        source.delete(doc);
                    }
                }
            }
            let order = any_order(&mut random, &sources);
            let [kept, reordered] =
                both(&directory, &sources, order, Reordering { memory: 1 << 20, threads: 1 });
            let found = by_key(&reordered);
            assert!(found == by_key(&kept), "{what} {again}");
            let runs = |segment: &Segment| segment.envelope().section(KEYS).unwrap().len();
            if again == 0 {
                assert_eq!(runs(&kept), runs(&reordered), "{what}: runs of places are those of lines");
            }
            for doc in 0..reordered.stats().max_doc {
                let key = reordered.key(doc).unwrap();
                assert_eq!(named(&reordered, &key), [doc], "{what} {again}");
            }
            for file in 0..6 {
                let path = format!("/dir/1/{file}").into_bytes();
                let of = |segment: &Segment| {
                    let found = segment.documents_of([path.as_slice()]).unwrap();
                    let mut keys: Vec<_> =
                        found.into_iter().flatten().map(|doc| segment.key(doc).unwrap()).collect();
                    keys.sort();
                    keys
                };
                assert_eq!(of(&kept), of(&reordered), "{what} {again}");
                let known = |segment: &Segment| KnownPaths::of(segment).unwrap().find(&path).unwrap();
                assert_eq!(known(&kept), known(&reordered), "{what} {again}");
            }
            // A reordered segment is a source like any other; it is merged with other files.
            directory.remove(&file_name(100)).unwrap();
            let id = 1000 + again;
            let work = MergeWork::default();
            merge(&directory, id, &[reordered], None, &work, &mut |_| Ok(())).unwrap().1.sync().unwrap();
            let merged = Segment::open(&directory, id, 0).unwrap();
            merged.check(CheckLevel::Cross, &mut |_| Ok(())).unwrap();
            assert!(by_key(&merged) == found, "{what} {again}");
            let reordered = Segment::open(&directory, 101, 0).unwrap();
            assert!(runs(&merged) <= runs(&reordered), "{what} {again}: merges keep places");
            sources = vec![if random.bool() { merged } else { reordered }];
            directory.remove(&file_name(101)).unwrap();
        }
    }
}

/// A segment with these keys, whose documents have one common word and one of two random words.
fn keyed(random: &mut Rng, directory: &RamDirectory, id: u128, documents: u32, keys: &Keys) {
    let options = InvertOptions { budget: 1 << 26, pages: PageSize::Base, ..InvertOptions::default() };
    let mut inverter = Inverter::new(&options).unwrap();
    for _ in 0..documents {
        inverter.token(b"all", 0..1);
        inverter.token(if random.bool() { b"one" } else { b"two" }, 0..1);
        inverter.end_document();
    }
    let buffers = FlushBuffers::default();
    write_segment(directory, id, &mut inverter, keys, &buffers);
}

#[test]
fn reordering_joins_lines_that_were_apart_in_runs() {
    let mut random = Rng::with_seed(0x5eed_2214);
    let directory = RamDirectory::new();
    let mut lines: Vec<u64> = (1..=500).collect();
    random.shuffle(&mut lines);
    let run = |(first_doc, first_line)| KeyRun { first_doc, path: 0, first_line };
    let runs = (0..).zip(lines).map(run).collect();
    let stamps = vec![Stamp { bytes: 1, modified: 7 }];
    let keys = Keys { paths: vec![b"/lines".to_vec()], stamps, runs: Some(runs), ..Keys::default() };
    keyed(&mut random, &directory, 1, 500, &keys);
    let sources = [Segment::open(&directory, 1, 0).unwrap()];
    let order = any_order(&mut random, &sources);
    let [kept, reordered] = both(&directory, &sources, order, Reordering { memory: 1 << 20, threads: 1 });
    let runs = |segment: &Segment| (segment.envelope().section(KEYS).unwrap().len() - 16) / 16;
    assert_eq!((runs(&kept), runs(&reordered)), (500, 1));
    // A merge that keeps the order keeps the joined runs.
    let sources = [reordered];
    directory.remove(&file_name(100)).unwrap();
    let work = MergeWork::default();
    merge(&directory, 200, &sources, None, &work, &mut |_| Ok(())).unwrap().1.sync().unwrap();
    let merged = Segment::open(&directory, 200, 0).unwrap();
    merged.check(CheckLevel::Cross, &mut |_| Ok(())).unwrap();
    assert_eq!((runs(&merged), by_key(&merged) == by_key(&sources[0])), (1, true));
}

#[test]
fn documents_keep_their_order_if_paths_would_grow_by_more_than_lists_shrink() {
    let mut random = Rng::with_seed(0x5eed_2215);
    let mut found = |len: usize| {
        let directory = RamDirectory::new();
        // Sixteen files per directory with a long name; with a short name, neighbours share nothing.
        let name = |doc: u32| match len {
            0 => format!("{doc:04}").bytes().rev().collect(),
            _ => format!("{:04}{}/{doc:04}", doc / 16, "d".repeat(len)).into_bytes(),
        };
        let paths: Vec<Vec<u8>> = (0..2000).map(name).collect();
        let stamps = vec![Stamp { bytes: 1, modified: 7 }; 2000];
        keyed(&mut random, &directory, 1, 2000, &Keys { paths, stamps, ..Keys::default() });
        let sources = [Segment::open(&directory, 1, 0).unwrap()];
        let how = Reordering { memory: 1 << 30, threads: 1 };
        similar_order(&sources, &how, &|_, _| Ok(())).unwrap()
    };
    assert!(found(0).is_some());
    assert!(found(200).is_none());
}

#[test]
fn an_order_of_similar_documents_does_not_depend_on_threads_and_needs_enough_memory() {
    let mut random = Rng::with_seed(0x5eed_2212);
    let directory = RamDirectory::new();
    for id in [1, 2] {
        write(&directory, id, &mut random, 400);
    }
    let sources = [1, 2].map(|id| Segment::open(&directory, id, 0).unwrap());
    let order = |memory, threads| {
        similar_order(&sources, &Reordering { memory, threads }, &|_, _| Ok(()))
            .map(|order| order.unwrap().kept_numbers().collect::<Vec<_>>())
    };
    let expected = order(1 << 30, 1).unwrap();
    let live: u64 = sources.iter().map(Segment::live_documents).sum();
    assert_eq!(expected.len() as u64, live);
    assert!(!expected.is_sorted());
    assert_eq!(order(1 << 30, 4).unwrap(), expected);
    let refused = order(1000, 1).unwrap_err();
    assert!(matches!(refused, Error::InvalidValue { .. }), "{refused}");
    let cancelled =
        similar_order(&sources, &Reordering { memory: 1 << 30, threads: 2 }, &|_, _| Err(Error::Cancelled));
    assert!(matches!(cancelled, Err(Error::Cancelled)));
}

#[test]
fn damage_in_a_reordered_segment_is_an_error_or_harmless() {
    let seed = 0x5eed_2213;
    let mut random = Rng::with_seed(seed);
    let directory = RamDirectory::new();
    lines(&mut random, &directory, 1);
    let sources = [Segment::open(&directory, 1, 0).unwrap()];
    let order = any_order(&mut random, &sources);
    let merged = merge(
        &directory,
        7,
        &sources,
        Some(DocumentOrder::new(order, 1 << 20)),
        &MergeWork::default(),
        &mut |_| Ok(()),
    );
    merged.unwrap().1.sync().unwrap();
    let bytes = directory.open(&file_name(7)).unwrap().to_vec();
    let expected = by_key(&Segment::open(&directory, 7, 0).unwrap());
    let names: Vec<_> = expected.values().flat_map(|documents| documents.keys()).cloned().collect();
    for round in 0..400 {
        let at = flip_a_bit(&directory, &bytes, &mut random);
        let Ok(segment) = Segment::open(&directory, 7, 0) else { continue };
        for name in names.iter().step_by(17) {
            let Ok(found) = segment.documents_named([name.as_slice()]) else { continue };
            assert_eq!(found.len(), 1, "seed {seed:x} round {round} byte {at}");
        }
    }
}
