//! Tests of the values of records.

use super::*;
use crate::record::warc::WarcEnds;
use crate::record::warc::tests::{PayloadRow, row};

/// What a record is, for the comparison with others.
pub(in crate::record::warc) fn row_of(record: &[u8]) -> PayloadRow {
    let mut reader = WarcReader::default();
    match reader.split(record) {
        Err(error) => row("error", &error.to_string(), b""),
        Ok(RecordParts::LeftOut(kind)) => row(kind, "", b""),
        Ok(RecordParts::Document(origin, block)) => {
            let payload = WarcPayload::read(&block, &mut reader.deviations);
            row(&String::from_utf8_lossy(origin.kind), &String::from_utf8_lossy(&origin.url), &payload.bytes)
        }
    }
}

/// The content, the values, and the deviations of a record.
fn read(record: &[u8]) -> (WarcContent, Vec<(&'static str, String)>, Vec<&'static str>) {
    let mut reader = WarcReader::default();
    let mut made = MadeRecord::default();
    let content = reader.read(record, &mut made).unwrap();
    let values = made
        .values()
        .map(|(name, place)| {
            let value = String::from_utf8(made.bytes()[place].to_vec()).unwrap();
            (WarcReader::NAMES[name as usize], value)
        })
        .collect();
    (content, values, reader.deviations().to_vec())
}

/// A response record with named values and a block.
fn response(block: &[u8]) -> Vec<u8> {
    let head = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nContent-Type: application/http\r\nContent-Length: {}\r\n\r\n",
        block.len()
    );
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}

