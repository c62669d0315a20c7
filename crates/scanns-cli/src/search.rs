//! `scanns search`: prints the best documents for a query, their number, or all of them.
//!
//! `search/asked.rs` reads the query, and `page.rs` finds the hits of one page, in an order of `order.rs`.
//! `printer.rs` prints them, `snippets.rs` parts of their text, and `fields.rs` their values. `facets.rs` has
//! aggregations over columns, `groups.rs` groups of hits, and `batch.rs` many queries.

mod asked;
mod batch;
mod facets;
pub mod fields;
mod groups;
mod limits;
pub mod order;
mod page;
mod printer;
mod snippets;

use std::io::Write;
use std::ops::ControlFlow;

use anyhow::{Result, anyhow, bail};
use scanns::aggregate::{Aggregated, Aggregation};
use scanns::query::WeightedField;
use scanns::schema::{Field, Store};
use scanns::search::{Budget, Model, PreparedQuery, SearchThreads, Searcher};
use scanns::{Hit, Query, Snapshot};
use serde_json::Map;

use crate::args::{ModelArg, ModelArgs, SearchArgs, SortArg};
use crate::indexes::Indexes;
use crate::output::Output;
use crate::quoting::quoted;
use crate::report::{self, Outcome};
use crate::similar;
use crate::units;
use facets::Facets;
use groups::Grouped;
use limits::{is_partial, put_partial, threads, timed};
use page::Asked;
use printer::{Around, Printer};

/// The maximum number of terms to suggest for a word.
const SUGGESTED: usize = 3;

/// Runs the verb.
pub fn run(args: &SearchArgs) -> Result<Outcome> {
    let model = model(&args.model)?;
    let indexes = Indexes::new(&args.index, &args.query)?;
    asked::must_be_one_query(args, indexes.words)?;
    let snapshot = indexes.open(&args.as_user)?;
    if (args.content || args.snippet.snippets) && snapshot.info().stored.store == Store::None {
        bail!(
            "the index does not store text: build one with --store content or --store reference, or omit \
             --content and --snippets"
        );
    }
    let fields = fields(&snapshot, args.field.as_deref())?;
    let field = main_field(&snapshot, &fields);
    let operator = args.default_operator.into();
    if let Some(path) = &args.batch.queries {
        let batch = batch::Batch { args, snapshot: &snapshot, field, fields: &fields, operator, model };
        let outcome = batch::run(&batch, path)?;
        indexes.note_missing(&snapshot)?;
        return Ok(outcome);
    }
    let budget = args.timeout.map(Budget::of);
    let threads = SearchThreads::new(threads(args));
    let searcher = timed(snapshot.searcher_in(field), budget.as_ref()).with_threads(&threads);
    let (query, itself) = match similar::like(&args.like, &snapshot, field)? {
        Some(like) => like,
        None => (asked::query(args, indexes.words, &snapshot, &fields, operator)?, None),
    };
    let query = similar::expand(&args.feedback, &snapshot, query, field, model)?;
    let facets = Facets::new(&snapshot, &args.columns)?;
    if args.print_query {
        let mut out = Output::stdout();
        writeln!(out, "{}", snapshot.query_json_in(&fields, &query)?)?;
        out.finish()?;
        return Ok(Outcome::Done);
    }
    let prepared = searcher.prepare(&query)?;
    let mut out = Output::with(&args.display);
    if args.count {
        let count = prepared.count()?;
        print_count(&mut out, count, is_partial(budget.as_ref()), args.json)?;
        facets.print(prepared.aggregate(facets.asked())?, &mut out, args.json)?;
        out.finish()?;
        indexes.note_missing(&snapshot)?;
        return Ok(outcome(count > 0, 0, budget.as_ref()));
    }
    let (searcher, query, prepared) = (&searcher, &query, &prepared);
    let budget = budget.as_ref();
    let asked = Asked { args, snapshot: &snapshot, searcher, query, prepared, model, field, itself, budget };
    let hits = print_hits(&asked, facets.asked(), &mut out)?;
    facets.print(hits.aggregated, &mut out, args.json)?;
    // Notes come after everything else, and after the user has left the pager.
    out.finish()?;
    indexes.note_missing(&snapshot)?;
    if args.json {
        // The objects contain this for programs.
    } else if !hits.found {
        report::note("no document matches");
        suggest(searcher, query)?;
    } else if let Some(compared) = hits.compared {
        let compared = units::count(compared as u64);
        report::note(&format!("near-duplicates were counted among the best {compared} documents"));
    } else if let Some(token) = hits.next.filter(|_| args.page.after.is_some()) {
        report::note(&format!("next page: --after {token}"));
    }
    Ok(outcome(hits.found, hits.unread, budget))
}

