//! Arguments of `scanns serve`.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::values::{positive, timeout};
use crate::units;

/// Examples for the help.
pub const SERVE_EXAMPLES: &str = "\
Examples:
  scanns serve --listen 127.0.0.1:0 fs.scanns
      prints a link that a browser on this machine opens; only who has the link sees anything
  scanns serve fs.scanns
      listens on a Unix socket that only you can reach, and prints its place. From your own machine:
      ssh -L 8080:/run/user/1000/scanns/fs.sock login.example.org, then http://localhost:8080/
  scanns serve docs.scanns mail.scanns
      serves two indexes; the address of each has its name
  scanns serve --shared --socket /run/scanns/search.sock /srv/fs.scanns
      serves all users of a machine from an index of scanns index --access: each sees what he could see in
      the file system, as the kernel says who connects
  scanns serve --trust-proxy www-data --user-header X-Remote-User --socket /run/scanns/web.sock fs.scanns
      serves a reverse proxy that has checked who its users are
  scanns serve --listen 0.0.0.0:8443 --tls-certificate host.pem --tls-key host.key fs.scanns
      prints a link of https:// for browsers on other machines
  scanns serve --listen 0.0.0.0:8443 --tls-certificate host.pem --tls-key host.key --tls-client-ca ca.pem \
      --trust-proxy-certificate proxy.example.org --user-header X-Remote-User fs.scanns
      serves a reverse proxy on another machine, which shows a certificate

The last line of standard output is the link. SIGTERM and Ctrl-C stop the server: running requests have
--grace to end, and a second signal ends them at once. docs/SERVING.md has units for systemd and recipes for
nginx, Apache, Open OnDemand and Jupyter.";

/// Arguments of `scanns serve`.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// The indexes. Each is called as its directory without .scanns, or NAME if it is given as NAME=PATH
    #[arg(value_name = "INDEX", required = true)]
    pub indexes: Vec<PathBuf>,
    #[command(flatten)]
    pub place: ServePlaceArgs,
    #[command(flatten)]
    pub users: ServeUserArgs,
    #[command(flatten)]
    pub queries: QueryLimitArgs,
    #[command(flatten)]
    pub connections: ServeConnectionArgs,
    #[command(flatten)]
    pub running: ServeRunArgs,
}

/// Where a server listens.
#[derive(Debug, Args)]
#[command(next_help_heading = "Where")]
pub struct ServePlaceArgs {
    /// Listen on a TCP port of this machine: 8080, or 0 for any free port. The link has a random token, and
    /// requests without it are refused
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address, conflicts_with = "socket")]
    pub listen: Option<SocketAddr>,
    /// Listen on this Unix socket [default: $XDG_RUNTIME_DIR/scanns/INDEX.sock, or in a directory of yours in
    /// /tmp; or the socket of systemd]
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// Speak TLS on the TCP port, with the certificates in this file, in PEM: first the server's own, then
    /// the ones of the CAs between. It is read again when it changes, and after SIGHUP
    #[arg(long, value_name = "FILE", requires = "listen", requires = "tls_key")]
    pub tls_certificate: Option<PathBuf>,
    /// The private key of the certificate, in PEM and not encrypted
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub tls_key: Option<PathBuf>,
    /// Allow --listen without TLS with an address that other machines can reach, although everything is sent
    /// as plain text
    #[arg(long, requires = "listen")]
    pub allow_remote: bool,
    /// Take the token of --listen from a file instead of a random one
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub token_file: Option<PathBuf>,
    /// Allow this host name in requests, besides localhost; may be given several times; * allows all
    #[arg(long, value_name = "NAME")]
    pub host: Vec<String>,
    /// The path below which a reverse proxy shows the server, if it does not remove it: /search
    #[arg(long, value_name = "PATH", default_value = "", hide_default_value = true)]
    pub base_path: String,
}

/// For whom a server is.
#[derive(Debug, Args)]
#[command(next_help_heading = "For whom")]
pub struct ServeUserArgs {
    /// Serve all users of this machine over the Unix socket; each sees what he could see in the file system.
    /// Needs indexes with access rights. Root and the owner of the indexes see everything
    #[arg(long)]
    pub shared: bool,
    /// Believe a reverse proxy that runs as this user, by name or number, who its user is; may be given
    /// several times
    #[arg(long, value_name = "USER", requires = "user_header")]
    pub trust_proxy: Vec<String>,
    /// With --listen: believe a reverse proxy that has a certificate for this DNS name, of a CA of
    /// --tls-client-ca, who its user is, and refuse all others; may be given several times
    #[arg(long, value_name = "NAME", requires = "user_header", conflicts_with = "trust_proxy")]
    pub trust_proxy_certificate: Vec<String>,
    /// The certificates of the CAs that trusted proxies have theirs from, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub tls_client_ca: Option<PathBuf>,
    /// The header in which the proxy names its user
    #[arg(long, value_name = "NAME")]
    pub user_header: Option<String>,
}

