//! The certificate that new connections use, which is read again when its files change.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use rustls::ServerConfig;
use tokio_rustls::TlsAcceptor;

use super::config::{self, ReadTls};
use super::files::TlsFileError;
use crate::options::TlsFiles;

/// What changes with a file: its device and number, its size, and when it was changed.
type FileStamp = Option<(u64, u64, u64, i64, i64)>;

/// The certificate of a server and those who may connect, as the files were when they could last be read.
pub struct CurrentTls {
    files: TlsFiles,
    proxies: Vec<String>,
    config: RwLock<Arc<ServerConfig>>,
    /// Of the files when they were last read, usable or not.
    stamps: Mutex<Vec<FileStamp>>,
}

impl CurrentTls {
    /// Reads the files. With CAs of clients, only those with a certificate for one of `proxies` may connect.
    /// Also the names of the certificate, and what an administrator should know.
    ///
    /// # Errors
    ///
    /// A file cannot be used.
    pub fn open(
        files: TlsFiles,
        proxies: Vec<String>,
    ) -> Result<(Self, Vec<String>, Vec<String>), TlsFileError> {
        let stamps = stamps(&files);
        let ReadTls { config, names, warnings } = config::read(&files, &proxies)?;
        let current = CurrentTls { files, proxies, config: RwLock::new(config), stamps: Mutex::new(stamps) };
        Ok((current, names, warnings))
    }

    /// What does the handshake of a new connection.
    pub fn acceptor(&self) -> TlsAcceptor {
        let config = self.config.read().unwrap_or_else(PoisonError::into_inner);
        TlsAcceptor::from(Arc::clone(&*config))
    }

    /// True if clients must be trusted proxies.
    pub fn is_for_proxies(&self) -> bool {
        self.files.client_ca.is_some()
    }

    /// How often the files are looked at.
    pub fn look_every(&self) -> std::time::Duration {
        self.files.look_every
    }

    /// Reads the files again if they have changed, or in any case. If one of them cannot be used, everything
    /// stays as it is until they change again. `None` if nothing was read, otherwise the warnings.
    ///
    /// # Errors
    ///
    /// A file cannot be used.
    pub fn look(&self, in_any_case: bool) -> Option<Result<Vec<String>, TlsFileError>> {
        let found = stamps(&self.files);
        let mut known = self.stamps.lock().unwrap_or_else(PoisonError::into_inner);
        if *known == found && !in_any_case {
            return None;
        }
        *known = found;
        Some(config::read(&self.files, &self.proxies).map(|ReadTls { config, warnings, .. }| {
            *self.config.write().unwrap_or_else(PoisonError::into_inner) = config;
            warnings
        }))
    }
}

fn stamps(files: &TlsFiles) -> Vec<FileStamp> {
    let stamp = |path: &Path| {
        let found = fs::metadata(path).ok()?;
        Some((found.dev(), found.ino(), found.size(), found.mtime(), found.mtime_nsec()))
    };
    let all = [Some(&files.certificate), Some(&files.key), files.client_ca.as_ref()];
    all.into_iter().flatten().map(|path| stamp(path)).collect()
}
