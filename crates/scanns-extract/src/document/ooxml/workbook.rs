//! Workbooks: each sheet's name, then a line for each row with tabs between its cells; then comments and the
//! text of drawings.
//!
//! A cell refers to a table of shared strings, holds its text itself, or holds a number. Its style tells
//! whether a number is a date. `binary` reads the parts of xlsb, which are records.

mod binary;
mod shared;

use std::io::{Read, Seek};

use self::shared::{Shared, texts};
use super::super::flow::{Break, Flow};
use super::super::number::{NumberKind, kind_of_format, written};
use super::super::xml::{Markup, Node, Tag};
use super::Office;
use crate::error::ExtractError;
use crate::output::Output;

/// Takes the text and the fields of a workbook.
pub fn extract(source: &mut (impl Read + Seek), out: &mut Output) -> Result<(), ExtractError> {
    let mut office = Office::open(source, "Excel")?;
    office.core_properties(out);
    let main = office.main_part("s")?;
    if main.ends_with(".bin") {
        return binary::extract(office, &main, out);
    }
    let mut flow = Flow::new(out);
    let mut shared = Shared::default();
    let sheets = listed_sheets(&mut office, &main, &mut shared);
    for part in office.parts_of("spreadsheetml.sharedStrings+xml") {
        office.read(&part, flow.room(), &mut |markup| shared_strings(markup, &mut shared));
    }
    for part in office.parts_of("spreadsheetml.styles+xml") {
        office.read(&part, 0, &mut |markup| styles(markup, &mut shared));
    }
    for (name, part) in sheets {
        if flow.is_full() {
            break;
        }
        flow.words(&name);
        flow.part(Break::Line);
        office.read(&part, flow.room(), &mut |markup| rows(markup, &shared, &mut flow));
    }
    texts(&mut office, &mut flow);
    office.finish()
}

/// The name and the part of each sheet in the main part's order.
fn listed_sheets<S: Read + Seek>(
    office: &mut Office<S>,
    main: &str,
    shared: &mut Shared,
) -> Vec<(String, String)> {
    let relations = office.relations(main);
    let mut sheets = Vec::new();
    office.read(main, 0, &mut |markup| {
        loop {
            match markup.next()? {
                Node::Open(tag) if tag.name() == b"sheet" => {
                    let id = tag.relation();
                    let target = relations.iter().find(|found| Some(&found.id) == id.as_ref());
                    let name = tag.attribute("name").unwrap_or_default();
                    sheets.extend(target.map(|found| (name, found.target.clone())));
                }
                Node::Open(tag) if tag.name() == b"workbookPr" => {
                    shared.is_1904 = matches!(tag.attribute("date1904").as_deref(), Some("1" | "true"));
                }
                Node::End => return Ok(()),
                _ => {}
            }
        }
    });
    sheets
}

/// Reads the table of shared strings.
fn shared_strings(markup: &mut Markup<'_>, shared: &mut Shared) -> Result<(), quick_xml::Error> {
    loop {
        match markup.next()? {
            Node::Open(tag) if tag.name() == b"si" => {
                rich_text(markup, &mut shared.text)?;
                shared.ends.push(shared.text.len());
            }
            Node::End => return Ok(()),
            _ => {}
        }
    }
}

/// Appends the text of the element whose begin was just read, without its reading aids for Japanese.
fn rich_text(markup: &mut Markup<'_>, text: &mut String) -> Result<(), quick_xml::Error> {
    let (mut depth, mut is_text) = (1_usize, false);
    while depth > 0 {
        match markup.next()? {
            Node::Open(tag) if tag.name() == b"rPh" => markup.skip()?,
            Node::Open(tag) => {
                depth += 1;
                is_text = tag.name() == b"t";
            }
            Node::Close(_) => {
                depth -= 1;
                is_text = false;
            }
            Node::Text(piece) if is_text => text.push_str(&piece),
            Node::Text(_) => {}
            Node::End => break,
        }
    }
    Ok(())
}

