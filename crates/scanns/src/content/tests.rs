//! Every encoding against the text that it was made from, damage at every place, and files that are not text.

use std::io::{self, Cursor, Read, Write};

use fastrand::Rng;

use super::compression::CompressedFormat;
use super::*;

/// What a file is, with its decoded text.
#[derive(Debug, PartialEq)]
enum Found {
    Plain,
    /// A page or document that needs no decoding.
    Formed(TextForm),
    /// An archive or a collection, and its encoding.
    Members(Option<String>, MembersFormat),
    Decoded(String, Vec<u8>),
    Binary(&'static str),
}

fn archive(encoding: Option<&str>, format: ArchiveFormat) -> Found {
    Found::Members(encoding.map(String::from), MembersFormat::Archive(format))
}

fn found(bytes: &[u8], options: ContentOptions) -> io::Result<Found> {
    let head = &bytes[..bytes.len().min(HEAD)];
    let content = examine(head, bytes.len() as u64, || Box::new(Cursor::new(bytes.to_vec())), options)?;
    let is_plain = is_plain(head, bytes.len() as u64, options);
    assert_eq!(is_plain, matches!(content, Content::Plain(TextForm::Text)));
    Ok(match content {
        Content::Plain(TextForm::Text) => Found::Plain,
        Content::Plain(form) => Found::Formed(form),
        Content::Members(members) => Found::Members(members.encoding, members.format),
        Content::Binary(kind) => Found::Binary(kind),
        Content::Decoded(mut text) => {
            let mut all = Vec::new();
            // In odd steps.
            let mut buffer = vec![0; 7_001];
            loop {
                let got = text.fill(&mut buffer)?;
                all.extend_from_slice(&buffer[..got]);
                if got < buffer.len() {
                    break Found::Decoded(text.encoding, all);
                }
            }
        }
    })
}

fn words(random: &mut Rng, len: usize) -> Vec<u8> {
    let mut text = Vec::new();
    while text.len() < len {
        for _ in 0..random.usize(1..12) {
            text.push(random.lowercase() as u8);
        }
        text.push(if random.u8(..9) == 0 { b'\n' } else { b' ' });
    }
    text
}

fn packed(format: CompressedFormat, text: &[u8]) -> Vec<u8> {
    match format {
        CompressedFormat::Gzip => {
            let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            writer.write_all(text).unwrap();
            writer.finish().unwrap()
        }
        CompressedFormat::Zstandard => {
            let mut writer = zstd::stream::Encoder::new(Vec::new(), 3).unwrap();
            writer.include_checksum(true).unwrap();
            writer.write_all(text).unwrap();
            writer.finish().unwrap()
        }
        CompressedFormat::Xz => {
            let mut writer = liblzma::write::XzEncoder::new(Vec::new(), 2);
            writer.write_all(text).unwrap();
            writer.finish().unwrap()
        }
        CompressedFormat::Bzip2 => {
            let mut writer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            writer.write_all(text).unwrap();
            writer.finish().unwrap()
        }
        CompressedFormat::Compress => panic!("no library writes it; the reader has tests of its own"),
        CompressedFormat::Lz4 => {
            let info = lz4_flex::frame::FrameInfo::new().content_checksum(true);
            let mut writer = lz4_flex::frame::FrameEncoder::with_frame_info(info, Vec::new());
            writer.write_all(text).unwrap();
            writer.finish().unwrap()
        }
    }
}

const FORMATS: [CompressedFormat; 5] = [
    CompressedFormat::Gzip,
    CompressedFormat::Zstandard,
    CompressedFormat::Xz,
    CompressedFormat::Bzip2,
    CompressedFormat::Lz4,
];

#[test]
fn compressed_text_of_any_length_and_number_of_streams_comes_back() {
    let seed = 0x5eed_2101;
    let mut random = Rng::with_seed(seed);
    for format in FORMATS {
        for len in [0, 1, 100, HEAD - 1, HEAD, HEAD + 1, 300_000] {
            let (first, second) = (words(&mut random, len), words(&mut random, 5_000));
            let one = packed(format, &first);
            let expected = Found::Decoded(format.name().into(), first.clone());
            assert_eq!(found(&one, ContentOptions::default()).unwrap(), expected, "{format:?} {len}");
            let two = [one.clone(), packed(format, &second)].concat();
            let expected = Found::Decoded(format.name().into(), [first, second].concat());
            assert!(found(&two, ContentOptions::default()).unwrap() == expected, "{format:?} {len} {seed:x}");
            let left = ContentOptions { decompress: false, ..ContentOptions::default() };
            assert_eq!(found(&one, left).unwrap(), Found::Binary(format.name()));
            assert_eq!(found(&one, ContentOptions::RAW).unwrap(), Found::Plain);
        }
    }
}

#[test]
fn damaged_and_cut_streams_are_errors_that_name_the_format_and_never_a_wrong_text() {
    let seed = 0x5eed_2102;
    let mut random = Rng::with_seed(seed);
    for format in FORMATS {
        let text = words(&mut random, 20_000);
        let bytes = packed(format, &text);
        for _ in 0..200 {
            let mut damaged = bytes.clone();
            // The first bytes say which format it is.
            let at = random.usize(10..damaged.len());
            if random.bool() {
                damaged.truncate(at)
            } else {
                damaged[at] ^= 1 << random.u8(..8)
            }
            match found(&damaged, ContentOptions::default()) {
                Err(error) => assert!(error.to_string().contains(format.name()), "{format:?}: {error}"),
                // Some bits of headers mean nothing.
                Ok(Found::Decoded(_, found)) if found == text => {}
                Ok(_) => panic!("seed {seed:x}: {format:?} damaged at {at} is taken for another text"),
            }
        }
    }
}

#[test]
fn gzip_may_end_with_zeros_and_with_nothing_else() {
    let text = b"some words";
    let bytes = packed(CompressedFormat::Gzip, text);
    let padded = [&bytes[..], &[0; 600]].concat();
    let expected = Found::Decoded("gzip".into(), text.to_vec());
    assert_eq!(found(&padded, ContentOptions::default()).unwrap(), expected);
    let error = found(&[&bytes[..], b"rest"].concat(), ContentOptions::default()).unwrap_err();
    assert!(error.to_string().contains("other data follows"), "{error}");
}

#[test]
fn a_bomb_is_refused_and_real_compression_is_not() {
    let zeros = vec![b'a'; 300 << 20];
    let bomb = zstd::stream::encode_all(&zeros[..], 3).unwrap();
    assert!(bomb.len() < 100_000);
    let error = found(&bomb, ContentOptions::default()).unwrap_err();
    assert!(error.to_string().contains("expands to more than 1100 times"), "{error}");
    let text = vec![b'a'; 10 << 20];
    let bytes = zstd::stream::encode_all(&text[..], 3).unwrap();
    assert!(found(&bytes, ContentOptions::default()).is_ok());
}

#[test]
fn text_in_other_encodings_becomes_utf_8() {
    let text = "Größe: 3 µm, façade\nnaïve café — “quoted” text\n".repeat(4_000);
    let utf16 = |big: bool, mark: bool| {
        let units =
            text.encode_utf16().flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() });
        let mark: &[u8] = match (mark, big) {
            (false, _) => b"",
            (true, true) => b"\xfe\xff",
            (true, false) => b"\xff\xfe",
        };
        mark.iter().copied().chain(units).collect::<Vec<u8>>()
    };
    for (big, name) in [(false, "UTF-16LE"), (true, "UTF-16BE")] {
        for mark in [false, true] {
            let expected = Found::Decoded(name.into(), text.clone().into_bytes());
            assert!(
                found(&utf16(big, mark), ContentOptions::default()).unwrap() == expected,
                "{name} {mark}"
            );
        }
    }
    let (western, ..) = encoding_rs::WINDOWS_1252.encode(&text);
    let expected = Found::Decoded("windows-1252".into(), text.clone().into_bytes());
    assert!(found(&western, ContentOptions::default()).unwrap() == expected);
    let packed = packed(CompressedFormat::Xz, &western);
    let expected = Found::Decoded("xz, windows-1252".into(), text.clone().into_bytes());
    assert!(found(&packed, ContentOptions::default()).unwrap() == expected);
    let russian = "Съешь ещё этих мягких французских булок, да выпей чаю. ".repeat(20);
    for encoding in [encoding_rs::WINDOWS_1251, encoding_rs::KOI8_R] {
        let (bytes, ..) = encoding.encode(&russian);
        let Ok(Found::Decoded(_, decoded)) = found(&bytes, ContentOptions::default()) else { panic!() };
        assert_eq!(String::from_utf8(decoded).unwrap(), russian, "{}", encoding.name());
    }
    let kept = ContentOptions { transcode: false, ..ContentOptions::default() };
    assert_eq!(found(&western, kept).unwrap(), Found::Plain);
}

