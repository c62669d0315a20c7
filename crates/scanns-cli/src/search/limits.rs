//! The limits of a search, threads and time, and the note that an answer is incomplete.

use scanns::search::{Budget, Searcher};
use serde_json::{Map, Value};

use crate::args::SearchArgs;

/// The maximum number of threads per core.
const THREADS_PER_CORE: usize = 4;

/// The number of threads to use.
pub(super) fn threads(args: &SearchArgs) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    args.threads.unwrap_or(cores).min(cores.saturating_mul(THREADS_PER_CORE))
}

/// The searcher, limited to a budget if there is one.
pub(super) fn timed<'a>(searcher: Searcher<'a>, budget: Option<&'a Budget>) -> Searcher<'a> {
    match budget {
        Some(budget) => searcher.within(budget),
        None => searcher,
    }
}

/// True if a query was stopped before it was complete.
pub(super) fn is_partial(budget: Option<&Budget>) -> bool {
    budget.is_some_and(Budget::ran_out)
}

/// Marks an answer that may be incomplete.
pub(super) fn put_partial(object: &mut Map<String, Value>, partial: bool) {
    if partial {
        object.insert("partial".into(), true.into());
    }
}
