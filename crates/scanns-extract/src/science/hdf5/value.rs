//! Types and values of HDF5 as text.

use hdf5_reader::Attribute as Stored;
use hdf5_reader::ByteOrder;
use hdf5_reader::dataset::Dataset;
use hdf5_reader::messages::datatype::{Datatype, StringSize};

use crate::science::bytes::{Bytes, Kind, Order, text_of};
use crate::science::cdl::Attribute;

/// The most values of an attribute that become text.
const MOST_VALUES: usize = 64;
/// The deepest nest of types that becomes text.
const MOST_DEPTH: usize = 16;

/// An attribute as text; `None` where its type has none, such as a reference.
pub(super) fn attribute(stored: &Stored) -> Option<Attribute> {
    if let Some(text) = string(stored) {
        return Some(Attribute::text(stored.name.as_str(), text));
    }
    let is_empty = stored.shape.contains(&0);
    let text = if is_empty { Some(String::new()) } else { values(&stored.datatype, &stored.raw_data) };
    Some(Attribute::number(stored.name.as_str(), text.unwrap_or_else(|| dtype(&stored.datatype))))
}

/// The text of an attribute of strings.
pub(super) fn string(stored: &Stored) -> Option<String> {
    let strings = match (&stored.decoded_strings, &stored.datatype) {
        (Some(strings), _) => strings.clone(),
        (None, Datatype::String { size: StringSize::Fixed(size), .. }) => {
            let size = usize::try_from(*size).ok().filter(|&size| size > 0)?;
            stored.raw_data.chunks(size).map(text_of).collect()
        }
        (None, Datatype::String { .. }) => vec![stored.read_string().ok()?],
        _ => return None,
    };
    let quoted: Vec<&str> = strings.iter().map(|text| text.trim_end_matches(['\0', ' '])).collect();
    Some(quoted.join(", "))
}

/// The addresses that an attribute `DIMENSION_LIST` has: one for each dimension, the first of its scales.
pub(super) fn references(dataset: &Dataset, list: &Stored) -> Vec<Option<u64>> {
    let size = dataset.vlen_reference_size();
    let rank = dataset.shape().len();
    let first = |entry: &[u8]| {
        let bytes = dataset.resolve_vlen_reference_bytes(entry, 8).ok()?;
        Bytes::new(&bytes, Order::Little).u64()
    };
    list.raw_data.chunks(size.max(1)).take(rank).map(first).collect()
}

fn values(datatype: &Datatype, data: &[u8]) -> Option<String> {
    let (size, kind, order) = match datatype {
        Datatype::FixedPoint { size, signed, byte_order } => {
            (*size, if *signed { Kind::Signed } else { Kind::Unsigned }, order_of(byte_order))
        }
        Datatype::FloatingPoint { size, byte_order } => (*size, Kind::Float, order_of(byte_order)),
        Datatype::Bitfield { size, byte_order } => (*size, Kind::Unsigned, order_of(byte_order)),
        Datatype::Enum { base, members } => return enum_values(base, members, data),
        Datatype::Array { base, .. } => return values(base, data),
        _ => return None,
    };
    let mut bytes = Bytes::new(data, order);
    let texts: Vec<String> = (0..MOST_VALUES).map_while(|_| bytes.number(usize::from(size), kind)).collect();
    let more = if bytes.rest().is_empty() { "" } else { ", …" };
    (!texts.is_empty()).then(|| texts.join(", ") + more)
}

fn enum_values(
    base: &Datatype,
    members: &[hdf5_reader::messages::datatype::EnumMember],
    data: &[u8],
) -> Option<String> {
    let Datatype::FixedPoint { size, .. } = base else { return None };
    let name = |value: &[u8]| members.iter().find(|member| member.value == value).map(|m| m.name.clone());
    let chunks = data.chunks(usize::from(*size).max(1)).take(MOST_VALUES);
    let names: Vec<String> =
        chunks.map(|value| name(value).or_else(|| values(base, value)).unwrap_or_default()).collect();
    Some(names.join(", "))
}

fn order_of(order: &ByteOrder) -> Order {
    match order {
        ByteOrder::BigEndian => Order::Big,
        ByteOrder::LittleEndian => Order::Little,
    }
}

/// The short name of a type, such as `float32`.
pub(super) fn dtype(datatype: &Datatype) -> String {
    match datatype {
        Datatype::FixedPoint { size, signed, .. } => {
            format!("{}int{}", if *signed { "" } else { "u" }, u32::from(*size) * 8)
        }
        Datatype::FloatingPoint { size, .. } => format!("float{}", u32::from(*size) * 8),
        Datatype::String { size: StringSize::Fixed(size), .. } => format!("string{size}"),
        Datatype::String { .. } => "string".into(),
        Datatype::Compound { .. } => "compound".into(),
        Datatype::Array { base, .. } => format!("array of {}", inner(base)),
        Datatype::Enum { base, .. } => format!("enum of {}", inner(base)),
        Datatype::VarLen { base, .. } if base.is_vlen_string_base() => "string".into(),
        Datatype::VarLen { base, .. } => format!("vlen of {}", inner(base)),
        Datatype::Opaque { tag, .. } => format!("opaque {tag}"),
        Datatype::Reference { .. } => "reference".into(),
        Datatype::Bitfield { size, .. } => format!("bitfield{}", u32::from(*size) * 8),
    }
}

/// The name of the type in a type of types, which is not looked into.
fn inner(base: &Datatype) -> String {
    match base {
        Datatype::Array { .. } => "array".into(),
        Datatype::VarLen { .. } => "vlen".into(),
        Datatype::Enum { .. } => "enum".into(),
        plain => dtype(plain),
    }
}

/// The members of a compound, or the names of an enum, as one text; empty for other types.
pub(super) fn members(datatype: &Datatype) -> String {
    let mut names = Vec::new();
    collect_members(datatype, &mut names, 0);
    names.join(", ")
}

fn collect_members(datatype: &Datatype, names: &mut Vec<String>, depth: usize) {
    if depth > MOST_DEPTH {
        return;
    }
    match datatype {
        Datatype::Compound { fields, .. } => {
            for field in fields {
                names.push(format!("{} {}", dtype(&field.datatype), field.name));
                collect_members(&field.datatype, names, depth + 1);
            }
        }
        Datatype::Enum { members, .. } => names.extend(members.iter().map(|member| member.name.clone())),
        Datatype::Array { base, .. } | Datatype::VarLen { base, .. } => {
            collect_members(base, names, depth + 1)
        }
        _ => {}
    }
}
