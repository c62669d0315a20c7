//! Deciding who asks.
//!
//! | connection | who asks |
//! |---|---|
//! | TCP | who has the token or the cookie, as somebody who sees everything |
//! | TCP with TLS, a trusted proxy | the user whom its header names, with the groups of the name service |
//! | Unix socket, a trusted proxy | the same |
//! | Unix socket, root or an owner of the indexes | somebody who sees everything |
//! | Unix socket of a shared server, others | the user and the groups that the kernel knows |
//! | everybody else | nobody |
//!
//! A header of somebody who is not a trusted proxy is not looked at.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, StatusCode, header};

use super::names::UserNames;
use super::peer::Peer;
use super::token::Token;
use crate::caller::Caller;
use crate::error::ServeError;
use crate::options::{Audience, ServeOptions, TrustedProxy};
use crate::problem::Problem;

/// Decides who asks.
pub struct Identity {
    audience: Audience,
    owners: Vec<u32>,
    proxy: Option<(Vec<u32>, HeaderName)>,
    /// The token of a TCP socket that is not for trusted proxies.
    token: Option<Token>,
    /// The name of users who have the token.
    token_name: Arc<str>,
    names: UserNames,
    /// The number that stands for users whom this machine cannot know.
    unknown: u32,
}

impl Identity {
    /// The rules of a server that listens on a TCP port, or on a Unix socket.
    ///
    /// # Errors
    ///
    /// Options that cannot be combined, or a token that could be guessed.
    pub fn new(options: &ServeOptions, port: Option<u16>) -> Result<Self, ServeError> {
        let token = match port {
            Some(port) if options.proxy.is_none() => {
                Some(Token::new(options.token.as_deref(), port, options.tls.is_some())?)
            }
            _ => None,
        };
        let header = |proxy: &TrustedProxy| {
            let header = proxy.header.parse::<HeaderName>().map_err(|_| {
                ServeError::Options(format!("'{}' is not the name of a header", proxy.header))
            })?;
            Ok((proxy.uids.clone(), header))
        };
        let unknown = std::fs::read_to_string("/proc/sys/kernel/overflowuid").ok();
        Ok(Identity {
            audience: options.audience,
            owners: options.owners.clone(),
            proxy: options.proxy.as_ref().map(header).transpose()?,
            token,
            token_name: "token".into(),
            names: UserNames::default(),
            unknown: unknown.and_then(|number| number.trim().parse().ok()).unwrap_or(65_534),
        })
    }

    /// The token, if requests need one.
    pub fn token(&self) -> Option<&Token> {
        self.token.as_ref()
    }

    /// True for a proxy that says who its users are.
    pub fn is_proxy(&self, peer: &Peer) -> bool {
        match (peer, &self.proxy) {
            (Peer::Proxy(_), Some(_)) => true,
            (Peer::Unix(user), Some((uids, _))) => uids.contains(&user.uid()),
            _ => false,
        }
    }

    /// Who asks.
    ///
    /// # Errors
    ///
    /// A problem with status 401 or 403 for nobody, and 503 if the name service does not answer.
    pub async fn decide(&self, peer: &Peer, headers: &HeaderMap) -> Result<Caller, Box<Problem>> {
        match (peer, &self.proxy) {
            (Peer::Tcp(_), _) => self.by_token(headers),
            (Peer::Proxy(_), Some((_, header))) => self.by_header(headers, header).await,
            (Peer::Proxy(_), None) => Err(unknown("this server has no trusted proxies")),
            (Peer::Unix(user), Some((uids, header))) if uids.contains(&user.uid()) => {
                self.by_header(headers, header).await
            }
            (Peer::Unix(user), _) => {
                let uid = user.uid();
                let sees_everything = uid == 0 || self.owners.contains(&uid);
                if !sees_everything && self.audience == Audience::Own {
                    return Err(unknown("this server is not for you: start one of your own"));
                }
                if !sees_everything && uid == self.unknown {
                    let detail = format!(
                        "the kernel shows you as user {uid}, which stands for users of other machines and \
                         containers, too: connect as a user of this machine"
                    );
                    return Err(unknown(&detail));
                }
                let name = self.names.name(uid).await;
                Ok(if sees_everything {
                    Caller::Everything { name }
                } else {
                    Caller::User { name, user: Arc::clone(user) }
                })
            }
        }
    }

