//! A report as aligned tables for a terminal.

use std::fmt::Write;

use scanns::files::{AGE_CLASSES, AgeTable, FilesReport, SIZE_CLASSES};
use scanns::schema::format_date;

use super::sections::{ReportCell, ReportSection, age_tables, place, sections};
use crate::quoting::quoted;
use crate::units;

/// The text of a report.
pub fn text(report: &FilesReport) -> String {
    let date = date_text(report.options.now);
    let mut text = format!("{}, as of {date}\n", quoted(&place(report)));
    for section in sections(report) {
        put_section(&mut text, &section);
        if section.id == "summary" {
            age_tables(report).into_iter().for_each(|(_, title, table)| put_ages(&mut text, title, table));
        }
    }
    text
}

fn put_section(text: &mut String, section: &ReportSection) {
    let _ = writeln!(text, "\n{}", section.title);
    if !section.note.is_empty() {
        let _ = writeln!(text, "{}", section.note);
    }
    let head = section.head.iter().map(|&name| name.to_owned()).collect();
    let rows = section.rows.iter().map(|row| row.iter().map(cell_text).collect());
    put_rows(text, std::iter::once(head).chain(rows).collect());
}

/// The space of files by age and size; sizes and ages of no file are left out.
fn put_ages(text: &mut String, title: &str, table: &AgeTable) {
    let _ = writeln!(text, "\n{title}\nSpace by size, then of all files and their number.");
    let sizes: Vec<usize> = (0..SIZE_CLASSES.len())
        .filter(|&size| table.cells.iter().any(|row| row.get(size).is_some_and(|cell| cell.entries > 0)))
        .collect();
    let names = sizes.iter().filter_map(|&size| SIZE_CLASSES.get(size)).map(|name| short(name));
    let mut rows = vec![names.chain(["space".into(), "files".into(), "age".into()]).collect()];
    for ((age, name), row) in AGE_CLASSES.iter().enumerate().zip(&table.cells) {
        let sums = table.age(age);
        if sums.entries > 0 {
            let cells = sizes.iter().filter_map(|&size| row.get(size));
            let cells = cells.map(|cell| match cell.entries {
                0 => "-".into(),
                _ => short(&units::size(cell.space)),
            });
            let all = [short(&units::size(sums.space)), units::count(sums.entries), (*name).to_owned()];
            rows.push(cells.chain(all).collect());
        }
    }
    put_rows(text, rows);
}

/// A size in few letters: `1.50G`.
fn short(size: &str) -> String {
    size.replace(' ', "").replace("iB", "").replace('B', "")
}

fn cell_text(cell: &ReportCell) -> String {
    match cell {
        ReportCell::Name(name) => quoted(name).into_owned(),
        ReportCell::Label(label) => label.clone(),
        ReportCell::Count(count) => units::count(*count),
        ReportCell::Bytes(bytes) => units::size(*bytes),
        ReportCell::Share(part, whole) => percent(*part, *whole),
        ReportCell::Date(date) => day(*date),
    }
}

/// A part of a whole in percent.
pub fn percent(part: u64, whole: u64) -> String {
    match whole {
        0 => "-".into(),
        _ => format!("{:.1}%", units::approximate(part) * 100.0 / units::approximate(whole)),
    }
}

/// A date to the minute.
pub fn date_text(date: i64) -> String {
    let text = format_date(date);
    text.get(..16).map_or(text.clone(), |minute| format!("{} UTC", minute.replace('T', " ")))
}

/// The day of a date.
pub fn day(date: Option<i64>) -> String {
    let date = date.map(format_date).unwrap_or_else(|| "?".into());
    date.split_once('T').map_or(date.clone(), |(day, _)| day.to_owned())
}

/// Puts rows with aligned columns. Names are on the right, since they may be long; all else is aligned there.
fn put_rows(text: &mut String, rows: Vec<Vec<String>>) {
    let columns = rows.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..columns)
        .map(|at| {
            rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    for row in rows {
        for (at, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let _ = match at + 1 == columns {
                true => writeln!(text, "  {cell}"),
                false => write!(text, "{}{cell:>width$}", if at == 0 { "" } else { "  " }),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_names_come_last() {
        let rows = [["size", "path"], ["1", "a"], ["12345", "b c"]];
        let mut text = String::new();
        put_rows(&mut text, rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect());
        assert_eq!(text, " size  path\n    1  a\n12345  b c\n");
        assert_eq!(
            (short("< 4 KiB"), short("1.50 GiB"), short("12 B")),
            ("<4K".into(), "1.50G".into(), "12".into())
        );
        assert_eq!((percent(1, 8), percent(1, 0)), ("12.5%".into(), "-".into()));
        assert_eq!((day(Some(0)), day(None)), ("1970-01-01".into(), "?".into()));
    }
}
