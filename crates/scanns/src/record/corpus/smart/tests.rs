use super::*;
use crate::record::corpus::test_support::{cut_changed, run_over_repeated, values};
use crate::record::test_data::test_data;
use crate::record::test_ends::records;

const CACM: &[u8] = b".I 1\n.T\nPreliminary Report\n.B\nCACM December, 1958\n.A\nPerlis, A. J.\n\
    Samelson,K.\n.N\n\
    CA581203 JB March 22, 1978  8:28 PM\n.X\n100\t5\t1\n123\t5\t1\n\
    .I 2\n.T\nRoots\n.W\nAbout .W and\n.I\n.K\n\
    root, square\n.C\n5.12\n";

fn read_all(bytes: &[u8]) -> Vec<(Vec<String>, Vec<&'static str>)> {
    let mut ends = SmartEnds::new();
    let (mut reader, mut made) = (SmartReader::default(), MadeRecord::default());
    let mut found = Vec::new();
    for record in records(bytes, &mut |bytes, is_end| ends.next_end(bytes, is_end)) {
        if reader.read(record, &mut made) == Ok(true) {
            found.push((values(&SmartReader::NAMES, &made), reader.deviations().to_vec()));
        }
    }
    found
}

#[test]
fn each_letter_is_a_field_and_each_author_a_value() {
    let found = read_all(CACM);
    let first = [
        "docno=1",
        "title=Preliminary Report",
        "bib=CACM December, 1958",
        "author=Perlis, A. J.",
        "author=Samelson,K.",
        "note=CA581203 JB March 22, 1978  8:28 PM",
        "references=100\t5\t1\n123\t5\t1",
    ];
    assert_eq!(found[0].0, first);
    assert_eq!(
        found[1].0,
        ["docno=2", "title=Roots", "text=About .W and\n.I", "keywords=root, square", "category=5.12"]
    );
    assert_eq!(found[1].1, ["unknown field: read as text of the field before it"]);
    assert_eq!(found.len(), 2);
}

#[test]
fn text_outside_of_documents_and_fields_is_told() {
    let (mut reader, mut made) = (SmartReader::default(), MadeRecord::default());
    assert_eq!(reader.read(b" \n", &mut made), Ok(false));
    assert!(reader.deviations().is_empty());
    assert_eq!(reader.read(b"hello\n", &mut made), Ok(false));
    assert_eq!(reader.deviations(), ["text outside of documents"]);
    assert_eq!(reader.read(b".I 7\nloose\n", &mut made), Ok(true));
    assert_eq!(values(&SmartReader::NAMES, &made), ["docno=7", "text=loose"]);
    assert_eq!(reader.deviations(), ["text outside of fields"]);
    assert_eq!(
        reader.read(b".I  \n.T\nx\n", &mut made),
        Err(RecordError::Lacks { what: "number behind '.I'" })
    );
}

#[test]
fn latin1_text_becomes_utf8() {
    let found = read_all(b".I 1\r\n.T\r\nK\xf6ln\r\n");
    assert_eq!(found[0].0, ["docno=1", "title=Köln"]);
    assert_eq!(found[0].1, ["text is not UTF-8: read as Latin-1"]);
}

#[test]
fn pieces_give_the_same_records_as_the_whole() {
    let (mut reader, mut made) = (SmartReader::default(), MadeRecord::default());
    cut_changed(CACM, &[b"\n.I ", b".I 3\n", b"\n.T\n", b"\n"], 2_000, SmartEnds::next_end, |record| {
        let _ = reader.read(record, &mut made);
        assert!(std::str::from_utf8(made.bytes()).is_ok());
    });
}

#[test]
fn long_nonsense_takes_linear_time() {
    for piece in [&b".I "[..], b".I \n", b"\n.I", b".T\n", b"\n", b".I 1\n.A\n"] {
        run_over_repeated(piece, read_all);
    }
}

/// A string of JSON without its quotes.
fn unescape(json: &str) -> String {
    let mut text = String::new();
    let mut letters = json.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('u') => {
                    let digits: String = letters.by_ref().take(4).collect();
                    text.push(char::from_u32(u32::from_str_radix(&digits, 16).unwrap()).unwrap());
                }
                other => text.push(other.unwrap()),
            },
            _ => text.push(letter),
        }
    }
    text
}

/// A document of the CACM pages as the paragraphs that its SMART form has as fields.
fn to_smart(number: usize, contents: &str) -> String {
    let mut smart = format!(".I {number}\n");
    let mut letter = "T";
    for paragraph in contents.split("\n\n") {
        letter = match paragraph {
            _ if paragraph.starts_with("CACM ") && letter == "T" => "B",
            _ if paragraph.starts_with("CA") && paragraph.contains(" JB ") => "N",
            _ if letter == "N" => "X",
            _ => letter,
        };
        smart.push_str(&format!(".{letter}\n{paragraph}\n"));
        if letter == "B" {
            letter = "A";
        }
    }
    smart
}

#[test]
fn the_cacm_collection_has_its_3204_documents_and_all_their_words() {
    let Some(docs) = test_data("cacm/docs.jsonl") else {
        return;
    };
    let docs = String::from_utf8(docs).unwrap();
    let contents: Vec<String> = docs
        .lines()
        .map(|line| {
            let (_, rest) = line.split_once("\"contents\": \"").unwrap();
            unescape(rest.rsplit_once('"').unwrap().0)
        })
        .collect();
    let smart: String = contents.iter().enumerate().map(|(at, text)| to_smart(at + 1, text)).collect();
    let found = read_all(smart.as_bytes());
    assert_eq!(found.len(), 3_204);
    assert_eq!(contents.len(), 3_204);
    for (number, (record, text)) in found.iter().zip(&contents).enumerate() {
        assert_eq!(record.0[0], format!("docno={}", number + 1));
        assert!(docs.contains(&format!("\"id\": \"CACM-{:04}\"", number + 1)));
        let read = record.0[1..].iter().map(|value| value.split_once('=').unwrap().1);
        let read: Vec<&str> = read.flat_map(str::split_whitespace).collect();
        assert_eq!(read, text.split_whitespace().collect::<Vec<_>>(), "document {}", number + 1);
        assert!(record.1.is_empty());
    }
}
