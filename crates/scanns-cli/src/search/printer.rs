//! Prints hits: as tab-separated lines or JSON for programs, as keys for `xargs -0`, and for people with what
//! helps them on a terminal.
//!
//! For people this is the text of a line or the first fields of a record, the values of the columns that the
//! query filters by, sizes and modes in their usual form, colours, and links.

use std::io::Write;

use anyhow::Result;
use scanns::Hit;
use scanns::schema::{FieldKind, Records, Store, Value as Typed};
use scanns::search::{Explanation, Highlighter, Snippet, SnippetOptions};
use serde_json::{Map, Value};

use super::fields::{self, Shown};
use super::groups::Grouped;
use super::limits::{is_partial, put_partial};
use super::page::Asked;
use super::snippets;
use crate::args::SortArg;
use crate::explain;
use crate::output::Output;
use crate::quoting::{quoted, text_line};
use crate::report;
use crate::terminal::{Shade, beginning, columns};
use crate::units;

/// The maximum number of lines of a document to show to people, and of characters per line.
const LINES: usize = 10;
const COLUMNS: usize = 160;

/// The number of first fields of a record to show.
const FIRST_FIELDS: usize = 6;

/// The fields of collections to show, where there are any.
const COLLECTION_FIELDS: [&str; 9] =
    ["title", "headline", "subject", "from", "url", "date", "host", "app", "status"];

/// The indentation of what is below a key, and the least room for text beside a key.
const INDENT: usize = 6;
const BESIDE: usize = 30;

/// Prints hits one by one.
pub(super) struct Printer<'a> {
    asked: &'a Asked<'a>,
    /// The requested fields.
    requested: Shown<'a>,
    /// The columns of the conditions of the query, then the first fields of records; for people.
    helpful: Shown<'a>,
    /// For --snippets.
    snippets: Option<Highlighter<'a>>,
    /// For the text beside a key; for people.
    line: Option<Highlighter<'a>>,
    /// The number of hits printed, including those of earlier pages.
    pub(super) last: usize,
    /// The number of hits whose text could not be read.
    pub(super) unread: u64,
}

/// A hit and its surroundings.
#[derive(Clone, Copy, Default)]
pub(super) struct Around<'a> {
    /// The values of the columns that it was sorted by, if any.
    pub(super) sorted: &'a [Option<Typed>],
    /// The token of the next page.
    pub(super) next: Option<&'a str>,
    pub(super) group: Option<Grouped<'a>>,
    /// The number of later hits that nearly repeat it, with --collapse.
    pub(super) near: Option<u64>,
}

/// What to show of a hit.
struct Details<'a> {
    rank: usize,
    hit: &'a Hit,
    key: Vec<u8>,
    around: Around<'a>,
    /// The values of the requested fields.
    fields: Vec<Vec<Typed>>,
    text: Option<Vec<u8>>,
    snippets: Option<Vec<Snippet>>,
    /// How the score was computed.
    why: Option<Explanation>,
    /// True if the query timed out.
    partial: bool,
}

impl<'a> Printer<'a> {
    pub(super) fn new(asked: &'a Asked<'a>, out: &Output) -> Result<Self> {
        let Asked { args, snapshot, query, field, .. } = asked;
        let requested = Shown::new(snapshot, &args.columns.fields)?;
        let for_people = out.look().width().filter(|_| !args.json && !args.null);
        let highlighter = |options: SnippetOptions| snapshot.highlighter(*field, query, options);
        let snippets = args.snippet.snippets.then(|| highlighter(snippets::options(&args.snippet)));
        let info = snapshot.info();
        let has_short_text = info.records != Records::File && info.stored.store != Store::None;
        let shows_text = args.snippet.snippets || args.content;
        let line = for_people.filter(|_| has_short_text && !shows_text).map(|width| {
            let length = width.saturating_sub(INDENT + 4).max(16);
            highlighter(SnippetOptions { length, fragments: 1, ..SnippetOptions::default() })
        });
        let helpful = if for_people.is_some() { helpful(asked, &requested) } else { Shown::none(snapshot) };
        Ok(Printer {
            asked,
            requested,
            helpful,
            snippets: snippets.transpose()?,
            line: line.transpose()?,
            last: 0,
            unread: 0,
        })
    }

