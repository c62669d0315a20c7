//! Why a server does not start.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::listen::SocketPlaceError;
use crate::tls::TlsFileError;

/// Why a server does not start, and what to do.
#[derive(Debug)]
pub enum ServeError {
    /// A socket cannot be opened.
    Listen {
        /// What would be opened.
        address: SocketAddr,
        /// The error of the system.
        source: io::Error,
    },
    /// The address can be reached by other machines.
    Remote {
        /// The address.
        address: SocketAddr,
    },
    /// There is no place for a Unix socket, or it is not a safe one.
    Place(SocketPlaceError),
    /// A given token is too short.
    Token {
        /// The least number of characters.
        least: usize,
    },
    /// The system gives no random numbers.
    Random {
        /// The error of the system.
        source: io::Error,
    },
    /// A certificate or a key cannot be used.
    Tls(TlsFileError),
    /// Options that cannot be combined, or a value that is not valid.
    Options(String),
    /// The log cannot be written.
    Log {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The system refuses something else.
    System {
        /// What it refuses.
        what: &'static str,
        /// The error of the system.
        source: io::Error,
    },
}

impl std::fmt::Display for ServeError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ServeError::Listen { address, source } => {
                write!(out, "cannot listen on {address}: {source}")?;
                match source.kind() {
                    io::ErrorKind::AddrInUse => write!(
                        out,
                        " (another program uses this port: choose another one, or port 0 for any free port)"
                    ),
                    io::ErrorKind::PermissionDenied => {
                        write!(out, " (ports below 1024 are for root: choose a larger one)")
                    }
                    io::ErrorKind::AddrNotAvailable => {
                        write!(out, " (no interface of this machine has this address)")
                    }
                    _ => Ok(()),
                }
            }
            ServeError::Remote { address } => write!(
                out,
                "other machines can reach {address}, and everything, the token too, would be sent as plain \
                 text: give a certificate with --tls-certificate and --tls-key, listen on 127.0.0.1, use a \
                 Unix socket behind a reverse proxy with TLS, or allow it"
            ),
            ServeError::Place(error) => error.fmt(out),
            ServeError::Token { least } => {
                write!(out, "a token has at least {least} letters, digits, hyphens or dots, and nothing else")
            }
            ServeError::Random { source } => write!(out, "cannot make a random token: {source}"),
            ServeError::Tls(error) => error.fmt(out),
            ServeError::Options(what) => out.write_str(what),
            ServeError::Log { path, source } => {
                write!(out, "cannot write the log {}: {source}", path.display())
            }
            ServeError::System { what, source } => write!(out, "cannot {what}: {source}"),
        }
    }
}

impl std::error::Error for ServeError {}
