//! The tables: builds, questions about names, and sums.

use scanns_bench::child::Cost;
use scanns_bench::results::{Better, Setting};
use scanns_bench::stats::mib;

use super::drive::{Answers, Builds, Figures};
use super::question::Question;
use super::tool::Tool;
use crate::table::{Figure, Line};

/// A table with its title.
#[derive(Clone, Debug)]
pub struct Table {
    /// What it shows.
    pub title: &'static str,
    /// The names of the tools.
    pub columns: Vec<&'static str>,
    /// The lines.
    pub lines: Vec<Line>,
}

/// All tables.
pub fn tables(figures: &Figures) -> [Table; 3] {
    let is_space = |asked: &&Answers| matches!(asked.question, Question::Space(_));
    let names: Vec<&Answers> = figures.asked.iter().filter(|asked| !is_space(asked)).collect();
    let sums: Vec<&Answers> = figures.asked.iter().filter(is_space).collect();
    [
        building(figures),
        asking("Names: milliseconds, and whether the answer is find's", &names, |_| ""),
        asking("Space in blocks: milliseconds, and whether the answer is du's", &sums, Tool::counts),
    ]
}

/// A figure of a build: its label, metric, unit, and its samples by tool.
type OfBuilds = (&'static str, &'static str, &'static str, fn(&Builds, f64) -> Vec<f64>);

fn each(costs: &[Cost], of: fn(&Cost) -> f64) -> Vec<f64> {
    costs.iter().map(of).collect()
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn building(figures: &Figures) -> Table {
    let rows: [OfBuilds; 8] = [
        ("build, s", "build", "s", |one, _| each(&one.first, |cost| cost.wall)),
        ("  processor, s", "processor of a build", "s", |one, _| each(&one.first, |cost| cost.processor)),
        ("  peak memory, MiB", "memory of a build", "MiB", |one, _| {
            each(&one.first, |cost| mib(cost.memory))
        }),
        ("build again, s", "second build", "s", |one, _| each(&one.again, |cost| cost.wall)),
        ("  processor, s", "processor of a second build", "s", |one, _| {
            each(&one.again, |cost| cost.processor)
        }),
        ("  peak memory, MiB", "memory of a second build", "MiB", |one, _| {
            each(&one.again, |cost| mib(cost.memory))
        }),
        ("written, MiB", "written", "MiB", |one, _| one.bytes.map(mib).into_iter().collect()),
        ("  bytes an entry", "bytes an entry", "B", |one, entries| {
            one.bytes.map(|bytes| bytes as f64 / entries).into_iter().collect()
        }),
    ];
    let keeps = figures.builds.iter().map(|one| one.tool.keeps().into()).collect();
    let mut lines = vec![Line::words("keeps", keeps)];
    for (label, metric, unit, of) in rows {
        let samples = figures.builds.iter().map(|one| {
            let samples = of(one, figures.entries as f64);
            (!samples.is_empty()).then_some(samples)
        });
        let samples = samples.collect();
        let figure = Figure { metric: format!("files: {metric}"), unit, better: Better::Lower, samples };
        lines.push(Line { figures: vec![figure], ..Line::heading(label.into()) });
    }
    Table {
        title: "Build from the tree, and again although nothing has changed",
        columns: figures.builds.iter().map(|one| one.tool.name()).collect(),
        lines,
    }
}

/// A line of times and a line of verdicts for each question.
fn asking(title: &'static str, asked: &[&Answers], counts: fn(Tool) -> &'static str) -> Table {
    let mut tools: Vec<Tool> =
        asked.iter().flat_map(|asked| asked.each.iter().map(|answer| answer.tool)).collect();
    tools.sort_unstable();
    tools.dedup();
    let mut lines = Vec::new();
    let counted: Vec<String> = tools.iter().map(|&tool| counts(tool).into()).collect();
    if counted.iter().any(|words| !words.is_empty()) {
        lines.push(Line::words("counts", counted));
    }
    for asked in asked {
        let of = |tool: Tool| asked.each.iter().find(|answer| answer.tool == tool);
        let millis = |tool: &Tool| Some(each(&of(*tool)?.costs, |cost| 1e3 * cost.wall));
        let memory = |tool: &Tool| Some(each(&of(*tool)?.costs, |cost| mib(cost.memory)));
        let figure = |metric: &str, unit, samples| Figure {
            metric: format!("files: {metric}"),
            unit,
            better: Better::Lower,
            samples,
        };
        let unit = if matches!(asked.question, Question::Space(_)) { "B" } else { "paths" };
        let times = figure("answer", "ms", tools.iter().map(millis).collect());
        let settings = vec![("question", Setting::Name(asked.label.clone()))];
        let label = format!("{}: {} {unit}", asked.label, asked.result);
        lines.push(Line { label, settings: settings.clone(), figures: vec![times], words: Vec::new() });
        let memories = figure("memory of an answer", "MiB", tools.iter().map(memory).collect());
        lines.push(Line {
            label: "  peak memory, MiB".into(),
            settings,
            figures: vec![memories],
            words: Vec::new(),
        });
        let words = tools.iter().map(|&tool| of(tool).map_or(String::new(), |answer| answer.verdict.words()));
        lines.push(Line::words("  answer", words.collect()));
    }
    Table { title, columns: tools.into_iter().map(Tool::name).collect(), lines }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::answer::Verdict;
    use crate::files::drive::Answered;
    use crate::table::render;

    fn cost(wall: f64) -> Cost {
        Cost { wall, processor: 2.0 * wall, memory: 3 << 20, own: 1 << 20 }
    }

    #[test]
    fn tools_without_a_build_or_an_answer_have_an_empty_cell() {
        let built =
            |tool, bytes| Builds { tool, first: vec![cost(2.0)], again: vec![], bytes, entries: None };
        let answered = |tool, verdict| Answered { tool, verdict, costs: vec![cost(0.004), cost(0.006)] };
        let asked = |question, each| Answers { question, label: "q".into(), result: 7, each };
        let wrong = Verdict::Paths { missing: 1, more: 0, first: b"/t/x".to_vec() };
        let figures = Figures::of(
            100,
            vec![built(Tool::Scanns, Some(1000)), built(Tool::Du, None)],
            vec![
                asked(
                    Question::All,
                    vec![answered(Tool::Scanns, Verdict::Equal), answered(Tool::Plocate, wrong)],
                ),
                asked(Question::Space("/t".into()), vec![answered(Tool::Du, Verdict::Equal)]),
            ],
        );
        let [builds, names, sums] = tables(&figures);
        assert_eq!(builds.columns, ["scanns", "du"]);
        let text = render(&builds.columns, &builds.lines);
        assert!(text.contains("build, s            2.00         2.00  ×1.00\n"), "{text}");
        assert!(text.contains("  bytes an entry    10.0\n"), "{text}");
        assert_eq!(names.columns, ["scanns", "plocate"]);
        let text = render(&names.columns, &names.lines);
        assert!(text.contains("q: 7 paths          5.00    5.00  ×1.00 ± 0.000\n"), "{text}");
        assert!(text.contains("  answer            equal   1 missing, 0 more\n"), "{text}");
        assert_eq!(sums.columns, ["du"]);
        let notes: Vec<String> = figures.notes().collect();
        assert_eq!(notes, ["plocate, q: 1 missing, 0 more; the first is \"/t/x\""]);
        assert!(figures.is_right(Tool::Scanns) && !figures.is_right(Tool::Plocate));
    }
}