    /// Prints the next hit.
    pub(super) fn print(&mut self, out: &mut Output, hit: &Hit, around: Around<'_>) -> Result<()> {
        let Asked { args, snapshot, searcher, prepared, model, field, budget, .. } = self.asked;
        self.last += 1;
        let key = searcher.key(hit)?;
        if args.null {
            return Ok(out.with_nul(&key)?);
        }
        let before = self.unread;
        let text = readable(args.content.then(|| snapshot.document(hit)), &mut self.unread)?;
        // If the text could not be read, it is not read again, and the error is reported once.
        let highlighter = self.snippets.as_mut().filter(|_| self.unread == before);
        let snippets = highlighter.map(|highlighter| snapshot.snippets(hit, *field, highlighter));
        let snippets = readable(snippets, &mut self.unread)?;
        let why = args.explain.then(|| prepared.explain(*model, hit)).transpose()?.flatten();
        let (partial, fields) = (is_partial(*budget), self.requested.of(hit)?);
        let details = Details { rank: self.last, hit, key, around, fields, text, snippets, why, partial };
        if args.json {
            return Ok(out.json(&self.as_json(&details))?);
        }
        if let Some(Grouped { value, count, .. }) = around.group.filter(|group| group.is_head) {
            let name = value.map_or("without".into(), fields::text);
            writeln!(out, "{name}: {}", units::counted(count, "document"))?;
        }
        match out.look().width() {
            Some(width) => self.print_for_people(out, &details, width)?,
            None => self.print_line(out, &details)?,
        }
        details.why.as_ref().map_or(Ok(()), |why| explain::print(out, why))?;
        details.snippets.as_deref().map_or(Ok(()), |found| snippets::print(out, found))?;
        details.text.as_deref().map_or(Ok(()), |text| print_text(out, text))
    }

    /// Rank, score and key, then the requested values, separated by tabs.
    fn print_line(&self, out: &mut Output, details: &Details<'_>) -> Result<()> {
        let Details { rank, hit, key, around, fields, .. } = details;
        let sorted = |value: &Option<Typed>| value.as_ref().map_or("-".into(), fields::text);
        let sorted: Vec<String> = around.sorted.iter().map(sorted).collect();
        let why = if sorted.is_empty() { format!("{:.4}", hit.score) } else { sorted.join(", ") };
        let shown = self.painted(out, key);
        write!(out, "{rank}\t{why}\t{shown}")?;
        for values in fields {
            let values: Vec<String> = values.iter().map(fields::text).collect();
            write!(out, "\t{}", values.join(", "))?;
        }
        if let Some(near) = around.near {
            write!(out, "\t{near}")?;
        }
        Ok(writeln!(out)?)
    }

    /// One line for a person, and a second one if the text does not fit beside the key.
    fn print_for_people(&mut self, out: &mut Output, details: &Details<'_>, width: usize) -> Result<()> {
        let Details { rank, hit, key, around, fields, .. } = details;
        let why = match around.sorted {
            [] => format!("{:.4}", hit.score),
            sorted => self.sorted_for_people(sorted),
        };
        let aside = format!("{rank:>4}  {why:>9}  ");
        let mut taken = columns(&aside) + columns(&quoted(key));
        let (aside, shown) = (out.look().paint(Shade::Aside, &aside).into_owned(), self.painted(out, key));
        write!(out, "{aside}{shown}")?;
        if let Some(near) = around.near.filter(|near| *near > 0) {
            let near = format!("  (+{})", units::counted(near, "near-duplicate"));
            taken += columns(&near);
            write!(out, "{}", out.look().paint(Shade::Aside, &near))?;
        }
        for part in self.requested.for_people(fields) {
            taken += 2 + columns(&part);
            write!(out, "  {part}")?;
        }
        let mut values = self.helpful.for_people(&self.helpful.of(hit)?).join("  ");
        let Some(text) = self.line_of(hit)? else {
            if values.is_empty() {
                return Ok(writeln!(out)?);
            }
            let room = width.saturating_sub(taken + 2);
            if room >= BESIDE || columns(&values) <= room {
                values = beginning(&values, room).into();
                return Ok(writeln!(out, "  {values}").map(drop)?);
            }
            return Ok(writeln!(
                out,
                "\n{:INDENT$}{}",
                "",
                beginning(&values, width.saturating_sub(INDENT))
            )?);
        };
        if !values.is_empty() {
            taken += 2 + columns(&values);
            write!(out, "  {values}")?;
        }
        let plain = snippets::line(&text, ["", ""]);
        let marked = snippets::line(&text, out.look().marks(Shade::Match));
        let beside = taken + 2 + columns(&plain) <= width;
        Ok(if beside { writeln!(out, "  {marked}") } else { writeln!(out, "\n{:INDENT$}{marked}", "") }?)
    }

