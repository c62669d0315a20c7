//! Golden pages, hostile pages against the slow reader, sane pages against html5lib, and time.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fastrand::Rng;

use super::HtmlPage;
use super::oracle::Oracle;
use crate::content::test_tools::python;

fn read(html: impl AsRef<[u8]>) -> HtmlPage {
    let mut page = HtmlPage::default();
    page.read(html.as_ref());
    page
}

fn text(html: &str) -> String {
    String::from_utf8(read(html).text).unwrap()
}

fn title(html: &str) -> String {
    String::from_utf8(read(html).title).unwrap()
}

fn seed() -> u64 {
    let seed = Rng::new().u64(..);
    println!("seed {seed}");
    seed
}

/// How often a random test is run: often in release, less in debug.
fn rounds(release: usize) -> usize {
    if cfg!(debug_assertions) { release / 20 } else { release }
}

#[test]
fn inline_tags_join_and_block_tags_separate() {
    assert_eq!(text("<b>W</b>ord <i>two</i>"), "Word two");
    assert_eq!(text("\n<div>\n <p>a\n<p> b </p></div><br/>c<hr>"), "a\nb\nc");
    assert_eq!(text("<table><tr><td>a<td> b</td>\n</tr><tr><th>c<td></table>d"), "a\tb\nc\nd");
    assert_eq!(text("<p></p> <p> </p>"), "");
    assert_eq!(text("<custom-tag>a</custom-tag>b<unknown>c"), "abc");
}

#[test]
fn what_starts_no_tag_is_text() {
    assert_eq!(text("a < b <1 <> <= </"), "a < b <1 <> <= </");
    assert_eq!(text("a<"), "a<");
    assert_eq!(text("x</>y</ z>w<?pi?>v<!x>u<!DOCTYPE html \">\">t"), "xywvu\">t");
}

#[test]
fn quotes_hide_angles_only_in_values() {
    assert_eq!(text("<a href=\"x>y\" title='>'>a</a b=\">\">b"), "ab");
    assert_eq!(text("<a \">\"b<a x\"='>'>c<a =\">d"), "\"bcd");
    assert_eq!(text("<a x=y\"z>a<a x= >b<a x=/>c<a/>d"), "abcd");
    assert_eq!(text("a<b x=\"y>z"), "a");
}

#[test]
fn comments_end_as_the_standard_says() {
    for comment in
        ["<!---->", "<!-->", "<!--->", "<!-- - -- > --!x -->", "<!-- --!>", "<!-- <!-->", "<!----->"]
    {
        assert_eq!(text(&format!("a{comment}b")), "ab", "{comment}");
    }
    assert_eq!(text("a<!--!>b-->c<!---!>d-->e<!--"), "ace");
}

#[test]
fn cdata_is_text_in_foreign_content_only() {
    assert_eq!(text("a<![CDATA[b]]>c"), "ac");
    assert_eq!(text("<svg><text><![CDATA[<b>&lt;]]]></text></svg>a<![CDATA[b]]>"), "<b>&lt;]a");
    assert_eq!(text("<svg/><![CDATA[a]]>b<math><![CDATA[c"), "bc");
}

#[test]
fn raw_text_is_left_out_up_to_its_own_end_tag() {
    assert_eq!(text("a<style><p>x</p></styles></style ></STYLE>b"), "a\nb");
    assert_eq!(text("a<script>if (a<b) '</b>'</script x='>'>b"), "a\nb");
    assert_eq!(text("a<script><!--<script></script>x</script>--></script>b"), "a\n-->\nb");
    assert_eq!(text("a<script><!-- <script> --> </script>b"), "a\nb");
    assert_eq!(text("a<script><!--> <script> </script>b"), "a\nb");
    assert_eq!(text("a<iframe><b></iframe>b<noembed>x</noembed>c<noframes>y</noframes>d"), "a\nb\nc\nd");
    assert_eq!(text("<xmp><b>&lt;</xmp><noscript>a</noscript><template>b</template>"), "<b>&lt;\na\nb");
    let html = "<textarea>\n <b>&lt;</textarea>x<plaintext> </plaintext>&lt;";
    assert_eq!(text(html), " <b><\nx\n </plaintext>&lt;");
    assert_eq!(text("a<script>b"), "a");
    assert_eq!(text("<svg><script href=x /><style/>a</svg>"), "a");
}

