//! Prints snippets of hits: with matches in bold for people, and with their positions for programs.

use std::io::Write;

use anyhow::Result;
use scanns::search::{Snippet, SnippetOptions};
use serde_json::{Map, Value, json};

use crate::args::SnippetArgs;
use crate::output::Output;
use crate::quoting::Quoter;
use crate::report;
use crate::terminal::Shade;

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
    let marks = out.look().marks(Shade::Match);
    for snippet in snippets {
        writeln!(out, "      {}", line(snippet, marks))?;
    }
    Ok(())
}

/// The text on one line, in which only the sequences around marks control the terminal.
pub(super) fn line(snippet: &Snippet, marks: [&str; 2]) -> String {
    let (mut spaced, mut ends) = (Vec::with_capacity(snippet.text.len()), Vec::new());
    let mut at = 0;
    for mark in &snippet.marks {
        for end in [mark.start, mark.end] {
            add_spaced(&mut spaced, snippet.text.get(at..end).unwrap_or_default());
            ends.push(spaced.len());
            at = end;
        }
    }
    add_spaced(&mut spaced, snippet.text.get(at..).unwrap_or_default());
    let mut quoter = Quoter::of(&spaced);
    let mut at = 0;
    for (end, mark) in ends.into_iter().zip(marks.iter().cycle()) {
        quoter.push(spaced.get(at..end).unwrap_or_default());
        quoter.mark(mark);
        at = end;
    }
    quoter.push(spaced.get(at..).unwrap_or_default());
    let before = if snippet.start > 0 { "… " } else { "" };
    let after = if snippet.goes_on { " …" } else { "" };
    format!("{before}{}{after}", quoter.finish())
}

/// Adds text with one space for every run of white space.
fn add_spaced(spaced: &mut Vec<u8>, text: &[u8]) {
    for &byte in text {
        if !byte.is_ascii_whitespace() {
            spaced.push(byte);
        } else if spaced.last() != Some(&b' ') {
            spaced.push(b' ');
        }
    }
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
        let marked = "… 'one <two>'$'\\033''[31m '$'\\377'' end' …";
        assert_eq!(line(&snippet, ["<", ">"]), marked);
        let whole = Snippet { start: 0, goes_on: false, ..snippet };
        assert_eq!(line(&whole, ["", ""]), "'one two'$'\\033''[31m '$'\\377'' end'");
        let mut object = Map::new();
        put(&mut object, &[whole]);
        let value = Value::from(object);
        assert_eq!(value["snippets"][0]["marks"], json!([[6, 9]]));
        assert!(value["snippets"][0]["text_bytes"].is_string());
    }
}
