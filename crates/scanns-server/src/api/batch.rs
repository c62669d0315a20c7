//! Many searches at once: a JSON object on each line of the body, and its answer on each line of the answer.

use std::sync::Arc;

use axum::extract::Request;
use axum::response::IntoResponse;
use serde_json::{Value, json};

use super::context::{ApiState, Context, Head, Refusal};
use super::given::Given;
use super::handle::{Handled, must_be, read_body};
use super::request::SearchRequest;
use super::search::search;
use super::searches::SEARCH;
use super::stream::{StreamHead, StreamOut, stream};
use crate::problem::Problem;

/// The media type of JSON lines.
const LINES: &str = "application/x-ndjson";

/// Answers many searches, in their order.
pub(super) fn batch(state: Arc<ApiState>, request: Request) -> Handled {
    Box::pin(async move {
        let (parts, body) = request.into_parts();
        let (most, lines) = state.limits.batch;
        let read = async {
            let head = Head::of(&parts)?;
            Given::of_address(head.query.as_deref(), &[])?;
            must_be(&parts.headers, LINES)?;
            let body = read_body(&parts.headers, body, most).await?;
            let count = body.split(|byte| *byte == b'\n').filter(|line| !is_empty(line)).count();
            if count > lines {
                let detail = format!("there are {count} searches: send at most {lines} at a time");
                return Err(Problem::parameter("body", detail));
            }
            Ok((head, body))
        };
        let (head, body) = match read.await {
            Ok(read) => read,
            Err(problem) => return problem.into_response(),
        };
        let described = StreamHead { content_type: LINES, file: None };
        stream(state, head, described, move |context, out| answer(context, &body, out)).await
    })
}

fn is_empty(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

fn answer(context: &Context<'_>, body: &[u8], out: &mut StreamOut) -> Result<(), Refusal> {
    let name = context.head.index();
    // All searches see the same commit.
    let seen = context.view(&[&name])?;
    for line in body.split(|byte| *byte == b'\n').filter(|line| !is_empty(line)) {
        let found = Given::of_json(line, SEARCH)
            .and_then(|given| SearchRequest::of(&given, &context.state.limits))
            .map_err(Refusal::from)
            .and_then(|request| search(context, &seen, &request));
        let found: Result<Vec<u8>, Refusal> = found.and_then(|found| {
            serde_json::to_vec(&found).map_err(|error| Problem::internal(error.to_string()).into())
        });
        let mut line = match found {
            Ok(line) => line,
            Err(Refusal::Problem(problem)) => json!({"error": *problem}).to_string().into_bytes(),
            Err(Refusal::NotModified(_)) => json!({"error": Value::Null}).to_string().into_bytes(),
        };
        line.push(b'\n');
        if out.send(line).is_err() || context.task.is_cancelled() {
            break;
        }
    }
    Ok(())
}
