//! A server: it opens its socket, answers requests, and stops when it is asked to.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use crate::error::ServeError;
use crate::guard::{Gauges, Guard};
use crate::listen::{Accepting, Door, Stop};
use crate::notify;
use crate::options::{Audience, ListenOn, ServeOptions};

/// Descriptors for everything else than connections: indexes, the log, programs of the name service.
const OTHER_FILES: u64 = 256;

/// A server that has opened its socket.
pub struct Server {
    runtime: Runtime,
    accepting: Accepting,
    guard: Arc<Guard>,
    options: ServeOptions,
    link: String,
    signals: [Signal; 2],
    stop: watch::Sender<Stop>,
}

impl Server {
    /// Opens the socket. From then on clients can connect; [`Server::run`] answers them.
    ///
    /// # Errors
    ///
    /// The address or the path is in use, the system refuses it, or options cannot be combined.
    pub fn open(router: Router, options: ServeOptions, gauges: Gauges) -> Result<Self, ServeError> {
        check(&options)?;
        let failed = |what| move |source| ServeError::System { what, source };
        let mut runtime = Builder::new_multi_thread();
        let runtime = runtime.worker_threads(options.threads.max(1)).thread_name("serve").enable_all();
        let runtime = runtime.build().map_err(failed("start threads"))?;
        let entered = runtime.enter();
        let everybody = options.audience == Audience::Shared || options.proxy.is_some();
        let door = Door::open(&options.listen, everybody)?;
        let port = door.address().map(|address| address.port());
        let guard = Arc::new(Guard::new(router, &options, port, door.path(), gauges)?);
        let link = link(&door, &guard);
        let mut limits = options.limits.clone();
        if let Some(most) = allow_files(limits.connections) {
            let what =
                format!("only {most} connections are possible: raise the limit of open files (ulimit -n)");
            guard.journal().event("warning", &what);
            limits.connections = most;
        }
        let accepting = Accepting::new(door, Arc::clone(&guard), Arc::new(limits));
        // A signal may come as soon as somebody knows the link.
        let caught = |kind| signal(kind).map_err(failed("catch signals"));
        let signals = [caught(SignalKind::terminate())?, caught(SignalKind::interrupt())?];
        drop(entered);
        Ok(Server { runtime, accepting, guard, options, link, signals, stop: watch::channel(Stop::Not).0 })
    }

    /// The link that opens the server, with its token.
    pub fn link(&self) -> &str {
        &self.link
    }

    /// The path of its socket, if it listens on a Unix socket.
    pub fn socket(&self) -> Option<PathBuf> {
        self.accepting.door().path()
    }

    /// What stops the server from another thread, as a signal does.
    pub fn stopper(&self) -> impl Fn() + Send + Sync + 'static {
        let stop = self.stop.clone();
        move || next_stop(&stop)
    }

    /// Answers requests until SIGTERM or SIGINT. Then running requests have the time of grace to end; a
    /// second signal ends them at once.
    pub fn run(self) {
        let Server { runtime, accepting, guard, options, link: _, signals, stop } = self;
        let grace = options.grace;
        let receiver = stop.subscribe();
        let [mut terminate, mut interrupt] = signals;
        runtime.spawn(async move {
            loop {
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => {}
                }
                next_stop(&stop);
            }
        });
        let stopping = Arc::clone(&guard);
        let mut until = receiver.clone();
        runtime.spawn(async move {
            if until.wait_for(|stop| *stop != Stop::Not).await.is_ok() {
                stopping.stop();
                stopping.journal().event("info", "stopping");
                tell(&stopping, "STOPPING=1");
            }
        });
        guard.journal().event("info", "ready");
        tell(&guard, "READY=1");
        runtime.block_on(accepting.run(receiver, grace));
        guard.journal().event("info", "stopped");
        guard.journal().flush();
        // Queries of requests that were cut off may still run.
        runtime.shutdown_background();
    }
}