    fn by_token(&self, headers: &HeaderMap) -> Result<Caller, Box<Problem>> {
        let Some(token) = &self.token else { return Err(unknown("this server has no token")) };
        let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let bearer = bearer.and_then(|value| {
            let (scheme, given) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| given.trim())
        });
        let mut cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        if bearer.is_some_and(|given| token.is(given)) || cookies.any(|cookies| token.is_in_cookies(cookies))
        {
            return Ok(Caller::Everything { name: Arc::clone(&self.token_name) });
        }
        let detail = "open the link that scanns serve has printed, or send its token in the header \
                      Authorization: Bearer TOKEN";
        Err(Problem::new(StatusCode::UNAUTHORIZED, "/problems/token", "The token is missing", detail).into())
    }

    async fn by_header(&self, headers: &HeaderMap, header: &HeaderName) -> Result<Caller, Box<Problem>> {
        let mut values = headers.get_all(header).iter();
        let (Some(value), None) = (values.next(), values.next()) else {
            let detail = format!("the proxy must set the header {header} once, to the name of its user");
            let status = StatusCode::UNAUTHORIZED;
            return Err(Problem::new(status, "/problems/identity", "The user is not known", detail).into());
        };
        let name = value.to_str().unwrap_or_default();
        let found = self.names.user(name).await.map_err(|error| {
            let detail = format!("the name service does not answer: {error}");
            let status = StatusCode::SERVICE_UNAVAILABLE;
            let problem = Problem::new(status, "/problems/identity", "Try again later", detail);
            Box::new(Problem { retry_after: Some(5), ..problem })
        })?;
        match found {
            // Nobody is root by a header.
            Some(user) if !user.is_root() && user.uid() != self.unknown => {
                let name = name.into();
                Ok(if self.owners.contains(&user.uid()) {
                    Caller::Everything { name }
                } else {
                    Caller::User { name, user }
                })
            }
            _ => Err(unknown("this machine does not know the user that the proxy names")),
        }
    }
}

fn unknown(detail: &str) -> Box<Problem> {
    Problem::new(StatusCode::FORBIDDEN, "/problems/identity", "The user is not known", detail).into()
}

#[cfg(test)]
mod tests {
    use scanns::access::AccessUser;

    use super::*;

    fn identity(change: impl FnOnce(&mut ServeOptions), port: Option<u16>) -> Identity {
        let mut options = ServeOptions { owners: vec![1000], ..ServeOptions::default() };
        change(&mut options);
        Identity::new(&options, port).unwrap()
    }

