//! Text and fields of documents in other people's formats, for scanns.
//!
//! The parsers here run in child processes only: a file that crashes one, or that it never finishes, costs
//! itself and nothing else. [`serve`] is what such a process does. `child/` gives up the rights of the
//! process and talks to the engine, `document/` reads PDF, office documents, books and mail, and `science/`
//! the headers of scientific files and of images, sounds and films. They write to an [`Output`]. `rows/`
//! writes the rows of tables as JSON Lines, in a process for each table.

pub mod child;
pub mod document;
pub mod error;
pub mod output;
#[cfg(feature = "tables")]
pub mod rows;
pub mod science;
mod watched;

use std::cell::Cell;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use child::{Answer, ExtractRequest, Written};
use document::DocumentFormat;
use error::ExtractError;
use output::Output;
use science::ScienceFormat;
use watched::WatchedFile;

/// The number of first bytes that tell the format of a file.
const HEAD: u64 = 64 << 10;

/// Confines this process, and serves the files that arrive at standard input, a socket, until it is closed.
///
/// # Errors
/// Standard input is no socket, or what arrives there is no request.
pub fn serve() -> io::Result<()> {
    child::confine(Written::Nothing);
    child::serve(|request, answer| answer_request(&request, answer))
}

fn answer_request(request: &ExtractRequest<'_>, answer: &mut Answer) {
    let (text, fields) = (request.limits.text, request.limits.fields);
    let most = |limit: u64| usize::try_from(limit).unwrap_or(usize::MAX);
    let mut out = Output::new(most(text), most(fields));
    let has_failed = Cell::new(false);
    let size = request.file.metadata().map(|meta| meta.len());
    let found = size.and_then(|size| find(WatchedFile::new(request.file, &has_failed), size, &mut out));
    if has_failed.get() || is_passing(&found) {
        answer.passing();
    }
    match found {
        Ok(None) => answer.not_a_document(),
        Ok(Some((format, found))) => send(format, found, out, answer),
        Err(error) => answer.fail(error),
    }
}

/// Whether the machine had a part in an error, as far as the error says.
fn is_passing(found: &Found) -> bool {
    matches!(found, Err(_) | Ok(Some((_, Err(ExtractError::Io(_))))))
}

/// Sends what was found in a file. What was found before an error is better than nothing.
fn send(format: &str, found: Result<(), ExtractError>, out: Output, answer: &mut Answer) {
    let (text, fields, is_cut) = out.into_parts();
    match found {
        Err(ExtractError::Encrypted { .. }) => return answer.format(&format!("{format} (encrypted)")),
        Err(ExtractError::Unsupported { .. }) => return answer.format(&format!("{format} (unsupported)")),
        Err(error) if text.is_empty() && fields.is_empty() => return answer.fail(error),
        Err(_) => answer.cut(),
        Ok(()) if is_cut => answer.cut(),
        Ok(()) => {}
    }
    answer.format(format);
    for (name, value) in &fields {
        answer.push_field(name, value);
    }
    answer.push_text(&text);
}

/// The format of a file and whether all of it could be read; `None` if it is no document.
pub type Found = io::Result<Option<(&'static str, Result<(), ExtractError>)>>;

/// Finds the text of a file of `size` bytes.
///
/// # Errors
/// The file cannot be read.
pub fn find(mut file: impl Read + Seek, size: u64, out: &mut Output) -> Found {
    let mut head = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    (&mut file).take(HEAD).read_to_end(&mut head)?;
    let mut source = BufReader::with_capacity(64 << 10, file);
    if let Some(format) = DocumentFormat::of(&head, &mut source) {
        return Ok(Some((format.name(), format.extract(&mut source, out))));
    }
    source.seek(SeekFrom::Start(0))?;
    let Some(format) = ScienceFormat::of(&head) else { return Ok(None) };
    Ok(Some((format.name(), format.extract(&mut source, size, out))))
}
