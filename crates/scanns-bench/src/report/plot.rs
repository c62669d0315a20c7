//! Draws a group as SVG: lines with whiskers over an axis, or bars with whiskers.
//!
//! The legend is below the plot, where it hides no point: see [`key`].

use anyhow::{Result, anyhow};
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

use super::groups::{Group, Line};

/// Size of a plot in pixels.
const SIZE: (u32, u32) = (900, 420);

/// Height of a bar with its gap in pixels.
const BAR: u32 = 34;

/// Colours that people with any kind of colour vision can tell apart (Okabe and Ito).
pub(super) const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(213, 94, 0),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(60, 60, 60),
];

const GREY: RGBColor = RGBColor(150, 150, 150);

/// The plot of a group.
pub fn svg(group: &Group<'_>) -> Result<String> {
    let mut text = String::new();
    match group.axis {
        Some(axis) => lines(group, axis, &mut text),
        None => bars(group, &mut text),
    }
    .map_err(|error| anyhow!("cannot draw {}: {error}", group.title()))?;
    Ok(text)
}

pub(super) type DrawnPlot = Result<(), Box<dyn std::error::Error>>;

/// Least and greatest of finite values; 0 and 1 if there are none.
pub(super) fn bounds(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let fold = |(low, high): (f64, f64), value: f64| (low.min(value), high.max(value));
    let (low, high) = values.filter(|value| value.is_finite()).fold((f64::MAX, f64::MIN), fold);
    if low > high { (0.0, 1.0) } else { (low, high) }
}

fn colour(line: &Line<'_>, at: usize) -> RGBColor {
    if line.published { GREY } else { COLOURS[at % COLOURS.len()] }
}

/// Pixels of a dash and of the gap after it; 0 for a solid line. With the colours, they distinguish 21 lines.
fn dashes(at: usize) -> (u32, u32) {
    [(1, 0), (8, 4), (2, 4)][at / COLOURS.len() % 3]
}

/// Colour, dash pattern and name of each line, as SVG and HTML write them.
pub fn key<'a>(group: &'a Group<'_>) -> impl Iterator<Item = (String, String, &'a str)> {
    group.lines.iter().enumerate().map(|(at, line)| {
        let RGBColor(red, green, blue) = colour(line, at);
        let (dash, gap) = dashes(at);
        (format!("#{red:02x}{green:02x}{blue:02x}"), format!("{dash} {gap}"), line.name.as_str())
    })
}

/// True if the values span a range so large that only a logarithm shows the small ones.
fn spans(low: f64, high: f64) -> bool {
    low > 0.0 && high / low > 30.0
}

fn lines(group: &Group<'_>, axis: &str, text: &mut String) -> DrawnPlot {
    let all = || group.lines.iter().flat_map(|line| &line.points);
    let (left, right) = bounds(all().map(|point| point.0));
    let (low, high) = bounds(all().flat_map(|(_, series)| [series.summary().min, series.summary().max]));
    let (log_x, log_y) = (spans(left, right) || (left > 0.0 && right / left >= 4.0), spans(low, high));
    let y = if log_y { low / 1.3..high * 1.3 } else { 0.0..high * 1.08 };
    let x = if log_x {
        left / 1.1..right * 1.1
    } else {
        left - 0.04 * (right - left)..right + 0.04 * (right - left)
    };
    match (log_x, log_y) {
        (true, true) => chart(group, axis, text, x.log_scale().base(2.0), y.log_scale()),
        (true, false) => chart(group, axis, text, x.log_scale().base(2.0), y),
        (false, true) => chart(group, axis, text, x, y.log_scale()),
        (false, false) => chart(group, axis, text, x, y),
    }
}