/// Reads which cell styles show dates.
fn styles(markup: &mut Markup<'_>, shared: &mut Shared) -> Result<(), quick_xml::Error> {
    let mut codes: Vec<(u32, NumberKind)> = Vec::new();
    let mut is_cell_style = false;
    let number = |tag: &Tag<'_>| tag.attribute("numFmtId").and_then(|id| id.parse().ok()).unwrap_or(0);
    loop {
        match markup.next()? {
            Node::Open(tag) if tag.name() == b"numFmt" => {
                let code = tag.attribute("formatCode").unwrap_or_default();
                codes.push((number(&tag), kind_of_format(number(&tag), Some(&code))));
            }
            Node::Open(tag) if tag.name() == b"cellXfs" => is_cell_style = true,
            Node::Close(tag) if tag.name() == b"cellXfs" => is_cell_style = false,
            Node::Open(tag) if is_cell_style && tag.name() == b"xf" => {
                let id = number(&tag);
                let own = codes.iter().find(|(known, _)| *known == id).map(|(_, kind)| *kind);
                shared.kinds.push(own.unwrap_or_else(|| kind_of_format(id, None)));
            }
            Node::End => return Ok(()),
            _ => {}
        }
    }
}

/// Appends the rows of a sheet.
fn rows(markup: &mut Markup<'_>, shared: &Shared, flow: &mut Flow<'_>) -> Result<(), quick_xml::Error> {
    while !flow.is_full() {
        match markup.next()? {
            Node::Open(tag) if tag.name() == b"c" => {
                let kind = tag.attribute("t").unwrap_or_default();
                let style = tag.attribute("s").and_then(|style| style.parse().ok()).unwrap_or(0);
                cell(markup, &kind, style, &mut Cells { shared, flow })?;
                flow.part(Break::Tab);
            }
            Node::Close(tag) if tag.name() == b"row" => flow.part(Break::Line),
            Node::End => break,
            _ => {}
        }
    }
    flow.part(Break::Line);
    Ok(())
}

/// What the cells are read with and written to.
struct Cells<'c, 'o> {
    shared: &'c Shared,
    flow: &'c mut Flow<'o>,
}

/// Appends the text of the cell whose begin was just read.
fn cell(
    markup: &mut Markup<'_>,
    kind: &str,
    style: usize,
    to: &mut Cells<'_, '_>,
) -> Result<(), quick_xml::Error> {
    loop {
        match markup.next()? {
            Node::Open(tag) if tag.name() == b"v" => {
                let value = markup.inner_text()?;
                to.value(kind, style, value.trim());
            }
            Node::Open(tag) if tag.name() == b"is" => {
                let mut text = String::new();
                rich_text(markup, &mut text)?;
                to.flow.words(&text);
            }
            Node::Open(_) => markup.skip()?,
            Node::Text(_) => {}
            Node::Close(_) | Node::End => return Ok(()),
        }
    }
}

impl Cells<'_, '_> {
    /// Appends the value of a cell of this type and style.
    fn value(&mut self, kind: &str, style: usize, value: &str) {
        match kind {
            "s" => {
                let string = value.parse().ok().and_then(|number| self.shared.string(number));
                self.flow.words(string.unwrap_or_default());
            }
            "b" => self.flow.words(if value == "0" { "FALSE" } else { "TRUE" }),
            "str" | "e" | "d" | "inlineStr" => self.flow.words(value),
            _ => {
                let format = self.shared.kinds.get(style).copied().unwrap_or(NumberKind::Plain);
                let is_long = value.len() > 16 || format != NumberKind::Plain;
                match value.parse::<f64>() {
                    Ok(number) if is_long => self.flow.words(&written(number, format, self.shared.is_1904)),
                    _ => self.flow.words(value),
                }
            }
        }
    }
}
