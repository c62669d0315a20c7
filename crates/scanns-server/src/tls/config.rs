//! What rustls needs, from files: TLS 1.2 and 1.3, HTTP/2 and HTTP/1.1, and who may connect.
//!
//! Sessions are not resumed. A handshake costs about a millisecond, connections are kept, and so a client
//! whose certificate is no longer accepted cannot go on with an old session.

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{Error, RootCertStore, ServerConfig};
use webpki::{EndEntityCert, KeyUsage};

use super::files::{self, TlsFileError};
use super::proxy::ProxyVerifier;
use crate::options::TlsFiles;

/// What was read from the files.
pub(super) struct ReadTls {
    pub config: Arc<ServerConfig>,
    /// The DNS names that the certificate is valid for.
    pub names: Vec<String>,
    /// What an administrator should know: an expired certificate, or a key that others can read.
    pub warnings: Vec<String>,
}

/// Reads the files. With CAs of clients, only those with a certificate for one of `proxies` may connect.
///
/// # Errors
///
/// A file cannot be used.
pub(super) fn read(files: &TlsFiles, proxies: &[String]) -> Result<ReadTls, TlsFileError> {
    let provider = Arc::new(ring::default_provider());
    let chain = files::certificates(&files.certificate)?;
    let key = files::private_key(&files.key)?;
    let mut warnings: Vec<String> = files::is_open_to_others(&files.key).into_iter().collect();
    let names = chain.first().map(|own| examine(&files.certificate, own, &mut warnings)).transpose()?;
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| TlsFileError::new(&files.certificate, format!("cannot be used: {error}")))?;
    let builder = match &files.client_ca {
        None => builder.with_no_client_auth(),
        Some(path) => builder.with_client_cert_verifier(verifier(path, proxies, &provider)?),
    };
    let mut config = builder.with_single_cert(chain, key).map_err(|error| not_usable(files, &error))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(ReadTls { config: Arc::new(config), names: names.unwrap_or_default(), warnings })
}

/// The names of the server's own certificate. Warns if it is not valid now.
fn examine(
    path: &Path,
    own: &CertificateDer<'_>,
    warnings: &mut Vec<String>,
) -> Result<Vec<String>, TlsFileError> {
    let certificate = EndEntityCert::try_from(own).map_err(|error| {
        TlsFileError::new(path, format!("has a certificate that cannot be read: {error}"))
    })?;
    // Without roots, a valid certificate has an unknown issuer; times are looked at before.
    let schemes = ring::default_provider().signature_verification_algorithms.all;
    let usage = KeyUsage::server_auth();
    let valid = certificate.verify_for_usage(schemes, &[], &[], UnixTime::now(), usage, None, None);
    let path = path.display();
    match valid.err() {
        Some(webpki::Error::CertExpired { not_after, .. }) => warnings.push(format!(
            "the certificate {path} has expired{}, and clients will refuse it: renew it",
            date(not_after)
        )),
        Some(webpki::Error::CertNotValidYet { not_before, .. }) => warnings.push(format!(
            "the certificate {path} is valid only later{}, and clients will refuse it until then: is the \
             clock of this machine right?",
            date(not_before)
        )),
        _ => {}
    }
    Ok(certificate.valid_dns_names().map(str::to_lowercase).collect())
}

fn date(time: UnixTime) -> String {
    let time = i64::try_from(time.as_secs()).ok().and_then(|secs| jiff::Timestamp::from_second(secs).ok());
    time.map_or_else(String::new, |time| format!(" ({time})"))
}

/// What verifies that clients are trusted proxies.
fn verifier(
    path: &Path,
    proxies: &[String],
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<ProxyVerifier>, TlsFileError> {
    let mut roots = RootCertStore::empty();
    for (number, authority) in (1..).zip(files::certificates(path)?) {
        let added = roots.add(authority);
        added.map_err(|error| {
            TlsFileError::new(
                path,
                format!("has a certificate that cannot be used, number {number}: {error}"),
            )
        })?;
    }
    let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
    let built = builder.build();
    let of_authorities =
        built.map_err(|error| TlsFileError::new(path, format!("cannot be used: {error}")))?;
    let name = |name: &String| {
        ServerName::try_from(name.clone()).map_err(|_| {
            TlsFileError::new(Path::new(name), "is not a name of a proxy: write it as proxy.example.org")
        })
    };
    let names = proxies.iter().map(name).collect::<Result<_, _>>()?;
    Ok(Arc::new(ProxyVerifier { of_authorities, names }))
}

/// Why a certificate and a key are not usable together.
fn not_usable(files: &TlsFiles, error: &Error) -> TlsFileError {
    match error {
        Error::InconsistentKeys(_) => TlsFileError::new(
            &files.key,
            format!(
                "is not the key of the first certificate in {}: give the key that the certificate was made \
                 for, and put the certificate of the server before those of the CAs",
                files.certificate.display()
            ),
        ),
        Error::InvalidCertificate(_) => {
            TlsFileError::new(&files.certificate, format!("cannot be used: {error}"))
        }
        _ => TlsFileError::new(
            &files.key,
            "is a key of an unknown kind: ECDSA with P-256 or P-384, Ed25519, and RSA with 2048 to 8192 bits \
             can be used",
        ),
    }
}
