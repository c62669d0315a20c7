//! Runs the work of requests on threads of its own, outside of the async runtime.
//!
//! There is a fixed number of threads and of places to wait; a job that finds no place is refused at once. A
//! user who may not see everything has at most half of the places, and a free thread takes a job of the user
//! who has the fewest threads, so that nobody stops others. A job whose client has gone is told so by the
//! [`Budget`] of its queries, which end within some ten microseconds. If a job panics, its request fails and
//! the thread takes the next one.

mod load;
mod pool;
mod task;

use std::sync::Arc;

pub(crate) use load::WorkError;
pub use load::WorkLoad;
pub use pool::WorkSettings;
pub(crate) use task::{CancelOnDrop, Task};

use pool::{Delivery, Pool};
#[cfg(doc)]
use scanns::search::Budget;

/// Threads for the jobs of requests.
#[derive(Debug)]
pub(crate) struct Workers {
    pool: Arc<Pool>,
}

impl Workers {
    /// Starts the threads.
    ///
    /// # Errors
    /// The system allows no thread.
    pub(crate) fn start(settings: WorkSettings) -> std::io::Result<Self> {
        Ok(Workers { pool: Pool::start(settings)? })
    }

    /// Runs a job of a user and returns its result. If the future is dropped before, the job is cancelled: it
    /// is not begun, or its budgets run out.
    ///
    /// # Errors
    /// [`WorkError::Busy`] at once if there is no place, [`WorkError::Panicked`] if the job panics.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        user: Option<Arc<str>>,
        job: impl FnOnce(&Task) -> T + Send + 'static,
    ) -> Result<T, WorkError> {
        let task = Task::new(user);
        let guard = CancelOnDrop::of(&task);
        let (sender, receiver) = tokio::sync::oneshot::channel();
        self.pool.add(task, move |task| {
            let result = job(task);
            // Nobody waits for the result of a cancelled job.
            Box::new(move || drop(sender.send(result)))
        })?;
        // A job that panics drops the sender.
        let result = receiver.await.map_err(|_| WorkError::Panicked);
        guard.disarm();
        result
    }

    /// Begins a job that nobody awaits, such as one that writes to a stream. What it returns is called when
    /// its thread is free for the next job. Dropping the guard cancels it.
    ///
    /// # Errors
    /// [`WorkError::Busy`] at once if there is no place.
    pub(crate) fn begin(
        &self,
        user: Option<Arc<str>>,
        job: impl FnOnce(&Task) -> Delivery + Send + 'static,
    ) -> Result<CancelOnDrop, WorkError> {
        let task = Task::new(user);
        let guard = CancelOnDrop::of(&task);
        self.pool.add(task, job)?;
        Ok(guard)
    }

    /// Returns the numbers of jobs that run and that wait.
    pub(crate) fn load(&self) -> WorkLoad {
        self.pool.load()
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.pool.stop();
    }
}

#[cfg(test)]
mod tests;
