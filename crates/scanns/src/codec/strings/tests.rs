mod sizes;

use std::ops::ControlFlow;

use super::super::ByteReader;
use super::*;

/// Strings of one of many kinds.
fn strings(random: &mut fastrand::Rng) -> Vec<Vec<u8>> {
    let count = [0, 1, 2, 127, 128, 129, 300, 3000][random.usize(..8)];
    let kind = random.u32(..9);
    (0..count)
        .map(|i: usize| match kind {
            0 => Vec::new(),
            1 => b"the same".to_vec(),
            2 => (0..random.usize(..30)).map(|_| random.u8(..)).collect(),
            3 => (0..16).map(|_| random.u8(..)).collect(),
            4 => format!("/usr/share/doc/package-{}/README.{}", random.u32(..500), i % 3).into_bytes(),
            5 => format!("user {} opened the door of house {} and closed it", i % 10, i % 11).into_bytes(),
            6 if random.u32(..200) == 0 => vec![random.u8(..3); random.usize(..40_000)],
            7 => vec![b'a'; usize::from(random.u8(..) == 0)],
            _ => format!("{:x}", random.u32(..)).into_bytes(),
        })
        .collect()
}

fn encode(strings: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Vec::new();
    StringEncoder::default().encode(&strings.iter().map(Vec::as_slice).collect::<Vec<_>>(), &mut out);
    out
}

#[test]
fn an_encoder_takes_the_symbols_of_the_last_block_only_while_they_fit() {
    let mut random = fastrand::Rng::with_seed(0x5eed_5713);
    let mut encoder = StringEncoder::default();
    let (mut together, mut alone) = (0, 0);
    for round in 0..300 {
        // Now and then another kind of strings, as in a column whose documents come from several places.
        let numbers = round / 20 % 2 == 0;
        let strings: Vec<Vec<u8>> = (0..1000)
            .map(|_| match numbers {
                true => format!("sample-{:04}.dat", random.u32(..3000)).into_bytes(),
                false => format!("Überschrift {} von {}", random.u32(..9), random.u32(..70)).into_bytes(),
            })
            .collect();
        let slices: Vec<&[u8]> = strings.iter().map(Vec::as_slice).collect();
        let mut bytes = Vec::new();
        encoder.encode(&slices, &mut bytes);
        let (block, mut found) = (StringBlock::open(&bytes).unwrap(), Vec::new());
        for (i, string) in strings.iter().enumerate() {
            found.clear();
            block.get(i, &mut found).unwrap();
            assert_eq!(&found, string, "round {round} string {i}");
        }
        together += bytes.len();
        alone += encode(&strings).len();
    }
    assert!(together * 100 <= alone * 103, "{together} bytes, {alone} with symbols of their own");
}

#[test]
fn every_string_comes_back_whichever_way_it_is_read() {
    let seed = 0x5eed_5712;
    println!("seed {seed:x}");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut forms = [0; 4];
    for round in 0..200 {
        let strings = strings(&mut random);
        let bytes = encode(&strings);
        let block = StringBlock::open(&bytes).unwrap();
        assert_eq!(block.len() as usize, strings.len());
        forms[match block.len() {
            0 => 0,
            _ => usize::from(bytes[bytes.iter().position(|&byte| byte < 128).unwrap() + 1]),
        }] += 1;
        let (mut text, mut found) = (b"old".to_vec(), Vec::new());
        block.unpack(&mut text).unwrap();
        assert_eq!(block.is_packed(), !text.is_empty());
        for (i, string) in strings.iter().enumerate() {
            found.clear();
            block.get_from(&text, i, &mut found).unwrap();
            assert_eq!(&found, string, "seed {seed:x} round {round} string {i}");
            if i % 97 == 0 {
                block.get(i, &mut found).unwrap();
                assert_eq!(found, string.repeat(2));
            }
        }
        assert_eq!(block.get(strings.len(), &mut found), None);
        assert_eq!(block.get(usize::MAX, &mut found), None);
        let from = random.usize(..=strings.len());
        let range = from..random.usize(from..=strings.len());
        let mut all = Vec::new();
        let flow = |string: &[u8]| {
            all.push(string.to_vec());
            ControlFlow::Continue(())
        };
        block.each(range.clone(), &mut text, flow).unwrap();
        assert_eq!(all, strings[range], "seed {seed:x} round {round}");
        assert_eq!(filled(&block), Some(strings.clone()), "seed {seed:x} round {round}");
        let mut calls = 0;
        let _ = block.each(0..strings.len(), &mut text, |_| {
            calls += 1;
            ControlFlow::Break(())
        });
        assert_eq!(calls, strings.len().min(1));
        assert!(block.each(0..strings.len() + 1, &mut text, |_| ControlFlow::Continue(())).is_none());
    }
    assert!(forms.iter().all(|&count| count > 3), "a form was never tried: {forms:?}");
}

