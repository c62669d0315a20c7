//! Finds out from a few of the files what a document of a new index is.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use scanns::extraction::RowsFormat;
use scanns::schema::Records;
use scanns::sources::{
    CollectionFormat, ContentOptions, Extraction, SourceOptions, sample_files, text_of_file,
};

use crate::args::{ContentArg, ContentArgs, ExtractArg, IndexArgs};
use crate::report;

/// The number of files that are looked at.
const LOOKED_AT: usize = 64;

/// The number of first bytes that are looked at.
const HEAD: u64 = 64 << 10;

/// The records of the files, if all that are looked at are of one format, and says so. If only some are, or
/// if rows of CSV in a directory may be meant as parts of their files, it says what could be asked for.
pub fn detected(args: &IndexArgs, source: &SourceOptions) -> Option<Records> {
    let others = args.input.files_from.is_some() || args.dump.dump.is_some() || args.scan.changes.is_some();
    if others || matches!(args.contents.content, Some(ContentArg::None)) {
        return None;
    }
    // Standard input is read once, and wrong globs are reported by the build.
    if args.input.paths.iter().any(|path| path.as_os_str() == "-") {
        return None;
    }
    let sample = sample_files(source, LOOKED_AT).ok()?;
    let found: Vec<Option<FoundRecords>> = sample.files.iter().map(|path| records_of_file(path)).collect();
    let (kind, number) = most_frequent(&found)?;
    let (records, (files, each)) = (kind.records(), kind.described());
    let name = records.name();
    let are_all_alike = number == found.len();
    if are_all_alike && !(records == Records::Csv && sample.has_directories) {
        let looked_at = match sample.is_all {
            true => String::new(),
            false => format!(", by the {number} of them that were looked at"),
        };
        // Of very many files, not all were listed.
        let (these, files) = match sample.listed {
            1 => ("this is".into(), one(files)),
            listed if sample.is_all => (format!("these are {listed}"), files.into()),
            _ => ("these are".into(), files.into()),
        };
        report::note(&format!(
            "{these} {files}{looked_at}: {each} is a document (--records {name}); --records file makes each \
             file one"
        ));
        return Some(records);
    }
    let is_split = matches!(records, Records::Warc | Records::Trec | Records::Mbox | Records::MediaWiki);
    if is_split && has_members(&args.contents) {
        // The summary counts them.
        return None;
    }
    let is_collection = !matches!(records, Records::Csv | Records::Jsonl);
    if is_collection || 2 * number >= found.len() {
        let first = found.iter().position(|&found| found == Some(kind)).unwrap_or_default();
        let first = sample.files.get(first).map(|path| report::path_text(path)).unwrap_or_default();
        let which = match found.len() {
            1 => format!("{first} is {}: it", one(files)),
            all => {
                format!("{number} of the {all} files that were looked at are {files}, such as {first}: each")
            }
        };
        report::note(&format!(
            "{which} is one document here; --records {name} makes {each} one, in an index of its own"
        ));
    }
    None
}

/// True if records of web archives and the like become documents of an index of files.
fn has_members(contents: &ContentArgs) -> bool {
    !matches!(contents.extract, Some(ExtractArg::None))
}

/// What the records of a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FoundRecords {
    Text(Records),
    /// Rows of Parquet or Arrow, which become records of JSON.
    Rows,
}

impl FoundRecords {
    fn records(self) -> Records {
        match self {
            FoundRecords::Text(records) => records,
            FoundRecords::Rows => Records::Jsonl,
        }
    }

    /// What such files are called, and what each document is.
    fn described(self) -> (&'static str, &'static str) {
        match self {
            FoundRecords::Text(records) => described(records),
            FoundRecords::Rows => ("tables of Parquet or Arrow", "every row"),
        }
    }
}

/// The kind of records of most files, and the number of these files.
fn most_frequent(found: &[Option<FoundRecords>]) -> Option<(FoundRecords, usize)> {
    let number = |kind: FoundRecords| found.iter().filter(|&&found| found == Some(kind)).count();
    found.iter().flatten().map(|&kind| (kind, number(kind))).max_by_key(|(_, number)| *number)
}

/// What files of such records are called, and what each document is.
fn described(records: Records) -> (&'static str, &'static str) {
    match records {
        Records::File | Records::Lines => ("files of text", "every line"),
        Records::Jsonl => ("files of JSON Lines", "every line"),
        Records::Csv => ("tables of CSV", "every row"),
        Records::Warc => ("web archives", "every page"),
        Records::Trec => ("collections of TREC", "every <DOC>"),
        Records::Smart => ("collections of SMART", "every .I"),
        Records::Mbox => ("mailboxes", "every message"),
        Records::MediaWiki => ("dumps of MediaWiki", "every page"),
        Records::Access => ("access logs", "every line"),
        Records::Syslog => ("logs of syslog", "every line"),
        Records::Journal => ("journals", "every entry"),
    }
}

