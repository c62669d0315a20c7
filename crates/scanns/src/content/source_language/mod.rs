//! The language of source code, by the name of a file, its first bytes, and the interpreter that it names.
//!
//! In this order: the whole name (`Makefile`), the extension (`.py`; the first lines decide between languages
//! that share one, see `clues.rs`), the name up to its first dot (`Dockerfile.dev`), and the `#!` line. Names
//! of languages are in lower case, as people type them: `cpp`, `csharp`, `shell`. All shells are `shell`.
//! Data formats such as JSON, YAML and CSV, and markup such as HTML and Markdown, are not source code.
//!
//! This runs for every text file: it takes about 60 ns where the name decides, up to 6 µs where 4 KiB of
//! lines do, and allocates nothing.

mod clues;
mod extensions;
mod names;
mod table;

use self::extensions::{ByExtension, EXTENSIONS};
use self::names::{INTERPRETERS, NAMES, STEMS};

/// Longer extensions are not in the table.
const MOST_EXTENSION: usize = 16;
/// The number of bytes in which the `#!` line ends.
const MOST_SHEBANG: usize = 256;

/// The language of a file with this name, without directories, and these first bytes; `None` if it is not
/// source code, or in a language that is not known. Bytes of `head` beyond the first 4 KiB are not read.
pub fn source_language(name: &[u8], head: &[u8]) -> Option<&'static str> {
    // Templates that a build fills in, such as `config.h.in`, are in the language of what they become.
    let made = name.strip_suffix(b".in").unwrap_or(name);
    let known = NAMES.find(name).or_else(|| if made == name { None } else { NAMES.find(made) });
    if known.is_some() {
        return known;
    }
    let by_shebang = || interpreter(head).and_then(of_interpreter);
    match by_extension(made) {
        Some(ByExtension::Is(language)) => Some(language),
        Some(ByExtension::Clues(clues)) if head.starts_with(b"#!") => {
            by_shebang().or_else(|| clues.language(head))
        }
        Some(ByExtension::Clues(clues)) => clues.language(head),
        None => by_stem(made).or_else(by_shebang),
    }
}

/// What the extension of a name says. A name that begins with its only dot has none.
fn by_extension(name: &[u8]) -> Option<ByExtension> {
    let dot = name.iter().rposition(|byte| *byte == b'.').filter(|dot| *dot > 0)?;
    let extension = name.get(dot + 1..)?;
    // Upper case means C++, unless the whole name is in upper case.
    if matches!(extension, b"C" | b"H") && name.iter().any(u8::is_ascii_lowercase) {
        return Some(ByExtension::Is("cpp"));
    }
    let mut lower = [0; MOST_EXTENSION];
    let lower = lower.get_mut(..extension.len())?;
    lower.copy_from_slice(extension);
    lower.make_ascii_lowercase();
    EXTENSIONS.find(lower)
}

/// The language of names such as `Dockerfile.dev` and `Makefile-linux`.
fn by_stem(name: &[u8]) -> Option<&'static str> {
    let stem = name.split(|byte| matches!(byte, b'.' | b'-')).next()?;
    STEMS.find(stem)
}

/// The name of the program in a `#!` line, without its directories. `env` is passed over, with its options.
fn interpreter(head: &[u8]) -> Option<&[u8]> {
    let rest = head.strip_prefix(b"#!")?;
    let rest = rest.get(..MOST_SHEBANG).unwrap_or(rest);
    let line = rest.split(|byte| matches!(byte, b'\n' | b'\r')).next()?;
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let program = base(words.next()?);
    if program != b"env" {
        return Some(program);
    }
    words.find(|word| !word.starts_with(b"-") && !word.contains(&b'=')).map(base)
}

/// The last part of a path.
fn base(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

/// The language of an interpreter. Its version is left out where the name with it is not known.
fn of_interpreter(program: &[u8]) -> Option<&'static str> {
    let is_version = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-');
    let len = program.iter().rposition(|byte| !is_version(byte)).map_or(0, |last| last + 1);
    INTERPRETERS.find(program).or_else(|| INTERPRETERS.find(program.get(..len)?))
}

#[cfg(test)]
mod tests;
