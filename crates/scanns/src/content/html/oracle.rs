//! A slow reader of pages for the tests: one state for each state of the tokenizer of the HTML standard,
//! one byte at a time, and lists instead of tables.

mod states;

use std::collections::HashMap;

use super::HtmlPage;

const BLOCKS: &str = " address article aside blockquote body br button caption center dd details dialog dir \
    div dl dt fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 head header hgroup hr legend \
    li main menu nav noscript ol optgroup option p pre listing search section select summary table tbody \
    template tfoot thead tr ul html meta title textarea script style iframe noembed noframes xmp plaintext ";

/// The states of the tokenizer; those of character references are a function.
#[derive(Clone, Copy, PartialEq, Debug)]
enum S {
    Data,
    Rcdata,
    Rawtext,
    Plaintext,
    TagOpen,
    EndTagOpen,
    TagName,
    RawLess,
    RawEndOpen,
    RawEndName,
    Script,
    ScriptLess,
    ScriptEscapeStart,
    ScriptEscapeStartDash,
    Escaped,
    EscapedDash,
    EscapedDashDash,
    EscapedLess,
    DoubleEscapeStart,
    DoubleEscaped,
    DoubleEscapedDash,
    DoubleEscapedDashDash,
    DoubleEscapedLess,
    DoubleEscapeEnd,
    BeforeAttributeName,
    AttributeName,
    AfterAttributeName,
    BeforeValue,
    QuotedValue(u8),
    UnquotedValue,
    AfterQuotedValue,
    SelfClosing,
    BogusComment,
    MarkupDeclaration,
    CommentStart,
    CommentStartDash,
    Comment,
    CommentEndDash,
    CommentEnd,
    CommentEndBang,
    Cdata,
}

/// A piece of the text before breaks are written.
enum OraclePiece {
    /// A byte; blanks that are soft are left out at the start of a line.
    Byte(u8, bool),
    Break(u8),
}

pub(super) struct Oracle {
    names: HashMap<Vec<u8>, String>,
}

struct OracleRun<'a> {
    oracle: &'a Oracle,
    html: &'a [u8],
    at: usize,
    state: S,
    /// The state to return to when what looked like an end tag was none.
    raw: S,
    raw_name: Vec<u8>,
    name: Vec<u8>,
    is_end: bool,
    self_closing: bool,
    attributes: Vec<(Vec<u8>, Vec<u8>)>,
    word: Vec<u8>,
    pieces: Vec<OraclePiece>,
    title: Vec<u8>,
    in_title: bool,
    foreign: usize,
    pre: bool,
    skip_feed: bool,
    page: HtmlPage,
    og: Vec<u8>,
}

fn blank(byte: u8) -> bool {
    b" \t\n\r\x0c".contains(&byte)
}

impl Oracle {
    pub(super) fn new() -> Oracle {
        let mut names = HashMap::new();
        for line in include_str!("entities.txt").lines().skip(1) {
            let (name, codes) = line.split_once(' ').unwrap();
            let value = codes.split(' ').map(|code| u32::from_str_radix(code, 16).unwrap());
            let value: String = value.map(|code| char::from_u32(code).unwrap()).collect();
            if let Some(name) = name.strip_suffix('?') {
                names.insert(name.into(), value.clone());
            }
            names.insert(format!("{};", name.trim_end_matches('?')).into(), value);
        }
        Oracle { names }
    }

    pub(super) fn read(&self, html: &[u8]) -> HtmlPage {
        let mut run = OracleRun {
            oracle: self,
            html,
            at: 0,
            state: S::Data,
            raw: S::Data,
            raw_name: Vec::new(),
            name: Vec::new(),
            is_end: false,
            self_closing: false,
            attributes: Vec::new(),
            word: Vec::new(),
            pieces: Vec::new(),
            title: Vec::new(),
            in_title: false,
            foreign: 0,
            pre: false,
            skip_feed: false,
            page: HtmlPage::default(),
            og: Vec::new(),
        };
        run.run();
        run.page
    }

