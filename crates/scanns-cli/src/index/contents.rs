//! What to do with the content of files, and the processes that find the text in some of them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
#[cfg(feature = "arrow")]
use scanns::extraction::TableConverter;
use scanns::extraction::{ExtractCache, ExtractCacheOptions, ExtractLimits, ExtractorCommand, Extractors};
use scanns::index::IndexOptions;
use scanns::schema::Records;
use scanns::sources::{ContentOptions, Extraction, TableReading};
use serde_json::{Value, json};

use super::versions::extractor_versions;
use crate::args::{BinaryArg, ContentArg, ContentArgs, EncodingArg, ExtractArg, ExtractLimitArgs};
use crate::{report, units};

/// What to do with the content of files, if requested. If `whole`, collections are whole files.
pub fn contents(args: &ContentArgs, whole: bool) -> Result<Option<ContentOptions>> {
    let ContentArgs { content, extract, binary, no_decompress, encoding, .. } = args;
    let ContentArgs { detect_language, near_duplicates, .. } = args;
    let names_only = matches!(content, Some(ContentArg::None));
    let is_changed = extract.is_some() || binary.is_some() || *no_decompress || encoding.is_some();
    let about_text = is_changed || *detect_language || *near_duplicates;
    if names_only && about_text {
        bail!(
            "--content none reads no file: leave --extract, --binary, --no-decompress, --encoding, \
             --detect-language and --near-duplicates out"
        );
    }
    let requested = content.is_some() || about_text || whole;
    Ok(requested.then(|| ContentOptions {
        names_only,
        skip_binary: !matches!(binary, Some(BinaryArg::Text)),
        decompress: !no_decompress,
        transcode: !matches!(encoding, Some(EncodingArg::Utf8)),
        extract: match extract {
            Some(ExtractArg::None) => Extraction::None,
            Some(ExtractArg::Safe) => Extraction::Safe,
            Some(ExtractArg::All) | None => Extraction::All,
        },
        collections: !whole,
        languages: *detect_language,
        near_duplicates: *near_duplicates,
    }))
}

/// Refuses to find languages where there is no field for them.
pub fn check_languages(args: &ContentArgs, records: Records) -> Result<()> {
    let has_field = match records {
        Records::File => !matches!(args.extract, Some(ExtractArg::None)),
        records => records == Records::Warc,
    };
    if args.detect_language && !has_field {
        bail!(
            "--detect-language is for files, with --extract safe or all, and for pages of web archives: \
             leave it out"
        );
    }
    Ok(())
}

/// The processes that find the text of documents: this program itself, as `scanns extract --serve`.
pub fn extractors(limits: ExtractLimitArgs, processes: usize) -> Extractors {
    let program = own_program();
    let arguments = ["extract", "--serve"].map(OsString::from).to_vec();
    let command = ExtractorCommand { program, arguments };
    Extractors::new(command, self::limits(limits), processes)
}

/// The limits for one file.
pub fn limits(args: ExtractLimitArgs) -> ExtractLimits {
    let ExtractLimitArgs { extract_time, extract_memory } = args;
    ExtractLimits {
        // A part of a second counts as one.
        seconds: extract_time.as_secs() + u64::from(extract_time.subsec_nanos() > 0),
        memory: extract_memory,
        ..ExtractLimits::default()
    }
}

/// The same, which first look into the cache that the arguments name.
pub fn cached_extractors(args: &ContentArgs, processes: usize) -> Result<Arc<Extractors>> {
    let extractors = extractors(args.limits, processes);
    let Some(directory) = &args.extract_cache else { return Ok(Arc::new(extractors)) };
    let versions = extractor_versions(&own_program()).context("cannot find the version of this program")?;
    let options =
        ExtractCacheOptions { directory: directory.clone(), size: args.extract_cache_size, versions };
    let cache = ExtractCache::open(options).context("--extract-cache")?;
    Ok(Arc::new(extractors.with_cache(cache)))
}

fn own_program() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_| PathBuf::from("scanns"))
}

/// What reads the rows of tables: this program itself, as `scanns extract --rows`.
#[cfg(feature = "arrow")]
pub fn tables() -> TableReading {
    /// Address space of the process.
    const MEMORY: u64 = 2 << 30;
    /// Time without a row after which it counts as stuck.
    const SECONDS: u64 = 60;
    let arguments = vec!["extract".into(), "--rows".into(), MEMORY.to_string().into()];
    TableReading::Convert(Arc::new(TableConverter { program: own_program(), arguments, seconds: SECONDS }))
}

/// Says that this build cannot read tables.
#[cfg(not(feature = "arrow"))]
pub fn tables() -> TableReading {
    TableReading::Refuse(
        "this scanns was built without the feature arrow, so it cannot read tables of Parquet and Arrow",
    )
}

/// The numbers of documents that were found in the cache and not, and its errors; null without a cache.
pub fn cache_json(options: &IndexOptions) -> Value {
    let notes = options.extractors.as_ref().and_then(|extractors| extractors.cache_notes());
    notes.map_or(Value::Null, |notes| {
        json!({
            "hits": notes.hits,
            "misses": notes.misses,
            "damaged": notes.damaged,
            "errors": notes.errors,
            "first_error": notes.first_error,
        })
    })
}

/// Says how much of the text came from the cache, and which error it met first.
pub fn list_cache(options: &IndexOptions, with_counts: bool) {
    let Some(notes) = options.extractors.as_ref().and_then(|extractors| extractors.cache_notes()) else {
        return;
    };
    if with_counts && notes.hits + notes.misses > 0 {
        let found = units::counted(notes.hits, "document");
        report::note(&format!("{found} found in the extract cache, {} not", units::count(notes.misses)));
    }
    if let Some(first) = &notes.first_error {
        let errors = units::counted(notes.errors, "error");
        report::note(&format!(
            "the extract cache met {errors}, the first: {first}; the index is not affected"
        ));
    }
}
