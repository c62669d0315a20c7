use fastrand::Rng;

use super::{TARGETS, run};
use crate::codec::{ListEncoder, StringEncoder, SymbolTable, put_varint};

/// Files of every collection, and a web page.
const COLLECTIONS: [&str; 8] = [
    "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: <http://a.ru/b c>\r\n\
     Content-Type: application/http\r\nWARC-Date: 2009-03-05T08:43:19-0800\r\nContent-Length: 117\r\n\r\n\
     HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/html; charset=koi8-r\r\n\r\n\
     9\r\n<p>\u{c4}&lt;\r\n0\r\n\r\n\r\n\r\nWARC/0.18\nWARC-Type: resource\nContent-Length: 7\n\n\
     {\"a\":1}\n\nWARC/1.1\r\nContent-Length: x\r\n\r\n",
    "filedesc://a 0.0.0.0 20140216050221 text/plain 8\n1 0 A\n\n\n\
     http://a/b 1.2.3.4 20140216050221 text/html 46\nHTTP/1.0 200 OK\nContent-Encoding: gzip\n\n<b>cd\n",
    "<DOC>\n<DOCNO> A </DOCNO>\n<TEXT>b &hyph; <F P=1>c</F>\n</TEXT>\n</DOC>\n<DOC id='c' type=\"story\">\n\
     <HEADLINE>d</HEADLINE></DOC>\n",
    "<DOC><DOCNO>E</DOCNO><DOCHDR>\nhttp://f.de/\nHTTP/1.1 200 OK\nContent-Type: text/html; charset=x\n\
     </DOCHDR><meta charset=latin1><title>g</title>h</DOC>\n",
    ".I 1\n.T\nReport\n.A\nPerlis, A. J.\nSamelson,K.\n.X\n100\t5\t1\n.I 2\n.W\nAbout .W and\n.K\na, b\n",
    "From a@b Thu Nov 26 10:00:00 2026\nFrom: =?utf-8?Q?J=C3=B6rg?= <j@x>\nDate: Fri, 27 Nov 26 1:2 EST (x)\n\
     Content-Type: multipart/mixed; boundary=\"a b\"\n\n--a b\nContent-Transfer-Encoding: base64\n\n\
     PGI+w6Q8L2I+\n--a b\nContent-Type: text/html; charset=koi8-r\n\n<b>=C4\n--a b--\n\n\
     From b@c\nSubject: two\n\n>From x\n",
    "<mediawiki><siteinfo>x</siteinfo>\n<page>\n<title>A &amp; B</title>\n<ns>0</ns>\n<revision>\n\
     <timestamp>2014-08-24T22:39:11Z</timestamp><text bytes='3'>{{a|[[b|c]]}} {|\n| d || e\n|}\n\
     [http://f g]\n== h ==\n&lt;ref>i&lt;/ref> [[File:i|j]]</text></revision></page>\n\
     <page><title>K</title></page>\n",
    "<!DOCTYPE html><html lang=de><meta name=keywords content='a&amp;b'><title>t</title><script>x</script>\
     <table><tr><td>c<td>d</table><pre>\n e</pre><svg><title>f</title></svg><![CDATA[g]]>&notit;<!--h--!>",
];