#[test]
fn what_repeats_is_tiny() {
    assert!(encode(&vec![Vec::new(); 65_536]).len() <= 4);
    assert!(encode(&vec![b"constant".to_vec(); 65_536]).len() <= 12);
    // More equal strings take bytes for each, so that a few bytes never represent very many strings.
    let very_many = encode(&vec![Vec::new(); 1_000_000]).len();
    assert!((1_000_000 / 64..1_000_000 / 4).contains(&very_many), "{very_many}");
    assert!(StringBlock::open(&[&[0x81, 0x80, 0x04, 0][..], b"x"].concat()).is_none());
    assert!(encode(&[]).len() <= 2);
    let pair = |i: u32| [[b"yes", b"no "][i as usize % 2].to_vec(), b"-".to_vec()].concat();
    let two: Vec<Vec<u8>> = (0..4096).map(pair).collect();
    assert!(encode(&two).len() < 5000, "{}", encode(&two).len());
}

#[test]
fn a_block_with_flipped_or_missing_bytes_is_refused_or_read_within_bounds() {
    let seed = 0x5eed_5713;
    println!("seed {seed:x}");
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..60 {
        let bytes = encode(&strings(&mut random));
        for _ in 0..60 {
            let mut damaged = bytes.clone();
            if random.bool() {
                damaged.truncate(random.usize(..=bytes.len()));
            }
            // Damage at the front has the greatest effect.
            let most = if random.bool() { damaged.len().min(40) } else { damaged.len() };
            for _ in 0..random.usize(..4).min(most) {
                damaged[random.usize(..most)] ^= 1 << random.u32(..8);
            }
            read_all(&damaged, &mut random);
        }
    }
    for len in 0..200 {
        for form in 0..5 {
            let mut bytes: Vec<u8> = (0..len).map(|_| random.u8(..)).collect();
            if len > 1 {
                (bytes[0], bytes[1]) = (bytes[0] & 127, form);
            }
            read_all(&bytes, &mut random);
        }
    }
}

/// All strings of a block, read in batches.
fn filled(block: &StringBlock) -> Option<Vec<Vec<u8>>> {
    let (mut text, mut batch, mut all) = (Vec::new(), StringBatch::new(), Vec::new());
    block.unpack(&mut text)?;
    while all.len() < block.len() as usize {
        block.fill(&text, all.len(), &mut batch)?;
        assert!(!batch.is_empty());
        assert_eq!(batch.text(), (0..batch.len()).flat_map(|i| batch.get(i)).copied().collect::<Vec<_>>());
        all.extend((0..batch.len()).map(|i| batch.get(i).to_vec()));
    }
    Some(all)
}

