//! Rich Text Format (RTF specification 1.9.1).
//!
//! Groups in braces nest; a group may be a destination whose text is not of the document, such as the table
//! of fonts. Text is bytes in the encoding of the current font, or `\uN` followed by bytes for readers
//! without Unicode, which `\ucN` counts. The reader keeps a stack of groups and takes each byte once.

mod tokens;

use std::collections::HashMap;
use std::io::{BufReader, Read, Seek, SeekFrom};

use encoding_rs::{Encoding, WINDOWS_1252};

use self::tokens::{Token, Tokens};
use super::charset;
use super::flow::{Break, Flow};
use crate::error::ExtractError;
use crate::output::Output;

/// The name of the format in errors.
const NAME: &str = "RTF";
/// Groups deeper than this share one state.
const MOST_DEPTH: usize = 4_096;
/// The most fonts whose encoding is kept.
const MOST_FONTS: usize = 10_000;
/// The most bytes of a field that are collected.
const MOST_FIELD: usize = 4_096;

/// Where the text of a group goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Text,
    Nothing,
    Fonts,
    Info,
    Field(&'static str),
    Time(&'static str),
}

/// What a group inherits from the group around it.
#[derive(Debug, Clone, Copy)]
struct Group {
    target: Target,
    /// How many characters follow a `\u` for readers without Unicode.
    fallback: usize,
    font: i32,
    is_deleted: bool,
    /// Whether this is a footnote or a comment, which stands inside the text to which it belongs.
    is_note: bool,
}

/// Takes the text and the fields of an RTF file.
pub fn extract(source: &mut (impl Read + Seek), out: &mut Output) -> Result<(), ExtractError> {
    source.seek(SeekFrom::Start(0))?;
    let mut tokens = Tokens::new(BufReader::new(source));
    let mut reader = RtfReader::new(Flow::new(out));
    while !reader.flow.is_full() {
        match tokens.next()? {
            Token::Open => reader.open(),
            Token::Close => {
                if reader.close() {
                    return Ok(());
                }
            }
            Token::Byte(byte) => reader.byte(byte),
            Token::Symbol(symbol) => reader.symbol(symbol),
            Token::Word(number) if tokens.name() == b"bin" => {
                tokens.skip(u64::try_from(number.unwrap_or(0)).unwrap_or(0))?;
            }
            Token::Word(number) => reader.word(tokens.name(), number),
            Token::End => {
                reader.flush();
                return Err(ExtractError::damaged(NAME, "the file ends inside a group"));
            }
        }
    }
    Ok(())
}

/// The state between two tokens.
struct RtfReader<'o> {
    flow: Flow<'o>,
    groups: Vec<Group>,
    group: Group,
    /// Open groups over [`MOST_DEPTH`].
    deeper: usize,
    /// Whether the group has only begun: here, `\*` has its meaning.
    is_start: bool,
    /// Whether `\*` was just read: an unknown destination that follows is passed over.
    is_optional: bool,
    encodings: HashMap<i32, &'static Encoding>,
    encoding: &'static Encoding,
    default_font: i32,
    /// Bytes of text that are not decoded yet.
    pending: Vec<u8>,
    /// The first half of a character outside the basic plane.
    high: Option<u16>,
    /// How many characters after a `\u` are still to be passed over.
    skipped: usize,
    field: String,
    time: [i32; 3],
}

impl<'o> RtfReader<'o> {
    fn new(flow: Flow<'o>) -> Self {
        Self {
            flow,
            groups: Vec::new(),
            group: Group { target: Target::Text, fallback: 1, font: -1, is_deleted: false, is_note: false },
            deeper: 0,
            is_start: false,
            is_optional: false,
            encodings: HashMap::new(),
            encoding: WINDOWS_1252,
            default_font: -1,
            pending: Vec::new(),
            high: None,
            skipped: 0,
            field: String::new(),
            time: [0; 3],
        }
    }

