pub(super) mod samples;

use std::io::Cursor;
use std::time::{Duration, Instant};

use super::*;

/// The text and the fields of a document, its format, and its error.
type Found = (String, Vec<(&'static str, String)>, Option<DocumentFormat>, Option<ExtractError>);

/// Reads a document.
fn read(bytes: &[u8]) -> Found {
    let mut source = Cursor::new(bytes);
    let mut output = Output::new(1 << 20, 20);
    let head = bytes.get(..4_096).unwrap_or(bytes);
    let format = DocumentFormat::of(head, &mut source);
    let error = format.and_then(|format| format.extract(&mut source, &mut output).err());
    let (text, fields, _) = output.into_parts();
    (text, fields, format, error)
}

/// The text of a sound document of this format.
fn text_of(bytes: &[u8], expected: DocumentFormat) -> String {
    let (text, _, format, error) = read(bytes);
    assert_eq!(format, Some(expected));
    assert!(error.is_none(), "{error:?}");
    text
}

const PARAGRAPHS: &str = "<w:p><w:pPr><w:tabs><w:tab/></w:tabs></w:pPr><w:r>\
        <w:t xml:space='preserve'>a </w:t>\
    </w:r><w:r><w:t>b</w:t><w:tab/><w:t>c</w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r>\
        </w:del></w:p>\
    <w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom><w:p><w:ins><w:r><w:t>new</w:t></w:r></w:ins></w:p>";

#[test]
fn word_documents_give_body_and_notes() {
    let (text, fields, ..) = read(&samples::docx(PARAGRAPHS));
    assert_eq!(text, "a b\tc\nnew\nnote\n");
    let expected = [("title", "A & B"), ("author", "C"), ("created", "2020-01-02T03:04:05Z")];
    assert_eq!(fields, expected.map(|(name, value)| (name, value.to_owned())));
}

#[test]
fn workbooks_give_a_line_for_each_row() {
    let expected = "S1\none\ttwo\t2023-03-15\nin line\t1.1\tTRUE\n";
    assert_eq!(text_of(&samples::xlsx(), DocumentFormat::Excel), expected);
    assert_eq!(text_of(&samples::xls(), DocumentFormat::Excel97), "S1\none\tt\u{477}\n1.5\t#N/A\t#DIV/0!\n");
}

#[test]
fn presentations_give_slides_in_order_with_notes() {
    assert_eq!(text_of(&samples::pptx(), DocumentFormat::PowerPoint), "first\na note\nlast\n");
    assert_eq!(text_of(&samples::ppt(), DocumentFormat::PowerPoint97), "One\ntwo\n\u{e9}\n");
}

#[test]
fn open_documents_leave_out_deleted_text_and_repeats() {
    let body = "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes>\
        <text:h>H</text:h><text:p>a<text:s/>b\
        <text:tab/>c<text:line-break/>d</text:p>";
    assert_eq!(text_of(&samples::odf("text", body), DocumentFormat::OpenDocumentText), "H\na b\tc\nd\n");
    let cells = "<table:table-row><table:table-cell table:number-columns-repeated='2147483648'>\
        <text:p>x</text:p>\
        <text:p>y</text:p></table:table-cell><table:table-cell><text:p>z</text:p>\
        </table:table-cell></table:table-row>";
    assert_eq!(text_of(&samples::odf("spreadsheet", cells), DocumentFormat::OpenDocumentSheet), "x y\tz\n");
    let sheet = "<office:spreadsheet><table:table table:name='Costs &amp;'><table:table-row>\
        <table:table-cell><text:p>9</text:p></table:table-cell></table:table-row>\
        </table:table></office:spreadsheet>";
    let file = samples::odf("spreadsheet", sheet);
    assert_eq!(text_of(&file, DocumentFormat::OpenDocumentSheet), "Costs &\n9\n");
    let page = "<text:p>Page <text:page-number>1</text:page-number></text:p>";
    assert_eq!(text_of(&samples::odf("text", page), DocumentFormat::OpenDocumentText), "Page\n");
}

#[test]
fn books_give_pages_in_the_order_of_the_spine() {
    let (text, fields, format, error) = read(&samples::epub());
    assert_eq!((format, error.is_none()), (Some(DocumentFormat::Epub), true));
    assert_eq!(text, "two\u{a0}\u{e9}\none\n");
    assert_eq!(fields, [("title", "T".to_owned()), ("language", "en".to_owned())]);
}

#[test]
fn older_documents_give_the_text_of_their_pieces() {
    assert_eq!(text_of(&samples::doc(), DocumentFormat::Word97), "Onetwo\ncell\nt\u{e9}xt\n");
}

#[test]
fn a_compound_file_without_its_last_sectors_is_read() {
    let mut bytes = samples::doc();
    // The table of sectors tells of one more than the file has.
    let size = 1_usize << bytes[30];
    let fat = size * (1 + usize::from(bytes[76]));
    let free = (0..size / 4).find(|entry| bytes[fat + 4 * entry..][..4] == [0xff; 4]).unwrap();
    bytes[fat + 4 * (free + 9)..][..4].copy_from_slice(&[0xfe, 0xff, 0xff, 0xff]);
    assert_eq!(text_of(&bytes, DocumentFormat::Word97), "Onetwo\ncell\nt\u{e9}xt\n");
}

#[test]
fn messages_give_subject_and_body() {
    let (text, fields, ..) = read(&samples::msg());
    assert_eq!(text, "Subject\nBody\nend\n");
    assert_eq!(fields, [("title", "Subject".to_owned()), ("author", "Sender".to_owned())]);
}

#[test]
fn other_files_are_no_documents() {
    assert_eq!(read(b"plain").2, None);
    assert_eq!(read(&samples::zip(&[("a.txt", "x")])).2, None);
    assert_eq!(read(&samples::compound(&[("Other", vec![1])])).2, None);
    let locked = samples::compound(&[("EncryptedPackage", vec![1])]);
    assert!(matches!(read(&locked).3, Some(ExtractError::Encrypted { .. })));
}

#[test]
fn deep_elements_and_declared_entities_are_read() {
    let deep = [&"<w:x>".repeat(100_000), "<w:p><w:t>in</w:t></w:p>", &"</w:x>".repeat(100_000)].concat();
    assert_eq!(text_of(&samples::docx(&deep), DocumentFormat::Word), "in\nnote\n");
    let bomb = "<!DOCTYPE a [<!ENTITY b 'xxxx'><!ENTITY c '&b;&b;&b;'>]><text:p>1&c;2</text:p>";
    assert_eq!(text_of(&samples::odf("text", bomb), DocumentFormat::OpenDocumentText), "12\n");
}

#[test]
fn a_part_that_expands_too_far_is_an_error() {
    let body = format!("<w:p><w:t>start</w:t></w:p>{}", " ".repeat(90 << 20));
    let (text, _, _, error) = read(&samples::docx(&body));
    assert!(text.starts_with("start\n"));
    assert!(error.is_some_and(|error| error.to_string().contains("limit")));
}

/// A sample of each format that is read by own code.
fn all() -> Vec<Vec<u8>> {
    let rtf =
        br"{\rtf1\ansi\ansicpg1251{\fonttbl{\f1\fcharset128 M;}}{\info{\title T}}a\'e9\u233?\f1\'83A\par b}";
    let (sheet, text) = (samples::xlsx(), samples::odf("text", "<text:p>a<text:s/>b</text:p>"));
    let zips = [samples::docx(PARAGRAPHS), sheet, samples::pptx(), text, samples::epub()];
    let old = [samples::doc(), samples::xls(), samples::ppt(), samples::msg(), rtf.to_vec()];
    zips.into_iter().chain(old).collect()
}

#[test]
fn a_document_that_is_cut_off_anywhere_gives_no_panic() {
    for sample in all() {
        for end in (0..sample.len()).step_by(1 + sample.len() / 3_000) {
            read(&sample[..end]);
        }
    }
}

#[test]
fn changed_bytes_give_no_panic() {
    let seed = std::env::var("SCANNS_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0x5ca5_u64);
    let rounds: usize =
        std::env::var("SCANNS_ROUNDS").ok().and_then(|count| count.parse().ok()).unwrap_or(500);
    println!("seed {seed}, rounds {rounds}");
    let mut state = seed | 1;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 1).unwrap_or(0) % below.max(1)
    };
    let samples = all();
    let (start, mut slowest) = (Instant::now(), Duration::ZERO);
    for _ in 0..rounds {
        for sample in &samples {
            let mut changed = sample.clone();
            for _ in 0..=random(6) {
                let at = random(changed.len());
                changed[at] = [0, 255, 128, u8::try_from(random(256)).unwrap()][random(4)];
            }
            let begin = Instant::now();
            read(&changed);
            slowest = slowest.max(begin.elapsed());
        }
        if start.elapsed() > Duration::from_secs(60) {
            break;
        }
    }
    assert!(slowest < Duration::from_secs(5), "{slowest:?}");
}
