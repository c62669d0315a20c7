//! `scanns eval`: evaluates the rankings of an index, or of another engine, with topics and judgements.
//!
//! `topics.rs` reads topics, `trec.rs` reads judgements and rankings, and `measures.rs` computes measures.

mod measures;
mod topics;
mod trec;

use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use indicatif::{ProgressBar, ProgressIterator};
use scanns::analysis::Tokenizer;
use scanns::query::Operator;
use scanns::schema::Field;
use scanns::search::Model;
use scanns::sources::{ContentOptions, Extraction, text_of_file};
use scanns::{Query, Snapshot};
use serde_json::{Map, Value, json};

use crate::args::{DocnoArg, EvalArgs};
use crate::output::Output;
use crate::report::{Outcome, path_text};
use crate::{search, similar, whole_file};
use measures::{JudgedRanking, Measure};
use topics::Topic;
use trec::{Judged, Run};

/// Runs the verb.
pub fn run(args: &EvalArgs) -> Result<Outcome> {
    let to_standard_output = args.run_out.as_deref().is_some_and(|path| path.as_os_str() == "-");
    ensure!(
        !to_standard_output || args.qrels.is_none(),
        "--run-out - and --qrels both print to standard output: write the run to a file, or leave --qrels out"
    );
    let judged =
        args.qrels.as_ref().map(|path| Judged::parse(&read(path)?).context(path_text(path))).transpose()?;
    let run = match (&args.run, &args.index) {
        (Some(path), _) => Run::parse(&read(path)?).with_context(|| path_text(path))?,
        (None, Some(index)) => answer(args, index)?,
        (None, None) => bail!("give an index and --topics, or --run"),
    };
    if let Some(judged) = &judged {
        check_overlap(args, judged, &run)?;
    }
    let mut out = Output::stdout();
    if let Some(path) = &args.run_out {
        let text = run.to_text(&args.run_tag)?;
        if to_standard_output {
            out.write_all(text.as_bytes())?;
        } else {
            whole_file::replace(path, text.as_bytes())
                .with_context(|| format!("cannot write {}", path_text(path)))?;
        }
    }
    if let Some(judged) = &judged {
        print(args, judged, &run, &mut out)?;
    }
    out.flush()?;
    Ok(Outcome::Done)
}

