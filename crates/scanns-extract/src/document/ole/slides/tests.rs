use std::io::Cursor;

use super::*;
use crate::document::tests::samples::compound;

/// A record; `first` is its version and instance.
fn record(first: u16, kind: u16, body: &[u8]) -> Vec<u8> {
    let size = u32::try_from(body.len()).unwrap();
    [&first.to_le_bytes()[..], &kind.to_le_bytes(), &size.to_le_bytes(), body].concat()
}

fn container(kind: u16, children: &[Vec<u8>]) -> Vec<u8> {
    record(15, kind, &children.concat())
}

fn text(text: &str) -> Vec<u8> {
    record(0, TEXT_BYTES, text.as_bytes())
}

fn numbers(numbers: &[usize]) -> Vec<u8> {
    numbers.iter().flat_map(|number| u32::try_from(*number).unwrap().to_le_bytes()).collect()
}

/// The list of slides of the document, of one number, and its text.
fn list(instance: u16, number: usize, words: &str) -> Vec<u8> {
    let place = record(0, 1_011, &numbers(&[number, 0, 0, 0, 0]));
    record(15 | instance << 4, SLIDE_LIST, &[place, text(words)].concat())
}

/// Appends a save to a stream: its objects by number, and the place of the save before it. Returns its place.
fn save(stream: &mut Vec<u8>, objects: &[(usize, Vec<u8>)], before: usize) -> usize {
    let mut directory = Vec::new();
    for (number, object) in objects {
        directory.extend(numbers(&[number | 1 << 20, stream.len()]));
        stream.extend(object);
    }
    let place = stream.len();
    stream.extend(record(0, 6_002, &directory));
    let edit = stream.len();
    stream.extend(record(0, 4_085, &numbers(&[0, 0, before, place, 1, 0, 0])));
    edit
}

fn read(stream: Vec<u8>, edit: usize) -> (String, Result<(), ExtractError>) {
    let user = [vec![0; 16], numbers(&[edit])].concat();
    let streams = [("Current User", user), ("PowerPoint Document", stream)];
    let mut out = Output::new(1_000, 9);
    let file = Compound::open(Cursor::new(compound(&streams)), NAME).unwrap();
    let result = file.extract(extract, &mut out);
    (out.into_parts().0, result)
}

#[test]
fn only_the_last_save_of_slides_and_notes_counts() {
    let lists = [list(1, 4, "master list"), list(0, 2, "outline"), list(2, 3, "")];
    let objects = [
        (1, container(1_000, &lists)),
        (2, container(1_006, &[text("old slide")])),
        (3, container(1_008, &[text("notes")])),
        (4, container(1_006, &[text("title master")])),
        (5, container(1_008, &[text("notes master")])),
    ];
    let mut stream = Vec::new();
    let first = save(&mut stream, &objects, 0);
    let last = save(&mut stream, &[(2, container(1_006, &[text("new slide")]))], first);
    let (found, result) = read(stream.clone(), last);
    assert_eq!((found.as_str(), result.is_ok()), ("outline\nnew slide\nnotes\n", true));
    // Without a directory, all texts but those of known masters count.
    let (found, _) = read(stream, 7);
    assert_eq!(found, "outline\nold slide\nnotes\ntitle master\nnotes master\nnew slide\n");
}

#[test]
fn a_record_that_is_too_long_costs_its_container() {
    let zip = record(15, TABLE_STYLES, b"PK\x03\x04\x14\0\xff\xff\xff\xff....");
    let mut long = text("long");
    long[4] = 99;
    let stream = [
        container(1_000, &[zip, text("after the styles"), container(1_010, &[text("a"), long, text("b")])]),
        container(1_006, &[text("slide")]),
    ];
    assert_eq!(read(stream.concat(), 0).0, "after the styles\na\nslide\n");
    let whole = container(1_006, &[text("cut off")]);
    let (found, result) = read(whole[..whole.len() - 2].to_vec(), 0);
    assert_eq!((found.as_str(), result.is_err()), ("cut o\n", true));
}

#[test]
fn comments_in_tags_are_text() {
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    let comment =
        container(COMMENT, &[record(0, C_STRING, &wide("Ann")), record(16, C_STRING, &wide("Why?"))]);
    let name = record(0, C_STRING, &wide("___PPT10"));
    let tag = container(5_002, &[name, record(0, TAG_DATA, &comment)]);
    let (found, result) = read(container(1_006, &[container(5_000, &[tag])]), 0);
    assert_eq!((found.as_str(), result.is_ok()), ("Ann\nWhy?\n", true));
}

#[test]
fn objects_that_overlap_take_linear_time() {
    let slides = (2..500).map(|number| record(0, 1_011, &numbers(&[number, 0, 0, 0, 0])));
    let list = record(15, SLIDE_LIST, &slides.collect::<Vec<_>>().concat());
    let mut stream = container(1_000, &[list]);
    let inner = stream.len();
    for _ in 2..500 {
        stream.extend(record(15, 1_006, &[]));
    }
    // Each slide seems to hold all those behind it.
    let end = stream.len();
    for at in (inner..end).step_by(8) {
        stream[at + 4..at + 8].copy_from_slice(&numbers(&[end - at - 8]));
    }
    let directory: Vec<usize> = std::iter::once(1 | 1 << 20)
        .chain([0])
        .chain((2..500).flat_map(|n| [n | 1 << 20, inner + 8 * (n - 2)]))
        .collect();
    let place = stream.len();
    stream.extend(record(0, 6_002, &numbers(&directory)));
    let edit = stream.len();
    stream.extend(record(0, 4_085, &numbers(&[0, 0, 0, place, 1, 0, 0])));
    let (_, result) = read(stream, edit);
    assert!(matches!(result, Err(ExtractError::Damaged { .. })), "{result:?}");
}
