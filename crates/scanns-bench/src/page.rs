//! What a page of hits costs after the search: stored values or text, snippets and keys of the ten best hits.
//!
//! Each page is read twice in a row. The first time its blocks are not in the memory of the snapshot, unless
//! an earlier query had hits there; the second time they are. Both are averages over the queries of a class.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use scanns::search::{Model, SnippetOptions};
use scanns::{Hit, Query, Snapshot};
use scanns_bench::results::{Better, Results, Series};

use crate::latency::{Classes, classes};
use crate::text;

/// The index and the queries.
#[derive(Debug, clap::Args)]
pub struct PageArgs {
    /// An index that stores text or values
    pub index: PathBuf,
    /// A file with a class, a tab and terms on each line; classes that begin with "and" require all terms
    pub queries: PathBuf,
    /// The file has queries in the query language instead of terms
    #[arg(long)]
    pub language: bool,
    /// The field of snippets [default: the default field]
    #[arg(long, value_name = "NAME")]
    pub field: Option<String>,
    /// Rounds over all queries
    #[arg(long, default_value_t = 11)]
    pub repetitions: usize,
}

/// The hits of a page.
const HITS: usize = 10;

const MODEL: Model = Model::Bm25 { k1: 1.2, b: 0.75 };

/// What is read of each hit.
#[derive(Clone, Copy)]
enum Part {
    Stored,
    Snippets,
    Keys,
}

impl Part {
    const EACH: [(Part, &'static str); 3] =
        [(Part::Stored, "stored"), (Part::Snippets, "snippets"), (Part::Keys, "keys")];

    /// Reads it. Returns the number of bytes or values, which shows that something was read.
    fn read(self, snapshot: &Snapshot, field: Option<&str>, query: &Query, hits: &[Hit]) -> Result<usize> {
        let mut sum = 0;
        match self {
            Part::Stored => {
                for hit in hits {
                    sum += match snapshot.values(hit)? {
                        Some(values) => values.len(),
                        None => snapshot.document(hit)?.map_or(0, |text| text.len()),
                    };
                }
            }
            Part::Snippets => {
                let schema = snapshot.schema();
                let field = field.map_or(schema.default_field(), |name| schema.field(name));
                let field = field.context("the index has no such field")?;
                let options = SnippetOptions { fragments: 1, ..SnippetOptions::default() };
                let mut highlighter = snapshot.highlighter(field, query, options)?;
                for hit in hits {
                    let snippets = snapshot.snippets(hit, field, &mut highlighter)?;
                    sum += snippets.iter().flatten().map(|snippet| snippet.text.len()).sum::<usize>();
                }
            }
            Part::Keys => {
                for hit in hits {
                    sum += snapshot.searcher().key(hit)?.len();
                }
            }
        }
        Ok(std::hint::black_box(sum))
    }
}

/// Microseconds of the first and of the second reading of a page, averages over all queries.
fn round(
    snapshot: &Snapshot,
    field: Option<&str>,
    pages: &[(&Query, Vec<Hit>)],
    part: Part,
) -> Result<[f64; 2]> {
    let mut micros = [0.0; 2];
    for (query, hits) in pages {
        for sum in &mut micros {
            let begin = Instant::now();
            part.read(snapshot, field, query, hits)?;
            *sum += begin.elapsed().as_secs_f64() * 1e6;
        }
    }
    let count = f64::from(u32::try_from(pages.len().max(1))?);
    Ok(micros.map(|sum| sum / count))
}

/// Measures all classes.
pub fn run(args: &PageArgs, results: &mut Results) -> Result<()> {
    let snapshot = Snapshot::open(&args.index)?;
    let queries: Classes =
        classes(&args.queries, args.language, |text, operator| snapshot.parse(text, operator))?;
    let subject = format!("{}, {} segments", text::name(&args.index), snapshot.segments().len());
    for (class, queries) in &queries {
        let searcher = snapshot.searcher();
        let best = |query| Ok((query, searcher.top_k(query, MODEL, HITS)?));
        let pages = queries.iter().map(best).collect::<scanns::Result<Vec<_>>>()?;
        ensure!(pages.iter().any(|(_, hits)| !hits.is_empty()), "no query of {class} has hits");
        for (part, name) in Part::EACH {
            let mut samples: [Vec<f64>; 2] = Default::default();
            for _ in 0..args.repetitions.max(1) {
                let micros = round(&snapshot, args.field.as_deref(), &pages, part)?;
                samples.iter_mut().zip(micros).for_each(|(samples, micros)| samples.push(micros));
            }
            for (samples, what) in samples.into_iter().zip(["first", "again"]) {
                let metric = format!("{name} of ten hits, {what}");
                results.add(
                    Series::of("page", &subject, class, (metric.as_str(), "µs", Better::Lower), samples),
                    None,
                );
            }
        }
    }
    println!("page: {} bytes of stored documents are kept", snapshot.info().stored_cache_bytes);
    Ok(())
}
