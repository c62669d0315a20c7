//! Refusing options that would not be safe together.

use crate::error::ServeError;
use crate::options::{Audience, ListenOn, ServeOptions, TlsFiles, TrustedProxy};

/// Refuses options that would not be safe together.
///
/// # Errors
///
/// What is wrong, and what to give instead.
pub fn check(options: &ServeOptions) -> Result<(), ServeError> {
    if let ListenOn::Tcp(address) = options.listen {
        if options.is_remote() && !options.allow_remote && options.tls.is_none() {
            return Err(ServeError::Remote { address });
        }
        return check_tcp(options).map_err(|what| ServeError::Options(what.into()));
    }
    check_unix(options).map_err(|what| ServeError::Options(what.into()))
}

fn check_tcp(options: &ServeOptions) -> Result<(), &'static str> {
    if options.audience == Audience::Shared {
        return Err("a TCP socket cannot be shared, since the kernel does not say who connects: use a \
             Unix socket");
    }
    let has_ca = matches!(&options.tls, Some(TlsFiles { client_ca: Some(_), .. }));
    match &options.proxy {
        Some(TrustedProxy { uids, .. }) if !uids.is_empty() => Err(
            "a TCP socket cannot trust a proxy by its user, since every program of the machine could say \
             that it is one: use a Unix socket, where the kernel says who connects, or let the proxy show a \
             certificate (--tls-certificate, --tls-key, --tls-client-ca, --trust-proxy-certificate)",
        ),
        Some(_) if !has_ca => Err(
            "a proxy is trusted on a TCP socket only if it shows a certificate: give --tls-certificate and \
             --tls-key, and with --tls-client-ca the CA that the proxy has its certificate from",
        ),
        Some(TrustedProxy { certificates, .. }) if certificates.is_empty() => {
            Err("without a name of a proxy, every client of the CA could say who somebody is: give \
             --trust-proxy-certificate")
        }
        Some(_) if options.token.is_some() => {
            Err("a server for trusted proxies has no token: leave --token-file out")
        }
        None if has_ca => Err(
            "certificates of clients are for trusted proxies, and there are none: give --user-header and \
             --trust-proxy-certificate, or leave --tls-client-ca out",
        ),
        _ => Ok(()),
    }
}

fn check_unix(options: &ServeOptions) -> Result<(), &'static str> {
    if options.token.is_some() {
        return Err("a Unix socket needs no token, since the kernel says who connects");
    }
    if options.tls.is_some() {
        return Err(
            "a Unix socket has no TLS, since nobody can listen on it: give --listen for a TCP socket",
        );
    }
    match &options.proxy {
        Some(TrustedProxy { certificates, .. }) if !certificates.is_empty() => Err(
            "a Unix socket has no certificates: name the user as which the proxy runs with --trust-proxy, or \
             give --listen for a TCP socket",
        ),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl FnOnce(&mut ServeOptions)) -> String {
        let mut options = ServeOptions::default();
        change(&mut options);
        check(&options).unwrap_err().to_string()
    }

    fn files(client_ca: Option<&str>) -> Option<TlsFiles> {
        Some(TlsFiles::new("a.pem".into(), "a.key".into(), client_ca.map(Into::into)))
    }

    fn proxy(uids: &[u32], names: &[&str]) -> Option<TrustedProxy> {
        let certificates = names.iter().map(|name| (*name).to_owned()).collect();
        Some(TrustedProxy { uids: uids.to_vec(), header: "X-User".into(), certificates })
    }

    #[test]
    fn options_that_are_not_safe_are_refused_with_a_reason() {
        check(&ServeOptions::default()).unwrap();
        let all = || ListenOn::Tcp(([0, 0, 0, 0], 80).into());
        let remote = refused(|options| options.listen = all());
        assert!(remote.contains("other machines can reach 0.0.0.0:80"), "{remote}");
        check(&ServeOptions { listen: all(), tls: files(None), ..ServeOptions::default() }).unwrap();
        let shared = refused(|options| options.audience = Audience::Shared);
        assert!(shared.contains("the kernel does not say"), "{shared}");
        let token = refused(|options| {
            options.listen = ListenOn::Unix("/tmp/x".into());
            options.token = Some("a".repeat(40));
        });
        assert!(token.contains("needs no token"), "{token}");
        let tls = refused(|options| {
            options.listen = ListenOn::Unix("/tmp/x".into());
            options.tls = files(None);
        });
        assert!(tls.contains("has no TLS"), "{tls}");
    }

    #[test]
    fn proxies_are_trusted_on_a_tcp_socket_by_a_certificate_and_a_name_only() {
        let with = |tls, proxy| refused(|options| (options.tls, options.proxy) = (tls, proxy));
        let uid = with(files(Some("ca.pem")), proxy(&[33], &[]));
        assert!(uid.contains("every program of the machine"), "{uid}");
        for tls in [None, files(None)] {
            let no_ca = with(tls, proxy(&[], &["proxy.example.org"]));
            assert!(no_ca.contains("--tls-client-ca"), "{no_ca}");
        }
        let no_name = with(files(Some("ca.pem")), proxy(&[], &[]));
        assert!(no_name.contains("--trust-proxy-certificate"), "{no_name}");
        let no_proxy = with(files(Some("ca.pem")), None);
        assert!(no_proxy.contains("--user-header"), "{no_proxy}");
        let (tls, proxy_of_name) = (files(Some("ca.pem")), proxy(&[], &["proxy.example.org"]));
        let sound = ServeOptions { tls, proxy: proxy_of_name, ..ServeOptions::default() };
        check(&sound).unwrap();
        let with_token = ServeOptions { token: Some("a".repeat(40)), ..sound.clone() };
        assert!(check(&with_token).unwrap_err().to_string().contains("no token"));
        let unix = ServeOptions { listen: ListenOn::Unix("/tmp/x".into()), tls: None, ..sound };
        assert!(check(&unix).unwrap_err().to_string().contains("--trust-proxy"));
    }
}
