//! Makes the lines of the table from the measurements.

use scanns_bench::results::{Better, Setting};
use scanns_bench::stats::{mib, quantile};

use crate::job::Measured;
use crate::protocol::{Answers, Built, Goal, Merged, Scoring};
use crate::queries::{Asked, CLASSES};
use crate::table::{Figure, Line};

/// All lines of the table. `measured` has the engines in the order of the columns.
pub fn lines(measured: &[Measured], queries: &[Asked]) -> Vec<Line> {
    let merged = measured.iter().any(|one| !one.merges.is_empty());
    let mut lines = if merged { merging(measured) } else { building(measured) };
    lines.push(memory_of_searches(measured));
    let mut kinds: Vec<(usize, Scoring)> =
        measured.iter().flat_map(|one| one.answers.keys().map(|&(model, count)| (count, model))).collect();
    kinds.sort_unstable();
    kinds.dedup();
    for (searchers, model) in kinds {
        lines.extend(searching(measured, queries, model, searchers));
    }
    lines
}

/// A figure of a build; the second argument is the size of its index in bytes.
type OfBuild = fn(&Built, u64) -> f64;

/// A line with one figure of the builds of all rounds: of the last build of each process, or of the first.
fn of_builds(
    measured: &[Measured],
    label: &str,
    last: bool,
    metric: (&str, &'static str, Better),
    of: OfBuild,
) -> Line {
    let (metric, unit, better) = metric;
    let samples = |one: &Measured| {
        let builds = one.builds.iter().filter_map(|builds| if last { builds.last() } else { builds.first() });
        Some(builds.zip(&one.index_bytes).map(|(built, &bytes)| of(built, bytes)).collect())
    };
    let samples = measured.iter().map(samples).collect();
    line(label, Figure { metric: metric.into(), unit, better, samples })
}

fn line(label: &str, figure: Figure) -> Line {
    Line { figures: vec![figure], ..Line::heading(label.into()) }
}

/// A figure of a merge.
type OfMerge = fn(&Merged) -> f64;

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn merging(measured: &[Measured]) -> Vec<Line> {
    use Better::{Higher, Lower, Neither};
    let rate: OfMerge = |merged| mib(merged.bytes_before) / merged.seconds;
    let seconds: OfMerge = |merged| merged.seconds;
    let before: OfMerge = |merged| merged.segments_before as f64;
    let size_before: OfMerge = |merged| mib(merged.bytes_before);
    let size: OfMerge = |merged| mib(merged.bytes_after);
    let written: OfMerge = |merged| merged.bytes_written as f64 / merged.bytes_after.max(1) as f64;
    let memory: OfMerge = |merged| mib(merged.peak_bytes);
    [
        ("merge into one segment, MiB/s of index", true, ("merged", "MiB/s", Higher), rate),
        ("  first merge of a process", false, ("merged, first of a process", "MiB/s", Higher), rate),
        ("  seconds", true, ("merge", "s", Lower), seconds),
        ("segments before", true, ("segments before", "files", Neither), before),
        ("index before, MiB", true, ("index before", "MiB", Neither), size_before),
        ("index after, MiB", true, ("index size", "MiB", Lower), size),
        ("bytes written / index after", true, ("write amplification of a merge", "ratio", Lower), written),
        ("peak memory, MiB", true, ("peak memory of a merge", "MiB", Lower), memory),
    ]
    .map(|(label, last, (metric, unit, better), of)| {
        let samples = |one: &Measured| {
            let chosen = |merges: &Vec<Merged>| (if last { merges.last() } else { merges.first() }).map(of);
            Some(one.merges.iter().filter_map(chosen).collect())
        };
        let samples = measured.iter().map(samples).collect();
        line(label, Figure { metric: metric.into(), unit, better, samples })
    })
    .into()
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn building(measured: &[Measured]) -> Vec<Line> {
    use Better::{Higher, Lower, Neither};
    let committed: OfBuild = |built, _| mib(built.bytes) / built.seconds;
    let at_rest: OfBuild = |built, _| mib(built.bytes) / built.rest_seconds;
    let size: OfBuild = |_, bytes| mib(bytes);
    let written: OfBuild = |built, bytes| built.bytes_written as f64 / bytes.max(1) as f64;
    let segments: OfBuild = |built, _| built.segments as f64;
    let memory: OfBuild = |built, _| mib(built.peak_bytes);
    let first = ("committed, first of a process", "MiB/s", Higher);
    [
        ("index, MiB/s until committed", true, ("committed", "MiB/s", Higher), committed),
        ("  first build of a process", false, first, committed),
        ("  until merges finish", true, ("at rest", "MiB/s", Higher), at_rest),
        ("index size, MiB", true, ("index size", "MiB", Lower), size),
        ("bytes written / index size", true, ("write amplification", "ratio", Lower), written),
        ("segments", true, ("segments", "files", Neither), segments),
        ("peak memory, MiB", true, ("peak memory", "MiB", Lower), memory),
    ]
    .map(|(label, last, kind, of)| of_builds(measured, label, last, kind, of))
    .into()
}

/// The peak memory of the searching processes, for the first model and number of searchers, which all engines
/// have.
fn memory_of_searches(measured: &[Measured]) -> Line {
    let samples = |one: &Measured| {
        let rounds = one.answers.values().next()?;
        Some(rounds.iter().map(|answers| mib(answers.peak_bytes)).collect())
    };
    let samples = measured.iter().map(samples).collect();
    let (metric, unit, better) = ("peak memory of searches".into(), "MiB", Better::Lower);
    line("  of searches", Figure { metric, unit, better, samples })
}

/// Average, median and 99th percentile.
#[expect(clippy::cast_precision_loss, reason = "a number of queries")]
fn spread(times: &[f64]) -> [f64; 3] {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let average = sorted.iter().sum::<f64>() / sorted.len() as f64;
    [average, quantile(&sorted, 0.5), quantile(&sorted, 0.99)]
}

fn searching(measured: &[Measured], queries: &[Asked], model: Scoring, searchers: usize) -> Vec<Line> {
    let rounds: Vec<Option<&Vec<Answers>>> =
        measured.iter().map(|one| one.answers.get(&(model, searchers))).collect();
    let threads =
        if searchers == 1 { "one searcher".into() } else { format!("{searchers} searchers at once") };
    let settings = |class: &str| {
        vec![
            ("model", Setting::Name(model.to_string())),
            ("class", Setting::Name(class.into())),
            ("searchers", Setting::Number(f64::from(u32::try_from(searchers).unwrap_or(u32::MAX)))),
        ]
    };
    let mut lines = Vec::new();
    for (goal, what) in Goal::EACH.map(Goal::name).into_iter().enumerate() {
        lines.push(Line::heading(format!("{what}, {model}, {threads}: average / p50 / p99 in µs")));
        let mut classes = Vec::new();
        for class in CLASSES {
            let places: Vec<usize> = (0..queries.len()).filter(|&at| queries[at].class == class).collect();
            if places.is_empty() {
                continue;
            }
            // Only engines that reached the goal with all queries of the class are compared.
            let of_class = |answers: &Answers| -> Option<[f64; 3]> {
                let times = places.iter().map(|&at| answers.micros[goal].get(at).copied().flatten());
                Some(spread(&times.collect::<Option<Vec<_>>>()?))
            };
            let figure = |part: usize, name: &str| Figure {
                metric: format!("{what}, {name}"),
                unit: "µs",
                better: Better::Lower,
                samples: rounds
                    .iter()
                    .map(|rounds| (*rounds)?.iter().map(|one| Some(of_class(one)?[part])).collect())
                    .collect(),
            };
            let figures = ["average", "p50", "p99"].iter().enumerate().map(|(part, name)| figure(part, name));
            classes.push(Line {
                label: format!("  {class:<7} {:>9} hits", average_hits(&rounds, &places)),
                settings: settings(class),
                figures: figures.collect(),
                words: Vec::new(),
            });
        }
        let mean = mean_of(&classes, what);
        lines.append(&mut classes);
        lines.extend(mean.map(|mean| Line { settings: settings("mean"), ..line("  mean of classes", mean) }));
    }
    lines
}

/// The geometric mean of the averages of all classes, for each round. The ratio of two such means is the mean
/// of the ratios. An engine without samples of all classes has no mean, as it would be one of other queries.
#[expect(clippy::cast_precision_loss, reason = "a number of classes")]
fn mean_of(classes: &[Line], what: &str) -> Option<Figure> {
    let first = classes.first()?.figures.first()?;
    let of = |line: &Line, column: usize, round: usize| {
        line.figures.first()?.samples.get(column)?.as_ref()?.get(round).copied()
    };
    let mean = |column: usize, round: usize| {
        let logarithms: Option<Vec<f64>> =
            classes.iter().map(|line| of(line, column, round).map(f64::ln)).collect();
        logarithms.map(|logarithms| (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp())
    };
    let samples = first.samples.iter().enumerate().map(|(column, samples)| {
        let rounds = samples.as_ref()?.len();
        (0..rounds).map(|round| mean(column, round)).collect()
    });
    Some(Figure { metric: format!("{what}, mean of classes"), samples: samples.collect(), ..first.clone() })
}

/// The average number of hits of the queries at `places` in the first engine, which is that of all engines
/// that have the same tokens.
fn average_hits(rounds: &[Option<&Vec<Answers>>], places: &[usize]) -> u64 {
    let answers = rounds.iter().flatten().find_map(|rounds| rounds.first());
    let hits = places.iter().filter_map(|&at| answers?.hits.get(at).copied().flatten());
    hits.sum::<u64>() / (places.len().max(1) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::Form;

    fn built(seconds: f64) -> Built {
        Built {
            documents: 1,
            tokens: 1,
            bytes: 10 << 20,
            seconds,
            rest_seconds: 2.0 * seconds,
            segments: 3,
            bytes_written: 6 << 20,
            peak_bytes: 100 << 20,
            contents: None,
        }
    }

    #[test]
    fn figures_of_builds_are_those_of_the_last_repetition_and_of_the_first() {
        let one = Measured {
            name: "x".into(),
            builds: vec![vec![built(2.0), built(1.0)], vec![built(4.0), built(0.5)]],
            index_bytes: vec![3 << 20, 2 << 20],
            ..Measured::default()
        };
        let lines = lines(&[one], &[]);
        let of = |at: usize| lines[at].figures[0].samples[0].clone().unwrap();
        assert_eq!(of(0), [10.0, 20.0], "committed");
        assert_eq!(of(1), [5.0, 2.5], "the first of a process");
        assert_eq!(of(2), [5.0, 10.0], "at rest");
        assert_eq!(of(3), [3.0, 2.0], "MiB");
        assert_eq!(of(4), [2.0, 3.0], "written / size");
        assert_eq!((of(5), of(6)), (vec![3.0; 2], vec![100.0; 2]), "segments, and MiB of memory");
    }

    #[test]
    fn rates_of_merges_are_by_the_bytes_that_were_merged() {
        let merged = |seconds| Merged {
            documents: 1,
            tokens: 1,
            segments_before: 8,
            segments: 1,
            bytes_before: 10 << 20,
            bytes_after: 6 << 20,
            seconds,
            bytes_written: 9 << 20,
            peak_bytes: 100 << 20,
            contents: None,
        };
        let merges = vec![vec![merged(2.0), merged(1.0)], vec![merged(4.0), merged(0.5)]];
        let one = Measured { builds: vec![vec![built(1.0)]], merges, ..Measured::default() };
        let lines = lines(&[one], &[]);
        let of = |at: usize| lines[at].figures[0].samples[0].clone().unwrap();
        assert_eq!(
            (of(0), of(1)),
            (vec![10.0, 20.0], vec![5.0, 2.5]),
            "MiB/s, and of the first of a process"
        );
        assert_eq!((of(2), of(3)), (vec![1.0, 0.5], vec![8.0; 2]), "seconds, segments before");
        assert_eq!((of(4), of(5), of(6)), (vec![10.0; 2], vec![6.0; 2], vec![1.5; 2]));
    }

    #[test]
    fn the_mean_of_classes_is_that_of_engines_that_have_all_of_them() {
        let of = |samples: Vec<Option<Vec<f64>>>| {
            line("", Figure { metric: String::new(), unit: "µs", better: Better::Lower, samples })
        };
        let classes = [
            of(vec![Some(vec![2.0, 3.0]), Some(vec![5.0])]),
            of(vec![Some(vec![8.0, 1.0]), None]),
            of(vec![Some(vec![4.0, 9.0]), None]),
        ];
        let mean = mean_of(&classes, "all").unwrap().samples;
        let ours = mean[0].as_ref().unwrap();
        assert!(ours.iter().zip([4.0, 3.0]).all(|(one, other)| (one - other).abs() < 1e-9), "{mean:?}");
        assert_eq!(mean[1], None, "it has one of three classes");
    }

    #[test]
    fn times_are_spread_by_class_and_missing_models_stay_empty() {
        let asked = |class| Asked { class, form: Form::All };
        let queries = [asked("high"), asked("low"), asked("low"), asked("low")];
        let answers = Answers {
            documents: 9,
            segments: 1,
            hits: [8, 1, 2, 3].map(Some).into(),
            scores: vec![0.0; 4],
            micros: [1.0, 1.0, 1.0, 10.0]
                .map(|factor| [9.0, 1.0, 2.0, 6.0].map(|time| Some(time * factor)).into()),
            positions: Vec::new(),
            peak_bytes: 1,
        };
        let with =
            Measured { answers: [((Scoring::Classic, 1), vec![answers])].into(), ..Measured::default() };
        let lines = searching(&[with, Measured::default()], &queries, Scoring::Classic, 1);
        assert_eq!(lines.len(), 4 * 4, "a heading, two classes and their mean, four times");
        assert!(lines[2].label.contains("low") && lines[2].label.contains(" 2 hits"), "{}", lines[2].label);
        let samples: Vec<_> = lines[2].figures.iter().map(|figure| figure.samples[0].clone()).collect();
        assert_eq!(samples[..2], [Some(vec![3.0]), Some(vec![2.0])]);
        assert!(samples[2].as_ref().is_some_and(|p99| (p99[0] - 5.92).abs() < 1e-9));
        assert_eq!(lines[2].figures[0].samples[1], None);
        assert_eq!(lines[14].figures[0].samples[0], Some(vec![30.0]));
        let mean = lines[3].figures[0].samples[0].as_ref().unwrap()[0];
        assert!((mean - 27.0f64.sqrt()).abs() < 1e-9, "the geometric mean of 9 and 3, not {mean}");
        assert_eq!(lines[3].figures[0].samples[1], None);
    }
}
