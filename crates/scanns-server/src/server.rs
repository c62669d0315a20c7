//! A server: it opens its socket, answers requests, and stops when it is asked to.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use crate::check::check;
use crate::error::ServeError;
use crate::guard::{Gauges, Guard};
use crate::link::link;
use crate::listen::{Accepting, Door, Stop};
use crate::options::{Audience, ServeOptions};
use crate::tls::CurrentTls;
use crate::{notify, renew};

/// Descriptors for everything else than connections: indexes, the log, programs of the name service.
const OTHER_FILES: u64 = 256;

/// The certificate, its names, and warnings.
type OpenedTls = (Option<Arc<CurrentTls>>, Vec<String>, Vec<String>);

/// A server that has opened its socket.
pub struct Server {
    runtime: Runtime,
    accepting: Accepting,
    guard: Arc<Guard>,
    options: ServeOptions,
    link: String,
    warnings: Vec<String>,
    signals: [Signal; 2],
    /// The certificate, and the signal to read it again.
    tls: Option<(Arc<CurrentTls>, Option<Signal>)>,
    stop: watch::Sender<Stop>,
}

impl Server {
    /// Opens the socket. From then on clients can connect; [`Server::run`] answers them.
    ///
    /// # Errors
    ///
    /// The address or the path is in use, the system refuses it, options cannot be combined, or a certificate
    /// cannot be used.
    pub fn open(router: Router, mut options: ServeOptions, gauges: Gauges) -> Result<Self, ServeError> {
        check(&options)?;
        let failed = |what| move |source| ServeError::System { what, source };
        let mut runtime = Builder::new_multi_thread();
        let runtime = runtime.worker_threads(options.threads.max(1)).thread_name("serve").enable_all();
        let runtime = runtime.build().map_err(failed("start threads"))?;
        let entered = runtime.enter();
        let everybody = options.audience == Audience::Shared || options.proxy.is_some();
        let door = Door::open(&options.listen, everybody)?;
        let port = door.address().map(|address| address.port());
        let (tls, names, warnings) = open_tls(&mut options)?;
        let guard = Arc::new(Guard::new(router, &options, port, door.path(), gauges)?);
        let link = link(&door, &guard, tls.is_some().then_some(&names));
        let mut limits = options.limits.clone();
        if let Some(most) = allow_files(limits.connections) {
            let what =
                format!("only {most} connections are possible: raise the limit of open files (ulimit -n)");
            guard.journal().event("warning", &what);
            limits.connections = most;
        }
        let accepting = Accepting::new(door, Arc::clone(&guard), Arc::new(limits), tls.clone());
        // A signal may come as soon as somebody knows the link.
        let caught = |kind| signal(kind).map_err(failed("catch signals"));
        let signals = [caught(SignalKind::terminate())?, caught(SignalKind::interrupt())?];
        let hang_up = if tls.is_some() { renew::hang_up().map_err(failed("catch signals"))? } else { None };
        let tls = tls.map(|tls| (tls, hang_up));
        drop(entered);
        let stop = watch::channel(Stop::Not).0;
        Ok(Server { runtime, accepting, guard, options, link, warnings, signals, tls, stop })
    }

    /// The link that opens the server, with its token.
    pub fn link(&self) -> &str {
        &self.link
    }

    /// What its administrator should know, such as that the certificate has expired.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
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
        let Server { runtime, accepting, guard, options, signals, tls, stop, .. } = self;
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
        if let Some((tls, hang_up)) = tls {
            runtime.spawn(renew::renew(tls, Arc::clone(&guard), hang_up));
        }
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

/// Reads the certificate, whose names are then names of the server. With it the names in the certificate, and
/// warnings.
fn open_tls(options: &mut ServeOptions) -> Result<OpenedTls, ServeError> {
    let Some(files) = options.tls.clone() else { return Ok((None, Vec::new(), Vec::new())) };
    let proxies = options.proxy.as_ref().map(|proxy| proxy.certificates.clone()).unwrap_or_default();
    let (tls, names, warnings) = CurrentTls::open(files, proxies).map_err(ServeError::Tls)?;
    options.hosts.extend(names.iter().filter(|name| !name.starts_with('*')).cloned());
    Ok((Some(Arc::new(tls)), names, warnings))
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
