//! The header of a message or part: fields, and the parameters of a field.

use memchr::memchr;

/// The fields of a header, and the bytes after it.
#[derive(Clone, Debug)]
pub(super) struct Headers<'a> {
    /// Names, and values with their folds.
    fields: Vec<(&'a [u8], &'a [u8])>,
    /// What follows the header.
    pub(super) body: &'a [u8],
    /// Whether an empty line or the end follows the header.
    pub(super) is_closed: bool,
}

impl<'a> Headers<'a> {
    /// Reads lines up to an empty one, or up to one that is no field: that begins the body then.
    pub(super) fn read(bytes: &'a [u8]) -> Self {
        let mut fields: Vec<(&[u8], &[u8])> = Vec::new();
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let length = memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
            let line = rest.get(..length).unwrap_or(rest);
            if matches!(line, b"\n" | b"\r\n") {
                return Self { fields, body: rest.get(length..).unwrap_or_default(), is_closed: true };
            }
            let Some(colon) = field_name(line) else {
                // Some programs leave the first line of an mbox before the header.
                if fields.is_empty() && (line.starts_with(b">From ") || line.starts_with(b"From ")) {
                    at += length;
                    continue;
                }
                return Self { fields, body: rest, is_closed: false };
            };
            let end = value_end(rest, length);
            let name = line.get(..colon).unwrap_or_default().trim_ascii_end();
            fields.push((name, rest.get(colon + 1..end).unwrap_or_default()));
            at += end;
        }
        Self { fields, body: b"", is_closed: true }
    }

    /// Whether there is no field.
    pub(super) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// The values of the fields with a name in lower case.
    pub(super) fn all(&self, name: &[u8]) -> impl Iterator<Item = &'a [u8]> {
        self.fields.iter().filter(move |field| field.0.eq_ignore_ascii_case(name)).map(|field| field.1)
    }

    /// The value of the first field with a name in lower case.
    pub(super) fn first(&self, name: &[u8]) -> Option<&'a [u8]> {
        self.all(name).next()
    }
}

/// The place of the colon after the name of a field.
fn field_name(line: &[u8]) -> Option<usize> {
    let colon = memchr(b':', line)?;
    let name = line.get(..colon)?.trim_ascii_end();
    (!name.is_empty() && name.iter().all(u8::is_ascii_graphic)).then_some(colon)
}

/// Where the value of a field ends that goes on in lines that begin with a blank.
fn value_end(bytes: &[u8], first_line: usize) -> usize {
    let mut end = first_line;
    while let Some(b' ' | b'\t') = bytes.get(end) {
        let rest = bytes.get(end..).unwrap_or_default();
        end += memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
    }
    end
}

/// The value of a field before its parameters, in lower case.
pub(super) fn main_value(value: &[u8]) -> Vec<u8> {
    let end = memchr(b';', value).unwrap_or(value.len());
    value.get(..end).unwrap_or(value).trim_ascii().to_ascii_lowercase()
}

/// A parameter of a field, such as the `boundary` of a content type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Parameter {
    /// The value without quotes; its pieces are joined and `%XX` is replaced (RFC 2231).
    pub(super) value: Vec<u8>,
    /// The charset that RFC 2231 gives.
    pub(super) charset: Option<Vec<u8>>,
}

/// Finds a parameter by its name in lower case: `name=`, `name*=`, `name*0=`, `name*0*=` …
pub(super) fn parameter(field: &[u8], name: &[u8]) -> Option<Parameter> {
    let mut found: Option<Parameter> = None;
    let mut rest = field.get(memchr(b';', field)? + 1..)?;
    while !rest.is_empty() {
        let (piece, next) = split_piece(rest);
        rest = next;
        let Some(equals) = memchr(b'=', piece) else {
            continue;
        };
        let (key, value) = piece.split_at_checked(equals)?;
        let key = key.trim_ascii().to_ascii_lowercase();
        let Some(suffix) =
            key.strip_prefix(name).filter(|suffix| suffix.is_empty() || suffix.starts_with(b"*"))
        else {
            continue;
        };
        let parameter = found.get_or_insert_default();
        if suffix.is_empty() && !parameter.value.is_empty() {
            continue;
        }
        let value = unquote(value.get(1..)?.trim_ascii());
        add_piece(parameter, suffix, &value);
    }
    found
}

fn add_piece(parameter: &mut Parameter, suffix: &[u8], value: &[u8]) {
    let mut value = value;
    if !suffix.ends_with(b"*") {
        parameter.value.extend_from_slice(value);
        return;
    }
    if parameter.charset.is_none() {
        let mut parts = value.splitn(3, |byte| *byte == b'\'');
        if let (Some(charset), Some(_), Some(text)) = (parts.next(), parts.next(), parts.next()) {
            parameter.charset = Some(charset.to_ascii_lowercase());
            value = text;
        }
    }
    super::transfer::push_hex_escapes(value, b'%', &mut parameter.value);
}

/// Splits at the next `;` that is not in quotes.
fn split_piece(bytes: &[u8]) -> (&[u8], &[u8]) {
    let mut in_quotes = false;
    let mut is_escaped = false;
    let end = bytes.iter().position(|&byte| {
        let ends = byte == b';' && !in_quotes;
        in_quotes ^= byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    let (piece, rest) = bytes.split_at_checked(end.unwrap_or(bytes.len())).unwrap_or((bytes, b""));
    (piece, rest.get(1..).unwrap_or_default())
}

/// The text of a quoted string, or the value up to a blank.
fn unquote(value: &[u8]) -> Vec<u8> {
    let Some(inside) = value.strip_prefix(b"\"") else {
        let end = value.iter().position(u8::is_ascii_whitespace).unwrap_or(value.len());
        return value.get(..end).unwrap_or(value).to_vec();
    };
    let mut text = Vec::new();
    let mut bytes = inside.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            b'"' => break,
            b'\\' => text.extend(bytes.next()),
            b'\r' | b'\n' => {}
            _ => text.push(byte),
        }
    }
    text
}
