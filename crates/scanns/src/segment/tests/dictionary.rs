//! Look-ups compared with a map of all terms, in dictionaries of every difficult kind.

use std::collections::BTreeSet;

use super::*;
use crate::codec::{ByteReader, head};
use crate::schema::Postings;
use crate::segment::layout::{SPARSE, TERMS};
use crate::segment::terms::{HeadedTerm, SPARSE_ENTRY, TermDictionary, TermsWriter, write_sparse};
use crate::store::{Envelope, EnvelopeWriter};

/// Writes `terms` in groups of at most `group` terms; `change` may alter the entries of the sparse index.
fn write(
    directory: &RamDirectory,
    random: &mut Rng,
    terms: &BTreeSet<Vec<u8>>,
    group: usize,
    change: impl FnOnce(&mut Vec<u8>),
) -> TermDictionary {
    let mut out = EnvelopeWriter::create(directory, "terms", SEGMENT, 1).unwrap();
    out.begin(TERMS).unwrap();
    let (mut sparse, norms) = (Vec::new(), vec![9; 2_000_000]);
    for some in terms.iter().collect::<Vec<_>>().chunks(group) {
        let mut writer = TermsWriter::new(512, Postings::Frequencies);
        for term in some {
            let docs = if random.bool() { 1 } else { random.u32(2..300) };
            let most = [1, 200, 6_000][random.usize(..3)];
            let step = 1 + random.u32(..most);
            let postings = (0..docs).map(|doc| (doc * step + step, 1 + doc * step % 3));
            writer.add(HeadedTerm { term, head: head(term) }, postings, &norms, &mut out).unwrap();
        }
        sparse.extend(writer.finish(&mut out).unwrap());
    }
    change(&mut sparse);
    out.begin(SPARSE).unwrap();
    write_sparse(&sparse, &mut out).unwrap();
    out.finish().unwrap().sync().unwrap();
    let file = Envelope::open(directory, "terms", SEGMENT).unwrap();
    TermDictionary::open(&file, TERMS, SPARSE, Postings::Frequencies).unwrap()
}

/// Terms like `term`: itself, its neighbours, and terms with the same beginning.
fn near(random: &mut Rng, term: &[u8]) -> Vec<Vec<u8>> {
    let mut all = vec![term.to_vec(); 6];
    all[1].push(random.u8(..));
    all[2].push(0);
    all[3].truncate(random.usize(..=term.len()));
    if let Some(last) = all[4].last_mut() {
        *last = last.wrapping_add(1);
    }
    if !term.is_empty() {
        let at = random.usize(..term.len());
        all[5][at] = random.u8(..);
    }
    all
}

/// Compares look-ups with a map of all terms that the dictionary lists.
fn check_lookups(name: &str, random: &mut Rng, terms: BTreeSet<Vec<u8>>, group: usize) {
    let found = write(&RamDirectory::new(), random, &terms, group, |_| ());
    found.check_sparse(&mut || Ok(())).unwrap();
    let mut known = BTreeMap::new();
    let mut all = found.iter_from(b"").unwrap();
    while all.step().unwrap() {
        known.insert(all.term().to_vec(), (all.info(), all.positions()));
    }
    assert!(known.keys().eq(&terms), "{name}: terms differ");
    let some = terms.iter().step_by(terms.len() / 4000 + 1);
    let probes = some.flat_map(|term| near(random, term)).chain([vec![], vec![255; 40]]);
    for (i, probe) in probes.enumerate() {
        let got = found.find(&probe).unwrap();
        assert_eq!(got, known.get(&probe).copied(), "{name}: {}", probe.escape_ascii());
        if i % 53 == 0 {
            let mut from = found.iter_from(&probe).unwrap();
            let expected = known.range(probe.clone()..).next().map(|(term, _)| term.as_slice());
            assert_eq!(
                from.step().unwrap().then(|| from.term()),
                expected,
                "{name}: {}",
                probe.escape_ascii()
            );
        }
    }
}

#[test]
fn every_term_and_no_other_is_found_in_dictionaries_of_every_kind() {
    let seed = 0x5eed_1101;
    println!("seed {seed:x}");
    let random = &mut Rng::with_seed(seed);
    let mixed = (0..20_000).map(|_| random_term(random)).chain([vec![]]).collect();
    check_lookups("mixed", random, mixed, usize::MAX);
    let same: BTreeSet<_> = (0..9_000u32).map(|n| format!("samesame{}", n * 37).into_bytes()).collect();
    check_lookups("the same eight bytes", random, same.clone(), usize::MAX);
    check_lookups("the same eight bytes, each a block", random, same.into_iter().take(700).collect(), 1);
    let numbers = (0..60_000u32).map(|n| (1_400_000_000 + n * 3).to_string().into_bytes()).collect();
    check_lookups("numbers", random, numbers, usize::MAX);
    for least in [1usize, 14, 15, 16, 100, 126, 127, 128, 254, 255, 256, 300, 4000] {
        let own = (0..500).map(|_| {
            let mut term = vec![b'p'; least + random.usize(..3)];
            term.extend((0..random.usize(..least + 2)).map(|_| random.u8(b'a'..=b'c')));
            term
        });
        let terms = own.collect();
        check_lookups(
            &format!("{least} bytes in common"),
            random,
            terms,
            if least % 2 == 0 { usize::MAX } else { 5 },
        );
        let long = (0..300).map(|_| (0..random.usize(..2 * least)).map(|_| random.u8(b'a'..=b'z')).collect());
        let terms = long.collect();
        check_lookups(&format!("up to {least} bytes of their own"), random, terms, usize::MAX);
    }
    for symbols in [1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 128, 200, 255u8] {
        let letter = |random: &mut Rng| random.u8(..symbols).wrapping_add(if symbols <= 95 { 33 } else { 0 });
        let terms = (0..5_000).map(|_| (0..random.usize(..12)).map(|_| letter(random)).collect()).collect();
        check_lookups(&format!("{symbols} symbols"), random, terms, usize::MAX);
    }
    let zeros = (0..400).flat_map(|n| [0u8, 1, 255].map(|byte| vec![byte; n])).collect();
    check_lookups("zeros, ones and the greatest bytes", random, zeros, 3);
    check_lookups("no terms", random, BTreeSet::new(), usize::MAX);
    check_lookups("the empty term", random, BTreeSet::from([vec![]]), usize::MAX);
    check_lookups("a huge term", random, BTreeSet::from([vec![b'x'; 1 << 15], b"xx".to_vec()]), usize::MAX);
}

