//! Exports: the values of all hits, as CSV or JSON lines, in the order of the index.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::response::IntoResponse;
use scanns::Snapshot;
use scanns::columns::{Batch, BatchField, BatchOptions, CsvText, JsonText};

use super::context::{ApiState, Context, Refusal};
use super::fields;
use super::given::{Given, Known};
use super::handle::{Handled, given};
use super::limits::Limits;
use super::parameter::{EXPORT, QUERY, WORDS};
use super::request::SearchRequest;
use super::search::AskedQuery;
use super::stream::{ClientGone, StreamHead, StreamOut, stream};
use crate::problem::Problem;

/// The parameters of an export.
pub(super) const EXPORTS: Known = &[QUERY, WORDS, EXPORT];

/// The column of the key, which is not a field.
const KEY: &str = "_key";

/// About the number of bytes of a piece.
const PIECE: usize = 256 << 10;

/// What is exported.
struct ExportRequest {
    index: String,
    /// What is searched; its other parts mean nothing here.
    search: SearchRequest,
    fields: Vec<String>,
    json: bool,
}

impl ExportRequest {
    fn of(given: &Given, index: String, limits: &Limits) -> Result<Self, Problem> {
        let json = given.word("format")? == Some("jsonl");
        Ok(ExportRequest {
            index,
            search: SearchRequest::of(given, limits)?,
            fields: given.texts("fields")?,
            json,
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
        let (content_type, ending) = match asked.json {
            true => ("application/x-ndjson", "jsonl"),
            false => ("text/csv; charset=utf-8; header=present", "csv"),
        };
        let file =
            format!("{}.{ending}", head.index().replace(|letter: char| !letter.is_ascii_graphic(), "_"));
        let described = StreamHead { content_type, file: Some(file.replace(['"', '\\'], "_")) };
        stream(state, head, described, move |context, out| send(context, &asked, out)).await
    })
}

/// The fields of an export, with their names.
fn columns(snapshot: &Snapshot, names: &[String]) -> Result<Vec<(String, BatchField)>, Problem> {
    if names.is_empty() {
        let kept = fields::known(snapshot).filter(|(_, entry)| entry.column || entry.stored);
        let kept = kept.map(|(field, entry)| (entry.name.clone(), BatchField::Values(field)));
        return Ok(std::iter::once((KEY.to_owned(), BatchField::Key)).chain(kept).collect());
    }
    let column = |name: &String| match name.as_str() {
        KEY => Ok((name.clone(), BatchField::Key)),
        name => Ok((name.to_owned(), BatchField::Values(fields::kept(snapshot, name)?))),
    };
    names.iter().map(column).collect()
}

fn send(context: &Context<'_>, asked: &ExportRequest, out: &mut StreamOut) -> Result<(), Refusal> {
    let seen = context.state.indexes.seen(&[&asked.index], &context.head.caller)?;
    let snapshot = &*seen.snapshot;
    let columns = columns(snapshot, &asked.fields)?;
    let query = AskedQuery::new(snapshot, &asked.search)?;
    let names = || columns.iter().map(|(name, _)| name.as_str());
    let fields: Vec<BatchField> = columns.iter().map(|(_, field)| *field).collect();
    // An export takes as long as its client reads; the budget ends with the client.
    let budget = context.task.budget(Duration::MAX);
    let searcher = snapshot.searcher_in(query.field).within(&budget);
    searcher.prepare(&query.query)?;
    let (mut csv, json) = (CsvText::default(), JsonText::new(names()));
    let (mut piece, mut gone) = (Vec::new(), Ok(()));
    if !asked.json {
        csv.put_head(names(), &mut piece);
    }
    let mut visit = |batch: &Batch<'_>| {
        for row in 0..batch.docs.len() {
            match asked.json {
                true => json.put_row(batch.columns, row, &mut piece),
                false => csv.put_row(batch.columns, row, &mut piece),
            }
            if piece.len() >= PIECE {
                gone = out.send(std::mem::take(&mut piece));
                if gone.is_err() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    };
    let options = BatchOptions { rows: 4 << 10, bytes: 4 << 20, ..BatchOptions::default() };
    snapshot.for_each_batch_of(&searcher, &query.query, &fields, &options, &mut visit)?;
    if gone == Err(ClientGone) || budget.ran_out() {
        // What nobody reads needs no end.
        return Err(Problem::internal("the client has gone").into());
    }
    // If the client goes now, it has noticed.
    let _ = out.send(piece);
    Ok(())
}
