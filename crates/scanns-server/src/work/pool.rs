//! The threads, and the queue of jobs that wait for one.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::load::{WorkError, WorkLoad};
use super::task::Task;

/// The size of a pool.
#[derive(Clone, Copy, Debug)]
pub struct WorkSettings {
    /// The number of threads, which is the number of jobs that run at the same time.
    pub threads: usize,
    /// The number of threads that one user may have, of those who may not see everything.
    pub of_one_user: usize,
    /// The number of jobs that may wait.
    pub waiting: usize,
}

/// A job, which returns what hands over its result.
type Job = Box<dyn FnOnce(&Task) -> Delivery + Send>;

/// Called when the thread is free for the next job, so that a client with an answer finds a place.
pub(super) type Delivery = Box<dyn FnOnce()>;

pub(super) struct Pool {
    state: Mutex<PoolState>,
    ready: Condvar,
    settings: WorkSettings,
}

#[derive(Default)]
struct PoolState {
    waiting: VecDeque<(Task, Job)>,
    /// The users whose jobs run, once for each.
    running: Vec<Option<Arc<str>>>,
    load: WorkLoad,
    /// About the time that a job takes, in seconds.
    seconds: f64,
    stopped: bool,
}

impl PoolState {
    /// The number of jobs of a user that run.
    fn running_of(&self, user: Option<&Arc<str>>) -> usize {
        self.running.iter().filter(|running| running.as_ref() == user).count()
    }

    /// The number of jobs of a user that run or wait.
    fn places_of(&self, user: Option<&Arc<str>>) -> usize {
        let waiting =
            self.waiting.iter().filter(|(task, _)| task.user.as_ref() == user && !task.is_cancelled());
        self.running_of(user) + waiting.count()
    }

    /// Takes the job that waits longest, of those users of whom the fewest jobs run, and fewer than `most`.
    fn next(&mut self, most: usize) -> Option<(Task, Job)> {
        let of = |task: &Task| if task.is_cancelled() { 0 } else { self.running_of(task.user.as_ref()) };
        let may_run = |task: &Task| task.user.is_none() || of(task) < most.max(1);
        let all = self.waiting.iter().enumerate().filter(|(_, (task, _))| may_run(task));
        let at = all.min_by_key(|(at, (task, _))| (of(task), *at)).map(|(at, _)| at)?;
        self.waiting.remove(at)
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Pool").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Pool {
    pub(super) fn start(settings: WorkSettings) -> std::io::Result<Arc<Self>> {
        let settings = WorkSettings { threads: settings.threads.max(1), ..settings };
        let pool = Arc::new(Pool { state: Mutex::default(), ready: Condvar::new(), settings });
        for number in 0..settings.threads {
            let own = Arc::clone(&pool);
            let thread = std::thread::Builder::new().name(format!("query-{number}"));
            let started = thread.spawn(move || own.work());
            if let (Err(error), 0) = (started, number) {
                return Err(error);
            }
        }
        Ok(pool)
    }

    /// Adds a job, unless there is no place.
    pub(super) fn add(
        &self,
        task: Task,
        job: impl FnOnce(&Task) -> Delivery + Send + 'static,
    ) -> Result<(), WorkError> {
        let mut state = self.lock();
        let is_full = |state: &PoolState| {
            state.load.running + state.waiting.len() >= self.settings.threads + self.settings.waiting
        };
        if is_full(&state) {
            // Those whose clients have gone need no place.
            state.waiting.retain(|(task, _)| !task.is_cancelled());
        }
        let own = task.user.is_some().then(|| state.places_of(task.user.as_ref()));
        let most = (self.settings.threads + self.settings.waiting).div_ceil(2);
        if is_full(&state) || own.is_some_and(|own| own >= most) {
            state.load.refused += 1;
            return Err(WorkError::Busy(self.wait_of(&state)));
        }
        state.waiting.push_back((task, Box::new(job)));
        drop(state);
        self.ready.notify_one();
        Ok(())
    }

    /// About the time until the jobs that wait now are done, from a second to a minute.
    fn wait_of(&self, state: &PoolState) -> Duration {
        let jobs = u32::try_from(state.waiting.len() / self.settings.threads + 1).unwrap_or(u32::MAX);
        Duration::from_secs_f64((f64::from(jobs) * state.seconds).clamp(1.0, 60.0).ceil())
    }

    /// The jobs of a thread, until the pool stops.
    fn work(&self) {
        let mut state = self.lock();
        loop {
            if state.stopped {
                return;
            }
            let Some((task, job)) = state.next(self.settings.of_one_user) else {
                state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            if task.is_cancelled() {
                continue;
            }
            state.load.running += 1;
            state.running.push(task.user.clone());
            drop(state);
            let begin = Instant::now();
            let done = catch_unwind(AssertUnwindSafe(|| job(&task)));
            let seconds = begin.elapsed().as_secs_f64();
            state = self.lock();
            state.load.running -= 1;
            if let Some(own) = state.running.iter().position(|user| *user == task.user) {
                state.running.swap_remove(own);
            }
            state.load.panicked += u64::from(done.is_err());
            state.seconds += (seconds - state.seconds) / 16.0;
            drop(state);
            match done {
                Ok(deliver) => deliver(),
                // What a panic carries may panic again when it is dropped.
                Err(payload) => std::mem::forget(payload),
            }
            state = self.lock();
        }
    }

    pub(super) fn load(&self) -> WorkLoad {
        let state = self.lock();
        WorkLoad { waiting: state.waiting.len(), ..state.load }
    }

    /// Ends the threads after the jobs that run, and forgets those that wait.
    pub(super) fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        state.waiting.clear();
        drop(state);
        self.ready.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
