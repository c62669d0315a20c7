//! Reading the certificate again when its files change, or when SIGHUP asks for it.

use std::io::IsTerminal;
use std::sync::Arc;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::guard::Guard;
use crate::tls::CurrentTls;

/// SIGHUP, unless it would mean that the terminal of the server was closed, which ends it as ever.
pub fn hang_up() -> std::io::Result<Option<Signal>> {
    if std::io::stderr().is_terminal() { Ok(None) } else { signal(SignalKind::hangup()).map(Some) }
}

/// Reads the certificate again, forever. If it cannot be read, the one that is in use stays.
pub async fn renew(tls: Arc<CurrentTls>, guard: Arc<Guard>, mut asked: Option<Signal>) {
    loop {
        let is_asked = tokio::select! {
            _ = tokio::time::sleep(tls.look_every()) => false,
            () = next(&mut asked) => true,
        };
        let looking = Arc::clone(&tls);
        // A file system may take its time.
        let Ok(Some(read)) = tokio::task::spawn_blocking(move || looking.look(is_asked)).await else {
            continue;
        };
        match read {
            Ok(warnings) => {
                guard.journal().event("info", "the certificate was read again");
                for warning in warnings {
                    guard.journal().event("warning", &warning);
                }
            }
            Err(error) => {
                let what = format!("{error}; the previous certificate stays in use");
                guard.journal().event("error", &what);
            }
        }
    }
}

async fn next(asked: &mut Option<Signal>) {
    if let Some(signal) = asked
        && signal.recv().await.is_some()
    {
        return;
    }
    std::future::pending().await
}
