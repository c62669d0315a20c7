use std::io::Cursor;

use crate::output::Output;
use crate::science::bytes::Source;

/// A message of edition 2 with one field: temperature at 500 hPa on a grid of 4 by 3.
fn edition2() -> Vec<u8> {
    let mut section1 = vec![0, 0, 0, 21, 1, 0, 98, 0, 0, 2, 0, 1, 0x07, 0xe8, 1, 31, 6, 0, 0, 0, 1];
    let mut section3 = vec![0, 0, 0, 72, 3, 0, 0, 0, 0, 12, 0, 0, 0, 0];
    section3.extend([0; 16]);
    section3.extend([0, 0, 0, 4, 0, 0, 0, 3]);
    section3.resize(72, 0);
    let mut section4 = vec![0, 0, 0, 34, 4, 0, 0, 0, 0, 0, 0];
    section4.extend([0; 11]);
    section4.extend([100, 0, 0, 0, 0xc3, 0x50]);
    section4.resize(34, 0);
    let mut message = b"GRIB\0\0\0\x02".to_vec();
    let len = 16 + section1.len() + section3.len() + section4.len() + 4;
    message.extend((len as u64).to_be_bytes());
    message.append(&mut section1);
    message.append(&mut section3);
    message.append(&mut section4);
    message.extend(b"7777");
    message
}

fn edition1() -> Vec<u8> {
    let mut product = vec![0, 0, 28, 128, 98, 0, 0, 0x80, 167, 105, 0, 2, 24, 1, 31, 6, 0, 1, 0, 0, 0];
    product.extend([0, 0, 0, 21, 0, 0, 0]);
    product[8] = 131;
    let mut grid = vec![0, 0, 32, 0, 255, 0, 0, 8, 0, 5];
    grid.resize(32, 0);
    let mut message = b"GRIB\0\0\x48\x01".to_vec();
    message.extend(product);
    message.extend(grid);
    message.extend(b"7777");
    message
}

fn extract(data: &[u8]) -> (String, Vec<(&'static str, String)>, bool) {
    let mut file = Cursor::new(data);
    let mut out = Output::new(100_000, 1000);
    let done = super::extract(&mut Source::new(&mut file, data.len() as u64), &mut out);
    let (text, fields, _) = out.into_parts();
    (text, fields, done.is_ok())
}

#[test]
fn both_editions_in_one_file_are_read() {
    let mut data = edition2();
    data.extend([0; 7]);
    data.extend(edition1());
    let (text, fields, done) = extract(&data);
    assert!(done, "{text}");
    let expected = [
        ("var", "t"),
        ("units", "K"),
        ("shape", "3x4"),
        ("dim", "Ni=4"),
        ("attr", "level=isobaric 50000 Pa"),
        ("attr", "date=2024-01-31T06:00Z"),
        ("attr", "centre=ECMWF Reading"),
        ("var", "u"),
        ("shape", "5x8"),
        ("attr", "level=height above ground 2 m"),
        ("attr", "date=2024-01-31T06:00Z"),
    ];
    for (name, value) in expected {
        assert!(fields.contains(&(name, value.to_string())), "{name} {value}\n{text}");
    }
}

#[test]
fn a_message_that_repeats_is_written_once_and_a_cut_one_is_told() {
    let mut data = edition2();
    data.extend(edition2());
    let (text, _, done) = extract(&data);
    assert!(done);
    assert_eq!(text.lines().count(), 2, "{text}");
    data.truncate(data.len() - 6);
    assert!(!extract(&data).2);
}
