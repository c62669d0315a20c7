//! The embedded files, and answers with them.
//!
//! The names of built files contain a hash of their content, so that browsers keep them for ever.

use axum::Router;
use axum::body::Body;
use axum::extract::Path;
use axum::http::header::{self, HeaderMap, HeaderValue};
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;
use axum::routing::get;

use crate::problem::Problem;

/// A file of the page.
pub(super) struct EmbeddedFile {
    /// Its path, such as `assets/main-0123456789ab.js`.
    pub path: &'static str,
    /// A hash of its content.
    pub tag: &'static str,
    pub plain: &'static [u8],
    pub brotli: Option<&'static [u8]>,
    pub gzip: Option<&'static [u8]>,
}

/// All files. There are none if the page was not built before the program.
pub(super) static FILES: &[EmbeddedFile] = &include!(concat!(env!("OUT_DIR"), "/page_files.rs"));

/// Answers requests for the files below `assets/`.
pub fn assets() -> Router {
    Router::new().route("/assets/{*name}", get(asset))
}

async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Response<Body> {
    let path = format!("assets/{name}");
    match FILES.iter().find(|file| file.path == path) {
        Some(file) => answer(file, &headers),
        None => {
            let detail = "the page has no such file: load the page again";
            Problem::new(StatusCode::NOT_FOUND, "/problems/path", "There is no such file", detail)
                .into_response()
        }
    }
}

fn answer(file: &EmbeddedFile, headers: &HeaderMap) -> Response<Body> {
    let encoded = [(file.brotli, "br"), (file.gzip, "gzip")].into_iter();
    let mut encoded = encoded.filter_map(|(bytes, name)| Some((bytes?, Some(name))));
    let best = encoded.find(|(_, name)| name.is_some_and(|name| accepts(headers, name)));
    let (bytes, encoding) = best.unwrap_or((file.plain, None));
    let tag = format!("\"{}{}\"", file.tag, encoding.map(|name| format!("-{name}")).unwrap_or_default());
    let is_known = headers.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
    let of = |known: &str| known.trim().trim_start_matches("W/") == tag;
    let is_known = is_known.is_some_and(|tags| tags.split(',').any(of));
    let mut response = Response::new(if is_known { Body::empty() } else { Body::from(bytes) });
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let cache =
        if is_hashed(file.path) { "private, max-age=31536000, immutable" } else { "private, no-cache" };
    let into = response.headers_mut();
    into.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind(file.path)));
    into.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    into.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if let Ok(tag) = HeaderValue::try_from(tag) {
        into.insert(header::ETAG, tag);
    }
    if let Some(encoding) = encoding {
        into.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    response
}

/// Whether a client takes an encoding. One that it takes reluctantly is not used.
fn accepts(headers: &HeaderMap, encoding: &str) -> bool {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    accepted.is_some_and(|accepted| accepted.split(',').any(|one| one.trim().eq_ignore_ascii_case(encoding)))
}

/// True if a name has a hash of at least eight digits before its extension.
fn is_hashed(path: &str) -> bool {
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    stem.rsplit_once('-')
        .is_some_and(|(_, hash)| hash.len() >= 8 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// The media type of a file.
fn kind(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("html") => "text/html; charset=utf-8",
        Some("json" | "map") => "application/json",
        Some("txt") => "text/plain; charset=utf-8",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &'static str) -> EmbeddedFile {
        EmbeddedFile { path, tag: "1", plain: b"plain", brotli: Some(b"br"), gzip: Some(b"gz") }
    }

    fn with(name: header::HeaderName, value: &str) -> HeaderMap {
        [(name, value.parse().unwrap())].into_iter().collect()
    }

    fn header(response: &Response<Body>, name: header::HeaderName) -> Option<&str> {
        response.headers().get(name).map(|value| value.to_str().unwrap())
    }

    #[test]
    fn files_are_sent_in_the_best_encoding_and_kept() {
        let script = file("assets/main-de05008901e9.js");
        for (accepted, encoding) in
            [("gzip, deflate, br", Some("br")), ("gzip", Some("gzip")), ("identity", None), ("br;q=0", None)]
        {
            let response = answer(&script, &with(header::ACCEPT_ENCODING, accepted));
            assert_eq!(header(&response, header::CONTENT_ENCODING), encoding, "{accepted}");
            assert_eq!(header(&response, header::CONTENT_TYPE), Some("text/javascript; charset=utf-8"));
            assert!(header(&response, header::CACHE_CONTROL).unwrap().contains("immutable"));
            let tag = header(&response, header::ETAG).unwrap().to_owned();
            let mut again = with(header::ACCEPT_ENCODING, accepted);
            again.insert(header::IF_NONE_MATCH, format!("\"x\", W/{tag}").parse().unwrap());
            assert_eq!(answer(&script, &again).status(), StatusCode::NOT_MODIFIED);
        }
        let plain = answer(&file("assets/licenses.txt"), &HeaderMap::new());
        assert_eq!(header(&plain, header::CACHE_CONTROL), Some("private, no-cache"));
    }

    #[test]
    fn embedded_files_are_those_of_the_build() {
        let dist = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/dist");
        assert_eq!(FILES.is_empty(), !dist.is_dir(), "build again");
        for file in FILES {
            assert_eq!(file.plain, std::fs::read(dist.join(file.path)).unwrap(), "{}", file.path);
            assert!(file.path == "index.html" || file.path.starts_with("assets/"), "{}", file.path);
        }
    }

    #[tokio::test]
    async fn there_is_nothing_else() {
        for name in ["", "../index.html", "main.js", "%2e%2e/index.html"] {
            assert_eq!(asset(Path(name.into()), HeaderMap::new()).await.status(), StatusCode::NOT_FOUND);
        }
    }
}
