//! Headers of netCDF classic files: CDF-1, CDF-2 (64-bit offsets) and CDF-5 (64-bit data).
//!
//! ```text
//! file      = "CDF" version numrecs dims attributes variables data      all numbers big-endian
//! list      = 0 0 | tag count entry*                           tag: 10 dim, 11 variable, 12 attribute
//! dim       = name length                                                length 0: the record dimension
//! attribute = name type count values padding-to-4
//! variable  = name count dim-id* attributes type vsize begin
//! name      = length bytes padding-to-4
//! ```
//! Counts have 4 bytes, and 8 in CDF-5; `begin` has 4 in CDF-1 and 8 in the others.
//! Source: the netCDF classic format specification of Unidata.

use std::io::{Read, Seek};

use super::bytes::{Bytes, Kind, Order, Source, text_of};
use super::cdl::{self, Attribute, Dim, Group, Variable};
use crate::error::ExtractError;
use crate::output::Output;

const FORMAT: &str = "netCDF";
/// The most values of an attribute that become text.
const MOST_VALUES: u64 = 64;
/// The first read of the header; it doubles until the header fits.
const FIRST_READ: usize = 64 << 10;

/// Writes the header of a classic file.
pub(crate) fn extract(
    source: &mut Source<'_, impl Read + Seek>,
    out: &mut Output,
) -> Result<(), ExtractError> {
    let mut want = FIRST_READ;
    loop {
        let bytes = source.read_at(0, want)?;
        let is_all = bytes.len() < want;
        let mut group = Group::default();
        let done = Header::read(&bytes, &mut group);
        if done.is_some() || is_all {
            cdl::write(FORMAT, &group, out);
            return match done {
                Some(()) => Ok(()),
                None => {
                    Err(ExtractError::damaged(FORMAT, "the header ends in the middle or has an unknown tag"))
                }
            };
        }
        want *= 4;
    }
}

struct Header<'a> {
    bytes: Bytes<'a>,
    version: u8,
    records: u64,
}

impl<'a> Header<'a> {
    /// Reads into `group`, which keeps what was read before a failure.
    fn read(data: &'a [u8], group: &mut Group) -> Option<()> {
        let mut bytes = Bytes::new(data, Order::Big);
        bytes.skip(3)?;
        let version = bytes.u8()?;
        let mut header = Header { bytes, version, records: 0 };
        header.records = header.count()?;
        header.dims(group)?;
        header.attributes(&mut group.attributes)?;
        header.variables(group)
    }

    fn count(&mut self) -> Option<u64> {
        if self.version == 5 { self.bytes.u64() } else { self.bytes.u32().map(u64::from) }
    }

    /// The number of entries of a list with this tag.
    fn list(&mut self, tag: u32) -> Option<u64> {
        let found = self.bytes.u32()?;
        let count = self.count()?;
        (found == tag || found == 0 && count == 0).then_some(count)
    }

    fn padded(&mut self, len: u64) -> Option<&'a [u8]> {
        let len = usize::try_from(len).ok()?;
        let taken = self.bytes.take(len)?;
        // The last padding of a file may be absent.
        let _ = self.bytes.skip(len.wrapping_neg() & 3);
        Some(taken)
    }

    fn name(&mut self) -> Option<String> {
        let len = self.count()?;
        self.padded(len).map(text_of)
    }

    fn dims(&mut self, group: &mut Group) -> Option<()> {
        for _ in 0..self.list(10)? {
            let name = self.name()?;
            let length = self.count()?;
            let unlimited = length == 0;
            let length = if unlimited { self.records } else { length };
            group.dims.push(Dim { name, length, unlimited });
        }
        Some(())
    }

    fn attributes(&mut self, attributes: &mut Vec<Attribute>) -> Option<()> {
        for _ in 0..self.list(12)? {
            let name = self.name()?;
            let (kind, size) = type_of(self.bytes.u32()?)?;
            let count = self.count()?;
            let data = self.padded(count.checked_mul(u64::try_from(size).ok()?)?)?;
            attributes.push(match kind {
                None => Attribute::text(name, text_of(data)),
                Some(kind) => Attribute::number(name, numbers(data, size, kind)),
            });
        }
        Some(())
    }

    fn variables(&mut self, group: &mut Group) -> Option<()> {
        for _ in 0..self.list(11)? {
            let mut variable = Variable { name: self.name()?, ..Variable::default() };
            for _ in 0..self.count()? {
                let id = usize::try_from(self.count()?).ok()?;
                let dim = group.dims.get(id)?;
                variable.dims.push(dim.name.clone());
                variable.shape.push(dim.length);
            }
            self.attributes(&mut variable.attributes)?;
            variable.dtype = dtype(self.bytes.u32()?)?.to_string();
            self.count()?;
            self.bytes.skip(if self.version == 1 { 4 } else { 8 })?;
            group.variables.push(variable);
        }
        Some(())
    }
}

fn numbers(data: &[u8], size: usize, kind: Kind) -> String {
    let mut bytes = Bytes::new(data, Order::Big);
    let values: Vec<String> = (0..MOST_VALUES).map_while(|_| bytes.number(size, kind)).collect();
    let more = if bytes.rest().is_empty() { "" } else { ", …" };
    values.join(", ") + more
}

/// The kind and the size of a type; text has no kind.
fn type_of(code: u32) -> Option<(Option<Kind>, usize)> {
    Some(match code {
        1 => (Some(Kind::Signed), 1),
        2 => (None, 1),
        3 => (Some(Kind::Signed), 2),
        4 => (Some(Kind::Signed), 4),
        5 => (Some(Kind::Float), 4),
        6 => (Some(Kind::Float), 8),
        7 => (Some(Kind::Unsigned), 1),
        8 => (Some(Kind::Unsigned), 2),
        9 => (Some(Kind::Unsigned), 4),
        10 => (Some(Kind::Signed), 8),
        11 => (Some(Kind::Unsigned), 8),
        _ => return None,
    })
}

fn dtype(code: u32) -> Option<&'static str> {
    let names = [
        "int8", "char", "int16", "int32", "float32", "float64", "uint8", "uint16", "uint32", "int64",
        "uint64",
    ];
    names.get(usize::try_from(code).ok()?.checked_sub(1)?).copied()
}
