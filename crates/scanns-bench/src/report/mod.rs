//! Writes one HTML file that shows a run: what each experiment is, its plots, its figures, and the machine
//! that they were taken on.
//!
//! The file is self-contained: plots are SVG in the page. `groups.rs` decides which series share a plot,
//! `plot.rs` draws it, and `about.rs` describes the experiments. `over_time.rs` draws the figures of a
//! history.

mod about;
mod groups;
pub(crate) mod over_time;
mod plot;

use std::path::Path;

use anyhow::Result;
use maud::{DOCTYPE, Markup, PreEscaped, html as page};

use crate::results::{Better, Results, Series};
use crate::stats::ratio;
use groups::{Group, groups};

pub(crate) const STYLE: &str = "\
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;\
color:#1b1b1b;background:#fff}table{border-collapse:collapse;margin:1rem 0;font-size:.85rem}\
td,th{padding:.15rem .7rem;border-bottom:1px solid #ddd;text-align:right;white-space:nowrap}\
td:first-child,th:first-child{text-align:left}th{border-bottom:2px solid #888}.wide{overflow-x:auto}\
svg{max-width:100%;height:auto}nav a{margin-right:1rem}\
.published{color:#777;font-style:italic}.quiet{color:#666}\
.key{font-size:.85rem}.key span{margin-right:1.2rem;white-space:nowrap}pre{white-space:pre-wrap}";

/// Writes `results.json`, `results.csv` and `report.html` into `directory`.
///
/// # Errors
/// If a file cannot be written or a plot cannot be drawn.
pub fn save(results: &Results, directory: &Path) -> Result<()> {
    results.save(directory)?;
    Ok(std::fs::write(directory.join("report.html"), html(results)?)?)
}

/// The report of a run as a page.
///
/// # Errors
/// If a plot cannot be drawn.
pub fn html(results: &Results) -> Result<String> {
    let mut experiments: Vec<&str> = Vec::new();
    for series in &results.series {
        if !experiments.contains(&series.experiment.as_str()) {
            experiments.push(&series.experiment);
        }
    }
    let sections = experiments.iter().map(|name| section(name, results)).collect::<Result<Vec<Markup>>>()?;
    let markup = page! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                title { "scanns: measurements" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "scanns: measurements" }
                p { "scanns " (results.version) ", " (results.began) }
                pre { "scanns-bench " (results.command.join(" ")) "\n" (results.machine) }
                p.quiet {
                    "Variants of one table took turns, forwards in one round and backwards in the next. "
                    "Points and figures are medians; whiskers and brackets show the least and the greatest."
                    " A ratio is the median of the ratios of the rounds, with its standard error. "
                    "Figures that others published are grey and italic."
                }
                nav { @for name in &experiments { a href={ "#" (name) } { (name) } } }
                @for section in &sections { (section) }
                @if !results.notes.is_empty() {
                    h2 { "Remarks" }
                    ul { @for note in &results.notes { li { (note) } } }
                }
                h2 { "Sources" }
                ol { @for source in about::SOURCES { li { (source) } } }
            }
        }
    };
    Ok(markup.into_string())
}

/// One experiment with all its plots.
fn section(name: &str, results: &Results) -> Result<Markup> {
    let series: Vec<&Series> = results.series.iter().filter(|series| series.experiment == name).collect();
    let parts = groups(&series)
        .iter()
        .map(|group| {
            Ok(page! {
                h3 { (group.title()) }
                (PreEscaped(plot::svg(group)?))
                @if group.axis.is_some() { (key(group)) }
                details open[group.lines.len() <= 12] { summary { "figures" } (table(group)) }
            })
        })
        .collect::<Result<Vec<Markup>>>()?;
    let (title, text) = about::about(name);
    Ok(page! {
        h2 id=(name) { (title) }
        p { (text) }
        @for part in &parts { (part) }
    })
}

/// The legend of a plot.
fn key(group: &Group<'_>) -> Markup {
    page! {
        p.key {
            @for (colour, dashes, name) in plot::key(group) {
                span {
                    svg width="28" height="8" {
                        line x1="0" y1="4" x2="28" y2="4" stroke=(colour) stroke-width="3"
                            stroke-dasharray=(dashes) {}
                    }
                    " " (name)
                }
            }
        }
    }
}

/// Medians, spreads, and ratios to the last variant with the same settings, which by convention is ours.
fn table(group: &Group<'_>) -> Markup {
    let ours = |series: &Series| {
        let alike = |other: &&&Series| other.settings == series.settings && !other.published;
        group.series.iter().rfind(alike).copied()
    };
    let compared = |series: &Series| {
        let other = ours(series).filter(|other| other.variant != series.variant && !series.published)?;
        let (ratio, error) = match series.better {
            Better::Higher => ratio(&other.samples, &series.samples),
            Better::Lower => ratio(&series.samples, &other.samples),
            Better::Neither => return None,
        };
        Some(format!("{ratio:.2} ± {error:.2}"))
    };
    let settings: Vec<&String> = {
        let mut names: Vec<_> = group.series.iter().flat_map(|series| series.settings.keys()).collect();
        names.sort();
        names.dedup();
        names
    };
    page! {
        div.wide { table {
            tr {
                th { "variant" }
                @for name in &settings { th { (name) } }
                th { "median, " (group.unit) } th { "least" } th { "greatest" } th { "runs" }
                th title="how many times better the last variant with the same settings is" {
                    "last is better by"
                }
            }
            @for series in &group.series {
                @let summary = series.summary();
                tr.published[series.published] {
                    td { (series.variant) }
                    @for name in &settings {
                        td { (series.settings.get(*name).map(ToString::to_string).unwrap_or_default()) }
                    }
                    td { (figure(summary.median)) } td { (figure(summary.min)) } td { (figure(summary.max)) }
                    td { (summary.count) }
                    td { (compared(series).unwrap_or_default()) }
                }
            }
        } }
    }
}

/// A figure with its significant digits.
pub(crate) fn figure(value: f64) -> String {
    let digits = match value.abs() {
        value if value >= 100.0 => 0,
        value if value >= 10.0 => 1,
        value if value >= 1.0 => 2,
        _ => 4,
    };
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_report_shows_every_series_escapes_text_and_loads_nothing() {
        let mut results = Results::begin(&[Path::new("/")]);
        for (variant, rate) in [("xs-rd-std", 10.0), ("<ours>", 80.0)] {
            for threads in [1.0, 2.0] {
                let samples = vec![rate * threads; 5];
                results.add(
                    Series::rate("reader", "dump & more", variant, samples).with("threads", threads),
                    None,
                );
            }
            results.add(Series::rate("unheard", "x", variant, vec![rate]), None);
        }
        results.add(
            Series::rate("reader", "dump & more", "paper", vec![9.0]).with("threads", 1.0).published(),
            None,
        );
        results.note("1 < 2");
        let html = html(&results).unwrap();
        for text in [
            "dump &amp; more",
            "&lt;ours&gt;",
            "1 &lt; 2",
            "<svg",
            "8.00 ± 0.00",
            "unheard",
            "class=\"published\"",
        ] {
            assert!(html.contains(text), "{text} is missing");
        }
        assert!(!html.contains("<ours>") && !html.contains("src=") && !html.contains("<script"));
    }
}
