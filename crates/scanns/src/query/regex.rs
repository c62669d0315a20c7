//! What is wrong with a regular expression, where, and what to write instead.

use regex_syntax::{Error as SyntaxError, ParserBuilder, ast, hir};

/// A fault of a regular expression.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RegexFault {
    /// The number of characters of the expression before the fault.
    pub(super) after: usize,
    /// What is wrong, and what to write instead.
    pub(super) message: String,
}

/// The first fault of an expression; `None` if it can be compiled or is only too large.
pub(super) fn regex_fault(text: &str) -> Option<RegexFault> {
    let (at, message) = match ParserBuilder::new().utf8(false).build().parse(text) {
        Ok(parsed) if parsed.properties().look_set().contains_word_unicode() => {
            let message =
                "a regular expression matches a whole term or value: leave out \\b and other places";
            (text.find("\\b").or_else(|| text.find("\\B")).unwrap_or(0), message.to_owned())
        }
        Ok(_) => return None,
        Err(SyntaxError::Parse(error)) => (error.span().start.offset, syntax_message(error.kind())),
        Err(SyntaxError::Translate(error)) => (error.span().start.offset, meaning_message(error.kind())),
        Err(other) => (0, other.to_string()),
    };
    let after = text.get(..at).unwrap_or(text).chars().count();
    Some(RegexFault { after, message })
}

/// What is wrong with the syntax.
fn syntax_message(kind: &ast::ErrorKind) -> String {
    use ast::ErrorKind::{
        ClassRangeInvalid, ClassUnclosed, EscapeUnexpectedEof, EscapeUnrecognized, FlagUnexpectedEof,
        FlagUnrecognized, GroupUnclosed, GroupUnopened, RepetitionCountDecimalEmpty, RepetitionCountInvalid,
        RepetitionCountUnclosed, RepetitionMissing, UnsupportedBackreference, UnsupportedLookAround,
    };
    let message = match kind {
        GroupUnclosed => r"this parenthesis is not closed: add ) or write \(",
        GroupUnopened => r"this parenthesis closes nothing: remove it or write \)",
        ClassUnclosed => r"this bracket is not closed: add ] or write \[",
        ClassRangeInvalid => "this range of characters ends before it begins: write a-z instead of z-a",
        RepetitionMissing => "there is nothing to repeat before this: write a backslash for the character",
        RepetitionCountInvalid => "the least number of repetitions is greater than the greatest: write {1,3}",
        RepetitionCountUnclosed => r"this brace is not closed: write {1,3}, or \{ for the character",
        RepetitionCountDecimalEmpty => {
            r"a number of repetitions is missing: write {1,3}, or \{ for the character"
        }
        EscapeUnrecognized => "this backslash means nothing: remove it, or write two for the character",
        EscapeUnexpectedEof => r"a backslash at the end escapes nothing: write \\",
        FlagUnrecognized | FlagUnexpectedEof => {
            "this question mark begins no group that is known: write (?:…) or (?i)"
        }
        UnsupportedLookAround => "(?= (?! (?<= and (?<! are not supported: write several clauses",
        UnsupportedBackreference => r"references to groups such as \1 are not supported: repeat the text",
        other => return format!("the regular expression is invalid: {other}"),
    };
    message.to_owned()
}

/// What is wrong with an expression whose syntax is right.
fn meaning_message(kind: &hir::ErrorKind) -> String {
    match kind {
        hir::ErrorKind::UnicodePropertyNotFound | hir::ErrorKind::UnicodePropertyValueNotFound => {
            r"there is no such class of characters: write one such as \p{Greek} or \p{L}".to_owned()
        }
        other => format!("the regular expression is invalid: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_has_its_place_and_says_what_to_write() {
        for (text, after, hint) in [
            ("(a", 0, "this parenthesis is not closed"),
            ("ä(b", 1, "this parenthesis is not closed"),
            ("ab)", 2, "closes nothing"),
            ("x[a", 1, "this bracket is not closed"),
            ("[z-a]", 1, "ends before it begins"),
            ("*a", 0, "nothing to repeat"),
            ("a{3,1}", 1, "write {1,3}"),
            ("a{3", 1, "this brace is not closed"),
            (r"ab\q", 2, "this backslash means nothing"),
            (r"ab\", 2, "at the end"),
            ("(?=a)", 0, "not supported"),
            (r"(a)\1", 3, "references"),
            (r"語\p{Foo}", 1, "no such class"),
            (r"a\bc", 1, "whole term"),
            ("(?<n", 4, "invalid"),
        ] {
            let fault = regex_fault(text).unwrap();
            assert_eq!(fault.after, after, "{text}: {}", fault.message);
            assert!(fault.message.contains(hint), "{text}: {}", fault.message);
        }
        for text in ["", "a", "^a$", r"(?-u:\b)a", r"(?i)v[0-9]+\.\d", r"(?-u:\xff)", "[[:alpha:]]+"] {
            assert_eq!(regex_fault(text), None, "{text}");
        }
    }
}