/// What was printed.
struct Hits {
    found: bool,
    /// The number of hits whose text could not be read.
    unread: u64,
    /// The token of the next page.
    next: Option<String>,
    /// The number of best hits among which near-duplicates were counted, if that is not all.
    compared: Option<usize>,
    /// The results of the aggregations.
    aggregated: Vec<Aggregated>,
}

/// Prints the requested hits with the requested details.
fn print_hits(asked: &Asked<'_>, aggregations: &[Aggregation], out: &mut Output) -> Result<Hits> {
    let Asked { args, prepared, model, .. } = asked;
    let mut printer = Printer::new(asked, out)?;
    let (mut next, mut compared, mut aggregated) = (None, None, None);
    if args.all {
        for_all(prepared, *model, |hit| {
            if asked.is_itself(hit) {
                return Ok(());
            }
            printer.print(out, hit, Around::default())
        })?;
    } else if let Some(text) = &args.columns.group {
        for group in groups::groups(asked, text)?.groups {
            for (at, hit) in group.hits.iter().enumerate() {
                let sorted = if args.page.sort == SortArg::Score { &[][..] } else { hit.keys.as_slice() };
                let value = group.value.as_ref();
                let group = Some(Grouped { value, count: group.count, is_head: at == 0 });
                printer.print(out, &hit.hit, Around { sorted, group, ..Around::default() })?;
            }
        }
    } else {
        let page = page::page(asked, aggregations)?;
        printer.last = page.before;
        let end = page.before + page.hits.len();
        for (at, (hit, sorted)) in page.hits.iter().enumerate() {
            let next = page.next.as_deref().filter(|_| printer.last + 1 == end);
            printer.print(
                out,
                hit,
                Around { sorted, next, near: page.near.get(at).copied(), group: None },
            )?;
        }
        (next, compared) = (page.next, page.compared);
        aggregated = Some(page.aggregated);
    }
    let aggregated = match aggregated {
        Some(aggregated) => aggregated,
        None => prepared.aggregate(aggregations)?,
    };
    Ok(Hits { found: printer.last > 0, unread: printer.unread, next, compared, aggregated })
}

/// Names the words that no document contains, and suggests terms for them.
fn suggest(searcher: &Searcher<'_>, query: &Query) -> Result<()> {
    for one in searcher.suggest(query, 0, SUGGESTED)? {
        let near: Vec<_> = one.near.iter().map(|near| quoted(&near.term)).collect();
        let meant = match &near[..] {
            [] => String::new(),
            near => format!(": did you mean {}?", near.join(" or ")),
        };
        report::note(&format!("no document contains {}{meant}", quoted(&one.word)));
    }
    Ok(())
}

/// The fields that words search: those in a list such as `title^3,body`, or the default fields of the index.
pub fn fields(snapshot: &Snapshot, names: Option<&str>) -> Result<Vec<WeightedField>> {
    let Some(names) = names else {
        return Ok(snapshot.schema().default_fields().into_iter().map(WeightedField::from).collect());
    };
    let weighted = |name: &str| {
        let (name, weight) = name.split_once('^').unwrap_or((name, "1"));
        let weight = weight.parse().ok().filter(|weight: &f32| *weight > 0.0 && weight.is_finite());
        let Some(weight) = weight else { bail!("--field {names}: write a weight as in title^3,body^0.5") };
        Ok(WeightedField { field: field(snapshot, Some(name))?, weight })
    };
    names.split(',').map(|name| weighted(name.trim())).collect()
}

/// The field of snippets, of expansions, and of similar documents, among those that words search.
pub fn main_field(snapshot: &Snapshot, fields: &[WeightedField]) -> Field {
    let default = snapshot.schema().default_field().filter(|main| fields.iter().any(|of| of.field == *main));
    default.or(fields.first().map(|first| first.field)).unwrap_or_default()
}

/// The field to search: the named one, or the default.
pub fn field(snapshot: &Snapshot, name: Option<&str>) -> Result<Field> {
    let schema = snapshot.schema();
    match name {
        None => Ok(schema.default_field().unwrap_or_default()),
        Some(name) => schema.searched_field(name).map_err(|names| {
            anyhow!("the index has no field '{name}' to search: it has {}", names.join(", "))
        }),
    }
}

