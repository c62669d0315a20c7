//! Format strings: literal text and directives.

/// The format string that loses nothing: it is exact for all names, and readable in a terminal.
pub const RECOMMENDED_FORMAT: &str = r"%y\t%s\t%b\t%m\t%U\t%u\t%G\t%g\t%T@\t%A@\t%C@\t%i\t%n\t%D\t%l\0%p\0\n";

/// The program whose format string it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FindDialect {
    /// GNU find.
    #[default]
    Gnu,
    /// `lfs find` of Lustre, which has directives for layouts and projects too.
    Lustre,
    /// `rbh-find` of Robinhood, whose times need a letter: `%Ts`.
    Robinhood,
}

/// What a directive prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FindField {
    /// The path; of `%P` without the starting point.
    Path,
    /// The directory of the path.
    Directory,
    /// The last name of the path.
    Name,
    Target,
    Owner,
    Group,
    Kind,
    /// Permissions in octal.
    Mode,
    /// Permissions as `-rw-r--r--`.
    SymbolicMode,
    Size,
    Blocks,
    /// Space in units of 1 KiB.
    Kibibytes,
    Uid,
    Gid,
    Modified,
    Accessed,
    Changed,
    Born,
    Inode,
    Links,
    Device,
    Stripes,
    Pool,
    Project,
    /// A number, a letter or a word that no entry has.
    Other,
}

impl FindField {
    /// True for a value that may contain any byte except NUL.
    pub(super) fn is_name(self) -> bool {
        matches!(self, FindField::Path | FindField::Directory | FindField::Name | FindField::Target)
    }
}

/// A part of a format string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FormatPart {
    Text(Vec<u8>),
    Field(FindField),
}

/// Reads a format string. Texts that follow each other are joined.
///
/// # Errors
/// What is wrong with it, and what to write instead.
pub(super) fn parse_format(format: &str, dialect: FindDialect) -> Result<Vec<FormatPart>, String> {
    let mut parts = Vec::new();
    let mut rest = format.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = match first {
            b'%' => field(after, dialect, &mut parts)?,
            b'\\' => escape(after, &mut parts)?,
            _ => {
                text(&mut parts, first);
                after
            }
        };
    }
    Ok(parts)
}

fn text(parts: &mut Vec<FormatPart>, byte: u8) {
    match parts.last_mut() {
        Some(FormatPart::Text(text)) => text.push(byte),
        _ => parts.push(FormatPart::Text(vec![byte])),
    }
}

/// Reads what follows a backslash; returns the rest.
fn escape<'f>(format: &'f [u8], parts: &mut Vec<FormatPart>) -> Result<&'f [u8], String> {
    let (&letter, rest) = format.split_first().ok_or("the format ends with a backslash")?;
    let byte = match letter {
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'\\' => b'\\',
        b'0'..=b'7' => {
            let digits = format.iter().take(3).take_while(|digit| (b'0'..=b'7').contains(digit));
            let len = digits.clone().count();
            let value = digits.fold(0_u32, |value, digit| value * 8 + u32::from(digit - b'0'));
            text(parts, u8::try_from(value & 0xff).unwrap_or(0));
            return Ok(format.get(len..).unwrap_or_default());
        }
        other => {
            let known = r"write \n, \t, \0, \\ or a byte in octal such as \036";
            return Err(format!(r"unknown escape \{}: {known}", char::from(other)));
        }
    };
    text(parts, byte);
    Ok(rest)
}

/// Reads what follows a percent sign; returns the rest.
fn field<'f>(
    format: &'f [u8],
    dialect: FindDialect,
    parts: &mut Vec<FormatPart>,
) -> Result<&'f [u8], String> {
    // Flags and a width only add blanks or zeros, which values are read without.
    let start = format.iter().take_while(|byte| matches!(byte, b'-' | b'#' | b'0'..=b'9')).count();
    let format = format.get(start..).unwrap_or_default();
    let (&letter, rest) = format.split_first().ok_or("the format ends with a percent sign")?;
    let next = rest.first().copied();
    let (found, len) = match letter {
        b'%' => {
            text(parts, b'%');
            return Ok(rest);
        }
        b'T' | b'A' | b'C' | b'B' | b'W' => (time(letter, next, dialect)?, 1),
        b'L' if dialect == FindDialect::Lustre => (of_layout(next)?, 1),
        b'R' if dialect == FindDialect::Robinhood => (FindField::Other, robinhood_len(rest)),
        letter => (of_letter(letter)?, 0),
    };
    parts.push(FormatPart::Field(found));
    Ok(rest.get(len..).unwrap_or_default())
}

fn of_letter(letter: u8) -> Result<FindField, String> {
    Ok(match letter {
        b'p' | b'P' => FindField::Path,
        b'h' => FindField::Directory,
        b'f' => FindField::Name,
        b'l' => FindField::Target,
        b'u' => FindField::Owner,
        b'g' => FindField::Group,
        b'y' => FindField::Kind,
        b'm' => FindField::Mode,
        b'M' => FindField::SymbolicMode,
        b's' => FindField::Size,
        b'b' => FindField::Blocks,
        b'k' => FindField::Kibibytes,
        b'U' => FindField::Uid,
        b'G' => FindField::Gid,
        b'i' => FindField::Inode,
        b'n' => FindField::Links,
        b'D' => FindField::Device,
        b'd' | b'Y' | b'S' | b'F' | b'Z' | b'o' => FindField::Other,
        b'a' | b'c' | b't' => {
            let upper = char::from(letter.to_ascii_uppercase());
            let letter = char::from(letter);
            return Err(format!("%{letter} prints a date without its zone: write %{upper}@ instead"));
        }
        b'H' => return Err("%H and %P are two halves of a path: write %p instead".into()),
        other => return Err(format!("unknown directive %{}", char::from(other))),
    })
}

/// The field of a time, whose format must be seconds since 1970.
fn time(letter: u8, format: Option<u8>, dialect: FindDialect) -> Result<FindField, String> {
    let field = match (letter, dialect) {
        (b'T', _) => FindField::Modified,
        (b'A', _) => FindField::Accessed,
        (b'C', _) => FindField::Changed,
        (b'B', FindDialect::Gnu) | (b'W', FindDialect::Lustre) => FindField::Born,
        _ => return Err(format!("unknown directive %{}", char::from(letter))),
    };
    match format {
        Some(b'@' | b's') => Ok(field),
        _ => {
            let seconds = if dialect == FindDialect::Robinhood { 's' } else { '@' };
            let letter = char::from(letter);
            Err(format!("times must be seconds since 1970: write %{letter}{seconds}"))
        }
    }
}

fn of_layout(letter: Option<u8>) -> Result<FindField, String> {
    Ok(match letter {
        Some(b'c') => FindField::Stripes,
        Some(b'p') => FindField::Pool,
        Some(b'P') => FindField::Project,
        Some(b'a' | b'A' | b'F' | b'h' | b'i' | b'o' | b'S') => FindField::Other,
        _ => return Err("%L needs one of the letters a A c F h i o p P S".into()),
    })
}

/// The length of what follows `%R`: a letter, and for attributes of modules a name in braces.
fn robinhood_len(rest: &[u8]) -> usize {
    match (rest.first(), rest.get(1)) {
        (Some(b'm'), Some(b'{')) => memchr::memchr(b'}', rest).map_or(rest.len(), |end| end + 1),
        (Some(_), _) => 1,
        (None, _) => 0,
    }
}