#[test]
fn utf_8_stays_as_it_is_even_if_it_is_damaged_or_cut() {
    let text = "Größe und Maß, naïve café, 日本語のテキスト\n".repeat(3_000);
    assert!(text.len() > HEAD);
    for cut in 0..8 {
        let bytes = &text.as_bytes()[..HEAD - cut];
        assert_eq!(found(bytes, ContentOptions::default()).unwrap(), Found::Plain);
        assert_eq!(
            found(&text.as_bytes()[..text.len() - cut], ContentOptions::default()).unwrap(),
            Found::Plain
        );
    }
    // A list of file names in UTF-8, of which some are not.
    let damaged = [text.as_bytes(), b"caf\xe9 \xff\xfe\n", text.as_bytes()].concat();
    assert_eq!(found(&damaged, ContentOptions::default()).unwrap(), Found::Plain);
    assert_eq!(found(b"", ContentOptions::default()).unwrap(), Found::Plain);
    assert_eq!(found(b"a\x1b[1mbold\x1b[0m x\x08x\n", ContentOptions::default()).unwrap(), Found::Plain);
}

#[test]
fn binary_files_are_recognised() {
    let seed = 0x5eed_2103;
    let mut random = Rng::with_seed(seed);
    let noise: Vec<u8> = (0..9_000).map(|_| random.u8(..)).collect();
    let short: Vec<u8> = (0..200).map(|_| random.u8(1..)).collect();
    let mut tar = vec![b'a'; 1_024];
    tar[257..263].copy_from_slice(b"ustar\0");
    for (bytes, kind) in [
        (&b"\x7fELF\x02\x01"[..], "ELF"),
        (b"%PDF-1.7\n", "PDF"),
        (b"PK\x03\x04rest", "ZIP"),
        (b"text with a \0 in it", "other, with NUL bytes"),
        (&noise, "other, with NUL bytes"),
        (&short, "other, with control characters"),
        (&tar, "tar"),
        (&packed(CompressedFormat::Gzip, &tar), "tar"),
        (&packed(CompressedFormat::Gzip, &packed(CompressedFormat::Xz, b"text")), "xz"),
    ] {
        let options = ContentOptions { extract: Extraction::None, ..ContentOptions::default() };
        assert_eq!(found(bytes, options).unwrap(), Found::Binary(kind), "seed {seed:x}");
    }
    assert_eq!(found(&noise, ContentOptions::RAW).unwrap(), Found::Plain);
}

