//! Requests that a page of somebody else makes a browser send.
//!
//! Browsers say in `Sec-Fetch-Site` where a request comes from. Pages of others may link to this server, and
//! nothing else: they may not send forms, load pictures or scripts from it, or show it in a frame. Browsers
//! that do not say so send `Origin` with requests that could change something. Programs send neither.

use axum::http::request::Parts;
use axum::http::uri::{Authority, Uri};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};

use super::host::Hosts;
use crate::problem::Problem;

const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const DESTINATION: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// Refuses a request that comes from a page of somebody else.
pub fn check(head: &Parts, hosts: &Hosts) -> Result<(), Box<Problem>> {
    let is_ours = match text(&head.headers, &SITE) {
        Some("same-origin" | "none") => true,
        Some(_) => head.method.is_safe() && is_navigation(&head.headers),
        None if head.method.is_safe() => true,
        None => match text(&head.headers, &header::ORIGIN) {
            None => true,
            Some(origin) => is_origin_ours(origin, head, hosts),
        },
    };
    if is_ours {
        return Ok(());
    }
    let detail = "a page of another server sent this request: open the page of this server instead";
    Err(Problem::new(StatusCode::FORBIDDEN, "/problems/origin", "The origin is not allowed", detail).into())
}

/// True for a link that somebody follows from a page of somebody else.
pub fn is_foreign_link(headers: &HeaderMap) -> bool {
    matches!(text(headers, &SITE), Some("cross-site" | "same-site")) && is_navigation(headers)
}

/// True if a whole page is asked for.
fn is_navigation(headers: &HeaderMap) -> bool {
    text(headers, &MODE) == Some("navigate") && text(headers, &DESTINATION) == Some("document")
}

/// True if an origin is the server itself, or has a name that the server was given.
fn is_origin_ours(origin: &str, head: &Parts, hosts: &Hosts) -> bool {
    let Ok(origin) = origin.parse::<Uri>() else { return false };
    let Some(of_origin) = origin.authority().map(Authority::as_str) else { return false };
    let asked = head.uri.authority().map(Authority::as_str);
    let asked = asked.or_else(|| text(&head.headers, &header::HOST)).unwrap_or_default();
    // Behind a proxy, the request may have another name than the page. Any port of the loopback interface
    // could be somebody else's server.
    of_origin.eq_ignore_ascii_case(asked) || hosts.has_name(of_origin)
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).map(|value| value.to_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn is_allowed(method: &str, pairs: &[(&str, &str)]) -> bool {
        let request = Request::builder().method(method).uri("/").header("host", "localhost:80");
        let request = pairs.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let (head, ()) = request.body(()).unwrap().into_parts();
        check(&head, &Hosts::new(&["search.example.org".into()], false)).is_ok()
    }

    #[test]
    fn pages_of_others_may_only_link_here() {
        let link = [
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "document"),
        ];
        assert!(is_allowed("GET", &link) && !is_allowed("POST", &link));
        for (mode, destination) in
            [("no-cors", "image"), ("cors", "empty"), ("navigate", "iframe"), ("no-cors", "script")]
        {
            for site in ["cross-site", "same-site", "unknown", ""] {
                let pairs =
                    [("sec-fetch-site", site), ("sec-fetch-mode", mode), ("sec-fetch-dest", destination)];
                assert!(!is_allowed("GET", &pairs), "{pairs:?}");
            }
            let own = [("sec-fetch-site", "same-origin"), ("sec-fetch-mode", mode)];
            assert!(is_allowed("GET", &own) && is_allowed("POST", &own));
        }
    }

    #[test]
    fn without_fetch_metadata_the_origin_decides() {
        assert!(is_allowed("POST", &[]), "programs send no origin");
        for origin in ["http://localhost:80", "https://search.example.org", "https://search.example.org:8443"]
        {
            assert!(is_allowed("POST", &[("origin", origin)]), "{origin}");
        }
        for origin in
            ["null", "", "http://localhost:81", "http://127.0.0.1:9", "https://evil.org", "localhost:80x"]
        {
            assert!(!is_allowed("POST", &[("origin", origin)]), "{origin}");
            assert!(is_allowed("GET", &[("origin", origin)]), "{origin}");
        }
    }
}
