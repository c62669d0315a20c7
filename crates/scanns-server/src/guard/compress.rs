//! Compressing answers as they are made.
//!
//! What was compressed is sent as soon as the answer has no more at the moment, so that a stream does not
//! wait for a block to be full. No answer of this server contains both a secret and text of the request, so
//! its compressed length tells nothing (BREACH): tokens are in heads only.

use std::io::Write;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::header::{self, HeaderMap, HeaderValue};
use axum::http::{Response, StatusCode};
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::body::Frame;

/// Shorter answers fit into one packet as they are.
const LEAST: u64 = 1400;

/// Compressed bytes that are sent together.
const PART: usize = 16 << 10;

/// Media types that shrink.
const COMPRESSED: [&str; 7] = [
    "text/",
    "application/json",
    "application/problem+json",
    "application/x-ndjson",
    "application/jsonl",
    "application/javascript",
    "image/svg+xml",
];

/// Whether a client takes gzip.
pub fn accepts_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let quality = parts.find_map(|part| part.strip_prefix("q=")).unwrap_or("1");
        (name.eq_ignore_ascii_case("gzip") || name == "*")
            && quality.parse().is_ok_and(|quality: f32| quality > 0.0)
    })
}

/// Compresses an answer if it becomes shorter by it.
pub fn compressed(response: Response<Body>, accepts_gzip: bool) -> Response<Body> {
    if !can_shrink(&response) {
        return response;
    }
    let (mut head, body) = response.into_parts();
    head.headers.append(header::VARY, HeaderValue::from_static("accept-encoding"));
    if !accepts_gzip {
        return Response::from_parts(head, body);
    }
    head.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    head.headers.remove(header::CONTENT_LENGTH);
    // The same answer in other bytes.
    if let Some(tag) = head.headers.get(header::ETAG).and_then(|tag| tag.to_str().ok())
        && !tag.starts_with("W/")
        && let Ok(weak) = HeaderValue::try_from(format!("W/{tag}"))
    {
        head.headers.insert(header::ETAG, weak);
    }
    let encoder = Some(GzEncoder::new(Vec::with_capacity(PART), Compression::fast()));
    Response::from_parts(head, Body::new(CompressedBody { body, encoder, is_flushed: true }))
}

fn can_shrink(response: &Response<Body>) -> bool {
    let headers = response.headers();
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_whole = !matches!(
        response.status(),
        StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED | StatusCode::PARTIAL_CONTENT
    );
    is_whole
        && response.body().size_hint().exact().is_none_or(|length| length >= LEAST)
        && !headers.contains_key(header::CONTENT_ENCODING)
        && COMPRESSED.iter().any(|compressed| kind.starts_with(compressed))
}

struct CompressedBody {
    body: Body,
    /// None at the end.
    encoder: Option<GzEncoder<Vec<u8>>>,
    is_flushed: bool,
}

