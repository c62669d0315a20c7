//! Reading certificates and keys in PEM.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The maximum size of a file of certificates, in bytes.
const LARGEST: u64 = 4 << 20;

/// Why a certificate or a key cannot be used, and what to do.
#[derive(Debug)]
pub struct TlsFileError(String);

impl TlsFileError {
    /// An error of the file at a path. What is wrong follows the path in the message.
    pub fn new(path: &Path, what: impl std::fmt::Display) -> Self {
        TlsFileError(format!("{} {what}", path.display()))
    }
}

impl std::fmt::Display for TlsFileError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for TlsFileError {}

fn read(path: &Path) -> Result<Vec<u8>, TlsFileError> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes));
    read.map_err(|error| TlsFileError(format!("cannot read {}: {error}", path.display())))?;
    if bytes.len() as u64 > LARGEST {
        return Err(TlsFileError::new(path, "has more than 4 MiB: is it a file of certificates?"));
    }
    Ok(bytes)
}

fn has(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// True for the beginning of a certificate or a key in DER, which is a sequence.
fn is_der(bytes: &[u8]) -> bool {
    bytes.first() == Some(&0x30)
}

fn not_pem(path: &Path, error: &PemError) -> TlsFileError {
    let what = match error {
        PemError::MissingSectionEnd { end_marker } => {
            let marker = String::from_utf8_lossy(end_marker);
            format!("is cut off: the line -----END {}----- is missing", marker.trim())
        }
        other => format!("is not valid PEM: {other}"),
    };
    TlsFileError::new(path, what)
}

/// The certificates in a file, at least one.
///
/// # Errors
///
/// The file cannot be read, is not PEM, or has no certificate.
pub(super) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsFileError> {
    let bytes = read(path)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    let found = found.map_err(|error| not_pem(path, &error))?;
    if !found.is_empty() {
        return Ok(found);
    }
    let what = if bytes.is_empty() {
        "is empty: it must have a certificate in PEM".to_owned()
    } else if is_der(&bytes) {
        let from = path.display();
        format!(
            "is in DER, and PEM is needed: convert it with openssl x509 -inform der -in {from} -out NEW.pem"
        )
    } else if has(&bytes, "PRIVATE KEY-----") {
        "has a private key and no certificate: were the two files swapped?".to_owned()
    } else {
        "has no certificate: it must have a line -----BEGIN CERTIFICATE-----".to_owned()
    };
    Err(TlsFileError::new(path, what))
}

/// The private key in a file.
///
/// # Errors
///
/// The file cannot be read, is not PEM, has no key, or an encrypted one.
pub(super) fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsFileError> {
    let bytes = read(path)?;
    if has(&bytes, "BEGIN ENCRYPTED PRIVATE KEY") || has(&bytes, "4,ENCRYPTED") {
        let from = path.display();
        return Err(TlsFileError::new(
            path,
            format!(
                "is encrypted, and a server cannot ask for the password: decrypt it with openssl pkey -in \
                 {from} -out NEW.key, which only the user of the server may read"
            ),
        ));
    }
    match PrivateKeyDer::from_pem_slice(&bytes) {
        Ok(key) => Ok(key),
        Err(PemError::NoItemsFound) => {
            let what = if bytes.is_empty() {
                "is empty: it must have a private key in PEM".to_owned()
            } else if is_der(&bytes) {
                let from = path.display();
                format!("is in DER, and PEM is needed: convert it with openssl pkey -in {from} -out NEW.key")
            } else if has(&bytes, "BEGIN CERTIFICATE") {
                "has a certificate and no private key: were the two files swapped?".to_owned()
            } else {
                "has no private key: it must have a line -----BEGIN PRIVATE KEY-----".to_owned()
            };
            Err(TlsFileError::new(path, what))
        }
        Err(error) => Err(not_pem(path, &error)),
    }
}

/// What is wrong with the mode of the file of a key, if others can read it.
pub(super) fn is_open_to_others(path: &Path) -> Option<String> {
    let mode = std::fs::metadata(path).ok()?.mode();
    (mode & 0o007 != 0).then(|| {
        let path = path.display();
        format!("all users can read or change the private key {path}: chmod o= {path}")
    })
}