#[test]
fn pages_archives_and_documents_are_told_apart_also_when_they_are_compressed() {
    let zip = b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    let numbers = [1, 0o100_644, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2, 0].map(|number| format!("{number:08x}"));
    let cpio = format!("070701{}a\0", numbers.concat());
    let page = b"<!DOCTYPE html>\n<p>word";
    let safe = ContentOptions { extract: Extraction::Safe, ..ContentOptions::default() };
    let all = ContentOptions::default();
    assert_eq!(found(page, safe).unwrap(), Found::Formed(TextForm::Page));
    let utf16: Vec<u8> = page.iter().flat_map(|&byte| [byte, 0]).collect();
    assert_eq!(found(&utf16, all).unwrap(), Found::Decoded("UTF-16LE, HTML".into(), page.to_vec()));
    let greek = b"<html><meta charset=iso-8859-7><p>\xe1\xe2";
    let text = "<html><meta charset=iso-8859-7><p>\u{3b1}\u{3b2}";
    assert_eq!(found(greek, all).unwrap(), Found::Decoded("ISO-8859-7, HTML".into(), text.into()));
    assert_eq!(found(zip, safe).unwrap(), archive(None, ArchiveFormat::Zip));
    assert_eq!(found(cpio.as_bytes(), safe).unwrap(), archive(None, ArchiveFormat::Cpio));
    let packed = packed(CompressedFormat::Xz, b"!<arch>\n");
    assert_eq!(found(&packed, safe).unwrap(), archive(Some("xz"), ArchiveFormat::Ar));
    assert_eq!(found(b"%PDF-1.7\n", safe).unwrap(), Found::Binary("PDF"));
    assert_eq!(found(b"%PDF-1.7\n", all).unwrap(), Found::Formed(TextForm::Document("PDF")));
}

