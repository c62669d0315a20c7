//! Headers of DICOM files, the images of medicine.
//!
//! ```text
//! file    = preamble:128 "DICM" element*
//! element = group:2 element:2 vr:2 length:2 value                     explicit VR, short form
//!         | group:2 element:2 vr:2 reserved:2 length:4 value      for OB, OW, SQ, UN, UT …
//!         | group:2 element:2 length:4 value                          implicit VR
//! ```
//! Group 0002 is always explicit and little-endian; its element 0010 names the encoding of the rest.
//! A length of `ffffffff` is closed by a delimiter. Source: DICOM PS3.5 and PS3.6.
//!
//! **Private data is left out**: nothing of group 0010 (the patient), no names of persons (VR `PN`), no
//! identifiers of studies, and no elements without an entry in `tags`.

mod tags;

use std::io::{Read, Seek};

use super::bytes::{Bytes, Order, Source, text_of};
use super::cdl::{self, Attribute, Group, Variable};
use crate::error::ExtractError;
use crate::output::Output;

const FORMAT: &str = "DICOM";
const UNDEFINED: u32 = u32::MAX;
/// The deepest nest of sequences.
const MOST_DEPTH: u32 = 32;
/// The most elements of a file.
const MOST_ELEMENTS: usize = 200_000;
/// The most elements that become text.
const MOST_ATTRIBUTES: usize = 10_000;
/// The longest value that becomes text.
const MOST_VALUE: u32 = 4096;
const LONG_FORMS: [&[u8; 2]; 13] =
    [b"OB", b"OD", b"OF", b"OL", b"OV", b"OW", b"SQ", b"SV", b"UC", b"UN", b"UR", b"UT", b"UV"];

/// Writes the header of a file up to its pixels.
pub(crate) fn extract(
    source: &mut Source<'_, impl Read + Seek>,
    out: &mut Output,
) -> Result<(), ExtractError> {
    let mut reader = Reader { source, at: 132, order: Order::Little, is_explicit: true, elements: 0 };
    let mut root = Group::default();
    let done = reader.file(&mut root);
    root.variables.extend(pixels(&root.attributes));
    cdl::write(FORMAT, &root, out);
    let is_title = |name: &str| matches!(name, "StudyDescription" | "SeriesDescription");
    for found in root.attributes.iter().filter(|attribute| is_title(&attribute.name)) {
        out.field("title", &found.value);
    }
    done
}

/// The image as a variable.
fn pixels(attributes: &[Attribute]) -> Option<Variable> {
    let number = |name| attributes.iter().find(|a| a.name == name).and_then(|a| a.value.parse::<u64>().ok());
    let frames = number("NumberOfFrames").filter(|&frames| frames > 1);
    let mut shape: Vec<u64> = frames.into_iter().collect();
    shape.extend([number("Rows")?, number("Columns")?]);
    let bits = number("BitsAllocated").unwrap_or(16);
    let sign = if number("PixelRepresentation") == Some(1) { "" } else { "u" };
    Some(Variable {
        name: "PixelData".into(),
        dtype: format!("{sign}int{bits}"),
        shape,
        ..Variable::default()
    })
}

/// The head of an element.
struct Element {
    tag: (u16, u16),
    vr: Option<[u8; 2]>,
    len: u32,
}

struct Reader<'a, 'b, R> {
    source: &'a mut Source<'b, R>,
    at: u64,
    order: Order,
    is_explicit: bool,
    elements: usize,
}

impl<R: Read + Seek> Reader<'_, '_, R> {
    fn file(&mut self, root: &mut Group) -> Result<(), ExtractError> {
        let mut encoding: Option<String> = None;
        while self.at < self.source.size() {
            let start = self.at;
            let mut element = self.element()?;
            if element.tag.0 != 2
                && let Some(uid) = encoding.take()
            {
                self.set_encoding(&uid)?;
                self.at = start;
                element = self.element()?;
            }
            if element.tag.0 >= 0x7fe0 || root.attributes.len() >= MOST_ATTRIBUTES {
                return Ok(());
            }
            let Some(attribute) = self.value(&element)? else { continue };
            if element.tag == (2, 0x10) {
                encoding = Some(attribute.value.clone());
            }
            root.attributes.push(attribute);
        }
        Ok(())
    }

    /// Sets how the elements after group 0002 are stored.
    fn set_encoding(&mut self, uid: &str) -> Result<(), ExtractError> {
        if uid == "1.2.840.10008.1.2.1.99" {
            let reason = "the deflated transfer syntax is not read".to_string();
            return Err(ExtractError::Unsupported { format: FORMAT, reason });
        }
        self.is_explicit = uid != "1.2.840.10008.1.2";
        self.order = if uid == "1.2.840.10008.1.2.2" { Order::Big } else { Order::Little };
        Ok(())
    }

    /// The head of the next element; the position is then at its value.
    fn element(&mut self) -> Result<Element, ExtractError> {
        self.elements += 1;
        if self.elements > MOST_ELEMENTS {
            return Err(ExtractError::damaged(FORMAT, "too many elements"));
        }
        let head = self.source.read_at(self.at, 12)?;
        let (element, len) = head_of(&head, self.order, self.is_explicit)
            .ok_or_else(|| ExtractError::damaged(FORMAT, "the file ends in an element"))?;
        self.at += len;
        Ok(element)
    }

