//! What a document of a build is.

use std::path::Path;

use anyhow::{Result, bail};
use scanns::Snapshot;
use scanns::schema::Records;
use scanns::sources::SourceOptions;

use super::detect_records;
use crate::args::{IndexArgs, RecordsArg};
use crate::report;

/// What a document of a build is.
#[derive(Clone, Copy, Debug)]
pub struct DocumentKind {
    /// The kind of record.
    pub records: Records,
    /// True if a new index is to have every file as one document, collections of records included.
    pub are_whole: bool,
}

/// What a document is: as in the existing index, else as requested, else as the files say, else a file.
pub fn kind_of_documents(args: &IndexArgs, source: &SourceOptions, output: &Path) -> Result<DocumentKind> {
    let wanted = args.text.records.and_then(RecordsArg::kind);
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
    let known = wanted.or(built).or_else(|| detect_records::detected(args, source));
    let are_whole = built.is_none() && wanted == Some(Records::File);
    Ok(DocumentKind { records: known.unwrap_or(Records::File), are_whole })
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
        Records::Access => "lines of access logs (--records access)",
        Records::Syslog => "lines of syslog (--records syslog)",
        Records::Journal => "entries of journals (--records journal)",
    }
}
