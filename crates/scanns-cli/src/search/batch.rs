//! Runs the queries of a file on all cores, and prints the answers in the order of the file.
//!
//! Some hundreds of lines are read at a time, fewer if they are long or if many hits are requested. Threads
//! take the lines one by one, and the answers are printed in order before the next lines are read, so memory
//! does not depend on the length of the file. A query that cannot be answered is reported with its line, and
//! does not stop the others.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result};
use scanns::query::{Operator, WeightedField};
use scanns::schema::Field;
use scanns::search::{Budget, Model};
use scanns::{Error, Hit, Snapshot};
use serde_json::{Map, Value};

use super::limits::{is_partial, put_partial, threads, timed};
use crate::args::SearchArgs;
use crate::output::Output;
use crate::progress::{Ticker, per_second};
use crate::report::{self, Outcome, path_text};
use crate::units;

/// The maximum number of lines to read at a time, for each thread; then about the maximum number of hits, and
/// of bytes of lines, to hold at a time.
const LINES_PER_THREAD: usize = 128;
const MOST_HITS: usize = 1 << 20;
const MOST_BYTES: usize = 16 << 20;

/// The maximum length of a line in bytes, without its end.
const LONGEST_LINE: usize = 1 << 20;

/// What all queries have in common.
pub(super) struct Batch<'a> {
    pub(super) args: &'a SearchArgs,
    pub(super) snapshot: &'a Snapshot,
    pub(super) field: Field,
    pub(super) fields: &'a [WeightedField],
    pub(super) operator: Operator,
    pub(super) model: Model,
}

/// A line of the file.
struct Line {
    /// From 1.
    number: u64,
    /// Without its end; `None` if the line is too long.
    bytes: Option<Vec<u8>>,
}

/// The result of a query.
enum Answer {
    Hits(Vec<(Vec<u8>, Hit)>),
    Count(u64),
    /// The error of the query.
    Refused(String),
}

impl Answer {
    /// True if a document matched.
    fn has_matches(&self) -> bool {
        match self {
            Answer::Hits(hits) => !hits.is_empty(),
            Answer::Count(count) => *count > 0,
            Answer::Refused(_) => false,
        }
    }
}

/// An answer, and whether the query timed out.
struct Timed {
    answer: Answer,
    partial: bool,
}

impl Timed {
    fn refused(why: impl Into<String>) -> Self {
        Timed { answer: Answer::Refused(why.into()), partial: false }
    }
}

/// Runs all queries of the file at `path`.
pub(super) fn run(batch: &Batch<'_>, path: &Path) -> Result<Outcome> {
    let mut input: Box<dyn BufRead> = match path.as_os_str().as_encoded_bytes() {
        b"-" => Box::new(io::stdin().lock()),
        _ => {
            let file = File::open(path).with_context(|| format!("cannot open {}", path_text(path)))?;
            Box::new(BufReader::with_capacity(1 << 20, file))
        }
    };
    let threads = threads(batch.args);
    let kept = if batch.args.count { 1 } else { batch.args.top };
    let most = (threads * LINES_PER_THREAD).min(MOST_HITS / kept).max(1);
    let mut out = Output::stdout();
    let mut ticker = Ticker::new("query");
    let (mut done, mut refused, mut partial, mut found) = (0, 0u64, 0u64, false);
    loop {
        let lines = read_lines(&mut *input, done, most)
            .with_context(|| format!("cannot read {}", path_text(path)))?;
        if lines.is_empty() {
            break;
        }
        for (line, timed) in lines.iter().zip(answer_all(batch, &lines, threads)?) {
            partial += u64::from(timed.partial);
            found |= timed.answer.has_matches();
            if let Answer::Refused(why) = &timed.answer {
                refused += 1;
                report::note(&format!(
                    "{}:{}: {}",
                    path_text(path),
                    line.number,
                    report::path_text(Path::new(why))
                ));
            }
            print(&mut out, line, &timed, batch.args.json)?;
            done += 1;
        }
        ticker.at(done);
    }
    out.flush()?;
    ticker.clear();
    let seconds = ticker.seconds();
    let (queries, rate) = (units::counted(done, "query"), per_second(done, seconds));
    report::note(&format!("{queries} in {}, {rate}", units::duration(seconds)));
    if refused > 0 {
        report::note(&format!("{} of them could not be answered", units::count(refused)));
    }
    if partial > 0 {
        report::note(&format!(
            "{} of them timed out: there may be more and better documents",
            units::count(partial)
        ));
    }
    Ok(match found {
        _ if refused + partial > 0 => Outcome::WithFailures,
        false if done > 0 => Outcome::Nothing,
        _ => Outcome::Done,
    })
}

