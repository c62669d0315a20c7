//! Presentations: the slides in their order, each followed by its notes and comments.

use std::collections::HashSet;
use std::io::{Read, Seek};

use super::super::flow::Flow;
use super::super::xml::Node;
use super::Office;
use super::text::paragraphs;
use crate::error::ExtractError;
use crate::output::Output;

/// The types of parts with text, for those that no slide refers to.
const PARTS: [&str; 4] = [
    "presentationml.slide+xml",
    "presentationml.notesSlide+xml",
    "presentationml.comments+xml",
    "drawingml.diagramData+xml",
];

/// Takes the text and the fields of a presentation.
pub fn extract(source: &mut (impl Read + Seek), out: &mut Output) -> Result<(), ExtractError> {
    let mut office = Office::open(source, "PowerPoint")?;
    office.core_properties(out);
    let main = office.main_part("p")?;
    let parts = parts_in_order(&mut office, &main);
    let mut flow = Flow::new(out);
    for part in parts {
        let room = flow.room();
        office.read(&part, room, &mut |markup| paragraphs(markup, &mut flow));
        if flow.is_full() {
            break;
        }
    }
    office.finish()
}

/// The parts with text: by the list of slides, then those that it does not reach.
fn parts_in_order<S: Read + Seek>(office: &mut Office<S>, main: &str) -> Vec<String> {
    let mut parts = Vec::new();
    for slide in listed_slides(office, main) {
        let belongs = |kind: &str| kind.ends_with("/notesSlide") || kind.ends_with("/comments");
        let others = office.relations(&slide).into_iter().filter(|found| belongs(&found.kind));
        parts.push(slide);
        parts.extend(others.map(|found| found.target));
    }
    parts.extend(PARTS.iter().flat_map(|kind| office.parts_of(kind)));
    let mut seen = HashSet::new();
    parts.retain(|part| seen.insert(part.to_lowercase()));
    parts
}

/// The slides that the main part lists.
fn listed_slides<S: Read + Seek>(office: &mut Office<S>, main: &str) -> Vec<String> {
    let relations = office.relations(main);
    let mut slides = Vec::new();
    office.read(main, 0, &mut |markup| {
        loop {
            match markup.next()? {
                Node::Open(tag) if tag.name() == b"sldId" => {
                    let id = tag.relation();
                    let target = relations.iter().find(|found| Some(&found.id) == id.as_ref());
                    slides.extend(target.map(|found| found.target.clone()));
                }
                Node::End => return Ok(()),
                _ => {}
            }
        }
    });
    slides
}
