//! The formats of `-printf`: text, escapes and directives.
//!
//! Grammar: `\` and one of `a b f n r t v \\`, up to three octal digits, or `c`, which ends the format; `%`,
//! flags of `-+ #`, a width, a precision and a letter. `%A`, `%B`, `%C` and `%T` take one more letter, as
//! strftime(3). Directives and escapes that do not exist are printed as they stand, with a warning.

use super::age::TimeColumn;
use super::error::{FindError, text};

/// The greatest width and precision.
const WIDEST: usize = 1 << 16;

/// A format that was read.
#[derive(Clone, Debug)]
pub(super) struct Format {
    pub(super) pieces: Vec<FormatPiece>,
}

/// A piece of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FormatPiece {
    /// Text as it is.
    Text(Vec<u8>),
    /// A value of the entry.
    Directive(Directive),
}

/// A value and how it is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Directive {
    pub(super) field: PrintField,
    pub(super) layout: PrintLayout,
}

/// The flags, the width and the precision of printf(3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrintLayout {
    /// Fills up at the right (`-`).
    pub left: bool,
    /// Shows the sign of positive numbers (`+`).
    pub plus: bool,
    /// Shows a space instead of it.
    pub space: bool,
    /// The alternate form (`#`).
    pub alternate: bool,
    /// Fills up numbers with zeros.
    pub zero: bool,
    /// The least width.
    pub width: usize,
    /// The precision.
    pub precision: Option<usize>,
}

/// What a directive prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PrintField {
    /// `%a`, `%c`, `%t`
    Time(TimeColumn),
    /// `%Ak`, `%Bk`, `%Ck`, `%Tk`
    TimePart(TimeColumn, u8),
    /// `%b`
    Blocks,
    /// `%k`
    KiloBlocks,
    /// `%d`
    Depth,
    /// `%D`
    Device,
    /// `%f`
    BaseName,
    /// `%g`
    Group,
    /// `%G`
    GroupId,
    /// `%h`
    Directory,
    /// `%H`
    StartPoint,
    /// `%i`
    Inode,
    /// `%l`
    LinkTarget,
    /// `%m`
    Mode,
    /// `%M`
    ModeText,
    /// `%n`
    Links,
    /// `%p`
    Path,
    /// `%P`
    Relative,
    /// `%s`
    Size,
    /// `%S`
    Sparseness,
    /// `%u`
    User,
    /// `%U`
    UserId,
    /// `%y`
    Kind,
    /// `%Y`
    TargetKind,
}

impl Format {
    /// Reads a format; with what find would warn about.
    pub(super) fn parse(format: &[u8]) -> Result<(Format, Vec<String>), FindError> {
        let mut reader =
            FormatReader { rest: format, text: Vec::new(), pieces: Vec::new(), warnings: Vec::new() };
        while let Some((&byte, rest)) = reader.rest.split_first() {
            match byte {
                b'\\' if rest.first() == Some(&b'c') => break,
                b'\\' => reader.escape(rest),
                b'%' => reader.directive(rest)?,
                byte => {
                    reader.text.push(byte);
                    reader.rest = rest;
                }
            }
        }
        reader.end_text();
        Ok((Format { pieces: reader.pieces }, reader.warnings))
    }
}

struct FormatReader<'a> {
    rest: &'a [u8],
    text: Vec<u8>,
    pieces: Vec<FormatPiece>,
    warnings: Vec<String>,
}

impl<'a> FormatReader<'a> {
    fn end_text(&mut self) {
        if !self.text.is_empty() {
            self.pieces.push(FormatPiece::Text(std::mem::take(&mut self.text)));
        }
    }

    /// An escape; `rest` is what follows the backslash.
    fn escape(&mut self, rest: &'a [u8]) {
        let byte = match rest.first() {
            None => {
                self.warnings.push("the format ends with a backslash: write '\\\\' for one".to_owned());
                self.text.push(b'\\');
                self.rest = rest;
                return;
            }
            Some(b'0'..=b'7') => return self.octal(rest),
            Some(b'a') => 7,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'v') => 11,
            Some(b'\\') => b'\\',
            Some(&other) => {
                self.warnings
                    .push(format!("there is no escape '\\{}': write '\\\\' for a backslash", text(&[other])));
                self.text.push(b'\\');
                other
            }
        };
        self.text.push(byte);
        self.rest = rest.get(1..).unwrap_or_default();
    }

    fn octal(&mut self, rest: &'a [u8]) {
        let length = rest.iter().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
        let (digits, rest) = rest.split_at(length);
        self.text
            .push(digits.iter().fold(0, |value: u8, digit| value.wrapping_mul(8).wrapping_add(digit - b'0')));
        self.rest = rest;
    }

    /// A directive; `rest` is what follows the percent sign.
    fn directive(&mut self, rest: &'a [u8]) -> Result<(), FindError> {
        let (layout, length) = layout(rest)?;
        let (flags, rest) = rest.split_at(length);
        let Some((&letter, after)) = rest.split_first() else {
            return Err(FindError::new("the format ends within a directive: write '%%' for a percent sign"));
        };
        if letter == b'%' {
            self.text.extend(std::iter::once(&b'%').chain(flags));
            self.rest = after;
            return Ok(());
        }
        let (field, after) = match (clock(letter), after.split_first()) {
            (Some(clock), Some((&part, after))) => (Some(PrintField::TimePart(clock, part)), after),
            (Some(_), None) => (None, after),
            (None, _) => (field(letter)?, after),
        };
        match field {
            Some(field) => {
                self.end_text();
                self.pieces.push(FormatPiece::Directive(Directive { field, layout }));
            }
            None => {
                self.warnings.push(format!(
                    "there is no directive '%{}': write '%%' for a percent sign",
                    text(&[letter])
                ));
                self.text.extend(std::iter::once(&b'%').chain(flags).chain([&letter]));
            }
        }
        self.rest = after;
        Ok(())
    }
}

