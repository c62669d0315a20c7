//! A report as one page for a browser, which needs no other file and no network.
//!
//! The tables are plain HTML. A script adds the map of directories, from data in JSON, and sorts tables. A
//! policy in the head allows nothing but the style and the script of the page. Names are escaped for HTML;
//! in the data, `<`, `>` and `&` are written as escapes of JSON, so that no name can end the element.

use std::fmt::Write;

use scanns::files::{CountedPaths, EntrySums, FilesReport};
use serde_json::json;

use super::heat::put_ages;
use super::markup::{escaped, part, shown};
use super::sections::{ReportCell, ReportSection, age_tables, notable_lists, place, sections};
use super::table::{date_text, day, percent};
use crate::units;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// The page of a report, with what it may lack.
pub fn html(report: &FilesReport, lacks: &[String]) -> String {
    let place = escaped(&shown(&place(report)));
    let date = date_text(report.options.now);
    let mut page = String::with_capacity(1 << 18);
    let _ = write!(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>Files in {place}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n\
         <h1>Files in <span class=\"path\">{place}</span></h1>\n\
         <p>As of <time>{date}</time>. Space is what files take on the medium; size is what they hold.</p>\n\
         </header>\n<main>\n"
    );
    for lack in lacks {
        let _ = writeln!(page, "<p class=\"lack\" role=\"note\">{}</p>", escaped(&shown(lack.as_bytes())));
    }
    put_figures(&mut page, report);
    put_map(&mut page, report);
    page.push_str("<div class=\"ages\">\n");
    age_tables(report).into_iter().for_each(|(id, title, table)| put_ages(&mut page, (id, title), table));
    page.push_str("</div>\n<div class=\"tables\">\n");
    for section in sections(report) {
        match section.id {
            "summary" => {}
            "notable" => put_notable(&mut page, report),
            _ => put_section(&mut page, &section),
        }
    }
    let _ = write!(
        page,
        "</div>\n</main>\n<footer><p>Made by scanns {} from an index.</p></footer>\n\
         <script>\n{SCRIPT}</script>\n\
         </body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    );
    page
}

/// The figures at the top.
fn put_figures(page: &mut String, report: &FilesReport) {
    let totals = &report.totals;
    let EntrySums { entries, size, space } = totals.all;
    let cold = percent(totals.cold.space, space);
    let days = units::counted(report.options.cold_days.into(), "day");
    let mut figures = vec![
        ("Space", units::size(space), format!("{} in size", units::size(size))),
        ("Entries", units::count(entries), further(totals.further_names)),
        ("Files", units::count(totals.files.entries), units::size(totals.files.space)),
        ("Directories", units::count(totals.directories.entries), units::size(totals.directories.space)),
        ("Links", units::count(totals.links.entries), units::size(totals.links.space)),
    ];
    if totals.others.entries > 0 {
        let others = units::count(totals.others.entries);
        figures.push(("Others", others, "pipes, sockets and devices".into()));
    }
    let files = units::counted(totals.cold.entries, "file");
    figures.push(("Cold", cold, format!("{files} not used for {days}: {}", units::size(totals.cold.space))));
    page.push_str("<dl class=\"figures\">\n");
    for (name, figure, more) in figures {
        let _ = writeln!(page, "<div><dt>{name}</dt><dd><b>{figure}</b><span>{more}</span></dd></div>");
    }
    page.push_str("</dl>\n");
}

fn further(names: u64) -> String {
    match names {
        0 => "in all directories".into(),
        names => format!("and {} of the same files", units::counted(names, "further name")),
    }
}

/// The place of the map, and its data.
fn put_map(page: &mut String, report: &FilesReport) {
    let tree = &report.tree;
    let name = |name: &Option<Vec<u8>>| name.as_deref().map(shown);
    let column = |value: fn(&EntrySums) -> u64| tree.iter().map(|node| value(&node.sums)).collect::<Vec<_>>();
    let data = json!({
        "parents": tree.iter().map(|node| node.parent).collect::<Vec<_>>(),
        "names": tree.iter().map(|node| name(&node.name)).collect::<Vec<_>>(),
        "space": column(|sums| sums.space),
        "size": column(|sums| sums.size),
        "entries": column(|sums| sums.entries),
    });
    let data = data.to_string().replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e");
    let _ = write!(
        page,
        "<section id=\"map\" aria-labelledby=\"map-title\" hidden>\n<div class=\"bar\">\n\
         <h2 id=\"map-title\">Map of directories</h2>\n<nav id=\"trail\" aria-label=\"Directory\"></nav>\n\
         <label>Areas show <select id=\"measure\"><option value=\"space\">space</option>\
         <option value=\"size\">size</option><option value=\"entries\">entries</option></select></label>\n\
         </div>\n<svg id=\"tiles\" role=\"group\" aria-label=\"Directories as areas\"></svg>\n\
         <p id=\"told\" aria-live=\"polite\"></p>\n\
         <p class=\"hint\">Click a directory, or choose it with the arrow keys and press Enter, \
         to look inside; \
         Escape goes back. Directories below 0.05 % of the space are part of the rest around them.</p>\n\
         </section>\n<script type=\"application/json\" id=\"tree\">{data}</script>\n"
    );
}

fn put_section(page: &mut String, section: &ReportSection) {
    let ReportSection { id, title, note, head, rows } = section;
    let _ = writeln!(page, "<section aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{title}</h2>");
    if !note.is_empty() {
        let _ = writeln!(page, "<p>{}</p>", escaped(note));
    }
    page.push_str("<div class=\"scroll\" tabindex=\"0\"><table class=\"sortable\">\n<thead><tr>");
    // Names come first on a page.
    let order = || std::iter::once(head.len() - 1).chain(0..head.len() - 1);
    for name in order().filter_map(|at| head.get(at)) {
        let _ = write!(page, "<th scope=\"col\">{name}</th>");
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        page.push_str("<tr>");
        order().filter_map(|at| row.get(at)).for_each(|cell| put_cell(page, cell));
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table></div>\n</section>\n");
}

fn put_cell(page: &mut String, cell: &ReportCell) {
    let _ = match cell {
        ReportCell::Name(name) => write!(page, "<td class=\"name\">{}</td>", escaped(&shown(name))),
        ReportCell::Label(label) => write!(page, "<td class=\"name label\">{}</td>", escaped(label)),
        ReportCell::Count(count) => write!(page, "<td data-v=\"{count}\">{}</td>", units::count(*count)),
        ReportCell::Bytes(bytes) => write!(page, "<td data-v=\"{bytes}\">{}</td>", units::size(*bytes)),
        ReportCell::Share(one, whole) => {
            let (width, text) = (part(*one, *whole) * 100.0, percent(*one, *whole));
            write!(
                page,
                "<td class=\"share\" data-v=\"{one}\"><i style=\"width:{width:.1}%\"></i>{text}</td>"
            )
        }
        ReportCell::Date(date) => {
            write!(page, "<td data-v=\"{}\">{}</td>", date.unwrap_or(i64::MIN), day(*date))
        }
    };
}

/// Entries that deserve a look, each kind with its first paths.
fn put_notable(page: &mut String, report: &FilesReport) {
    page.push_str(
        "<section aria-labelledby=\"notable-title\">\n<h2 id=\"notable-title\">Worth a look</h2>\n",
    );
    for (what, list) in notable_lists(report).into_iter().filter(|(_, list)| list.count > 0) {
        let CountedPaths { count, first } = list;
        let _ = write!(page, "<details><summary><b>{}</b> {what}</summary><ul>", units::count(*count));
        for path in first {
            let _ = write!(page, "<li class=\"path\">{}</li>", escaped(&shown(path)));
        }
        let others = count.saturating_sub(first.len() as u64);
        if others > 0 {
            let _ = write!(page, "<li>and {} more</li>", units::count(others));
        }
        page.push_str("</ul></details>\n");
    }
    page.push_str("</section>\n");
}
