//! The adapter for infino, with its default settings but for what costs time here: text is not stored, an
//! append has many documents, and all cores build.
//!
//! infino finds words by UAX #29, as the analyzer `standard` does. There are no queries for prefixes and
//! similar words, and none for all hits. It does not sync what it writes to a local file system, so the
//! adapter does.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use infino::arrow_array::{Array, Float32Array, Int64Array, LargeStringArray, RecordBatch};
use infino::arrow_schema::{DataType, Field, Schema, SchemaRef};
use infino::{
    Bm25SearchOptions, BoolMode, ConnectOptions, Connection, Consistency, FtsField, IndexSpec, Stemmer,
    Stopwords, Supertable, connect_with,
};
use scanns_peers::adapter::{Engine, Index as Answering, bytes_written, peak_bytes, serve};
use scanns_peers::analyzer::AnalyzerName;
use scanns_peers::form::{Form, Sign};
use scanns_peers::protocol::{BuildTask, Built, Goal, Kept, Merged, Scoring};
use scanns_peers::texts::{each_text, sync_below};

/// The name of the table.
const TABLE: &str = "docs";

/// The name of its only column.
const BODY: &str = "body";

/// The name of the column of scores in an answer.
const SCORE: &str = "score";

/// Bytes of text in an append, which becomes a file for each thread.
const APPEND: usize = 256 << 20;

/// The setting for the number of threads that build, which is half of the cores otherwise.
const THREADS: &str = "INFINO_SUPERTABLE__WRITER_THREADS";

struct Infino;

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new(BODY, DataType::LargeUtf8, false)]))
}

/// The column, whose words are similar to those of the analyzer.
fn column(task: &BuildTask) -> Result<FtsField> {
    let column = FtsField::new(BODY).stored(false).bm25(1.2, 0.75).positions(task.kept.positions);
    match task.analyzer {
        AnalyzerName::Standard => Ok(column),
        AnalyzerName::English => Ok(column.stemmer(Stemmer::English).stopwords(Stopwords::English)),
        other => bail!("infino has no words like those of {other}: use standard or english"),
    }
}

/// Opens the table, which nobody else changes.
fn connect(directory: &Path) -> Result<Connection> {
    let path = directory.to_str().context("the path of the index is not UTF-8")?;
    let options = ConnectOptions::new().with_read_consistency(Consistency::Snapshot);
    Ok(connect_with(path, options)?)
}

/// The number of documents.
fn documents(connection: &Connection) -> Result<u64> {
    let found = connection.query_sql(&format!("SELECT COUNT(*) FROM {TABLE}"))?;
    let counts = found.first().context("infino counted nothing")?.column(0);
    let counts = counts.as_any().downcast_ref::<Int64Array>().context("a count is not a number")?;
    Ok(u64::try_from(counts.value(0))?)
}

/// The files of the table that have documents, each with an index of its own.
fn parts(directory: &Path) -> Result<u64> {
    let mut found = 0;
    for entry in std::fs::read_dir(directory)? {
        let path: PathBuf = entry?.path();
        found += if path.is_dir() {
            parts(&path)?
        } else {
            u64::from(path.to_string_lossy().ends_with(".parquet"))
        };
    }
    Ok(found)
}

impl Engine for Infino {
    type Index = Opened;

    fn build(&self, task: &BuildTask) -> Result<Built> {
        ensure!(task.segments == 0 && !task.kept.stored, "infino is compared without merges and stored text");
        let written = bytes_written();
        let begin = Instant::now();
        let connection = connect(&task.out)?;
        let table = connection.create_table(TABLE, schema(), IndexSpec::new().fts(column(task)?))?;
        let (mut texts, mut size) = (Vec::new(), 0);
        let append = |texts: &mut Vec<String>| -> Result<()> {
            let column = Arc::new(LargeStringArray::from(std::mem::take(texts)));
            Ok(table.append(&RecordBatch::try_new(schema(), vec![column])?)?)
        };
        let bytes = each_text(task, |text| {
            size += text.len();
            texts.push(text);
            if size >= APPEND {
                size = 0;
                append(&mut texts)?;
            }
            Ok(())
        })?;
        append(&mut texts)?;
        sync_below(&task.out)?;
        let seconds = begin.elapsed().as_secs_f64();
        let (bytes_written, peak_bytes) = (bytes_written() - written, peak_bytes());
        Ok(Built {
            documents: documents(&connection)?,
            // It does not tell the number of tokens.
            tokens: 0,
            bytes,
            seconds,
            rest_seconds: seconds,
            segments: parts(&task.out)?,
            bytes_written,
            peak_bytes,
            contents: None,
        })
    }

