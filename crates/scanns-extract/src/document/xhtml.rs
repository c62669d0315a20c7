//! The text of an XHTML page, as EPUB and Outlook messages hold it.

use super::flow::{Break, Flow};
use super::xml::{Markup, Node};

/// Elements that end a line before and after them.
const BLOCKS: [&[u8]; 31] = [
    b"address",
    b"article",
    b"aside",
    b"blockquote",
    b"body",
    b"br",
    b"caption",
    b"dd",
    b"div",
    b"dl",
    b"dt",
    b"figcaption",
    b"figure",
    b"footer",
    b"h1",
    b"h2",
    b"h3",
    b"h4",
    b"h5",
    b"h6",
    b"header",
    b"hr",
    b"li",
    b"nav",
    b"ol",
    b"p",
    b"pre",
    b"section",
    b"table",
    b"tr",
    b"ul",
];
/// Elements whose content is no text of the page. `rt` and `rp` are reading aids for Japanese.
const LEFT_OUT: [&[u8]; 6] = [b"head", b"script", b"style", b"rt", b"rp", b"template"];

/// Appends the text of a page.
pub(super) fn page(markup: &mut Markup<'_>, flow: &mut Flow<'_>) -> Result<(), quick_xml::Error> {
    while !flow.is_full() {
        match markup.next()? {
            Node::Open(tag) => {
                let name = tag.name().to_ascii_lowercase();
                part_at(&name, flow);
                if name == b"img" {
                    flow.words(&tag.attribute("alt").unwrap_or_default());
                }
                if LEFT_OUT.contains(&name.as_slice()) {
                    markup.skip()?;
                }
            }
            Node::Close(tag) => part_at(&tag.name().to_ascii_lowercase(), flow),
            Node::Text(text) => flow.words(&text),
            Node::End => break,
        }
    }
    flow.part(Break::Line);
    Ok(())
}

/// Parts the text at the begin or the end of an element.
fn part_at(name: &[u8], flow: &mut Flow<'_>) {
    match name {
        b"td" | b"th" => flow.part(Break::Tab),
        _ if BLOCKS.contains(&name) => flow.part(Break::Line),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Output;

    #[test]
    fn blocks_are_lines_and_cells_are_parted_by_tabs() {
        let page_text = b"<html><head><title>no</title></head><body><h1>A<i>b</i></h1> <p>c&nbsp;d<br/>e</p>
            <table><tr><td>1</td><td>2</td></tr></table><script>x</script><img alt='z'/></body></html>";
        let mut output = Output::new(999, 0);
        page(&mut Markup::new(&page_text[..]).unwrap(), &mut Flow::new(&mut output)).unwrap();
        assert_eq!(output.into_parts().0, "Ab\nc\u{a0}d\ne\n1\t2\nz\n");
    }
}
