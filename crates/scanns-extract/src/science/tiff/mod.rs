//! Directories of TIFF and BigTIFF files, with the keys of GeoTIFF.
//!
//! ```text
//! file      = "II" | "MM" 42 offset:4                           BigTIFF: 43 8 0 offset:8
//! directory = count:2 entry* next:4                             BigTIFF: count:8 … next:8
//! entry     = tag:2 type:2 count:4 value-or-offset:4            BigTIFF: count and value of 8
//! ```
//! Source: TIFF 6.0 of Adobe; OGC 19-008 for GeoTIFF (see `geo`).

mod geo;

use std::collections::HashSet;
use std::io::{Read, Seek};

use super::bytes::{Bytes, Kind, Order, Source, text_of};
use super::cdl::{self, Attribute, Group, Variable};
use crate::error::ExtractError;
use crate::output::Output;
use geo::{GEO_DOUBLES, GEO_KEYS, GEO_TEXTS};

/// The most directories of a file and the most entries of a directory.
const MOST_DIRECTORIES: usize = 4096;
const MOST_ENTRIES: u64 = 4096;
/// The most bytes of one value that are read: descriptions of microscopes are long XML texts.
const MOST_VALUE: usize = 256 << 10;
/// The most bytes of all values of a file: entries may point to the same bytes.
const MOST_BYTES: usize = 64 << 20;
const MOST_NUMBERS: usize = 64;

/// Writes the directories.
pub(crate) fn extract(
    source: &mut Source<'_, impl Read + Seek>,
    out: &mut Output,
) -> Result<(), ExtractError> {
    let mut root = Group::default();
    let done = read_all(source, &mut root);
    let is_geo = root.groups.iter().flat_map(|group| &group.attributes).any(|a| geo::is_own(&a.name));
    let format = if is_geo { "GeoTIFF" } else { "TIFF" };
    for attribute in root.groups.iter().flat_map(|group| &group.attributes) {
        match attribute.name.as_str() {
            "Artist" => out.field("author", &attribute.value),
            "DocumentName" | "ImageDescription" => out.field("title", &attribute.value),
            _ => {}
        }
    }
    cdl::write(format, &root, out);
    done.ok_or_else(|| ExtractError::damaged(format, "a directory is cut off or repeats"))
}

/// The layout of numbers in a file.
#[derive(Clone, Copy)]
struct Layout {
    order: Order,
    is_big: bool,
}

impl Layout {
    fn offset(self, bytes: &mut Bytes<'_>) -> Option<u64> {
        if self.is_big { bytes.u64() } else { bytes.u32().map(u64::from) }
    }
}

/// One entry of a directory with its value.
struct Entry {
    tag: u16,
    kind: u16,
    data: Vec<u8>,
}

fn read_all(source: &mut Source<'_, impl Read + Seek>, root: &mut Group) -> Option<()> {
    let head = source.read_at(0, 16).ok()?;
    let order = if head.starts_with(b"MM") { Order::Big } else { Order::Little };
    let mut bytes = Bytes::new(&head, order);
    bytes.skip(2)?;
    let layout = Layout { order, is_big: bytes.u16()? == 43 };
    if layout.is_big {
        bytes.skip(4)?;
    }
    let mut offset = layout.offset(&mut bytes)?;
    let mut seen = HashSet::new();
    let mut left = MOST_BYTES;
    while offset != 0 && root.groups.len() < MOST_DIRECTORIES {
        if !seen.insert(offset) {
            return None;
        }
        let (entries, next) = directory(source, layout, offset, &mut left)?;
        let name = format!("IFD{}", root.groups.len());
        root.groups.push(group_of(&entries, layout.order, name));
        offset = next?;
    }
    Some(())
}

/// The entries of a directory and the offset of the next one, if that is there.
fn directory(
    source: &mut Source<'_, impl Read + Seek>,
    layout: Layout,
    offset: u64,
    left: &mut usize,
) -> Option<(Vec<Entry>, Option<u64>)> {
    let most = usize::try_from(MOST_ENTRIES * 20 + 16).ok()?;
    let table = source.read_at(offset, most).ok()?;
    let mut bytes = Bytes::new(&table, layout.order);
    let count = if layout.is_big { bytes.u64()? } else { bytes.u16()?.into() };
    if count > MOST_ENTRIES {
        return None;
    }
    let mut entries = Vec::new();
    for _ in 0..count {
        entries.extend(entry(source, layout, &mut bytes, left)?);
    }
    Some((entries, layout.offset(&mut bytes)))
}