/// Reads a file, which may be compressed.
fn read(path: &Path) -> Result<String> {
    let read = || {
        let mut file = File::open(path)?;
        if file.metadata()?.is_file() {
            let contents =
                ContentOptions { skip_binary: false, extract: Extraction::None, ..ContentOptions::default() };
            return text_of_file(&mut file, contents, 0, u64::MAX);
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().with_context(|| format!("cannot read {}", path_text(path)))?;
    // Old collections use old encodings; the names of topics and documents are ASCII.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Refuses judgements that have nothing in common with a run, since all measures would be zero.
fn check_overlap(args: &EvalArgs, judged: &Judged, run: &Run) -> Result<()> {
    if !run.topics().any(|topic| judged.topics().any(|(other, _)| topic == other)) {
        let Some((first, _)) = judged.topics().next() else { return Ok(()) };
        let Some(found) = run.topics().next() else { return Ok(()) };
        bail!("no topic has judgements: the first topic is '{found}', the first judged topic is '{first}'");
    }
    let found: HashSet<&str> = run.documents().collect();
    if judged.documents().any(|document| found.contains(document)) {
        return Ok(());
    }
    let Some(first) = judged.documents().min() else { return Ok(()) };
    match (&args.index, args.docno) {
        (Some(index), DocnoArg::Key) => {
            let snapshot = Snapshot::open(index)?;
            for document in judged.documents() {
                if snapshot.hit(document).is_ok_and(|hit| hit.is_some()) {
                    return Ok(());
                }
            }
            let any = snapshot.searcher().top_k(&Query::All, Model::default(), 1)?;
            let Some(hit) = any.first() else { bail!("the index has no documents") };
            let key = String::from_utf8_lossy(&snapshot.key(hit)?).into_owned();
            bail!(
                "no judged document is in the index: its first document is '{key}', the first judged \
                 document is '{first}' (index records with --key FIELD, or name files with --docno stem)"
            )
        }
        _ => match run.documents().next() {
            Some(found) => bail!(
                "no document of the run is judged: its first document is '{found}', the first judged \
                 document is '{first}'"
            ),
            None => Ok(()),
        },
    }
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
    let fields = search::fields(&snapshot, args.field.as_deref())?;
    let field = search::main_field(&snapshot, &fields);
    let searcher = snapshot.searcher_in(field);
    let mut tokenizer = snapshot.schema().analyzer(field).map(Tokenizer::new);
    let mut run = Run::default();
    for Topic { id, text } in topics.iter().progress_with(ProgressBar::new(topics.len() as u64)) {
        let query = match (&mut tokenizer, &fields[..]) {
            (_, [_, _, ..]) => {
                let words = serde_json::json!({ "match": text }).to_string();
                snapshot.parse_json_in(&fields, &words, Operator::Or)?
            }
            (Some(tokenizer), _) => bag_of_words(field, tokenizer.terms(text)),
            (None, _) => bag_of_words(field, vec![text.as_bytes().to_vec()]),
        };
        let query = similar::expand(&args.feedback, &snapshot, query, field, model)?;
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
            let stem = name.rsplit_once('.').filter(|(_, end)| end.starts_with(|c: char| c.is_alphabetic()));
            stem.map_or(name, |(stem, _)| stem).to_string()
        }
    }
}

/// The values of all measures for one topic, or for all.
type Values = Vec<f64>;

/// Prints measures in the format of trec_eval.
fn print(args: &EvalArgs, judged: &Judged, run: &Run, out: &mut Output) -> Result<()> {
    let measures = match &args.measures[..] {
        [] => Measure::default_list(),
        names => names.iter().map(|name| Measure::parse(name)).collect::<Result<Vec<_>>>()?.concat(),
    };
    let topics: Vec<(&str, Values)> = judged
        .topics()
        .map(|(topic, judged)| {
            let ranking = JudgedRanking::new(&run.ranking(topic), judged);
            (topic, measures.iter().map(|&measure| ranking.measure(measure)).collect())
        })
        .collect();
    let count = topics.len().max(1) as f64;
    let total = |(at, measure): (usize, &Measure)| {
        let sum: f64 = topics.iter().filter_map(|(_, values)| values.get(at)).sum();
        if measure.is_count() { sum } else { sum / count }
    };
    let all: Values = measures.iter().enumerate().map(total).collect();
    if args.json {
        let mut object = object_of(&measures, &all);
        if args.each {
            let each = topics
                .iter()
                .map(|(topic, values)| ((*topic).to_string(), object_of(&measures, values).into()));
            object.insert("topics".into(), Value::Object(each.collect()));
        }
        out.json(&object.into())?;
        return Ok(());
    }
    if args.each {
        for (topic, values) in &topics {
            print_values(topic, &measures, values, out)?;
        }
    }
    print_values("all", &measures, &all, out)
}

fn object_of(measures: &[Measure], values: &[f64]) -> Map<String, Value> {
    let value = |measure: &Measure, value: f64| {
        let number = format!("{value:.0}").parse::<u64>().unwrap_or(0);
        if measure.is_count() { json!(number) } else { json!(value) }
    };
    measures.iter().zip(values).map(|(measure, &of)| (measure.name(), value(measure, of))).collect()
}

fn print_values(topic: &str, measures: &[Measure], values: &[f64], out: &mut Output) -> Result<()> {
    for (measure, value) in measures.iter().zip(values) {
        if *measure == Measure::Topics && topic != "all" {
            continue;
        }
        let digits = if measure.is_count() { 0 } else { 4 };
        writeln!(out, "{:<22}\t{topic}\t{value:.digits$}", measure.name())?;
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
        assert_eq!(docno(b"/a/WSJ.87.1.txt", DocnoArg::Stem), "WSJ.87.1");
        assert_eq!(docno(b"/a/WSJ.87.1", DocnoArg::Stem), "WSJ.87.1");
    }
}
