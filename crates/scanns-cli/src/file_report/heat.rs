//! Tables of ages by sizes for a page, whose cells are darker the more space they have.

use std::fmt::Write;

use scanns::files::{AGE_CLASSES, AgeTable, EntrySums, SIZE_CLASSES};

use super::markup::{escaped, part};
use crate::units;

/// A table of ages by sizes, whose cells are darker the more space they have.
pub fn put_ages(page: &mut String, named: (&str, &str), table: &AgeTable) {
    let (id, title) = named;
    let sizes: Vec<usize> = (0..SIZE_CLASSES.len())
        .filter(|&size| table.cells.iter().any(|row| row.get(size).is_some_and(|cell| cell.entries > 0)))
        .collect();
    let most = table.cells.iter().flatten().map(|cell| cell.space).max().unwrap_or(0);
    let most_of_age = (0..AGE_CLASSES.len()).map(|age| table.age(age).space).max().unwrap_or(0);
    let _ = write!(
        page,
        "<section aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{title}</h2>\n\
         <div class=\"scroll\" tabindex=\"0\">\
         <table class=\"heat\">\n<thead><tr><th scope=\"col\">age</th>"
    );
    for name in sizes.iter().filter_map(|&size| SIZE_CLASSES.get(size)) {
        let _ = write!(page, "<th scope=\"col\">{}</th>", escaped(name));
    }
    page.push_str("<th scope=\"col\">space</th><th scope=\"col\">files</th></tr></thead>\n<tbody>\n");
    for ((age, name), row) in AGE_CLASSES.iter().enumerate().zip(&table.cells) {
        let sums = table.age(age);
        if sums.entries == 0 {
            continue;
        }
        let _ = write!(page, "<tr><th scope=\"row\">{}</th>", escaped(name));
        sizes.iter().filter_map(|&size| row.get(size)).for_each(|cell| put_heat(page, *cell, most));
        let width = part(sums.space, most_of_age) * 100.0;
        let _ = writeln!(
            page,
            "<td class=\"total\"><i style=\"width:{width:.1}%\"></i>{}</td><td>{}</td></tr>",
            units::size(sums.space),
            units::count(sums.entries)
        );
    }
    page.push_str("</tbody></table></div>\n</section>\n");
}

fn put_heat(page: &mut String, cell: EntrySums, most: u64) {
    if cell.entries == 0 {
        page.push_str("<td class=\"none\">·</td>");
        return;
    }
    // The square root tells small parts from nothing.
    let heat = part(cell.space, most).sqrt() * 70.0;
    let files = units::counted(cell.entries, "file");
    let space = units::size(cell.space);
    let _ = write!(page, "<td style=\"--heat:{heat:.0}%\" title=\"{files}\">{space}</td>");
}