    /// The length and the characters of the reference at the start of `bytes`.
    fn reference(&self, bytes: &[u8], in_attribute: bool) -> Option<(usize, String)> {
        if bytes.get(1) == Some(&b'#') {
            return number(bytes);
        }
        let best = (2..=bytes.len().min(33)).rev().find(|&end| self.names.contains_key(&bytes[1..end]))?;
        let next = bytes.get(best).copied().unwrap_or(0);
        if in_attribute && bytes[best - 1] != b';' && (next == b'=' || next.is_ascii_alphanumeric()) {
            return None;
        }
        Some((best, self.names[&bytes[1..best]].clone()))
    }

    fn decode(&self, bytes: &[u8], in_attribute: bool) -> Vec<u8> {
        let mut out = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            match self.reference(&bytes[at..], in_attribute) {
                Some((length, text)) if bytes[at] == b'&' => {
                    out.extend(text.bytes());
                    at += length;
                }
                _ => {
                    out.push(bytes[at]);
                    at += 1;
                }
            }
        }
        out.split(|&byte| blank(byte)).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(&b' ')
    }
}

fn number(bytes: &[u8]) -> Option<(usize, String)> {
    let hex = matches!(bytes.get(2), Some(b'x' | b'X'));
    let start = if hex { 3 } else { 2 };
    let is_digit = |&&byte: &&u8| if hex { byte.is_ascii_hexdigit() } else { byte.is_ascii_digit() };
    let digits = bytes.get(start..)?.iter().take_while(is_digit).count();
    if digits == 0 {
        return None;
    }
    let text = std::str::from_utf8(&bytes[start..start + digits]).unwrap();
    let code = u32::from_str_radix(text.trim_start_matches('0'), if hex { 16 } else { 10 });
    let code = if text.trim_start_matches('0').is_empty() { 0xFFFD } else { code.unwrap_or(0xFFFD) };
    let windows = concat!("€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}Ž\u{8F}", "\u{90}‘’“”•–—˜™š›œ\u{9D}žŸ");
    let character = match code {
        0x80..=0x9F => windows.chars().nth(code as usize - 0x80).unwrap(),
        _ => char::from_u32(code).unwrap_or('\u{FFFD}'),
    };
    let end = start + digits;
    Some((end + usize::from(bytes.get(end) == Some(&b';')), character.to_string()))
}

