//! The elements that matter for the text of a page, found by their names.
//!
//! A name is read as a number, six bits a letter, and looked up in a table that is made at compile time.
//! An index out of range there does not compile.

/// What the tag of an element does to the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PageElement {
    /// Nothing: its text belongs to the text around it.
    Inline,
    /// Its text stands in lines of its own.
    Block,
    /// A cell of a table.
    Cell,
    /// A block whose blanks matter.
    Preformatted,
    /// SVG or MathML.
    Foreign,
    Html,
    Meta,
    Title,
    Textarea,
    Script,
    /// What is in it is not markup and not shown.
    Hidden(&'static [u8]),
    /// What is in it is not markup, but shown.
    Example,
    /// All that follows it is text.
    Plaintext,
}

const SPECIAL: [(&[u8], PageElement); 16] = [
    (b"td", PageElement::Cell),
    (b"th", PageElement::Cell),
    (b"pre", PageElement::Preformatted),
    (b"listing", PageElement::Preformatted),
    (b"svg", PageElement::Foreign),
    (b"math", PageElement::Foreign),
    (b"html", PageElement::Html),
    (b"meta", PageElement::Meta),
    (b"title", PageElement::Title),
    (b"textarea", PageElement::Textarea),
    (b"script", PageElement::Script),
    (b"style", PageElement::Hidden(b"style")),
    (b"iframe", PageElement::Hidden(b"iframe")),
    (b"noembed", PageElement::Hidden(b"noembed")),
    (b"noframes", PageElement::Hidden(b"noframes")),
    (b"xmp", PageElement::Example),
];

const BLOCKS: [&[u8]; 53] = [
    b"address",
    b"article",
    b"aside",
    b"blockquote",
    b"body",
    b"br",
    b"button",
    b"caption",
    b"center",
    b"dd",
    b"details",
    b"dialog",
    b"dir",
    b"div",
    b"dl",
    b"dt",
    b"fieldset",
    b"figcaption",
    b"figure",
    b"footer",
    b"form",
    b"frameset",
    b"h1",
    b"h2",
    b"h3",
    b"h4",
    b"h5",
    b"h6",
    b"head",
    b"header",
    b"hgroup",
    b"hr",
    b"legend",
    b"li",
    b"main",
    b"menu",
    b"nav",
    b"noscript",
    b"ol",
    b"optgroup",
    b"option",
    b"p",
    b"search",
    b"section",
    b"select",
    b"summary",
    b"table",
    b"tbody",
    b"template",
    b"tfoot",
    b"thead",
    b"tr",
    b"ul",
];

/// The most letters of a name that a number holds.
const LONGEST: usize = 10;
const SLOTS: usize = 512;

/// The number of a byte in names; 0 ends a name.
const LETTERS: [u8; 256] = letters();
static TABLE: [(u64, PageElement); SLOTS] = table();

const fn letters() -> [u8; 256] {
    let mut codes = [63; 256];
    let mut number = 0u8;
    while number < 26 {
        codes[(b'a' + number) as usize] = number + 1;
        codes[(b'A' + number) as usize] = number + 1;
        number += 1;
    }
    let mut digit = 0u8;
    while digit < 10 {
        codes[(b'0' + digit) as usize] = digit + 27;
        digit += 1;
    }
    let ends = b" \t\n\r\x0c/>";
    let mut end = 0;
    while end < ends.len() {
        codes[ends[end] as usize] = 0;
        end += 1;
    }
    codes
}

const fn table() -> [(u64, PageElement); SLOTS] {
    let mut slots = [(0, PageElement::Inline); SLOTS];
    let mut i = 0;
    while i < SPECIAL.len() {
        add(&mut slots, SPECIAL[i].0, SPECIAL[i].1);
        i += 1;
    }
    i = 0;
    while i < BLOCKS.len() {
        add(&mut slots, BLOCKS[i], PageElement::Block);
        i += 1;
    }
    add(&mut slots, b"plaintext", PageElement::Plaintext);
    slots
}

const fn add(slots: &mut [(u64, PageElement); SLOTS], name: &[u8], element: PageElement) {
    let mut number = 0;
    let mut i = 0;
    while i < name.len() {
        number = number << 6 | LETTERS[name[i] as usize] as u64;
        i += 1;
    }
    let mut slot = slot_of(number);
    while slots[slot].0 != 0 {
        slot = (slot + 1) % SLOTS;
    }
    slots[slot] = (number, element);
}

const fn slot_of(number: u64) -> usize {
    (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 55) as usize
}

/// Reads the name at `at`. Returns its element and where the name ends.
#[inline]
pub(super) fn read_name(html: &[u8], at: usize) -> (PageElement, usize) {
    let mut number = 0;
    let mut length = 0;
    for &byte in html.get(at..).unwrap_or_default() {
        let letter = LETTERS.get(usize::from(byte)).copied().unwrap_or(0);
        if letter == 0 {
            break;
        }
        number = number << 6 | u64::from(letter);
        length += 1;
    }
    let element = if length > LONGEST { PageElement::Inline } else { find(number) };
    (element, at + length)
}

#[inline]
fn find(number: u64) -> PageElement {
    let mut slot = slot_of(number);
    while let Some(&(taken, element)) = TABLE.get(slot)
        && taken != 0
    {
        if taken == number {
            return element;
        }
        slot = (slot + 1) % SLOTS;
    }
    PageElement::Inline
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_in_any_case() {
        for (name, element) in SPECIAL.into_iter().chain(BLOCKS.map(|name| (name, PageElement::Block))) {
            for name in [name.to_vec(), name.to_ascii_uppercase()] {
                let tag = [b"<", &name[..], b" >"].concat();
                assert_eq!(read_name(&tag, 1), (element, tag.len() - 2));
            }
        }
    }

    #[test]
    fn other_names_are_inline() {
        for name in ["b", "span", "pblockquote", "xp", "p-", "p1", "tdd", "", "aaaaaaaaaaaaaaaaaaaaaaaaa"] {
            assert_eq!(read_name(name.as_bytes(), 0), (PageElement::Inline, name.len()), "{name}");
        }
    }
}