/// The model with its parameters; a parameter of another model is an error, since it would have no effect.
pub fn model(args: &ModelArgs) -> Result<Model> {
    for (given, option, of, name) in [
        (args.k1.is_some(), "--k1", ModelArg::Bm25, "bm25"),
        (args.b.is_some(), "--b", ModelArg::Bm25, "bm25"),
        (args.mu.is_some(), "--mu", ModelArg::LmDirichlet, "lm-dirichlet"),
        (args.lambda.is_some(), "--lambda", ModelArg::LmJelinekMercer, "lm-jelinek-mercer"),
        (args.c.is_some(), "--c", ModelArg::Pl2, "pl2"),
        (args.p.is_some(), "--p", ModelArg::PNorm, "p-norm"),
    ] {
        if given && args.model != of {
            bail!("{option} is a parameter of --model {name}");
        }
    }
    Ok(match args.model {
        ModelArg::TfIdf => Model::Classic,
        ModelArg::Bm25 => Model::Bm25 { k1: args.k1.unwrap_or(1.2), b: args.b.unwrap_or(0.75) },
        ModelArg::LmDirichlet => Model::LmDirichlet { mu: args.mu.unwrap_or(2000.0) },
        ModelArg::LmJelinekMercer => Model::LmJelinekMercer { lambda: args.lambda.unwrap_or(0.1) },
        ModelArg::Pl2 => Model::Pl2 { c: args.c.unwrap_or(1.0) },
        ModelArg::Dph => Model::Dph,
        ModelArg::PNorm => Model::PNorm { p: args.p.unwrap_or(2.0) },
    })
}

/// Prints every hit as it is found, in index order: there may be more hits than fit into memory.
fn for_all(
    query: &PreparedQuery<'_, '_, '_>,
    model: Model,
    mut print: impl FnMut(&Hit) -> Result<()>,
) -> Result<()> {
    let mut outcome = Ok(());
    query.for_each(model, |hit| {
        outcome = print(&hit);
        if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    outcome
}

/// The outcome of a query that found something or nothing, if the texts of `unread` hits could not be read.
fn outcome(found: bool, unread: u64, budget: Option<&Budget>) -> Outcome {
    if is_partial(budget) {
        report::note("the query timed out: there may be more and better documents");
    }
    match found {
        _ if unread > 0 || is_partial(budget) => Outcome::WithFailures,
        true => Outcome::Done,
        false => Outcome::Nothing,
    }
}

fn print_count(out: &mut Output, count: u64, partial: bool, json: bool) -> Result<()> {
    if json {
        let mut object = Map::new();
        object.insert("count".into(), count.into());
        put_partial(&mut object, partial);
        out.json(&object.into())?;
    } else {
        writeln!(out, "{count}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(model: ModelArg, k1: Option<f32>, b: Option<f32>, p: Option<f64>) -> ModelArgs {
        ModelArgs { model, k1, b, p, mu: None, lambda: None, c: None }
    }

    #[test]
    fn models_take_their_own_parameters_and_no_others() {
        assert!(matches!(model(&args(ModelArg::TfIdf, None, None, None)), Ok(Model::Classic)));
        let Ok(Model::Bm25 { k1, b }) = model(&args(ModelArg::Bm25, Some(0.9), None, None)) else {
            panic!("bm25 takes k1");
        };
        assert_eq!((k1, b), (0.9, 0.75));
        let Ok(Model::PNorm { p }) = model(&args(ModelArg::PNorm, None, None, None)) else {
            panic!("p-norm has a default");
        };
        assert!((p - 2.0).abs() < f64::EPSILON);
        let dirichlet = ModelArgs { mu: Some(7.0), ..args(ModelArg::LmDirichlet, None, None, None) };
        assert!(matches!(model(&dirichlet), Ok(Model::LmDirichlet { mu: 7.0 })));
        assert!(model(&ModelArgs { model: ModelArg::Dph, ..dirichlet }).is_err());
        assert!(model(&args(ModelArg::TfIdf, None, Some(0.5), None)).is_err());
        assert!(model(&args(ModelArg::Bm25, None, None, Some(2.0))).is_err());
        assert!(model(&args(ModelArg::PNorm, Some(1.0), None, None)).is_err());
    }
}
