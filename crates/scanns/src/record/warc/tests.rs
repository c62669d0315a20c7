//! Tests on whole files: against warcio, and on the data of others.
//!
//! The comparison needs a Python that has warcio and brotli.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use super::WarcEnds;
use super::reader::tests::row_of;
use crate::content::test_tools::python;
use crate::record::test_data::test_data;
use crate::record::test_ends::records;

/// The files of others, below `SCANNS_TEST_DATA`.
const FILES: [&str; 20] = [
    "warcio/bad.arc",
    "warcio/example-bad-non-chunked.warc.gz",
    "warcio/example-bad.warc.gz.bad",
    "warcio/example-digest.warc",
    "warcio/example-iana.org-chunked.warc",
    "warcio/example-resource.warc.gz",
    "warcio/example-space-in-target-uri.warc.gz",
    "warcio/example-space-in-url.arc",
    "warcio/example-trunc.warc",
    "warcio/example-wget-bad-target-uri.warc.gz",
    "warcio/example-wrong-chunks.warc.gz",
    "warcio/example.arc",
    "warcio/example.arc.gz",
    "warcio/example.warc.gz",
    "warcio/post-test.warc.gz",
    "collections/commoncrawl/warc/collection1/segment1.warc.gz",
    "collections/commoncrawl/wet/collection1/segment1.warc.wet.gz",
    "collections/commoncrawlnewsen/collection1/segment1.warc.gz",
    "collections/cw09/collection1/segment1.warc.gz",
    "collections/cw12/collection1/segment1.warc.gz",
];

/// What a record is: its type, its URL, and the length and the CRC-32 of its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PayloadRow {
    kind: String,
    url: String,
    len: usize,
    crc: u32,
}

/// The row of a record with a payload.
pub(super) fn row(kind: &str, url: &str, payload: &[u8]) -> PayloadRow {
    let mut crc = flate2::Crc::new();
    crc.update(payload);
    PayloadRow { kind: kind.to_owned(), url: url.replace(' ', "%20"), len: payload.len(), crc: crc.sum() }
}

/// The records of a whole file.
pub(super) fn cut(bytes: &[u8]) -> Vec<&[u8]> {
    let mut ends = WarcEnds::new();
    records(bytes, &mut |bytes, is_end| ends.next_end(bytes, is_end))
}

/// The decompressed bytes of a file of others, if there are such.
pub(super) fn read_file(name: &str) -> Option<Vec<u8>> {
    let bytes = test_data(name)?;
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Some(bytes);
    }
    let mut plain = Vec::new();
    flate2::bufread::MultiGzDecoder::new(&bytes[..]).read_to_end(&mut plain).unwrap();
    Some(plain)
}

/// All files of others that are there.
pub(super) fn all_files() -> Vec<(&'static str, Vec<u8>)> {
    let files: Vec<_> = FILES.iter().filter_map(|name| Some((*name, read_file(name)?))).collect();
    files
}

/// The rows of a file as this reader has them.
fn rows_of(bytes: &[u8]) -> Vec<PayloadRow> {
    cut(bytes).into_iter().map(row_of).collect()
}

/// A command that runs the script, if warcio is there.
fn script() -> Option<Command> {
    let python = python();
    let has_warcio = Command::new(&python).args(["-c", "import warcio, brotli"]).output();
    if !has_warcio.is_ok_and(|output| output.status.success()) {
        println!("SKIPPED: no warcio");
        return None;
    }
    let mut command = Command::new(python);
    command.args(["-c", include_str!("tests/archives.py")]);
    Some(command)
}

