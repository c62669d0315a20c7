use super::*;
use crate::record::corpus::test_support::{cut_changed, run_over_repeated, values};
use crate::record::test_data::test_data;
use crate::record::test_ends::records;

type Read = (Result<bool, RecordError>, Vec<String>, Vec<&'static str>);

const MBOX: &[u8] = b"From a@b Thu Nov 26 10:00:00 2026\nFrom: =?utf-8?Q?J=C3=B6rg?= <j@x>\nTo: a@b,\n c@d\n\
    Subject: =?iso-8859-1?B?R3L832U=?=\n =?ISO-8859-1?q?_aus_K=F6ln?= ok\n\
    Date: Fri, 27 Nov 2026 01:02:03 +0100\n\
    Message-ID: <1@x>\nList-Id: The list <l.x.org>\n\nbody\n>From here\nFrom there\n>>From\n\n\
    From b@c\nSubject: two\nCC: z\n\n\ntext\n\n";

fn read_all(bytes: &[u8]) -> Vec<Read> {
    let mut ends = MboxEnds::new();
    let (mut reader, mut made) = (MboxReader::default(), MadeRecord::default());
    let read = |record| {
        let result = reader.read(record, &mut made);
        (result, values(&MboxReader::NAMES, &made), reader.deviations().to_vec())
    };
    records(bytes, &mut |bytes, is_end| ends.next_end(bytes, is_end)).into_iter().map(read).collect()
}

fn read_one(message: &str) -> (Vec<String>, Vec<&'static str>) {
    let mut found = read_all(message.replace('\n', "\r\n").as_bytes());
    assert_eq!(found.len(), 1);
    let read = found.remove(0);
    assert_eq!(read.0, Ok(true));
    (read.1, read.2)
}

#[test]
fn an_mbox_has_a_message_after_each_from_line_behind_an_empty_line() {
    let found = read_all(MBOX);
    let first = [
        "from=Jörg <j@x>",
        "to=a@b, c@d",
        "subject=Grüße aus Köln ok",
        "message_id=1@x",
        "list_id=l.x.org",
        "date=2026-11-27T00:02:03Z",
        "text=body\nFrom here\nFrom there\n>>From",
    ];
    assert_eq!(found[0].1, first);
    assert_eq!(found[1].1, ["cc=z", "subject=two", "text=text"]);
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|read| read.2.is_empty()));
}

#[test]
fn a_file_that_does_not_begin_with_from_is_one_message() {
    let found = read_all(b"\nSubject: one\n\nx\n\nFrom here on\n");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].1, ["subject=one", "text=x\n\nFrom here on"]);
    assert_eq!(
        read_all(b"no header\n")[0].0,
        Err(RecordError::Lacks { what: "header of lines 'name: value'" })
    );
    assert_eq!(read_all(b" \n")[0].0, Ok(false));
}

#[test]
fn the_sample_of_20_newsgroups_has_a_header_without_an_empty_line() {
    let Some(bytes) = test_data("collections/20Newsgroups/collection1/82757") else {
        return;
    };
    let found = read_all(&bytes);
    let expected = [
        "from=dsoconne@quads.uchicago.edu (Daniel S OConnell)",
        "subject=Re: Religion and homosexuality",
        "text=Good Luck on your journey!",
    ];
    assert_eq!(found[0].1, expected);
    assert_eq!(found[0].2, ["header without an empty line after it"]);
}

#[test]
fn dates_are_converted_to_utc() {
    for (date, expected) in [
        ("Fri, 27 Nov 2026 00:28:15 +0000", "2026-11-27T00:28:15Z"),
        ("1 Mar 2000 00:10 +0130 (CET (x))", "2000-02-29T22:40:00Z"),
        ("Thu, 31 Dec 98 23:59:60 EST", "1999-01-01T05:00:00Z"),
        ("29 feb 104 1:2:3 Z", "2004-02-29T01:02:03Z"),
        ("Mon , 1 Jan 0001 00:00:00 A", "0001-01-01T00:00:00Z"),
        ("31 Dec 1969 16:00:00 PST", "1970-01-01T00:00:00Z"),
        ("1 Jan 49 00:00 UT", "2049-01-01T00:00:00Z"),
        ("mar, 2 Jan 2024 00:00 -9959", "2024-01-06T03:59:00Z"),
        ("Thu Jan  1 00:00:01 1970", "1970-01-01T00:00:01Z"),
        ("1 Jan 2026 00:00", "2026-01-01T00:00:00Z"),
        ("1 Jan 2026 00:00 +01:00", "2025-12-31T23:00:00Z"),
    ] {
        assert_eq!(rfc2822_in_rfc3339(date.as_bytes()).as_deref(), Some(expected), "{date}");
    }
    for date in [
        "",
        "Fri,",
        "30 Feb 2026 00:00 GMT",
        "1 Jan 2026 24:00 GMT",
        "1 Jan 0000 00:00 +0100",
        "2026-11-27T00:28:15Z",
        "1 Jan 2026 00:00:61 GMT",
        "1 Jan 2026 00:00 +0060",
        "1 Jan 2026 00:00 GMT GMT",
        "Jan, 1 Jan 2026",
    ] {
        assert_eq!(rfc2822_in_rfc3339(date.as_bytes()), None, "{date}");
    }
    let (found, deviations) = read_one("Date: =?utf-8?q?gestern?=\n\n");
    assert_eq!(found, ["date=gestern"]);
    assert_eq!(deviations, ["date that cannot be read"]);
}

