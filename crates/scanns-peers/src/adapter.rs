//! The common code of the adapters in Rust: the command line, time measurement, and the bytes written and the
//! peak memory of the process.
//!
//! An engine implements building and searching ([`Engine`], [`Index`]). [`serve`] does the rest, so the same
//! loops measure all engines. The Java adapter has equivalent loops.

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use scanns_bench::stats::median;

use crate::form::Form;
use crate::protocol::{Answers, BuildTask, Built, Goal, Kept, Merged, Scoring, SearchTask, Task};

/// The number of documents after which no more positions are read for the queries of a class. It is limited
/// because a term may occur in every document. The term that reaches the limit is still read completely.
pub const CHECKED: u64 = 100_000;

/// A search engine.
pub trait Engine {
    /// An open index.
    type Index: Index;

    /// Builds an index in the empty directory `task.out`.
    fn build(&self, task: &BuildTask) -> Result<Built>;

    /// Merges all segments of the index in `directory` into one and commits it.
    fn merge(&self, directory: &Path, kept: Kept) -> Result<Merged>;

    /// Opens an index.
    fn open(&self, directory: &Path, scoring: Scoring) -> Result<Self::Index>;
}

/// An open index, which several threads can search at the same time.
pub trait Index: Sync {
    /// A prepared query.
    type Query: Sync;

    /// The number of documents.
    fn documents(&self) -> u64;

    /// The number of segments.
    fn segments(&self) -> u64;

    /// Whether the engine has such a query and can reach the goal with it.
    fn can(&self, _form: &Form, _goal: Goal) -> bool {
        true
    }

    /// Prepares a query.
    fn query(&self, form: &Form) -> Result<Self::Query>;

    /// Returns the scores of the `k` best hits.
    fn best(&self, query: &Self::Query, k: usize) -> Result<Vec<f32>>;

    /// Counts the hits.
    fn count(&self, query: &Self::Query) -> Result<usize>;

    /// Collects every hit with its score, in any order, and returns the number of hits.
    fn all(&self, query: &Self::Query) -> Result<usize>;

    /// Returns the number of documents that contain `term`, and the sum of `position + 1` over all its
    /// positions.
    fn positions(&self, term: &str) -> Result<(u64, u64)>;
}

/// Runs an adapter: parses the command line, runs the task and prints the reports.
///
/// # Errors
/// All errors of the task are returned.
pub fn serve(engine: &impl Engine) -> Result<()> {
    match Task::parse() {
        Task::Build(task) => (0..task.repetitions).try_for_each(|_| {
            empty(&task.out)?;
            println!("{}", serde_json::to_string(&engine.build(&task)?)?);
            Ok(())
        }),
        Task::Merge(task) => (0..task.repetitions).try_for_each(|_| {
            empty(&task.out)?;
            link(&task.index, &task.out)?;
            println!("{}", serde_json::to_string(&engine.merge(&task.out, task.kept)?)?);
            Ok(())
        }),
        Task::Search(task) => {
            println!("{}", serde_json::to_string(&search(&engine.open(&task.index, task.model)?, &task)?)?);
            Ok(())
        }
    }
}

/// Makes `directory` an empty directory.
fn empty(directory: &Path) -> Result<()> {
    if directory.exists() {
        fs::remove_dir_all(directory).with_context(|| format!("cannot remove {}", directory.display()))?;
    }
    fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))
}

/// Links the files of one directory into another. Engines never write to existing files, so this is a free
/// copy, and the system has nothing to write back while a merge runs.
fn link(from: &Path, to: &Path) -> Result<()> {
    let files = fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))?;
    for file in files {
        let path = file?.path();
        let name = path.file_name().unwrap_or_default();
        fs::hard_link(&path, to.join(name)).with_context(|| format!("cannot link {}", path.display()))?;
    }
    Ok(())
}

/// The number of bytes that this process has passed to the system for writing since it started, as counted by
/// the kernel (`wchar`).
pub fn bytes_written() -> u64 {
    proc_number("/proc/self/io", "wchar:")
}

/// The peak resident memory of this process, in bytes.
pub fn peak_bytes() -> u64 {
    proc_number("/proc/self/status", "VmHWM:") << 10
}

