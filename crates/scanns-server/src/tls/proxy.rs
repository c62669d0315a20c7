//! Deciding by its certificate whether a client is a trusted proxy.

use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, OtherError, SignatureScheme,
};
use webpki::EndEntityCert;

/// Names of a certificate that a message shows.
const SHOWN: usize = 3;

/// Accepts clients with a certificate of the given CAs that is valid for one of the names.
#[derive(Debug)]
pub(super) struct ProxyVerifier {
    /// Verifies that a certificate is of the CAs, is for clients, and has not expired.
    pub of_authorities: Arc<dyn ClientCertVerifier>,
    pub names: Vec<ServerName<'static>>,
}

/// The certificate of a client is valid, but it is not a trusted proxy's.
#[derive(Debug)]
struct NotTheProxy(String);

impl std::fmt::Display for NotTheProxy {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for NotTheProxy {}

impl ClientCertVerifier for ProxyVerifier {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.of_authorities.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let verified = self.of_authorities.verify_client_cert(end_entity, intermediates, now)?;
        let wrong = |what: String| {
            Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(NotTheProxy(what)))))
        };
        let certificate = EndEntityCert::try_from(end_entity).map_err(|error| wrong(error.to_string()))?;
        if self.names.iter().any(|name| certificate.verify_is_valid_for_subject_name(name).is_ok()) {
            return Ok(verified);
        }
        let mut names: Vec<&str> = certificate.valid_dns_names().take(SHOWN + 1).collect();
        if names.len() > SHOWN {
            names.truncate(SHOWN);
            names.push("…");
        }
        Err(wrong(if names.is_empty() {
            "the certificate has no DNS name as its alternative name, so that it is not a trusted proxy's"
                .to_owned()
        } else {
            format!("the certificate is of {}, which is not a trusted proxy", names.join(", "))
        }))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.of_authorities.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.of_authorities.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.of_authorities.supported_verify_schemes()
    }
}
