//! Time per query of views, which show some of the documents, beside the whole snapshot.
//!
//! A view shows a share of the documents, spread at random or one after the other, as the files of a user
//! are. Every case asks all queries of its class once per round, and the cases take turns. Before, every
//! query is asked once, so views know the statistics of its terms; the time of that is reported, too.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use scanns::access::AccessUser;
use scanns::search::Model;
use scanns::views::{DocBits, VisibleDocs};
use scanns::{Query, Snapshot};
use scanns_bench::results::{Better, Results, Series};
use scanns_bench::stats::{in_turns, median};

use crate::latency::{Want, classes};
use crate::text;

/// The index, the queries and the views.
#[derive(Debug, clap::Args)]
pub struct ViewArgs {
    /// An index
    pub index: PathBuf,
    /// A file with a class, a tab and terms on each line; classes that begin with "and" require all terms
    pub queries: PathBuf,
    /// The file has queries in the query language instead of terms
    #[arg(long)]
    pub language: bool,
    /// The shares of documents that views show, in percent
    #[arg(long, value_delimiter = ',', default_value = "1,50,99,100")]
    pub visible: Vec<f64>,
    /// Views of these users of an index with access classes, as UID:GID,GID, and the time to make them
    #[arg(long = "as", value_parser = user)]
    pub users: Vec<AccessUser>,
    /// How scores are computed
    #[arg(long, default_value = "bm25", value_parser = Model::parse)]
    pub model: Model,
    /// Rounds; in each, every class is asked of the whole snapshot and of every view
    #[arg(long, default_value_t = 11)]
    pub repetitions: usize,
    /// The seed of the views
    #[arg(long, default_value_t = 7)]
    pub seed: u64,
}

/// A user and his groups, the primary one first.
fn user(text: &str) -> Result<AccessUser, String> {
    let refuse = |_| format!("'{text}' is not a user: write UID:GID,GID");
    let (uid, groups) = text.split_once(':').unwrap_or((text, ""));
    let groups: Result<Vec<u32>, _> =
        groups.split(',').filter(|group| !group.is_empty()).map(str::parse).collect();
    let groups = groups.map_err(refuse)?;
    let uid = uid.parse().map_err(refuse)?;
    Ok(AccessUser::new(uid, groups.first().copied().unwrap_or(u32::MAX), &groups))
}

/// The view of a user. Making it is measured: to find out what he may see, and to show it.
fn view_of(
    whole: &Snapshot,
    user: &AccessUser,
    repetitions: usize,
    results: &mut Results,
) -> Result<Subject> {
    let name = format!("as {}", user.uid());
    let (mut found, mut shown) = (Vec::new(), Vec::new());
    for _ in 0..repetitions.max(1) {
        let begin = Instant::now();
        let visible = whole.visible_to(user)?;
        found.push(begin.elapsed().as_secs_f64() * 1e3);
        let view = whole.seen_by(&visible)?;
        shown.push(begin.elapsed().as_secs_f64() * 1e3);
        drop(view);
    }
    let snapshot = whole.seen_as(user)?;
    let documents = snapshot.info().documents;
    println!(
        "{name}: {documents} documents; {:.2} ms to find them, {:.2} ms with the view",
        median(&found),
        median(&shown)
    );
    results
        .add(Series::of("views", &name, "make", ("time to make a view", "ms", Better::Lower), shown), None);
    Ok(Subject { name, snapshot })
}

/// The whole snapshot, or a view.
struct Subject {
    name: String,
    snapshot: Snapshot,
}

/// One measurement.
struct ViewCase<'a> {
    subject: &'a Subject,
    class: &'a str,
    queries: &'a [Query],
    want: Want,
}

/// A view of a share of the documents.
fn view(whole: &Snapshot, share: f64, is_in_a_row: bool, random: &mut fastrand::Rng) -> Result<Snapshot> {
    let of_segment = |documents: u32| {
        let mut docs = DocBits::none(documents);
        let end = f64::from(documents) * share / 100.0;
        for doc in 0..documents {
            let is_shown = if is_in_a_row { f64::from(doc) < end } else { random.f64() * 100.0 < share };
            if is_shown {
                docs.insert(doc);
            }
        }
        VisibleDocs::whole(docs)
    };
    let visible: Vec<VisibleDocs> = whole.document_numbers().into_iter().map(of_segment).collect();
    Ok(whole.seen_by(&visible)?)
}

/// The time since `begin` for each of the queries, in µs.
fn per_query(begin: Instant, queries: &[Query]) -> f64 {
    let count = u32::try_from(queries.len().max(1)).unwrap_or(u32::MAX);
    begin.elapsed().as_secs_f64() * 1e6 / f64::from(count)
}

/// Measures the whole snapshot and its views.
pub fn run(args: &ViewArgs, results: &mut Results) -> Result<()> {
    let open = || Snapshot::open(&args.index);
    let whole = open()?;
    let queries = classes(&args.queries, args.language, |text, operator| whole.parse(text, operator))?;
    let mut random = fastrand::Rng::with_seed(args.seed);
    let mut subjects = Vec::new();
    for &share in &args.visible {
        for (is_in_a_row, how) in [(false, "at random"), (true, "in a row")] {
            if share < 100.0 || !is_in_a_row {
                let snapshot = view(&whole, share, is_in_a_row, &mut random)?;
                subjects.push(Subject { name: format!("{share} % {how}"), snapshot });
            }
        }
    }
    for user in &args.users {
        subjects.push(view_of(&whole, user, args.repetitions, results)?);
    }
    subjects.insert(0, Subject { name: "whole".into(), snapshot: open()? });
    let mut cases = Vec::new();
    for subject in &subjects {
        for (class, queries) in &queries {
            for want in [Want::Best, Want::Count] {
                let begin = Instant::now();
                for query in queries {
                    want.ask(&subject.snapshot.searcher(), query, args.model)?;
                }
                let first = per_query(begin, queries);
                println!(
                    "{}, {class}, {}: {first:.1} µs per query when asked first",
                    subject.name,
                    want.name()
                );
                cases.push(ViewCase { subject, class, queries, want });
            }
        }
    }
    let samples = in_turns(args.repetitions.max(1), &cases, |case| {
        let searcher = case.subject.snapshot.searcher();
        let begin = Instant::now();
        for query in case.queries {
            case.want.ask(&searcher, query, args.model)?;
        }
        anyhow::Ok(per_query(begin, case.queries))
    })?;
    let whole: Vec<Vec<f64>> = samples.iter().take(queries.len() * 2).cloned().collect();
    for (at, (case, times)) in cases.iter().zip(samples).enumerate() {
        let base = whole.get(at % whole.len().max(1)).cloned().unwrap_or_default();
        let (own, of_whole) = (median(&times), median(&base));
        println!(
            "{}, {}, {}: {own:.2} µs per query, {:.2} of the whole",
            case.subject.name,
            case.class,
            case.want.name(),
            own / of_whole
        );
        let metric = format!("{}, average", case.want.name());
        let metric = (metric.as_str(), "µs", Better::Lower);
        let subject = format!("{}, {}", text::name(&args.index), case.subject.name);
        results.add(Series::of("views", &subject, case.class, metric, times), Some(&base));
    }
    Ok(())
}