    fn open(&mut self) {
        self.flush();
        self.skipped = 0;
        self.is_start = true;
        self.is_optional = false;
        if self.groups.len() < MOST_DEPTH {
            self.groups.push(self.group);
        } else {
            self.deeper += 1;
        }
    }

    /// Ends a group, and says whether it was the outermost.
    fn close(&mut self) -> bool {
        self.flush();
        self.skipped = 0;
        self.is_optional = false;
        if self.deeper > 0 {
            self.deeper -= 1;
            return false;
        }
        let inner = self.group;
        let Some(outer) = self.groups.pop() else { return true };
        if inner.is_note && !outer.is_note {
            self.part(Break::Line);
        }
        self.group = outer;
        if inner.target != outer.target {
            self.end_of_field(inner.target);
        }
        self.groups.is_empty()
    }

    /// Takes a field whose group ends.
    fn end_of_field(&mut self, target: Target) {
        match target {
            Target::Field(name) => self.flow.field(name, &self.field),
            Target::Time(name) => {
                let [year, month, day] = self.time;
                if year > 0 {
                    self.flow.field(name, &format!("{year:04}-{month:02}-{day:02}"));
                }
            }
            _ => {}
        }
        self.field.clear();
        self.time = [0; 3];
    }

    fn byte(&mut self, byte: u8) {
        self.is_start = false;
        if self.skipped > 0 {
            self.skipped -= 1;
        } else if matches!(self.group.target, Target::Text | Target::Field(_)) && !self.group.is_deleted {
            self.pending.push(byte);
            if self.pending.len() >= 1 << 16 && byte.is_ascii_whitespace() {
                self.flush();
            }
        }
    }

    /// Decodes the bytes that wait, and forgets half a character.
    fn flush(&mut self) {
        if !self.pending.is_empty() {
            self.high = None;
            let font = self.encodings.get(&self.group.font).copied();
            let pending = std::mem::take(&mut self.pending);
            let (text, _) = font.unwrap_or(self.encoding).decode_without_bom_handling(&pending);
            self.text(&text);
            self.pending = pending;
            self.pending.clear();
        }
    }

    /// Takes decoded text.
    fn text(&mut self, text: &str) {
        if self.group.is_deleted {
            return;
        }
        match self.group.target {
            Target::Text => self.flow.words(text),
            Target::Field(_) if self.field.len() < MOST_FIELD => self.field.push_str(text),
            _ => {}
        }
    }

    fn symbol(&mut self, symbol: u8) {
        self.flush();
        if self.skipped > 0 {
            self.skipped -= 1;
            return;
        }
        match symbol {
            b'*' => self.is_optional = self.is_start,
            b'~' => self.text("\u{a0}"),
            b'_' => self.text("-"),
            b'\r' | b'\n' => self.part(Break::Line),
            b'\t' => self.part(Break::Tab),
            _ => {}
        }
    }

    /// Parts the text of the document.
    fn part(&mut self, with: Break) {
        match self.group.target {
            Target::Text => self.flow.part(with),
            Target::Field(_) => self.field.push(' '),
            _ => {}
        }
    }

    fn word(&mut self, name: &[u8], number: Option<i32>) {
        self.flush();
        if self.skipped > 0 {
            self.skipped -= 1;
            return;
        }
        let is_optional = std::mem::take(&mut self.is_optional);
        self.is_start = false;
        self.group.is_note |= matches!(name, b"annotation" | b"footnote");
        if name == b"u" {
            self.unicode(number.unwrap_or(0));
        } else if let Some(target) = self.target_of(name) {
            self.group.target = target;
        } else if is_optional && !matches!(name, b"shpinst" | b"do" | b"annotation" | b"footnote") {
            self.group.target = Target::Nothing;
        } else if !self.mark(name) {
            self.setting(name, number);
        }
    }