fn tell(guard: &Guard, state: &str) {
    if let Err(error) = notify::tell(state) {
        guard.journal().event("warning", &format!("the service manager cannot be told {state}: {error}"));
    }
}

fn next_stop(stop: &watch::Sender<Stop>) {
    stop.send_modify(|stop| {
        *stop = match stop {
            Stop::Not => Stop::Finish,
            Stop::Finish | Stop::Now => Stop::Now,
        }
    });
}

/// Refuses options that would not be safe together.
fn check(options: &ServeOptions) -> Result<(), ServeError> {
    let is_tcp = matches!(options.listen, ListenOn::Tcp(_));
    if let ListenOn::Tcp(address) = options.listen
        && !address.ip().to_canonical().is_loopback()
        && !options.allow_remote
    {
        return Err(ServeError::Remote { address });
    }
    let wrong = |what: &str| Err(ServeError::Options(what.into()));
    if is_tcp && options.proxy.is_some() {
        return wrong(
            "a TCP socket cannot have trusted proxies, since every program of the machine could say that it \
             is one: use a Unix socket, where the kernel says who connects",
        );
    }
    if is_tcp && options.audience == Audience::Shared {
        return wrong(
            "a TCP socket cannot be shared, since the kernel does not say who connects: use a Unix socket",
        );
    }
    if !is_tcp && options.token.is_some() {
        return wrong("a Unix socket needs no token, since the kernel says who connects");
    }
    Ok(())
}

/// The link of a server. That of a Unix socket is for programs that take one; browsers do not.
fn link(door: &Door, guard: &Guard) -> String {
    let base = guard.base_path();
    match (door.address(), guard.identity().token()) {
        (Some(address), Some(token)) => {
            format!("http://{}{base}/?token={}", reachable(address), token.as_text())
        }
        _ => {
            let path = door.path().unwrap_or_default();
            let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
            let encode = |byte: &u8| {
                if plain(byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") }
            };
            let path: String = path.as_os_str().as_encoded_bytes().iter().map(encode).collect();
            format!("http+unix://{path}{base}/")
        }
    }
}

/// The address in a link: of all addresses, the name of the machine.
fn reachable(address: SocketAddr) -> String {
    if !address.ip().is_unspecified() {
        return address.to_string();
    }
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!("{name}:{}", address.port())
}

/// Raises the limit of open files for this number of connections; what is possible, if that is less.
fn allow_files(connections: usize) -> Option<usize> {
    let needed = connections as u64 + OTHER_FILES;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= needed) {
        return None;
    }
    let raised = maximum.map_or(needed, |maximum| needed.min(maximum));
    let raised = match setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum }) {
        Ok(()) => raised,
        Err(_) => current.unwrap_or(needed),
    };
    let possible = raised.saturating_sub(OTHER_FILES).max(raised / 2);
    (possible < connections as u64).then_some(usize::try_from(possible).unwrap_or(connections))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::TrustedProxy;

    fn refused(change: impl FnOnce(&mut ServeOptions)) -> String {
        let mut options = ServeOptions::default();
        change(&mut options);
        check(&options).unwrap_err().to_string()
    }

    #[test]
    fn options_that_are_not_safe_are_refused_with_a_reason() {
        check(&ServeOptions::default()).unwrap();
        let remote = refused(|options| options.listen = ListenOn::Tcp(([0, 0, 0, 0], 80).into()));
        assert!(remote.contains("other machines can reach 0.0.0.0:80"), "{remote}");
        let proxy = TrustedProxy { uids: vec![33], header: "X-User".into() };
        let proxy = refused(|options| options.proxy = Some(proxy));
        assert!(proxy.contains("every program of the machine"), "{proxy}");
        let shared = refused(|options| options.audience = Audience::Shared);
        assert!(shared.contains("the kernel does not say"), "{shared}");
        let token = refused(|options| {
            options.listen = ListenOn::Unix("/tmp/x".into());
            options.token = Some("a".repeat(40));
        });
        assert!(token.contains("needs no token"), "{token}");
    }
}