/// Limits of queries.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Queries")]
pub struct QueryLimitArgs {
    /// Time of a query; what was found until then is shown, and the answer says that it is partial
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = timeout)]
    pub query_timeout: Duration,
    /// Time of the facets and statistics of a query
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = timeout)]
    pub facet_timeout: Duration,
    /// Hits of an answer; more are on later pages, or in an export
    #[arg(long, value_name = "N", default_value = "10000", value_parser = positive)]
    pub max_hits: usize,
    /// Queries at the same time [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub query_threads: Option<usize>,
    /// Queries that may wait for others; more are refused with 503 [default: 32 for each thread]
    #[arg(long, value_name = "N")]
    pub max_waiting: Option<usize>,
}

/// Limits of connections and of what is sent on them.
#[derive(Debug, Args)]
#[command(next_help_heading = "Connections")]
pub struct ServeConnectionArgs {
    /// Connections at the same time; others are refused with 503
    #[arg(long, value_name = "N", default_value = "1024", value_parser = positive)]
    pub max_connections: usize,
    /// Connections of one user or address at the same time; others are refused with 429
    #[arg(long, value_name = "N", default_value = "256", value_parser = positive)]
    pub max_connections_per_peer: usize,
    /// Time for the first byte of a connection
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = timeout)]
    pub first_byte_timeout: Duration,
    /// Time for the head of a request
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = timeout)]
    pub header_timeout: Duration,
    /// Time for the body of a request
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = timeout)]
    pub body_timeout: Duration,
    /// Time that a connection may wait for its next request
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = timeout)]
    pub idle_timeout: Duration,
    /// Time in which a client must take 16 KiB of its answer, or the rest
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = timeout)]
    pub send_timeout: Duration,
    /// Size of the head of a request, at least 8KiB
    #[arg(long, value_name = "SIZE", default_value = "32KiB", value_parser = units::parse_size)]
    pub max_header_size: u64,
    /// Headers of a request
    #[arg(long, value_name = "N", default_value = "100", value_parser = positive)]
    pub max_headers: usize,
    /// Size of the body of a request
    #[arg(long, value_name = "SIZE", default_value = "16MiB", value_parser = units::parse_size)]
    pub max_body: u64,
    /// Size of all bodies of requests together
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = units::parse_size)]
    pub max_bodies: u64,
    /// Size of all answers that wait to be sent, together
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = units::parse_size)]
    pub max_answers: u64,
    /// Send answers to users who may not see everything after whole multiples of this time, so that times
    /// tell little about what they may not see; 0 for at once
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = step)]
    pub answer_step: Duration,
    /// Requests of an HTTP/2 connection at the same time
    #[arg(long, value_name = "N", default_value = "32", value_parser = positive)]
    pub max_streams: usize,
}

/// How a server runs.
#[derive(Debug, Args)]
#[command(next_help_heading = "Running")]
pub struct ServeRunArgs {
    /// Add a line of JSON for each request to this file; - is standard error, and none writes no log
    /// [default: -, or none on a terminal]
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Time for running requests when the server stops
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = timeout)]
    pub grace: Duration,
    /// Threads that read requests and send answers
    #[arg(long, value_name = "N", default_value = "2", value_parser = positive)]
    pub connection_threads: usize,
}

/// Parses a time that may be zero.
fn step(text: &str) -> Result<Duration, String> {
    if text == "0" { Ok(Duration::ZERO) } else { timeout(text) }
}

/// Parses an address with a port. A port alone is one of the loopback interface, as localhost is.
fn address(text: &str) -> Result<SocketAddr, String> {
    let wrong =
        || "not an address with a port: write 127.0.0.1:8080, or 127.0.0.1:0 for any free port".to_owned();
    let port = text.strip_prefix("localhost:").or_else(|| text.strip_prefix(':')).unwrap_or(text);
    match port.parse::<u16>() {
        Ok(port) => Ok((Ipv4Addr::LOCALHOST, port).into()),
        Err(_) => text.parse().map_err(|_| wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_the_loopback_interface_unless_they_say_otherwise() {
        for (text, expected) in [
            ("8080", "127.0.0.1:8080"),
            (":8080", "127.0.0.1:8080"),
            ("localhost:0", "127.0.0.1:0"),
            ("127.0.0.1:1", "127.0.0.1:1"),
            ("[::1]:80", "[::1]:80"),
            ("0.0.0.0:80", "0.0.0.0:80"),
        ] {
            assert_eq!(address(text).unwrap().to_string(), expected);
        }
        for text in ["", "localhost", "127.0.0.1", "70000", "example.org:80", "::1:80:"] {
            assert!(address(text).is_err(), "{text}");
        }
    }
}
