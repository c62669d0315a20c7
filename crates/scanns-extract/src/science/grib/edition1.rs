//! GRIB edition 1.
//!
//! ```text
//! message  = "GRIB" length:3 1 product [grid] …
//! product  = length:3 table centre process grid flags parameter level-type level:2
//!            year-of-century month day hour minute … century(byte 25)
//! grid     = length:3 nv pv type ni:2 nj:2 …                 present when flags has 0x80
//! ```

use std::io::{self, Read, Seek};

use super::field::{Field, SECTION, date_text};
use super::tables;
use crate::science::bytes::{Bytes, Order, Source};

/// Files larger than 8 MB set this bit and count in units of 120 bytes.
const LARGE: u32 = 0x80_0000;

/// The field of the message at `start`, and the length of the message.
pub(super) fn read(
    source: &mut Source<'_, impl Read + Seek>,
    start: u64,
) -> io::Result<(Vec<Field>, Option<u64>)> {
    let bytes = source.read_at(start, 8 + SECTION)?;
    let mut head = Bytes::new(&bytes, Order::Big);
    let len = head.skip(4).and_then(|()| u24(&mut head)).map(message_len);
    let product = bytes.get(8..).unwrap_or_default();
    let Some((mut field, product_len, has_grid)) = product_field(product) else {
        return Ok((Vec::new(), len));
    };
    if has_grid {
        let grid = source.read_at(start + 8 + u64::from(product_len), SECTION)?;
        let _ = grid_of(&grid, &mut field);
    }
    Ok((vec![field], len))
}

fn message_len(len: u32) -> u64 {
    // The exact length also needs the data's; the search for the next message finds it.
    if len & LARGE == 0 {
        len.into()
    } else {
        u64::from(len & !LARGE).saturating_mul(120).saturating_sub(120)
    }
}

fn u24(bytes: &mut Bytes<'_>) -> Option<u32> {
    let high = bytes.u8()?;
    Some(u32::from(high) << 16 | u32::from(bytes.u16()?))
}

fn product_field(section: &[u8]) -> Option<(Field, u32, bool)> {
    let mut bytes = Bytes::new(section, Order::Big);
    let len = u24(&mut bytes)?;
    let table = bytes.u8()?;
    let centre = bytes.u8()?;
    bytes.skip(2)?;
    let flags = bytes.u8()?;
    let parameter = bytes.u8()?;
    let level_type = bytes.u8()?;
    let level = bytes.u16()?;
    let year = bytes.u8()?;
    let date: [u8; 4] = bytes.take(4)?.try_into().ok()?;
    bytes.skip(7)?;
    let century = bytes.u8()?;
    let year = u16::from(century.saturating_sub(1)) * 100 + u16::from(year);
    let found = tables::edition1(table, parameter);
    let field = Field {
        edition: 1,
        code: format!("{table}-{parameter}"),
        parameter: found,
        units: found.map_or("", |known| tables::units1(table, known)),
        centre: centre.into(),
        date: date_text(year, date),
        level: tables::fixed_level(table, parameter).unwrap_or_else(|| tables::level1(level_type, level)),
        ..Field::default()
    };
    Some((field, len, flags & 0x80 != 0))
}

fn grid_of(section: &[u8], field: &mut Field) -> Option<()> {
    let mut bytes = Bytes::new(section, Order::Big);
    bytes.skip(5)?;
    field.grid = match bytes.u8()? {
        0 => "latitude/longitude".into(),
        1 => "Mercator".into(),
        3 => "Lambert conformal".into(),
        4 => "Gaussian latitude/longitude".into(),
        5 => "polar stereographic".into(),
        10 => "rotated latitude/longitude".into(),
        50 => "spherical harmonic coefficients".into(),
        other => format!("grid type {other}"),
    };
    let columns = bytes.u16()?;
    let rows = bytes.u16()?;
    if ![columns, rows].contains(&u16::MAX) {
        field.shape = vec![rows.into(), columns.into()];
    }
    Some(())
}
