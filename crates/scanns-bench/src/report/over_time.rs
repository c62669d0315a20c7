//! Draws one figure over its runs as SVG: a line with whiskers, a band of noise, and labels.

use anyhow::{Result, anyhow};
use plotters::prelude::*;

use super::plot::{COLOURS, DrawnPlot, bounds, tick};

/// Size of a plot in pixels.
const SIZE: (u32, u32) = (900, 240);

/// A run of the figure.
#[derive(Clone, Debug)]
pub struct Point {
    /// The median of its rounds.
    pub value: f64,
    /// The least of its rounds.
    pub least: f64,
    /// The greatest of its rounds.
    pub greatest: f64,
    /// The middle of the band.
    pub level: f64,
    /// A label beside the point.
    pub label: Option<String>,
    /// The commit, for the axis.
    pub commit: String,
}

/// The plot of a figure with a description of its axis. `noise` is half the height of the band, as a share.
///
/// # Errors
/// If it cannot be drawn.
pub fn svg(axis: &str, points: &[Point], noise: f64) -> Result<String> {
    let mut text = String::new();
    draw(axis, points, noise, &mut text).map_err(|error| anyhow!("cannot draw {axis}: {error}"))?;
    Ok(text)
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "numbers of runs on an axis"
)]
fn draw(axis: &str, points: &[Point], noise: f64, text: &mut String) -> DrawnPlot {
    let (_, high) = bounds(points.iter().flat_map(|point| [point.greatest, point.level * (1.0 + noise)]));
    let root = SVGBackend::with_string(text, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .margin(12)
        .x_label_area_size(28)
        .y_label_area_size(70)
        .build_cartesian_2d(-0.6..points.len() as f64 - 0.4, 0.0..high * 1.15)?;
    let commit = |place: &f64| {
        let at = place.round();
        let point = if (place - at).abs() < 0.01 && at >= 0.0 { points.get(at.abs() as usize) } else { None };
        point.map(|point| point.commit.clone()).unwrap_or_default()
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .x_labels(points.len().clamp(2, 12))
        .x_label_formatter(&commit)
        .y_labels(5)
        .y_label_formatter(&tick)
        .y_desc(axis.chars().take(28).collect::<String>())
        .label_style(("sans-serif", 13))
        .draw()?;
    let placed = || points.iter().enumerate().map(|(at, point)| (at as f64, point));
    chart.draw_series(placed().map(|(at, point)| {
        let (low, high) = (point.level * (1.0 - noise), point.level * (1.0 + noise));
        Rectangle::new([(at - 0.5, low), (at + 0.5, high)], RGBColor(225, 225, 225).filled())
    }))?;
    let colour = COLOURS[0];
    chart.draw_series(LineSeries::new(
        placed().map(|(at, point)| (at, point.value)),
        colour.stroke_width(2),
    ))?;
    chart.draw_series(placed().map(|(at, point)| {
        ErrorBar::new_vertical(at, point.least, point.value, point.greatest, colour.filled(), 6)
    }))?;
    chart.draw_series(placed().filter_map(|(at, point)| {
        let label = point.label.clone()?;
        Some(Text::new(label, (at - 0.3, point.greatest + high * 0.1), ("sans-serif", 13).into_font()))
    }))?;
    root.present()?;
    Ok(())
}
