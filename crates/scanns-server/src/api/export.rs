//! Exports: the values of all hits, as CSV, JSON lines, Arrow or Parquet, in the order of the index or in
//! another one.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use scanns::Snapshot;
use scanns::columns::{BatchColumn, BatchField};
#[cfg(feature = "arrow")]
use scanns_export::{Arrow, Parquet, TableCompression};
use scanns_export::{
    Csv, ExportError, HitRows, JsonLines, KEY, RowKeys, RowOrder, RowWriter, Shape, Sorted, Sorter,
};

use super::context::{ApiState, Context, Refusal};
use super::fields;
use super::given::{Given, Known};
use super::handle::{Handled, given};
use super::limits::Limits;
use super::parameter::{EXPORT, MODEL, QUERY, WORDS};
use super::request::{Order, SearchRequest};
use super::search::{AskedQuery, sort_keys};
use super::stream::{PieceWriter, StreamHead, StreamOut, stream};
use crate::problem::Problem;

/// The parameters of an export.
pub(super) const EXPORTS: Known = &[QUERY, WORDS, EXPORT, MODEL];

/// What is exported.
struct ExportRequest {
    index: String,
    /// What is searched, and in which order; its other parts mean nothing here.
    search: SearchRequest,
    /// True for the order of the search; false for the order of the index.
    sorted: bool,
    fields: Vec<String>,
    format: &'static str,
}

impl ExportRequest {
    fn of(given: &Given, index: String, limits: &Limits) -> Result<Self, Problem> {
        let format = given.word("format")?.unwrap_or("csv");
        if cfg!(not(feature = "arrow")) && matches!(format, "arrow" | "parquet") {
            let detail = "this server was built without Arrow and Parquet: ask for csv or jsonl";
            return Err(Problem::parameter("format", detail));
        }
        let (search, fields) = (SearchRequest::of(given, limits)?, given.texts("fields")?);
        Ok(ExportRequest { index, search, sorted: given.has("sort"), fields, format })
    }

    fn content_type(&self) -> &'static str {
        match self.format {
            "jsonl" => "application/x-ndjson",
            "arrow" => "application/vnd.apache.arrow.file",
            "parquet" => "application/vnd.apache.parquet",
            _ => "text/csv; charset=utf-8; header=present",
        }
    }

    /// The writer of the format.
    fn writer<'o>(
        &self,
        out: PieceWriter<'o>,
        shapes: &[Shape],
    ) -> Result<Box<dyn RowWriter + 'o>, ExportError> {
        let names = || shapes.iter().map(|shape| shape.name.clone()).collect();
        Ok(match self.format {
            #[cfg(feature = "arrow")]
            "arrow" => Box::new(Arrow::new(out, shapes.to_vec(), TableCompression::None, false)?),
            #[cfg(feature = "arrow")]
            "parquet" => Box::new(Parquet::new(out, shapes.to_vec(), TableCompression::Zstd)?),
            "jsonl" => Box::new(JsonLines::new(out, names())),
            _ => Box::new(Csv::new(out, names())),
        })
    }
}

/// Exports all hits.
pub(super) fn export(state: Arc<ApiState>, request: Request) -> Handled {
    Box::pin(async move {
        let (head, given) = match given(request, EXPORTS, &state.limits).await {
            Ok(found) => found,
            Err(problem) => return problem.into_response(),
        };
        let asked = match ExportRequest::of(&given, head.index(), &state.limits) {
            Ok(asked) => asked,
            Err(problem) => return problem.into_response(),
        };
        let file = format!(
            "{}.{}",
            head.index().replace(|letter: char| !letter.is_ascii_graphic(), "_"),
            asked.format
        );
        let described =
            StreamHead { content_type: asked.content_type(), file: Some(file.replace(['"', '\\'], "_")) };
        stream(state, head, described, move |context, out| send(context, &asked, out)).await
    })
}

/// The fields of an export, and its columns.
fn columns(snapshot: &Snapshot, names: &[String]) -> Result<(Vec<BatchField>, Vec<Shape>), Problem> {
    let of_field = |field| (BatchField::Values(field), Shape::of_field(snapshot, field));
    let key = || (BatchField::Key, Shape::of_key());
    if names.is_empty() {
        let kept = fields::known(snapshot).filter(|(_, entry)| entry.column || entry.stored);
        return Ok(std::iter::once(key()).chain(kept.map(|(field, _)| of_field(field))).unzip());
    }
    let column = |name: &String| match name.as_str() {
        KEY => Ok(key()),
        name => fields::kept(snapshot, name).map(of_field),
    };
    let columns: Vec<_> = names.iter().map(column).collect::<Result<_, Problem>>()?;
    Ok(columns.into_iter().unzip())
}

