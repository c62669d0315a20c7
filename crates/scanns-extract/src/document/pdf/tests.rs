use std::fmt::Write as _;
use std::io::Cursor;

use super::*;

/// A PDF file of one page with a line of text, and extra lines of its trailer.
pub(crate) fn small(text: &str, trailer: &str) -> Vec<u8> {
    let content = format!("BT /F1 12 Tf 72 700 Td ({text}) Tj ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << \
        /F1 5 0 R \
         >> >> >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
        "<< /Title (A title) /Author (B) /CreationDate (D:20200102030405Z) >>".to_owned(),
    ];
    let mut file = "%PDF-1.4\n".to_owned();
    let mut places = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        places.push(file.len());
        let _ = writeln!(file, "{} 0 obj\n{object}\nendobj", at + 1);
    }
    let start = file.len();
    let _ = writeln!(file, "xref\n0 {}\n0000000000 65535 f ", places.len() + 1);
    for place in &places {
        let _ = writeln!(file, "{place:010} 00000 n ");
    }
    let count = places.len() + 1;
    let _ = writeln!(file, "trailer\n<< /Size {count} /Root 1 0 R /Info 6 0 R {trailer} >>");
    let _ = writeln!(file, "startxref\n{start}\n%%EOF");
    file.into_bytes()
}

/// Whether the programs are missing, so that a test cannot run.
fn is_absent() -> bool {
    let is_absent = Command::new("pdftotext").arg("-v").output().is_err();
    if is_absent {
        println!("SKIPPED: pdftotext is not installed");
    }
    is_absent
}

#[test]
fn text_and_fields_are_read_from_a_path_and_from_a_source() {
    if is_absent() {
        return;
    }
    let bytes = small("Hello world", "");
    let path = std::env::temp_dir().join(format!("scanns-extract-{}.pdf", std::process::id()));
    std::fs::write(&path, &bytes).unwrap();
    let mut by_path = Output::new(999, 9);
    let result = extract_pdf(&path, &mut by_path);
    std::fs::remove_file(&path).unwrap();
    result.unwrap();
    let mut by_source = Output::new(999, 9);
    extract(&mut Cursor::new(bytes), &mut by_source).unwrap();
    let (text, fields, is_cut) = by_path.into_parts();
    assert_eq!(text.trim(), "Hello world");
    assert!(!is_cut);
    let expected =
        [("title", "A title"), ("author", "B"), ("created", "2020-01-02T03:04:05Z"), ("pages", "1")];
    assert_eq!(fields, expected.map(|(name, value)| (name, value.to_owned())));
    assert_eq!(by_source.into_parts(), (text, fields, false));
}

#[test]
fn a_page_without_text_gives_none() {
    if is_absent() {
        return;
    }
    let mut output = Output::new(999, 0);
    extract(&mut Cursor::new(small("", "")), &mut output).unwrap();
    assert_eq!(output.into_parts().0.trim(), "");
}

#[test]
fn a_ligature_becomes_its_letters() {
    if is_absent() {
        return;
    }
    let mut output = Output::new(999, 0);
    extract(&mut Cursor::new(small("\\256rst", "")), &mut output).unwrap();
    assert_eq!(output.into_parts().0.trim(), "first");
}

#[test]
fn text_over_the_limit_is_cut() {
    if is_absent() {
        return;
    }
    let mut output = Output::new(7, 0);
    extract(&mut Cursor::new(small("Hello world", "")), &mut output).unwrap();
    assert_eq!(output.into_parts(), ("Hello w".to_owned(), Vec::new(), true));
}

#[test]
fn encrypted_and_damaged_files_are_told_apart() {
    if is_absent() {
        return;
    }
    let key = "00".repeat(32);
    let encrypt =
        format!("/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{key}> /U <{key}> >> /ID [<00> <00>]");
    let result = extract(&mut Cursor::new(small("x", &encrypt)), &mut Output::new(9, 9));
    assert!(matches!(result, Err(ExtractError::Encrypted { .. })), "{result:?}");
    let certificates = "/Encrypt << /Filter /Adobe.PubSec /V 1 >> /ID [<00> <00>]";
    let result = extract(&mut Cursor::new(small("x", certificates)), &mut Output::new(9, 9));
    assert!(matches!(result, Err(ExtractError::Encrypted { .. })), "{result:?}");
    let result = extract(&mut Cursor::new(b"%PDF-1.4 and no more"), &mut Output::new(9, 9));
    assert!(matches!(result, Err(ExtractError::Damaged { .. })), "{result:?}");
    let result = extract_pdf(Path::new("/no/such/file"), &mut Output::new(9, 9));
    assert!(result.is_err());
}

#[test]
fn a_path_is_never_an_option() {
    assert_eq!(argument(Path::new("-q")), "./-q");
    assert_eq!(argument(Path::new("a")), "a");
}
