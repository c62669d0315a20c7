//! The error of a find command: one sentence that says what is wrong and what to write instead.

use std::fmt;

/// Why a command is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindError {
    message: String,
}

impl FindError {
    /// An error with this message.
    pub(super) fn new(message: impl Into<String>) -> Self {
        FindError { message: message.into() }
    }

    /// An error about an argument of a test, an action or an option.
    pub(super) fn argument(word: &[u8], argument: &[u8], expected: &str) -> Self {
        FindError::new(format!("'{}' is not an argument of {}: {expected}", text(argument), text(word)))
    }
}

impl fmt::Display for FindError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for FindError {}

/// Bytes for a message: invalid UTF-8 and control characters are escaped.
pub(super) fn text(bytes: &[u8]) -> String {
    bytes.utf8_chunks().fold(String::new(), |mut text, chunk| {
        for character in chunk.valid().chars() {
            match character.is_control() {
                true => text.extend(character.escape_default()),
                false => text.push(character),
            }
        }
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
        text
    })
}

/// The error of options that follow links.
pub(super) fn follows_links(word: &[u8]) -> FindError {
    FindError::new(format!(
        "an index holds links, not what is behind them: leave out {}, and ask for the type of targets with \
         -xtype",
        text(word)
    ))
}