/// The singular of what files are called.
fn one(files: &str) -> String {
    match files.split_once("s of ") {
        Some((what, of)) => format!("a {what} of {of}"),
        None if files == "mailboxes" => "a mailbox".into(),
        None if files.starts_with('a') => format!("an {}", files.trim_end_matches('s')),
        None => format!("a {}", files.trim_end_matches('s')),
    }
}

/// The kind of the records of a file, if the file says it.
fn records_of_file(path: &Path) -> Option<FoundRecords> {
    // What cannot be read is reported by the build.
    let mut file = File::open(path).ok()?;
    let mut start = Vec::new();
    (&mut file).take(16).read_to_end(&mut start).ok()?;
    if RowsFormat::of(&start).is_some() {
        return cfg!(feature = "arrow").then_some(FoundRecords::Rows);
    }
    let contents =
        ContentOptions { skip_binary: false, extract: Extraction::None, ..ContentOptions::default() };
    let head = text_of_file(&mut file, contents, 0, HEAD).ok()?;
    records_of_text(path, &head).map(FoundRecords::Text)
}

/// The kind of the records of a text that begins with `head`.
fn records_of_text(path: &Path, head: &[u8]) -> Option<Records> {
    if let Some(format) = CollectionFormat::detect(head) {
        return Some(format.records());
    }
    let name = name_of_text(path);
    let has_ending = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    if is_json_lines(head, has_ending(&[".jsonl", ".ndjson", ".jl"])) {
        return Some(Records::Jsonl);
    }
    let is_csv = has_ending(&[".csv", ".tsv"]) && head.iter().any(|byte| b",;\t|".contains(byte));
    is_csv.then_some(Records::Csv)
}

/// The name of a file in lower case, without the ending of its compression.
fn name_of_text(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let endings = [".gz", ".zst", ".xz", ".bz2", ".lz4", ".z"];
    let plain = endings.iter().find_map(|ending| name.strip_suffix(ending)).map(str::to_owned);
    plain.unwrap_or(name)
}

/// Whether the first lines are JSON objects. If the name says it, some of them may be damaged. Without the
/// name, one line does not say it.
fn is_json_lines(head: &[u8], is_named: bool) -> bool {
    let lines = head.split_inclusive(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let (mut objects, mut others) = (0, 0);
    for line in lines.take(if is_named { 21 } else { 3 }) {
        // The head may end in a line.
        let is_whole = line.ends_with(b"\n") || (head.len() as u64) < HEAD;
        let is_object = line.trim_ascii_start().starts_with(b"{")
            && (!is_whole || serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok());
        *if is_object { &mut objects } else { &mut others } += 1;
    }
    if is_named { objects > others } else { others == 0 && objects > 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_lines_are_told_from_other_json() {
        for (text, is_named, expected) in [
            ("{\"a\": 1}\n{\"a\": 2}\n", false, true),
            ("\n{\"a\": 1}\n{\"a\": 2}", false, true),
            ("{\"a\": 1}\n", true, true),
            ("{\"a\": 1}\n", false, false),
            ("{\n\"a\": 1}\n", true, false),
            ("{\"a\": 1}\nwords\n", true, false),
            ("[1]\n[2]\n", true, false),
            ("{\"a\": 1}\n{\"a\": \n", false, false),
            ("", true, false),
            ("{\"a\": 1}\n{\"a\n{\"a\": 3}\n", true, true),
            ("{\"a\": 1}\n{\"a\n{\"a\": 3}\n", false, false),
        ] {
            assert_eq!(is_json_lines(text.as_bytes(), is_named), expected, "{text}");
        }
        let head = usize::try_from(HEAD).unwrap();
        let long = format!("{{\"a\": \"{}\"}}\n", "x".repeat(2 * head));
        assert!(is_json_lines(&long.as_bytes()[..head], true));
    }

    #[test]
    fn endings_of_compressions_are_not_the_ending_of_a_name() {
        let name = |path: &str| name_of_text(&std::path::PathBuf::from(path));
        assert_eq!(name("/a/B.JSONL.gz"), "b.jsonl");
        assert_eq!(name("b.csv"), "b.csv");
        assert_eq!(
            [one("web archives"), one("files of text"), one("mailboxes")],
            ["a web archive", "a file of text", "a mailbox"]
        );
    }
}
