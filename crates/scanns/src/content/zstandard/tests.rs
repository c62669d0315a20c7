//! Frames with and without dictionaries, as the `zstd` library writes them, and damage to dictionaries.

use std::io::{self, Cursor, Read};

use fastrand::Rng;

use super::super::compression::CompressedFormat;
use super::is_zstandard;
use crate::content::test_tools::{PAGES_DICTIONARY, PAGES_DICTIONARY_ID, dictionary_frame, frame_with};

/// The text of a file, read in odd steps.
fn text_of(bytes: &[u8]) -> io::Result<Vec<u8>> {
    assert_eq!(CompressedFormat::of(bytes), Some(CompressedFormat::Zstandard));
    let stream = Box::new(Cursor::new(bytes.to_vec()));
    let mut reader = CompressedFormat::Zstandard.reader(stream, bytes.len() as u64)?;
    let (mut text, mut step) = (Vec::new(), vec![0; 701]);
    loop {
        match reader.read(&mut step)? {
            0 => return Ok(text),
            got => text.extend_from_slice(&step[..got]),
        }
    }
}

fn error_of(bytes: &[u8]) -> String {
    text_of(bytes).unwrap_err().to_string()
}

/// A page of a crawl, as those that the dictionary was trained with.
fn page(number: usize, random: &mut Rng) -> Vec<u8> {
    const WORDS: [&str; 8] = ["ice", "sea", "ship", "harbour", "melt", "extent", "north", "wind"];
    let words: Vec<&str> = (0..random.usize(0..400)).map(|_| WORDS[random.usize(..8)]).collect();
    let head = "WARC-Type: response\r\nWARC-Target-URI: http://www.example.org/";
    format!("WARC/1.0\r\n{head}{number}\r\n\r\n{}\r\n\r\n", words.join(" ")).into_bytes()
}

fn skippable(kind: u8, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap().to_le_bytes();
    [&[0x50 | kind, 0x2a, 0x4d, 0x18][..], &length, content].concat()
}

#[test]
fn a_dictionary_serves_all_frames_behind_it_whether_it_is_compressed_or_not() {
    let seed = 0x5eed_2201;
    let mut random = Rng::with_seed(seed);
    let packed = zstd::bulk::compress(PAGES_DICTIONARY, 19).unwrap();
    // A dictionary that was compressed as a stream does not say its length.
    let streamed = zstd::stream::encode_all(PAGES_DICTIONARY, 3).unwrap();
    for dictionary in [PAGES_DICTIONARY, &packed, &streamed] {
        for frames in [1, 2, 500] {
            let pages: Vec<Vec<u8>> = (0..frames).map(|number| page(number, &mut random)).collect();
            let mut bytes = dictionary_frame(dictionary);
            for page in &pages {
                bytes.extend(frame_with(PAGES_DICTIONARY, page));
                if random.u8(..4) == 0 {
                    bytes.extend(skippable(random.u8(..13), b"for another program"));
                }
            }
            assert!(text_of(&bytes).unwrap() == pages.concat(), "{frames} frames, seed {seed:x}");
        }
    }
}

#[test]
fn files_with_other_dictionaries_and_with_none_may_follow_each_other() {
    let mut other = PAGES_DICTIONARY.to_vec();
    other[4..8].copy_from_slice(&77_u32.to_le_bytes());
    let plain = zstd::stream::encode_all(&b"none "[..], 3).unwrap();
    let bytes = [
        plain.clone(),
        dictionary_frame(PAGES_DICTIONARY),
        frame_with(PAGES_DICTIONARY, b"first "),
        dictionary_frame(&other),
        frame_with(&other, b"second "),
        plain,
        // Not a dictionary, and not where one is expected.
        skippable(13, b"of another program"),
        frame_with(&other, b"third"),
    ];
    assert_eq!(text_of(&bytes.concat()).unwrap(), b"none first second none third");
}

#[test]
fn files_that_begin_with_other_skippable_frames_are_recognised_and_those_of_lz4_are_not() {
    let plain = zstd::stream::encode_all(&b"text"[..], 3).unwrap();
    // What pzstd writes: the length of each frame before it.
    let parallel = [skippable(0, &u32::try_from(plain.len()).unwrap().to_le_bytes()), plain.clone()].concat();
    assert_eq!(text_of(&[&parallel[..], &parallel].concat()).unwrap(), b"texttext");
    let many = [skippable(15, b"").repeat(5_000), plain].concat();
    assert_eq!(text_of(&many).unwrap(), b"text");
    let lz4 = [0x04, 0x22, 0x4d, 0x18, 0x60, 0x40];
    assert!(!is_zstandard(&[&skippable(0, b"abc")[..], &lz4].concat()));
    assert!(!is_zstandard(&[&skippable(13, b"abc")[..], &lz4].concat()));
    assert!(!is_zstandard(&skippable(0, b"abc")) && !is_zstandard(b"\x50\x2a\x4d\x18") && !is_zstandard(b""));
}

