//! How a browser gets the cookie for a token, and what it sees without.
//!
//! The link that the server prints has the token as a parameter. The answer to it sets the cookie and leads
//! to the same page without the token, so that neither the history of the browser nor a bookmark has it, and
//! no script is needed. A form can also send the token, as the page without a token does.

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};

use super::origin;
use crate::identity::Token;

/// The answer to a link with a token; none if it has no token.
pub fn by_link(token: &Token, head: &Parts, base_path: &str) -> Option<Response<Body>> {
    if head.method != Method::GET || head.uri.path() != "/" {
        return None;
    }
    let (given, rest) = taken(head.uri.query()?)?;
    if !token.is(given) {
        return Some(page(head, "This token is not, or is no longer, the one of this server."));
    }
    let question = if rest.is_empty() { "" } else { "?" };
    Some(with_cookie(token, base_path, &format!("./{question}{rest}")))
}

/// The answer to the form.
pub fn by_form(token: &Token, head: &Parts, body: &[u8], base_path: &str) -> Response<Body> {
    let text = std::str::from_utf8(body).unwrap_or_default().trim();
    match taken(text) {
        Some((given, _)) if token.is(given.trim()) => with_cookie(token, base_path, "./"),
        _ => page(head, "This token is not, or is no longer, the one of this server."),
    }
}

/// The token in a query, and the rest of the query.
fn taken(query: &str) -> Option<(&str, String)> {
    let given = query.split('&').find_map(|pair| pair.strip_prefix("token="))?;
    let rest: Vec<&str> = query.split('&').filter(|pair| !pair.starts_with("token=")).collect();
    Some((given, rest.join("&")))
}

fn with_cookie(token: &Token, base_path: &str, to: &str) -> Response<Body> {
    let path = if base_path.is_empty() { String::new() } else { format!("{base_path}/") };
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let values = [(header::LOCATION, to), (header::SET_COOKIE, &token.set_cookie(&path))];
    for (name, value) in values {
        // The query was a part of a valid request, and the rest is ours.
        if let Ok(value) = HeaderValue::try_from(value) {
            response.headers_mut().insert(name, value);
        }
    }
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// True if a person asks with a browser.
pub fn is_for_people(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accepted.is_some_and(|accepted| accepted.contains("text/html"))
}

/// The page without a token, which asks for it.
///
/// A browser leaves the cookie out if somebody follows a link from a page of others (`SameSite=Strict`). So
/// such a request is sent again, from this page.
pub fn page(head: &Parts, note: &str) -> Response<Body> {
    let again = if origin::is_foreign_link(&head.headers) {
        "<meta http-equiv=\"refresh\" content=\"0\">"
    } else {
        ""
    };
    let up = "../".repeat(head.uri.path().matches('/').count().saturating_sub(1));
    let text = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{again}\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>scanns</title>\n</head>\n\
         <body>\n<h1>scanns</h1>\n<p>{note} Open the link that <code>scanns serve</code> has printed, or \
         give its token.</p>\n<form method=\"post\" action=\"{up}login\">\n\
         <label>Token <input type=\"password\" name=\"token\" autocomplete=\"off\" required></label>\n\
         <button>Open</button>\n</form>\n</body>\n</html>\n"
    );
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = StatusCode::UNAUTHORIZED;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_taken_out_of_a_query() {
        assert_eq!(taken("token=a"), Some(("a", String::new())));
        assert_eq!(taken("q=x&token=a&sort=size"), Some(("a", "q=x&sort=size".into())));
        assert_eq!(taken("q=token=a"), None);
    }
}
