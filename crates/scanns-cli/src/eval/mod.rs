//! `scanns eval`: evaluates the rankings of an index, or of another engine, with topics and judgements.
//!
//! `topics.rs` reads topics, `trec.rs` reads judgements and rankings, and `measures.rs` computes measures.

mod measures;
mod topics;
mod trec;

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressIterator};
use scanns::analysis::Tokenizer;
use scanns::schema::Field;
use scanns::{Query, Snapshot};
use serde_json::{Map, Value, json};

use crate::args::{DocnoArg, EvalArgs};
use crate::output::{Output, write_whole};
use crate::report::{Outcome, path_text};
use crate::{search, similar};
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
        write_whole(path, run.to_text("scanns")?.as_bytes())
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
    // Old collections use old encodings; the names of topics and documents are ASCII.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// One optional clause for each different term, in the order of first occurrences. The weight of a clause is
/// the number of occurrences.
fn bag_of_words(field: Field, terms: Vec<Vec<u8>>) -> Query {
    let mut counted: Vec<(Vec<u8>, f32)> = Vec::new();
    for term in terms {
        match counted.iter_mut().find(|(known, _)| *known == term) {
            Some((_, count)) => *count += 1.0,
            None => counted.push((term, 1.0)),
        }
    }
    let clause = |(term, count)| Query::term(field, term).boosted(count);
    Query::any_of(counted.into_iter().map(clause).collect())
}

/// The rankings of an index.
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
        let query = similar::expand(&args.feedback, &snapshot, bag_of_words(field, terms), field, model)?;
        let mut found = Vec::new();
        for hit in searcher.top_k(&query, model, args.hits)? {
            found.push((docno(&searcher.key(&hit)?, args.docno), hit.score));
        }
        tell_apart(&mut found);
        for (document, score) in found {
            run.push(id, document, score)?;
        }
    }
    Ok(run)
}

/// Sorts documents with equal scores by name, and lowers scores by the least possible step until all differ,
/// since tools that evaluate runs order equal scores in different ways.
fn tell_apart(found: &mut [(String, f32)]) {
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let mut before = f32::INFINITY;
    for (_, score) in found {
        if *score >= before {
            *score = before.next_down();
        }
        before = *score;
    }
}

/// The name of a document in judgements and runs.
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

/// Prints measures in the format of trec_eval.
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
    fn equal_scores_are_told_apart_and_keep_the_order_of_names() {
        let mut found: Vec<(String, f32)> = ["b", "c", "a", "e", "d"].map(|name| (name.into(), 1.0)).into();
        (found[3].1, found[4].1) = (1.0f32.next_down(), 0.0);
        tell_apart(&mut found);
        assert!(found.iter().map(|(name, _)| name.as_str()).eq(["a", "b", "c", "e", "d"]), "{found:?}");
        assert!(found.windows(2).all(|pair| pair[0].1 > pair[1].1) && found[0].1 == 1.0, "{found:?}");
    }

    #[test]
    fn documents_are_named_by_key_or_by_file() {
        assert_eq!(docno(b"/a/b/CACM-0001.html", DocnoArg::Key), "/a/b/CACM-0001.html");
        assert_eq!(docno(b"/a/b/CACM-0001.html", DocnoArg::Stem), "CACM-0001");
        assert_eq!(docno(b"AP880212-0001", DocnoArg::Stem), "AP880212-0001");
    }
}
