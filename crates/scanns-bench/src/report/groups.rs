//! Decides which series share a plot: those of one subject and metric, with the setting that varies as the
//! axis.

use crate::results::{Series, Setting};

/// Series that share a plot and a table.
pub struct Group<'a> {
    /// What they were measured on.
    pub subject: &'a str,
    /// The metric.
    pub metric: &'a str,
    /// The unit of the metric.
    pub unit: &'a str,
    /// All of them, in order.
    pub series: Vec<&'a Series>,
    /// The setting along the axis; `None` if nothing varies, or only names do.
    pub axis: Option<&'a str>,
    /// Lines, or bars if there is no axis.
    pub lines: Vec<Line<'a>>,
}

/// A line of a plot: series that differ only in the setting on the axis.
pub struct Line<'a> {
    /// The variant, and its other settings.
    pub name: String,
    /// True for figures that others published.
    pub published: bool,
    /// Its points. The place on the axis is 0 if there is no axis.
    pub points: Vec<(f64, &'a Series)>,
}

impl Group<'_> {
    /// The title of the plot.
    pub fn title(&self) -> String {
        let axis = self.axis.map_or(String::new(), |axis| format!(" by {axis}"));
        format!("{}: {}, {}{axis}", self.subject, self.metric, self.unit)
    }
}

/// The groups of an experiment, in the order of their first series.
pub fn groups<'a>(series: &[&'a Series]) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for &one in series {
        let same = |group: &&mut Group<'_>| {
            group.subject == one.subject && group.metric == one.metric && group.unit == one.unit
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.series.push(one),
            None => groups.push(Group {
                subject: &one.subject,
                metric: &one.metric,
                unit: &one.unit,
                series: vec![one],
                axis: None,
                lines: Vec::new(),
            }),
        }
    }
    for group in &mut groups {
        group.axis = axis(&group.series);
        group.lines = lines(&group.series, group.axis);
    }
    groups
}

/// The setting with the most values, if it has two or more and all are numbers.
fn axis<'a>(series: &[&'a Series]) -> Option<&'a str> {
    let names: Vec<&'a str> = series.iter().flat_map(|one| one.settings.keys()).map(String::as_str).collect();
    let values = |name: &str| {
        let mut values: Vec<f64> = Vec::new();
        for one in series {
            match one.settings.get(name) {
                Some(Setting::Number(value)) if !values.contains(value) => values.push(*value),
                Some(Setting::Name(_)) => return 0,
                _ => {}
            }
        }
        values.len()
    };
    names.into_iter().rev().max_by_key(|name| values(name)).filter(|name| values(name) >= 2)
}

fn lines<'a>(series: &[&'a Series], axis: Option<&str>) -> Vec<Line<'a>> {
    let mut lines: Vec<Line<'a>> = Vec::new();
    for &one in series {
        let others = one.settings.iter().filter(|(name, _)| Some(name.as_str()) != axis);
        let others: Vec<_> = others.map(|(name, value)| format!("{name} {value}")).collect();
        let name = others.iter().fold(one.variant.clone(), |name, other| name + ", " + other);
        let at = match axis.and_then(|axis| one.settings.get(axis)) {
            Some(Setting::Number(at)) => *at,
            _ => 0.0,
        };
        match lines.iter_mut().find(|line| line.name == name) {
            Some(line) => line.points.push((at, one)),
            None => lines.push(Line { name, published: one.published, points: vec![(at, one)] }),
        }
    }
    for line in &mut lines {
        line.points.sort_by(|one, next| one.0.total_cmp(&next.0));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_that_varies_most_is_the_axis_and_the_rest_names_the_line() {
        let series: Vec<Series> = [1.0, 2.0, 4.0]
            .into_iter()
            .flat_map(|threads| {
                ["4 KiB", "2 MiB"].map(|page| {
                    Series::rate("memory", "writes", "random", vec![threads])
                        .with("threads", threads)
                        .with("page", page)
                })
            })
            .collect();
        let found = groups(&series.iter().collect::<Vec<_>>());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].axis, Some("threads"));
        let names: Vec<_> = found[0].lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["random, page 4 KiB", "random, page 2 MiB"]);
        assert_eq!(found[0].lines[0].points.iter().map(|point| point.0).collect::<Vec<_>>(), [1.0, 2.0, 4.0]);
    }

    #[test]
    fn without_numbers_that_vary_there_are_bars() {
        let series = ["a", "b"]
            .map(|variant| Series::rate("tokenizer", "dump", variant, vec![1.0]).with("threads", 1.0));
        let found = groups(&series.iter().collect::<Vec<_>>());
        assert_eq!(found[0].axis, None);
        assert_eq!(found[0].lines.len(), 2);
    }
}