    /// The destination that a control word begins. Inside text that is passed over there is none. Numbers of
    /// lists and a second form of nested tables are passed over.
    fn target_of(&self, name: &[u8]) -> Option<Target> {
        match (self.group.target, name) {
            (Target::Nothing, _) => None,
            (Target::Info, b"title") => Some(Target::Field("title")),
            (Target::Info, b"author") => Some(Target::Field("author")),
            (Target::Info, b"subject") => Some(Target::Field("subject")),
            (Target::Info, b"keywords") => Some(Target::Field("keywords")),
            (Target::Info, b"creatim") => Some(Target::Time("created")),
            (Target::Info, b"revtim") => Some(Target::Time("modified")),
            (_, b"info") => Some(Target::Info),
            (_, b"fonttbl") => Some(Target::Fonts),
            (
                _,
                b"colortbl" | b"stylesheet" | b"pict" | b"fldinst" | b"objdata" | b"xe" | b"tc"
                | b"nonshppict" | b"sp" | b"filetbl" | b"listtable" | b"listoverridetable" | b"revtbl"
                | b"listtext" | b"pntext" | b"nonesttables",
            ) => Some(Target::Nothing),
            _ => None,
        }
    }

    /// Writes what a control word without a lasting effect stands for, and says whether it is one.
    fn mark(&mut self, name: &[u8]) -> bool {
        match name {
            b"par" | b"line" | b"row" | b"nestrow" | b"sect" | b"page" | b"column" | b"footnote"
            | b"annotation" | b"header" | b"headerl" | b"headerr" | b"headerf" | b"footer" | b"footerl"
            | b"footerr" | b"footerf" | b"shptxt" => self.part(Break::Line),
            b"cell" | b"nestcell" | b"tab" => self.part(Break::Tab),
            b"emspace" | b"enspace" | b"qmspace" => self.part(Break::Space),
            b"emdash" => self.text("\u{2014}"),
            b"endash" => self.text("\u{2013}"),
            b"lquote" => self.text("\u{2018}"),
            b"rquote" => self.text("\u{2019}"),
            b"ldblquote" => self.text("\u{201c}"),
            b"rdblquote" => self.text("\u{201d}"),
            b"bullet" => self.text("\u{2022}"),
            _ => return false,
        }
        true
    }

    /// Takes a control word that changes how text is read.
    fn setting(&mut self, name: &[u8], number: Option<i32>) {
        let value = number.unwrap_or(0);
        match name {
            b"f" => self.group.font = value,
            b"deff" => {
                self.default_font = value;
                self.group.font = value;
            }
            b"plain" => {
                self.group.font = self.default_font;
                self.group.is_deleted = false;
            }
            b"deleted" => self.group.is_deleted = number != Some(0),
            b"uc" => self.group.fallback = usize::try_from(value).unwrap_or(0),
            b"ansicpg" => self.encoding = charset::of_code_page(value),
            b"mac" => self.encoding = encoding_rs::MACINTOSH,
            b"fcharset" if self.group.target == Target::Fonts && self.encodings.len() < MOST_FONTS => {
                if let Some(encoding) = charset::of_font(value) {
                    self.encodings.insert(self.group.font, encoding);
                }
            }
            b"yr" => self.time[0] = value,
            b"mo" => self.time[1] = value,
            b"dy" => self.time[2] = value,
            _ => {}
        }
    }

    /// Takes a UTF-16 unit, which is written as a signed number.
    fn unicode(&mut self, number: i32) {
        self.skipped = self.group.fallback;
        let unit = u16::try_from(number.rem_euclid(65_536)).unwrap_or(0);
        let high = self.high.take();
        match char::decode_utf16([unit]).next() {
            Some(Ok(letter)) => self.text(letter.encode_utf8(&mut [0; 4])),
            _ if (0xd800..0xdc00).contains(&unit) => self.high = Some(unit),
            _ => {
                if let Some(Ok(letter)) = high.and_then(|high| char::decode_utf16([high, unit]).next()) {
                    self.text(letter.encode_utf8(&mut [0; 4]));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
