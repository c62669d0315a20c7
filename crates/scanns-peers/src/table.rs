//! The printed table, and the same figures as series of the results.

use scanns_bench::results::{Better, Results, Series, Setting};
use scanns_bench::stats::{Summary, ratio};

/// The samples of one metric, by column. The cell of a column without samples is empty.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The name of the metric.
    pub metric: String,
    /// The unit of the samples.
    pub unit: &'static str,
    /// Whether higher or lower figures are better.
    pub better: Better,
    /// One sample per round, by column.
    pub samples: Vec<Option<Vec<f64>>>,
}

/// A line of the table. A cell has all figures of its column, separated by slashes.
#[derive(Clone, Debug)]
pub struct Line {
    /// The label at the beginning of the line.
    pub label: String,
    /// The settings that distinguish its series from others of the same metric.
    pub settings: Vec<(&'static str, Setting)>,
    /// The figures. The ratio in a cell is of the first one. A heading has no figures.
    pub figures: Vec<Figure>,
    /// The texts of the columns in a line without figures.
    pub words: Vec<String>,
}

impl Line {
    /// A line without figures.
    pub fn heading(label: String) -> Self {
        Line { label, settings: Vec::new(), figures: Vec::new(), words: Vec::new() }
    }

    /// A line of texts.
    pub fn words(label: &str, words: Vec<String>) -> Self {
        Line { words, ..Line::heading(label.into()) }
    }

    /// The text of a cell: the medians over the rounds, and the ratio to the first column with its error.
    fn cell(&self, column: usize) -> String {
        let of = |figure: &Figure, column: usize| figure.samples.get(column).cloned().flatten();
        let medians: Vec<String> = self
            .figures
            .iter()
            .filter_map(|figure| of(figure, column))
            .map(|samples| short(Summary::of(&samples).median))
            .collect();
        let Some(figure) = self.figures.first().filter(|_| !medians.is_empty()) else {
            return self.words.get(column).cloned().unwrap_or_default();
        };
        let compared = (column > 0 && figure.better != Better::Neither)
            .then(|| Some(ratio(&of(figure, column)?, &of(figure, 0)?)))
            .flatten();
        // A single round has no known error.
        let rounds = of(figure, column).map_or(0, |samples| samples.len());
        let compared = compared.map_or(String::new(), |(ratio, error)| {
            let error = if rounds > 1 { format!(" ± {}", short(error)) } else { String::new() };
            format!("  ×{}{error}", short(ratio))
        });
        medians.join(" / ") + &compared
    }
}

/// Formats a number with about three significant digits.
pub fn short(number: f64) -> String {
    match number.abs() {
        large if large >= 99.95 => format!("{number:.0}"),
        middle if middle >= 9.995 => format!("{number:.1}"),
        small if small >= 0.0995 => format!("{number:.2}"),
        _ => format!("{number:.3}"),
    }
}

/// Formats the table as text.
pub fn render(columns: &[&str], lines: &[Line]) -> String {
    let mut rows =
        vec![std::iter::once("").chain(columns.iter().copied()).map(String::from).collect::<Vec<_>>()];
    for line in lines {
        let cells = (0..columns.len()).map(|column| line.cell(column));
        rows.push(std::iter::once(line.label.clone()).chain(cells).collect());
    }
    let width = |column: usize| {
        let of_figures = rows.iter().filter(|row| row.iter().skip(1).any(|cell| !cell.is_empty()));
        of_figures.filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..=columns.len()).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// Adds all figures to `results`.
pub fn record(subject: &str, threads: usize, columns: &[&str], lines: &[Line], results: &mut Results) {
    let threads = f64::from(u32::try_from(threads).unwrap_or(u32::MAX));
    for (line, figure) in lines.iter().flat_map(|line| line.figures.iter().map(move |figure| (line, figure)))
    {
        for (column, samples) in columns.iter().zip(&figure.samples) {
            let Some(samples) = samples else { continue };
            let kind = (figure.metric.as_str(), figure.unit, figure.better);
            let mut series = Series::of("peers", subject, column, kind, samples.clone());
            // The number of indexing threads. Lines of searches have their own settings.
            if line.settings.is_empty() {
                series = series.with("threads", threads);
            }
            for (name, value) in &line.settings {
                series.settings.insert((*name).into(), value.clone());
            }
            results.series.push(series);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn line(label: &str, better: Better, samples: &[Option<&[f64]>]) -> Line {
        let samples = samples.iter().map(|samples| samples.map(<[f64]>::to_vec)).collect();
        let figures = vec![Figure { metric: "m".into(), unit: "u", better, samples }];
        Line { figures, ..Line::heading(label.into()) }
    }

    #[test]
    fn cells_are_medians_with_the_ratio_of_the_rounds_to_the_first_column() {
        let row =
            line("rate", Better::Higher, &[Some(&[100.0, 200.0, 400.0]), Some(&[25.0, 20.0, 100.0]), None]);
        assert_eq!(row.cell(0), "200");
        assert!(row.cell(1).starts_with("25.0  ×0.25 ± 0.0"), "{}", row.cell(1));
        assert_eq!(row.cell(2), "", "nothing was measured");
        let facts = line("segments", Better::Neither, &[Some(&[3.0]), Some(&[6.0])]);
        assert_eq!(facts.cell(1), "6.00", "facts are not compared");
        assert_eq!(Line::heading("x".into()).cell(1), "");
        assert_eq!(Line::words("keeps", vec!["a".into(), "b".into()]).cell(1), "b");
    }

    #[test]
    fn several_figures_share_a_cell_and_the_first_is_compared() {
        let mut row = line("low", Better::Lower, &[Some(&[2.0]), Some(&[5.0])]);
        row.figures.push(row.figures[0].clone());
        row.figures[1].samples = vec![Some(vec![12.34]), Some(vec![1234.5])];
        assert_eq!(row.cell(0), "2.00 / 12.3");
        assert_eq!(row.cell(1), "5.00 / 1234  ×2.50", "one round has no error");
    }

    #[test]
    fn columns_are_aligned_and_headings_may_be_long() {
        let lines = [
            line("a", Better::Lower, &[Some(&[1.0]), Some(&[2.0])]),
            Line::heading("a heading that is longer than any label".into()),
            line("bb", Better::Lower, &[Some(&[10.0]), Some(&[200.0])]),
        ];
        let text = render(&["one", "two"], &lines);
        let rows: Vec<&str> = text.lines().collect();
        assert_eq!(rows[0], "    one   two");
        assert!(rows[1].starts_with("a   1.00  2.00  ×2.00"), "{text}");
        assert_eq!(rows[2], "a heading that is longer than any label");
        assert!(rows[3].starts_with("bb  10.0  200  ×20.0"), "{text}");
    }

    #[test]
    fn every_figure_becomes_a_series_of_the_experiment() {
        let mut results = Results::begin(&[Path::new("/")]);
        let mut latency = line("low", Better::Lower, &[Some(&[1.0, 2.0]), None]);
        latency.settings = vec![("class", "low".into())];
        let lines = [line("rate", Better::Higher, &[Some(&[1.0]), Some(&[2.0])]), latency];
        record("dump", 2, &["scanns", "Lucene"], &lines, &mut results);
        let keys: Vec<String> = results.series.iter().map(Series::key).collect();
        assert_eq!(
            keys,
            [
                "peers · dump · scanns · threads 2 · m",
                "peers · dump · Lucene · threads 2 · m",
                "peers · dump · scanns · class low · m"
            ]
        );
        assert_eq!(results.series[2].samples, [1.0, 2.0]);
    }
}
