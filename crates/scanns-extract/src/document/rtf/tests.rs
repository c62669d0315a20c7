use std::io::Cursor;

use super::*;

fn read(bytes: &[u8]) -> (String, Vec<(&'static str, String)>, bool) {
    let mut output = Output::new(1 << 20, 20);
    let is_whole = extract(&mut Cursor::new(bytes), &mut output).is_ok();
    let (text, fields, _) = output.into_parts();
    (text, fields, is_whole)
}

fn text(bytes: &[u8]) -> String {
    let (text, _, is_whole) = read(bytes);
    assert!(is_whole);
    text
}

#[test]
fn destinations_are_passed_over() {
    let bytes = br"{\rtf1{\fonttbl{\f0 Arial;}}{\colortbl;\red1;}{\*\new x}{\pict 00ff}a{\b b}c\par d\tab e}";
    assert_eq!(text(bytes), "abc\nd\te\n");
}

#[test]
fn a_star_has_its_meaning_only_at_the_start_of_a_group() {
    assert_eq!(text(br"{\rtf1{\b\*\cs7 a}{\*\cs7 b} c}"), "a c\n");
}

#[test]
fn numbers_of_lists_and_second_forms_of_tables_are_passed_over() {
    let bytes = br"{\rtf1{\listtext 1.\tab}One\par{\pntext\'B7\tab}Two\par\nestcell{\nonesttables Two\par}}";
    assert_eq!(text(bytes), "One\nTwo\n");
}

#[test]
fn notes_are_parted_from_the_text_around_them() {
    let bytes = br"{\rtf1 one{\*\annotation {\b why}?}two{\footnote note{\i s}}three{\b four}}";
    assert_eq!(text(bytes), "one\nwhy?\ntwo\nnotes\nthreefour\n");
}

#[test]
fn bytes_are_decoded_by_the_code_page_or_the_font() {
    assert_eq!(text(br"{\rtf1\ansi\ansicpg1251 \'cf\'f0}"), "\u{41f}\u{440}\n");
    let japanese = br"{\rtf1{\fonttbl{\f1\fcharset128 M;}}\f1\'83A\'83\'42 {\plain \'e9}}";
    assert_eq!(text(japanese), "\u{30a2}\u{30a3} \u{e9}\n");
}

#[test]
fn characters_for_readers_without_unicode_are_passed_over() {
    assert_eq!(
        text(br"{\rtf1 a\u233?b\uc2\u8364\'80\'80c\uc0\u-10179\u-8704 d}"),
        "a\u{e9}b\u{20ac}c\u{1f600}d\n"
    );
}

#[test]
fn info_gives_fields() {
    let bytes = br"{\rtf1{\info{\title A \u233?{b}}{\author C}{\creatim\yr2001\mo2\dy3}{\company D}}x}";
    let (text, fields, _) = read(bytes);
    assert_eq!(text, "x\n");
    let expected = [("title", "A \u{e9}b"), ("author", "C"), ("created", "2001-02-03")];
    assert_eq!(fields, expected.map(|(name, value)| (name, value.to_owned())));
}

#[test]
fn deleted_text_codes_of_fields_and_binary_data_are_left_out() {
    let bytes =
        b"{\\rtf1 a{\\deleted b}c{\\field{\\*\\fldinst HYPERLINK x}{\\fldrslt y}}{\\object\\bin3 }}}}z}";
    assert_eq!(text(bytes), "acyz\n");
}

#[test]
fn deep_groups_are_read_in_linear_time() {
    let depth = 100_000;
    let bytes = ["{\\rtf1 ", &"{".repeat(depth), "x", &"}".repeat(depth), "y}"].concat();
    assert_eq!(text(bytes.as_bytes()), "xy\n");
}

#[test]
fn a_file_that_is_cut_off_is_damaged_and_keeps_its_text() {
    let (text, _, is_whole) = read(br"{\rtf1 abc\par d");
    assert_eq!((text.as_str(), is_whole), ("abc\nd\n", false));
    let bytes = br"{\rtf1\ansi{\fonttbl{\f0 A;}}{\info{\title T}}a\'e9\u12345?\bin2 xx}";
    for end in 0..bytes.len() {
        assert!(!read(&bytes[..end]).2);
    }
}
