//! PDF, by the programs `pdftotext` and `pdfinfo` of poppler.
//!
//! The programs inherit the limits of this process. Their output is read up to the limit of the text, and
//! then they are ended. A document of scanned pages gives no text, which is no error.

use std::ffi::OsString;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;

use super::presentation_forms::to_letters;
use crate::error::ExtractError;
use crate::output::Output;

/// The name of the format in errors.
const NAME: &str = "PDF";
/// The program that writes the text: UTF-8, lines that end with a line feed, no form feeds, no warnings.
const TEXT: [&str; 7] = ["pdftotext", "-q", "-enc", "UTF-8", "-eol", "unix", "-nopgbrk"];
/// The program that writes the fields.
const INFO: [&str; 4] = ["pdfinfo", "-enc", "UTF-8", "-isodates"];
/// The most bytes of fields or of warnings that are read.
const MOST_INFO: usize = 64 << 10;
/// The exit status of pdftotext when the document forbids to copy its text.
const FORBIDDEN: i32 = 3;
/// The fields by their names in the output of pdfinfo.
const FIELDS: [(&str, &str); 7] = [
    ("Title", "title"),
    ("Author", "author"),
    ("Subject", "subject"),
    ("Keywords", "keywords"),
    ("CreationDate", "created"),
    ("ModDate", "modified"),
    ("Pages", "pages"),
];

/// Where the programs find the document.
enum Origin<'s, S> {
    Path(&'s Path),
    Source(&'s mut S),
}

/// What a program wrote, and how it ended. `None`: it was ended because the output was full.
struct Written {
    bytes: Vec<u8>,
    status: Option<ExitStatus>,
}

/// Takes the text and the fields of the PDF file at `path`.
pub fn extract_pdf(path: &Path, out: &mut Output) -> Result<(), ExtractError> {
    extract_from(&mut Origin::<io::Empty>::Path(path), out)
}

/// Takes the text and the fields of a PDF file, which is copied to the programs.
pub fn extract(source: &mut (impl Read + Seek), out: &mut Output) -> Result<(), ExtractError> {
    extract_from(&mut Origin::Source(source), out)
}

fn extract_from<S: Read + Seek>(origin: &mut Origin<'_, S>, out: &mut Output) -> Result<(), ExtractError> {
    let info = run(&INFO, origin, Pipe::Output(MOST_INFO))?;
    fields(&String::from_utf8_lossy(&info.bytes), out);
    let text = run(&TEXT, origin, Pipe::Output(out.room().saturating_add(1)))?;
    out.text(&to_letters(&String::from_utf8_lossy(&text.bytes)));
    was_not_killed(INFO, info.status)?;
    was_not_killed(TEXT, text.status)?;
    match text.status {
        None => Ok(()),
        Some(status) if status.success() => Ok(()),
        Some(status) if status.code() == Some(FORBIDDEN) => {
            Err(ExtractError::Unsupported { format: NAME, reason: "its text may not be copied".to_owned() })
        }
        Some(status) => Err(reason_of(origin, status)?),
    }
}

/// An error if a signal ended a program: the system may have had too little memory.
fn was_not_killed<const N: usize>(
    program: [&str; N],
    status: Option<ExitStatus>,
) -> Result<(), ExtractError> {
    match status.filter(|status| status.code().is_none()) {
        Some(status) => {
            let name = program.first().unwrap_or(&"");
            Err(io::Error::other(format!("{NAME}: {name} was ended: {status}")).into())
        }
        None => Ok(()),
    }
}

/// Takes the fields from lines of `NAME: VALUE`.
fn fields(info: &str, out: &mut Output) {
    for (key, value) in info.lines().filter_map(|line| line.split_once(':')) {
        if let Some((_, name)) = FIELDS.iter().find(|(known, _)| *known == key) {
            out.field(name, value);
        }
    }
}

/// Why pdftotext failed, by the first warning of pdfinfo.
fn reason_of<S: Read + Seek>(
    origin: &mut Origin<'_, S>,
    status: ExitStatus,
) -> Result<ExtractError, ExtractError> {
    let warnings = run(&INFO, origin, Pipe::Warnings(MOST_INFO))?;
    let warnings = String::from_utf8_lossy(&warnings.bytes);
    // Without the handler of its encryption, such as certificates, a document is encrypted, too.
    if ["Incorrect password", "security handler"].iter().any(|reason| warnings.contains(reason)) {
        return Ok(ExtractError::Encrypted { format: NAME });
    }
    let first = warnings.lines().next().map_or_else(|| format!("pdftotext: {status}"), str::to_owned);
    Ok(ExtractError::damaged(NAME, first))
}

/// Which stream of a program is read, and how much of it.
#[derive(Clone, Copy)]
enum Pipe {
    Output(usize),
    Warnings(usize),
}

/// Runs a program on the document.
fn run<S: Read + Seek>(
    program: &[&str],
    origin: &mut Origin<'_, S>,
    pipe: Pipe,
) -> Result<Written, ExtractError> {
    let mut child = start(program, origin, pipe)?;
    let result = talk(&mut child, origin, pipe);
    if !matches!(&result, Ok(written) if written.status.is_some()) {
        // The program may have ended by itself.
        let _ = child.kill();
        child.wait()?;
    }
    result
}

/// Starts a program with the document as its argument or its input.
fn start<S>(program: &[&str], origin: &Origin<'_, S>, pipe: Pipe) -> Result<Child, ExtractError> {
    let (name, arguments) = program.split_first().unwrap_or((&"", &[]));
    let (input, file) = match origin {
        Origin::Path(path) => (Stdio::null(), argument(path)),
        Origin::Source(_) => (Stdio::piped(), OsString::from("-")),
    };
    let (output, warnings) = match pipe {
        Pipe::Output(_) => (Stdio::piped(), Stdio::null()),
        Pipe::Warnings(_) => (Stdio::null(), Stdio::piped()),
    };
    let mut command = Command::new(name);
    command.args(arguments).arg(file).env("LC_ALL", "C").stdin(input).stdout(output).stderr(warnings);
    if *name == "pdftotext" {
        command.arg("-");
    }
    command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            ExtractError::Unsupported { format: NAME, reason: format!("the program {name} is not installed") }
        }
        _ => error.into(),
    })
}

