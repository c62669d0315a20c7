//! Runs work without the interpreter: Ctrl-C ends it, a panic becomes an exception, and a forked process is
//! told apart from the one that opened an index.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use scanns::Error;
use scanns::search::Budget;

use crate::errors::{exception, raise};

/// The time after which pending signals are looked at.
const PAUSE: Duration = Duration::from_millis(50);

/// True on the thread that handles signals.
fn handles_signals() -> bool {
    cfg!(not(target_os = "linux")) || rustix::thread::gettid() == rustix::process::getpid()
}

/// Turns a panic into an exception.
fn panicked(payload: &(dyn Any + Send)) -> PyErr {
    raise(&Error::panicked("a call of the native module", payload))
}

/// Runs work without the interpreter.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> scanns::Result<T> + Send) -> PyResult<T> {
    let done = py.detach(|| catch_unwind(AssertUnwindSafe(work)));
    done.map_err(|payload| panicked(&*payload))?.map_err(|error| raise(&error))
}

/// Looks at signals while a query runs, on the thread that handles them.
pub struct SignalWatch {
    thread: ThreadId,
    began: Instant,
    /// When to look next, in nanoseconds since `began`.
    due: AtomicU64,
    raised: Mutex<Option<PyErr>>,
}

impl SignalWatch {
    /// A watch of the calling thread; `None` if another thread handles signals.
    pub fn of_this_thread() -> Option<Self> {
        handles_signals().then(Self::new)
    }

    fn new() -> Self {
        SignalWatch {
            thread: std::thread::current().id(),
            began: Instant::now(),
            due: AtomicU64::new(nanos(PAUSE)),
            raised: Mutex::new(None),
        }
    }

    /// True if a handler of a signal raised an exception. Helpers of the query ask, too, and look at nothing.
    pub fn asks(&self, now: Instant) -> bool {
        let spent = nanos(now.saturating_duration_since(self.began));
        if spent < self.due.load(Ordering::Relaxed) || std::thread::current().id() != self.thread {
            return false;
        }
        self.due.store(spent + nanos(PAUSE), Ordering::Relaxed);
        let Err(error) = Python::attach(|py| py.check_signals()) else { return false };
        *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        true
    }

    /// The exception that a handler raised.
    pub fn raised(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The answer of a query, and whether its time ran out.
pub struct Timed<T> {
    pub answer: T,
    pub partial: bool,
}

/// Runs a query without the interpreter, for at most `timeout` seconds.
pub fn searching<T: Send>(
    py: Python<'_>,
    timeout: Option<f64>,
    query: impl FnOnce(&Budget) -> scanns::Result<T> + Send,
) -> PyResult<Timed<T>> {
    let mut budget = match timeout {
        None => Budget::unlimited(),
        Some(seconds) => Budget::of(Duration::try_from_secs_f64(seconds).map_err(|_| {
            crate::errors::wrong("timeout", seconds, "a number of seconds that is not negative")
        })?),
    };
    let watch = SignalWatch::of_this_thread().map(Arc::new);
    if let Some(watch) = &watch {
        let watch = Arc::clone(watch);
        budget = budget.asking(move |now| watch.asks(now));
    }
    let answer = detached(py, || query(&budget));
    match watch.and_then(|watch| watch.raised()) {
        Some(error) => Err(error),
        None => Ok(Timed { answer: answer?, partial: budget.ran_out() }),
    }
}

/// Runs work on a thread of its own, and waits. If a signal raises an exception meanwhile, `stop` is set, and
/// the exception is returned once the work has ended.
pub fn waiting<T: Send>(
    py: Python<'_>,
    stop: &AtomicBool,
    work: impl FnOnce() -> scanns::Result<T> + Send,
) -> PyResult<T> {
    if !handles_signals() {
        return detached(py, work);
    }
    let (sender, receiver) = channel();
    let mut raised = None;
    let done = std::thread::scope(|scope| {
        let worker = move || sender.send(catch_unwind(AssertUnwindSafe(work)));
        // Without a thread the sender is gone, and there is no result.
        let _ = std::thread::Builder::new().name("scanns".into()).spawn_scoped(scope, worker);
        // A `Receiver` is not for several threads, but only this one uses it.
        let receiver = Mutex::new(receiver);
        loop {
            let waited =
                py.detach(|| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(PAUSE));
            match waited {
                Ok(done) => return Some(done),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Err(error) = py.check_signals() {
                stop.store(true, Ordering::Relaxed);
                raised = Some(error);
            }
        }
    });
    let lost =
        || exception("ResourceError", "cannot start a thread: raise the limit on processes (ulimit -u)");
    let done = done.ok_or_else(lost)?.map_err(|payload| panicked(&*payload))?;
    match raised {
        Some(error) => Err(error),
        None => done.map_err(|error| raise(&error)),
    }
}

/// The process that opened something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opener(u32);

impl Opener {
    /// The current process.
    pub fn current() -> Self {
        Opener(std::process::id())
    }

    /// False in a process that was forked since.
    pub fn is_current(self) -> bool {
        self == Self::current()
    }

    /// Refuses to be used in a forked process.
    pub fn must_be_current(self, what: &str, remedy: &str) -> PyResult<()> {
        if self.is_current() {
            return Ok(());
        }
        Err(exception("ForkError", &format!("{what} cannot be used in a forked process: {remedy}")))
    }
}

/// Waits for the next item of a channel, and looks at signals meanwhile. `None` if the channel is closed. If
/// a signal raises an exception, it is raised again once Python runs.
pub fn next_of<T>(receiver: &std::sync::mpsc::Receiver<T>) -> Result<Option<T>, &'static str> {
    loop {
        match receiver.recv_timeout(PAUSE) {
            Ok(item) => return Ok(Some(item)),
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) if !handles_signals() => {}
            Err(RecvTimeoutError::Timeout) => {
                if Python::attach(|py| py.check_signals()).is_err() {
                    // SAFETY: PyErr_SetInterrupt only marks SIGINT as pending; it needs no thread state.
                    unsafe { pyo3::ffi::PyErr_SetInterrupt() };
                    return Err("interrupted by a signal");
                }
            }
        }
    }
}

/// Panics in the ways that a bug could, for tests of what becomes of it.
#[pyfunction]
pub fn panic_for_tests(py: Python<'_>, how: &str) -> PyResult<()> {
    let bug = || -> scanns::Result<()> { panic!("on request") };
    match how {
        "detached" => detached(py, bug),
        "waiting" => waiting(py, &AtomicBool::new(false), bug),
        "searching" => searching(py, None, |_| bug()).map(|timed| timed.answer),
        _ => panic!("on request"),
    }
}