/// The value of a name.
fn value<'a>(values: &'a [(&'static str, String)], name: &str) -> Option<&'a str> {
    values.iter().find(|(found, _)| *found == name).map(|(_, value)| value.as_str())
}

#[test]
fn a_response_gives_all_its_values() {
    let block = "HTTP/1.1 200 OK\r\nContent-Type: Text/HTML; charset=utf-8\r\n\r\n<b>é</b>";
    let record = format!(
        "WARC/1.0\r\nWARC-Type: Response\r\nWARC-Record-ID: <urn:uuid:1>\r\n\
         WARC-Target-URI: http://u:p@Example.com:80/a\r\nWARC-Date: 2017-03-06T04:03:53Z\r\n\
         WARC-IP-Address: 1.2.3.4\r\nWARC-Payload-Digest: sha1:A\r\nContent-Type: application/http\r\n\
         Content-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    );
    let (content, values, deviations) = read(record.as_bytes());
    assert_eq!((content, deviations), (WarcContent::Document, vec![]));
    let expected = [
        ("id", "urn:uuid:1"),
        ("url", "http://u:p@Example.com:80/a"),
        ("host", "example.com"),
        ("date", "2017-03-06T04:03:53Z"),
        ("type", "response"),
        ("status", "200"),
        ("mime", "text/html"),
        ("ip", "1.2.3.4"),
        ("digest", "sha1:A"),
        ("length", "9"),
        ("charset", "utf-8"),
        ("text", "é"),
    ];
    assert_eq!(values, expected.map(|(name, value)| (name, value.to_owned())));
}

#[test]
fn records_that_are_not_documents_are_left_out_by_kind() {
    for (kind, left_out) in [
        ("request", "request"),
        ("WARCINFO", "warcinfo"),
        ("metadata", "metadata"),
        ("revisit", "revisit"),
        ("continuation", "continuation"),
        ("other", "record of unknown type"),
    ] {
        let record = format!("WARC/1.0\r\nWARC-Type: {kind}\r\nContent-Length: 1\r\n\r\na\r\n\r\n");
        assert_eq!(read(record.as_bytes()), (WarcContent::LeftOut(left_out), vec![], vec![]));
    }
    assert_eq!(read(b"garbage\nmore").0, WarcContent::LeftOut("bytes between records"));
    assert_eq!(read(b"\r\n\r\n").0, WarcContent::LeftOut("bytes between records"));
    let empty = b"WARC/1.0\r\nContent-Length: 0\r\n\r\n\r\n\r\n";
    assert_eq!(read(empty).0, WarcContent::LeftOut("record without type and payload"));
}

#[test]
fn each_leniency_is_a_deviation() {
    let rows: [(&str, &[&str]); 8] = [
        ("WARC/1.0\nWARC-Type: resource\nContent-Length: 1\n\na\n\n", &[LF_LINES]),
        ("\r\nWARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 1\r\n\r\na\r\n\r\n", &[LINE_ENDS_BEFORE]),
        ("WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 1\r\n\r\na", &[LINE_ENDS_AFTER]),
        ("WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 9\r\n\r\na\r\n\r\n", &[WRONG_LENGTH]),
        ("WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: x\r\n\r\na\r\n\r\n", &[NO_LENGTH]),
        ("WARC/1.0\r\nother\r\nContent-Length: 1\r\n\r\na\r\n\r\n", &[NOT_NAMED, NO_TYPE]),
        (
            "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: <http://a/b c>\r\nWARC-Date: x\r\n\
             WARC-Truncated: length\r\nWARC-Segment-Number: 1\r\nContent-Length: 1\r\n\r\na\r\n\r\n",
            &[TRUNCATED, SEGMENT, BRACKETS, SPACES, BAD_DATE],
        ),
        (
            "WARC/1.0\r\nWARC-Type: response\r\nContent-Type: application/http\r\n\
             Content-Length: 1\r\n\r\na\r\n\r\n",
            &[NO_HTTP],
        ),
    ];
    for (record, expected) in rows {
        let (content, values, deviations) = read(record.as_bytes());
        assert_eq!((content, &deviations[..]), (WarcContent::Document, expected), "{record}");
        assert_eq!(value(&values, "text"), Some("a"), "{record}");
    }
}

#[test]
fn the_line_ends_of_a_skipped_record_are_no_deviation_of_the_next_one() {
    for line_end in ["\r\n", "\n"] {
        let record = "WARC/1.0+WARC-Type: resource+Content-Length: 1++a++".replace('+', line_end);
        let file = record.repeat(2);
        let mut ends = WarcEnds::new();
        assert_eq!(ends.next_end(&record.as_bytes()[..record.len() - 1], false), None);
        let skipped = record.len() - 2 * line_end.len();
        ends.start_record();
        let rest = &file.as_bytes()[skipped..];
        assert_eq!(ends.next_end(rest, true), Some(rest.len()));
        let (content, values, deviations) = read(rest);
        assert_eq!((content, value(&values, "text")), (WarcContent::Document, Some("a")));
        assert!(!deviations.contains(&LINE_ENDS_BEFORE), "{deviations:?}");
    }
}

#[test]
fn the_extra_line_end_of_common_crawl_is_left_out() {
    let block = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n\r\nab";
    let (_, values, deviations) = read(&response(block));
    assert_eq!((value(&values, "text"), deviations), (Some("ab"), vec![EXTRA_LINE_END]));
    let block = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\n\r\nab";
    let (_, values, deviations) = read(&response(block));
    assert_eq!((value(&values, "text"), deviations), (Some("\r\nab"), vec![]));
}

#[test]
fn a_body_shorter_than_its_content_length_is_a_truncated_payload() {
    let block = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nab";
    let (_, values, deviations) = read(&response(block));
    assert_eq!((value(&values, "text"), deviations), (Some("ab"), vec![TRUNCATED]));
}

#[test]
fn invalid_utf_8_in_a_url_is_replaced() {
    let record = b"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a/\xff\r\n\
        Content-Length: 1\r\n\r\na\r\n\r\n";
    let (_, values, deviations) = read(record);
    assert_eq!((value(&values, "url"), deviations), (Some("http://a/\u{fffd}"), vec![NOT_UTF8]));
}

#[test]
fn chunks_and_content_encodings_are_taken_off() {
    let zstd = zstd::encode_all(&b"a page"[..], 1).unwrap();
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: zstd\r\n\
        Transfer-Encoding: chunked\r\n\r\n";
    let size = format!("{:x}\r\n", zstd.len());
    let block = [&head[..], size.as_bytes(), &zstd, b"\r\n0\r\n\r\n"].concat();
    let (_, values, deviations) = read(&response(&block));
    assert_eq!((value(&values, "text"), deviations), (Some("a page"), vec![]));
}

#[test]
fn the_type_of_a_payload_decides_whether_it_has_text() {
    let text: &[u8] = b"a <b>c</b>";
    for (mime, payload, expected) in [
        ("text/html", text, Some("a c")),
        ("application/xhtml+xml", text, Some("a c")),
        ("text/plain", text, Some("a <b>c</b>")),
        ("application/json", b"{}", Some("{}")),
        ("application/rss+xml", b"<a/>", Some("<a/>")),
        ("application/javascript", b"f()", Some("f()")),
        ("", b"<html>x", Some("x")),
        ("", text, Some("a <b>c</b>")),
        ("application/octet-stream", b"a\0b", None),
        ("no-type", b"\xff\xfe\0", None),
        ("image/png", text, None),
        ("image/svg+xml", text, None),
        ("application/pdf", text, None),
    ] {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {mime}\r\n\r\n");
        let (content, values, deviations) = read(&response(&[head.as_bytes(), payload].concat()));
        assert_eq!(content, WarcContent::Document, "{mime}");
        assert_eq!(value(&values, "text"), expected, "{mime}");
        assert_eq!(deviations.contains(&NO_TEXT), expected.is_none(), "{mime}");
        assert_eq!(value(&values, "length"), Some(payload.len().to_string().as_str()), "{mime}");
    }
}

#[test]
fn a_header_without_end_or_of_more_than_64_kib_is_an_error() {
    let mut reader = WarcReader::default();
    let mut made = MadeRecord::default();
    assert_eq!(
        reader.read(b"\nWARC/1.0\r\nWARC-Type: response\r\n", &mut made),
        Err(RecordError::expected(32, "a blank line after the header"))
    );
    let long = [&b"WARC/1.0\r\n"[..], &b"a: b\r\n".repeat(20_000), b"\r\n"].concat();
    assert_eq!(
        reader.read(&long, &mut made),
        Err(RecordError::expected(MAX_HEADER, "the end of the header within 64 KiB"))
    );
}

#[test]
fn an_arc_record_is_recognised_by_its_first_line() {
    let block = "HTTP/1.0 200 OK\nContent-Type: text/plain\n\nab";
    let record =
        format!("http://Example.com/a b 1.2.3.4 20140216050221 text/html {}\n{block}\n", block.len());
    let (content, values, deviations) = read(record.as_bytes());
    assert_eq!((content, deviations), (WarcContent::Document, vec![SPACES]));
    let expected = [
        ("id", "http://Example.com/a b@2014-02-16T05:02:21Z"),
        ("url", "http://Example.com/a b"),
        ("host", "example.com"),
        ("date", "2014-02-16T05:02:21Z"),
        ("type", "response"),
        ("status", "200"),
        ("mime", "text/plain"),
        ("ip", "1.2.3.4"),
        ("length", "2"),
        ("charset", "utf-8"),
        ("text", "ab"),
    ];
    assert_eq!(values, expected.map(|(name, value)| (name, value.to_owned())));
    let dns = read(b"dns:example.com 1.2.3.4 20140216050221 text/dns 1\nx\n").1;
    assert_eq!((value(&dns, "type"), value(&dns, "mime")), (Some("response"), Some("text/dns")));
    let description = read(b"filedesc://a 0.0.0.0 20140216050221 text/plain 1\nx\n");
    assert_eq!(description.0, WarcContent::LeftOut("warcinfo"));
}
