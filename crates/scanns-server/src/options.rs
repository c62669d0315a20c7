//! What a server is asked to do: where it listens, for whom, and its limits.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Everything that a server is asked to do.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Where it listens.
    pub listen: ListenOn,
    /// Who may connect to a Unix socket, and as whom.
    pub audience: Audience,
    /// The users besides root who see everything: the user of the server and the owner of the indexes.
    pub owners: Vec<u32>,
    /// TLS of a TCP socket.
    pub tls: Option<TlsFiles>,
    /// Reverse proxies that say who their user is.
    pub proxy: Option<TrustedProxy>,
    /// The token of a TCP socket, instead of a random one.
    pub token: Option<String>,
    /// Host names that requests may have besides those of the loopback interface; `*` is any.
    pub hosts: Vec<String>,
    /// The path below which a proxy shows the server, such as `/search`; empty if there is none, or if the
    /// proxy removes it.
    pub base_path: String,
    /// Allows a TCP socket without TLS that other machines can reach.
    pub allow_remote: bool,
    /// Limits of connections and requests.
    pub limits: ConnectionLimits,
    /// Where the access log goes.
    pub log: LogTarget,
    /// How long running requests may take after the server was asked to stop.
    pub grace: Duration,
    /// Threads that read and write connections; none of them runs queries.
    pub threads: usize,
}

impl Default for ServeOptions {
    fn default() -> Self {
        ServeOptions {
            listen: ListenOn::Tcp(SocketAddr::from(([127, 0, 0, 1], 0))),
            audience: Audience::Own,
            owners: vec![rustix::process::geteuid().as_raw()],
            tls: None,
            proxy: None,
            token: None,
            hosts: Vec::new(),
            base_path: String::new(),
            allow_remote: false,
            limits: ConnectionLimits::default(),
            log: LogTarget::StandardError,
            grace: Duration::from_secs(10),
            threads: 2,
        }
    }
}

impl ServeOptions {
    /// True if other machines can reach the TCP socket.
    pub(crate) fn is_remote(&self) -> bool {
        matches!(self.listen, ListenOn::Tcp(address) if !address.ip().to_canonical().is_loopback())
    }
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenOn {
    /// A Unix socket of this path.
    Unix(PathBuf),
    /// A TCP socket; port 0 is any free port.
    Tcp(SocketAddr),
    /// The Unix socket that the service manager has opened (`LISTEN_FDS`).
    Inherited,
}

/// Who may connect to a Unix socket, and as whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// The user of the server and root, who see everything.
    Own,
    /// All users of the machine; each sees what he could see in the file system.
    Shared,
}

/// TLS of a TCP socket. All files are in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate of the server, and behind it those of the CAs between it and one that clients know.
    pub certificate: PathBuf,
    /// The private key of the certificate, which is not encrypted.
    pub key: PathBuf,
    /// The certificates of the CAs that trusted proxies have theirs from.
    pub client_ca: Option<PathBuf>,
    /// How often it is looked whether the files have changed.
    pub look_every: Duration,
}

impl TlsFiles {
    /// The files, which are looked at every ten seconds.
    pub fn new(certificate: PathBuf, key: PathBuf, client_ca: Option<PathBuf>) -> Self {
        TlsFiles { certificate, key, client_ca, look_every: Duration::from_secs(10) }
    }
}

/// Reverse proxies that say in a header who their user is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedProxy {
    /// The users as which the proxies run, on a Unix socket. All others cannot say who somebody is.
    pub uids: Vec<u32>,
    /// The names of the proxies, on a TCP socket. Each must have a certificate of one of
    /// [`TlsFiles::client_ca`] for one of them; all other clients are refused.
    pub certificates: Vec<String>,
    /// The header with the name of the user.
    pub header: String,
}

/// Where the access log goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogTarget {
    /// There is none.
    Off,
    /// Standard error.
    StandardError,
    /// The end of this file, which is opened again if it was moved away.
    File(PathBuf),
}

/// Limits of connections and requests.
#[derive(Clone, Debug)]
pub struct ConnectionLimits {
    /// Connections at the same time.
    pub connections: usize,
    /// Connections of one peer at the same time: of an IP address, or of a user of a Unix socket.
    pub per_peer: usize,
    /// Time for the first byte of a connection.
    pub first_byte: Duration,
    /// Time for the head of a request, from its first byte.
    pub head: Duration,
    /// Time that a connection may wait for its next request.
    pub idle: Duration,
    /// Time for the body of a request.
    pub body_time: Duration,
    /// Time in which a client must take at least 16 KiB of an answer, or its rest.
    pub send: Duration,
    /// Bytes of the head of a request, at least 8 KiB.
    pub head_bytes: usize,
    /// Headers of a request.
    pub headers: usize,
    /// Bytes of the body of a request.
    pub body_bytes: usize,
    /// Bytes of all bodies of requests in memory at the same time.
    pub all_body_bytes: usize,
    /// Bytes of all answers in memory at the same time, other than those that are made while they are sent.
    pub all_answer_bytes: usize,
    /// Users who may not see everything get their answers after whole multiples of this time, so that times
    /// tell little about what they may not see; zero for at once.
    pub answer_step: Duration,
    /// Requests of an HTTP/2 connection at the same time.
    pub streams: u32,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        ConnectionLimits {
            connections: 1024,
            per_peer: 256,
            first_byte: Duration::from_secs(5),
            head: Duration::from_secs(10),
            idle: Duration::from_secs(60),
            body_time: Duration::from_secs(30),
            send: Duration::from_secs(30),
            head_bytes: 32 << 10,
            headers: 100,
            body_bytes: 16 << 20,
            all_body_bytes: 64 << 20,
            all_answer_bytes: 256 << 20,
            answer_step: Duration::from_millis(1),
            streams: 32,
        }
    }
}
