//! Certificates and keys for tests, made by the command openssl, and a client that shows them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::bench::{Answer, skipped};

/// What the certificate of a server has.
pub const SERVER: &str = "subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\n";

/// Runs openssl in a directory.
pub fn openssl(place: &Path, arguments: &[&str]) {
    let out = Command::new("openssl").args(arguments).current_dir(place).output().unwrap();
    assert!(out.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
}

/// True if certificates cannot be made here.
pub fn cannot_make(test: &str) -> bool {
    let cannot = Command::new("openssl").arg("version").output().is_err();
    if cannot {
        skipped(test, "needs openssl");
    }
    cannot
}

/// A CA and what it has issued, in files of a directory.
pub struct Authority {
    place: tempfile::TempDir,
}

impl Authority {
    pub fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        new_key(place.path(), "ca.key");
        let request =
            ["req", "-x509", "-new", "-key", "ca.key", "-out", "ca.pem", "-subj", "/CN=CA of a test"];
        openssl(place.path(), &request);
        Authority { place }
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// The certificate of the CA.
    pub fn root(&self) -> PathBuf {
        self.at("ca.pem")
    }

    /// Issues a certificate with extensions, which is valid from one day to another; its file and the key's.
    pub fn issue(&self, name: &str, extensions: &str, days: (&str, &str)) -> (PathBuf, PathBuf) {
        let place = self.place.path();
        let (key, request, made) = (format!("{name}.key"), format!("{name}.csr"), format!("{name}.pem"));
        new_key(place, &key);
        openssl(place, &["req", "-new", "-key", &key, "-out", &request, "-subj", &format!("/CN={name}")]);
        let settings = format!(
            "[ca]\ndefault_ca=own\n[own]\ndatabase=issued\nnew_certs_dir=.\nserial=serial\nrand_serial=yes\n\
             default_md=sha256\npolicy=any\nunique_subject=no\nx509_extensions=extensions\n[any]\n\
             commonName=supplied\n[extensions]\nbasicConstraints=CA:FALSE\n{extensions}"
        );
        std::fs::write(self.at("settings"), settings).unwrap();
        std::fs::OpenOptions::new().create(true).append(true).open(self.at("issued")).unwrap();
        let (from, to) = (format!("{}000000Z", days.0), format!("{}000000Z", days.1));
        openssl(
            place,
            &[
                "ca",
                "-batch",
                "-notext",
                "-config",
                "settings",
                "-cert",
                "ca.pem",
                "-keyfile",
                "ca.key",
                "-in",
                &request,
                "-out",
                &made,
                "-startdate",
                &from,
                "-enddate",
                &to,
            ],
        );
        (self.at(&made), self.at(&key))
    }

    /// Issues a certificate for a server.
    pub fn server(&self) -> (PathBuf, PathBuf) {
        self.issue("server", SERVER, VALID)
    }

    /// Issues a certificate for a client with a DNS name.
    pub fn client(&self, name: &str) -> (PathBuf, PathBuf) {
        self.issue(name, &format!("subjectAltName=DNS:{name}\nextendedKeyUsage=clientAuth\n"), VALID)
    }
}

/// Days between which the certificates of these tests are valid.
pub const VALID: (&str, &str) = ("20200101", "20991231");

fn new_key(place: &Path, name: &str) {
    openssl(place, &["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", name]);
}

/// A client that knows a CA, and perhaps has a certificate.
pub fn client(root: &Path, own: Option<&(PathBuf, PathBuf)>) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(root).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let builder = builder.with_root_certificates(roots);
    Arc::new(match own {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain = CertificateDer::pem_file_iter(certificate).unwrap().map(Result::unwrap).collect();
            builder.with_client_auth_cert(chain, PrivateKeyDer::from_pem_file(key).unwrap()).unwrap()
        }
    })
}

/// A connection with TLS to localhost at a port, before the handshake.
pub fn connect(config: &Arc<ClientConfig>, address: &str) -> StreamOwned<ClientConnection, TcpStream> {
    let socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let connection = ClientConnection::new(Arc::clone(config), "localhost".try_into().unwrap()).unwrap();
    StreamOwned::new(connection, socket)
}

/// Sends a request over TLS and reads its answer; the error if there is no connection.
pub fn ask(
    config: &Arc<ClientConfig>,
    address: &str,
    path: &str,
    headers: &str,
) -> Result<Answer, std::io::Error> {
    let mut stream = connect(config, address);
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(Answer::of(&String::from_utf8_lossy(&answer)))
}
