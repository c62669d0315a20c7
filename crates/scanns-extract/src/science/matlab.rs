//! Names of the variables of MATLAB files of level 5 (`.mat`; those of level 7.3 are HDF5).
//!
//! ```text
//! file     = text:116 subsystem:8 version:2 "IM" | "MI" element*
//! element  = type:4 length:4 data padding-to-8 | (length:2 type:2) data:4     the short form
//! matrix   = element 14 of: flags (6), dimensions (5), name (1), values
//! ```
//! An element of type 15 is one zlib stream with a matrix in it. Source: MAT-File Format, MathWorks.

use std::io::{Read, Seek};

use flate2::read::ZlibDecoder;

use super::bytes::{Bytes, Order, Source, text_of};
use super::cdl::{self, Attribute, Group, Variable};
use crate::error::ExtractError;
use crate::output::Output;

const FORMAT: &str = "MATLAB";
/// The bytes of a matrix that hold its dimensions and its name.
const HEAD: usize = 1024;
const MOST_VARIABLES: usize = 100_000;
const CLASSES: [&str; 18] = [
    "", "cell", "struct", "object", "char", "sparse", "float64", "float32", "int8", "uint8", "int16",
    "uint16", "int32", "uint32", "int64", "uint64", "function", "opaque",
];

/// Writes the names of the variables.
pub(crate) fn extract(
    source: &mut Source<'_, impl Read + Seek>,
    out: &mut Output,
) -> Result<(), ExtractError> {
    let mut root = Group::default();
    let done = read_all(source, &mut root);
    cdl::write(FORMAT, &root, out);
    done
}

fn read_all(source: &mut Source<'_, impl Read + Seek>, root: &mut Group) -> Result<(), ExtractError> {
    let head = source.read_at(0, 128)?;
    let text = text_of(head.get(..116).unwrap_or_default());
    root.attributes.push(Attribute::text("header", text.trim()));
    let order = if head.ends_with(b"MI") { Order::Big } else { Order::Little };
    let mut offset = 128;
    while offset < source.size() && root.variables.len() < MOST_VARIABLES {
        let start = source.read_at(offset, 8 + HEAD)?;
        let mut bytes = Bytes::new(&start, order);
        let Some((kind, len)) = bytes.u32().zip(bytes.u32()) else {
            return Err(ExtractError::damaged(FORMAT, "the file ends in an element"));
        };
        let variable = match kind {
            14 => matrix(bytes.rest(), order),
            15 => matrix(&inflated(bytes.rest(), order), order),
            _ => None,
        };
        root.variables.extend(variable.filter(|variable| !variable.name.is_empty()));
        offset += 8 + u64::from(len);
    }
    if offset > source.size() {
        return Err(ExtractError::damaged(FORMAT, "the last element is cut off"));
    }
    Ok(())
}

/// The start of the matrix in a compressed element.
fn inflated(data: &[u8], order: Order) -> Vec<u8> {
    let mut plain = Vec::new();
    // The data is a start only, so an end of the stream is no error.
    let _ = ZlibDecoder::new(data).take(8 + HEAD as u64).read_to_end(&mut plain);
    let mut bytes = Bytes::new(&plain, order);
    match bytes.u32().zip(bytes.u32()) {
        Some((14, _)) => bytes.rest().to_vec(),
        _ => Vec::new(),
    }
}

fn matrix(data: &[u8], order: Order) -> Option<Variable> {
    let mut bytes = Bytes::new(data, order);
    let flags = Bytes::new(element(&mut bytes)?, order).u32()?;
    let class = usize::try_from(flags & 0xff).ok()?;
    let mut dims = Bytes::new(element(&mut bytes)?, order);
    let shape = std::iter::from_fn(|| dims.u32().map(u64::from)).collect();
    let name = text_of(element(&mut bytes)?);
    let dtype = CLASSES.get(class).copied().unwrap_or("unknown");
    Some(Variable { name, dtype: dtype.into(), shape, ..Variable::default() })
}

/// The data of the next element.
fn element<'a>(bytes: &mut Bytes<'a>) -> Option<&'a [u8]> {
    let kind = bytes.u32()?;
    if kind >> 16 != 0 {
        let len = usize::try_from(kind >> 16).ok()?;
        return bytes.take(4)?.get(..len);
    }
    let len = usize::try_from(bytes.u32()?).ok()?;
    let data = bytes.take(len)?;
    bytes.skip(len.wrapping_neg() & 7)?;
    Some(data)
}
