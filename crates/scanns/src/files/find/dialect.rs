//! The dialects of `-regextype`: which operators exist and which of them need a backslash.
//!
//! The names and their meaning are those of GNU find; the rules are from the GNU C library's manual of
//! regular expressions ("Syntax bits") and were checked against find itself.

use super::error::{FindError, text};

/// The names that `-regextype` accepts.
const NAMES: &str = "findutils-default, ed, emacs, gnu-awk, grep, posix-awk, awk, posix-basic, \
                     posix-egrep, egrep, posix-extended, posix-minimal-basic, sed";

/// What a dialect allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Dialect {
    /// A backslash in a bracket escapes the next byte.
    pub(super) escape_in_brackets: bool,
    /// `\+` and `\?` are the operators, `+` and `?` are literals.
    pub(super) escaped_plus: bool,
    /// `[:alpha:]` in a bracket is a class.
    pub(super) classes: bool,
    /// `^` and `$` are anchors everywhere.
    pub(super) anchors_everywhere: bool,
    /// An operator without something before it is ignored.
    pub(super) ignores_leading: bool,
    /// An operator without something before it is an error.
    pub(super) rejects_leading: bool,
    /// `.` matches a newline.
    pub(super) dot_newline: bool,
    /// There are intervals `{1,2}`.
    pub(super) intervals: bool,
    /// There are no `+`, `?` and `|`.
    pub(super) limited: bool,
    /// A newline separates alternatives.
    pub(super) newline_alternates: bool,
    /// Braces of intervals are written without backslash.
    pub(super) plain_braces: bool,
    /// Groups are written without backslash.
    pub(super) plain_groups: bool,
    /// There are no back references.
    pub(super) no_references: bool,
    /// `|` is the operator, `\|` the literal.
    pub(super) plain_bar: bool,
    /// `[z-a]` is an error.
    pub(super) rejects_empty_ranges: bool,
    /// `)` without `(` is a literal.
    pub(super) lone_group_end: bool,
    /// There are no `\w`, `\<` and the like.
    pub(super) no_gnu: bool,
    /// An interval that is not valid is literal text.
    pub(super) literal_interval: bool,
    /// An interval without something before it, or after another operator, is an error.
    pub(super) rejects_repeated: bool,
}

impl Dialect {
    /// The dialect without `-regextype`.
    pub(super) const DEFAULT: Dialect = EMACS;

    /// The dialect with this name.
    pub(super) fn named(name: &[u8]) -> Result<Dialect, FindError> {
        Ok(match name {
            b"findutils-default" => Dialect { dot_newline: true, ..EMACS },
            b"emacs" => EMACS,
            b"ed" | b"sed" | b"posix-basic" => BASIC,
            b"grep" => Dialect { newline_alternates: true, rejects_repeated: false, ..BASIC },
            b"posix-minimal-basic" => MINIMAL,
            b"posix-extended" => EXTENDED,
            b"egrep" | b"posix-egrep" => Dialect {
                literal_interval: true,
                newline_alternates: true,
                rejects_leading: false,
                ..EXTENDED
            },
            b"awk" => AWK,
            b"gnu-awk" => Dialect {
                escape_in_brackets: true,
                literal_interval: true,
                ignores_leading: false,
                rejects_leading: false,
                ..EXTENDED
            },
            b"posix-awk" => {
                Dialect { escape_in_brackets: true, no_gnu: true, literal_interval: true, ..EXTENDED }
            }
            _ => {
                let name = text(name);
                return Err(FindError::new(format!(
                    "-regextype does not know '{name}': write one of {NAMES}"
                )));
            }
        })
    }
}

const EMACS: Dialect = Dialect {
    escape_in_brackets: false,
    escaped_plus: false,
    classes: false,
    anchors_everywhere: false,
    ignores_leading: false,
    rejects_leading: false,
    dot_newline: false,
    intervals: false,
    limited: false,
    newline_alternates: false,
    plain_braces: false,
    plain_groups: false,
    no_references: false,
    plain_bar: false,
    rejects_empty_ranges: false,
    lone_group_end: false,
    no_gnu: false,
    literal_interval: false,
    rejects_repeated: false,
};

/// What all dialects of POSIX share.
const POSIX: Dialect =
    Dialect { classes: true, dot_newline: true, intervals: true, rejects_empty_ranges: true, ..EMACS };

const BASIC: Dialect = Dialect { escaped_plus: true, rejects_repeated: true, ..POSIX };

const MINIMAL: Dialect = Dialect { limited: true, ..POSIX };

const EXTENDED: Dialect = Dialect {
    anchors_everywhere: true,
    ignores_leading: true,
    plain_braces: true,
    plain_groups: true,
    plain_bar: true,
    rejects_leading: true,
    lone_group_end: true,
    ..POSIX
};

const AWK: Dialect = Dialect {
    escape_in_brackets: true,
    plain_groups: true,
    no_references: true,
    plain_bar: true,
    rejects_empty_ranges: true,
    dot_newline: true,
    anchors_everywhere: true,
    classes: true,
    lone_group_end: true,
    no_gnu: true,
    ..EMACS
};