#[test]
fn blanks_of_preformatted_text_stay() {
    assert_eq!(text("a <pre>\n  b\n   c\n\n</pre>  d"), "a\n  b\n   c\nd");
}

#[test]
fn references_are_decoded_in_text() {
    assert_eq!(
        text("a&amp;b &lt;p> &notit; &#x80;&#0;&copy &nosuch; &"),
        "a&b <p> ¬it; €\u{FFFD}© &nosuch; &"
    );
}

#[test]
fn the_first_title_with_text_is_the_title() {
    assert_eq!(title("<title> </title><title>\n A &amp; <b> \n B </title><title>C</title>"), "A & <b> B");
    assert_eq!(title("<svg><title>x</title></svg><title>y</titles></title>"), "y</titles>");
    assert_eq!(text("<title>x</title>a"), "a");
    assert_eq!(text("<svg><title>x</title></svg>a"), "x\na");
}

#[test]
fn meta_tags_describe_the_page() {
    let page = read(
        "<HTML xml:lang=de LANG=' de-CH '><meta property=og:description content=o>\
         <meta content=' a  b&quot;&lt=c' NAME=Description><meta name=keywords content='x, y'>\
         <meta name=description content=second>",
    );
    assert_eq!(page.language, b"de-CH");
    assert_eq!(page.description, b"a b\"&lt=c");
    assert_eq!(page.keywords, b"x, y");
    let page = read("<html xml:lang=fr><meta property=og:description content=o><meta name=description>");
    assert_eq!((&page.description[..], &page.language[..]), (&b"o"[..], &b"fr"[..]));
}

#[test]
fn a_page_that_is_reused_forgets_what_it_read() {
    let mut page =
        read("<html lang=x><title>t</title><meta name=keywords content=k><meta name=description content=d>a");
    page.read(b"b");
    assert_eq!(page, read("b"));
}

const FRAGMENTS: &[&str] = &[
    "<",
    ">",
    "/",
    "!",
    "-",
    "--",
    "=",
    "\"",
    "'",
    "&",
    ";",
    " ",
    "\n",
    "\r\n",
    "\t",
    "a",
    "b",
    "Z",
    "1",
    "?",
    "<a ",
    "<b>",
    "</b>",
    "<p>",
    "</p>",
    "<td>",
    "<br/>",
    "<div class=\"x>y\">",
    "<a href='",
    "<i x=y/>",
    "<!--",
    "-->",
    "--!>",
    "<!-->",
    "<!--->",
    "<!",
    "<?",
    "</",
    "</ ",
    "<!DOCTYPE html>",
    "<![CDATA[",
    "]]>",
    "]",
    "<svg>",
    "</svg>",
    "<math>",
    "<svg/>",
    "<script>",
    "</script>",
    "<script",
    "</script",
    "<style>",
    "</style>",
    "<STYLE ",
    "<title>",
    "</title>",
    "</titLE ",
    "<textarea>",
    "</textarea>",
    "<xmp>",
    "</xmp>",
    "<iframe>",
    "</iframe>",
    "<pre>",
    "</pre>",
    "<pre>\n",
    "<listing>",
    "<plaintext>",
    "&amp;",
    "&amp",
    "&notit;",
    "&notin;",
    "&#",
    "&#x",
    "&#65;",
    "&#x20;",
    "&#10",
    "&#128;",
    "&#xD800;",
    "&CounterClockwise",
    "ContourIntegral;",
    "lt",
    "&lt=",
    "&ltx",
    "é",
    "\u{FEFF}",
    "\0",
    "<html lang=",
    "<html xml:lang='x' ",
    "<meta name=description content=",
    "<meta content='a &lt b' name=keywords>",
    "<meta property=og:description content=\"o\">",
    "<script/>",
    "<style/>",
    "<title/>",
    "<blockquote>",
    "<figcaptions>",
    "<noframes>",
    "</noframes>",
    "description",
    "\u{c}",
    "  ",
    "<noscript>",
    "x\u{a0}y",
];

/// A page made of hostile pieces. `<plaintext>` is rare, because nothing counts after it.
fn hostile_page(rng: &mut Rng) -> Vec<u8> {
    let mut page = Vec::new();
    for _ in 0..rng.usize(..40) {
        let fragment = FRAGMENTS[rng.usize(..FRAGMENTS.len())];
        if fragment != "<plaintext>" || rng.u8(..8) == 0 {
            page.extend_from_slice(fragment.as_bytes());
        }
        if rng.u8(..50) == 0 {
            page.push(rng.u8(..));
        }
    }
    page
}