/// The next lines, at most `most`, after the first `done`.
fn read_lines(input: &mut dyn BufRead, done: u64, most: usize) -> io::Result<Vec<Line>> {
    let mut lines = Vec::new();
    let mut read = 0;
    for number in (done + 1..).take(most) {
        let mut bytes = Vec::new();
        // One byte more than the longest line with its end.
        let limit = LONGEST_LINE as u64 + 3;
        if read > MOST_BYTES || (&mut *input).take(limit).read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
        read += bytes.len();
        if bytes.len() as u64 == limit && bytes.last() != Some(&b'\n') {
            input.skip_until(b'\n')?;
        }
        for end in [b'\n', b'\r'] {
            if bytes.last() == Some(&end) {
                bytes.pop();
            }
        }
        lines.push(Line { number, bytes: Some(bytes).filter(|bytes| bytes.len() <= LONGEST_LINE) });
    }
    Ok(lines)
}

/// The answers to all lines, in their order.
fn answer_all(batch: &Batch<'_>, lines: &[Line], threads: usize) -> Result<Vec<Timed>> {
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<(usize, Timed)>> {
        let mut answers = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(line) = lines.get(at) else { return Ok(answers) };
            answers.push((at, answer(batch, line)?));
        }
    };
    let mut answers = std::thread::scope(|scope| -> Result<Vec<(usize, Timed)>> {
        let others: Vec<_> = (1..threads.min(lines.len())).map(|_| scope.spawn(work)).collect();
        let mut all = work()?;
        for other in others {
            match other.join() {
                Ok(answers) => all.extend(answers?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(all)
    })?;
    answers.sort_unstable_by_key(|(at, _)| *at);
    Ok(answers.into_iter().map(|(_, answer)| answer).collect())
}

fn answer(batch: &Batch<'_>, line: &Line) -> Result<Timed> {
    if line.bytes.is_none() {
        return Ok(Timed::refused("the line is longer than 1 MiB: shorten the query"));
    }
    let Ok(text) = std::str::from_utf8(named(line).1) else {
        return Ok(Timed::refused("the query is not valid UTF-8"));
    };
    let budget = batch.args.timeout.map(Budget::of);
    let searcher = timed(batch.snapshot.searcher_in(batch.field), budget.as_ref());
    let found = batch.snapshot.parse_in(batch.fields, text, batch.operator).and_then(|query| {
        if batch.args.count {
            return searcher.count(&query).map(Answer::Count);
        }
        let hits = searcher.top_k(&query, batch.model, batch.args.top)?;
        let with_key = |hit: Hit| Ok((searcher.key(&hit)?, hit));
        hits.into_iter().map(with_key).collect::<scanns::Result<_>>().map(Answer::Hits)
    });
    match found {
        Err(error) if is_about_the_query(&error) => Ok(Timed::refused(error.to_string())),
        found => Ok(Timed { answer: found?, partial: is_partial(budget.as_ref()) }),
    }
}

/// True if another query may succeed where this one failed.
fn is_about_the_query(error: &Error) -> bool {
    matches!(
        error,
        Error::Query { .. }
            | Error::InvalidAnalyzer { .. }
            | Error::UnknownName { .. }
            | Error::UnknownField { .. }
            | Error::InvalidField { .. }
            | Error::InvalidValue { .. }
            | Error::Conflict { .. }
            | Error::TooMany { .. }
            | Error::Unsupported { .. }
            | Error::NotIndexed { .. }
    )
}

/// The name of a query, if its line has one, and the query.
fn named(line: &Line) -> (Option<&[u8]>, &[u8]) {
    let bytes = line.bytes.as_deref().unwrap_or_default();
    match bytes.iter().position(|&byte| byte == b'\t') {
        Some(tab) => (Some(&bytes[..tab]), &bytes[tab + 1..]),
        None => (None, bytes),
    }
}

fn print(out: &mut Output, line: &Line, timed: &Timed, json: bool) -> Result<()> {
    if json {
        out.json(&as_json(line, timed))?;
        return Ok(());
    }
    let front = |out: &mut Output| match named(line).0 {
        Some(name) => out.quoted(name),
        None => write!(out, "{}", line.number),
    };
    match &timed.answer {
        Answer::Count(count) => {
            front(out)?;
            writeln!(out, "\t{count}")?;
        }
        Answer::Hits(hits) => {
            for ((key, hit), rank) in hits.iter().zip(1..) {
                front(out)?;
                write!(out, "\t{rank}\t{:.4}\t", hit.score)?;
                out.quoted(key)?;
                writeln!(out)?;
            }
        }
        Answer::Refused(_) => {}
    }
    Ok(())
}

fn as_json(line: &Line, timed: &Timed) -> Value {
    let mut object = Map::new();
    object.insert("query".into(), line.number.into());
    if let Some(name) = named(line).0 {
        report::put_bytes(&mut object, "id", name);
    }
    let hit = |((key, hit), rank): (&(Vec<u8>, Hit), usize)| {
        let mut object = Map::new();
        object.insert("rank".into(), rank.into());
        object.insert("score".into(), report::short_float(hit.score));
        report::put_bytes(&mut object, "key", key);
        Value::from(object)
    };
    match &timed.answer {
        Answer::Count(count) => object.insert("count".into(), (*count).into()),
        Answer::Hits(hits) => object.insert("hits".into(), hits.iter().zip(1..).map(hit).collect()),
        Answer::Refused(why) => object.insert("error".into(), why.as_str().into()),
    };
    put_partial(&mut object, timed.partial);
    object.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_up_to_a_length_and_a_number() {
        let longest = vec![b'x'; LONGEST_LINE];
        let input = [b"a\nb\r\n", &longest[..], b"\r\n\n", &longest, b"y\nc\n", &longest, &longest, &longest]
            .concat();
        for capacity in [1 << 16, 4 << 20] {
            let mut input = BufReader::with_capacity(capacity, input.as_slice());
            let mut all = Vec::new();
            loop {
                let lines = read_lines(&mut input, all.len() as u64, 2).unwrap();
                if lines.is_empty() {
                    break;
                }
                assert!(lines.len() <= 2);
                all.extend(lines);
            }
            assert!(all.iter().map(|line| line.number).eq(1..=7));
            let read: Vec<Option<&[u8]>> = all.iter().map(|line| line.bytes.as_deref()).collect();
            let expected: [Option<&[u8]>; 7] =
                [Some(b"a"), Some(b"b"), Some(&longest), Some(b""), None, Some(b"c"), None];
            assert!(
                read == expected,
                "{:?}",
                read.iter().map(|line| line.map(<[u8]>::len)).collect::<Vec<_>>()
            );
        }
        let many = [&longest[..], b"\n"].concat().repeat(20);
        let lines = read_lines(&mut many.as_slice(), 0, 100).unwrap().len();
        assert!((16..20).contains(&lines), "about 16 MiB at a time, not {lines} lines");
    }
}
