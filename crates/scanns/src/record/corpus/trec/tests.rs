use super::*;
use crate::record::corpus::test_support::{cut_changed, run_over_repeated, values};
use crate::record::test_data::test_data;
use crate::record::test_ends::records;

type Read = (Result<bool, RecordError>, Vec<String>, Vec<&'static str>);

fn read_all(bytes: &[u8]) -> Vec<Read> {
    let mut ends = TrecEnds::new();
    let (mut reader, mut made) = (TrecReader::default(), MadeRecord::default());
    let read = |record| {
        let result = reader.read(record, &mut made);
        (result, values(&TrecReader::NAMES, &made), reader.deviations().to_vec())
    };
    records(bytes, &mut |bytes, is_end| ends.next_end(bytes, is_end)).into_iter().map(read).collect()
}

/// The words of the values of all documents.
fn documents(bytes: &[u8]) -> Vec<Vec<String>> {
    let words = |value: String| value.split_whitespace().collect::<Vec<_>>().join(" ");
    let found = read_all(bytes).into_iter().filter(|read| read.0 == Ok(true));
    found.map(|read| read.1.into_iter().map(words).collect()).collect()
}

#[test]
fn the_sample_of_anserini_for_trec_has_two_documents() {
    let Some(bytes) = test_data("collections/trec/collection1/segment1.txt") else {
        return;
    };
    let expected = [
        vec![
            "docno=AP-0001",
            "headline=This is head and should be included",
            "headline=This is headline and should be included",
            "text=Hopefully we get this right",
        ],
        vec!["docno=doc2", "text=here is some text."],
    ];
    assert_eq!(documents(&bytes), expected);
    assert!(read_all(&bytes).iter().all(|read| read.2.is_empty()));
}

#[test]
fn the_second_and_third_samples_of_anserini_have_three_documents_each() {
    for (folder, first) in
        [("collection2", ["TREC_DOC_1", "DOC222"]), ("collection3", ["TREC_DOC_1.00001", "TREC_DOC_1.00002"])]
    {
        let Some(bytes) = test_data(&format!("collections/trec/{folder}/trec1")) else {
            return;
        };
        let expected = [
            vec![
                format!("docno={}", first[0]),
                "headline=This is head".into(),
                "text=very simple text".into(),
            ],
            vec![
                format!("docno={}", first[1]),
                "headline=HEAD".into(),
                "text=simple enough text text text".into(),
            ],
        ];
        assert_eq!(documents(&bytes), expected);
        let bytes = test_data(&format!("collections/trec/{folder}/trec2")).unwrap();
        let expected =
            [["docno=WSJ_1", "headline=head text", "text=01/30/03", "date=01/30/03", "text=content"]];
        assert_eq!(documents(&bytes), expected);
    }
}

#[test]
fn the_sample_of_clean_documents_has_two() {
    let Some(bytes) = test_data("collections/clean_trec/collection1/segment1.txt") else {
        return;
    };
    let expected = [
        ["docno=doc1", "text=here is a bit of text, and the tags should not be removed."],
        ["docno=doc2", "text=here is some text."],
    ];
    assert_eq!(documents(&bytes), expected);
}

#[test]
fn the_sample_of_web_pages_has_two_documents_and_one_without_a_name() {
    let Some(bytes) = test_data("collections/trecweb/collection1/segment1.txt") else {
        return;
    };
    let text = "text=Wh at ever here will be parsed asdf";
    assert_eq!(documents(&bytes), [["docno=WEB-0001", text], ["docno=WEB-0003", text]]);
    let results: Vec<_> = read_all(&bytes).into_iter().map(|read| read.0).collect();
    assert_eq!(
        results,
        [Ok(true), Err(RecordError::Lacks { what: "<DOCNO>, and no id" }), Ok(true), Ok(false)]
    );
}

#[test]
fn a_web_page_has_its_address_status_and_type() {
    let page = b"<DOC>\n<DOCNO>GX000-00-0000000</DOCNO>\n<DOCHDR>\nhttp://sgra.jpl.nasa.gov/a?b\n\
        HTTP/1.1 200 OK\n\
        Date: Tue, 09 Dec 2003\nContent-Type: text/html; charset=x\n</DOCHDR>\n\
        <title>JPL</title> <b>Mars\n</DOC>\n";
    let expected = [
        "docno=GX000-00-0000000",
        "url=http://sgra.jpl.nasa.gov/a?b",
        "status=200",
        "mime=text/html",
        "headline=JPL",
        "text=Mars",
    ];
    assert_eq!(documents(page), [expected]);
}

#[test]
fn a_web_page_that_is_not_utf_8_is_in_the_encoding_that_it_declares() {
    for (head, expected) in [
        ("<meta charset=iso-8859-2>", "text=\u{163}"),
        ("", "text=\u{fe}"),
        ("<meta charset=utf-8>", "text=\u{fe}"),
    ] {
        let start = format!("<DOC><DOCNO>1</DOCNO><DOCHDR>\nhttp://a.b/\n</DOCHDR>{head}");
        let page = [start.as_bytes(), b"\xfe</DOC>"].concat();
        assert_eq!(documents(&page), [["docno=1", "url=http://a.b/", expected]], "{head}");
    }
}

#[test]
fn tags_and_entities_in_a_text_are_replaced() {
    let doc = "<doc><docno>A</docno><text>R&amp;D &hyph; 5 < 6 &sect;<F P=1>x</F>y&foo;z AT&T &racute;&#233;\
        <!-- <gone> --></text></doc>";
    let found = read_all(doc.as_bytes());
    assert_eq!(found[0].1, ["docno=A", "text=R&D - 5 < 6 § x y z AT&T ré"]);
    assert_eq!(found[0].2, ["unknown entity"]);
}

#[test]
fn a_document_without_elements_is_text_as_a_whole() {
    assert_eq!(
        documents(b"<DOC>\n<DOCNO>1</DOCNO>\nall <b>of</b> it\n</DOC>"),
        [["docno=1", "text=all of it"]]
    );
}

#[test]
fn a_document_without_end_ends_before_the_next_one() {
    let bytes = b"junk <DOC>\n<DOCNO>1</DOCNO><TEXT>a <DOC> b\n <DOC><DOCNO>2</DOCNO><TITLE>t<TEXT>c";
    let found = read_all(bytes);
    assert_eq!(found[0].1, ["docno=1", "text=a   b"]);
    assert_eq!(found[0].2, ["text outside of documents", "document without end", "element without end"]);
    assert_eq!(found[1].1, ["docno=2", "headline=t", "text=c"]);
    assert_eq!(found.len(), 2);
}

#[test]
fn latin1_text_becomes_utf8() {
    let found = read_all(b"<DOC><DOCNO>1</DOCNO><TEXT>\xa1Ol\xe9 &eacute;!</TEXT></DOC>");
    assert_eq!(found[0].1, ["docno=1", "text=¡Olé é!"]);
    assert_eq!(found[0].2, ["text is not UTF-8: read as Latin-1"]);
}

#[test]
fn names_and_addresses_become_utf8_too() {
    let found =
        read_all(b"<DOC><DOCNO>\xe9</DOCNO><DOCHDR>\nhttp://a/\xe9\nContent-Type: a/\xe9\n</DOCHDR>x</DOC>");
    assert_eq!(found[0].1, ["docno=é", "url=http://a/é", "mime=a/é", "text=x"]);
    assert_eq!(found[0].2, ["text is not UTF-8: read as Latin-1"]);
}

#[test]
fn pieces_give_the_same_records_as_the_whole() {
    let text = b"<?xml?>\n<DOC>\n<DOCNO> A </DOCNO>\n<TEXT>b</TEXT>\n</DOC>\n<DOC id='c' type=\"story\">\n\
        <HEADLINE>d</HEADLINE></DOC>\n<DOC><DOCNO>E</DOCNO><DOCHDR>http://f\n</DOCHDR><html>g</DOC>\n";
    let words: [&[u8]; 7] = [b"<DOC>", b"\n<DOC ", b"</DOC>", b"<TEXT>", b"</TEXT>", b"<!--", b"<DOCHDR>"];
    let (mut reader, mut made) = (TrecReader::default(), MadeRecord::default());
    cut_changed(text, &words, 2_000, TrecEnds::next_end, |record| {
        let _ = reader.read(record, &mut made);
        assert!(std::str::from_utf8(made.bytes()).is_ok());
    });
}

#[test]
fn long_nonsense_takes_linear_time() {
    let pieces: [&[u8]; 10] = [
        b"<DOC>",
        b"<DOC>\n",
        b"<",
        b"<DOC id=1 ",
        b"a=",
        b"</DOC>",
        b"<!--",
        b"&amp",
        b"<TEXT>",
        b"<TITLE><TEXT></DATE>",
    ];
    for piece in pieces {
        run_over_repeated(piece, read_all);
        let doc = [&b"<DOC><DOCNO>1</DOCNO>"[..], &piece.repeat((1 << 20) / piece.len())].concat();
        run_over_repeated(&doc, read_all);
    }
}