    /// The values that a hit was sorted by.
    fn sorted_for_people(&self, sorted: &[Option<Typed>]) -> String {
        let SortArg::Fields(by) = &self.asked.args.page.sort else { return String::new() };
        let of = |(value, by): (&Option<Typed>, &crate::args::FieldSort)| {
            value.as_ref().map_or("-".into(), |value| fields::for_people(&by.name, value))
        };
        sorted.iter().zip(by).map(of).collect::<Vec<_>>().join(", ")
    }

    /// The text of a line or a record, where the index stores it and it can still be read.
    fn line_of(&mut self, hit: &Hit) -> Result<Option<Snippet>> {
        let Some(highlighter) = &mut self.line else { return Ok(None) };
        match self.asked.snapshot.snippets(hit, self.asked.field, highlighter) {
            Err(scanns::Error::SourceChanged { .. }) => Ok(None),
            found => Ok(found?.and_then(|found| found.into_iter().next())),
        }
    }

    /// A key with its colour and, if it is a path, with its link.
    fn painted(&self, out: &Output, key: &[u8]) -> String {
        let path = match self.asked.snapshot.info().records {
            Records::File => key,
            _ => without_line(key),
        };
        out.look().link(path, &out.look().paint(Shade::Key, &quoted(key))).into_owned()
    }

    fn as_json(&self, details: &Details<'_>) -> Value {
        let mut object = Map::new();
        let Details { rank, hit, key, around, .. } = details;
        object.insert("rank".into(), (*rank).into());
        if around.sorted.is_empty() {
            object.insert("score".into(), report::short_float(hit.score));
        } else {
            let value = |value: &Option<Typed>| value.as_ref().map_or(Value::Null, fields::json);
            object.insert("sort".into(), around.sorted.iter().map(value).collect());
        }
        report::put_bytes(&mut object, "key", key);
        if let Some(group) = around.group {
            object.insert("group".into(), group.value.map_or(Value::Null, fields::json));
            object.insert("group_count".into(), group.count.into());
        }
        if let Some(near) = around.near {
            object.insert("near_duplicates".into(), near.into());
        }
        if !details.fields.is_empty() {
            let values = |(name, values): (&str, &Vec<Typed>)| {
                (name.to_owned(), values.iter().map(fields::json).collect::<Value>())
            };
            object.insert("fields".into(), self.requested.names().zip(&details.fields).map(values).collect());
        }
        if let Some(text) = &details.text {
            report::put_bytes(&mut object, "content", text);
        }
        if let Some(why) = &details.why {
            object.insert("explanation".into(), explain::json(why));
        }
        if let Some(found) = &details.snippets {
            snippets::put(&mut object, found);
        }
        if let Some(token) = around.next {
            object.insert("after".into(), token.into());
        }
        put_partial(&mut object, details.partial);
        object.into()
    }
}

