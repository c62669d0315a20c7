//! One table of all classes of queries and goals in Markdown: the times of scanns, and how many times as long
//! the faster one of the peers takes.

use std::fmt::Write;

use scanns_bench::results::Setting;
use scanns_bench::stats::median;

use crate::table::{Line, short};

/// A class of queries with one goal.
struct Cell<'l> {
    /// The model, the number of searchers, and the class.
    key: [String; 3],
    goal: &'l str,
    /// Median over the rounds of the average, the median and the 99th percentile of scanns, in µs.
    micros: [f64; 3],
    /// The average of the faster peer divided by the average of scanns; none if no peer has the model.
    ratio: Option<f64>,
}

/// The median of the samples of a figure in a column, if it has some.
fn middle(line: &Line, figure: usize, column: usize) -> Option<f64> {
    Some(median(line.figures.get(figure)?.samples.get(column)?.as_deref()?))
        .filter(|median| median.is_finite())
}

fn cell(line: &Line) -> Option<Cell<'_>> {
    let setting = |wanted: &str| {
        let found = line.settings.iter().find(|(name, _)| *name == wanted)?;
        Some(match &found.1 {
            Setting::Name(name) => name.clone(),
            Setting::Number(number) => number.to_string(),
        })
    };
    let figure = line.figures.first()?;
    let goal = figure.metric.strip_suffix(", average")?;
    let ours = middle(line, 0, 0)?;
    let theirs = (1..figure.samples.len()).filter_map(|column| middle(line, 0, column));
    let fastest = theirs.min_by(f64::total_cmp);
    Some(Cell {
        key: [setting("model")?, setting("searchers")?, setting("class")?],
        goal,
        micros: [ours, middle(line, 1, 0)?, middle(line, 2, 0)?],
        ratio: fastest.map(|fastest| fastest / ours),
    })
}

/// The geometric mean of ratios.
#[expect(clippy::cast_precision_loss, reason = "a number of classes")]
fn mean(ratios: &[f64]) -> Option<f64> {
    let logarithms: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (!ratios.is_empty()).then(|| (logarithms / ratios.len() as f64).exp())
}

fn times(ratio: Option<f64>) -> String {
    ratio.map_or("–".into(), |ratio| format!("×{}", short(ratio)))
}

/// The tables of one corpus, `name`, for each model and number of searchers. Empty if nothing was searched.
pub fn markdown(name: &str, columns: &[&str], lines: &[Line], notes: &[String]) -> String {
    let cells: Vec<Cell> = lines.iter().filter_map(cell).collect();
    let mut out = String::new();
    for table in cells.chunk_by(|one, next| one.key[..2] == next.key[..2]) {
        let Some(Cell { key: [model, searchers, _], .. }) = table.first() else { continue };
        let _ = writeln!(out, "\n### {name}: {model}, searchers {searchers}\n");
        let _ = writeln!(
            out,
            "µs of {}: average / p50 / p99, and × how many times as long the faster one of {} takes, on \
             average.\n",
            columns.first().unwrap_or(&""),
            columns.get(1..).unwrap_or_default().join(" and ")
        );
        out += &of_one(table);
        for note in notes {
            let _ = writeln!(out, "\n{note}.");
        }
    }
    out
}

/// The rows of one table.
fn of_one(table: &[Cell]) -> String {
    fn distinct<'c>(names: impl Iterator<Item = &'c str>) -> Vec<&'c str> {
        let mut found = Vec::new();
        names.for_each(|name| {
            if !found.contains(&name) {
                found.push(name);
            }
        });
        found
    }
    let goals = distinct(table.iter().map(|cell| cell.goal));
    let classes = distinct(table.iter().map(|cell| cell.key[2].as_str()));
    let mut out =
        format!("| class | {} | mean |\n|---|{}---|\n", goals.join(" | "), "---|".repeat(goals.len()));
    let ratios = |class: Option<&str>, goal: Option<&str>| {
        let fits = |cell: &&Cell| {
            class.is_none_or(|class| cell.key[2] == class) && goal.is_none_or(|goal| cell.goal == goal)
        };
        mean(&table.iter().filter(fits).filter_map(|cell| cell.ratio).collect::<Vec<_>>())
    };
    for class in classes {
        let cells = goals.iter().map(|goal| {
            let found = table.iter().find(|cell| cell.key[2] == class && cell.goal == *goal);
            found.map_or(String::new(), |cell| {
                format!("{} {}", cell.micros.map(short).join(" / "), times(cell.ratio))
            })
        });
        let cells: Vec<String> = cells.collect();
        let _ = writeln!(out, "| {class} | {} | {} |", cells.join(" | "), times(ratios(Some(class), None)));
    }
    let means: Vec<String> = goals.iter().map(|goal| times(ratios(None, Some(goal)))).collect();
    let _ = writeln!(out, "| **mean** | {} | **{}** |", means.join(" | "), times(ratios(None, None)));
    out
}

#[cfg(test)]
mod tests {
    use scanns_bench::results::Better;

    use super::*;
    use crate::table::Figure;

    fn line(class: &str, goal: &str, averages: [Option<f64>; 3]) -> Line {
        let figure = |name: &str, factor: f64| Figure {
            metric: format!("{goal}, {name}"),
            unit: "µs",
            better: Better::Lower,
            samples: averages.map(|average| average.map(|average| vec![average * factor; 3])).into(),
        };
        Line {
            settings: vec![
                ("model", "bm25".into()),
                ("class", class.into()),
                ("searchers", Setting::Number(1.0)),
            ],
            figures: vec![figure("average", 1.0), figure("p50", 0.5), figure("p99", 4.0)],
            ..Line::heading(class.into())
        }
    }

    #[test]
    fn a_table_has_all_classes_and_goals_with_the_ratio_to_the_faster_peer_and_means() {
        let mut mean = line("mean", "top 10", [Some(1.0); 3]);
        mean.figures[0].metric = "top 10, mean of classes".into();
        let lines = [
            Line::heading("top 10".into()),
            line("low", "top 10", [Some(2.0), Some(8.0), Some(6.0)]),
            line("high", "top 10", [Some(10.0), Some(120.0), None]),
            mean,
            line("low", "count", [Some(4.0), Some(4.0), Some(9.0)]),
        ];
        let text = markdown("dump", &["scanns", "Lucene", "tantivy"], &lines, &["3 tokens differ".into()]);
        for expected in [
            "### dump: bm25, searchers 1",
            "| class | top 10 | count | mean |",
            "| low | 2.00 / 1.00 / 8.00 ×3.00 | 4.00 / 2.00 / 16.0 ×1.00 | ×1.73 |",
            "| high | 10.0 / 5.00 / 40.0 ×12.0 |  | ×12.0 |",
            "| **mean** | ×6.00 | ×1.00 | **×3.30** |",
            "3 tokens differ.",
        ] {
            assert!(text.contains(expected), "{expected} is missing in {text}");
        }
        assert_eq!(text.matches("###").count(), 1);
        assert!(markdown("dump", &["scanns"], &lines[..1], &[]).is_empty());
    }

    #[test]
    fn without_a_peer_there_is_no_ratio() {
        let text = markdown("x", &["scanns"], &[line("low", "count", [Some(2.0), None, None])], &[]);
        assert!(text.contains("8.00 – |") && text.contains("**–**"), "{text}");
    }
}
