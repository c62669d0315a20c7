//! Headers of NIfTI-1 and NIfTI-2, the images of brain research (`.nii`; the caller opens `.nii.gz`).
//!
//! The size of the header, 348 or 540, is its first number and tells the order of the bytes.
//! Source: `nifti1.h` and `nifti2.h` of the NIfTI data format working group, public domain.

use std::io::{Read, Seek};

use super::bytes::{Bytes, Order, Source, text_of};
use super::cdl::{self, Attribute, Group, Variable};
use crate::error::ExtractError;
use crate::output::Output;

const FORMAT: &str = "NIfTI";

/// Whether `head` is the start of a NIfTI file.
pub(crate) fn is_start(head: &[u8]) -> bool {
    layout(head).is_some()
}

/// Where the parts of a header are.
struct Places {
    order: Order,
    is_second: bool,
    dims: usize,
    datatype: usize,
    description: usize,
    intent: usize,
    units: usize,
    voxel: usize,
}

fn layout(head: &[u8]) -> Option<Places> {
    let size = head.first_chunk::<4>()?;
    let order = match (u32::from_le_bytes(*size), u32::from_be_bytes(*size)) {
        (348 | 540, _) => Order::Little,
        (_, 348 | 540) => Order::Big,
        _ => return None,
    };
    let magic = |at: usize| {
        head.get(at..at + 3).is_some_and(|magic| matches!(magic, b"n+1" | b"ni1" | b"n+2" | b"ni2"))
    };
    if magic(344) {
        let (dims, datatype, voxel) = (40, 70, 76);
        return Some(Places {
            order,
            is_second: false,
            dims,
            datatype,
            description: 148,
            intent: 328,
            units: 123,
            voxel,
        });
    }
    let (dims, datatype, voxel) = (16, 12, 104);
    let second =
        Places { order, is_second: true, dims, datatype, description: 240, intent: 508, units: 500, voxel };
    magic(4).then_some(second)
}

/// Writes the header.
pub(crate) fn extract(
    source: &mut Source<'_, impl Read + Seek>,
    out: &mut Output,
) -> Result<(), ExtractError> {
    let head = source.read_at(0, 540)?;
    let group = layout(&head).and_then(|layout| group_of(&head, &layout));
    let group = group.ok_or_else(|| ExtractError::damaged(FORMAT, "the header is cut off"))?;
    cdl::write(FORMAT, &group, out);
    Ok(())
}

fn group_of(head: &[u8], layout: &Places) -> Option<Group> {
    let at = |offset: usize| head.get(offset..).map(|rest| Bytes::new(rest, layout.order));
    let text = |offset: usize, len: usize| Some(text_of(head.get(offset..offset + len)?).trim().to_string());
    let mut dims = at(layout.dims)?;
    let size = if layout.is_second { 8 } else { 2 };
    let rank = usize::try_from(dims.integer(size, true)?).ok().filter(|&rank| rank <= 7)?;
    let mut shape = Vec::new();
    for _ in 0..rank {
        shape.push(u64::try_from(dims.integer(size, true)?).ok()?);
    }
    let mut voxel = at(layout.voxel)?;
    let float = if layout.is_second { 8 } else { 4 };
    voxel.skip(float)?;
    let spacing: Option<Vec<String>> = (0..rank).map(|_| voxel.float(float)).collect();
    let units = if layout.is_second { at(layout.units)?.u32()? } else { at(layout.units)?.u8()?.into() };
    let mut attributes = vec![
        Attribute::text("description", text(layout.description, 80)?),
        Attribute::text("intent_name", text(layout.intent, 16)?),
        Attribute::number("pixdim", spacing?.join(", ")),
        Attribute::text("units", units_text(units)),
    ];
    attributes.retain(|attribute| !attribute.value.is_empty());
    let dtype = dtype(at(layout.datatype)?.u16()?).to_string();
    let image = Variable { name: "image".into(), dtype, shape, ..Variable::default() };
    Some(Group { variables: vec![image], attributes, ..Group::default() })
}

/// Units of space and of time.
fn units_text(code: u32) -> String {
    let space = ["", "m", "mm", "um"];
    let time = ["", "s", "ms", "us", "Hz", "ppm", "rad/s"];
    let name = |names: &[&str], at: u32| {
        usize::try_from(at).ok().and_then(|at| names.get(at).map(|n| n.to_string()))
    };
    let both = [name(&space, code & 7), name(&time, code >> 3 & 7)];
    both.into_iter().flatten().filter(|name| !name.is_empty()).collect::<Vec<_>>().join(" ")
}

fn dtype(code: u16) -> &'static str {
    match code {
        2 => "uint8",
        4 => "int16",
        8 => "int32",
        16 => "float32",
        32 => "complex64",
        64 => "float64",
        128 => "rgb24",
        256 => "int8",
        512 => "uint16",
        768 => "uint32",
        1024 => "int64",
        1280 => "uint64",
        1536 => "float128",
        1792 => "complex128",
        2304 => "rgba32",
        _ => "unknown",
    }
}