    fn merge(&self, _: &Path, _: Kept) -> Result<Merged> {
        bail!("infino is compared without merges")
    }

    fn open(&self, directory: &Path, scoring: Scoring) -> Result<Opened> {
        ensure!(scoring == Scoring::Bm25, "infino supports only BM25");
        let connection = connect(directory)?;
        let table = connection.open_table(TABLE)?;
        Ok(Opened { documents: documents(&connection)?, parts: parts(directory)?, table })
    }
}

/// An open index.
struct Opened {
    table: Supertable,
    documents: u64,
    parts: u64,
}

/// The query for `form` in the language of infino, if there is one.
fn asked(form: &Form) -> Option<String> {
    if let Form::Phrase { slop: 0, terms } = form {
        // A word that was left out would make another phrase.
        let adjacent = terms.windows(2).all(|pair| pair[0].0 + 1 == pair[1].0);
        let words: Vec<&str> = terms.iter().map(|(_, term)| term.as_str()).collect();
        return adjacent.then(|| format!("\"{}\"", words.join(" ")));
    }
    let terms = form.signed_terms().filter(|terms| terms.iter().any(|(sign, _)| *sign != Sign::MustNot))?;
    let word = |(sign, term): &(Sign, &str)| match sign {
        Sign::Must => format!("+{term}"),
        Sign::Should => (*term).to_string(),
        Sign::MustNot => format!("-{term}"),
    };
    Some(terms.iter().map(word).collect::<Vec<_>>().join(" "))
}

impl Answering for Opened {
    type Query = String;

    fn documents(&self) -> u64 {
        self.documents
    }

    fn segments(&self) -> u64 {
        self.parts
    }

    fn can(&self, form: &Form, goal: Goal) -> bool {
        goal != Goal::All && asked(form).is_some()
    }

    fn query(&self, form: &Form) -> Result<String> {
        asked(form).with_context(|| format!("infino has no query like {form}"))
    }

    fn best(&self, query: &String, k: usize) -> Result<Vec<f32>> {
        let found = self.table.bm25_search(BODY, query, k, Bm25SearchOptions::new(), Some(&[SCORE]))?;
        let mut scores = Vec::with_capacity(k);
        for batch in &found {
            let column = batch.column_by_name(SCORE).context("infino gave no scores")?;
            let column = column.as_any().downcast_ref::<Float32Array>().context("a score is not a number")?;
            scores.extend_from_slice(column.values());
        }
        Ok(scores)
    }

    fn count(&self, query: &String) -> Result<usize> {
        Ok(usize::try_from(self.table.count(BODY, query, BoolMode::Or)?)?)
    }

    fn all(&self, _: &String) -> Result<usize> {
        bail!("infino has no way to all hits")
    }

    fn positions(&self, _: &str) -> Result<(u64, u64)> {
        bail!("infino does not give positions")
    }
}

fn main() -> Result<()> {
    if std::env::var_os(THREADS).is_none() {
        // Settings are read from the environment when the process starts.
        let cores = std::thread::available_parallelism()?.to_string();
        let again = std::env::current_exe()?;
        return Err(Command::new(again).args(std::env::args_os().skip(1)).env(THREADS, cores).exec().into());
    }
    serve(&Infino)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_become_queries_if_there_are_such() {
        let of = |line: &str| line.parse().ok().and_then(|form: Form| asked(&form));
        assert_eq!(of("term a").as_deref(), Some("a"));
        assert_eq!(of("bool 0 3 + term a | term b - term c").as_deref(), Some("+a b -c"));
        assert_eq!(of("phrase 0 2 0 a 1 b").as_deref(), Some("\"a b\""));
        for line in ["phrase 0 2 0 a 2 b", "prefix a", "bool 0 1 - term a"] {
            assert_eq!(of(line), None, "{line}");
        }
    }
}
