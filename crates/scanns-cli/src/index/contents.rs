//! What to do with the content of files, and the processes that find the text in some of them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};
use scanns::extraction::{ExtractLimits, ExtractorCommand, Extractors};
use scanns::sources::{ContentOptions, Extraction};

use crate::args::{BinaryArg, ContentArg, ContentArgs, EncodingArg, ExtractArg};

/// What to do with the content of files, if requested.
pub fn contents(args: &ContentArgs) -> Result<Option<ContentOptions>> {
    let ContentArgs { content, extract, binary, no_decompress, encoding } = args;
    let names_only = matches!(content, Some(ContentArg::None));
    let about_text = extract.is_some() || binary.is_some() || *no_decompress || encoding.is_some();
    if names_only && about_text {
        bail!("--content none reads no file: leave --extract, --binary, --no-decompress and --encoding out");
    }
    let requested = content.is_some() || about_text;
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
    }))
}

/// The processes that find the text of documents: this program itself, as `scanns extract --serve`.
pub fn extractors(processes: usize) -> Arc<Extractors> {
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("scanns"));
    let arguments = ["extract", "--serve"].map(OsString::from).to_vec();
    let command = ExtractorCommand { program, arguments };
    Arc::new(Extractors::new(command, ExtractLimits::default(), processes))
}
