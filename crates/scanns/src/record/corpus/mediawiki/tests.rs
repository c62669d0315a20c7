use super::*;
use crate::record::corpus::test_support::{cut_changed, run_over_repeated, values};
use crate::record::test_data::test_data;
use crate::record::test_ends::{records, seed};
use std::{
    io::Write,
    process::{Command, Stdio},
};

type Read = (Result<bool, RecordError>, Vec<String>, Vec<&'static str>);

fn read_all(bytes: &[u8]) -> Vec<Read> {
    let mut ends = MediaWikiEnds::new();
    let (mut reader, mut made) = (MediaWikiReader::default(), MadeRecord::default());
    let read = |record| {
        let result = reader.read(record, &mut made);
        (result, values(&MediaWikiReader::NAMES, &made), reader.deviations().to_vec())
    };
    records(bytes, &mut |bytes, is_end| ends.next_end(bytes, is_end)).into_iter().map(read).collect()
}

fn strip(wikitext: &str) -> String {
    let mut plain = Vec::new();
    wikitext::push_plain_text(wikitext.as_bytes(), &mut plain, &mut Deviations::default());
    String::from_utf8(plain).unwrap()
}

/// Runs a command with bytes at its standard input.
fn pipe(command: &mut Command, input: &[u8]) -> Option<Vec<u8>> {
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        println!("SKIPPED: cannot run {command:?}");
        return None;
    };
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    Some(output.stdout)
}

#[test]
fn the_sample_of_anserini_has_one_page() {
    let packed = test_data("collections/wikipedia/collection1/articles.xml.bz2");
    let Some(bytes) = packed.and_then(|packed| pipe(Command::new("bzip2").arg("-dc"), &packed)) else {
        return;
    };
    let found = read_all(&bytes);
    let words: Vec<&str> = found[0].1[4].split_whitespace().collect();
    let expected = ["title=Wiktionary:Welcome, newcomers", "id=7", "ns=0", "date=2014-08-24T22:39:11Z"];
    assert_eq!(found[0].1[..4], expected);
    assert_eq!(words, ["text=this", "is", "the", "real", "content"]);
    assert!(found.iter().all(|read| read.2.is_empty()));
    let results: Vec<_> = found.iter().map(|read| read.0).collect();
    assert_eq!(results, [Ok(true), Ok(false)]);
}

#[test]
fn a_page_has_the_values_of_its_last_revision() {
    let page = b"<page><title>A &amp; B</title><ns>4</ns><id>12</id><redirect title=\"C &quot;D&quot;\" />\
        <revision><id>1</id><timestamp>2001</timestamp><text>old</text></revision>\
        <revision><id>2</id><timestamp>2002</timestamp><model>json</model>\
        <text bytes=\"3\">{{&lt;x&gt;}}</text>\
        </revision></page><page><title>E</title><revision><text /></revision></page>";
    let found = read_all(page);
    let first = ["title=A & B", "id=12", "ns=4", "date=2002", "redirect=C \"D\"", "text={{<x>}}"];
    assert_eq!(found[0].1, first);
    assert_eq!(found[1].1, ["title=E"]);
    assert!(found.iter().all(|read| read.0 == Ok(true) && read.2.is_empty()));
}

#[test]
fn malformed_dumps_are_read_as_far_as_they_go() {
    let found = read_all(b"junk<page><title>A</title>\n<page><title>B</title><text>x &y; {{ [[ &lt;ref>");
    assert_eq!(found[0].2, ["text outside of documents", "document without end"]);
    assert_eq!(found[1].1, ["title=B", "text=x &y; {{ [["]);
    let expected = [
        "document without end",
        "element without end",
        "unknown entity",
        "comment, reference or literal text without end",
        "template without end",
        "link without end",
    ];
    assert_eq!(found[1].2, expected);
    assert_eq!(read_all(b"<page></page>")[0].0, Err(RecordError::Lacks { what: "<title>" }));
}

