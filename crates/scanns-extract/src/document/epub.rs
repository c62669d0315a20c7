//! EPUB: a zip file of XHTML pages.
//!
//! `META-INF/container.xml` names the OPF file. Its manifest gives each page a name and its spine the order
//! of the pages. `META-INF/encryption.xml` lists what is encrypted; such pages are passed over.

use std::collections::{HashMap, HashSet};
use std::io::{Read, Seek};

use super::flow::Flow;
use super::package::{Package, folder_of, resolve};
use super::properties;
use super::xhtml;
use super::xml::{Markup, Node};
use crate::error::ExtractError;
use crate::output::Output;

/// The name of the format in errors.
const NAME: &str = "EPUB";
/// Which fields the OPF file holds.
const OPF: [properties::FieldOf; 5] = [
    (b"title", "title"),
    (b"creator", "author"),
    (b"subject", "subject"),
    (b"language", "language"),
    (b"date", "created"),
];

/// The most fallbacks that are followed: they may lead in a circle.
const MOST_FALLBACKS: usize = 16;

/// A function that reads a part.
type PartReader<'r> = &'r mut dyn FnMut(&mut Markup<'_>) -> Result<(), quick_xml::Error>;

/// Takes the text and the fields of a book.
pub fn extract(source: &mut (impl Read + Seek), out: &mut Output) -> Result<(), ExtractError> {
    let mut package = Package::open(source, NAME)?;
    let opf = opf_name(&mut package)?;
    read(&mut package, &opf, 0, &mut |markup| properties::read(markup, &OPF, out))?;
    let pages = spine(&mut package, &opf)?;
    let encrypted = encrypted_parts(&mut package);
    let count = pages.len();
    let readable: Vec<_> = pages.into_iter().filter(|page| !encrypted.contains(page)).collect();
    if readable.is_empty() && count > 0 {
        return Err(ExtractError::Encrypted { format: NAME });
    }
    let mut flow = Flow::new(out);
    let mut result = Ok(());
    for page in readable {
        let room = flow.room();
        let read = read(&mut package, &page, room, &mut |markup| xhtml::page(markup, &mut flow));
        result = result.and(read);
        if flow.is_full() {
            break;
        }
    }
    result
}

/// Reads a part. An absent part is an error.
fn read<S: Read + Seek>(
    package: &mut Package<S>,
    name: &str,
    room: usize,
    reader: PartReader<'_>,
) -> Result<(), ExtractError> {
    let Some(part) = package.part(name, room)? else {
        return Err(ExtractError::damaged(NAME, format!("no {name}")));
    };
    let result = Markup::new(part).map_err(quick_xml::Error::from).and_then(|mut markup| reader(&mut markup));
    result.map_err(|error| ExtractError::damaged(NAME, format!("{name}: {error}")))
}

/// The name of the OPF file.
fn opf_name<S: Read + Seek>(package: &mut Package<S>) -> Result<String, ExtractError> {
    let mut name = None;
    read(package, "META-INF/container.xml", 0, &mut |markup| {
        loop {
            match markup.next()? {
                Node::Open(tag) if tag.name() == b"rootfile" => {
                    name = name.take().or(tag.attribute("full-path"));
                }
                Node::End => return Ok(()),
                _ => {}
            }
        }
    })?;
    name.ok_or_else(|| ExtractError::damaged(NAME, "the container names no OPF file"))
}

/// An entry of the manifest.
struct Item {
    page: String,
    /// Whether its media type is of markup. One without a type counts as markup.
    is_markup: bool,
    /// The entry that readers take who do not know the media type.
    fallback: Option<String>,
}

/// The pages in the order of the spine; without a spine, in the order of the manifest.
fn spine<S: Read + Seek>(package: &mut Package<S>, opf: &str) -> Result<Vec<String>, ExtractError> {
    let folder = folder_of(opf);
    let mut items: HashMap<String, Item> = HashMap::new();
    let (mut all, mut spine) = (Vec::new(), Vec::new());
    read(package, opf, 0, &mut |markup| {
        loop {
            match markup.next()? {
                Node::Open(tag) if tag.name() == b"item" => {
                    let (Some(id), Some(target)) = (tag.attribute("id"), tag.attribute("href")) else {
                        continue;
                    };
                    let page = resolve(folder, &percent_decoded(&target));
                    let kind = tag.attribute("media-type");
                    if kind.as_ref().is_some_and(|kind| kind.contains("html")) {
                        all.push(page.clone());
                    }
                    let is_markup = kind.is_none_or(|kind| kind.contains("ml") || kind.contains("svg"));
                    items.insert(id, Item { page, is_markup, fallback: tag.attribute("fallback") });
                }
                Node::Open(tag) if tag.name() == b"itemref" => spine.extend(tag.attribute("idref")),
                Node::End => return Ok(()),
                _ => {}
            }
        }
    })?;
    let mut pages: Vec<_> = spine.iter().filter_map(|id| readable_page(&items, id)).collect();
    if spine.is_empty() {
        pages = all;
    }
    let mut seen = HashSet::new();
    pages.retain(|page| seen.insert(page.clone()));
    Ok(pages)
}

/// The page of an entry, or else of the first markup among its fallbacks.
fn readable_page(items: &HashMap<String, Item>, id: &str) -> Option<String> {
    let mut item = items.get(id)?;
    for _ in 0..MOST_FALLBACKS {
        if item.is_markup {
            return Some(item.page.clone());
        }
        item = items.get(item.fallback.as_deref()?)?;
    }
    None
}

/// The parts that are encrypted; none if there is no list or it is damaged.
fn encrypted_parts<S: Read + Seek>(package: &mut Package<S>) -> HashSet<String> {
    let mut parts = HashSet::new();
    let _ = read(package, "META-INF/encryption.xml", 0, &mut |markup| {
        loop {
            match markup.next()? {
                Node::Open(tag) if tag.name() == b"CipherReference" => {
                    parts.extend(tag.attribute("URI").map(|target| resolve("", &percent_decoded(&target))));
                }
                Node::End => return Ok(()),
                _ => {}
            }
        }
    });
    parts
}

/// A target whose `%` and two hex digits stand for a byte.
fn percent_decoded(target: &str) -> String {
    let mut bytes = Vec::with_capacity(target.len());
    let mut rest = target.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.filter(|_| byte == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(escaped.unwrap_or(byte));
        rest = if escaped.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::tests::samples::zip;
    use super::*;

    #[test]
    fn escapes_in_targets_are_decoded() {
        assert_eq!(percent_decoded("a%20b%C3%A9%zz%4"), "a b\u{e9}%zz%4");
    }

    #[test]
    fn the_fallback_of_an_image_in_the_spine_is_read() {
        let opf = "<package><manifest>\
            <item id='a' href='a.jpg' media-type='image/jpeg' fallback='b'/>\
            <item id='b' href='b.xhtml' media-type='application/xhtml+xml'/>\
            <item id='c' href='c.png' media-type='image/png' fallback='c'/>\
            <item id='d' href='d.svg' media-type='image/svg+xml'/></manifest>\
            <spine><itemref idref='c'/><itemref idref='a'/><itemref idref='d'/></spine></package>";
        let book = zip(&[
            ("mimetype", "application/epub+zip"),
            ("META-INF/container.xml", "<container><rootfile full-path='o.opf'/></container>"),
            ("o.opf", opf),
            ("b.xhtml", "<p>told</p>"),
            ("d.svg", "<svg><text>drawn</text></svg>"),
        ]);
        let mut out = Output::new(99, 9);
        extract(&mut std::io::Cursor::new(book), &mut out).unwrap();
        assert_eq!(out.into_parts().0, "told\ndrawn\n");
    }
}