impl HttpBody for CompressedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        loop {
            let Some(encoder) = &mut this.encoder else { return Poll::Ready(None) };
            let step = match Pin::new(&mut this.body).poll_frame(context) {
                Poll::Pending if this.is_flushed => return Poll::Pending,
                Poll::Pending => {
                    this.is_flushed = true;
                    encoder.flush().map(|()| mem::take(encoder.get_mut()))
                }
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => {
                        this.is_flushed = false;
                        let written = encoder.write_all(&data);
                        let is_full = encoder.get_ref().len() >= PART;
                        written.map(|()| if is_full { mem::take(encoder.get_mut()) } else { Vec::new() })
                    }
                    // Trailers would come after the end of the compressed bytes, which is not known here.
                    Err(_) => Ok(Vec::new()),
                },
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
                Poll::Ready(None) => match this.encoder.take() {
                    Some(encoder) => encoder.finish(),
                    None => Ok(Vec::new()),
                },
            };
            match step {
                Ok(bytes) if bytes.is_empty() => {}
                Ok(bytes) => return Poll::Ready(Some(Ok(Frame::data(bytes.into())))),
                Err(error) => return Poll::Ready(Some(Err(axum::Error::new(error)))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;
    use futures_util::stream;
    use http_body_util::BodyExt;

    use super::*;

    fn answer(kind: &'static str, body: Body) -> Response<Body> {
        Response::builder().header("content-type", kind).header("etag", "\"a\"").body(body).unwrap()
    }

    fn encoding(response: &Response<Body>) -> Option<&str> {
        response.headers().get("content-encoding").map(|value| value.to_str().unwrap())
    }

    #[tokio::test]
    async fn long_texts_are_compressed() {
        let text: String = (0..20_000).map(|number| format!("{}, ", number * number % 977)).collect();
        let response = compressed(answer("application/json", text.clone().into()), true);
        assert_eq!(
            (encoding(&response), response.headers()["etag"].to_str().unwrap()),
            (Some("gzip"), "W/\"a\"")
        );
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        assert!(bytes.len() < text.len() / 2);
        let mut back = String::new();
        GzDecoder::new(&bytes[..]).read_to_string(&mut back).unwrap();
        assert_eq!(back, text);
    }

    #[test]
    fn what_does_not_shrink_is_left_alone() {
        let long = || Body::from("a".repeat(5000));
        assert_eq!(encoding(&compressed(answer("application/json", "{}".into()), true)), None);
        assert_eq!(encoding(&compressed(answer("application/vnd.apache.parquet", long()), true)), None);
        let refused = compressed(answer("text/html", long()), false);
        assert_eq!(
            (encoding(&refused), &refused.headers()["vary"]),
            (None, &"accept-encoding".parse().unwrap())
        );
        let mut done = answer("text/css", long());
        done.headers_mut().insert("content-encoding", "br".parse().unwrap());
        assert_eq!(encoding(&compressed(done, true)), Some("br"));
        let mut unchanged = answer("text/html", Body::empty());
        *unchanged.status_mut() = StatusCode::NOT_MODIFIED;
        assert_eq!(encoding(&compressed(unchanged, true)), None);
    }

    #[tokio::test]
    async fn a_stream_does_not_wait_for_more() {
        let (send, mut receive) = tokio::sync::mpsc::unbounded_channel::<Result<Bytes, std::io::Error>>();
        let rows = stream::poll_fn(move |context| receive.poll_recv(context));
        let mut body = compressed(answer("text/csv", Body::from_stream(rows)), true).into_body();
        let mut seen = Vec::new();
        for row in ["a,b\n", "1,2\n", "3,4\n"] {
            send.send(Ok(row.into())).unwrap();
            seen.extend(body.frame().await.unwrap().unwrap().into_data().unwrap());
            let mut text = String::new();
            // The stream has no end yet, which is an error behind the text.
            let _ = GzDecoder::new(&seen[..]).read_to_string(&mut text);
            assert!(text.ends_with(row), "{text:?}");
        }
        drop(send);
        while let Some(frame) = body.frame().await {
            seen.extend(frame.unwrap().into_data().unwrap());
        }
        let mut text = String::new();
        GzDecoder::new(&seen[..]).read_to_string(&mut text).unwrap();
        assert_eq!(text, "a,b\n1,2\n3,4\n");
    }

    #[test]
    fn only_clients_that_take_gzip_get_it() {
        for (value, expected) in [
            ("gzip", true),
            ("br, GZIP;q=0.5", true),
            ("*", true),
            ("br, deflate", false),
            ("gzip;q=0", false),
            ("gzip; q=0.000", false),
            ("identity", false),
            ("gzipped", false),
        ] {
            let headers = [(header::ACCEPT_ENCODING, value.parse().unwrap())].into_iter().collect();
            assert_eq!(accepts_gzip(&headers), expected, "{value}");
        }
        assert!(!accepts_gzip(&HeaderMap::new()));
    }
}
