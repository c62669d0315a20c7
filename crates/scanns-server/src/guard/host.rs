//! The names by which a server may be called.
//!
//! A page of somebody else can make its own name point to this machine (DNS rebinding). A browser then takes
//! the server for a part of that page, and the page can read all answers. The name in the request is the
//! page's one, so every request must have a name of this server.

use std::net::{IpAddr, Ipv6Addr};

use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{StatusCode, header};

use crate::problem::Problem;

/// The allowed names.
#[derive(Clone, Debug)]
pub struct Hosts {
    /// Besides those of the loopback interface, in lower case.
    names: Vec<String>,
    any: bool,
    /// Allows all addresses. Nobody can make an address point elsewhere.
    any_address: bool,
}

impl Hosts {
    /// The names of the loopback interface, and others; `*` is any. `any_address` allows all addresses.
    pub fn new(names: &[String], any_address: bool) -> Self {
        let any = names.iter().any(|name| name == "*");
        Hosts { names: names.iter().map(|name| name.to_lowercase()).collect(), any, any_address }
    }

    /// Whether a host and perhaps a port are allowed.
    pub fn allows(&self, authority: &str) -> bool {
        let host = host_of(authority).trim_end_matches('.').to_lowercase();
        if self.any || self.names.contains(&host) {
            return !host.is_empty();
        }
        let literal = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let address = match literal {
            Some(literal) => literal.parse::<Ipv6Addr>().ok().map(IpAddr::from),
            None => host.parse::<IpAddr>().ok(),
        };
        match address {
            Some(address) => self.any_address || address.to_canonical().is_loopback(),
            None => host == "localhost" || host.ends_with(".localhost"),
        }
    }

    /// Whether a host, and perhaps a port, has a name that the server was given.
    pub fn has_name(&self, authority: &str) -> bool {
        self.names.contains(&host_of(authority).to_lowercase())
    }

    /// Refuses a request without an allowed name.
    pub fn check(&self, head: &Parts) -> Result<(), Box<Problem>> {
        let mut named = head.headers.get_all(header::HOST).iter();
        let first = named.next();
        if named.next().is_some() {
            return Err(bad("the request has several Host headers"));
        }
        let target = head.uri.authority().map(Authority::as_str);
        let header = first.map(|value| value.to_str().unwrap_or_default());
        if target.is_none() && header.is_none() {
            return Err(bad("the request has no Host header"));
        }
        // A proxy may look at one of the two, and this server at the other.
        match [target, header].into_iter().flatten().find(|name| !self.allows(name)) {
            None => Ok(()),
            Some(name) => {
                let name: String = name.chars().take(100).collect();
                let detail =
                    format!("'{name}' is not a name of this server: allow it with scanns serve --host");
                Err(Problem::new(StatusCode::FORBIDDEN, "/problems/host", "The host is not allowed", detail)
                    .into())
            }
        }
    }
}

fn bad(detail: &str) -> Box<Problem> {
    Problem::new(StatusCode::BAD_REQUEST, "/problems/request", "The request is not valid", detail).into()
}

/// The host without a port.
fn host_of(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
            // An address of IPv6 without brackets has no port.
            if host.contains(':') && !host.starts_with('[') { authority } else { host }
        }
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    #[test]
    fn names_of_the_loopback_interface_and_given_ones_are_allowed() {
        let hosts = Hosts::new(&["Search.Example.ORG".into()], false);
        for name in [
            "localhost",
            "LOCALHOST:8080",
            "localhost.",
            "a.localhost:1",
            "127.0.0.1",
            "127.9.9.9:80",
            "[::1]",
            "[::1]:8080",
            "[::ffff:127.0.0.1]:1",
            "search.example.org",
            "search.example.org:443",
        ] {
            assert!(hosts.allows(name), "{name}");
        }
        for name in [
            "",
            ":80",
            "example.org",
            "evil.search.example.org",
            "localhost.evil.org",
            "notlocalhost",
            "127.0.0.1.evil.org",
            "10.0.0.1",
            "0.0.0.0:80",
            "[::]:80",
            "[::1",
            "127.0.0.1@evil.org",
            "*",
            "localhost:80:80",
            "evil.org:localhost",
            "localhost,evil.org",
            "127.1",
            "2130706433",
            "0x7f.1",
        ] {
            assert!(!hosts.allows(name), "{name}");
        }
        assert!(Hosts::new(&["*".into()], false).allows("whatever:1"));
        let remote = Hosts::new(&[], true);
        assert!(remote.allows("10.0.0.1:80") && remote.allows("[fe80::1]:80") && !remote.allows("evil.org"));
    }

    #[test]
    fn every_name_of_a_request_counts() {
        let hosts = Hosts::new(&[], false);
        let status = |target: &str, names: &[&str]| {
            let request =
                names.iter().fold(Request::get(target), |request, name| request.header("host", *name));
            let (head, ()) = request.body(()).unwrap().into_parts();
            hosts.check(&head).map_or_else(|problem| problem.status.as_u16(), |()| 200)
        };
        assert_eq!(status("/", &["localhost:80"]), 200);
        assert_eq!(status("/", &["evil.org"]), 403);
        assert_eq!(status("/", &[]), 400);
        assert_eq!(status("/", &["localhost", "localhost"]), 400);
        assert_eq!(status("http://localhost/", &[]), 200);
        assert_eq!(status("http://evil.org/", &["localhost"]), 403);
        assert_eq!(status("http://localhost/", &["evil.org"]), 403);
    }
}