/// Runs a command, and gives what it printed.
fn output_of(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The rows of a file as warcio has them.
fn rows_of_warcio(path: &Path) -> Option<Vec<PayloadRow>> {
    let output = output_of(script()?.arg("read").arg(path));
    let rows = output.lines().map(|line| {
        let parts: Vec<&str> = line.split('\t').collect();
        let [_, kind, url, len, crc] = parts[..] else { panic!("{line}") };
        let (len, crc) = (len.parse().unwrap(), crc.parse().unwrap());
        PayloadRow { kind: kind.to_owned(), url: url.replace(' ', "%20"), len, crc }
    });
    Some(rows.collect())
}

/// Whether our row is what warcio has; records that are left out have their type only.
fn agrees(ours: &PayloadRow, theirs: &PayloadRow) -> bool {
    match theirs.kind.as_str() {
        "arc_header" => ours.kind == "warcinfo",
        "request" | "warcinfo" | "metadata" | "revisit" => ours.kind == theirs.kind,
        _ => ours == theirs,
    }
}

/// Compares a file with warcio.
fn assert_agrees(name: &str, bytes: &[u8], path: &Path) {
    let Some(theirs) = rows_of_warcio(path) else { return };
    let ours = rows_of(bytes);
    assert_eq!(ours.len(), theirs.len(), "{name}: {ours:#?} {theirs:#?}");
    for (at, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        assert!(agrees(ours, theirs), "{name}: record {at}: {ours:?}, but warcio has {theirs:?}");
    }
}

#[test]
fn generated_files_are_read_as_warcio_reads_them() {
    let Some(mut command) = script() else { return };
    let seed = fastrand::u32(..);
    println!("seed {seed}");
    let folder = tempfile::tempdir().unwrap();
    output_of(command.arg("generate").arg(folder.path()).arg(seed.to_string()));
    for number in ["-0.warc", "-1.warc", "-2.warc", "-3.warc", ".arc"] {
        let path = folder.path().join(format!("generated{number}"));
        let bytes = fs::read(&path).unwrap();
        assert_agrees(&format!("seed {seed}, {number}"), &bytes, &path);
    }
}

/// Files that warcio reads otherwise, or not to their ends; see `DAMAGED`.
const DIFFERENT: [&str; 4] = [
    "warcio/bad.arc",
    "warcio/example-space-in-url.arc",
    "collections/commoncrawlnewsen/collection1/segment1.warc.gz",
    "collections/cw09/collection1/segment1.warc.gz",
];

/// One record as it must be: its type, its URL, and the length and the CRC-32 of its payload.
type GoldenRow = (&'static str, &'static str, usize, u32);

/// What is in files that are damaged.
const DAMAGED: [(&str, &[GoldenRow]); 9] = [
    // Lengths of -1 and "abc", dates of 18 digits. warcio has three empty responses.
    (
        "warcio/bad.arc",
        &[
            ("warcinfo", "", 0, 0),
            ("response", "http://example.com/", 0, 0),
            ("response", "http://example.com/", 1, 852952723),
            ("response", "http://example.com/", 0, 0),
        ],
    ),
    // The length is greater than the rest of the file. warcio takes the last line end for payload.
    (
        "warcio/example-space-in-url.arc",
        &[
            ("warcinfo", "", 0, 0),
            (
                "response",
                "http://example.com/index.cfm?FuseAction=Email&EmailTitle=Examples%20From%20The%20Live%20Web&\
                 IsPopUp=False",
                1270,
                2343212296,
            ),
        ],
    ),
    // A length is short by two bytes. warcio skips them, and reads on.
    (
        "warcio/example-bad.warc.gz.bad",
        &[
            ("warcinfo", "", 0, 0),
            ("response", "http://example.com?example=1", 1270, 2343212296),
            ("request", "", 0, 0),
            ("revisit", "", 0, 0),
            ("request", "", 0, 0),
            ("response", "http://www.iana.org/domains/example", 201, 2442842943),
        ],
    ),
    // The body is not chunked, though its header says so. warcio has the same.
    (
        "warcio/example-wrong-chunks.warc.gz",
        &[("response", "http://example.com/", 1270, 2343212296), ("request", "", 0, 0)],
    ),
    // The last record is shorter than it claims. warcio has the same.
    (
        "warcio/example-trunc.warc",
        &[
            ("warcinfo", "", 0, 0),
            ("warcinfo", "", 0, 0),
            ("response", "http://example.com/", 1270, 2343212296),
            ("request", "", 0, 0),
        ],
    ),
    // The first length reaches into the second record. warcio reads the first record only.
    (
        "collections/cw09/collection1/segment1.warc.gz",
        &[("warcinfo", "", 0, 0), ("response", "http://clueweb09.test.com/", 46, 3028652476)],
    ),
    // The second length is greater than the rest of the file. warcio has the same.
    (
        "collections/cw12/collection1/segment1.warc.gz",
        &[("warcinfo", "", 0, 0), ("response", "http://clueweb09.test.com/", 46, 3028652476)],
    ),
    // The first length reaches into the second record. warcio reads the first record only.
    (
        "collections/commoncrawlnewsen/collection1/segment1.warc.gz",
        &[("warcinfo", "", 0, 0), ("response", "http://www.testcaseurl.com/ccnewsen", 46, 3028652476)],
    ),
    // The lengths are those of lines with CR LF. warcio has the same.
    (
        "collections/commoncrawl/warc/collection1/segment1.warc.gz",
        &[
            ("warcinfo", "", 0, 0),
            (
                "response",
                "https://www.suncommunitynews.com/sports/eagles-claim-bowling-crown/",
                46,
                3028652476,
            ),
        ],
    ),
];

#[test]
fn files_of_others_are_read_as_warcio_reads_them() {
    for (name, bytes) in all_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, &bytes).unwrap();
        if !DIFFERENT.contains(&name) {
            assert_agrees(name, &bytes, &path);
        }
    }
}

#[test]
fn damaged_files_give_all_their_records() {
    for (name, golden) in DAMAGED {
        let Some(bytes) = read_file(name) else {
            println!("SKIPPED: no {name}");
            continue;
        };
        let expected: Vec<PayloadRow> = golden
            .iter()
            .map(|(kind, url, len, crc)| PayloadRow {
                kind: (*kind).to_owned(),
                url: (*url).to_owned(),
                len: *len,
                crc: *crc,
            })
            .collect();
        assert_eq!(rows_of(&bytes), expected, "{name}");
    }
}
