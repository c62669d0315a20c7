//! Text that is not UTF-8 is read as Latin-1: the older collections use it, and it has no invalid bytes.

/// Appends text. If `is_latin1`, each byte is a character of Latin-1.
pub fn push_text(text: &[u8], is_latin1: bool, into: &mut Vec<u8>) {
    if is_latin1 {
        push_latin1(text, into);
    } else {
        into.extend_from_slice(text);
    }
}

/// Appends Latin-1 text as UTF-8.
pub fn push_latin1(text: &[u8], into: &mut Vec<u8>) {
    for &byte in text {
        push_char(char::from(byte), into);
    }
}

/// Appends a character as UTF-8.
pub fn push_char(letter: char, into: &mut Vec<u8>) {
    into.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
}
