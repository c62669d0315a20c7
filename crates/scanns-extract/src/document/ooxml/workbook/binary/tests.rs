use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;
use crate::document::DocumentFormat;

/// A record of a type of up to 14 bits and a body of up to 14 bits of bytes.
fn record(kind: u16, body: &[u8]) -> Vec<u8> {
    let bits = |number: usize| u8::try_from(number & 0x7f).unwrap();
    let size = body.len();
    let kind = usize::from(kind);
    let mut record = if kind < 0x80 { vec![bits(kind)] } else { vec![bits(kind) | 0x80, bits(kind >> 7)] };
    record.extend([bits(size) | 0x80, bits(size >> 7)]);
    record.extend(body);
    record
}

fn wide(text: &str) -> Vec<u8> {
    let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    [&u32::try_from(units.len() / 2).unwrap().to_le_bytes()[..], &units].concat()
}

fn cell(kind: u16, style: u8, value: &[u8]) -> Vec<u8> {
    record(kind, &[&[0, 0, 0, 0, style, 0, 0, 0], value].concat())
}

fn sheet() -> Vec<u8> {
    [
        record(0, &[0; 17]),
        cell(7, 0, &[1, 0, 0, 0]),
        cell(6, 0, &wide("inline")),
        cell(62, 0, &[&[0][..], &wide("rich")].concat()),
        record(0, &[0; 17]),
        cell(5, 1, &40_000_f64.to_le_bytes()),
        cell(2, 0, &0x3ff0_0001_u32.to_le_bytes()),
        cell(9, 0, &2.5_f64.to_le_bytes()),
        cell(3, 0, &[0x2a]),
        cell(10, 0, &[1]),
        cell(8, 0, &wide("größe")),
    ]
    .concat()
}

fn workbook(sheet: &[u8]) -> Vec<u8> {
    let kind = |part: &str, kind: &str| {
        format!("<Override PartName='/xl/{part}.bin' ContentType='application/vnd.ms-excel.{kind}'/>")
    };
    let types = [
        kind("workbook", "sheet.binary.macroEnabled.main"),
        kind("sharedStrings", "sharedStrings"),
        kind("styles", "styles"),
        kind("comments1", "comments"),
    ];
    let relation = |id: &str, kind: &str, target: &str| {
        format!("<Relationships><Relationship Id='{id}' Type='x/{kind}' Target='{target}'/></Relationships>")
            .into_bytes()
    };
    let main = record(156, &[vec![0; 8], wide("r1"), wide("Costs")].concat());
    let strings = ["none", "shared"].map(|text| record(19, &[&[0][..], &wide(text)].concat()));
    let style = |id: u8| record(47, &[0, 0, id, 0]);
    let styles = [style(14), record(617, &[]), style(0), style(14), record(618, &[])].concat();
    let comment = record(637, &[&[0][..], &wide("Why?")].concat());
    let parts = [
        ("[Content_Types].xml", format!("<Types>{}</Types>", types.concat()).into_bytes()),
        ("_rels/.rels", relation("r1", "officeDocument", "xl/workbook.bin")),
        ("xl/_rels/workbook.bin.rels", relation("r1", "worksheet", "worksheets/sheet1.bin")),
        ("xl/workbook.bin", main),
        ("xl/sharedStrings.bin", strings.concat()),
        ("xl/styles.bin", styles),
        ("xl/worksheets/sheet1.bin", sheet.to_vec()),
        ("xl/comments1.bin", comment),
    ];
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        writer.start_file(name, SimpleFileOptions::default()).unwrap();
        writer.write_all(&bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn read(file: &[u8]) -> (String, bool) {
    let mut source = Cursor::new(file);
    let format = DocumentFormat::of(file, &mut source).unwrap();
    assert_eq!(format, DocumentFormat::Excel);
    let mut out = Output::new(1_000, 9);
    let is_whole = format.extract(&mut source, &mut out).is_ok();
    (out.into_parts().0, is_whole)
}

#[test]
fn cells_of_all_kinds_are_read() {
    let expected = "Costs\nshared\tinline\trich\n2009-07-06\t0.01\t2.5\t#N/A\tTRUE\tgr\u{f6}\u{df}e\nWhy?\n";
    assert_eq!(read(&workbook(&sheet())), (expected.to_owned(), true));
}

#[test]
fn a_sheet_that_is_cut_off_or_changed_anywhere_gives_a_result() {
    let whole = sheet();
    for end in 0..whole.len() {
        read(&workbook(&whole[..end]));
        for value in [0, 0x7f, 0x80, 0xff] {
            let mut changed = whole.clone();
            changed[end] = value;
            read(&workbook(&changed));
        }
    }
    assert!(!read(&workbook(&whole[..whole.len() - 1])).1);
}