    /// The value of an element with a known name; the position is then after it.
    fn value(&mut self, element: &Element) -> Result<Option<Attribute>, ExtractError> {
        if element.len == UNDEFINED {
            // The elements in a value of an unknown VR are implicit.
            let is_explicit = self.is_explicit;
            self.is_explicit &= element.vr != Some(*b"UN");
            let done = self.skip_items(0);
            self.is_explicit = is_explicit;
            return done.map(|()| None);
        }
        let start = self.at;
        self.at += u64::from(element.len);
        if self.at > self.source.size() {
            return Err(ExtractError::damaged(FORMAT, "the file ends in a value"));
        }
        let Some((name, kind)) = tags::known(element.tag.0, element.tag.1) else { return Ok(None) };
        let is_person = element.vr == Some(*b"PN");
        if is_person || element.len > MOST_VALUE {
            return Ok(None);
        }
        let data = self.source.read_at(start, usize::try_from(element.len).unwrap_or(0))?;
        if kind == tags::StoredAs::Text {
            let text = text_of(&data).trim().replace('\\', ", ");
            return Ok((!text.is_empty()).then(|| Attribute::text(name, text)));
        }
        let mut bytes = Bytes::new(&data, self.order);
        let value = if element.len == 4 { bytes.u32() } else { bytes.u16().map(u32::from) };
        Ok(value.map(|value| Attribute::number(name, value.to_string())))
    }

    /// Skips the items of a sequence without a length, whose delimiter follows.
    fn skip_items(&mut self, depth: u32) -> Result<(), ExtractError> {
        if depth > MOST_DEPTH {
            return Err(ExtractError::damaged(FORMAT, "sequences are nested too deep"));
        }
        loop {
            let element = self.element()?;
            match (element.tag, element.len) {
                ((0xfffe, 0xe0dd | 0xe00d), _) => return Ok(()),
                (_, UNDEFINED) => self.skip_items(depth + 1)?,
                (_, len) => self.at += u64::from(len),
            }
        }
    }
}

/// The head of an element and the bytes that it takes.
fn head_of(head: &[u8], order: Order, is_explicit: bool) -> Option<(Element, u64)> {
    let mut bytes = Bytes::new(head, order);
    let tag = (bytes.u16()?, bytes.u16()?);
    if !is_explicit || tag.0 == 0xfffe {
        return Some((Element { tag, vr: None, len: bytes.u32()? }, 8));
    }
    let implicit = bytes.clone();
    let vr: [u8; 2] = bytes.take(2)?.try_into().ok()?;
    if !vr.iter().all(u8::is_ascii_uppercase) {
        // Some files have implicit elements though they say otherwise, or say nothing.
        bytes = implicit;
        return Some((Element { tag, vr: None, len: bytes.u32()? }, 8));
    }
    if LONG_FORMS.contains(&&vr) {
        bytes.skip(2)?;
        return Some((Element { tag, vr: Some(vr), len: bytes.u32()? }, 12));
    }
    Some((Element { tag, vr: Some(vr), len: bytes.u16()?.into() }, 8))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn run(body: &[u8]) -> (String, Vec<(&'static str, String)>, Result<(), ExtractError>) {
        let mut data = vec![0; 128];
        data.extend(b"DICM");
        data.extend(body);
        let size = data.len() as u64;
        let mut file = Cursor::new(data);
        let mut out = Output::new(10_000, 100);
        let done = extract(&mut Source::new(&mut file, size), &mut out);
        let (text, fields, _) = out.into_parts();
        (text, fields, done)
    }

    #[test]
    fn the_patient_is_left_out_and_big_endian_values_are_read() {
        let mut body = b"\x02\0\x10\0UI\x14\x001.2.840.10008.1.2.2\0".to_vec();
        body.extend(b"\0\x08\0\x60CS\0\x02MR");
        body.extend(b"\0\x10\0\x10PN\0\x04Doe ");
        body.extend(b"\0\x28\0\x10US\0\x02\x01\0");
        body.extend(b"\0\x28\0\x11US\0\x02\0\x20");
        let (text, fields, done) = run(&body);
        assert!(done.is_ok(), "{done:?}");
        assert!(fields.contains(&("attr", "Modality=MR".into())), "{text}");
        assert!(fields.contains(&("shape", "256x32".into())), "{text}");
        assert!(!text.contains("Doe"), "{text}");
    }

    #[test]
    fn implicit_elements_are_read_though_the_file_says_explicit() {
        let mut body = b"\x02\0\x10\0UI\x14\x001.2.840.10008.1.2.1\0".to_vec();
        body.extend(b"\x08\0\x60\0\x02\0\0\0MR");
        let (_, fields, done) = run(&body);
        assert!(done.is_ok() && fields.contains(&("attr", "Modality=MR".into())), "{fields:?} {done:?}");
    }

    #[test]
    fn sequences_of_unknown_length_are_skipped_up_to_a_depth() {
        let mut body = b"\x08\0\x40\x11SQ\0\0\xff\xff\xff\xff".to_vec();
        body.extend(b"\xfe\xff\0\xe0\xff\xff\xff\xff\xfe\xff\x0d\xe0\0\0\0\0\xfe\xff\xdd\xe0\0\0\0\0");
        body.extend(b"\x08\0\x60\0CS\x02\0CT");
        let (text, _, done) = run(&body);
        assert!(done.is_ok() && text.contains("Modality"), "{text} {done:?}");
        let deep = b"\x08\0\x40\x11SQ\0\0\xff\xff\xff\xff".repeat(1000);
        assert!(run(&deep).2.is_err());
    }
}