fn shown(page: &HtmlPage) -> [String; 5] {
    [&page.title, &page.text, &page.description, &page.keywords, &page.language]
        .map(|value| String::from_utf8_lossy(value).into_owned())
}

#[test]
fn hostile_pages_are_read_as_by_the_states_of_the_standard() {
    let mut rng = Rng::with_seed(seed());
    let oracle = Oracle::new();
    let mut page = HtmlPage::default();
    for _ in 0..rounds(400_000) {
        let html = hostile_page(&mut rng);
        page.read(&html);
        let wanted = oracle.read(&html);
        assert_eq!(shown(&page), shown(&wanted), "{:?}", String::from_utf8_lossy(&html));
        assert_eq!(page, wanted);
    }
}

const SAMPLE: &str = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=utf-8><title>A &amp; B</title>\
    <meta name=\"description\" content='x \"y\"'><style>p > b { c: d }</style></head>\n<body class=x>\
    <!-- c --><h1>T&eacute;xt</h1><p>a <b>b</b> &lt;c&gt; <a href=\"/x?a=b&c=d\">l</a><br/>\
    <script>if (a < b) { '<!--' + '<script>' }</script><pre>\n  x\n</pre><table><tr><td>1<td>2</table>\
    <svg><title>s</title><![CDATA[c]]></svg><textarea>\nq</textarea><ul><li>i<li>j</ul></body></html>\n";

#[test]
fn mutated_pages_are_read_without_panic() {
    let mut rng = Rng::with_seed(seed());
    let mut page = HtmlPage::default();
    for _ in 0..rounds(100_000) {
        let mut html = SAMPLE.as_bytes().to_vec();
        for _ in 0..rng.usize(1..12) {
            mutate(&mut html, &mut rng);
        }
        page.read(&html);
        assert!(page.text.len() <= 2 * html.len());
        let _ = super::declared_charset(&html);
        let _ = super::looks_like_html(&html);
    }
}

fn mutate(html: &mut Vec<u8>, rng: &mut Rng) {
    let at = rng.usize(..=html.len());
    let end = (at + rng.usize(..20)).min(html.len());
    match rng.u8(..4) {
        0 => drop(html.drain(at..end)),
        1 => html.insert(at, rng.u8(..)),
        2 => drop(html.splice(at..at, FRAGMENTS[rng.usize(..FRAGMENTS.len())].bytes())),
        _ => {
            let piece = html[at..end].to_vec();
            let to = rng.usize(..=html.len());
            drop(html.splice(to..to, piece));
        }
    }
}

fn time_of(html: &[u8]) -> Duration {
    let mut page = HtmlPage::default();
    let once = |page: &mut HtmlPage| {
        let start = Instant::now();
        page.read(html);
        let _ = super::declared_charset(html);
        let _ = super::looks_like_html(html);
        start.elapsed()
    };
    (0..3).map(|_| once(&mut page)).min().unwrap_or_default()
}

/// Eight times the input may not take much more than eight times as long: a quadratic reader needs 64
/// times as long.
#[test]
fn the_time_is_linear_in_hostile_input() {
    let heads =
        ["", "<svg>", "<title>", "<textarea>", "<script>", "<script><!--", "<script><!--<script>", "<style>"];
    let unit = 128 << 10;
    for head in heads {
        for fragment in
            FRAGMENTS.iter().chain(&["<a \"", "</title", "<!--x>", "<![CDATA[>", "--", "&a", "&#1"])
        {
            let page = |length: usize| [head, &fragment.repeat(length / fragment.len())].concat();
            let times = || (time_of(page(unit).as_bytes()), time_of(page(8 * unit).as_bytes()));
            // Other programs may take the processor in the meantime.
            let is_linear = |(small, large): (Duration, Duration)| {
                println!("{head}{fragment}: {small:?}, then {large:?}");
                large < small.max(Duration::from_micros(200)) * 30
            };
            assert!((0..4).any(|_| is_linear(times())), "{head}{fragment}");
        }
    }
}

