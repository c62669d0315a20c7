//! `scanns search`: prints the best documents for a query, their number, or all of them.
//!
//! `search/asked.rs` reads the query, and `page.rs` finds the hits of one page, in an order of `order.rs`.
//! `snippets.rs` shows parts of their text, `fields.rs` their values, `facets.rs` aggregations over columns,
//! and `groups.rs` groups of hits. `batch.rs` runs many queries.

mod asked;
mod batch;
mod facets;
pub mod fields;
mod groups;
mod limits;
pub mod order;
mod page;
mod snippets;

use std::io::Write;
use std::ops::ControlFlow;

use anyhow::{Result, anyhow, bail};
use scanns::aggregate::{Aggregated, Aggregation};
use scanns::query::WeightedField;
use scanns::schema::Value as Typed;
use scanns::schema::{Field, Store};
use scanns::search::{Budget, Explanation, Model, PreparedQuery, SearchThreads, Searcher, Snippet};
use scanns::{Hit, Query, Snapshot};
use serde_json::{Map, Value};

use crate::args::{ModelArg, ModelArgs, SearchArgs, SortArg};
use crate::report::{self, Outcome, Output};
use crate::{explain, similar, units};
use facets::Facets;
use groups::Grouped;
use limits::{is_partial, put_partial, threads, timed};
use page::Asked;

/// The maximum number of lines of a document to show to people, and of characters per line.
const LINES: usize = 10;
const COLUMNS: usize = 160;

/// The maximum number of terms to suggest for a word.
const SUGGESTED: usize = 3;

/// Runs the verb.
pub fn run(args: &SearchArgs) -> Result<Outcome> {
    let model = model(&args.model)?;
    let snapshot = Snapshot::open(&args.index)?;
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
        return batch::run(&batch, path);
    }
    let budget = args.timeout.map(Budget::of);
    let threads = SearchThreads::new(threads(args));
    let searcher = timed(snapshot.searcher_in(field), budget.as_ref()).with_threads(&threads);
    let (query, itself) = match similar::like(&args.like, &snapshot, field)? {
        Some(like) => like,
        None => (asked::query(args, &snapshot, &fields, operator)?, None),
    };
    let query = similar::expand(&args.feedback, &snapshot, query, field, model)?;
    let facets = Facets::new(&snapshot, &args.columns)?;
    let mut out = Output::stdout();
    if args.print_query {
        writeln!(out, "{}", snapshot.query_json_in(&fields, &query)?)?;
        out.flush()?;
        return Ok(Outcome::Done);
    }
    let prepared = searcher.prepare(&query)?;
    if args.count {
        let count = prepared.count()?;
        print_count(&mut out, count, is_partial(budget.as_ref()), args.json)?;
        facets.print(&prepared.aggregate(facets.asked())?, &mut out, args.json)?;
        out.flush()?;
        return Ok(outcome(count > 0, 0, budget.as_ref()));
    }
    let (searcher, query, prepared) = (&searcher, &query, &prepared);
    let budget = budget.as_ref();
    let asked = Asked { args, snapshot: &snapshot, searcher, query, prepared, model, field, itself, budget };
    let (outcome, aggregated) = print_hits(&asked, facets.asked(), &mut out)?;
    facets.print(&aggregated, &mut out, args.json)?;
    out.flush()?;
    Ok(outcome)
}

/// Prints the requested hits with the requested details; also returns the results of the aggregations.
fn print_hits(
    asked: &Asked<'_>,
    aggregations: &[Aggregation],
    out: &mut Output,
) -> Result<(Outcome, Vec<Aggregated>)> {
    let Asked { args, snapshot, searcher, query, prepared, model, field, budget, itself: _ } = asked;
    let highlight = || snapshot.highlighter(*field, query, snippets::options(&args.snippet));
    let mut highlighter = args.snippet.snippets.then(highlight).transpose()?;
    let (mut unread, shown_fields) = (0, fields::Shown::new(snapshot, &args.columns.fields)?);
    let mut print = |rank: usize, (hit, sorted): (&Hit, &[Option<Typed>]), (next, group): Around<'_>| {
        let before = unread;
        let text = readable(args.content.then(|| snapshot.document(hit)), &mut unread)?;
        // If the text could not be read, it is not read again, and the error is reported once.
        let highlighter = highlighter.as_mut().filter(|_| unread == before);
        let shown = highlighter.map(|highlighter| snapshot.snippets(hit, *field, highlighter));
        let shown = readable(shown, &mut unread)?;
        let key = searcher.key(hit)?;
        let why = args.explain.then(|| prepared.explain(*model, hit)).transpose()?.flatten();
        let (text, snippets) = (text.as_deref(), shown.as_deref());
        let (partial, fields) = (is_partial(*budget), shown_fields.of(hit)?);
        let why = why.as_ref();
        let details =
            Details { key: &key, sorted, fields: &fields, text, snippets, why, next, group, partial };
        print_hit(out, rank, hit, &details, args.json)
    };
    let (mut last, mut next, mut aggregated) = (0, None, None);
    if args.all {
        for_all(prepared, *model, |hit| {
            if asked.is_itself(hit) {
                return Ok(());
            }
            last += 1;
            print(last, (hit, &[]), (None, None))
        })?;
    } else if let Some(text) = &args.columns.group {
        for group in groups::groups(asked, text)?.groups {
            for (at, hit) in group.hits.iter().enumerate() {
                last += 1;
                let keys = if args.page.sort == SortArg::Score { &[][..] } else { hit.keys.as_slice() };
                let value = group.value.as_ref();
                let group = Grouped { value, count: group.count, is_head: at == 0 };
                print(last, (&hit.hit, keys), (None, Some(group)))?;
            }
        }
    } else {
        let page = page::page(asked, aggregations)?;
        last = page.before;
        for (hit, sorted) in &page.hits {
            last += 1;
            let is_last = last == page.before + page.hits.len();
            print(last, (hit, sorted), (page.next.as_deref().filter(|_| is_last), None))?;
        }
        next = page.next;
        aggregated = Some(page.aggregated);
    }
    if args.json {
        // The objects contain this for programs.
    } else if last == 0 {
        report::note("no document matches");
        suggest(searcher, query)?;
    } else if let Some(token) = next.filter(|_| args.page.after.is_some()) {
        out.flush()?;
        report::note(&format!("next page: --after {token}"));
    }
    let aggregated = match aggregated {
        Some(aggregated) => aggregated,
        None => prepared.aggregate(aggregations)?,
    };
    Ok((outcome(last > 0, unread, *budget), aggregated))
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

