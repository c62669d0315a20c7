//! The tables of the application, and the same figures as series of the results.

use scanns_bench::results::{Better, Results};
use scanns_bench::stats::{median, mib};

use super::drive::{Class, Measured};
use super::protocol::Asked;
use crate::table::{self, Figure, Line};

/// Adds all figures to `results`, and returns the tables as text.
pub fn report(
    subject: &str,
    names: &[&str],
    classes: &[Class],
    measured: &[Measured],
    results: &mut Results,
) -> String {
    let writing = writing(measured);
    table::record(subject, 2, names, &writing, results);
    let mut text =
        format!("\n{subject}, two threads; × is the ratio to scanns\n{}", table::render(names, &writing));
    for (place, what) in ["as written", "one segment"].into_iter().enumerate() {
        let lines = asking(classes, measured, place);
        table::record(&format!("{subject}, {what}"), 1, names, &lines, results);
        text += &format!(
            "\n{subject}, {what}: average µs of a question when it is asked again / the first time\n{}",
            table::render(names, &lines)
        );
    }
    text
}

fn line(label: &str, figures: Vec<Figure>) -> Line {
    Line { figures, ..Line::heading(label.into()) }
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn writing(measured: &[Measured]) -> Vec<Line> {
    let of = |metric: &str, unit, better, figure: &dyn Fn(&Measured) -> f64| Figure {
        metric: metric.into(),
        unit,
        better,
        samples: measured.iter().map(|one| Some(vec![figure(one)])).collect(),
    };
    let commit = |one: &Measured, of: fn(&[f64]) -> f64| of(&one.written.commits) * 1e3;
    let longest = |commits: &[f64]| commits.iter().copied().fold(0.0, f64::max);
    let rate = of("documents written", "1/s", Better::Higher, &|one| {
        one.written.documents as f64 / one.written.seconds
    });
    let median = of("median commit", "ms", Better::Lower, &|one| commit(one, median));
    let longest = of("longest commit", "ms", Better::Lower, &|one| commit(one, longest));
    let segments = of("segments", "files", Better::Neither, &|one| one.written.segments as f64);
    let size = of("index size", "MiB", Better::Lower, &|one| mib(one.written.index_bytes));
    let memory = of("peak memory", "MiB", Better::Lower, &|one| mib(one.written.peak_bytes));
    vec![
        line("documents a second", vec![rate]),
        line("commit, ms: median / longest", vec![median, longest]),
        line("segments after the last commit", vec![segments]),
        line("index, MiB", vec![size]),
        line("peak memory, MiB", vec![memory]),
    ]
}

fn asking(classes: &[Class], measured: &[Measured], place: usize) -> Vec<Line> {
    let one = |class: &Class| {
        let figure = |name: &str, of: &dyn Fn(&[f64]) -> f64| Figure {
            metric: format!("{}, {name}", class.name),
            unit: "µs",
            better: Better::Lower,
            samples: measured.iter().map(|one| samples(&one.asked[place], class, of)).collect(),
        };
        let first = |rounds: &[f64]| rounds.first().copied().unwrap_or(f64::NAN);
        let again =
            |rounds: &[f64]| median(rounds.get(1..).filter(|later| !later.is_empty()).unwrap_or(rounds));
        line(&format!("  {}", class.name), vec![figure("again", &again), figure("first", &first)])
    };
    classes.iter().map(one).collect()
}

/// For each turn the average over the questions of a class; none if the engine left one out.
#[expect(clippy::cast_precision_loss, reason = "a number of questions")]
fn samples(turns: &[Asked], class: &Class, of: &dyn Fn(&[f64]) -> f64) -> Option<Vec<f64>> {
    let average = |asked: &Asked| -> Option<f64> {
        let times = class.questions.iter().map(|&at| asked.micros.get(at).filter(|times| !times.is_empty()));
        let times = times.map(|times| times.map(|times| of(times))).collect::<Option<Vec<f64>>>()?;
        Some(times.iter().sum::<f64>() / times.len().max(1) as f64)
    };
    turns.iter().map(average).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::application::protocol::Written;

    #[test]
    fn a_class_has_the_average_of_its_questions_again_and_for_the_first_time() {
        let asked = |micros: Vec<Vec<f64>>| Asked {
            segments: 3,
            answers: vec![None; micros.len()],
            micros,
            peak_bytes: 1,
        };
        let measured = |asked: Asked| Measured {
            written: Written {
                documents: 10,
                seconds: 2.0,
                commits: vec![0.5, 0.25, 1.0],
                segments: 3,
                index_bytes: 1 << 20,
                peak_bytes: 1 << 20,
            },
            asked: [vec![asked.clone()], vec![asked]],
        };
        let whole = measured(asked(vec![vec![9.0, 1.0, 3.0], vec![11.0, 4.0, 4.0], vec![5.0]]));
        let partial = measured(asked(vec![vec![9.0, 1.0, 3.0], Vec::new(), Vec::new()]));
        let class =
            |name: &str, questions: &[usize]| Class { name: name.into(), questions: questions.into() };
        let classes = [class("count, middling", &[0, 1]), class("open, the index", &[2])];
        let lines = asking(&classes, &[whole.clone(), partial], 0);
        let samples = |line: usize, figure: usize| lines[line].figures[figure].samples.clone();
        assert_eq!(samples(0, 0), [Some(vec![3.0]), None]);
        assert_eq!(samples(0, 1), [Some(vec![10.0]), None]);
        assert_eq!(samples(1, 0), [Some(vec![5.0]), None], "asked once");
        let mut results = Results::begin(&[]);
        let text = report("200 items", &["scanns"], &classes, &[whole], &mut results);
        for expected in ["documents a second", "5.00", "500 / 1000", "one segment", "count, middling"] {
            assert!(text.contains(expected), "{expected} is missing in {text}");
        }
        assert!(results.series.iter().any(|series| series.metric == "count, middling, first"));
    }
}
