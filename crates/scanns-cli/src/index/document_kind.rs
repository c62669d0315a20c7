//! What a document of a build is.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use scanns::Snapshot;
use scanns::schema::Records;
use scanns::sources::{CollectionFormat, ContentOptions, Extraction, text_of_file};

use crate::args::{ContentArg, IndexArgs};
use crate::report;

/// The number of files that are looked at.
const LOOKED_AT: usize = 64;

/// The number of first bytes that are looked at.
const HEAD: u64 = 4 << 10;

/// What a document is: as in the existing index, else as requested, else as the files say, else a file.
pub fn records_of(args: &IndexArgs, output: &Path) -> Result<Records> {
    let wanted = args.text.records.map(Records::from);
    // An index that cannot be read is reported by the build, which has to read it too.
    let built = Snapshot::open(output).ok().and_then(|snapshot| {
        let records = snapshot.info().records;
        // A program may have made it, and neither files nor records are in it yet.
        (records != Records::File || snapshot.has_files().unwrap_or(true)).then_some(records)
    });
    if let (Some(wanted), Some(built)) = (wanted, built)
        && wanted != built
    {
        bail!(
            "the documents of {} are {}, not {}: leave --records out, or choose another index with -o",
            report::path_text(output),
            documents(built),
            documents(wanted),
        );
    }
    Ok(wanted.or(built).or_else(|| detected(args)).unwrap_or(Records::File))
}

fn documents(records: Records) -> &'static str {
    match records {
        Records::File => "files",
        Records::Lines => "lines (--records lines)",
        Records::Jsonl => "JSON records (--records jsonl)",
        Records::Csv => "CSV rows (--records csv)",
        Records::Warc => "records of web archives (--records warc)",
        Records::Trec => "documents of TREC (--records trec)",
        Records::Smart => "documents of SMART (--records smart)",
        Records::Mbox => "messages (--records mbox)",
        Records::MediaWiki => "pages of MediaWiki (--records mediawiki)",
    }
}

/// The records of the given files, if all of them are collections of one format, and says so. Directories are
/// not looked into.
fn detected(args: &IndexArgs) -> Option<Records> {
    let paths = &args.input.paths;
    let others = args.input.files_from.is_some() || args.dump.dump.is_some() || args.scan.changes.is_some();
    if others || matches!(args.contents.content, Some(ContentArg::None)) || paths.is_empty() {
        return None;
    }
    if !paths.iter().all(|path| path.is_file()) {
        return None;
    }
    let mut formats = paths.iter().take(LOOKED_AT).map(format);
    let first = formats.next()??;
    if formats.any(|format| format != Some(first)) {
        return None;
    }
    let (what, records) = match first {
        CollectionFormat::Warc => ("web archives: every page is a document", first.records()),
        CollectionFormat::Trec => ("TREC documents: every <DOC> is a document", first.records()),
        CollectionFormat::Smart => ("SMART documents: every .I is a document", first.records()),
        CollectionFormat::Mbox => ("mailboxes: every message is a document", first.records()),
        CollectionFormat::MediaWiki => ("dumps of MediaWiki: every page is a document", first.records()),
    };
    let name = records.name();
    report::note(&format!("these are {what} (--records {name}); --records file makes each file one"));
    Some(records)
}

fn format(path: &PathBuf) -> Option<CollectionFormat> {
    let contents =
        ContentOptions { skip_binary: false, extract: Extraction::None, ..ContentOptions::default() };
    // What cannot be read is reported by the build.
    let head = text_of_file(&mut File::open(path).ok()?, contents, 0, HEAD).ok()?;
    CollectionFormat::detect(&head)
}