    fn user(uid: u32) -> Peer {
        Peer::Unix(Arc::new(AccessUser::new(uid, 7, &[8])))
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pair =
            |(name, value): &(&'static str, &str)| (HeaderName::from_static(name), value.parse().unwrap());
        pairs.iter().map(pair).collect()
    }

    /// `everything`, the number of a user, or the status.
    async fn seen(identity: &Identity, peer: &Peer, pairs: &[(&'static str, &str)]) -> String {
        match identity.decide(peer, &headers(pairs)).await {
            Ok(Caller::Everything { .. }) => "everything".into(),
            Ok(Caller::User { user, .. }) => user.uid().to_string(),
            Err(problem) => problem.status.as_u16().to_string(),
        }
    }

    #[tokio::test]
    async fn a_server_of_ones_own_is_for_its_user_and_root() {
        let identity = identity(|_| {}, None);
        for (uid, expected) in [(1000, "everything"), (0, "everything"), (1001, "403"), (65_534, "403")] {
            assert_eq!(seen(&identity, &user(uid), &[("x-user", "root")]).await, expected, "{uid}");
        }
        assert_eq!(seen(&identity, &Peer::Tcp([127, 0, 0, 1].into()), &[]).await, "403");
    }

    #[tokio::test]
    async fn a_shared_server_shows_each_user_what_the_user_may_see() {
        let identity = identity(|options| options.audience = Audience::Shared, None);
        for (uid, expected) in [(1000, "everything"), (0, "everything"), (1001, "1001"), (65_534, "403")] {
            assert_eq!(seen(&identity, &user(uid), &[("x-user", "root")]).await, expected, "{uid}");
        }
    }

    #[tokio::test]
    async fn only_trusted_proxies_say_who_somebody_is_and_nobody_becomes_root() {
        let proxy = TrustedProxy { uids: vec![33, 0], header: "X-User".into(), certificates: Vec::new() };
        let with = |audience| {
            let proxy = proxy.clone();
            identity(
                move |options| {
                    options.proxy = Some(proxy);
                    options.audience = audience;
                },
                None,
            )
        };
        let (own, shared) = (with(Audience::Own), with(Audience::Shared));
        let daemon = named_number("daemon");
        for proxy in [33, 0] {
            for identity in [&own, &shared] {
                for (pairs, expected) in [
                    (&[("x-user", "daemon")][..], daemon.as_str()),
                    (&[("x-user", "root")], "403"),
                    (&[("x-user", "0")], "403"),
                    (&[("x-user", "nobody")], "403"),
                    (&[("x-user", "no-such-user-here")], "403"),
                    (&[("x-user", "")], "403"),
                    (&[("x-user", "daemon, root")], "403"),
                    (&[("x-user", "daemon"), ("x-user", "bin")], "401"),
                    (&[("remote-user", "daemon")], "401"),
                    (&[], "401"),
                ] {
                    assert_eq!(seen(identity, &user(proxy), pairs).await, expected, "{pairs:?}");
                }
            }
        }
        let spoofed = &[("x-user", "daemon")];
        assert_eq!(seen(&own, &user(1001), spoofed).await, "403");
        assert_eq!(seen(&shared, &user(1001), spoofed).await, "1001");
        assert!(shared.is_proxy(&user(33)) && !shared.is_proxy(&user(1001)));
        assert!(!shared.is_proxy(&Peer::Tcp([127, 0, 0, 1].into())));
    }

    fn named_number(name: &str) -> String {
        scanns::access::named_user(name).unwrap().unwrap().uid().to_string()
    }

    #[tokio::test]
    async fn a_proxy_with_a_certificate_says_who_somebody_is_and_other_peers_of_tcp_do_not() {
        let address = [127, 0, 0, 1].into();
        let proxy = TrustedProxy { uids: vec![], header: "X-User".into(), certificates: vec!["a".into()] };
        let trusting = identity(|options| options.proxy = Some(proxy), Some(80));
        let daemon = named_number("daemon");
        for (peer, name, expected) in [
            (Peer::Proxy(address), "daemon", daemon.as_str()),
            (Peer::Proxy(address), "root", "403"),
            (Peer::Tcp(address), "daemon", "403"),
            (user(1000), "daemon", "everything"),
            (user(1001), "daemon", "403"),
        ] {
            assert_eq!(seen(&trusting, &peer, &[("x-user", name)]).await, expected, "{peer:?}");
        }
        assert!(trusting.token().is_none() && trusting.is_proxy(&Peer::Proxy(address)));
        let without = identity(|_| {}, Some(80));
        assert_eq!(seen(&without, &Peer::Proxy(address), &[("x-user", "daemon")]).await, "403");
    }

    #[tokio::test]
    async fn a_tcp_socket_needs_the_token_or_the_cookie() {
        let identity = identity(|_| {}, Some(80));
        let peer = Peer::Tcp([127, 0, 0, 1].into());
        let token = identity.token().unwrap();
        let cookie = token.set_cookie("");
        let cookie = cookie.split(';').next().unwrap();
        let bearer = format!("Bearer {}", token.as_text());
        for (pairs, expected) in [
            (&[("authorization", bearer.as_str())][..], "everything"),
            (&[("authorization", &bearer.replace("Bearer", "bearer "))], "everything"),
            (&[("cookie", cookie)], "everything"),
            (&[("cookie", "a=b"), ("cookie", cookie)], "everything"),
            (&[("authorization", token.as_text())], "401"),
            (&[("authorization", "Bearer ")], "401"),
            (&[("authorization", &bearer.replace("Bearer", "Basic"))], "401"),
            (&[("cookie", "scanns-80=")], "401"),
            (&[], "401"),
        ] {
            assert_eq!(seen(&identity, &peer, pairs).await, expected, "{pairs:?}");
        }
    }
}