#[test]
fn frames_without_their_dictionary_are_told_and_name_it() {
    let frame = frame_with(PAGES_DICTIONARY, b"a page");
    let needs = format!("its Zstandard data needs the dictionary {PAGES_DICTIONARY_ID}");
    assert!(error_of(&frame).starts_with(&format!("{needs}, which is not in the file")));
    let mut other = PAGES_DICTIONARY.to_vec();
    other[4..8].copy_from_slice(&77_u32.to_le_bytes());
    let found = error_of(&[dictionary_frame(&other), frame].concat());
    assert_eq!(found, format!("{needs}, but the one in the file is 77"));
}

#[test]
fn a_damaged_or_large_dictionary_is_an_error_that_names_the_dictionary() {
    let frame = frame_with(PAGES_DICTIONARY, b"a page");
    let with = |dictionary: &[u8]| error_of(&[&dictionary_frame(dictionary)[..], &frame].concat());
    let begins = "its Zstandard dictionary is damaged: it does not begin as dictionaries do";
    assert_eq!(with(b"neither"), begins);
    assert_eq!(with(b""), begins);
    assert_eq!(with(&zstd::bulk::compress(b"neither", 3).unwrap()), begins);
    assert_eq!(with(&PAGES_DICTIONARY[..8]), begins);
    assert!(with(&PAGES_DICTIONARY[..100]).starts_with("its Zstandard dictionary is damaged: its tables"));
    let packed = zstd::bulk::compress(PAGES_DICTIONARY, 19).unwrap();
    assert!(with(&packed[..packed.len() - 9]).starts_with("its Zstandard dictionary is damaged: "));
    let whole = dictionary_frame(PAGES_DICTIONARY);
    for len in [8, 9, 11, 12, whole.len() - 1] {
        assert_eq!(error_of(&whole[..len]), "its Zstandard dictionary is cut off", "{len}");
    }
    // What a frame claims takes no memory before it comes.
    let large = [&[0x5d, 0x2a, 0x4d, 0x18][..], &u32::MAX.to_le_bytes(), PAGES_DICTIONARY].concat();
    assert_eq!(error_of(&large), "its Zstandard dictionary is larger than 32 MiB");
    let bomb = [PAGES_DICTIONARY, &vec![0; 33 << 20]].concat();
    assert_eq!(
        with(&zstd::bulk::compress(&bomb, 1).unwrap()),
        "its Zstandard dictionary is larger than 32 MiB"
    );
    let most = [PAGES_DICTIONARY, &vec![b'x'; (32 << 20) - PAGES_DICTIONARY.len()]].concat();
    let most = dictionary_frame(&zstd::bulk::compress(&most, 1).unwrap());
    assert_eq!(error_of(&most.repeat(9)), "its Zstandard dictionaries have more than 256 MiB together");
}

#[test]
fn mutated_files_are_errors_or_text_and_nothing_else() {
    let seed = 0x5eed_2202;
    let mut random = Rng::with_seed(seed);
    let page = page(1, &mut random);
    let packed = zstd::bulk::compress(PAGES_DICTIONARY, 19).unwrap();
    let frame = frame_with(PAGES_DICTIONARY, &page);
    let files =
        [PAGES_DICTIONARY, &packed].map(|dictionary| [&dictionary_frame(dictionary)[..], &frame].concat());
    let rounds = if cfg!(debug_assertions) { 4_000 } else { 100_000 };
    let (mut errors, mut texts) = (0, 0);
    for round in 0..rounds {
        let mut bytes = files[round % 2].clone();
        for _ in 0..random.usize(1..4) {
            // The first bytes say which format it is.
            let at = random.usize(4..bytes.len());
            match random.u8(..3) {
                0 => bytes[at] = random.u8(..),
                1 => bytes.truncate(at.max(8)),
                _ => bytes[at] ^= 1 << random.u8(..8),
            }
            if bytes.len() <= 8 {
                break;
            }
        }
        if CompressedFormat::of(&bytes) != Some(CompressedFormat::Zstandard) {
            continue;
        }
        match text_of(&bytes) {
            Ok(text) => {
                texts += 1;
                assert!(text == page || text.is_empty(), "round {round}, seed {seed:x}");
            }
            Err(error) => {
                errors += 1;
                assert!(error.to_string().starts_with("its Zstandard d"), "{error}, seed {seed:x}");
            }
        }
    }
    assert!(errors > texts, "{errors} errors, {texts} texts");
}