/// A document of a subset on which a tree and no tree agree.
fn sane_page(rng: &mut Rng) -> String {
    let mut page = format!("<!DOCTYPE html><html lang=en><head><title>{}</title>", sane_text(rng));
    page.push_str("<meta name=keywords content=x><style>p > b {}</style></head><body>");
    for _ in 0..rng.usize(1..12) {
        sane_block(rng, &mut page, 0);
    }
    page + "</body></html>"
}

fn sane_text(rng: &mut Rng) -> String {
    let pieces = [
        "word",
        " ",
        "\n",
        "&amp;",
        "&lt;",
        "&copy",
        "&notit;",
        "&notin;",
        "&#x80;",
        "&#65",
        " < ",
        "é",
        "a<1",
        "&",
        "&;",
        "&#xg",
        "\"",
        "'",
        ">",
        "&nosuch;",
        "&CounterClockwiseContourIntegral;",
        "&#1234567890;",
        "=",
    ];
    (0..rng.usize(1..8)).map(|_| pieces[rng.usize(..pieces.len())]).collect()
}

fn sane_block(rng: &mut Rng, page: &mut String, depth: usize) {
    let text = sane_text(rng);
    match rng.u8(..if depth < 3 { 9 } else { 6 }) {
        0 => page.push_str(&format!("<p>{text}<b title='a>b'>{}</b></p>", sane_text(rng))),
        1 => page.push_str(&format!("<!-- {} -- x --!x --><p class=a/b id=\"<p>\">{text}</p>", "<b>")),
        2 => page.push_str(&format!("<script>a<b '</b>' <!-- <script> </script> --></script>{text}")),
        3 => page.push_str(&format!("<pre>\n {text}</pre><textarea>{}</textarea>", sane_text(rng))),
        4 => page.push_str(&format!("<table><tr><td>{text}</td><td>{}</td></tr></table>", sane_text(rng))),
        5 => page.push_str(&format!("<svg><text>{text}<![CDATA[<i>&amp;]]></text></svg><?x?></ x>")),
        _ => {
            page.push_str(&format!("<div title=\"{}\" x='<p>'>", text.replace('"', "")));
            sane_block(rng, page, depth + 1);
            sane_block(rng, page, depth + 1);
            page.push_str("</div>");
        }
    }
}

const HTML5LIB: &str = r#"
import sys, html5lib
for page in sys.stdin.buffer.read().split(b"\0")[:-1]:
    tree = html5lib.parse(page.decode(), treebuilder="etree", namespaceHTMLElements=False)
    parts, title = [], []
    def walk(node):
        if not isinstance(node.tag, str): 
            pass
        elif node.tag == "title":
            title.append("".join(node.itertext()))
        elif node.tag not in ("script", "style"):
            parts.append(node.text or "")
            for child in node:
                walk(child)
        parts.append(node.tail or "")
    walk(tree)
    print(*["".join("".join(part).split()).encode().hex() or "-" for part in (title, parts)])
"#;

#[test]
fn sane_pages_have_the_text_that_html5lib_finds() {
    let available = Command::new(python()).args(["-c", "import html5lib"]).output();
    if !available.is_ok_and(|output| output.status.success()) {
        println!("SKIPPED: there is no python3 with html5lib");
        return;
    }
    let mut rng = Rng::with_seed(seed());
    let pages: Vec<String> = (0..rounds(6_000)).map(|_| sane_page(&mut rng)).collect();
    let mut python = Command::new(python())
        .args(["-c", HTML5LIB])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = python.stdin.take().unwrap();
    let input = pages.join("\0") + "\0";
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()).unwrap());
    let output = String::from_utf8(python.wait_with_output().unwrap().stdout).unwrap();
    writer.join().unwrap();
    assert_eq!(output.lines().count(), pages.len());
    for (html, line) in pages.iter().zip(output.lines()) {
        let page = read(html);
        let (title, text) = line.split_once(' ').unwrap();
        assert_eq!(dense_hex(&page.title), title, "{html}");
        assert_eq!(dense_hex(&page.text), text, "{html}");
    }
}

/// The text without white space, as Python splits it, in hexadecimal.
fn dense_hex(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let dense: String = text.split_whitespace().collect();
    let hex: String = dense.bytes().map(|byte| format!("{byte:02x}")).collect();
    if hex.is_empty() { "-".into() } else { hex }
}