/// A path that no program takes for an option or for its standard input.
fn argument(path: &Path) -> OsString {
    if path.as_os_str().as_encoded_bytes().starts_with(b"-") {
        Path::new(".").join(path).into_os_string()
    } else {
        path.as_os_str().to_owned()
    }
}

/// Gives the document to a program, reads what it writes, and waits for its end unless the limit is reached.
fn talk<S: Read + Seek>(
    child: &mut Child,
    origin: &mut Origin<'_, S>,
    pipe: Pipe,
) -> Result<Written, ExtractError> {
    let (stream, most): (Option<Box<dyn Read + Send>>, _) = match pipe {
        Pipe::Output(most) => (child.stdout.take().map(|stream| Box::new(stream) as _), most),
        Pipe::Warnings(most) => (child.stderr.take().map(|stream| Box::new(stream) as _), most),
    };
    let stream = stream.unwrap_or_else(|| Box::new(io::empty()));
    // The program may write before it has read all, so the output is read while the document is written.
    let reader = thread::Builder::new().spawn(move || {
        let mut bytes = Vec::new();
        let read = stream.take(u64::try_from(most).unwrap_or(u64::MAX)).read_to_end(&mut bytes);
        read.map(|_| bytes)
    })?;
    if let (Origin::Source(source), Some(mut input)) = (origin, child.stdin.take()) {
        source.seek(SeekFrom::Start(0))?;
        copy(*source, &mut input)?;
    }
    let bytes = reader.join().unwrap_or_else(|_| Err(io::Error::other("the reader of a program failed")))?;
    let status = if bytes.len() >= most { None } else { Some(child.wait()?) };
    Ok(Written { bytes, status })
}

/// Copies the document to a program, which may stop reading.
fn copy(source: &mut impl Read, input: &mut impl Write) -> io::Result<()> {
    match io::copy(source, input) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