/// Reads one byte at a time.
struct Slow<'a>(&'a [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let some = self.0.len().min(buffer.len()).min(1);
        self.0.read(&mut buffer[..some])
    }
}

#[test]
fn slow_streams_are_read_to_their_end() {
    let text = words(&mut Rng::with_seed(1), 3_000);
    for format in FORMATS {
        let bytes = packed(format, &text);
        let content =
            examine(&bytes, bytes.len() as u64, || Box::new(Slow(&bytes)), ContentOptions::default());
        let Ok(Content::Decoded(mut decoded)) = content else { panic!("{format:?}") };
        let mut all = vec![0; 4_000];
        let got = decoded.fill(&mut all).unwrap();
        assert!(all[..got] == text, "{format:?}");
    }
}

#[test]
fn bytes_before_an_error_are_read_before_the_error() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("damage"))
        }
    }
    let reader = Box::new(Cursor::new(vec![7; 10]).chain(Failing));
    let mut text = DecodedText::plain(reader, TextForm::Text);
    let mut buffer = [0; 8];
    assert_eq!(text.fill_readable(&mut buffer).unwrap(), 8);
    assert_eq!((text.fill_readable(&mut buffer).unwrap(), text.has_failed()), (2, true));
    assert_eq!(text.fill_readable(&mut buffer).unwrap_err().to_string(), "damage");
    assert!(text.has_failed());
}

#[test]
fn collections_and_messages_are_told_from_text_if_they_are_to_be() {
    let safe = ContentOptions { extract: Extraction::Safe, ..ContentOptions::default() };
    let collection = |encoding: Option<&str>, kind| {
        Found::Members(encoding.map(String::from), MembersFormat::Collection(kind))
    };
    let mailbox = b"From ada@example.org Sat Jan  3 01:05:34 1996\nSubject: hi\n\nwords \xe9\n";
    assert_eq!(found(mailbox, safe).unwrap(), collection(None, CollectionKind::Mbox));
    let packed = packed(CompressedFormat::Xz, mailbox);
    assert_eq!(found(&packed, safe).unwrap(), collection(Some("xz"), CollectionKind::Mbox));
    let trec = b"<DOC>\n<DOCNO> 1 </DOCNO>\n<TEXT>caf\xe9 caf\xe9 caf\xe9</TEXT></DOC>\n";
    assert_eq!(found(trec, safe).unwrap(), collection(Some("windows-1252"), CollectionKind::Trec));
    let warc = b"WARC/1.0\r\nWARC-Type: warcinfo\r\n\r\n\0\0\0";
    assert_eq!(found(warc, safe).unwrap(), collection(None, CollectionKind::Warc));
    let message = b"From: a\nDate: b\nSubject: c\n\nwords";
    assert_eq!(found(message, safe).unwrap(), Found::Formed(TextForm::Message));
    for options in
        [ContentOptions { collections: false, ..safe }, ContentOptions { extract: Extraction::None, ..safe }]
    {
        assert_eq!(found(message, options).unwrap(), Found::Plain);
        assert!(matches!(found(mailbox, options).unwrap(), Found::Decoded(..)));
    }
}