#[test]
fn of_alternatives_the_plain_text_is_read_and_attachments_are_named() {
    let message = "Content-Type: multipart/mixed; boundary=\"a b\"\n\npreamble\n--a b\n\
        Content-Type: multipart/alternative; boundary=a\n\n--a\nContent-Type: text/html\n\n<b>html</b>\n--a\n\
        Content-Type: text/plain; charset=ISO-8859-1\nContent-Transfer-Encoding: Quoted-Printable\n\n\
        Gr=FC=\n=DFe\n--a--\n--a b\nContent-Type: image/png; name=x.png\n\nAAAA\n--a b\n\
        Content-Disposition: attachment;\n filename*0*=utf-8''%C3%A4; filename*1=\" b.txt\"\n\n\
        no\n--a b--\nepilogue";
    let (found, deviations) = read_one(message);
    assert_eq!(found, ["text=Grüße", "attachment=x.png", "attachment=ä b.txt"]);
    assert!(deviations.is_empty());
}

#[test]
fn html_and_messages_inside_of_messages_are_read() {
    let message = "Content-Type: multipart/digest; boundary=d\n\n--d\n\nSubject: in\n\ninner\n--d\n\
        Content-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: base64\n\nPGI+w6Q8L2I+\n";
    let (found, deviations) = read_one(message);
    assert_eq!(found, ["text=inner", "text=ä"]);
    assert_eq!(deviations, ["multipart without end"]);
}

#[test]
fn malformed_mail_is_read_as_far_as_it_goes() {
    let (found, deviations) = read_one("Content-Type: multipart/mixed\n\njust text\n");
    assert_eq!(found, ["text=just text"]);
    assert_eq!(deviations, ["multipart without end", "multipart without parts"]);
    let (found, deviations) = read_one("Content-Transfer-Encoding: base64\n\naGVs!bG8=\n");
    assert_eq!(found, ["text=hello"]);
    assert_eq!(deviations, ["malformed transfer encoding"]);
    let (found, deviations) = read_one("Subject: =?utf-8?Q?=FF?= =?utf-8?X?a?= =?utf-8?Q?a\n\n");
    assert_eq!(found, ["subject=\u{fffd} =?utf-8?X?a?= =?utf-8?Q?a"]);
    assert_eq!(deviations, ["invalid UTF-8"]);
}

#[test]
fn a_hook_decodes_other_charsets() {
    let message = b"Subject: =?KOI8-R?B?wQ==?= =?x?Q?=E9?=\n\n";
    let mut made = MadeRecord::default();
    let mut reader = MboxReader::with_charsets(|label, bytes, into| {
        into.extend_from_slice("а".repeat(bytes.len()).as_bytes());
        label == b"koi8-r"
    });
    assert_eq!(reader.read(message, &mut made), Ok(true));
    assert_eq!(values(&MboxReader::NAMES, &made), ["subject=аé"]);
    assert_eq!(reader.deviations(), ["unknown charset"]);
}

#[test]
fn parts_are_limited_in_number_and_depth() {
    let part = "--b\n\nx\n".repeat(1_100);
    let (found, deviations) = read_one(&format!("Content-Type: multipart/mixed; boundary=b\n\n{part}"));
    assert_eq!(found.len(), 999);
    assert!(deviations.contains(&"more than 1,000 parts"));
    let nested = "Content-Type: message/rfc822\n\n".repeat(30);
    assert!(read_one(&nested).1.contains(&"parts nested more than 20 deep"));
}

#[test]
fn pieces_give_the_same_records_as_the_whole() {
    let words: [&[u8]; 8] =
        [b"\n\nFrom ", b"\nFrom ", b">From ", b"=?utf-8?B?", b"?=", b"\n\n", b"\r\n", b"--a\n"];
    let mixed =
        b"From x\nContent-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: text/plain; charset=x\n\n\
        --a\n--a\nContent-Transfer-Encoding: quoted-printable\n\n=41=\n--a--\n";
    let (mut reader, mut made) = (MboxReader::default(), MadeRecord::default());
    cut_changed(&[MBOX, mixed].concat(), &words, 2_000, MboxEnds::next_end, |record| {
        let _ = reader.read(record, &mut made);
        assert!(std::str::from_utf8(made.bytes()).is_ok());
    });
}

#[test]
fn long_nonsense_takes_linear_time() {
    for piece in
        [&b"From "[..], b"\nFrom ", b"\n\nFrom ", b"=?", b">From ", b">", b"\n", b"a:\n", b" \n", b";"]
    {
        run_over_repeated(piece, read_all);
    }
    let starts = [
        "Subject: ",
        "From x\na:\n\n",
        "Date: (",
        "Content-Type: multipart/a; boundary=a\n\n",
        "Content-Type: a/b",
    ];
    for start in starts {
        for piece in
            ["=?", "=?a?q?", "=?a?q??=", ">From \n", "--a\n", "--a", ";name*=", ";\"", "(", "--a\n\nFrom "]
        {
            let message = [start, &piece.repeat((1 << 20) / piece.len())].concat();
            run_over_repeated(message.as_bytes(), read_all);
        }
    }
}
