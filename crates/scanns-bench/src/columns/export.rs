//! Exports hits from all over the index, with some of their fields, in the order of a field.
//!
//! Values are fetched in two orders: in the order of the output, in which each value is somewhere else, and
//! in the order of the documents, column by column. Only jump tables make the first order possible. The
//! second order reads each block and each term once.

use std::hint::black_box;
use std::time::Instant;

use anyhow::{Context, Result};
use scanns::Snapshot;
use scanns::columns::Column;
use scanns::schema::Value;
use scanns_bench::results::{Better, Results, Series};

/// The number of hits that are exported, as in the article.
const HITS: u32 = 52_653;

/// The fields that are exported.
const FIELDS: [&str; 4] = ["id", "url_norm", "crawl_date", "content_length"];

/// Measures the export in both orders.
pub fn run(snapshot: &Snapshot, repetitions: usize, results: &mut Results) -> Result<()> {
    let searcher = snapshot.searcher();
    let column = |name: &&str| -> Result<&Column> {
        let field = snapshot.schema().field(name).with_context(|| format!("no field {name}"))?;
        searcher.column(0, field)?.with_context(|| format!("no column {name}"))
    };
    let columns = FIELDS.iter().map(column).collect::<Result<Vec<_>>>()?;
    let documents = columns.first().map_or(0, |column| column.documents());
    let step = (documents / HITS).max(1);
    let hits: Vec<u32> = (0..HITS.min(documents)).map(|hit| hit * step).collect();
    let by_id = columns.first().context("no column")?;
    let mut add = |what: &str, values: Vec<f64>| {
        let subject = format!("{} hits, {} fields, by id descending", hits.len(), FIELDS.len());
        let metric = ("export", "ms", Better::Lower);
        results.add(Series::of("columns", &subject, what, metric, values), None);
    };
    for in_order in [false, true] {
        let mut times = Vec::new();
        for _ in 0..=repetitions {
            let begun = Instant::now();
            black_box(export(&hits, by_id, &columns, in_order)?);
            times.push(begun.elapsed().as_secs_f64() * 1e3);
        }
        times.remove(0);
        add(if in_order { "values in document order" } else { "values in the order of the output" }, times);
    }
    Ok(())
}

/// All values of the hits, row by row in the order of the output.
fn export(hits: &[u32], by: &Column, columns: &[&Column], in_order: bool) -> Result<Vec<Vec<Value>>> {
    let mut sorted = Vec::with_capacity(hits.len());
    for (&doc, place) in hits.iter().zip(0usize..) {
        sorted.push((by.first(doc)?.unwrap_or(0), doc, place));
    }
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let row = |doc: u32| -> Result<Vec<Value>> {
        let mut values = Vec::with_capacity(columns.len());
        columns.iter().try_for_each(|column| column.values_of(doc, &mut values))?;
        Ok(values)
    };
    if !in_order {
        return sorted.iter().map(|&(_, doc, _)| row(doc)).collect();
    }
    let mut rows = vec![Vec::with_capacity(columns.len()); hits.len()];
    columns.iter().try_for_each(|column| column.values_of_each(hits, &mut rows))?;
    Ok(sorted.iter().filter_map(|&(_, _, place)| rows.get_mut(place).map(std::mem::take)).collect())
}
