//! `scanns serve`: an HTTP server for indexes.

use std::io::{IsTerminal, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use scanns::Snapshot;
use scanns::access::named_user;
use scanns_server::{
    Api, ApiLoad, Audience, ConnectionLimits, Gauge, Gauges, IndexSettings, IndexSource, Indexes, Limits,
    ListenOn, LogTarget, ServeError, ServeOptions, Server, TlsFiles, TrustedProxy, WorkSettings, own_socket,
};

use crate::args::{QueryLimitArgs, ServeArgs, ServeConnectionArgs};
use crate::output::Output;
use crate::panics;
use crate::report::{self, Outcome, path_text};

/// Runs the verb until a signal stops it.
pub fn run(args: &ServeArgs) -> Result<Outcome> {
    panics::end_requests_only();
    let shows_users = args.users.shared || args.users.user_header.is_some();
    let sources = sources(&args.indexes)?;
    let owners = owners(&sources, shows_users)?;
    let api = api(args, sources)?;
    let options = options(args, owners)?;
    let is_unix = !matches!(options.listen, ListenOn::Tcp(_));
    let server = Server::open(api.router(), options, gauges(&api)).map_err(with_advice)?;
    for warning in server.warnings() {
        report::note(warning);
    }
    let mut out = Output::stdout();
    writeln!(out, "{}", server.link())?;
    out.flush()?;
    if is_unix && !shows_users && std::io::stderr().is_terminal() {
        let path = server.socket().unwrap_or_default();
        let path = path_text(&path);
        report::note(&format!(
            "this is a Unix socket. Here: curl --unix-socket {path} http://localhost/api/v1; from elsewhere: \
             ssh -L 8080:{path} HOST, then http://localhost:8080/ in a browser. scanns serve --listen \
             127.0.0.1:0 prints a link for a browser here"
        ));
    }
    server.run();
    Ok(Outcome::Done)
}

/// The indexes, by name.
fn sources(indexes: &[PathBuf]) -> Result<Vec<IndexSource>> {
    Ok(indexes.iter().map(|path| IndexSource::parse(path)).collect::<Result<_, _>>()?)
}

/// What answers requests.
fn api(args: &ServeArgs, sources: Vec<IndexSource>) -> Result<Api> {
    let indexes = Indexes::open(sources, IndexSettings::default())?;
    let QueryLimitArgs { query_timeout, facet_timeout, max_hits, query_threads, max_waiting } = args.queries;
    let defaults = Limits::default();
    let threads = query_threads.unwrap_or(defaults.work.threads);
    let waiting = max_waiting.unwrap_or(threads * 32);
    let limits = Limits {
        query_time: query_timeout,
        facet_time: facet_timeout,
        window: max_hits,
        work: WorkSettings { threads, of_one_user: threads, waiting },
        ..defaults
    };
    Api::start(Arc::new(indexes), limits).context("cannot start the threads of queries")
}

/// What the threads of queries do, for metrics.
fn gauges(api: &Api) -> Gauges {
    let api = api.clone();
    Box::new(move || {
        let ApiLoad { requests, exports, out_of_reach } = api.load();
        let of = |name, help, value: usize| Gauge { name, help, value: value as f64 };
        vec![
            of("queries_running", "Queries that run", requests.running),
            of("queries_waiting", "Queries that wait for a thread", requests.waiting),
            of("exports_running", "Exports and batches that run", exports.running),
            of("indexes_out_of_reach", "Indexes that were removed or cannot be opened", out_of_reach),
        ]
    })
}

/// The users besides root who see everything: the user of the server, who can read the indexes anyway, and
/// their owner. If users see what they may, the indexes must know it, and nobody else should read their
/// files.
fn owners(indexes: &[IndexSource], shows_users: bool) -> Result<Vec<u32>> {
    let mut owners = Vec::new();
    for IndexSource { path, .. } in indexes {
        let snapshot = Snapshot::open(path)?;
        let found = std::fs::metadata(path).with_context(|| format!("cannot examine {}", path_text(path)))?;
        owners.push(found.uid());
        if !shows_users {
            continue;
        }
        let path = path_text(path);
        if !snapshot.has_access() {
            bail!("{path} does not know who may see what: build an index with scanns index --access");
        }
        if found.mode() & 0o055 != 0 {
            report::note(&format!(
                "others can read the files of {path}, and with them everything that it has: chmod -R go= \
                 {path}"
            ));
        }
    }
    // The owner of one index may not see another.
    owners.dedup();
    owners.truncate(if owners.len() == 1 { 1 } else { 0 });
    owners.push(rustix::process::geteuid().as_raw());
    Ok(owners)
}

fn options(args: &ServeArgs, owners: Vec<u32>) -> Result<ServeOptions> {
    let (place, users) = (&args.place, &args.users);
    let token = match &place.token_file {
        None => None,
        Some(path) => {
            let read = std::fs::read_to_string(path);
            Some(read.with_context(|| format!("cannot read {}", path_text(path)))?.trim().to_owned())
        }
    };
    let proxy = match &users.user_header {
        None => None,
        Some(header) => {
            let uids = users.trust_proxy.iter().map(|user| number_of(user)).collect::<Result<Vec<_>>>()?;
            let certificates = users.trust_proxy_certificate.clone();
            if uids.is_empty() && certificates.is_empty() {
                bail!(
                    "--user-header needs to know whose header counts: give --trust-proxy for a proxy on this \
                     machine, or --trust-proxy-certificate for one that connects over TLS"
                );
            }
            Some(TrustedProxy { uids, header: header.clone(), certificates })
        }
    };
    let tls = match (&place.tls_certificate, &place.tls_key) {
        (Some(certificate), Some(key)) => {
            Some(TlsFiles::new(certificate.clone(), key.clone(), users.tls_client_ca.clone()))
        }
        _ => None,
    };
    let everybody = users.shared || proxy.is_some();
    let has_place = place.listen.is_some() || place.socket.is_some() || is_inherited();
    if everybody && !has_place {
        bail!("name a socket with --socket, in a directory that all who may connect can enter");
    }
    Ok(ServeOptions {
        listen: listen(args)?,
        audience: if users.shared { Audience::Shared } else { Audience::Own },
        owners,
        tls,
        proxy,
        token,
        hosts: place.host.clone(),
        base_path: place.base_path.clone(),
        allow_remote: place.allow_remote,
        limits: limits(&args.connections),
        log: log(args.running.log.as_deref()),
        grace: args.running.grace,
        threads: args.running.connection_threads,
    })
}

fn listen(args: &ServeArgs) -> Result<ListenOn> {
    match (&args.place.listen, &args.place.socket) {
        (Some(address), _) => Ok(ListenOn::Tcp(*address)),
        (None, Some(path)) => Ok(ListenOn::Unix(path.clone())),
        (None, None) if is_inherited() => Ok(ListenOn::Inherited),
        (None, None) => {
            let first = args.indexes.first().and_then(|index| index.canonicalize().ok());
            let name = first.as_deref().and_then(Path::file_stem).unwrap_or("index".as_ref());
            Ok(ListenOn::Unix(own_socket(&name.to_string_lossy())?))
        }
    }
}

/// True if the service manager has opened a socket for this process.
fn is_inherited() -> bool {
    std::env::var("LISTEN_PID").is_ok_and(|pid| pid == std::process::id().to_string())
}

/// The number of a user by name or number.
fn number_of(user: &str) -> Result<u32> {
    if let Ok(uid) = user.parse() {
        return Ok(uid);
    }
    let found = named_user(user).with_context(|| format!("'{user}' cannot be looked up: give the number"))?;
    Ok(found.ok_or_else(|| anyhow!("'{user}': no such user on this machine"))?.uid())
}

fn limits(args: &ServeConnectionArgs) -> ConnectionLimits {
    let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    ConnectionLimits {
        connections: args.max_connections,
        per_peer: args.max_connections_per_peer,
        first_byte: args.first_byte_timeout,
        head: args.header_timeout,
        idle: args.idle_timeout,
        body_time: args.body_timeout,
        send: args.send_timeout,
        head_bytes: size(args.max_header_size),
        headers: args.max_headers,
        body_bytes: size(args.max_body),
        all_body_bytes: size(args.max_bodies),
        all_answer_bytes: size(args.max_answers),
        answer_step: args.answer_step,
        streams: u32::try_from(args.max_streams).unwrap_or(u32::MAX),
    }
}

fn log(target: Option<&Path>) -> LogTarget {
    match target {
        None if std::io::stderr().is_terminal() => LogTarget::Off,
        None => LogTarget::StandardError,
        Some(path) if path == Path::new("-") => LogTarget::StandardError,
        Some(path) if path == Path::new("none") => LogTarget::Off,
        Some(path) => LogTarget::File(path.to_owned()),
    }
}

/// The error with the option that helps.
fn with_advice(error: ServeError) -> anyhow::Error {
    let option = match &error {
        ServeError::Remote { .. } => " with --allow-remote",
        ServeError::Place(error) if error.asks_for_another_place() => " with --socket",
        _ => "",
    };
    anyhow!("{error}{option}")
}