impl OracleRun<'_> {
    fn run(&mut self) {
        while self.at < self.html.len() {
            let byte = self.html[self.at];
            if byte == b'&' && matches!(self.state, S::Data | S::Rcdata) {
                let found = self.oracle.reference(&self.html[self.at..], false);
                let (length, text) = found.unwrap_or((1, "&".into()));
                self.skip_feed = false;
                text.bytes().for_each(|byte| self.emit(byte, false));
                self.at += length;
            } else if self.step(byte) {
                self.at += 1;
            }
        }
        match self.state {
            S::TagOpen => self.emit(b'<', true),
            S::EndTagOpen => "</".bytes().for_each(|byte| self.emit(byte, true)),
            S::RawLess | S::RawEndOpen | S::RawEndName => {
                let text =
                    [if self.state == S::RawLess { "<" } else { "</" }.as_bytes(), &self.name].concat();
                text.iter().for_each(|&byte| self.emit(byte, true));
            }
            _ => {}
        }
        self.end_title();
        self.render();
        if self.page.description.is_empty() {
            self.page.description = std::mem::take(&mut self.og);
        }
    }

    fn emit(&mut self, byte: u8, soft: bool) {
        if self.in_title {
            self.title.push(byte);
        } else if self.raw_name.is_empty()
            || matches!(&self.raw_name[..], b"textarea" | b"xmp" | b"plaintext")
        {
            self.pieces.push(OraclePiece::Byte(byte, soft && self.raw_name.is_empty() && !self.pre));
        }
    }

    /// Emits a byte that the page has, or leaves it out if it is the line feed after `<pre>`.
    fn emit_raw(&mut self, byte: u8) {
        if std::mem::take(&mut self.skip_feed) && (byte == b'\n' || byte == b'\r') {
            self.skip_feed = byte == b'\r' && self.html.get(self.at + 1) == Some(&b'\n');
            return;
        }
        self.emit(byte, true);
    }

    fn attribute(&self, name: &str) -> Option<Vec<u8>> {
        self.attributes.iter().find(|pair| pair.0 == name.as_bytes()).map(|pair| pair.1.clone())
    }

    /// What a tree builder does with a tag, as far as the text of a page depends on it.
    fn finish_tag(&mut self) -> bool {
        self.state = S::Data;
        self.end_title();
        self.raw_name.clear();
        let name = std::str::from_utf8(&self.name).unwrap_or("?").to_string();
        if matches!(&name[..], "td" | "th") {
            self.pieces.push(OraclePiece::Break(1));
        } else if !name.is_empty() && BLOCKS.contains(&format!(" {name} ")) {
            self.pieces.push(OraclePiece::Break(2));
        }
        match &name[..] {
            "svg" | "math" if self.is_end => self.foreign = self.foreign.saturating_sub(1),
            "svg" | "math" => self.foreign += usize::from(!self.self_closing),
            "pre" | "listing" if self.is_end => self.pre = false,
            _ if self.is_end => {}
            "meta" => self.meta(),
            "html" => {
                for value in [self.attribute("lang"), self.attribute("xml:lang")].into_iter().flatten() {
                    if self.page.language.is_empty() {
                        self.page.language = self.oracle.decode(&value, true);
                    }
                }
            }
            _ if self.foreign > 0 && self.self_closing => {}
            "pre" | "listing" => (self.pre, self.skip_feed) = (true, true),
            "title" if self.foreign > 0 => {}
            "title" | "textarea" => self.enter(&name, S::Rcdata),
            "style" | "iframe" | "noembed" | "noframes" | "xmp" => self.enter(&name, S::Rawtext),
            "script" => self.enter(&name, S::Script),
            "plaintext" => self.enter(&name, S::Plaintext),
            _ => {}
        }
        true
    }

    fn enter(&mut self, name: &str, state: S) {
        self.state = state;
        self.raw = state;
        self.raw_name = name.into();
        self.in_title = name == "title";
        self.skip_feed = name == "textarea";
    }

    fn end_title(&mut self) {
        let title = std::mem::take(&mut self.title);
        if std::mem::take(&mut self.in_title) && self.page.title.is_empty() {
            let words = title.split(|&byte| blank(byte)).filter(|word| !word.is_empty());
            self.page.title = words.collect::<Vec<_>>().join(&b' ');
        }
    }

    fn meta(&mut self) {
        let content = self.oracle.decode(&self.attribute("content").unwrap_or_default(), true);
        for name in [self.attribute("name"), self.attribute("property")].into_iter().flatten() {
            let value = match &name.trim_ascii().to_ascii_lowercase()[..] {
                b"description" => &mut self.page.description,
                b"keywords" => &mut self.page.keywords,
                b"og:description" => &mut self.og,
                _ => continue,
            };
            if value.is_empty() {
                value.clone_from(&content);
            }
        }
    }

    fn render(&mut self) {
        let trim = |text: &mut Vec<u8>| {
            while text.last().is_some_and(|&byte| blank(byte)) {
                text.pop();
            }
        };
        let mut text = Vec::new();
        let mut pending = 2;
        for piece in &self.pieces {
            match *piece {
                OraclePiece::Break(kind) => pending = pending.max(kind),
                OraclePiece::Byte(byte, soft) if pending > 0 && soft && blank(byte) => {}
                OraclePiece::Byte(byte, _) => {
                    if pending > 0 {
                        trim(&mut text);
                        if !text.is_empty() {
                            text.push(if pending == 1 { b'\t' } else { b'\n' });
                        }
                        pending = 0;
                    }
                    text.push(byte);
                }
            }
        }
        trim(&mut text);
        self.page.text = text;
    }
}
