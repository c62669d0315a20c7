//! The argument of `-perm`: an octal or a symbolic mode, compared exactly, or with `-` (all bits) or `/`
//! (any bit).
//!
//! Grammar of the mode, as chmod reads it: octal digits, or clauses separated by commas. A clause is
//! `[ugoa]*` and then one or more of `+`, `-` or `=` with `[rwxXst]*`, one of `u`, `g`, `o`, or octal
//! digits. Clauses change a mode that starts as 0; `X` differs between directories and other files.

use super::error::FindError;

/// All bits of a mode that chmod can change.
const ALL: u32 = 0o7777;

/// The bits of a directory that a clause keeps unless it names them.
const SET_ID: u32 = 0o6000;

/// A compiled argument of `-perm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Permission {
    how: PermissionMatch,
    file: u32,
    directory: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PermissionMatch {
    Exact,
    All,
    Any,
}

/// What a clause does with its value.
#[derive(Clone, Copy)]
struct Change {
    operator: u8,
    kind: ChangeKind,
    affected: u32,
    value: u32,
    mentioned: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ChangeKind {
    /// The value as it is.
    Plain,
    /// The bits of one class of users, for the others.
    Copy,
    /// The value, with execution if the entry is a directory or anyone may execute it.
    Execute,
}

impl Permission {
    /// Reads an argument.
    pub(super) fn parse(argument: &[u8]) -> Result<Self, FindError> {
        let refuse = || {
            FindError::argument(
                b"-perm",
                argument,
                "write an octal mode, 644 or -022, or a symbolic one, u=rw or /u+x",
            )
        };
        let (how, mode) = match argument {
            [b'-', mode @ ..] => (PermissionMatch::All, mode),
            [b'/', mode @ ..] => (PermissionMatch::Any, mode),
            [b'+', b'0'..=b'7', ..] => return Err(refuse()),
            mode => (PermissionMatch::Exact, mode),
        };
        let changes = changes(mode).ok_or_else(refuse)?;
        Ok(Permission { how, file: apply(&changes, false), directory: apply(&changes, true) })
    }

    /// Whether a mode satisfies it.
    pub(super) fn matches(&self, mode: u32, is_directory: bool) -> bool {
        let wanted = if is_directory { self.directory } else { self.file };
        match self.how {
            PermissionMatch::Exact => mode & ALL == wanted,
            PermissionMatch::All => mode & wanted == wanted,
            PermissionMatch::Any => wanted == 0 || mode & wanted != 0,
        }
    }
}

/// The changes that a mode asks for.
fn changes(mode: &[u8]) -> Option<Vec<Change>> {
    if let Some(b'0'..=b'7') = mode.first() {
        let (value, rest) = octal(mode)?;
        let mentioned = if mode.len() < 5 { (value & SET_ID) | 0o1777 } else { ALL };
        let change = Change { operator: b'=', kind: ChangeKind::Plain, affected: ALL, value, mentioned };
        return rest.is_empty().then(|| vec![change]);
    }
    let mut changes = Vec::new();
    for clause in mode.split(|&byte| byte == b',') {
        read_clause(clause, &mut changes)?;
    }
    Some(changes)
}

/// Octal digits at the start, and what follows them.
fn octal(text: &[u8]) -> Option<(u32, &[u8])> {
    let length = text.iter().take_while(|byte| matches!(byte, b'0'..=b'7')).count();
    let (digits, rest) = text.split_at_checked(length)?;
    let value = digits.iter().try_fold(0u32, |value, digit| {
        let value = value * 8 + u32::from(digit - b'0');
        (value <= ALL).then_some(value)
    })?;
    Some((value, rest))
}

fn read_clause(clause: &[u8], changes: &mut Vec<Change>) -> Option<()> {
    let mut affected = 0;
    let mut rest = clause;
    while let [class @ (b'u' | b'g' | b'o' | b'a'), more @ ..] = rest {
        affected |= match class {
            b'u' => 0o4700,
            b'g' => 0o2070,
            b'o' => 0o1007,
            _ => ALL,
        };
        rest = more;
    }
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let (change, more) = read_change(rest, affected)?;
        changes.push(change);
        rest = more;
    }
    Some(())
}

/// One operator with its permissions, and what follows them.
fn read_change(text: &[u8], affected: u32) -> Option<(Change, &[u8])> {
    let (&operator @ (b'+' | b'-' | b'='), rest) = text.split_first()? else { return None };
    if let Some(b'0'..=b'7') = rest.first() {
        let (value, rest) = octal(rest)?;
        let change = Change { operator, kind: ChangeKind::Plain, affected: ALL, value, mentioned: ALL };
        return (affected == 0 && rest.is_empty()).then_some((change, rest));
    }
    let copied = match rest.first() {
        Some(b'u') => Some(0o700),
        Some(b'g') => Some(0o070),
        Some(b'o') => Some(0o007),
        _ => None,
    };
    let (kind, value, length) = match copied {
        Some(value) => (ChangeKind::Copy, value, 1),
        None => read_permissions(rest),
    };
    let mentioned = if affected == 0 { value } else { affected & value };
    Some((Change { operator, kind, affected, value, mentioned }, rest.get(length..)?))
}

/// The letters of permissions at the start: their bits and their number.
fn read_permissions(text: &[u8]) -> (ChangeKind, u32, usize) {
    let mut kind = ChangeKind::Plain;
    let mut value = 0;
    for (length, letter) in text.iter().enumerate() {
        value |= match letter {
            b'r' => 0o444,
            b'w' => 0o222,
            b'x' => 0o111,
            b's' => SET_ID,
            b't' => 0o1000,
            b'X' => {
                kind = ChangeKind::Execute;
                0
            }
            _ => return (kind, value, length),
        };
    }
    (kind, value, text.len())
}

/// The mode that changes of the mode 0 give.
fn apply(changes: &[Change], is_directory: bool) -> u32 {
    changes.iter().fold(0, |mode, change| {
        let kept = if is_directory { SET_ID & !change.mentioned } else { 0 };
        let value = match change.kind {
            ChangeKind::Plain => change.value,
            ChangeKind::Copy => spread(change.value & mode),
            ChangeKind::Execute if is_directory || mode & 0o111 != 0 => change.value | 0o111,
            ChangeKind::Execute => change.value,
        };
        let limit = if change.affected == 0 { ALL } else { change.affected };
        let value = value & limit & !kept;
        match change.operator {
            b'+' => mode | value,
            b'-' => mode & !value,
            _ if change.affected == 0 => (mode & kept) | value,
            _ => (mode & (!change.affected | kept)) | value,
        }
    })
}

/// The permissions of one class of users, for all classes.
fn spread(value: u32) -> u32 {
    [0o444, 0o222, 0o111].into_iter().filter(|all| value & all != 0).fold(value, |value, all| value | all)
}
