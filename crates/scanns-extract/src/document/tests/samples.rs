//! A small document of each format, made by hand.

use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A zip file of these members.
pub(in crate::document) fn zip(members: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in members {
        let method = if *name == "mimetype" {
            zip::CompressionMethod::Stored
        } else {
            zip::CompressionMethod::Deflated
        };
        writer.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A compound file of these streams.
pub(in crate::document) fn compound(streams: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
    for (name, bytes) in streams {
        file.create_storage_all(std::path::Path::new(name).parent().unwrap()).unwrap();
        file.create_stream(name).unwrap().write_all(bytes).unwrap();
    }
    file.flush().unwrap();
    file.into_inner().into_inner()
}

/// A list of content types.
fn types(parts: &[(&str, &str)]) -> String {
    let parts = parts.iter().map(|(name, kind)| {
        format!("<Override PartName='/{name}' ContentType='application/vnd.openxmlformats-{kind}+xml'/>")
    });
    format!("<Types>{}</Types>", parts.collect::<String>())
}

const CORE: &str = "<cp:coreProperties><dc:title>A &amp; B</dc:title><dc:creator>C</dc:creator>\
    <dcterms:created>2020-01-02T03:04:05Z</dcterms:created></cp:coreProperties>";

pub(super) fn docx(body: &str) -> Vec<u8> {
    let word = "officedocument.wordprocessingml";
    let types = types(&[
        ("docProps/core.xml", "package.core-properties"),
        ("word/document.xml", &format!("{word}.document.main")),
        ("word/footnotes.xml", &format!("{word}.footnotes")),
    ]);
    zip(&[
        ("[Content_Types].xml", &types),
        ("docProps/core.xml", CORE),
        ("word/document.xml", &format!("<w:document><w:body>{body}</w:body></w:document>")),
        ("word/footnotes.xml", "<w:footnotes><w:p><w:r><w:t>note</w:t></w:r></w:p></w:footnotes>"),
    ])
}

pub(super) fn xlsx() -> Vec<u8> {
    let sheet = "officedocument.spreadsheetml";
    let types = types(&[
        ("xl/workbook.xml", &format!("{sheet}.sheet.main")),
        ("xl/sharedStrings.xml", &format!("{sheet}.sharedStrings")),
        ("xl/styles.xml", &format!("{sheet}.styles")),
    ]);
    zip(&[
        ("[Content_Types].xml", &types),
        ("xl/workbook.xml", "<workbook><sheets><sheet name='S1' sheetId='1' r:id='r1'/></sheets></workbook>"),
        (
            "xl/_rels/workbook.xml.rels",
            "<Relationships><Relationship Id='r1' Type='x/worksheet' Target='worksheets/a.xml'/>\
        </Relationships>",
        ),
        (
            "xl/sharedStrings.xml",
            "<sst><si><t>one</t></si><si><r><t>t</t></r><r><t>wo</t></r><rPh><t>x</t></rPh></si></sst>",
        ),
        (
            "xl/styles.xml",
            "<styleSheet><cellXfs><xf numFmtId='0'/><xf numFmtId='14'/></cellXfs></styleSheet>",
        ),
        (
            "xl/worksheets/a.xml",
            "<worksheet><sheetData><row><c t='s'><v>0</v></c><c t='s'><v>1</v></c><c s='1'>\
        <v>45000</v></c></row>\
             <row><c t='inlineStr'><is><t>in line</t></is></c><c><f>A1</f><v>1.1000000000000001</v></c>\
             <c t='b'><v>1</v></c><c t='s'><v>99999</v></c></row></sheetData></worksheet>",
        ),
    ])
}

pub(super) fn pptx() -> Vec<u8> {
    let slide = "officedocument.presentationml";
    let text = |text: &str| {
        format!(
            "<p:sld><a:p><a:r><a:t>{text}</a:t></a:r><a:fld type='slidenum'><a:t>7</a:t></a:fld>\
        </a:p></p:sld>"
        )
    };
    let types = types(&[
        ("ppt/presentation.xml", &format!("{slide}.presentation.main")),
        ("ppt/slides/slide1.xml", &format!("{slide}.slide")),
        ("ppt/slides/slide2.xml", &format!("{slide}.slide")),
    ]);
    zip(&[
        ("[Content_Types].xml", &types),
        (
            "ppt/presentation.xml",
            "<p:presentation><p:sldId id='1' r:id='b'/><p:sldId id='2' r:id='a'/></p:presentation>",
        ),
        (
            "ppt/_rels/presentation.xml.rels",
            "<x><Relationship Id='a' Type='t' Target='slides/slide1.xml'/>\
        <Relationship Id='b' Type='t' Target='slides/slide2.xml'/></x>",
        ),
        ("ppt/slides/slide1.xml", &text("last")),
        ("ppt/slides/slide2.xml", &text("first")),
        (
            "ppt/slides/_rels/slide2.xml.rels",
            "<x><Relationship Id='n' Type='x/notesSlide' Target='../notes.xml'/></x>",
        ),
        ("ppt/notes.xml", &text("a note")),
    ])
}

pub(super) fn odf(kind: &str, body: &str) -> Vec<u8> {
    zip(&[
        ("mimetype", &format!("application/vnd.oasis.opendocument.{kind}")),
        ("content.xml", &format!("<office:document-content>{body}</office:document-content>")),
        ("meta.xml", "<x><dc:title>T</dc:title><meta:keyword>k</meta:keyword></x>"),
    ])
}

pub(super) fn epub() -> Vec<u8> {
    zip(&[
        ("mimetype", "application/epub+zip"),
        ("META-INF/container.xml", "<container><rootfile full-path='O/a.opf'/></container>"),
        (
            "O/a.opf",
            "<package><metadata><dc:title>T</dc:title><dc:language>en</dc:language></metadata><manifest>\
             <item id='p1' href='one%201.xhtml' media-type='application/xhtml+xml'/>\
             <item id='p2' href='two.xhtml' media-type='application/xhtml+xml'/></manifest>\
             <spine><itemref idref='p2'/><itemref idref='p1'/></spine></package>",
        ),
        ("O/one 1.xhtml", "<html><body><p>one</p></body></html>"),
        ("O/two.xhtml", "<html><head><title>x</title></head><body><p>two&nbsp;&eacute;</p></body></html>"),
    ])
}

/// A document of two pieces, the second in UTF-16.
pub(super) fn doc() -> Vec<u8> {
    let narrow = b"One\x13 PAGE \x14two\x15\rcell\x07\x07";
    let wide: Vec<u8> = "t\u{e9}xt\r".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let (first, second) = (u32::try_from(narrow.len()).unwrap(), u32::try_from(wide.len() / 2).unwrap());
    let mut table = vec![1, 2, 0, 9, 9, 2];
    table.extend(28_u32.to_le_bytes());
    for bound in [0, first, first + second] {
        table.extend(bound.to_le_bytes());
    }
    for place in [(2 * 1024) | (1 << 30), 1100_u32] {
        table.extend([0, 0]);
        table.extend(place.to_le_bytes());
        table.extend([0, 0]);
    }
    let mut main = vec![0_u8; 2_048];
    main[..4].copy_from_slice(&[0xec, 0xa5, 0xc1, 0]);
    main[0x1a6..0x1aa].copy_from_slice(&u32::try_from(table.len()).unwrap().to_le_bytes());
    main[1024..1024 + narrow.len()].copy_from_slice(narrow);
    main[1100..1100 + wide.len()].copy_from_slice(&wide);
    compound(&[("WordDocument", main), ("0Table", table)])
}

/// A record of BIFF.
fn record(kind: u16, body: &[u8]) -> Vec<u8> {
    let size = u16::try_from(body.len()).unwrap();
    [&kind.to_le_bytes()[..], &size.to_le_bytes(), body].concat()
}

pub(super) fn xls() -> Vec<u8> {
    let begin = record(0x809, &[0, 6, 5, 0]);
    let strings = record(0xfc, b"\x02\0\0\0\x02\0\0\0\x03\0\0one\x02\0\0t");
    let more = record(0x3c, b"\x01w\x04");
    let name_at = u32::try_from(begin.len() + 12 + strings.len() + more.len() + 4 + 4).unwrap();
    let name = record(0x85, &[&name_at.to_le_bytes()[..], &[0, 0, 2, 0], b"S1"].concat());
    let end = record(0x0a, &[]);
    let cell = |kind: u16, row: u8, value: &[u8]| record(kind, &[&[row, 0, 0, 0, 0, 0], value].concat());
    let place = begin.len() + name.len() + strings.len() + more.len() + end.len();
    let name =
        record(0x85, &[&u32::try_from(place).unwrap().to_le_bytes()[..], &[0, 0, 2, 0], b"S1"].concat());
    let stream = [
        begin.clone(),
        name,
        strings,
        more,
        end.clone(),
        begin,
        cell(0xfd, 0, &[0, 0, 0, 0]),
        cell(0xfd, 0, &[1, 0, 0, 0]),
        cell(0x203, 1, &1.5_f64.to_le_bytes()),
        cell(0x205, 1, &[0x2a, 1]),
        cell(0x006, 1, &[2, 0, 7, 0, 0, 0, 0xff, 0xff]),
        end,
    ];
    compound(&[("Workbook", stream.concat())])
}

pub(super) fn ppt() -> Vec<u8> {
    let atom = |kind: u16, body: &[u8]| {
        let size = u32::try_from(body.len()).unwrap();
        [&[0, 0][..], &kind.to_le_bytes(), &size.to_le_bytes(), body].concat()
    };
    let inner = [atom(4008, b"One\rtwo"), atom(4000, &[0xe9, 0])].concat();
    let mut stream = atom(1006, &inner);
    stream[0] = 15;
    let mut master = atom(1016, &atom(4008, b"Click here"));
    master[0] = 15;
    stream.extend(master);
    compound(&[("PowerPoint Document", stream)])
}

pub(super) fn msg() -> Vec<u8> {
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    compound(&[
        ("__properties_version1.0", vec![0; 32]),
        ("__substg1.0_0037001F", wide("Subject")),
        ("__substg1.0_0C1A001E", b"Sender".to_vec()),
        ("__substg1.0_1000001F", wide("Body\r\nend")),
    ])
}
