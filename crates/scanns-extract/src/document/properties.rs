//! Fields from the elements of a metadata part: core properties, ODF's meta.xml, the head of an OPF file.

use super::xml::{Markup, Node};
use crate::output::Output;

/// An element's local name, and the field that its text is.
pub(super) type FieldOf = (&'static [u8], &'static str);

/// Takes the fields that `wanted` names.
pub(super) fn read(
    markup: &mut Markup<'_>,
    wanted: &[FieldOf],
    output: &mut Output,
) -> Result<(), quick_xml::Error> {
    let mut taken: Vec<(&'static str, String)> = Vec::new();
    loop {
        match markup.next()? {
            Node::Open(tag) => {
                let Some(&(_, field)) = wanted.iter().find(|(element, _)| *element == tag.name()) else {
                    continue;
                };
                let value = markup.inner_text()?.trim().to_owned();
                if taken.iter().all(|(name, known)| *name != field || *known != value) {
                    output.field(field, &value);
                    taken.push((field, value));
                }
            }
            Node::End => return Ok(()),
            Node::Close(_) | Node::Text(_) => {}
        }
        if taken.len() >= 1_000 {
            return Ok(());
        }
    }
}
