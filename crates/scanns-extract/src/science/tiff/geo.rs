//! The keys of GeoTIFF: the coordinate system of an image.
//!
//! The directory is a row of numbers of two bytes: version, revision, minor, count, and then for each key its
//! number, the tag of its value (0: the last number is the value), the count and the value or its place.

use crate::science::bytes::{Bytes, Order, text_of};
use crate::science::cdl::Attribute;

/// The tag of the directory of keys.
pub(super) const GEO_KEYS: u16 = 34735;
/// The tag of the values that are floats.
pub(super) const GEO_DOUBLES: u16 = 34736;
/// The tag of the values that are text.
pub(super) const GEO_TEXTS: u16 = 34737;

/// The keys as attributes, from the directory, the floats and the texts.
pub(super) fn keys(parts: [&[u8]; 3], order: Order) -> Vec<Attribute> {
    let [directory, doubles, texts] = parts;
    let mut found = Vec::new();
    let mut bytes = Bytes::new(directory, order);
    let count = bytes.skip(6).and_then(|()| bytes.u16()).unwrap_or(0);
    for _ in 0..count {
        let mut number = || bytes.u16();
        let (Some(key), Some(place), Some(len), Some(value)) = (number(), number(), number(), number())
        else {
            break;
        };
        let (len, at) = (usize::from(len), usize::from(value));
        let attribute = match place {
            0 => Some(coded(key, value)),
            GEO_DOUBLES => doubles.get(at * 8..).and_then(|rest| {
                let text = Bytes::new(rest, order).float(8)?;
                Some(Attribute::number(name(key), text))
            }),
            GEO_TEXTS => texts.get(at..at + len).map(|text| {
                Attribute::text(name(key), text_of(text).trim_end_matches('|').replace('|', "; "))
            }),
            _ => None,
        };
        found.extend(attribute);
    }
    found
}

/// A key whose value is a code: `EPSG:4326` where it is one of the EPSG registry.
fn coded(key: u16, value: u16) -> Attribute {
    let text = match (key, value) {
        (1024, 1) => "projected".to_string(),
        (1024, 2) => "geographic".to_string(),
        (1024, 3) => "geocentric".to_string(),
        (_, 32767) => "user-defined".to_string(),
        (2048 | 2050 | 3072 | 4096, 1024..) => format!("EPSG:{value}"),
        _ => return Attribute::number(name(key), value.to_string()),
    };
    Attribute::text(name(key), text)
}

/// Whether an attribute is one of a GeoTIFF.
pub(super) fn is_own(attribute: &str) -> bool {
    ["GTModelType", "GTRasterType", "GTCitation", "GeodeticCRS", "ProjectedCRS"].contains(&attribute)
}

fn name(key: u16) -> String {
    let name = match key {
        1024 => "GTModelType",
        1025 => "GTRasterType",
        1026 => "GTCitation",
        2048 => "GeodeticCRS",
        2049 => "GeodeticCitation",
        2050 => "GeodeticDatum",
        2052 => "GeogLinearUnits",
        2054 => "GeogAngularUnits",
        2057 => "EllipsoidSemiMajorAxis",
        2059 => "EllipsoidInvFlattening",
        3072 => "ProjectedCRS",
        3073 => "ProjectedCitation",
        3076 => "ProjLinearUnits",
        4096 => "Vertical",
        4097 => "VerticalCitation",
        _ => return format!("GeoKey{key}"),
    };
    name.to_string()
}