/// Suggests terms for words that no document contains.
fn suggest(searcher: &Searcher<'_>, query: &Query) -> Result<()> {
    for one in searcher.suggest(query, 0, SUGGESTED)? {
        let near: Vec<String> = one.near.iter().map(|near| report::escaped(&near.term)).collect();
        report::note(&format!(
            "no document contains {}: did you mean {}?",
            report::escaped(&one.word),
            near.join(" or ")
        ));
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

/// The token of the next page, and the group of a hit.
type Around<'a> = (Option<&'a str>, Option<Grouped<'a>>);

/// What to show of a hit.
struct Details<'a> {
    key: &'a [u8],
    /// The values of the columns that it was sorted by, if any.
    sorted: &'a [Option<Typed>],
    /// The values to show, by field name.
    fields: &'a [(&'a str, Vec<Typed>)],
    text: Option<&'a [u8]>,
    snippets: Option<&'a [Snippet]>,
    /// How the score was computed.
    why: Option<&'a Explanation>,
    /// The token of the next page.
    next: Option<&'a str>,
    group: Option<Grouped<'a>>,
    /// True if the query timed out.
    partial: bool,
}

/// Prints one hit: aligned for a person, tab-separated for a program, or as JSON.
fn print_hit(out: &mut Output, rank: usize, hit: &Hit, details: &Details<'_>, json: bool) -> Result<()> {
    if json {
        let mut object = Map::new();
        object.insert("rank".into(), rank.into());
        if details.sorted.is_empty() {
            object.insert("score".into(), report::short_float(hit.score));
        } else {
            let value = |value: &Option<Typed>| value.as_ref().map_or(Value::Null, fields::json);
            object.insert("sort".into(), details.sorted.iter().map(value).collect());
        }
        report::put_bytes(&mut object, "key", details.key);
        if let Some(group) = details.group {
            object.insert("group".into(), group.value.map_or(Value::Null, fields::json));
            object.insert("group_count".into(), group.count.into());
        }
        if !details.fields.is_empty() {
            let values = |(name, values): &(&str, Vec<Typed>)| {
                ((*name).to_owned(), values.iter().map(fields::json).collect::<Value>())
            };
            object.insert("fields".into(), details.fields.iter().map(values).collect());
        }
        if let Some(text) = details.text {
            report::put_bytes(&mut object, "content", text);
        }
        if let Some(why) = details.why {
            object.insert("explanation".into(), explain::json(why));
        }
        if let Some(found) = details.snippets {
            snippets::put(&mut object, found);
        }
        if let Some(token) = details.next {
            object.insert("after".into(), token.into());
        }
        put_partial(&mut object, details.partial);
        out.json(&object.into())?;
        return Ok(());
    }
    if let Some(Grouped { value, count, .. }) = details.group.filter(|group| group.is_head) {
        let name = value.map_or("without".into(), fields::text);
        writeln!(out, "{name}: {}", units::counted(count, "document"))?;
    }
    let sorted = |value: &Option<Typed>| value.as_ref().map_or("-".into(), fields::text);
    let sorted: Vec<String> = details.sorted.iter().map(sorted).collect();
    let why = if sorted.is_empty() { format!("{:.4}", hit.score) } else { sorted.join(", ") };
    if out.is_terminal() {
        write!(out, "{rank:>4}  {why:>9}  ")?;
    } else {
        write!(out, "{rank}\t{why}\t")?;
    }
    out.bytes(details.key)?;
    for (name, values) in details.fields {
        let values: Vec<String> = values.iter().map(fields::text).collect();
        if out.is_terminal() {
            write!(out, "  {name}={}", values.join(", "))?;
        } else {
            write!(out, "\t{}", values.join(", "))?;
        }
    }
    writeln!(out)?;
    details.why.map_or(Ok(()), |why| explain::print(out, why))?;
    details.snippets.map_or(Ok(()), |found| snippets::print(out, found))?;
    details.text.map_or(Ok(()), |text| print_text(out, text))
}

/// Prints the first lines of a document, indented, and the size of the rest.
fn print_text(out: &mut Output, text: &[u8]) -> Result<()> {
    let mut shown = 0;
    for line in text.split_inclusive(|&byte| byte == b'\n').take(LINES) {
        shown += line.len();
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).replace('\t', "    ");
        let cut: String = line.chars().take(COLUMNS).collect();
        let more = if cut.len() < line.len() { " …" } else { "" };
        writeln!(out, "      {}{more}", report::escaped(cut.as_bytes()))?;
    }
    match text.len() - shown {
        0 => {}
        rest => writeln!(out, "      … {} more: --json shows all", units::size(rest as u64))?,
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