#[test]
fn links_give_their_text() {
    for (wikitext, expected) in [
        ("a [[b]]s [[c d|e f]]g", "a bs e fg"),
        ("[[:Category:X]] [[Category:Y|key]] [[category:Z]]", "Category:X Y Z"),
        ("[[File:a.png|thumb|200px|a [[b|c]] d]]e[[Image:f.png|thumb]]g[[File:h.png]]", "a c deg"),
        (
            "[http://x.org/a?b the text] [https://y.org] [//z.org z] [no] [http://w",
            "the text https://y.org z [no] [http://w",
        ),
        ("[[a\nb|c]] [[d", "a\nb|c]] [[d"),
        ("[[a|b|c]]", "b|c"),
    ] {
        assert_eq!(strip(wikitext), expected, "{wikitext}");
    }
}

#[test]
fn templates_references_and_comments_are_left_out() {
    for (wikitext, expected) in [
        ("a{{b|{{c}}|d=[[e]]}}f", "af"),
        ("{{{1|x}}}a{{{{{2}}}}}b}}", "ab}}"),
        ("{{a b {{c}} d", "{{a b  d"),
        ("a<ref name=x>b {{c</ref>d<ref name=\"y\"/>e<references />f", "adef"),
        ("a<!-- <ref> {{ -->b", "ab"),
        ("<nowiki>[[a]] {{b}}</nowiki> <math>{{x}}_2</math>", "[[a]] {{b}} {{x}}_2"),
        ("H<sub>2</sub>O<br/>x < y <b>z", "H2O x < y z"),
        ("__NOTOC__a __b__ c&nbsp;d&ndash;e &foo; R&D", "a __b__ c d–e &foo; R&D"),
    ] {
        assert_eq!(strip(wikitext), expected, "{wikitext}");
    }
}

#[test]
fn marks_of_lines_and_quotes_are_left_out() {
    for (wikitext, expected) in [
        ("== A = B ==\ntext\n=C=  \n=", "A = B \ntext\nC  \n="),
        ("* a\n*# b\n:c\n; d\n----\ne", "a\nb\nc\nd\n\ne"),
        ("'''a''' ''b'' '''''c''''' d'e", "a b c d'e"),
        ("{{x\n}}\n''a''", "\na"),
    ] {
        assert_eq!(strip(wikitext), expected, "{wikitext}");
    }
    assert_eq!(strip("#REDIRECT [[A]]"), "REDIRECT A");
}

#[test]
fn tables_give_their_cells() {
    let table = "{| class=\"a\"\n|+ The caption\n! scope=\"col\" | H1 !! H2\n|-\n| a=b | c || [[d|e]] || f\n\
        {| \n| g\n|}\n|}\n| h";
    let words: Vec<String> = strip(table).split_whitespace().map(str::to_owned).collect();
    assert_eq!(words, ["The", "caption", "H1", "H2", "c", "e", "f", "g", "|", "h"]);
}

#[test]
fn pieces_give_the_same_records_as_the_whole() {
    let dump = b"<mediawiki><siteinfo>x</siteinfo>\n<page>\n<title>A</title>\n<ns>0</ns>\n<revision>\n\
        <text xml:space=\"preserve\">{{a|[[b|c]]}} {|\n| d || e\n|}\n[http://f g] ==\
        \x20&lt;ref&gt; '''\n== h ==\n\
        [[File:i|j]]</text></revision></page>\n<page><title>K</title></page></mediawiki>\n";
    let words: [&[u8]; 12] = [
        b"<page>",
        b"\n<page>",
        b"</page>",
        b"{{",
        b"}}",
        b"[[",
        b"]]",
        b"\n|",
        b"{|",
        b"'''",
        b"&lt;ref>",
        b"<text>",
    ];
    let (mut reader, mut made) = (MediaWikiReader::default(), MadeRecord::default());
    cut_changed(dump, &words, 5_000, MediaWikiEnds::next_end, |record| {
        let _ = reader.read(record, &mut made);
        assert!(std::str::from_utf8(made.bytes()).is_ok());
    });
}