/// Formats a number for an axis.
pub(super) fn tick(value: &f64) -> String {
    if value.abs() >= 10.0 || value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

fn chart<X, Y>(group: &Group<'_>, axis: &str, text: &mut String, x: X, y: Y) -> DrawnPlot
where
    X: AsRangedCoord<Value = f64>,
    Y: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    let root = SVGBackend::with_string(text, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .margin(12)
        .x_label_area_size(42)
        .y_label_area_size(70)
        .build_cartesian_2d(x, y)?;
    chart
        .configure_mesh()
        .x_desc(axis)
        .y_desc(format!("{}, {}", group.metric, group.unit))
        .light_line_style(TRANSPARENT)
        .x_label_formatter(&tick)
        .y_label_formatter(&tick)
        .label_style(("sans-serif", 14))
        .draw()?;
    for (at, line) in group.lines.iter().enumerate() {
        let colour = colour(line, at);
        let points: Vec<(f64, f64)> =
            line.points.iter().map(|(x, series)| (*x, series.summary().median)).collect();
        let (dash, gap) = dashes(at);
        let style = colour.stroke_width(2);
        if gap == 0 {
            chart.draw_series(LineSeries::new(points, style))?;
        } else {
            chart.draw_series(DashedLineSeries::new(points, dash, gap, style))?;
        }
        chart.draw_series(line.points.iter().map(|(x, series)| {
            let summary = series.summary();
            ErrorBar::new_vertical(*x, summary.min, summary.median, summary.max, colour.filled(), 6)
        }))?;
    }
    root.present()?;
    Ok(())
}

fn bars(group: &Group<'_>, text: &mut String) -> DrawnPlot {
    let count = u32::try_from(group.lines.len())?;
    let summaries = || group.lines.iter().flat_map(|line| &line.points).map(|point| point.1.summary());
    let (_, high) = bounds(summaries().map(|summary| summary.max));
    let high = if high > 0.0 { high * 1.05 } else { 1.0 };
    let longest = group.lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0);
    let names = (u32::try_from(longest)? * 7 + 16).min(SIZE.0 / 2);
    let root = SVGBackend::with_string(text, (SIZE.0, count * BAR + 70)).into_drawing_area();
    root.fill(&WHITE)?;
    // The last row is part of the range.
    let rows = (0..i32::try_from(count)?.saturating_sub(1)).into_segmented();
    let mut chart = ChartBuilder::on(&root)
        .margin(12)
        .x_label_area_size(42)
        .y_label_area_size(names)
        .build_cartesian_2d(0.0..high, rows)?;
    let name = |row: &SegmentValue<i32>| match row {
        // Rows are counted from the bottom, lines from the top.
        SegmentValue::CenterOf(row) => {
            let at =
                usize::try_from(i32::try_from(count).unwrap_or(i32::MAX) - 1 - row).unwrap_or(usize::MAX);
            group.lines.get(at).map(|line| line.name.clone()).unwrap_or_default()
        }
        _ => String::new(),
    };
    chart
        .configure_mesh()
        .x_desc(format!("{}, {}", group.metric, group.unit))
        .disable_y_mesh()
        .light_line_style(TRANSPARENT)
        .y_labels(group.lines.len())
        .y_label_formatter(&name)
        .x_label_formatter(&tick)
        .label_style(("sans-serif", 13))
        .draw()?;
    for (at, line) in group.lines.iter().enumerate() {
        let row = i32::try_from(group.lines.len() - 1 - at)?;
        for (_, series) in &line.points {
            let summary = series.summary();
            let mut bar = Rectangle::new(
                [(0.0, SegmentValue::Exact(row)), (summary.median, SegmentValue::Exact(row + 1))],
                colour(line, at).filled(),
            );
            bar.set_margin(4, 4, 0, 0);
            chart.draw_series([bar])?;
            chart.draw_series([ErrorBar::new_horizontal(
                SegmentValue::CenterOf(row),
                summary.min,
                summary.median,
                summary.max,
                BLACK.stroke_width(1),
                8,
            )])?;
        }
    }
    root.present()?;
    Ok(())
}