/// Archives of each format, and a file of compress.
fn archives() -> Vec<Vec<u8>> {
    let mut tar = vec![0_u8; 1536];
    tar[..3].copy_from_slice(b"a/b");
    tar[100..107].copy_from_slice(b"0000644");
    tar[124..135].copy_from_slice(b"00000000005");
    tar[156] = b'0';
    tar[257..265].copy_from_slice(b"ustar\x0000");
    tar[512..517].copy_from_slice(b"words");
    tar[148..156].copy_from_slice(b"        ");
    let sum: u32 = tar[..512].iter().map(|&byte| u32::from(byte)).sum();
    tar[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    let cpio = format!("070707000001000001100644000000000000000001000000{:011o}000002{:011o}a\0words", 0, 5);
    let ar = format!("!<arch>\n{:16}{:<12}{:<6}{:<6}{:<8}{:<10}`\nwords\n", "a/", 0, 0, 0, "100644", 5);
    let zip = [
        &b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\xfe\x8f\x14\x3d\x05\0\0\0\x05\0\0\0\x01\0\0\0awords"[..],
        b"PK\x01\x02\x14\x03\x14\0\0\0\0\0\0\0\0\0\xfe\x8f\x14\x3d\x05\0\0\0\x05\0\0\0\x01\0\0\0\0\0\0\0\0\0",
        b"\0\0\xa4\x81\0\0\0\0aPK\x05\x06\0\0\0\0\x01\0\x01\0\x2f\0\0\0\x24\0\0\0\0\0",
    ];
    let compress = b"\x1f\x9d\x90a\xc4\x8c\x01".to_vec();
    vec![tar, cpio.into_bytes(), ar.into_bytes(), zip.concat(), compress]
}

/// Inputs that reach deep into the targets, in addition to random ones.
fn corpus(rng: &mut Rng) -> Vec<Vec<u8>> {
    let mut corpus: Vec<Vec<u8>> = [
        "river AND (bank OR \"deep water\"~2) -stone^2 size:>1KiB re\"a+\" in(a b) text:wat*",
        r#"{"bool":{"must":[{"term":"river"}],"should":[{"phrase":"a b"}],"must_not":[{"prefix":"x"}]}}"#,
        r#"{"range":{"field":"size","gte":1,"lt":9}}"#,
        "standard | fold | stop:german | snowball:german | ngram:2-3",
        "delimiters:\\x00 ,;",
        "2024-02-29T12:30:00.5+02:00",
        "{\"s\":\"a\\u00e9\\n\",\"size\":1e3,\"when\":\"2024-01-01\"}\n{\"x\":[1,{\"y\":null}]}\n{\"a\":tru}",
        "name,size,when\n\"a, \"\"b\"\"\",12,2024-01-01\n,,\nx,y,z,w",
        "a/b/c.txt: The quick brown f\u{fc}chse \u{1F600} jumps_over x-y 3.14",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect();
    corpus.extend(COLLECTIONS.iter().map(|text| [&[9, 0, 60, 3, 200, 1, 255, 30], text.as_bytes()].concat()));
    corpus.extend(archives());
    for doc_freq in [1_u32, 127, 128, 300, 1_000] {
        let mut bytes = 100_000_u32.to_le_bytes().to_vec();
        bytes.extend(doc_freq.to_le_bytes());
        let (mut list, mut encoder) = (Vec::new(), ListEncoder::new());
        let norms = vec![40; 100_000];
        let mut doc = 0;
        for _ in 0..doc_freq {
            encoder.push(doc, rng.u32(1..9), &norms, &mut list);
            doc += rng.u32(1..90);
        }
        encoder.finish(&norms, &mut list);
        bytes.extend(list);
        corpus.push(bytes);
    }
    let words: Vec<Vec<u8>> =
        (0..200).map(|n| format!("/data/project{}/file{n}.txt", n % 7).into_bytes()).collect();
    let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    let mut block = Vec::new();
    StringEncoder::default().encode(&words, &mut block);
    corpus.push(block);
    let mut table = Vec::new();
    SymbolTable::train(&words).encode(&mut table);
    table.extend([0, 1, 2, 255, 65]);
    corpus.push(table);
    // Slices of a plan: a whole file, and a part of one.
    corpus.push(
        b"\x02\x00\x04/a/b\x09\0\0\0\0\0\0\0\0\0\x03\x01c\x20\0\0\0\0\0\0\0\0\x01\x08\x08\x02\x02\x00\x01h"
            .to_vec(),
    );
    let mut numbers = Vec::new();
    (0..64).for_each(|shift| put_varint(&mut numbers, 1 << shift));
    corpus.push(numbers);
    corpus
}

/// A random change of an input: bytes flipped, cut, doubled, or copied from another input.
fn change(rng: &mut Rng, input: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..rng.usize(1..6) {
        let at = rng.usize(0..=bytes.len());
        match rng.u8(0..5) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, rng.u8(..)),
            2 if !other.is_empty() => {
                let from = rng.usize(0..other.len());
                let piece = &other[from..(from + rng.usize(1..20)).min(other.len())];
                bytes.splice(at..at, piece.iter().copied());
            }
            3 => bytes.extend_from_within(..at.min(64)),
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << rng.u8(0..8);
                }
            }
        }
    }
    bytes
}

#[test]
fn no_target_panics_on_changed_inputs() {
    let seed = std::env::var("SCANNS_SEED")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or_else(|| fastrand::u64(..));
    println!("SCANNS_SEED={seed}");
    let mut rng = Rng::with_seed(seed);
    let corpus = corpus(&mut rng);
    for (name, target) in TARGETS {
        // Checking an index takes a thousand times as long as decoding a block.
        let rounds = if name == "index" { 300 } else { 10_000 };
        corpus.iter().for_each(|input| target(input));
        for _ in 0..rounds {
            let (input, other) = (rng.choice(&corpus), rng.choice(&corpus));
            let (Some(input), Some(other)) = (input, other) else { unreachable!("the corpus has inputs") };
            let bytes = if rng.u8(0..4) == 0 {
                std::iter::repeat_with(|| rng.u8(..)).take(40).collect()
            } else {
                change(&mut rng, input, other)
            };
            target(&bytes);
        }
    }
}

#[test]
fn unchanged_files_of_the_index_target_are_whole() {
    assert!(run("index", &[]));
    assert!(!run("no such target", &[]));
}
