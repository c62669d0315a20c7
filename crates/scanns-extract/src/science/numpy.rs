//! Headers of NumPy arrays (`.npy`; an `.npz` is a zip of them, which the caller opens).
//!
//! ```text
//! file = 0x93 "NUMPY" major minor length:2 (4 from version 2 on) dict
//! dict = {'descr': '<f4' | [('name', '<f4'), …], 'fortran_order': False, 'shape': (180, 360), }
//! ```
//! Source: `numpy.lib.format`.

use std::io::{Read, Seek};

use super::bytes::{Bytes, Order, Source, text_of};
use super::cdl::{self, Attribute, Group, Variable};
use crate::error::ExtractError;
use crate::output::Output;

const FORMAT: &str = "NumPy";
/// The longest dict that is read: the limit of NumPy itself is 10,000.
const MOST_DICT: usize = 1 << 20;

/// Writes the header.
pub(crate) fn extract(
    source: &mut Source<'_, impl Read + Seek>,
    out: &mut Output,
) -> Result<(), ExtractError> {
    let damaged = || ExtractError::damaged(FORMAT, "the header is cut off");
    let head = source.read_at(0, 12)?;
    let (start, len) = dict_at(&head).ok_or_else(damaged)?;
    let dict = source.read_at(start, len.min(MOST_DICT))?;
    let group = group_of(&text_of(&dict)).ok_or_else(damaged)?;
    cdl::write(FORMAT, &group, out);
    Ok(())
}

fn dict_at(head: &[u8]) -> Option<(u64, usize)> {
    let mut bytes = Bytes::new(head, Order::Little);
    bytes.skip(6)?;
    let version = bytes.u16()? & 0xff;
    if version == 1 {
        return Some((10, bytes.u16()?.into()));
    }
    Some((12, usize::try_from(bytes.u32()?).ok()?))
}

fn group_of(dict: &str) -> Option<Group> {
    let (_, shape) = dict.split_once("'shape':")?;
    let (shape, _) = shape.split_once('(')?.1.split_once(')')?;
    let shape: Vec<u64> = shape.split(',').filter_map(|number| number.trim().parse().ok()).collect();
    let (_, descr) = dict.split_once("'descr':")?;
    let descr = descr.split("'fortran_order'").next()?.split("'shape'").next()?;
    let words: Vec<&str> = descr.split('\'').skip(1).step_by(2).collect();
    let attributes = vec![Attribute::text("header", dict.trim())];
    let variables = if descr.trim_start().starts_with('[') {
        fields(&words, &shape)
    } else {
        vec![variable("array", words.first()?, &shape)]
    };
    Some(Group { variables, attributes, ..Group::default() })
}

/// The fields of a structured type: names and types take turns; a nested type gives its names too.
fn fields(words: &[&str], shape: &[u64]) -> Vec<Variable> {
    let mut variables = Vec::new();
    let mut words = words.iter().peekable();
    while let Some(name) = words.next() {
        let dtype = words.next_if(|word| word.starts_with(['<', '>', '|', '=']));
        variables.push(variable(name, dtype.unwrap_or(&"struct"), shape));
    }
    variables
}

fn variable(name: &str, descr: &str, shape: &[u64]) -> Variable {
    Variable { name: name.into(), dtype: dtype(descr), shape: shape.to_vec(), ..Variable::default() }
}

/// `<f4` as `float32`; other types as they are.
fn dtype(descr: &str) -> String {
    let plain = descr.trim_start_matches(['<', '>', '|', '=']);
    let (kind, size) = plain.split_at_checked(1).unwrap_or(("", plain));
    let name = match kind {
        "f" => "float",
        "i" => "int",
        "u" => "uint",
        "c" => "complex",
        "b" => return "bool".into(),
        _ => return descr.into(),
    };
    match size.parse::<u32>() {
        Ok(bytes) if bytes <= 64 => format!("{name}{}", bytes * 8),
        _ => descr.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_structured_type_gives_a_variable_for_each_field() {
        let dict = "{'descr': [('a', '<f4'), ('b', '|S3', (2,))], 'fortran_order': False, 'shape': (5, 6), }";
        let group = group_of(dict).unwrap();
        let names: Vec<&str> = group.variables.iter().map(|variable| variable.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(
            (group.variables[0].dtype.as_str(), &group.variables[0].shape[..]),
            ("float32", &[5, 6][..])
        );
    }
}