#[test]
fn long_nonsense_takes_linear_time() {
    for piece in [&b"<page>"[..], b"<page>\n", b"<", b"</page>", b"<page><title>a</title>\n", b"&amp;"] {
        run_over_repeated(piece, read_all);
    }
    let pieces: [&[u8]; 22] = [
        b"{{",
        b"}}",
        b"{{{",
        b"{{a}}",
        b"[[",
        b"[[a|",
        b"[[a]]",
        b"[[File:a|b]]",
        b"[http://",
        b"[http://\n",
        b"'",
        b"<ref>",
        b"<!--",
        b"<nowiki>",
        b"<",
        b"&",
        b"=\n",
        b"__",
        b"\n|",
        b"{|\n| a=",
        b"||",
        b"{{[[",
    ];
    for piece in pieces {
        let closed = [&piece.repeat(1 << 18)[..], b"]]}}"].concat();
        for text in [piece, closed.as_slice()] {
            run_over_repeated(text, |bytes| {
                let mut plain = Vec::new();
                wikitext::push_plain_text(bytes, &mut plain, &mut Deviations::default());
                assert!(plain.len() <= bytes.len());
            });
        }
    }
}

/// Writes a random dump, and prints for each page what a parser of XML reads.
const SCRIPT: &str = r##"
import io, random, sys
import xml.etree.ElementTree as tree
from xml.sax.saxutils import escape, quoteattr
random.seed(int(sys.argv[1]))
WORDS = ["<page>", "</page>", "&", "<b>", "Köln", "日本", "a", '"', "'", "{{x", "\n<page>", "&lt;", "</text>"]
def words(most):
    return " ".join(random.choice(WORDS) for _ in range(random.randint(1, most)))
out = ["<mediawiki>\n<siteinfo><sitename>x</sitename></siteinfo>\n"]
for number in range(200):
    out.append("  <page>\n    <title>%s</title>\n    <ns>%d</ns>\n    <id>%d</id>\n"
        % (escape(words(3)), random.randint(0, 9), number))
    if random.random() < .3:
        out.append("    <redirect title=%s />\n" % quoteattr(words(3)))
    out.append("    <revision>\n      <id>5</id>\n")
    out.append("      <timestamp>2014-08-24T22:39:%02dZ</timestamp>\n" % (number % 60))
    out.append("      <model>text</model>\n      <text bytes='3'>%s</text>\n" % escape(words(20)))
    out.append("    </revision>\n  </page>\n")
out.append("</mediawiki>\n")
dump = "".join(out)
open(sys.argv[2], "w", encoding="utf-8").write(dump)
for page in tree.parse(io.StringIO(dump)).getroot().iter("page"):
    redirect = page.find("redirect")
    row = [page.findtext("title"), page.findtext("id"), page.findtext("ns"),
        page.findtext("revision/timestamp"),
        "" if redirect is None else redirect.get("title"), page.findtext("revision/text")]
    print("\t".join(field.strip().encode().hex() for field in row))
"##;

#[test]
fn pages_are_those_that_python_reads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dump.xml");
    let mut python = Command::new("python3");
    python.arg("-c").arg(SCRIPT).arg(seed().to_string()).arg(&path);
    let Some(expected) = pipe(&mut python, b"") else {
        return;
    };
    let expected = String::from_utf8(expected).unwrap();
    let found = read_all(&std::fs::read(&path).unwrap());
    assert_eq!(found.len(), expected.lines().count() + 1);
    let hex = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    for (read, line) in found.iter().zip(expected.lines()) {
        let mut fields = [""; 6].map(str::to_owned);
        for value in &read.1 {
            let (name, text) = value.split_once('=').unwrap();
            let place = MediaWikiReader::NAMES.iter().position(|known| *known == name).unwrap();
            fields[place] = hex(text.trim());
        }
        assert_eq!(fields.join("\t"), line);
        assert!(read.2.is_empty());
    }
}