/// The columns that the query filters by, then the first fields of records, without those that are shown
/// anyway.
fn helpful<'a>(asked: &Asked<'a>, requested: &Shown<'_>) -> Shown<'a> {
    let (schema, mut names) = (asked.snapshot.schema(), Vec::<&str>::new());
    let sorted = |name: &str| match &asked.args.page.sort {
        SortArg::Fields(by) => by.iter().any(|by| by.name == name),
        _ => false,
    };
    let records = asked.snapshot.info().records;
    for clause in asked.query.clauses() {
        let field = match clause {
            scanns::Query::Values(range) => Some(range.field),
            clause => clause.field(),
        };
        let entry = field.and_then(|field| schema.entry(field)).filter(|entry| entry.column);
        // The key of a file has its path, name and extension already.
        let is_in_key = |name: &str| records == Records::File && ["path", "name", "ext"].contains(&name);
        names.extend(entry.map(|entry| entry.name.as_str()).filter(|name| !is_in_key(name)));
    }
    let is_plain = requested.names().next().is_none();
    if is_plain && !matches!(records, Records::Jsonl | Records::Csv) {
        names.extend(
            COLLECTION_FIELDS
                .into_iter()
                .filter(|name| records.have_fields() && schema.field(name).is_some()),
        );
    } else if is_plain {
        let short = schema.fields().filter(|(field, entry)| {
            !asked.snapshot.is_internal(*field)
                && (entry.column || entry.stored)
                && !matches!(entry.kind, FieldKind::Text { .. } | FieldKind::Bytes)
        });
        names.extend(short.take(FIRST_FIELDS).map(|(_, entry)| entry.name.as_str()));
    }
    let mut seen: Vec<&str> = Vec::new();
    for name in names {
        if !seen.contains(&name) && !sorted(name) && !requested.names().any(|other| other == name) {
            seen.push(name);
        }
    }
    Shown::of_known(asked.snapshot, seen)
}

/// The path of a key that is a path, a colon and a line number.
fn without_line(key: &[u8]) -> &[u8] {
    let colon = key.iter().rposition(|byte| *byte == b':').filter(|at| {
        key.get(at + 1..).is_some_and(|line| !line.is_empty() && line.iter().all(u8::is_ascii_digit))
    });
    colon.and_then(|at| key.get(..at)).unwrap_or(key)
}

/// The result of reading a text, if requested. A file that has changed since it was indexed is reported, and
/// the other hits are still shown.
fn readable<T>(read: Option<scanns::Result<Option<T>>>, unread: &mut u64) -> Result<Option<T>> {
    match read.transpose() {
        Err(error @ scanns::Error::SourceChanged { .. }) => {
            *unread += 1;
            report::note(&report::message(&error));
            Ok(None)
        }
        read => Ok(read?.flatten()),
    }
}

/// Prints the first lines of a document, indented, and the size of the rest.
fn print_text(out: &mut Output, text: &[u8]) -> Result<()> {
    let mut shown = 0;
    for line in text.split_inclusive(|&byte| byte == b'\n').take(LINES) {
        shown += line.len();
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = text_line(&spaced(line.strip_suffix(b"\r").unwrap_or(line)));
        let cut = beginning(&line, COLUMNS);
        let more = if cut.len() < line.len() { " …" } else { "" };
        writeln!(out, "{:INDENT$}{cut}{more}", "")?;
    }
    match text.len() - shown {
        0 => {}
        rest => writeln!(out, "{:INDENT$}… {} more: --json shows all", "", units::size(rest as u64))?,
    }
    Ok(())
}

/// A line with four spaces for every tab.
fn spaced(line: &[u8]) -> Vec<u8> {
    let mut spaced = Vec::with_capacity(line.len());
    for &byte in line {
        if byte == b'\t' { spaced.extend_from_slice(b"    ") } else { spaced.push(byte) }
    }
    spaced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_line_is_its_key_without_the_number() {
        for (key, path) in
            [("/a:12", "/a"), ("/a:b:3", "/a:b"), ("/a", "/a"), ("/a:", "/a:"), ("/a:x1", "/a:x1")]
        {
            assert_eq!(without_line(key.as_bytes()), path.as_bytes());
        }
    }
}
