//! The text of WordprocessingML and DrawingML, which name their paragraphs and runs alike.

use super::super::flow::{Break, Flow};
use super::super::xml::{Markup, Node, Tag};

/// Elements without text of the document: formatting, deleted text, codes of fields, a second form of a
/// drawing.
const LEFT_OUT: [&[u8]; 11] = [
    b"pPr",
    b"rPr",
    b"sectPr",
    b"tblPr",
    b"trPr",
    b"tcPr",
    b"del",
    b"moveFrom",
    b"instrText",
    b"delText",
    b"Fallback",
];

/// Appends the text of the paragraphs of a part.
pub(super) fn paragraphs(markup: &mut Markup<'_>, flow: &mut Flow<'_>) -> Result<(), quick_xml::Error> {
    let mut is_text = false;
    while !flow.is_full() {
        match markup.next()? {
            Node::Open(tag) if is_left_out(&tag) => markup.skip()?,
            Node::Open(tag) => {
                is_text |= is_run(tag.name());
                mark(tag.name(), flow);
            }
            Node::Close(tag) if is_run(tag.name()) => {
                is_text = false;
                if tag.name() == b"text" {
                    flow.part(Break::Line);
                }
            }
            Node::Close(tag) if matches!(tag.name(), b"p" | b"tr") => flow.part(Break::Line),
            Node::Text(text) if is_text => flow.words(&text),
            Node::Close(_) | Node::Text(_) => {}
            Node::End => break,
        }
    }
    flow.part(Break::Line);
    Ok(())
}

/// Whether an element holds text: a run's text, or the text of a comment on a slide.
fn is_run(name: &[u8]) -> bool {
    matches!(name, b"t" | b"text")
}

/// Whether an element is passed over. The number of a slide is no text of it.
fn is_left_out(tag: &Tag<'_>) -> bool {
    let is_number = || tag.attribute("type").is_some_and(|kind| kind == "slidenum");
    LEFT_OUT.contains(&tag.name()) || (tag.name() == b"fld" && is_number())
}

/// Appends what an element without text stands for.
fn mark(name: &[u8], flow: &mut Flow<'_>) {
    match name {
        b"tab" | b"ptab" => flow.part(Break::Tab),
        b"br" | b"cr" => flow.part(Break::Line),
        b"noBreakHyphen" => flow.text("-"),
        _ => {}
    }
}