/// Flags, width and precision at the start, and their length.
fn layout(directive: &[u8]) -> Result<(PrintLayout, usize), FindError> {
    let mut layout = PrintLayout::default();
    let mut at = 0;
    let count = |at: usize, wanted: fn(&u8) -> bool| {
        directive.get(at..).unwrap_or_default().iter().take_while(|byte| wanted(byte)).count()
    };
    let flags = count(0, |byte| b"-+ #".contains(byte));
    let seen = |flag: u8| directive.get(..flags).unwrap_or_default().contains(&flag);
    (layout.left, layout.plus, layout.space, layout.alternate) =
        (seen(b'-'), seen(b'+'), seen(b' '), seen(b'#'));
    at += flags;
    layout.zero = directive.get(at) == Some(&b'0');
    let digits = count(at, u8::is_ascii_digit);
    layout.width = number(directive.get(at..at + digits))?;
    at += digits;
    if directive.get(at) == Some(&b'.') {
        let digits = count(at + 1, u8::is_ascii_digit);
        layout.precision = Some(number(directive.get(at + 1..at + 1 + digits))?);
        at += 1 + digits;
    }
    Ok((layout, at))
}

fn number(digits: Option<&[u8]>) -> Result<usize, FindError> {
    let value = digits.unwrap_or_default().iter().try_fold(0usize, |value, digit| {
        value.checked_mul(10)?.checked_add(usize::from(digit - b'0')).filter(|value| *value <= WIDEST)
    });
    value.ok_or_else(|| {
        FindError::new(format!("a width of the format is greater than {WIDEST}: write a smaller one"))
    })
}

/// The time of the directives with two letters.
fn clock(letter: u8) -> Option<TimeColumn> {
    match letter {
        b'A' => Some(TimeColumn::Accessed),
        b'B' => Some(TimeColumn::Born),
        b'C' => Some(TimeColumn::Changed),
        b'T' => Some(TimeColumn::Modified),
        _ => None,
    }
}

/// The field of a letter; none where there is none.
fn field(letter: u8) -> Result<Option<PrintField>, FindError> {
    Ok(Some(match letter {
        b'a' => PrintField::Time(TimeColumn::Accessed),
        b'c' => PrintField::Time(TimeColumn::Changed),
        b't' => PrintField::Time(TimeColumn::Modified),
        b'b' => PrintField::Blocks,
        b'k' => PrintField::KiloBlocks,
        b'd' => PrintField::Depth,
        b'D' => PrintField::Device,
        b'f' => PrintField::BaseName,
        b'g' => PrintField::Group,
        b'G' => PrintField::GroupId,
        b'h' => PrintField::Directory,
        b'H' => PrintField::StartPoint,
        b'i' => PrintField::Inode,
        b'l' => PrintField::LinkTarget,
        b'm' => PrintField::Mode,
        b'M' => PrintField::ModeText,
        b'n' => PrintField::Links,
        b'p' => PrintField::Path,
        b'P' => PrintField::Relative,
        b's' => PrintField::Size,
        b'S' => PrintField::Sparseness,
        b'u' => PrintField::User,
        b'U' => PrintField::UserId,
        b'y' => PrintField::Kind,
        b'Y' => PrintField::TargetKind,
        b'F' => return Err(refused("%F", "its file system's type: run stat -f -c %T on it")),
        b'Z' => return Err(refused("%Z", "its security context: run stat -c %C on it")),
        b'{' | b'[' | b'(' => {
            let letter = char::from(letter);
            return Err(FindError::new(format!("'%{letter}' is reserved: write '%%{letter}' for the text")));
        }
        _ => return Ok(None),
    }))
}

fn refused(directive: &str, instead: &str) -> FindError {
    FindError::new(format!(
        "an index cannot answer {directive} for an entry, {instead}: … -print0 | xargs -0 …"
    ))
}
