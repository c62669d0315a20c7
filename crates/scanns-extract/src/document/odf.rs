//! OpenDocument: text, sheets, slides and drawings (ISO/IEC 26300).
//!
//! The text is in `content.xml`, headers and footers are in `styles.xml`, the fields in `meta.xml`. Only the
//! text inside paragraphs counts; deleted text of tracked changes and numbers of pages are left out. Each
//! sheet begins with its name. A repeated cell is written once, however often it repeats.

use std::io::{Read, Seek};

use super::flow::{Break, Flow};
use super::package::Package;
use super::properties;
use super::xml::{Markup, Node};
use crate::error::ExtractError;
use crate::output::Output;

/// The name of the format in errors.
const NAME: &str = "OpenDocument";
/// Which fields meta.xml holds.
const META: [properties::FieldOf; 7] = [
    (b"title", "title"),
    (b"initial-creator", "author"),
    (b"creator", "author"),
    (b"subject", "subject"),
    (b"keyword", "keywords"),
    (b"creation-date", "created"),
    (b"date", "modified"),
];

/// Takes the text and the fields of an OpenDocument file.
pub fn extract(source: &mut (impl Read + Seek), out: &mut Output) -> Result<(), ExtractError> {
    let mut package = Package::open(source, NAME)?;
    let manifest = package.small_part("META-INF/manifest.xml", 1 << 20)?.unwrap_or_default();
    if manifest.windows(15).any(|word| word == b"encryption-data") {
        return Err(ExtractError::Encrypted { format: NAME });
    }
    if !package.has("content.xml") {
        return Err(ExtractError::damaged(NAME, "no content.xml"));
    }
    let mut fields = Ok(());
    if let Some(part) = package.part("meta.xml", 0)? {
        let read = |mut markup| properties::read(&mut markup, &META, out);
        fields = Markup::new(part).map_err(quick_xml::Error::from).and_then(read);
    }
    let mut flow = Flow::new(out);
    let body = read_text(&mut package, "content.xml", &mut flow);
    let heads = read_text(&mut package, "styles.xml", &mut flow);
    body?;
    heads?;
    fields.map_err(|error| ExtractError::damaged(NAME, format!("meta.xml: {error}")))
}

/// Appends the text of a part.
fn read_text<S: Read + Seek>(
    package: &mut Package<S>,
    name: &str,
    flow: &mut Flow<'_>,
) -> Result<(), ExtractError> {
    let Some(part) = package.part(name, flow.room())? else { return Ok(()) };
    let read = |mut markup| paragraphs(&mut markup, flow);
    let result = Markup::new(part).map_err(quick_xml::Error::from).and_then(read);
    result.map_err(|error| ExtractError::damaged(NAME, format!("{name}: {error}")))
}

/// Appends the text of all paragraphs and headings.
fn paragraphs(markup: &mut Markup<'_>, flow: &mut Flow<'_>) -> Result<(), quick_xml::Error> {
    let mut place = Place::default();
    while !flow.is_full() {
        match markup.next()? {
            Node::Open(tag) => match tag.name() {
                b"tracked-changes" | b"ruby-text" | b"note-citation" | b"page-number" | b"page-count"
                | b"sheet-name" => markup.skip()?,
                b"table" if place.is_spreadsheet => {
                    flow.words(&tag.attribute("name").unwrap_or_default());
                    flow.part(Break::Line);
                }
                b"creator" | b"date" | b"date-string" if place.notes > 0 => markup.skip()?,
                name => place.open(name, flow),
            },
            Node::Close(tag) => place.close(tag.name(), flow),
            Node::Text(text) if place.paragraphs > 0 => flow.words(&text),
            Node::Text(_) => {}
            Node::End => break,
        }
    }
    flow.part(Break::Line);
    Ok(())
}

/// Where in a document the reader is: how many elements of each kind are open.
#[derive(Default)]
struct Place {
    /// Whether the document is sheets, whose names are text.
    is_spreadsheet: bool,
    paragraphs: usize,
    cells: usize,
    /// Annotations, which begin with their author and date.
    notes: usize,
}

impl Place {
    fn open(&mut self, name: &[u8], flow: &mut Flow<'_>) {
        match name {
            b"p" | b"h" => self.paragraphs += 1,
            b"table-cell" => self.cells += 1,
            b"spreadsheet" => self.is_spreadsheet = true,
            b"s" => flow.part(Break::Space),
            b"tab" => flow.part(Break::Tab),
            b"line-break" => flow.part(self.line_end()),
            b"annotation" => {
                self.notes += 1;
                flow.part(Break::Line);
            }
            b"note-body" => flow.part(Break::Line),
            _ => {}
        }
    }

    fn close(&mut self, name: &[u8], flow: &mut Flow<'_>) {
        match name {
            b"p" | b"h" => {
                self.paragraphs = self.paragraphs.saturating_sub(1);
                flow.part(self.line_end());
            }
            b"table-cell" => {
                self.cells = self.cells.saturating_sub(1);
                flow.part(Break::Tab);
            }
            b"annotation" => {
                self.notes = self.notes.saturating_sub(1);
                flow.part(Break::Line);
            }
            b"note-body" | b"table-row" => flow.part(Break::Line),
            _ => {}
        }
    }

    /// What ends a line: the lines of a cell stay on the line of its row.
    fn line_end(&self) -> Break {
        if self.cells > 0 { Break::Space } else { Break::Line }
    }
}