/// The next entry: `None` at the end of the table, an inner `None` for a value that is not needed.
fn entry(
    source: &mut Source<'_, impl Read + Seek>,
    layout: Layout,
    bytes: &mut Bytes<'_>,
    left: &mut usize,
) -> Option<Option<Entry>> {
    let tag = bytes.u16()?;
    let kind = bytes.u16()?;
    let count = layout.offset(bytes)?;
    let inline = bytes.take(if layout.is_big { 8 } else { 4 })?;
    if tag_name(tag).is_none() {
        return Some(None);
    }
    let Some(len) = count.checked_mul(size_of_kind(kind)) else { return Some(None) };
    let len = usize::try_from(len).unwrap_or(usize::MAX).min(MOST_VALUE);
    let data = match inline.get(..len) {
        Some(value) => value.to_vec(),
        None => {
            let at = layout.offset(&mut Bytes::new(inline, layout.order))?;
            source.read_at(at, len).ok()?
        }
    };
    *left = left.checked_sub(data.len())?;
    Some(Some(Entry { tag, kind, data }))
}

fn size_of_kind(kind: u16) -> u64 {
    match kind {
        3 | 8 => 2,
        4 | 9 | 11 | 13 => 4,
        5 | 10 | 12 | 16 | 17 | 18 => 8,
        _ => 1,
    }
}

fn value_text(entry: &Entry, order: Order) -> String {
    let (size, number) = match entry.kind {
        1 => (1, Kind::Unsigned),
        3 => (2, Kind::Unsigned),
        4 | 13 => (4, Kind::Unsigned),
        8 => (2, Kind::Signed),
        9 => (4, Kind::Signed),
        11 => (4, Kind::Float),
        12 => (8, Kind::Float),
        16 | 18 => (8, Kind::Unsigned),
        5 => return fraction(&entry.data, order),
        _ => return text_of(&entry.data).trim().to_string(),
    };
    let mut bytes = Bytes::new(&entry.data, order);
    let texts: Vec<String> = (0..MOST_NUMBERS).map_while(|_| bytes.number(size, number)).collect();
    texts.join(", ")
}

fn fraction(data: &[u8], order: Order) -> String {
    let mut bytes = Bytes::new(data, order);
    match bytes.u32().zip(bytes.u32()) {
        Some((above, 1)) => above.to_string(),
        Some((above, below)) if below != 0 => (f64::from(above) / f64::from(below)).to_string(),
        _ => String::new(),
    }
}

fn group_of(entries: &[Entry], order: Order, name: String) -> Group {
    let mut group = Group { name, ..Group::default() };
    let number = |tag: u16| {
        let entry = entries.iter().find(|entry| entry.tag == tag)?;
        let text = value_text(entry, order);
        text.split(',').next()?.parse::<u64>().ok()
    };
    let shape: Option<Vec<u64>> = [number(257), number(256)].into_iter().collect();
    if let Some(mut shape) = shape {
        shape.extend(number(277).filter(|&samples| samples > 1));
        let sign = ["uint", "int", "float", "uint"];
        let format = usize::try_from(number(339).unwrap_or(1)).unwrap_or(1).saturating_sub(1);
        let sign = sign.get(format).copied().unwrap_or("uint");
        let dtype = format!("{sign}{}", number(258).unwrap_or(1));
        group.variables.push(Variable { name: "image".into(), dtype, shape, ..Variable::default() });
    }
    for entry in entries {
        let Some(name) = tag_name(entry.tag).filter(|name| !name.is_empty()) else { continue };
        let text = value_text(entry, order);
        let is_text = matches!(entry.kind, 2 | 7 | 0 | 129);
        group.attributes.push(Attribute { name: name.into(), value: text, is_text, note: String::new() });
    }
    let data = |tag: u16| entries.iter().find(|entry| entry.tag == tag).map_or(&[][..], |entry| &entry.data);
    group.attributes.extend(geo::keys([data(GEO_KEYS), data(GEO_DOUBLES), data(GEO_TEXTS)], order));
    group
}

/// The name of a tag that is read; empty for one that is not written as it stands.
fn tag_name(tag: u16) -> Option<&'static str> {
    Some(match tag {
        256 => "ImageWidth",
        257 => "ImageLength",
        258 => "BitsPerSample",
        259 => "Compression",
        262 => "PhotometricInterpretation",
        269 => "DocumentName",
        270 => "ImageDescription",
        271 => "Make",
        272 => "Model",
        277 => "SamplesPerPixel",
        282 => "XResolution",
        283 => "YResolution",
        285 => "PageName",
        305 => "Software",
        306 => "DateTime",
        315 => "Artist",
        316 => "HostComputer",
        339 => "SampleFormat",
        33432 => "Copyright",
        33550 => "ModelPixelScale",
        33922 => "ModelTiepoint",
        // These become attributes of other names.
        GEO_KEYS | GEO_DOUBLES | GEO_TEXTS => "",
        42112 => "GDAL_METADATA",
        42113 => "GDAL_NODATA",
        _ => return None,
    })
}