fn proc_number(file: &str, name: &str) -> u64 {
    let text = fs::read_to_string(file).unwrap_or_default();
    let value =
        text.lines().find_map(|line| line.strip_prefix(name)).and_then(|rest| rest.split_whitespace().next());
    value.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// The ranges of the queries of each class. Queries of one class are adjacent.
fn classes(names: &[&str]) -> Vec<Range<usize>> {
    let mut start = 0;
    let together = names.chunk_by(|one, next| one == next);
    together
        .map(|class| {
            let range = start..start + class.len();
            start = range.end;
            range
        })
        .collect()
}

fn search<I: Index>(index: &I, task: &SearchTask) -> Result<Answers> {
    let text = fs::read_to_string(&task.queries)
        .with_context(|| format!("cannot read the queries {}", task.queries.display()))?;
    let lines: Vec<(&str, &str)> = text.lines().filter_map(|line| line.split_once('\t')).collect();
    ensure!(!lines.is_empty(), "{} has no lines of class, tab, query", task.queries.display());
    let (names, forms): (Vec<&str>, Vec<&str>) = lines.into_iter().unzip();
    let forms = forms.into_iter().map(str::parse).collect::<Result<Vec<Form>>>()?;
    let positions = if task.positions { positions(index, &names, &forms)? } else { Vec::new() };
    let queries = forms.iter().map(|form| Asked::prepare(index, form)).collect::<Result<Vec<_>>>()?;

    let mut hits = Vec::new();
    let mut scores = Vec::new();
    for (asked, form) in queries.iter().zip(&forms) {
        let all = asked.to(Goal::All).map(|query| index.all(query)).transpose()?;
        let counted = asked.to(Goal::Count).map(|query| index.count(query)).transpose()?;
        if let (Some(all), Some(counted)) = (all, counted) {
            ensure!(all == counted, "{form} has {all} hits, but {counted} were counted");
        }
        hits.push(counted.or(all).map(|hits| hits as u64));
        let best = asked.to(Goal::Top100).map(|query| index.best(query, 100)).transpose()?;
        scores.push(best.unwrap_or_default().iter().map(|&score| f64::from(score)).sum());
    }
    let warm = Instant::now() + Duration::from_millis(task.warm_ms);
    for asked in queries.iter().cycle().take_while(|_| Instant::now() < warm) {
        for goal in Goal::EACH {
            asked.to(goal).map(|query| reach(index, query, goal)).transpose()?;
        }
    }
    let mut micros: [Vec<Option<f64>>; 4] = Default::default();
    for class in classes(&names) {
        let queries = queries.get(class).unwrap_or_default();
        for (goal, micros) in Goal::EACH.into_iter().zip(&mut micros) {
            let to_goal: Vec<_> = queries.iter().map(|asked| asked.to(goal)).collect();
            micros.extend(times(&to_goal, task, |query| reach(index, query, goal))?);
        }
    }
    let (documents, segments) = (index.documents(), index.segments());
    Ok(Answers { documents, segments, hits, scores, micros, positions, peak_bytes: peak_bytes() })
}

/// A prepared query, and the goals that the engine can reach with it.
struct Asked<Q> {
    query: Option<Q>,
    goals: Vec<Goal>,
}

impl<Q> Asked<Q> {
    fn prepare<I: Index<Query = Q>>(index: &I, form: &Form) -> Result<Self> {
        let goals: Vec<Goal> = Goal::EACH.into_iter().filter(|&goal| index.can(form, goal)).collect();
        let query = (!goals.is_empty()).then(|| index.query(form)).transpose()?;
        Ok(Self { query, goals })
    }

    /// The query, if it can reach the goal.
    fn to(&self, goal: Goal) -> Option<&Q> {
        self.query.as_ref().filter(|_| self.goals.contains(&goal))
    }
}

/// Runs a query for a goal and returns the number of hits.
fn reach<I: Index>(index: &I, query: &I::Query, goal: Goal) -> Result<usize> {
    match goal {
        Goal::Top10 => Ok(index.best(query, 10)?.len()),
        Goal::Top100 => Ok(index.best(query, 100)?.len()),
        Goal::Count => index.count(query),
        Goal::All => index.all(query),
    }
}

/// The sums of positions for the first queries of each class, up to the limit [`CHECKED`], and 0 for the
/// others.
fn positions<I: Index>(index: &I, names: &[&str], forms: &[Form]) -> Result<Vec<u64>> {
    let mut sums = vec![0; names.len()];
    for class in classes(names) {
        let mut left = CHECKED;
        for at in class {
            for term in forms[at].terms() {
                if left == 0 {
                    break;
                }
                let (documents, sum) = index.positions(term)?;
                left = left.saturating_sub(documents);
                sums[at] += sum;
            }
        }
    }
    Ok(sums)
}

/// Microseconds of each query: the median over the rounds of all searchers, or none if it is not asked.
fn times<Q: Sync>(
    queries: &[Option<&Q>],
    task: &SearchTask,
    run: impl Fn(&Q) -> Result<usize> + Sync,
) -> Result<Vec<Option<f64>>> {
    let searcher = |number: usize| -> Result<Vec<Vec<f64>>> {
        let mut times = vec![Vec::with_capacity(task.rounds); queries.len()];
        let end = Instant::now() + Duration::from_millis(task.class_ms);
        // Searchers start at different queries, so that they do not run the same query at the same time.
        let first = number * queries.len() / task.searchers.max(1);
        for round in 0..task.rounds.max(1) {
            if round >= 3 && Instant::now() > end {
                break;
            }
            for step in 0..queries.len() {
                let at = (first + step) % queries.len();
                if let (Some(Some(query)), Some(times)) = (queries.get(at), times.get_mut(at)) {
                    let begin = Instant::now();
                    std::hint::black_box(run(query)?);
                    times.push(begin.elapsed().as_secs_f64() * 1e6);
                }
            }
        }
        Ok(times)
    };
    let each = std::thread::scope(|scope| {
        let spawn = |number| scope.spawn(move || searcher(number));
        let threads: Vec<_> = (0..task.searchers.max(1)).map(spawn).collect();
        let join = |thread: std::thread::ScopedJoinHandle<_>| {
            thread.join().unwrap_or_else(|_| Err(anyhow::anyhow!("a searcher panicked")))
        };
        threads.into_iter().map(join).collect::<Result<Vec<_>>>()
    })?;
    let of = |at: usize| -> Vec<f64> {
        each.iter().filter_map(|times| times.get(at)).flatten().copied().collect()
    };
    Ok(queries.iter().enumerate().map(|(at, query)| query.map(|_| median(&of(at)))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::bytes_below;
    use crate::form::Sign;

    /// An index of numbers whose terms are their divisors.
    struct Divisors(u32);

    impl Index for Divisors {
        type Query = (Sign, Vec<u32>);

        fn documents(&self) -> u64 {
            u64::from(self.0)
        }

        fn segments(&self) -> u64 {
            1
        }

        fn query(&self, form: &Form) -> Result<Self::Query> {
            let sign = if let Form::Bool { clauses, .. } = form { clauses[0].0 } else { Sign::Must };
            Ok((sign, form.terms().iter().map(|term| Ok(term.parse()?)).collect::<Result<_>>()?))
        }

        fn best(&self, query: &Self::Query, k: usize) -> Result<Vec<f32>> {
            Ok(vec![0.5; self.all(query)?.min(k)])
        }

        fn count(&self, query: &Self::Query) -> Result<usize> {
            self.all(query)
        }

        fn all(&self, query: &Self::Query) -> Result<usize> {
            let (sign, terms) = query;
            let divides = |number: u32| move |term: &u32| number.is_multiple_of(*term);
            let hit = |number: &u32| {
                if *sign == Sign::Must {
                    terms.iter().all(divides(*number))
                } else {
                    terms.iter().any(divides(*number))
                }
            };
            Ok((0..self.0).filter(hit).count())
        }

        fn positions(&self, term: &str) -> Result<(u64, u64)> {
            Ok((u64::from(self.0), term.parse::<u64>()? + 1))
        }
    }

    #[test]
    fn every_query_is_answered_and_timed_in_its_place_by_several_searchers() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("queries.tsv");
        fs::write(
            &path,
            "high\tterm 1\nlow\tterm 50\nlow\tterm 70\nand2\tbool 0 2 + term 2 + term 3\n\
                     or2\tbool 0 2 | term 2 | term 3\n",
        )
        .unwrap();
        let task = SearchTask {
            index: dir.path().into(),
            queries: path,
            model: Scoring::Bm25,
            searchers: 2,
            warm_ms: 1,
            rounds: 5,
            class_ms: 0,
            positions: true,
        };
        let answers = search(&Divisors(100), &task).unwrap();
        assert_eq!(answers.hits, [100, 2, 2, 17, 67].map(Some));
        assert_eq!(answers.scores, [50.0, 1.0, 1.0, 8.5, 33.5]);
        assert_eq!(answers.positions, [2, 51, 71, 7, 7]);
        let line = serde_json::to_string(&answers).unwrap();
        assert_eq!(Answers::parse("divisors", &line, 5).unwrap().hits, answers.hits);
    }

    /// Divisors that are only counted, and only by single terms.
    struct Few(Divisors);

    impl Index for Few {
        type Query = (Sign, Vec<u32>);

        fn documents(&self) -> u64 {
            self.0.documents()
        }

        fn segments(&self) -> u64 {
            1
        }

        fn can(&self, form: &Form, goal: Goal) -> bool {
            matches!(form, Form::Term(_)) && goal == Goal::Count
        }

        fn query(&self, form: &Form) -> Result<Self::Query> {
            self.0.query(form)
        }

        fn best(&self, _: &Self::Query, _: usize) -> Result<Vec<f32>> {
            anyhow::bail!("not asked for")
        }

        fn count(&self, query: &Self::Query) -> Result<usize> {
            self.0.count(query)
        }

        fn all(&self, _: &Self::Query) -> Result<usize> {
            anyhow::bail!("not asked for")
        }

        fn positions(&self, term: &str) -> Result<(u64, u64)> {
            self.0.positions(term)
        }
    }

    #[test]
    fn what_an_engine_cannot_do_is_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("queries.tsv");
        fs::write(&path, "low\tterm 50\nand2\tbool 0 2 + term 2 + term 3\n").unwrap();
        let task = SearchTask {
            index: dir.path().into(),
            queries: path,
            model: Scoring::Bm25,
            searchers: 1,
            warm_ms: 1,
            rounds: 3,
            class_ms: 0,
            positions: false,
        };
        let answers = search(&Few(Divisors(100)), &task).unwrap();
        assert_eq!(
            (answers.hits.as_slice(), answers.scores.as_slice()),
            (&[Some(2), None][..], &[0.0; 2][..])
        );
        let timed = answers.micros.map(|times| times.iter().map(Option::is_some).collect::<Vec<_>>());
        assert_eq!(timed, [[false, false], [false, false], [true, false], [false, false]]);
    }

    #[test]
    fn positions_are_read_for_the_first_queries_of_each_class() {
        let half = Divisors(u32::try_from(CHECKED / 2).unwrap());
        let forms = ["term 4", "bool 0 2 | term 5 | term 6", "bool 0 2 | term 1 | term 2", "term 3"];
        let forms = forms.map(|form| form.parse().unwrap());
        assert_eq!(positions(&half, &["low", "low", "or2", "or2"], &forms).unwrap(), [5, 6, 5, 0]);
    }

    #[test]
    fn an_index_is_linked_into_an_empty_directory_and_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        for (place, name) in [(&from, "a"), (&to, "old")] {
            fs::create_dir(place).unwrap();
            fs::write(place.join(name), "text").unwrap();
        }
        empty(&to).unwrap();
        link(&from, &to).unwrap();
        assert_eq!((bytes_below(&from).unwrap(), bytes_below(&to).unwrap()), (4, 4));
        empty(&to).unwrap();
        assert_eq!((bytes_below(&from).unwrap(), bytes_below(&to).unwrap()), (4, 0));
        assert!(link(&to.join("absent"), &to).is_err());
    }

    #[test]
    fn classes_are_stretches_of_one_name() {
        assert_eq!(classes(&["a", "a", "b", "c", "c"]), [0..2, 2..3, 3..5]);
        assert!(classes(&[]).is_empty());
    }

    #[test]
    fn the_kernel_knows_what_was_written_and_taken() {
        let before = bytes_written();
        fs::write(tempfile::NamedTempFile::new().unwrap().path(), [7; 1000]).unwrap();
        assert!(bytes_written() >= before + 1000 && peak_bytes() > 1 << 16);
    }
}
