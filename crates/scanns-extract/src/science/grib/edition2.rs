//! GRIB edition 2.
//!
//! ```text
//! message = "GRIB" reserved:2 discipline 2 length:8 section* "7777"
//! section = length:4 number body
//! 1: centre:2 subcentre:2 table local significance year:2 month day hour minute second …
//! 3: source points:4 list interpretation template:2 shape … ni:4 nj:4 (bytes 31 and 35)
//! 4: coordinates:2 template:2 category number … level-type factor value:4 (bytes 23, 24, 25)
//! ```
//! A message may repeat sections 3 and 4 for more fields.

use std::io::{self, Read, Seek};

use super::field::{Field, SECTION, date_text};
use super::tables;
use crate::science::bytes::{Bytes, Order, Source};

/// The most sections of one message.
const MOST_SECTIONS: usize = 10_000;

/// The fields of the message at `start`, and the length of the message.
pub(super) fn read(
    source: &mut Source<'_, impl Read + Seek>,
    start: u64,
) -> io::Result<(Vec<Field>, Option<u64>)> {
    let head = source.read_at(start, 16)?;
    let mut bytes = Bytes::new(&head, Order::Big);
    let Some(discipline) = bytes.skip(6).and_then(|()| bytes.u8()) else { return Ok((Vec::new(), None)) };
    let len = bytes.skip(1).and_then(|()| bytes.u64());
    let mut message = Message { discipline, ..Message::default() };
    let mut offset = start.saturating_add(16);
    for _ in 0..MOST_SECTIONS {
        let section = source.read_at(offset, SECTION)?;
        let mut bytes = Bytes::new(&section, Order::Big);
        let Some((section_len, number)) = bytes.u32().zip(bytes.u8()) else { break };
        if section.starts_with(b"7777") || section_len < 5 {
            break;
        }
        let known = usize::try_from(section_len).unwrap_or(usize::MAX).min(section.len());
        let body = section.get(5..known).unwrap_or_default();
        let _ = message.section(number, body);
        offset = offset.saturating_add(section_len.into());
    }
    Ok((message.fields, len))
}

#[derive(Default)]
struct Message {
    discipline: u8,
    centre: u16,
    date: String,
    grid: String,
    shape: Vec<u64>,
    fields: Vec<Field>,
}

impl Message {
    fn section(&mut self, number: u8, body: &[u8]) -> Option<()> {
        let mut bytes = Bytes::new(body, Order::Big);
        match number {
            1 => self.identification(&mut bytes),
            3 => self.grid(&mut bytes),
            4 => self.product(&mut bytes),
            _ => Some(()),
        }
    }

    fn identification(&mut self, bytes: &mut Bytes<'_>) -> Option<()> {
        self.centre = bytes.u16()?;
        bytes.skip(5)?;
        let year = bytes.u16()?;
        self.date = date_text(year, bytes.take(4)?.try_into().ok()?);
        Some(())
    }

    fn grid(&mut self, bytes: &mut Bytes<'_>) -> Option<()> {
        bytes.skip(1)?;
        let points = bytes.u32()?;
        bytes.skip(2)?;
        let template = bytes.u16()?;
        self.grid = tables::grid(template);
        self.shape = vec![points.into()];
        bytes.skip(16)?;
        let columns = bytes.u32()?;
        let rows = bytes.u32()?;
        if u64::from(columns) * u64::from(rows) == u64::from(points) {
            self.shape = vec![rows.into(), columns.into()];
        }
        Some(())
    }

    fn product(&mut self, bytes: &mut Bytes<'_>) -> Option<()> {
        bytes.skip(2)?;
        let template = bytes.u16()?;
        let category = bytes.u8()?;
        let number = bytes.u8()?;
        let parameter = tables::edition2([self.discipline, category, number], self.centre);
        let mut field = Field {
            edition: 2,
            code: format!("{}-{category}-{number}", self.discipline),
            parameter,
            units: parameter.map_or("", |known| known.units),
            centre: self.centre,
            date: self.date.clone(),
            grid: self.grid.clone(),
            shape: self.shape.clone(),
            ..Field::default()
        };
        // The templates up to 15, and 40 to 48 in other places, have the level after the forecast time.
        if template <= 15 {
            field.level = level(bytes).unwrap_or_default();
        }
        self.fields.push(field);
        Some(())
    }
}

fn level(bytes: &mut Bytes<'_>) -> Option<String> {
    bytes.skip(11)?;
    let kind = bytes.u8()?;
    let factor = bytes.u8()?;
    let value = bytes.u32()?;
    // The sign is the first bit; 255 stands for an absent number.
    let (factor, is_small) = (factor & 0x7f, factor & 0x80 == 0);
    let value = if factor > 18 || value == u32::MAX {
        None
    } else {
        let scale = 10f64.powi(factor.into());
        let value = f64::from(value & 0x7fff_ffff);
        Some(if is_small { value / scale } else { value * scale })
    };
    Some(tables::level2(kind, value))
}