#[test]
fn strings_of_any_bytes_are_read_alike_in_batches_and_alone() {
    let seed = 0x5eed_5714;
    println!("seed {seed:x}");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut readable = 0;
    for _ in 0..60 {
        let bytes = encode(&strings(&mut random));
        for _ in 0..30 {
            let mut damaged = bytes.clone();
            let most = damaged.len();
            for _ in 0..random.usize(1..4).min(most) {
                damaged[random.usize(..most)] ^= 1 << random.u32(..8);
            }
            let Some(block) = StringBlock::open(&damaged).filter(|block| block.len() <= 3_000) else {
                continue;
            };
            let mut text = Vec::new();
            if block.unpack(&mut text).is_none() {
                continue;
            }
            let alone = (0..block.len() as usize).map(|i| {
                let mut string = Vec::new();
                block.get_from(&text, i, &mut string).map(|()| string)
            });
            let alone: Option<Vec<Vec<u8>>> = alone.collect();
            readable += usize::from(alone.is_some());
            assert_eq!(filled(&block), alone, "seed {seed:x}");
        }
    }
    assert!(readable > 100, "only {readable} damaged blocks could be read");
}

/// Reads some strings of a block of arbitrary bytes. Each string has at most eight times the bytes of the
/// block, or 1 MiB.
fn read_all(bytes: &[u8], random: &mut fastrand::Rng) {
    let Some(block) = StringBlock::open(bytes) else { return };
    let (mut text, mut out) = (Vec::new(), Vec::new());
    let whole = block.unpack(&mut text).is_some();
    assert!(text.len() <= 1 << 20);
    let len = block.len() as usize;
    for i in (0..20).map(|_| random.usize(..len.max(1))).chain([0, len.wrapping_sub(1), len]) {
        out.clear();
        let found = block.get_from(if whole { &text } else { &[] }, i, &mut out);
        assert!(out.len() <= (8 * bytes.len()).max(1 << 20));
        assert!(found.is_some() || out.is_empty());
    }
    let mut calls = 0;
    let _ = block.each(0..len, &mut text, |_| {
        calls += 1;
        if calls < 5000 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
}

#[test]
fn ends_come_back_along_lines_and_far_from_them() {
    let seed = 0x5eed_5714;
    println!("seed {seed:x}");
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..300 {
        let most = [0, 1, 2, 30, 1000, 1 << 20, 1 << 33, 1 << 40][random.usize(..8)];
        let mut at = 0;
        let ends: Vec<u64> = (0..random.usize(..600))
            .map(|_| {
                at += if random.u32(..100) == 0 {
                    random.u64(..=2 * most)
                } else {
                    random.u64(..=most / 2 + 1)
                };
                at
            })
            .collect();
        let (mut writer, mut bytes) = (EndsWriter::default(), Vec::new());
        ends.iter().for_each(|&end| writer.push(end));
        writer.finish(&mut bytes);
        let len = bytes.len();
        let found = EndsPlace::find(ends.len(), len, |range| bytes.get(range).ok_or(()));
        assert_eq!(found.unwrap().map(|place| place.len()), Some(len), "seed {seed:x} round {round}");
        bytes.extend_from_slice(b"rest");
        let mut reader = ByteReader::new(&bytes);
        let read = Ends::open(&mut reader, ends.len()).unwrap();
        assert_eq!(reader.remaining(), b"rest");
        for (i, &end) in ends.iter().enumerate() {
            let start = i.checked_sub(1).map_or(0, |before| ends[before]);
            let found = read.range(i).map(|range| (range.start as u64, range.end as u64));
            assert_eq!(found, Some((start, end)), "seed {seed:x} round {round} end {i}");
        }
        assert_eq!(read.range(ends.len()), None);
        if len > 0 {
            assert!(Ends::open(&mut ByteReader::new(&bytes[..len - 1]), ends.len()).is_none());
        }
    }
    assert!(Ends::open(&mut ByteReader::new(&[0xff; 4096]), usize::MAX).is_none());
    assert!(Ends::open(&mut ByteReader::new(&[0xff; 4096]), 200).is_none());
}
