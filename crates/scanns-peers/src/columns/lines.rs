//! The tables for columns, and the same figures as series of the results.

use std::collections::BTreeSet;

use scanns_bench::results::{Better, Results, Series};
use scanns_bench::stats::{median, mib, quantile};

use super::drive::Measured;
use super::protocol::{Built, Operation};
use super::{NUMBERS, STRINGS};
use crate::table::{self, Line};

/// All operations, in the order of the table.
fn operations() -> impl Iterator<Item = Operation> {
    Operation::BY_HITS.into_iter().chain(Operation::EXPORTS)
}

/// Adds all figures to `results`, and returns the tables as text.
pub fn report(documents: u32, names: &[&str], measured: &[Measured], results: &mut Results) -> String {
    let subject = format!("{documents} fetches");
    record(&subject, names, measured, results);
    let sizes = table::render(names, &building(documents, measured));
    let medians = table::render(names, &times(measured, median_and_ratio));
    let spread = table::render(names, &times(measured, quartiles));
    format!(
        "{sizes}\nMilliseconds, medians by hits; × is the ratio to scanns\n{medians}\n\
         Milliseconds: minimum / p25 / median / p75 / p95\n{spread}"
    )
}

fn record(subject: &str, names: &[&str], measured: &[Measured], results: &mut Results) {
    let mut add = |name: &str, (metric, unit, better): (&str, &str, Better), samples: Vec<f64>| {
        results.series.push(Series::of("peers", subject, name, (metric, unit, better), samples));
    };
    for (name, one) in names.iter().zip(measured) {
        let built = &one.built;
        add(name, ("columns: documents a second", "1/s", Better::Higher), vec![rate(built)]);
        add(name, ("columns: merge", "s", Better::Lower), vec![built.merge_seconds]);
        let peaks =
            [("building", built.peak_bytes), ("merging", built.merge_peak_bytes), ("asking", one.peak_bytes)];
        for (what, bytes) in peaks {
            let metric = format!("columns: most memory, {what}");
            add(name, (&metric, "MiB", Better::Lower), vec![mib(bytes)]);
        }
        add(name, ("columns: index", "MiB", Better::Lower), vec![mib(built.index_bytes)]);
        for (column, bytes) in &built.columns {
            add(name, (&format!("columns: {column}"), "MiB", Better::Lower), vec![mib(*bytes)]);
        }
    }
    for (name, one) in names.iter().zip(measured) {
        for operation in operations() {
            let of = one.times.iter().filter(|((known, ..), _)| *known == operation);
            for ((_, hits, warm), samples) in of {
                let cold = if *warm { "" } else { ", cold" };
                let metric = format!("columns: {}{cold}", operation.words());
                let kind = (metric.as_str(), "ms", Better::Lower);
                let mut series = Series::of("peers", subject, name, kind, samples.clone());
                if *hits > 0 {
                    series = series.with("hits", f64::from(*hits));
                }
                results.series.push(series);
            }
        }
        if !one.loosely.is_empty() {
            let words: Vec<&str> = one.loosely.iter().map(|operation| operation.words()).collect();
            results.notes.push(format!(
                "{subject}, {name}: ties came in a different order, so only counts and lengths were \
                 compared for: {}",
                words.join("; ")
            ));
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rate for people")]
fn rate(built: &Built) -> f64 {
    built.documents as f64 / built.seconds
}

/// The lines for builds, merges, memory, and the sizes of columns.
fn building(documents: u32, measured: &[Measured]) -> Vec<Line> {
    let words =
        |label: &str, of: &dyn Fn(&Measured) -> String| Line::words(label, measured.iter().map(of).collect());
    let first = measured.first();
    let against = |value: f64, base: Option<f64>| {
        let base = base.filter(|base| *base > 0.0);
        base.map_or(format!("{value:.1}"), |base| format!("{value:.1}  ×{:.2}", value / base))
    };
    let figure = |label: &str, of: &dyn Fn(&Measured) -> f64| {
        words(label, &|one| {
            against(of(one), first.map(of).filter(|_| !first.is_some_and(|f| std::ptr::eq(f, one))))
        })
    };
    let mut lines = vec![
        words("documents", &|one| one.built.documents.to_string()),
        figure("added per second, thousand", &|one| rate(&one.built) / 1e3),
        words("segments before the merge", &|one| one.built.segments.to_string()),
        figure("merge, s", &|one| one.built.merge_seconds),
        figure("peak memory of build, MiB", &|one| mib(one.built.peak_bytes)),
        figure("peak memory of merge, MiB", &|one| mib(one.built.merge_peak_bytes)),
        figure("peak memory of queries, MiB", &|one| mib(one.peak_bytes)),
        figure("index, MiB", &|one| mib(one.built.index_bytes)),
        figure("all columns, MiB", &|one| mib(one.built.columns.iter().map(|(_, bytes)| bytes).sum())),
    ];
    for column in STRINGS.into_iter().chain(NUMBERS) {
        let of = |one: &Measured| {
            let bytes =
                one.built.columns.iter().find(|(name, _)| name == column).map_or(0, |(_, bytes)| *bytes);
            mib(bytes) * f64::from(1 << 23) / f64::from(documents.max(1))
        };
        lines.push(figure(&format!("{column}, bits per document"), &of));
    }
    lines
}

/// Formats a cell from the samples of an engine and the samples of the first engine.
type Cell = fn(&[f64], Option<&[f64]>) -> String;

fn times(measured: &[Measured], cell: Cell) -> Vec<Line> {
    let mut lines = Vec::new();
    for operation in operations() {
        let keys: BTreeSet<(u32, bool)> = measured
            .iter()
            .flat_map(|one| one.times.keys())
            .filter(|(known, ..)| *known == operation)
            .map(|&(_, hits, warm)| (hits, !warm))
            .collect();
        for (hits, cold) in keys {
            let of = |one: &Measured, operation: Operation| one.times.get(&(operation, hits, !cold)).cloned();
            // scanns does not group by hand, so its own grouping is the base of this comparison.
            let usual = if operation == Operation::GroupsByHand { Operation::Groups } else { operation };
            let base = measured.first().and_then(|first| of(first, usual));
            let mut cells = Vec::new();
            for (at, one) in measured.iter().enumerate() {
                let samples = of(one, if at == 0 { usual } else { operation });
                let base = base.as_deref().filter(|_| at > 0);
                cells.push(samples.map_or("–".to_owned(), |samples| cell(&samples, base)));
            }
            let label = match (hits, cold) {
                (0, false) => operation.words().to_owned(),
                (0, true) => format!("{}, cold", operation.words()),
                (hits, _) => format!("{}, {hits} hits", operation.words()),
            };
            lines.push(Line::words(&label, cells));
        }
    }
    lines
}

/// Formats a number with about three significant digits.
fn short(number: f64) -> String {
    match number {
        large if large >= 100.0 => format!("{large:.0}"),
        middle if middle >= 10.0 => format!("{middle:.1}"),
        small if small >= 1.0 => format!("{small:.2}"),
        tiny => format!("{tiny:.3}"),
    }
}

fn median_and_ratio(samples: &[f64], base: Option<&[f64]>) -> String {
    let own = median(samples);
    let ratio = base.map(|base| format!("  ×{}", short(own / median(base))));
    short(own) + &ratio.unwrap_or_default()
}

fn quartiles(samples: &[f64], _: Option<&[f64]>) -> String {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    [0.0, 0.25, 0.5, 0.75, 0.95].map(|share| short(quantile(&sorted, share))).join(" / ")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::columns::drive::Times;

    fn measured(groups: &[(Operation, f64)]) -> Measured {
        let built = Built {
            documents: 1000,
            seconds: 2.0,
            segments: 1,
            merge_seconds: 1.0,
            peak_bytes: 1 << 20,
            merge_peak_bytes: 1 << 20,
            index_bytes: 1 << 20,
            columns: vec![("id".into(), 1000)],
        };
        let times: Times =
            groups.iter().map(|&(operation, time)| ((operation, 10, true), vec![time])).collect();
        Measured { built, times, peak_bytes: 1, loosely: vec![Operation::Sort] }
    }

    #[test]
    fn tables_have_ratios_to_the_first_and_what_is_done_by_hand_is_compared_with_its_usual_way() {
        let all = [
            measured(&[(Operation::Groups, 2.0)]),
            measured(&[(Operation::Groups, 8.0), (Operation::GroupsByHand, 3.0)]),
        ];
        let mut results = Results::begin(&[Path::new("/")]);
        let text = report(1000, &["scanns", "Lucene"], &all, &mut results);
        for line in ["id, bits per document", "8.0     8.0  ×1.00", "2.00", "8.00  ×4.00", "3.00  ×1.50"] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert!(results.series.iter().any(|series| series.key().contains("hits 10")));
        assert_eq!(results.notes.len(), 2);
    }
}