#[test]
fn a_check_finds_a_wrong_sparse_index_and_never_panics() {
    let seed = 0x5eed_1102;
    println!("seed {seed:x}");
    let random = &mut Rng::with_seed(seed);
    let terms: BTreeSet<_> = (0..60_000u32).map(|n| n.to_string().into_bytes()).collect();
    for _ in 0..20 {
        let (at, value) = (random.usize(..SPARSE_ENTRY), random.u8(1..));
        let of = random.usize(..900);
        let found = write(&RamDirectory::new(), random, &terms, usize::MAX, |sparse| {
            sparse[of * SPARSE_ENTRY + at] ^= value;
        });
        for term in terms.iter().step_by(31) {
            let _ = found.find(term);
        }
        // A wrong prefix may still be between its neighbours. A wrong place is detected when the block is
        // read.
        if at == 7 && !(1..=899).contains(&of) {
            assert!(found.check_sparse(&mut || Ok(())).is_err(), "prefix {of}, byte {at}");
        }
    }
    // The first prefix in place of a later one.
    let found = write(&RamDirectory::new(), random, &terms, usize::MAX, |sparse| {
        sparse.copy_within(..8, 500 * SPARSE_ENTRY);
    });
    assert!(found.check_sparse(&mut || Ok(())).is_err());
}

/// A dictionary with a changed section of terms, but correct checksums.
fn changed(directory: &RamDirectory, change: impl FnOnce(&mut Vec<u8>)) -> TermDictionary {
    let file = Envelope::open(directory, "terms", SEGMENT).unwrap();
    let sections = [TERMS, SPARSE].map(|kind| file.section(kind).unwrap().all().unwrap().to_vec());
    let [mut terms, sparse] = sections;
    change(&mut terms);
    let directory = RamDirectory::new();
    let mut out = EnvelopeWriter::create(&directory, "terms", SEGMENT, 1).unwrap();
    for (kind, bytes) in [(TERMS, terms), (SPARSE, sparse)] {
        out.begin(kind).unwrap();
        out.write(&bytes).unwrap();
    }
    out.finish().unwrap().sync().unwrap();
    let file = Envelope::open(&directory, "terms", SEGMENT).unwrap();
    TermDictionary::open(&file, TERMS, SPARSE, Postings::Frequencies).unwrap()
}

#[test]
fn wrong_blocks_never_panic_and_wrong_halves_are_found() {
    let seed = 0x5eed_1105;
    println!("seed {seed:x}");
    let random = &mut Rng::with_seed(seed);
    let directory = RamDirectory::new();
    let terms: BTreeSet<_> = (0..300).map(|_| random_term(random)).collect();
    let whole = write(&directory, random, &terms, usize::MAX, |_| ());
    let len = whole.section().len();
    for _ in 0..1500 {
        let (at, value) = (random.usize(..len), random.u8(1..));
        let found = changed(&directory, |bytes| bytes[at] ^= value);
        for term in &terms {
            let _ = found.find(term);
        }
        if let Ok(mut all) = found.iter_from(b"") {
            while let Ok(true) = all.step() {}
        }
        let _ = found.check_sparse(&mut || Ok(()));
    }
    let place = whole.place_of_block(whole.blocks() - 2);
    let bytes = whole.section().get(place.clone()).unwrap();
    let mut reader = ByteReader::new(bytes);
    assert_eq!(reader.u8(), Some(64));
    reader.u8();
    assert!((0..3).all(|_| reader.varint().is_some()));
    let half = place.end - reader.remaining().len();
    assert!((0..2).all(|_| reader.varint().is_some()));
    for at in half..place.end - reader.remaining().len() {
        for value in [1, 3, 0x80] {
            let found = changed(&directory, |bytes| bytes[at] ^= value);
            let mut all = found.iter_from(b"").unwrap();
            let ended = std::iter::from_fn(|| all.step().map(|more| more.then_some(())).transpose())
                .find(Result::is_err);
            assert!(ended.is_some(), "byte {at} of the section changed by {value:x}");
        }
    }
}
