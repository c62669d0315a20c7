//! The page of the history: a line for each figure over its runs, with the band of noise and the commits that
//! moved it.

use std::collections::BTreeMap;

use anyhow::Result;
use maud::{DOCTYPE, Markup, PreEscaped, html as page};

use super::moves::{Level, levels, noise};
use super::runs::Figure;
use crate::report::{STYLE, figure as number, over_time};

/// The page of all figures, which must be in the order of their dates.
///
/// # Errors
/// If a plot cannot be drawn.
pub fn html(figures: &[Figure]) -> Result<String> {
    let mut lines = BTreeMap::<[&str; 3], Vec<&Figure>>::new();
    for figure in figures {
        lines.entry(figure.key()).or_default().push(figure);
    }
    let mut sections: Vec<([&str; 2], Vec<Markup>)> = Vec::new();
    for ([machine, corpus, _], points) in &lines {
        let place = [*machine, *corpus];
        if sections.last().is_none_or(|(last, _)| *last != place) {
            sections.push((place, Vec::new()));
        }
        let drawn = one(points)?;
        sections.last_mut().into_iter().for_each(|(_, plots)| plots.push(drawn.clone()));
    }
    let markup = page! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                title { "scanns: figures over time" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "scanns: figures over time" }
                p.quiet {
                    "Points are medians of the rounds of a run, from the oldest to the newest; whiskers show "
                    "the least and the greatest. The grey band is the noise: the spread of the rounds, or of "
                    "repeated runs of a commit. A commit is named where it moved a figure beyond."
                }
                @if figures.is_empty() { p { "There are no runs yet." } }
                @for ([machine, corpus], plots) in &sections {
                    h2 { (corpus) }
                    p.quiet { (machine) }
                    @for plot in plots { (plot) }
                }
            }
        }
    };
    Ok(markup.into_string())
}

/// The plot of one figure, and its latest values.
fn one(points: &[&Figure]) -> Result<Markup> {
    let Some(last) = points.last() else { return Ok(page! {}) };
    let (levels, noise) = (levels(points), noise(points));
    let draw = |(point, level): (&&Figure, &Level)| over_time::Point {
        value: point.value,
        least: point.least,
        greatest: point.greatest,
        level: level.value,
        label: level.moved.map(|_| point.commit.clone()),
        commit: point.commit.clone(),
    };
    let drawn: Vec<over_time::Point> = points.iter().zip(&levels).map(draw).collect();
    let svg = over_time::svg(&format!("{}, {}", last.figure, last.unit), &drawn, noise)?;
    let moved: Vec<_> =
        points.iter().zip(&levels).filter_map(|(point, level)| Some((point, level.moved?))).collect();
    let ratio = |ratio: Option<f64>| ratio.map_or("–".into(), |ratio| format!("×{ratio:.2}"));
    Ok(page! {
        h3 { (last.figure) ", " (last.unit) }
        (PreEscaped(svg))
        p.key {
            "last: " (number(last.value)) " " (last.unit) ", noise ±" (format!("{:.1}", 100.0 * noise)) " %, "
            "better than Lucene " (ratio(last.lucene)) ", than tantivy " (ratio(last.tantivy))
        }
        @if !moved.is_empty() {
            ul.key {
                @for (point, gain) in moved {
                    li { (point.commit) ", " (point.order()[0]) ": " (number(point.value)) ", "
                        (format!("{gain:.2}"))
                        " times as good as before" }
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::moves::tests::runs;
    use super::*;
    use crate::results::Better;

    #[test]
    fn a_page_has_a_line_for_each_figure_names_the_commits_that_moved_it_and_escapes_text() {
        let mut figures =
            runs(Better::Higher, &[("a1", 100.0, 5.0), ("b2", 101.0, 5.0), ("c<3", 200.0, 5.0)]);
        figures.push(Figure { figure: "peers: top 10".into(), unit: "µs".into(), ..figures[0].clone() });
        let html = html(&figures).unwrap();
        for text in ["dump &amp; more", "c&lt;3", "×3.00", "1.99 times", "peers: top 10, µs"] {
            assert!(html.contains(text), "{text} is missing");
        }
        assert_eq!(html.matches("<svg").count(), 2);
        assert!(!html.contains("c<3") && !html.contains("<script") && !html.contains("src="));
    }

    #[test]
    fn without_runs_the_page_says_so() {
        assert!(html(&[]).unwrap().contains("no runs yet"));
    }
}
