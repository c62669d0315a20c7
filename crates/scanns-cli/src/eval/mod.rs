//! `scanns eval`: topics and judgements become measures, by way of an index or of the answers of another engine.
//!
//! `topics.rs` reads topics, `trec.rs` judgements and answers, `measures.rs` computes.

mod measures;
mod topics;
mod trec;

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressIterator};
use scanns::{BoolQuery, Query, Snapshot, Tokenizer};
use serde_json::{Map, Value, json};

use crate::args::{DocnoArg, EvalArgs};
use crate::report::{Outcome, Output, path_text};
use crate::search;
use measures::{COUNTS, NAMES, measure};
use topics::Topic;
use trec::{Judged, Run};

/// Runs the verb.
pub fn run(args: &EvalArgs) -> Result<Outcome> {
    let judged =
        args.qrels.as_ref().map(|path| Judged::parse(&read(path)?).context(path_text(path))).transpose()?;
    let run = match (&args.run, &args.index) {
        (Some(path), _) => Run::parse(&read(path)?).with_context(|| path_text(path))?,
        (None, Some(index)) => answer(args, index)?,
        (None, None) => bail!("give an index and --topics, or --run"),
    };
    if let Some(path) = &args.run_out {
        std::fs::write(path, run.to_text("scanns")?)
            .with_context(|| format!("cannot write {}", path_text(path)))?;
    }
    let mut out = Output::stdout();
    if let Some(judged) = &judged {
        print(args, judged, &run, &mut out)?;
    }
    out.flush()?;
    Ok(Outcome::Done)
}

fn read(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path_text(path)))?;
    // Old collections are in old encodings; what names topics and documents is ASCII.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The answers of an index.
fn answer(args: &EvalArgs, index: &Path) -> Result<Run> {
    let model = search::model(&args.model)?;
    let Some(path) = &args.topics else { bail!("give --topics") };
    let topics = topics::parse(&read(path)?, &args.parts).with_context(|| path_text(path))?;
    let snapshot = Snapshot::open(index)?;
    let field = search::field(&snapshot, args.field.as_deref())?;
    let searcher = snapshot.searcher_in(field);
    let mut tokenizer = snapshot.schema().analyzer(field).map(Tokenizer::new);
    let mut run = Run::default();
    for Topic { id, text } in topics.iter().progress_with(ProgressBar::new(topics.len() as u64)) {
        let terms = match &mut tokenizer {
            Some(tokenizer) => tokenizer.terms(text),
            None => vec![text.as_bytes().to_vec()],
        };
        let should = terms.into_iter().map(Query::Term).collect();
        let query = Query::Bool(BoolQuery { should, ..BoolQuery::default() });
        for hit in searcher.top_k(&query, model, args.hits)? {
            let key = searcher.key(&hit)?;
            run.push(id, docno(&key, args.docno), hit.score)?;
        }
    }
    Ok(run)
}

/// What names a document.
fn docno(key: &[u8], docno: DocnoArg) -> String {
    let key = String::from_utf8_lossy(key);
    match docno {
        DocnoArg::Key => key.into_owned(),
        DocnoArg::Stem => {
            let name = key.rsplit('/').next().unwrap_or(&key);
            name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_string()
        }
    }
}

/// Prints what trec_eval would.
fn print(args: &EvalArgs, judged: &Judged, run: &Run, out: &mut Output) -> Result<()> {
    let topics: Vec<(&str, [f64; NAMES.len()])> =
        judged.topics().map(|(topic, judged)| (topic, measure(&run.ranking(topic), judged))).collect();
    let count = topics.len().max(1) as f64;
    let mut all = [0.0; NAMES.len()];
    for (place, value) in all.iter_mut().enumerate() {
        let sum: f64 = topics.iter().map(|(_, measures)| measures[place]).sum();
        *value = if place < COUNTS { sum } else { sum / count };
    }
    if args.json {
        let mut object = Map::new();
        object.insert("num_q".into(), topics.len().into());
        object.extend(object_of(&all));
        if args.each {
            let each =
                topics.iter().map(|(topic, measures)| ((*topic).to_string(), object_of(measures).into()));
            object.insert("topics".into(), Value::Object(each.collect()));
        }
        out.json(&object.into())?;
        return Ok(());
    }
    if args.each {
        for (topic, measures) in &topics {
            print_measures(topic, measures, out)?;
        }
    }
    writeln!(out, "{:<22}\tall\t{}", "num_q", topics.len())?;
    print_measures("all", &all, out)
}

fn object_of(measures: &[f64; NAMES.len()]) -> Map<String, Value> {
    let value = |place: usize, value: f64| {
        let number = format!("{value:.0}").parse::<u64>().unwrap_or(0);
        if place < COUNTS { json!(number) } else { json!(value) }
    };
    let named = NAMES.iter().zip(measures).enumerate();
    named.map(|(place, (name, measure))| ((*name).to_string(), value(place, *measure))).collect()
}

fn print_measures(topic: &str, measures: &[f64; NAMES.len()], out: &mut Output) -> Result<()> {
    for (place, (name, value)) in NAMES.iter().zip(measures).enumerate() {
        let digits = if place < COUNTS { 0 } else { 4 };
        writeln!(out, "{name:<22}\t{topic}\t{value:.digits$}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_named_by_key_or_by_file() {
        assert_eq!(docno(b"/a/b/CACM-0001.html", DocnoArg::Key), "/a/b/CACM-0001.html");
        assert_eq!(docno(b"/a/b/CACM-0001.html", DocnoArg::Stem), "CACM-0001");
        assert_eq!(docno(b"AP880212-0001", DocnoArg::Stem), "AP880212-0001");
    }
}
