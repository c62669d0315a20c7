//! Prints snippets of hits: with matches in bold for people, and with their positions for programs.

use std::io::Write;

use anyhow::Result;
use scanns::search::{Snippet, SnippetOptions};
use serde_json::{Map, Value, json};

use crate::args::SnippetArgs;
use crate::report::{self, Output, escaped};

/// The sequences that switch bold on and off on a terminal.
const BOLD: (&str, &str) = ("\x1b[1m", "\x1b[0m");

/// The requested options.
pub(super) fn options(args: &SnippetArgs) -> SnippetOptions {
    SnippetOptions { length: args.snippet_length, fragments: args.snippet_count, ..SnippetOptions::default() }
}

/// Puts snippets into the object of a hit. Positions are bytes of the text, or of `text_bytes` if present.
pub(super) fn put(object: &mut Map<String, Value>, snippets: &[Snippet]) {
    let one = |snippet: &Snippet| {
        let mut object = Map::new();
        report::put_bytes(&mut object, "text", &snippet.text);
        object.insert("start".into(), snippet.start.into());
        let marks = snippet.marks.iter().map(|mark| json!([mark.start, mark.end]));
        object.insert("marks".into(), marks.collect());
        Value::from(object)
    };
    object.insert("snippets".into(), snippets.iter().map(one).collect());
}

/// Prints snippets, one per line.
pub(super) fn print(out: &mut Output, snippets: &[Snippet]) -> Result<()> {
    let bold = if out.is_terminal() { BOLD } else { ("", "") };
    for snippet in snippets {
        writeln!(out, "      {}", line(snippet, bold.0, bold.1))?;
    }
    Ok(())
}

/// The text on one line, in which only the sequences around marks control the terminal.
fn line(snippet: &Snippet, open: &str, close: &str) -> String {
    let mut line = String::from(if snippet.start > 0 { "… " } else { "" });
    let mut at = 0;
    for mark in &snippet.marks {
        line.push_str(&plain(&snippet.text[at..mark.start]));
        line.push_str(open);
        line.push_str(&plain(&snippet.text[mark.clone()]));
        line.push_str(close);
        at = mark.end;
    }
    line.push_str(&plain(&snippet.text[at..]));
    if snippet.goes_on {
        line.push_str(" …");
    }
    line
}

/// Text with one space for every run of white space, and with other unprintable characters escaped.
fn plain(text: &[u8]) -> String {
    let mut spaced = Vec::with_capacity(text.len());
    for &byte in text {
        if !byte.is_ascii_whitespace() {
            spaced.push(byte);
        } else if spaced.last() != Some(&b' ') {
            spaced.push(b' ');
        }
    }
    escaped(&spaced)
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    #[test]
    fn a_snippet_is_one_line_in_which_only_marks_control_the_terminal() {
        let snippet = Snippet {
            text: b"one\n\t two\x1b[31m \xff end".to_vec(),
            start: 5,
            marks: Vec::from_iter([Range { start: 6, end: 9 }]),
            goes_on: true,
        };
        assert_eq!(line(&snippet, BOLD.0, BOLD.1), "… one \x1b[1mtwo\x1b[0m\\x1b[31m \\xff end …");
        let whole = Snippet { start: 0, goes_on: false, ..snippet };
        assert_eq!(line(&whole, "", ""), "one two\\x1b[31m \\xff end");
        let mut object = Map::new();
        put(&mut object, &[whole]);
        let value = Value::from(object);
        assert_eq!(value["snippets"][0]["marks"], json!([[6, 9]]));
        assert!(value["snippets"][0]["text_bytes"].is_string());
    }
}