/// The order of the rows; `None` for the order of the index.
fn order(snapshot: &Snapshot, asked: &ExportRequest) -> Result<Option<RowOrder>, Problem> {
    if !asked.sorted {
        return Ok(None);
    }
    Ok(Some(match &asked.search.order {
        Order::Score => RowOrder::Score,
        Order::Key { descending } => RowOrder::Key { descending: *descending },
        Order::Columns(columns) => RowOrder::Columns(sort_keys(snapshot, columns)?),
    }))
}

fn send(context: &Context<'_>, asked: &ExportRequest, out: &mut StreamOut) -> Result<(), Refusal> {
    let seen = context.view(&[&asked.index])?;
    let snapshot = &*seen.snapshot;
    let (mut fields, mut shapes) = columns(snapshot, &asked.fields)?;
    let keys = order(snapshot, asked)?.map(|order| RowKeys::new(snapshot, &order, &mut fields));
    let keys = keys.transpose().map_err(refused)?;
    let query = AskedQuery::new(snapshot, &asked.search, context)?;
    // An export takes as long as its client reads; the budget ends with the client.
    let budget = context.task.budget(Duration::MAX);
    let searcher = snapshot.searcher_in(query.field).within(&budget);
    let stop = || context.is_cancelled();
    let model = keys.as_ref().is_some_and(RowKeys::needs_scores).then_some(asked.search.model);
    let hits = HitRows { snapshot, searcher: &searcher, query: &query.query, model, stop: &stop };
    let mut sorted = None;
    if let Some(keys) = &keys {
        let sorter = Sorter::new(context.state.limits.sort_memory, std::env::temp_dir());
        sorted = hits.sort(&fields, &mut shapes, keys, sorter, |_| {}).map_err(refused)?;
    } else if matches!(asked.format, "arrow" | "parquet") {
        // What was sent cannot be changed, so texts that are not valid UTF-8 are looked for first.
        hits.find_binary(&fields, &mut shapes).map_err(refused)?;
    }
    let mut rows = asked.writer(PieceWriter::new(out), &shapes).map_err(refused)?;
    write(&mut *rows, &hits, &fields, &shapes, sorted).map_err(refused)?;
    if stop() { Err(Problem::internal("the client has gone").into()) } else { Ok(()) }
}

/// Writes rows in their order, until nobody wants them.
fn write(
    rows: &mut dyn RowWriter,
    hits: &HitRows<'_>,
    fields: &[BatchField],
    shapes: &[Shape],
    sorted: Option<Sorted>,
) -> Result<(), ExportError> {
    rows.begin()?;
    match sorted {
        Some(mut sorted) => {
            let mut columns: Vec<_> = shapes.iter().map(|shape| BatchColumn::new(shape.kind)).collect();
            while !(hits.stop)() && sorted.next_batch(&mut columns)? {
                rows.batch(&columns)?;
            }
        }
        // A sort that was stopped has no rows.
        None if (hits.stop)() => {}
        None => hits.each(fields, (0, 0), |batch| rows.batch(batch.columns))?,
    }
    // What nobody reads needs no end.
    if (hits.stop)() { Ok(()) } else { rows.end() }
}

/// The problem of an export that failed.
fn refused(error: ExportError) -> Refusal {
    let problem = match &error {
        ExportError::Engine(error) => Problem::of_engine(error),
        ExportError::NotSortable => Problem::parameter("sort", error.to_string()),
        ExportError::TooLarge(_) => {
            let (kind, title) = ("/problems/unsupported", "The index cannot answer this");
            let problem = Problem::new(StatusCode::UNPROCESSABLE_ENTITY, kind, title, error.to_string());
            problem.of_parameter("fields")
        }
        ExportError::Temporary { source, .. } => {
            let detail = "the server has no room to sort the rows: ask for fewer fields, or leave sort out";
            let (kind, title) = ("/problems/busy", "The server has no room for this");
            let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, kind, title, detail);
            let cause = Some(format!("{error}: {source}"));
            Problem { cause, retry_after: Some(60), ..problem }
        }
        ExportError::NotUnicode(_) | ExportError::Write(_) | ExportError::Table(_) => {
            Problem::internal(error.to_string())
        }
    };
    problem.into()
}
