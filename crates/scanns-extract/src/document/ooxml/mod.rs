//! Office Open XML: docx, xlsx, xlsb, pptx, their templates and macro forms (ECMA-376, ISO/IEC 29500).
//!
//! A package lists the type of each part in `[Content_Types].xml`. The main part, and the parts that belong
//! to it, are found by these types and by the relationships of a part, which stand in `_rels/NAME.rels`
//! beside it. A damaged part does not hide the others: its error is reported when all parts are read.

mod slides;
mod text;
mod word;
mod workbook;

use std::io::{Read, Seek};

use super::package::{Package, folder_of, resolve};
use super::properties;
use super::xml::{Markup, Node};
use crate::error::ExtractError;
use crate::output::Output;

pub use {
    slides::extract as extract_slides, word::extract as extract_word, workbook::extract as extract_workbook,
};

/// The part that lists the types of the parts.
pub(super) const CONTENT_TYPES: &str = "[Content_Types].xml";
/// Which fields the core properties hold.
const CORE: [properties::FieldOf; 6] = [
    (b"title", "title"),
    (b"creator", "author"),
    (b"subject", "subject"),
    (b"keywords", "keywords"),
    (b"created", "created"),
    (b"modified", "modified"),
];

/// An open package and the types of its parts.
struct Office<S> {
    package: Package<S>,
    types: Vec<(String, String)>,
    /// The first error of a part.
    error: Option<ExtractError>,
}

/// A relationship of a part.
struct Relation {
    id: String,
    kind: String,
    target: String,
}

impl<S: Read + Seek> Office<S> {
    /// Reads the types of the parts.
    fn open(source: S, format: &'static str) -> Result<Self, ExtractError> {
        let mut office = Self { package: Package::open(source, format)?, types: Vec::new(), error: None };
        office.types = content_types(&mut office.package)?;
        Ok(office)
    }

    /// The names of the parts whose type contains `kind`, in order.
    fn parts_of(&self, kind: &str) -> Vec<String> {
        self.types.iter().filter(|(found, _)| found.contains(kind)).map(|(_, name)| name.clone()).collect()
    }

    /// The main part: by its type, which contains `word` and ends with `main+xml`, or by its relationship.
    fn main_part(&mut self, word: &str) -> Result<String, ExtractError> {
        let is_main = |kind: &str| kind.contains(word) && kind.ends_with("main+xml");
        if let Some((_, name)) =
            self.types.iter().find(|(kind, name)| is_main(kind) && self.package.has(name))
        {
            return Ok(name.clone());
        }
        let found = self.relations("").into_iter().find(|found| found.kind.ends_with("/officeDocument"));
        match found {
            Some(found) if self.package.has(&found.target) => Ok(found.target),
            _ => Err(ExtractError::damaged(self.package.format(), "no main part")),
        }
    }

    /// The relationships of a part; none if there is no list or it is damaged.
    fn relations(&mut self, part: &str) -> Vec<Relation> {
        let folder = folder_of(part).to_owned();
        let file = part.rsplit('/').next().unwrap_or_default();
        let list = resolve(&folder, &format!("_rels/{file}.rels"));
        let mut found = Vec::new();
        self.read(&list, 0, &mut |markup| {
            loop {
                match markup.next()? {
                    Node::Open(tag) if tag.name() == b"Relationship" => {
                        if let (Some(id), Some(kind), Some(target)) =
                            (tag.attribute("Id"), tag.attribute("Type"), tag.attribute("Target"))
                        {
                            found.push(Relation { id, kind, target: resolve(&folder, &target) });
                        }
                    }
                    Node::End => return Ok(()),
                    _ => {}
                }
            }
        });
        found
    }

    /// Reads a part with `reader`. An absent part is passed over; an error is kept for the end.
    fn read(
        &mut self,
        name: &str,
        room: usize,
        reader: &mut dyn FnMut(&mut Markup<'_>) -> Result<(), quick_xml::Error>,
    ) {
        let format = self.package.format();
        let result = match self.package.part(name, room) {
            Ok(None) => Ok(()),
            Ok(Some(part)) => Markup::new(part)
                .map_err(|error| ExtractError::damaged(format, format!("{name}: {error}")))
                .and_then(|mut markup| {
                    reader(&mut markup)
                        .map_err(|error| ExtractError::damaged(format, format!("{name}: {error}")))
                }),
            Err(error) => Err(error),
        };
        if let Err(error) = result {
            self.error.get_or_insert(error);
        }
    }

    /// Takes the core properties.
    fn core_properties(&mut self, output: &mut Output) {
        for part in self.parts_of("core-properties+xml") {
            self.read(&part, 0, &mut |markup| properties::read(markup, &CORE, output));
        }
    }

    /// The first error of a part, if there was one.
    fn finish(self) -> Result<(), ExtractError> {
        self.error.map_or(Ok(()), Err)
    }
}

/// The types and names of the parts, in the order of the list.
fn content_types<S: Read + Seek>(package: &mut Package<S>) -> Result<Vec<(String, String)>, ExtractError> {
    let format = package.format();
    let Some(part) = package.part(CONTENT_TYPES, 0)? else {
        return Err(ExtractError::damaged(format, format!("no {CONTENT_TYPES}")));
    };
    let mut types = Vec::new();
    let mut markup = Markup::new(part)?;
    loop {
        match markup.next() {
            Ok(Node::Open(tag)) if tag.name() == b"Override" => {
                if let (Some(kind), Some(name)) = (tag.attribute("ContentType"), tag.attribute("PartName")) {
                    types.push((kind, name.trim_start_matches('/').to_owned()));
                }
            }
            Ok(Node::End) => return Ok(types),
            Ok(_) => {}
            Err(error) => return Err(ExtractError::damaged(format, format!("{CONTENT_TYPES}: {error}"))),
        }
    }
}

/// Which of Word, Excel and PowerPoint a package is for.
pub(super) fn application<S: Read + Seek>(package: &mut Package<S>) -> Option<&'static str> {
    let types = content_types(package).unwrap_or_default();
    let main = types.iter().map(|(kind, _)| kind).find(|kind| kind.contains("main"));
    let kinds = [("word", "Word"), ("presentation", "PowerPoint"), ("powerpoint", "PowerPoint")];
    let sheets = [("spreadsheet", "Excel"), ("excel", "Excel")];
    let by_type = main.and_then(|main| kinds.iter().chain(&sheets).find(|(word, _)| main.contains(word)));
    if let Some((_, name)) = by_type {
        return Some(name);
    }
    let folders = [("word/document.xml", "Word"), ("xl/workbook.xml", "Excel"), ("xl/workbook.bin", "Excel")];
    let slides = [("ppt/presentation.xml", "PowerPoint")];
    folders.iter().chain(&slides).find(|(part, _)| package.has(part)).map(|(_, name)| *name)
}
