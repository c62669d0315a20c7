//! Why a TLS handshake failed, for the log and the metrics.

use std::io;

use rustls::{CertificateError, Error, OtherError};

/// A kind of failed handshakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The client sent a request without TLS.
    PlainHttp,
    /// The client has no certificate, or one that does not count.
    ClientCertificate,
    /// The client does not accept the certificate of the server.
    RefusedByClient,
    /// The client did not finish in time.
    Slow,
    /// The client closed the connection.
    Closed,
    /// The client and the server have nothing in common, or the client breaks the rules.
    Protocol,
}

impl FailureKind {
    /// All, in the order of their numbers.
    pub const ALL: [FailureKind; 6] = [
        FailureKind::PlainHttp,
        FailureKind::ClientCertificate,
        FailureKind::RefusedByClient,
        FailureKind::Slow,
        FailureKind::Closed,
        FailureKind::Protocol,
    ];

    /// The name, for logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            FailureKind::PlainHttp => "plain_http",
            FailureKind::ClientCertificate => "client_certificate",
            FailureKind::RefusedByClient => "refused_by_client",
            FailureKind::Slow => "slow",
            FailureKind::Closed => "closed",
            FailureKind::Protocol => "protocol",
        }
    }
}

/// A handshake that failed.
#[derive(Debug)]
pub struct HandshakeFailure {
    /// Its kind.
    pub kind: FailureKind,
    /// The reason, for the log.
    pub reason: String,
}

impl HandshakeFailure {
    /// The failure with a reason.
    pub fn new(kind: FailureKind, reason: &str) -> Self {
        HandshakeFailure { kind, reason: reason.to_owned() }
    }

    /// The failure of which rustls or the system tells.
    pub fn of(error: &io::Error) -> Self {
        let source = error.get_ref().and_then(|source| source.downcast_ref::<Error>());
        let Some(source) = source else {
            return HandshakeFailure::new(FailureKind::Closed, &format!("the connection ended: {error}"));
        };
        let kind = match source {
            Error::InvalidCertificate(_) | Error::NoCertificatesPresented => FailureKind::ClientCertificate,
            Error::AlertReceived(_) => FailureKind::RefusedByClient,
            _ => FailureKind::Protocol,
        };
        let reason = match source {
            Error::NoCertificatesPresented => "the client has no certificate".to_owned(),
            Error::InvalidCertificate(CertificateError::Other(OtherError(error))) => error.to_string(),
            Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
                "the certificate of the client is not of one of the CAs for clients".to_owned()
            }
            Error::InvalidCertificate(error) => {
                format!("the certificate of the client cannot be accepted: {error}")
            }
            Error::AlertReceived(alert) => format!("the client refuses, with the alert {alert:?}"),
            other => other.to_string(),
        };
        HandshakeFailure { kind, reason }
    }
}
